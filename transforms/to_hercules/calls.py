"""Translates the functions that are called, rather than inlined (see `outline`), and the calls of them.

The parameters of a called function are scalars, and its result is a product of scalars. It takes the scalars of its
WGSL parameters, of the memory that its pointers point to, and of the private variables that it uses. It returns the
scalars of its WGSL result, and of the memory behind pointers and the private variables that it may write. Bindings and
workgroup variables that it reads are further parameters: whole collections, which it never writes. It has the dynamic
constants of the entry point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...base.records import dataclass, field, replace
from ...ir import types as wgsl
from ...ir.core import nodes as c
from ...ir.diagnostics import ShaderError
from ...ir.hercules import nodes as h
from . import memory
from .cleanup import clean_up
from .effects import EffectsAnalysis, Root
from .graph import Graph
from .instructions import Globals, Instructions
from .machine import Machine, Restart
from .types import scalar_type
from .unrolling import Unrolling
from .values import Cell, Designator, Snapshot, Tree, is_tree_array, node_of, parts_of, place_for
from .walk import Walk


@dataclass(frozen=True, slots=True)
class CalledFunction:
    """A translated function. Its parameters are those of `source`, then `privates`, then `shared`; it returns the
    result of `source`, then the new values of `written`.
    """

    function: h.Function
    source: c.Function
    privates: Sequence[c.Var]
    shared: Sequence[c.Var]
    written: Sequence[Root]


@dataclass(eq=False, slots=True)
class Calls:
    """The functions that are called, each translated at the first call. `chosen` are those that are not inlined, and
    `unrolling` are the loops that are unrolled in any function.
    """

    chosen: set[c.Function]
    effects: EffectsAnalysis
    unrolling: Unrolling
    names: Sequence[str] = ()
    """The names of the dynamic constants."""
    _known: dict[c.Function, CalledFunction] = field(default_factory=dict[c.Function, CalledFunction])

    @property
    def functions(self) -> list[h.Function]:
        """The functions translated so far."""
        return [it.function for it in self._known.values()]

    def emit(self, call: c.Call, caller: Instructions) -> Tree | None:
        """Add a call, at lane level, and store what the function wrote; returns the call's result."""
        machine, graph, variables = caller.machine, caller.machine.graph, caller.module_scope.variables
        called = self._function(call.callee, caller.module_scope)
        places: dict[Root, Designator] = {var: variables[var] for var in called.privates}
        for parameter, argument in zip(called.source.parameters, call.arguments, strict=True):
            if isinstance(parameter.type, wgsl.Pointer):
                places[parameter] = caller.pointer(argument)
        arguments = [it for value in call.arguments for it in scalars_of(machine, caller.get(value), value.type)]
        arguments += [it for var in called.privates for it in scalars_at(machine, places[var])]
        arguments += [machine.read(_cell(variables[var])) for var in called.shared]
        assert machine.control is not None
        constants: list[h.DynamicConstant] = [h.DynamicParameter(index) for index in range(len(self.names))]
        node = graph.add(h.Call(called.function, constants, arguments, control=machine.control, span=call.span))
        assert isinstance(called.function.return_type, h.Product)
        count = len(called.function.return_type.fields)
        results = iter([graph.add(h.Read(node, [h.FieldIndex(index)], span=call.span)) for index in range(count)])
        is_void = call.callee.return_type is wgsl.VOID
        value = None if is_void else value_of(machine, call.callee.return_type, results)
        for root in called.written:
            put_scalars(machine, places[root], results)
        return value

    def _function(self, function: c.Function, module_scope: Globals) -> CalledFunction:
        if function not in self._known:
            self._known[function] = _Translation(self, function, module_scope).run()
        return self._known[function]


