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
class _AccessPath:
    """The access chain of an argument: a root, its indices, and for each its member number, or None if it varies."""

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
        """Equal for paths that can share one copy of the callee."""
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
        """Redirect a call to the copy made for the access paths of its arguments."""
        paths = [_path(it) if isinstance(it.type, Pointer) else None for it in call.arguments]
        if all(path is None or path.is_direct for path in paths) or any(map(_is_unknown, paths)):
            return
        key = (call.callee, tuple(None if path is None else path.key for path in paths))
        if key not in self.copies:
            self.copies[key] = self._copy(caller, call.callee, paths)
        arguments: list[Value] = []
        for argument, path in zip(call.arguments, paths, strict=True):
            arguments += [argument] if path is None else _passed(path)
        self.replaced.add(call.callee)
        call.callee = self.copies[key]
        call.arguments = arguments

    def _copy(
        self, caller: nodes.Function, callee: nodes.Function, paths: Sequence[_AccessPath | None]
    ) -> nodes.Function:
        names = names_in(self.function_names, callee)
        copier = Copier(_SameNames())
        start = nodes.Block([], [], None)
        parameters: list[nodes.FunctionParameter] = []
        for parameter, path in zip(callee.parameters, paths, strict=True):
            made = list(_parameters(parameter, path, names))
            parameters += made
            copier.values[parameter] = made[0] if path is None or path.is_direct else _pointer(start, path, made)
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
        for path in paths:
            if path is not None and isinstance(path.root, nodes.Var) and not path.is_local:
                _add_resource(copy, path.root)
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


def _path(pointer: Value) -> _AccessPath:
    """Chains have been merged: a pointer is a root, or one access of it."""
    if not isinstance(pointer, nodes.Access):
        return _AccessPath(pointer, (), ())
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
    return _AccessPath(pointer.object, tuple(shape), pointer.indices)


def _is_unknown(path: _AccessPath | None) -> bool:
    """Whether the root of a path is a parameter of a function that is never called."""
    return path is not None and not path.is_local and not isinstance(path.root, nodes.Var)


def _passed(path: _AccessPath) -> Sequence[Value]:
    varying = [copy_constant(it) if isinstance(it, nodes.Constant) else it for it in path.varying]
    return [path.root, *varying] if path.is_local else varying


def _parameters(
    parameter: nodes.FunctionParameter, path: _AccessPath | None, names: NameScope
) -> Iterator[nodes.FunctionParameter]:
    """The parameters of a copy that replace one: the pointer to a local variable, if there is one, and indices."""
    if path is None:
        yield nodes.FunctionParameter(parameter.io, parameter.type, parameter.name, span=parameter.span)
        return
    if path.is_local:
        yield nodes.FunctionParameter(parameter.io, path.root.type, parameter.name, span=parameter.span)
    for index in path.varying:
        name = names.unique(f"{parameter.name or 'pointer'}_index")
        yield nodes.FunctionParameter(IoAttributes(), index.type, name, span=parameter.span)


def _pointer(start: nodes.Block, path: _AccessPath, made: Sequence[nodes.FunctionParameter]) -> Value:
    """The pointer that the parameter was, built at the start of a copy."""
    root: Value = made[0] if path.is_local else path.root
    varying = iter(made[1:] if path.is_local else made)
    if not path.shape:
        return root
    indices = [
        copy_constant(index) if fixed is not None and isinstance(index, nodes.Constant) else next(varying)
        for index, fixed in zip(path.indices, path.shape, strict=True)
    ]
    type = _pointee(path)
    access = nodes.Access(root, indices, type, None)
    start.instructions.append(access)
    return access


def _pointee(path: _AccessPath) -> Type:
    return access_type(path.root.type, path.indices)


def _add_resource(function: nodes.Function, variable: nodes.Var) -> None:
    if all(it is not variable for it in function.resources):
        function.resources.append(variable)
