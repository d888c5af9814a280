"""Copies of instructions and regions, for passes that duplicate code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import assert_never

from ...ir.core import nodes
from ...ir.core.builder import empty_block
from ...ir.core.names import NameScope
from ...ir.core.values import Value
from .regions import blocks_from
from .replacing import copy_constant, settle_indices


class Copier:
    """Copies with other operands: `values` maps each original to its replacement. Named copies get new names."""

    def __init__(self, names: NameScope) -> None:
        self.names = names
        self.values: dict[Value, Value] = {}
        self._blocks: dict[int, nodes.Block] = {}
        self._ends: dict[int, nodes.Terminator] = {}

    def map_end(self, end: nodes.Terminator, copy: nodes.Terminator) -> None:
        """Let branches to `end` go to `copy`."""
        self._ends[id(end)] = copy

    def of(self, value: Value) -> Value:
        """The replacement of a value: itself, if it is defined outside; a constant is copied each time."""
        found = self.values.get(value, value)
        return copy_constant(found) if isinstance(found, nodes.Constant) else found

    def block_of(self, block: nodes.Block) -> nodes.Block:
        """The copy of a block, or the block itself, if it is outside."""
        return self._blocks.get(id(block), block)

    def region(self, start: nodes.Block) -> nodes.Block:
        """A copy of a region and all in it; branches that leave it lead where the original's do."""
        self.regions(start)
        return self.block_of(start)

    def regions(self, *starts: nodes.Block) -> None:
        """Copy regions that lead to one another: see `block_of`."""
        blocks = [block for start in starts for block in blocks_from(start)]
        self._blocks |= {id(block): empty_block(map(self._argument, block.arguments)) for block in blocks}
        for block in blocks:
            copy = self.block_of(block)
            copy.diagnostics = list(block.diagnostics)
            self.append(copy, block.instructions)
            assert block.branch is not None
            copy.branch = self._branch(block.branch)

    def append(self, block: nodes.Block, instructions: Iterable[nodes.Instruction]) -> None:
        """Put copies of instructions at the end of a block."""
        block.instructions.extend(map(self.instruction, instructions))

    def instruction(self, instruction: nodes.Instruction) -> nodes.Instruction:
        """A copy of one instruction."""
        copy = copy_instruction(instruction, self.of)
        copy.name = None if instruction.name is None else self.names.unique(instruction.name)
        self.values[instruction] = copy
        return copy

    def _argument(self, argument: nodes.BlockArgument) -> nodes.BlockArgument:
        name = None if argument.name is None else self.names.unique(argument.name)
        copy = nodes.BlockArgument(argument.type, name, span=argument.span)
        self.values[argument] = copy
        return copy

    def _branch(self, branch: nodes.Branch) -> nodes.Branch:
        return nodes.Branch(self._target(branch.target), map(self.of, branch.arguments), span=branch.span)

    def _target(self, target: nodes.Flow) -> nodes.Flow:
        match target:
            case nodes.Block():
                return self.block_of(target)
            case nodes.Terminator(unreachable=True):
                return nodes.Terminator(unreachable=True)
            case nodes.Terminator():
                return self._ends.get(id(target), target)
            case nodes.If(condition=condition, true_target=true, false_target=false, merge_target=merge, span=span):
                arms = self.block_of(true), self.block_of(false)
                return nodes.If(self.of(condition), *arms, self._merge(merge), span=span)
            case nodes.Switch(condition=condition, cases=cases, merge_target=merge, span=span):
                copies = [nodes.SwitchCase(list(it.selectors), it.is_default, self.block_of(it.target)) for it in cases]
                return nodes.Switch(self.of(condition), copies, self._merge(merge), span=span)
            case nodes.Loop(start_target=start, continuing_target=continuing, merge_target=merge, span=span):
                return nodes.Loop(*map(self.block_of, (start, continuing, merge)), span=span)
            case _:
                assert_never(target)

    def _merge(self, merge: nodes.Block | None) -> nodes.Block | None:
        return None if merge is None else self.block_of(merge)


def copy_instruction(instruction: nodes.Instruction, operand: Callable[[Value], Value]) -> nodes.Instruction:
    """The same operation on other operands."""
    copy = instruction.copy()
    for index, original in enumerate(instruction.operands):
        copy.set_operand(index, operand(original))
    if isinstance(copy, nodes.Access):
        settle_indices(copy)
    return copy
