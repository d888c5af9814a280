"""Passes no pointers but whole local variables to functions.

A function gets a copy for each place that its pointer parameters point to: a module-scope variable is named in the
copy, and an index on the way there becomes a parameter. A pointer into a local variable becomes the pointer to all of
it, and indices. Some compilers of WGSL take no other pointers (naga: no pointers to storage, none to elements).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from ...ir.core import nodes
from ...ir.core.names import NameScope
from ...ir.core.rules import access_type
from ...ir.core.values import Value
from ...ir.types import AddressSpace, IoAttributes, Pointer, Struct, Type, element_type
from .copying import Copier
from .editing import calls_in, drop_unused_accesses, merge_access_chains, module_names, names_in
from .regions import erase
from .replacing import copy_constant


@dataclass(frozen=True)
class DirectVariableAccess:
    """Specialises functions with pointer parameters; those that are not called any more are dropped."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "direct_variable_access"

    def run(self, module: nodes.Module) -> bool:
        """Whether a call changed."""
        return _Specialising(module).run()


@dataclass(frozen=True)
class _Place:
    """Where an argument points: a root, and for each index on the way a member's number or None for what varies."""

    root: Value
    shape: tuple[int | None, ...]
    indices: tuple[Value, ...]

    @property
    def is_local(self) -> bool:
        """Whether the root is a variable of the caller, or a pointer that the caller was given."""
        return isinstance(self.root.type, Pointer) and self.root.type.space is AddressSpace.FUNCTION

    @property
    def is_direct(self) -> bool:
        """Whether the argument may stay as it is."""
        return self.is_local and not self.shape

    @property
    def key(self) -> Hashable:
        """Equal for places that the same copy serves."""
        return (self.root.type if self.is_local else self.root, self.shape, tuple(it.type for it in self.varying))

    @property
    def varying(self) -> Sequence[Value]:
        """The indices that the caller passes."""
        return [index for index, fixed in zip(self.indices, self.shape, strict=True) if fixed is None]


class _Specialising:
    def __init__(self, module: nodes.Module) -> None:
        self.module = module
        self.function_names = module_names(module)
        self.copies: dict[Hashable, nodes.Function] = {}
        self.replaced: set[nodes.Function] = set()

    def run(self) -> bool:
        """Go through the functions, callers first: a copy stands between its original and its caller."""
        position = len(self.module.functions) - 1
        while position >= 0:
            function = self.module.functions[position]
            if function in self.replaced and not self._is_called(function):
                erase(function.start_target)
                self.module.functions.remove(function)
            else:
                position += self._function(function)
            position -= 1
        return bool(self.copies)

    def _function(self, function: nodes.Function) -> int:
        """Change the calls in a function; how many copies were put in front of it."""
        before = len(self.module.functions)
        merge_access_chains(function)
        calls = [call for _, call in calls_in(function) if _passes_pointers(call)]
        for call in calls:
            self._call(function, call)
        if calls:
            drop_unused_accesses(function)
        return len(self.module.functions) - before

    def _is_called(self, function: nodes.Function) -> bool:
        return any(call.callee is function for caller in self.module.functions for _, call in calls_in(caller))

    def _call(self, caller: nodes.Function, call: nodes.Call) -> None:
        """Let a call name a copy for the places that its arguments point to."""
        places = [_place(it) if isinstance(it.type, Pointer) else None for it in call.arguments]
        if all(place is None or place.is_direct for place in places) or any(map(_is_unknown, places)):
            return
        key = (call.callee, tuple(None if place is None else place.key for place in places))
        if key not in self.copies:
            self.copies[key] = self._copy(caller, call.callee, places)
        arguments: list[Value] = []
        for argument, place in zip(call.arguments, places, strict=True):
            arguments += [argument] if place is None else _passed(place)
        self.replaced.add(call.callee)
        call.callee = self.copies[key]
        call.arguments = arguments

    def _copy(self, caller: nodes.Function, callee: nodes.Function, places: Sequence[_Place | None]) -> nodes.Function:
        names = names_in(self.function_names, callee)
        copier = Copier(_SameNames())
        start = nodes.Block([], [], None)
        parameters: list[nodes.FunctionParameter] = []
        for parameter, place in zip(callee.parameters, places, strict=True):
            made = list(_parameters(parameter, place, names))
            parameters += made
            copier.values[parameter] = made[0] if place is None or place.is_direct else _pointer(start, place, made)
        copy = nodes.Function(
            self.function_names.unique(callee.name),
            None,
            (),
            parameters,
            callee.return_type,
            callee.return_io,
            start,
            nodes.Terminator(),
            resources=list(callee.resources),
            diagnostics=list(callee.diagnostics),
            must_use=callee.must_use,
            span=callee.span,
        )
        copier.map_end(callee.end_target, copy.end_target)
        body = copier.region(callee.start_target)
        start.instructions += body.instructions
        start.branch = body.branch
        for place in places:
            if place is not None and isinstance(place.root, nodes.Var) and not place.is_local:
                _add_resource(copy, place.root)
        merge_access_chains(copy)
        functions = self.module.functions
        functions.insert(functions.index(caller), copy)
        return copy


