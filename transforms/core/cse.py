"""Computes each value once, and reads a memory location once until it may have been written.

Pure operations are shared wherever the first one is visible; loads and stored values, within one block.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from ...ir.core import nodes
from ...ir.core.effects import has_effects
from ...ir.core.values import Value
from ...ir.schema.runtime import value_key
from ...ir.types import Pointer
from .editing import any_of
from .purity import SHARED, is_constant_memory, is_pure, may_alias, root_of
from .regions import nested, region, remove
from .replacing import replace


@dataclass(frozen=True)
class CommonSubexpressionElimination:
    """Value numbering over the structure of each function."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "cse"

    def run(self, module: nodes.Module) -> bool:
        """Whether an instruction was replaced by an earlier one."""
        return any_of(_Numbering().region(function.start_target) for function in module.functions)


class _Numbering:
    """The value table: `known` maps each visible operation to its result."""

    def __init__(self) -> None:
        self.known: dict[Hashable, Value] = {}
        self.made: list[Hashable] = []

    def region(self, start: nodes.Block) -> bool:
        """Number the values of a region, which sees the values of the regions around it."""
        outer = len(self.made)
        changed = False
        for block in region(start):
            changed |= self._block(block)
            for inner in nested(block):
                changed |= self.region(inner)
        for key in self.made[outer:]:
            del self.known[key]
        del self.made[outer:]
        return changed

    def _block(self, block: nodes.Block) -> bool:
        memory: dict[Hashable, tuple[Value, Value]] = {}
        gone: list[nodes.Instruction] = []
        for instruction in block.instructions:
            found = self._pure(instruction) if is_pure(instruction) else self._memory(instruction, memory)
            if found is not None:
                replace(instruction, found)
                gone.append(instruction)
        return remove(block, gone)

    def _pure(self, instruction: nodes.Instruction) -> Value | None:
        key = value_key(instruction, [_operand_key(it) for it in instruction.operands])
        found = self.known.get(key)
        if found is None:
            self.known[key] = instruction
            self.made.append(key)
        return found

    def _memory(self, instruction: nodes.Instruction, memory: dict[Hashable, tuple[Value, Value]]) -> Value | None:
        match instruction:
            case nodes.Load(pointer=pointer):
                found = memory.get(_operand_key(pointer))
                if found is not None:
                    return found[1]
                memory[_operand_key(pointer)] = (pointer, instruction)
            case nodes.Store(pointer=pointer, value=value):
                _forget(memory, root_of(pointer))
                memory[_operand_key(pointer)] = (pointer, value)
            case _:
                if has_effects(instruction):
                    _forget_all(memory, instruction)
        return None


def _forget(memory: dict[Hashable, tuple[Value, Value]], root: Value) -> None:
    for key, (pointer, _) in list(memory.items()):
        if may_alias(root_of(pointer), root):
            del memory[key]


def _forget_all(memory: dict[Hashable, tuple[Value, Value]], instruction: nodes.Instruction) -> None:
    """Forget the loads that an effect invalidates: a call may write any memory, a builtin function the memory of its
    pointer arguments, and after a barrier shared memory may hold the writes of others.
    """
    written = [root_of(it) for it in instruction.operands if isinstance(it.type, Pointer)]
    for key, (pointer, _) in list(memory.items()):
        if is_constant_memory(pointer):
            continue
        is_shared = isinstance(pointer.type, Pointer) and pointer.type.space in SHARED
        if is_shared or isinstance(instruction, nodes.Call) or any(may_alias(root_of(pointer), it) for it in written):
            del memory[key]


def _operand_key(value: Value) -> Hashable:
    return value.value if isinstance(value, nodes.Constant) else value
