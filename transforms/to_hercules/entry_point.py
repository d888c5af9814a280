"""From an entry point of core IR to a Hercules function (conventions: `ir/hercules/entry.py`)."""

from __future__ import annotations

from collections.abc import Callable

from ...base.records import dataclass, replace
from ...ir import textures
from ...ir import types as wgsl
from ...ir.core import nodes as c
from ...ir.core.runnable import check_runnable, subgroup_size_of
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.diagnostics import ShaderError, not_supported, with_article
from ...ir.entry_points import compute_entry_point
from ...ir.handle_facts import NO_FACTS, HandleFacts, TextureFacts
from ...ir.hercules import nodes as h
from ...ir.hercules.entry import WORKGROUP_CONSTANTS, Binding, EntryPoint
from . import memory
from . import types as t
from .calls import Calls
from .cleanup import clean_up
from .divergent_exits import fill_unmet
from .effects import EffectsAnalysis
from .forks import ForkNest
from .graph import Graph
from .instructions import Globals, Instructions
from .machine import Machine, Restart
from .outline import called_functions
from .subgroups import invocation_id, lane_count, local_index, subgroup_count, subgroup_id
from .unrolling import Reconsidered, Unrolling
from .values import Cell, Designator, Tree, node_of
from .walk import Divergence, LoopValue, Walk


def translate(
    module: c.Module, name: str, fresh: Callable[[], c.Module] | None = None, facts: HandleFacts = NO_FACTS
) -> EntryPoint:
    """The Hercules function of a compute entry point. Overrides must have been substituted. It is right for textures
    of which the facts are true.

    `fresh` makes another such module, where this one may not be changed: one with subgroup operations in divergent
    control flow is masked before it is translated (see `transforms.core.mask_divergence`).

    Raises InputError when there is no such entry point, and ShaderError with a `not supported` diagnostic where the
    program uses something that the CPU path does not support.
    """
    try:
        return _translated(module, name, facts)
    except Divergence:
        from ..core.mask_divergence import mask_divergence

        module = module if fresh is None else fresh()
        mask_divergence(module)
    try:
        return _translated(module, name, facts)
    except Divergence:
        what = "subgroup operations and barriers where control flow is not seen to be uniform, on the CPU"
        raise ShaderError([not_supported(what, compute_entry_point(module.functions, name).span)]) from None


def _translated(module: c.Module, name: str, facts: HandleFacts) -> EntryPoint:
    function = compute_entry_point(module.functions, name)
    effects, per_lane = EffectsAnalysis(), set[LoopValue]()
    calls = Calls(set(called_functions(function, effects)), effects, Unrolling.of(function, effects))
    while True:
        try:
            return _Translation(module, function, calls, per_lane, facts).run()
        except Reconsidered:
            per_lane.clear()  # its numbers may no longer be right
        except Restart:
            continue  # `per_lane` has grown, or `calls.chosen` has shrunk


@dataclass(frozen=True, slots=True)
class _Buffer:
    """A binding while it is translated: its variable, and the cell that holds it."""

    variable: c.Var
    cell: Cell
    binding: Binding


def _filters(function: c.Function) -> list[c.DiagnosticFilter]:
    """The diagnostic filters of a function and of the statements in it."""
    return [*function.diagnostics, *(it for block in blocks_of(function) for it in block.diagnostics)]