class _SameNames(NameScope):
    """A copy of a whole function keeps the names in it."""

    def unique(self, wanted: str) -> str:
        """The name itself."""
        return wanted


def _passes_pointers(call: nodes.Call) -> bool:
    return any(isinstance(argument.type, Pointer) for argument in call.arguments)


def _place(pointer: Value) -> _Place:
    """Chains have been merged: a pointer is a root, or one access of it."""
    if not isinstance(pointer, nodes.Access):
        return _Place(pointer, (), ())
    assert isinstance(pointer.object.type, Pointer)
    type: Type = pointer.object.type.store
    shape: list[int | None] = []
    for index in pointer.indices:
        raw = index.value.value if isinstance(index, nodes.Constant) else None
        fixed = raw if isinstance(raw, int) and isinstance(type, Struct) else None
        shape.append(fixed)
        part = element_type(type, fixed or 0)
        assert part is not None
        type = part
    return _Place(pointer.object, tuple(shape), pointer.indices)


def _is_unknown(place: _Place | None) -> bool:
    """Whether a place is wherever a caller says, of a function that nobody calls."""
    return place is not None and not place.is_local and not isinstance(place.root, nodes.Var)


def _passed(place: _Place) -> Sequence[Value]:
    varying = [copy_constant(it) if isinstance(it, nodes.Constant) else it for it in place.varying]
    return [place.root, *varying] if place.is_local else varying


def _parameters(
    parameter: nodes.FunctionParameter, place: _Place | None, names: NameScope
) -> Iterator[nodes.FunctionParameter]:
    """What stands for a parameter in a copy: the pointer to a local variable, if there is one, and indices."""
    if place is None:
        yield nodes.FunctionParameter(parameter.io, parameter.type, parameter.name, span=parameter.span)
        return
    if place.is_local:
        yield nodes.FunctionParameter(parameter.io, place.root.type, parameter.name, span=parameter.span)
    for index in place.varying:
        name = names.unique(f"{parameter.name or 'pointer'}_index")
        yield nodes.FunctionParameter(IoAttributes(), index.type, name, span=parameter.span)


def _pointer(start: nodes.Block, place: _Place, made: Sequence[nodes.FunctionParameter]) -> Value:
    """The pointer that the parameter was, built at the start of a copy."""
    root: Value = made[0] if place.is_local else place.root
    varying = iter(made[1:] if place.is_local else made)
    if not place.shape:
        return root
    indices = [
        copy_constant(index) if fixed is not None and isinstance(index, nodes.Constant) else next(varying)
        for index, fixed in zip(place.indices, place.shape, strict=True)
    ]
    type = _pointee(place)
    access = nodes.Access(root, indices, type, None)
    start.instructions.append(access)
    return access


def _pointee(place: _Place) -> Type:
    return access_type(place.root.type, place.indices)


def _add_resource(function: nodes.Function, variable: nodes.Var) -> None:
    if all(it is not variable for it in function.resources):
        function.resources.append(variable)