class _Translation:
    """The translation of one function. `outside` are the module-scope variables as the caller sees them."""

    def __init__(self, calls: Calls, function: c.Function, outside: Globals) -> None:
        self.calls = calls
        self.source = function
        self.outside = outside
        self.graph = Graph(folds=calls.unrolling.is_used)
        self.machine = Machine(self.graph, (1, 1, 1))
        self.types: list[h.Type] = []
        self.names: list[str] = []
        self.places: dict[Root, Designator] = {}
        used = [it for it in calls.effects.of_function(function).used if it in outside.variables]
        self.privates = [it for it in used if _space(it) is wgsl.AddressSpace.PRIVATE]
        self.shared = [it for it in used if it not in self.privates]

    def run(self) -> CalledFunction:
        """Translate the function. If it never returns, raises Restart, and from then on it is inlined."""
        source, machine = self.source, self.machine
        machine.open_lane()
        inside = Globals({}, self.outside.lengths, has_barrier=False, unrolling=self.calls.unrolling)
        instructions = Instructions(machine, inside)
        for parameter in source.parameters:
            instructions.values[parameter] = self._parameter(parameter)
        for variable in self.privates:
            inside.variables[variable] = self._variable(variable, variable.name or "var")
        for variable in self.shared:
            inside.variables[variable] = self._share(variable)
        result = self._body(instructions)
        if machine.control is None:
            self.calls.chosen.discard(source)
            raise Restart
        written = [it for it in self.places if it in self.calls.effects.of_function(source).written]
        fields = [] if result is None else list(scalars_of(machine, result, source.return_type))
        fields += [it for root in written for it in scalars_at(machine, self.places[root])]
        self.graph.add(h.Return(machine.control, self.graph.add(h.ProductNode(fields))))
        given = [self.places[it].type for it in written]
        given = [source.return_type, *given] if result is not None else given
        return CalledFunction(self._function(given), source, self.privates, self.shared, written)

    def _function(self, given: Sequence[wgsl.Type]) -> h.Function:
        return h.Function(
            name=self.source.name,
            dynamic_constants=list(self.calls.names),
            parameter_types=self.types,
            parameter_names=self.names,
            return_type=h.Product(tuple(scalar_type(it) for type in given for it in scalar_types(type))),
            nodes=clean_up(self.graph.nodes),
        )

    def _body(self, instructions: Instructions) -> Tree | None:
        effects, scope = self.calls.effects, instructions.module_scope
        walk = Walk(self.machine, scope, effects, set(), is_proved=True, calls=self.calls)
        try:
            return walk.call(self.source, instructions)
        except ShaderError as error:
            raise ShaderError([replace(it, span=it.span or walk.place) for it in error.diagnostics]) from None

    # Parameters
    def _parameter(self, parameter: c.FunctionParameter) -> Tree:
        name = parameter.name or "argument"
        if isinstance(parameter.type, wgsl.Pointer):
            return self._variable(parameter, name)
        return value_of(self.machine, parameter.type, self._taken(parameter.type, name))

    def _variable(self, root: Root, name: str) -> Designator:
        """A local copy, initialised from parameters, of a private variable or of the memory behind a pointer."""
        assert isinstance(root.type, wgsl.Pointer)
        store = root.type.store
        place = place_for(store, name)
        memory.declare(self.machine, place)
        self.places[root] = Designator(place, (), store)
        put_scalars(self.machine, self.places[root], self._taken(store, name))
        return self.places[root]

    def _taken(self, type: wgsl.Type, name: str) -> Iterator[h.Node]:
        """Add a parameter for each scalar of a value."""
        kinds = list(scalar_types(type))
        for number, scalar in enumerate(kinds):
            yield self._take(scalar_type(scalar), name if len(kinds) == 1 else f"{name}_{number}")

    def _share(self, variable: c.Var) -> Designator:
        """Add a parameter for a variable that the function only reads: the caller's collection, not a copy."""
        outer = self.outside.variables[variable]
        cell = Cell(_cell(outer).name, _cell(outer).type, is_shared=True, is_constant=True)
        self.machine.constants[cell] = self._take(cell.type, cell.name)
        return Designator(cell, outer.steps, outer.type)

    def _take(self, type: h.Type, name: str) -> h.Node:
        while name in self.names:
            name += "_"
        self.types.append(type)
        self.names.append(name)
        return self.graph.add(h.Parameter(len(self.types) - 1, label=name))


def _space(variable: c.Var) -> wgsl.AddressSpace | None:
    return variable.type.space if isinstance(variable.type, wgsl.Pointer) else None


def _cell(shared: Designator) -> Cell:
    """The cell of a shared variable."""
    assert isinstance(shared.place, Cell)
    return shared.place


# Values as scalars, in the order of their components


def scalar_types(type: wgsl.Type) -> Iterator[wgsl.Scalar]:
    """The types of a value's scalars."""
    match type:
        case wgsl.Scalar():
            yield type
        case wgsl.Struct(members=members):
            for member in members:
                yield from scalar_types(member.type)
        case _:
            for index in range(_count(type)):
                yield from scalar_types(_element(type, index))


def scalars_of(machine: Machine, value: Tree, type: wgsl.Type) -> Iterator[h.Node]:
    """The scalars of a value, or of what a pointer points to."""
    if isinstance(value, Designator):
        yield from scalars_at(machine, value)
    elif isinstance(value, Snapshot):
        yield from scalars_at(machine, value.at)
    elif isinstance(type, wgsl.Scalar):
        yield node_of(value)
    else:
        for index, part in enumerate(parts_of(value)):
            yield from scalars_of(machine, part, _element(type, index))


def scalars_at(machine: Machine, place: Designator) -> Iterator[h.Node]:
    """Load the scalars at a place."""
    if isinstance(place.type, wgsl.Scalar):
        yield node_of(memory.load(machine, place))
        return
    for index in range(_count(place.type)):
        yield from scalars_at(machine, place.element(index, _element(place.type, index)))


def put_scalars(machine: Machine, place: Designator, scalars: Iterator[h.Node]) -> None:
    """Store at a place as many of the scalars as it holds."""
    if isinstance(place.type, wgsl.Scalar):
        memory.store(machine, place, next(scalars))
        return
    for index in range(_count(place.type)):
        put_scalars(machine, place.element(index, _element(place.type, index)), scalars)


def value_of(machine: Machine, type: wgsl.Type, scalars: Iterator[h.Node]) -> Tree:
    """A value of the type, made of as many of the scalars as it has."""
    if isinstance(type, wgsl.Scalar):
        return next(scalars)
    if isinstance(type, wgsl.Array) and not is_tree_array(type):
        place = place_for(type, "array", is_spread=machine.spreads_arrays)
        memory.declare(machine, place)
        target = Designator(place, (), type)
        put_scalars(machine, target, scalars)
        return Snapshot(target)
    return tuple(value_of(machine, _element(type, index), scalars) for index in range(_count(type)))


def _count(type: wgsl.Type) -> int:
    count = wgsl.element_count(type)
    assert isinstance(count, int)
    return count


def _element(type: wgsl.Type, index: int) -> wgsl.Type:
    element = wgsl.element_type(type, index)
    assert element is not None
    return element
