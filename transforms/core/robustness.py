"""Keeps every access inside of its object (WGSL, "Out-of-Bounds Access").

An index is taken as unsigned and clamped to the last element: the rule of every tier, so that all devices agree.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.core import nodes
from ...ir.core.builder import Builder, u32
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.types import Array, OverrideCount, Pointer, Struct, Type, element_count, element_type
from .editing import as_u32, count_value
from .ranges import Ranges
from .robustness_textures import clamp_load


@dataclass(frozen=True)
class Robustness:
    """Clamps indices that may be out of range; constants and what is plainly in range stay as they are."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "robustness"

    def run(self, module: nodes.Module) -> bool:
        """Whether an index was clamped."""
        changed = False
        for function in module.functions:
            clamping = _Clamping(module, function)
            for block in blocks_of(function):
                changed |= clamping.block(block)
        return changed


class _Clamping:
    """Rebuilds blocks with clamps in front of accesses."""

    def __init__(self, module: nodes.Module, function: nodes.Function) -> None:
        self.ranges = Ranges(function)
        self.builder = Builder(module)

    def block(self, block: nodes.Block) -> bool:
        """Clamp the indices in one block."""
        before, block.instructions = block.instructions, []
        branch, block.branch = block.branch, None
        changed = False
        with self.builder.at(block):
            for instruction in before:
                if isinstance(instruction, nodes.Access):
                    changed |= self._access(instruction)
                elif isinstance(instruction, nodes.BuiltinCall) and instruction.function == "textureLoad":
                    changed |= clamp_load(self.builder, instruction)
                block.instructions.append(instruction)
        block.branch = branch
        return changed

    def _access(self, access: nodes.Access) -> bool:
        self.builder.span = access.span
        object = access.object.type
        type = object.store if isinstance(object, Pointer) else object
        changed = False
        for position, index in enumerate(access.indices):
            if not isinstance(type, Struct) and not self._is_in_range(type, index):
                access.set_operand(position + 1, self._clamped(access, position, type))
                changed = True
            constant = index.value.value if isinstance(index, nodes.Constant) else 0
            part = element_type(type, constant if isinstance(constant, int) else 0)
            assert part is not None
            type = part
        return changed

    def _is_in_range(self, type: Type, index: Value) -> bool:
        count = element_count(type)
        if isinstance(index, nodes.Constant) and not isinstance(count, int):
            return index.value.value == 0  # every array has an element
        largest = self.ranges.largest(index)
        return isinstance(count, int) and largest is not None and largest < count

    def _clamped(self, access: nodes.Access, position: int, type: Type) -> Value:
        index = as_u32(self.builder, access.indices[position])
        return self.builder.builtin_call("min", [index, self._last(access, position, type)])

    def _last(self, access: nodes.Access, position: int, type: Type) -> Value:
        """The index of the last element."""
        count = element_count(type)
        if isinstance(count, int):
            return u32(count - 1)
        if isinstance(count, OverrideCount):
            length = count_value(self.builder, count)
        else:
            assert isinstance(type, Array)
            indices = access.indices[:position]
            array = self.builder.access(access.object, indices) if indices else access.object
            length = self.builder.builtin_call("arrayLength", [array])
        return self.builder.binary(BinaryOp.SUBTRACT, length, u32(1))
