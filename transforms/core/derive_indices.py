"""Computes builtin inputs from others, for naga, wgpu's compiler, which lacks some.

It has no `workgroup_index` and `global_invocation_index`, which count along x first, then y, then z, as
`local_invocation_index` does (WGSL, "Built-in Inputs and Outputs"). In workgroups of several dimensions it refuses
`subgroup_id` and `subgroup_invocation_id`, so that those workgroups get one dimension: what lies where in them is
computed from `local_invocation_index`. Which invocations a subgroup has is left open by WGSL ("Subgroups").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from ...ir.core import nodes
from ...ir.core.builder import Builder, empty_block, u32
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.types import U32, IoAttributes, Stage, Struct, Type, vector
from .editing import as_u32, entry_builtin
from .replacing import copy_constant
from .retyping import retype

_INDICES = frozenset({"workgroup_index", "global_invocation_index"})
_PLACES = frozenset({"local_invocation_id", "global_invocation_id"})
_SUBGROUPS = frozenset({"subgroup_id", "subgroup_invocation_id"})


@dataclass(frozen=True)
class DeriveIndices:
    """Replaces the two indices and, where workgroups lose dimensions, the places in them. A structure of inputs that
    has one of these is put together from single inputs. Workgroups keep their sizes where overrides have no values yet.
    """

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "derive_indices"

    def run(self, module: nodes.Module) -> bool:
        """Whether an entry point has such an input."""
        entries = [it for it in module.functions if it.stage is Stage.COMPUTE]
        is_lined_up = any(_has_any(it, _SUBGROUPS) and len(_extents(it)) > 1 for it in entries)
        names = _INDICES | _PLACES if is_lined_up else _INDICES
        changed = [it for it in entries if _has_any(it, names) or (is_lined_up and len(_extents(it)) > 1)]
        for entry in changed:
            _Deriving(module, entry, names).run()
            if is_lined_up:
                _line_up(entry)
        if changed:
            _forget_io(module, names)
        return bool(changed)


def _extents(entry: nodes.Function) -> list[int]:
    """The sizes of a workgroup up to the last one above 1; none if one is not known."""
    sizes = [it.value.value for it in entry.workgroup_size if isinstance(it, nodes.Constant)]
    known = [it for it in sizes if isinstance(it, int)]
    if len(known) < len(entry.workgroup_size):
        return []
    return known[: max((axis + 1 for axis, size in enumerate(known) if size > 1), default=1)]


def _line_up(entry: nodes.Function) -> None:
    """Put the invocations of a workgroup in one row."""
    extents = _extents(entry)
    if len(extents) > 1:
        entry.workgroup_size = [u32(prod(extents))]


def _has_any(entry: nodes.Function, names: frozenset[str]) -> bool:
    return any(_is_one(it, names) for it in entry.parameters)


def _is_one(parameter: nodes.FunctionParameter, names: frozenset[str]) -> bool:
    return parameter.io.builtin in names or _has_member(parameter.type, names)


def _has_member(type: Type, names: frozenset[str]) -> bool:
    return isinstance(type, Struct) and any(member.io.builtin in names for member in type.members)


def _forget_io(module: nodes.Module, names: frozenset[str]) -> None:
    """Structures that had such an input are no inputs any more, wherever they occur."""
    structs: dict[Struct, Struct] = {}
    for struct in module.structs:
        if _has_member(struct, names):
            plain = tuple(replace(member, io=IoAttributes()) for member in struct.members)
            structs[struct] = Struct(struct.name, plain)
    retype(module, structs)


class _Deriving:
    """Builds the code in front of one entry point."""

    def __init__(self, module: nodes.Module, entry: nodes.Function, names: frozenset[str]) -> None:
        self.entry, self.names = entry, names
        self.builder = Builder(module, empty_block())
        self.builder.span = entry.span

    def run(self) -> None:
        """Compute the inputs, and go on as before."""
        start, body = self.builder.block, self.entry.start_target
        assert start is not None
        found = [it for it in self.entry.parameters if _is_one(it, self.names)]
        self.entry.parameters = [it for it in self.entry.parameters if it not in found]
        for parameter in found:
            parameter.replace_all_uses_with(self._value(parameter))
        start.instructions.extend(body.instructions)
        start.branch = body.branch
        self.entry.start_target = start

    def _value(self, parameter: nodes.FunctionParameter) -> Value:
        """What stands for a parameter, computed."""
        if not isinstance(parameter.type, Struct):
            return self._input(parameter.io, parameter.type)
        members = [self._input(member.io, member.type) for member in parameter.type.members]
        return self.builder.construct(parameter.type, members)

    def _input(self, io: IoAttributes, type: Type) -> Value:
        match io.builtin:
            case "workgroup_index":
                return self._workgroup_index()
            case "global_invocation_index":
                total = self._product([self._workgroup_index(), *map(self._size, self.entry.workgroup_size)])
                return self.builder.binary(BinaryOp.ADD, total, self._builtin("local_invocation_index", U32))
            case "local_invocation_id" if "local_invocation_id" in self.names:
                return self._place()
            case "global_invocation_id" if "global_invocation_id" in self.names:
                first = self.builder.binary(BinaryOp.MULTIPLY, self._builtin("workgroup_id", type), self._sizes())
                return self.builder.binary(BinaryOp.ADD, first, self._place())
            case name:
                assert name is not None
                return self._builtin(name, type)

    def _sizes(self) -> Value:
        sizes = [*map(self._size, self.entry.workgroup_size), u32(1), u32(1)]
        return self.builder.construct(vector(3, U32), sizes[:3])

    def _place(self) -> Value:
        """Where an invocation is in its workgroup: `local_invocation_id`."""
        rest = self._builtin("local_invocation_index", U32)
        parts = list[Value]()
        for size in self.entry.workgroup_size[:2]:
            parts.append(self.builder.binary(BinaryOp.REMAINDER, rest, self._size(size)))
            rest = self.builder.binary(BinaryOp.DIVIDE, rest, self._size(size))
        return self.builder.construct(vector(3, U32), [*parts, rest, u32(0)][:3])

    def _size(self, value: Value) -> Value:
        return as_u32(self.builder, copy_constant(value) if isinstance(value, nodes.Constant) else value)

    def _workgroup_index(self) -> Value:
        at, counts = self._builtin("workgroup_id", vector(3, U32)), self._builtin("num_workgroups", vector(3, U32))
        index = self._component(at, 2)
        for axis in (1, 0):
            row = self.builder.binary(BinaryOp.MULTIPLY, index, self._component(counts, axis))
            index = self.builder.binary(BinaryOp.ADD, row, self._component(at, axis))
        return index

    def _builtin(self, name: str, type: Type) -> Value:
        return entry_builtin(self.builder, self.entry, name, type)

    def _component(self, value: Value, axis: int) -> Value:
        return self.builder.access(value, [u32(axis)])

    def _product(self, factors: Sequence[Value]) -> Value:
        result, *rest = factors
        for factor in rest:
            result = self.builder.binary(BinaryOp.MULTIPLY, result, factor)
        return result
