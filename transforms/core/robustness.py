"""Keeps every access inside its object (WGSL, "Out-of-Bounds Access").

An index is taken as unsigned and clamped to the last element: the rule of every tier, so that all devices agree. Or, by
choice, a load from outside gives zero and a store does nothing; WGSL allows this as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...base.errors import InputError
from ...ir.core import nodes
from ...ir.core.builder import Builder, u32
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.types import Array, OverrideCount, Pointer, Type, element_count, element_type
from .bounds_checks import Checks, unproved
from .editing import as_u32, count_value
from .predicating import Condition, is_predicable, predicate
from .ranges import constant_of
from .robustness_textures import clamp_load

MODES = ("clamp", "predicate")


@dataclass(frozen=True)
class Robustness:
    """Guards the indices that are not proved to be in range.

    `mode` is `clamp`, or `predicate`: loads, stores and atomics happen only inside, and what has no such guard, a part
    of a value or a pointer for a function, is clamped.
    """

    mode: str = "clamp"

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "robustness"

    def run(self, module: nodes.Module) -> bool:
        """Whether an index was guarded. Raises InputError for a mode that there is not."""
        if self.mode not in MODES:
            raise InputError(f"the option 'mode' of robustness is {' or '.join(MODES)}, not {self.mode!r}")
        changed = False
        for function in module.functions:
            checks = unproved(module, function)
            changed |= _Guarding(module, checks, is_predicating=self.mode == "predicate").guard(function)
        return changed


class _Guarding:
    """Rebuilds blocks with what guards their accesses."""

    def __init__(self, module: nodes.Module, checks: Checks, *, is_predicating: bool) -> None:
        self.builder = Builder(module)
        self.checks = checks
        self.is_predicating = is_predicating
        self.conditions: dict[nodes.Access, Condition] = {}

    def guard(self, function: nodes.Function) -> bool:
        """Clamp or predicate the function's accesses; whether there was one to guard."""
        clamps = [self._block(block) for block in blocks_of(function)]
        if self.conditions:
            predicate(self.builder, function, self.conditions)
        return bool(self.checks) or any(clamps)

    def _block(self, block: nodes.Block) -> bool:
        """Guard what a block accesses; whether a load from a texture was clamped."""
        before, block.instructions = block.instructions, []
        branch, block.branch = block.branch, None
        changed = False
        with self.builder.at(block):
            for instruction in before:
                if isinstance(instruction, nodes.Access) and instruction in self.checks:
                    self._access(instruction, self.checks[instruction])
                elif isinstance(instruction, nodes.BuiltinCall) and instruction.function == "textureLoad":
                    changed |= clamp_load(self.builder, instruction)
                block.instructions.append(instruction)
        block.branch = branch
        return changed

    def _access(self, access: nodes.Access, positions: Sequence[int]) -> None:
        self.builder.span = access.span
        lasts = [self._last(access, position) for position in positions]
        indices = [as_u32(self.builder, access.indices[position]) for position in positions]
        if self.is_predicating and is_predicable(access):
            self.conditions[access] = [
                self.builder.binary(BinaryOp.LESS_EQUAL, index, last)
                for index, last in zip(indices, lasts, strict=True)
            ]
            return
        for position, index, last in zip(positions, indices, lasts, strict=True):
            access.set_operand(position + 1, self.builder.builtin_call("min", [index, last]))

    def _last(self, access: nodes.Access, position: int) -> Value:
        """The index of the last element."""
        type = _indexed(access, position)
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


def _indexed(access: nodes.Access, position: int) -> Type:
    """What an index of an access is for."""
    type = access.object.type.store if isinstance(access.object.type, Pointer) else access.object.type
    for index in access.indices[:position]:
        part = element_type(type, constant_of(index) or 0)
        assert part is not None
        type = part
    return type