class _Translation:
    """One attempt at the translation, with what earlier attempts have found (see `Restart`)."""

    def __init__(
        self, module: c.Module, function: c.Function, calls: Calls, per_lane: set[LoopValue], facts: HandleFacts
    ) -> None:
        self.function = function
        self.facts = facts
        self.calls = calls
        self.effects = effects = calls.effects
        self.per_lane = per_lane
        self.size = _workgroup_size(function)
        self.unrolling = calls.unrolling
        self.unrolling.begin()
        self.graph = Graph(folds=self.unrolling.is_used)
        self.machine = Machine(self.graph, self.size, subgroup_size_of(function))
        self.dynamic_names: list[str] = list(WORKGROUP_CONSTANTS)
        self.variables: dict[Value, Designator] = {}
        self.lengths: dict[Value, h.DynamicConstant] = {}
        used = {id(resource) for resource in function.resources}
        self.used = [i for i in module.root.instructions if isinstance(i, c.Var) and id(i) in used]
        self.workgroup_ids: tuple[h.Node | None, ...] = ()
        filters = [*module.diagnostics, *(it for callee in module.functions for it in _filters(callee))]
        is_relaxed = any(it.rule == "subgroup_uniformity" and it.severity != "error" for it in filters)
        self.is_proved_uniform = not (is_relaxed and effects.of_function(function).exchanges)

    def run(self) -> EntryPoint:
        """Translate the entry point."""
        check_runnable(self.function)
        buffers = [self._buffer(variable) for variable in self.used if variable.binding is not None]
        self.calls.names = self.dynamic_names
        nest = self._open_workgroups()
        written = [buffer for buffer in buffers if buffer.binding.is_written]
        reduces = {buffer: nest.reduce(self._version(buffer), buffer.cell.name) for buffer in written}
        for buffer, chain in reduces.items():
            self.machine.state[buffer.cell] = chain[-1]
        self._body()
        if self.machine.control is None:
            raise ShaderError([not_supported("an entry point that never ends", self.function.span)])
        control = nest.close(self.machine.control)
        results: list[h.Node] = [ForkNest.finish(chain, self._version(buffer)) for buffer, chain in reduces.items()]
        self.graph.add(h.Return(control, self.graph.add(h.ProductNode(results))))
        return self._entry_point(buffers, written)

    def _version(self, buffer: _Buffer) -> h.Node:
        """A buffer's version at workgroup level."""
        return node_of(self.machine.state[buffer.cell])

    # Variables

    def _buffer(self, variable: c.Var) -> _Buffer:
        """Add a parameter for a binding. A binding that is not of composite type becomes an array of one element."""
        assert isinstance(variable.type, wgsl.Pointer)
        assert variable.binding is not None
        name, store = variable.name or "buffer", variable.type.store
        is_bare = isinstance(store, (wgsl.Scalar, wgsl.Atomic))
        access, type = variable.type.access, wgsl.array(store, 1) if is_bare else store
        known: TextureFacts | None = None
        if isinstance(store, wgsl.Texture) and textures.is_loadable(store):
            access = wgsl.Access.READ_WRITE if textures.is_written(store) else wgsl.Access.READ
            known = self.facts.textures([variable.binding])
            type = textures.storage_type(store, in_bytes=known.are_bytes is True)
        elif variable.type.space is wgsl.AddressSpace.HANDLE:
            raise ShaderError([not_supported(f"{with_article(str(store))} on the CPU", variable.span)])
        length = self._length(variable, name) if wgsl.contains_runtime_array(type) else None
        binding = Binding(
            name=name,
            point=variable.binding,
            type=type,
            space=variable.type.space,
            access=access,
            parameter=len(self.machine.constants) + len(self.machine.state),
            length=None if length is None else length.index,
        )
        cell = Cell(name, t.collection_type(type, length), is_shared=True, is_constant=not binding.is_written)
        if known is not None:
            self.machine.texture_facts[cell] = known
        parameter = self.graph.add(h.Parameter(binding.parameter, label=name))
        (self.machine.state if binding.is_written else self.machine.constants)[cell] = parameter
        self.variables[variable] = Designator(cell, (0,) if is_bare else (), store)
        return _Buffer(variable, cell, binding)

    def _length(self, variable: c.Var, name: str) -> h.DynamicParameter:
        """The dynamic constant that holds a runtime-sized array's element count."""
        length = h.DynamicParameter(len(self.dynamic_names))
        self.dynamic_names.append(f"len_{name}")
        self.lengths[variable] = length
        return length

    def _declare(self, variable: c.Var, *, has_barrier: bool) -> None:
        """Declare a workgroup or private variable, which is new in each workgroup."""
        assert isinstance(variable.type, wgsl.Pointer)
        name, store = variable.name or "var", variable.type.store
        if variable.type.space is not wgsl.AddressSpace.WORKGROUP:
            place = self.unrolling.place_for(variable, is_spread=has_barrier)
            memory.declare(self.machine, place)
            self.variables[variable] = Designator(place, (), store)
            return
        is_bare = isinstance(store, (wgsl.Scalar, wgsl.Atomic))
        cell = Cell(name, t.collection_type(wgsl.array(store, 1) if is_bare else store), is_shared=True)
        memory.declare(self.machine, cell)
        self.variables[variable] = Designator(cell, (0,) if is_bare else (), store)

    # Control

    def _open_workgroups(self) -> ForkNest:
        """Open the forks over the workgroups."""
        nest = ForkNest(self.graph, self.graph.start, [h.DynamicParameter(axis) for axis in range(3)])
        self.machine.control = nest.inside
        self.workgroup_ids = nest.ids
        return nest

    def _body(self) -> None:
        has_barrier = self.effects.of_function(self.function).has_barrier
        self.machine.spreads_arrays = has_barrier
        variables = [variable for variable in self.used if variable.binding is None]
        private = [it for it in variables if not _is_workgroup(it)]
        for variable in variables:
            if _is_workgroup(variable):
                self._declare(variable, has_barrier=has_barrier)
        if not has_barrier:
            self.machine.open_lane()  # private variables are each lane's own from the start
        for variable in private:
            self._declare(variable, has_barrier=has_barrier)
        instructions = Instructions(self.machine, Globals(self.variables, self.lengths, has_barrier, self.unrolling))
        for variable in variables:
            if variable.initializer is not None:
                memory.store(self.machine, self.variables[variable], instructions.get(variable.initializer))
        for parameter in self.function.parameters:
            instructions.computed[parameter] = self._input(parameter)
        walk = Walk(
            self.machine,
            instructions.module_scope,
            self.effects,
            self.per_lane,
            is_proved=self.is_proved_uniform,
            calls=self.calls,
        )
        try:
            walk.call(self.function, instructions)
            walk.finish()
        except ShaderError as error:
            raise ShaderError([replace(it, span=it.span or walk.place) for it in error.diagnostics]) from None

    # Builtin inputs (WGSL, "Built-in Inputs and Outputs")

    def _input(self, parameter: c.FunctionParameter) -> Callable[[], Tree]:
        if isinstance(parameter.type, wgsl.Struct):
            members = parameter.type.members
            return lambda: tuple(self._builtin(member.io, parameter) for member in members)
        return lambda: self._builtin(parameter.io, parameter)

    def _builtin(self, io: wgsl.IoAttributes, parameter: c.FunctionParameter) -> Tree:
        match io.builtin:
            case "workgroup_id":
                return self._vector(self._workgroup_id)
            case "num_workgroups":
                return self._vector(lambda axis: self.graph.dynamic(h.DynamicParameter(axis)))
            case "local_invocation_id":
                return self._vector(self._thread_id)
            case "global_invocation_id":
                return tuple(self._global_id(axis) for axis in range(3))
            case "local_invocation_index":
                return local_index(self.machine)
            case "workgroup_index":
                return self._workgroup_index()
            case "global_invocation_index":
                first = self._product(self._workgroup_index(), self.graph.u32(lane_count(self.machine)))
                return self._sum(first, local_index(self.machine))
            case "subgroup_invocation_id":
                return invocation_id(self.machine)
            case "subgroup_id":
                return subgroup_id(self.machine)
            case "subgroup_size":
                return self.graph.u32(self.machine.subgroup_size)
            case "num_subgroups":
                return self.graph.u32(subgroup_count(self.machine))
            case name:
                raise ShaderError([not_supported(f"the builtin input {name} on the CPU", parameter.span)])

    def _workgroup_index(self) -> h.Node:
        """(z * num_workgroups.y + y) * num_workgroups.x + x."""
        index, *rest = [self.graph.cast(t.U32, self._workgroup_id(axis)) for axis in (2, 1, 0)]
        for axis, identifier in zip((1, 0), rest, strict=True):
            count = self.graph.cast(t.U32, self.graph.dynamic(h.DynamicParameter(axis)))
            index = self._sum(self._product(index, count), identifier)
        return index

    def _product(self, left: h.Node, right: h.Node) -> h.Node:
        return self.graph.binary(h.BinaryOp.MUL, left, right)

    def _sum(self, left: h.Node, right: h.Node) -> h.Node:
        return self.graph.binary(h.BinaryOp.ADD, left, right)

    def _vector(self, component: Callable[[int], h.Node]) -> Tree:
        return tuple(self.graph.cast(t.U32, component(axis)) for axis in range(3))

    def _workgroup_id(self, axis: int) -> h.Node:
        identifier = self.workgroup_ids[axis]
        assert identifier is not None
        return identifier

    def _thread_id(self, axis: int) -> h.Node:
        return self.machine.open_lane().thread_id(axis)

    def _global_id(self, axis: int) -> h.Node:
        """workgroup_id * workgroup_size + local_invocation_id."""
        first = self._product(self.graph.cast(t.U32, self._workgroup_id(axis)), self.graph.u32(self.size[axis]))
        return self._sum(first, self.graph.cast(t.U32, self._thread_id(axis)))

    # The result

    def _entry_point(self, buffers: list[_Buffer], written: list[_Buffer]) -> EntryPoint:
        function = h.Function(
            name=self.function.name,
            dynamic_constants=self.dynamic_names,
            parameter_types=[buffer.cell.type for buffer in buffers],
            parameter_names=[buffer.binding.name for buffer in buffers],
            return_type=h.Product(tuple(buffer.cell.type for buffer in written)),
            nodes=self.graph.nodes,
        )
        fill_unmet(self.graph, function)
        function.nodes = clean_up(self.graph.nodes)
        bindings = tuple(buffer.binding for buffer in buffers)
        return EntryPoint(self.function.name, h.Module([function, *called_by(function)]), function, bindings, self.size)


def called_by(function: h.Function) -> list[h.Function]:
    """The functions that a function calls, directly or not, callers first."""
    found: dict[h.Function, None] = {}
    pending = [function]
    for caller in pending:
        callees = dict.fromkeys(it.callee for it in caller.nodes if isinstance(it, h.Call))
        pending += [it for it in callees if it not in found]
        found |= callees
    return list(found)


def _is_workgroup(variable: c.Var) -> bool:
    return isinstance(variable.type, wgsl.Pointer) and variable.type.space is wgsl.AddressSpace.WORKGROUP


def _workgroup_size(function: c.Function) -> tuple[int, int, int]:
    sizes: list[int] = []
    for value in function.workgroup_size:
        assert isinstance(value, c.Constant), "overrides must be substituted"
        assert isinstance(value.value.value, int)
        sizes.append(value.value.value)
    x, y, z = (*sizes, 1, 1, 1)[:3]
    return x, y, z
