"""Computes the builtin inputs `workgroup_index` and `global_invocation_index` from others, for compilers without them.

WGSL, "Built-in Inputs and Outputs": both count along x first, then y, then z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...ir.core import nodes
from ...ir.core.builder import Builder, empty_block, u32
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.types import U32, IoAttributes, Stage, Struct, Type, vector
from .editing import as_u32, entry_builtin
from .retyping import retype

_INDICES = ("workgroup_index", "global_invocation_index")


@dataclass(frozen=True)
class DeriveIndices:
    """Replaces the two inputs. A structure of inputs that has one of them is put together from single inputs."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "derive_indices"

    def run(self, module: nodes.Module) -> bool:
        """Whether an entry point has such an input."""
        entries = [it for it in module.functions if it.stage is Stage.COMPUTE and any(map(_has_index, it.parameters))]
        for entry in entries:
            _Deriving(module, entry).run()
        if entries:
            _forget_io(module)
        return bool(entries)


def _has_index(parameter: nodes.FunctionParameter) -> bool:
    return parameter.io.builtin in _INDICES or _has_index_member(parameter.type)


def _has_index_member(type: Type) -> bool:
    return isinstance(type, Struct) and any(member.io.builtin in _INDICES for member in type.members)


def _forget_io(module: nodes.Module) -> None:
    """Structures that had such an input are no inputs any more, wherever they occur."""
    structs: dict[Struct, Struct] = {}
    for struct in module.structs:
        if _has_index_member(struct):
            plain = tuple(replace(member, io=IoAttributes()) for member in struct.members)
            structs[struct] = Struct(struct.name, plain)
    retype(module, structs)


class _Deriving:
    """Builds the code in front of one entry point."""

    def __init__(self, module: nodes.Module, entry: nodes.Function) -> None:
        self.entry = entry
        self.builder = Builder(module, empty_block())
        self.builder.span = entry.span

    def run(self) -> None:
        """Compute the inputs, and go on as before."""
        start, body = self.builder.block, self.entry.start_target
        assert start is not None
        found = [it for it in self.entry.parameters if _has_index(it)]
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
                sizes = [as_u32(self.builder, it) for it in self.entry.workgroup_size]
                total = self._product([self._workgroup_index(), *sizes])
                return self.builder.binary(BinaryOp.ADD, total, self._builtin("local_invocation_index", U32))
            case name:
                assert name is not None
                return self._builtin(name, type)

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
