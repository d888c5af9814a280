"""Moves loop-invariant operations out of loops.

Pure operations are defined for all operands, so speculating one is safe. A load moves if nothing in the
loop may write there, and the loop has no barrier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...ir.core import nodes
from ...ir.core.effects import has_effects
from ...ir.core.values import Value
from ...ir.types import AddressSpace, Pointer
from .editing import any_of
from .purity import is_constant_memory, is_pure, may_alias, root_of
from .regions import blocks_from, nested, region, values_from


@dataclass(frozen=True)
class LoopInvariantCodeMotion:
    """Moves operations that every iteration executes, inner loops first. Operations in an arm stay there."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "licm"

    def run(self, module: nodes.Module) -> bool:
        """Whether something moved."""
        return any_of(_region(function.start_target) for function in module.functions)


def _region(start: nodes.Block) -> bool:
    changed = False
    for block in region(start):
        for inner in nested(block):
            changed |= _region(inner)
        if block.branch is not None and isinstance(block.branch.target, nodes.Loop):
            changed |= _Hoisting(block, block.branch.target).run()
    return changed


class _Hoisting:
    """Moves code of one loop to the end of the block in front."""

    def __init__(self, front: nodes.Block, loop: nodes.Loop) -> None:
        self.front = front
        self.loop = loop
        self.inside: set[Value] = {*values_from(loop.start_target), *values_from(loop.continuing_target)}
        self.here: set[Value] = set()
        self.effects = [
            it
            for start in (loop.start_target, loop.continuing_target)
            for block in blocks_from(start)
            for it in block.instructions
            if has_effects(it)
        ]

    def run(self) -> bool:
        """Whether something moved."""
        blocks = [*region(self.loop.start_target), *region(self.loop.continuing_target)]
        return any_of(self._block(block) for block in blocks)

    def _block(self, block: nodes.Block) -> bool:
        moved: list[nodes.Instruction] = []
        self.here = set(block.instructions)
        for instruction in block.instructions:
            if self._is_invariant(instruction):
                moved += self._pointer_of(instruction)
                moved.append(instruction)
                self.inside.discard(instruction)
        ids = {id(it) for it in moved}
        block.instructions = [it for it in block.instructions if id(it) not in ids]
        self.front.instructions += moved
        return bool(moved)

    def _is_invariant(self, instruction: nodes.Instruction) -> bool:
        if isinstance(instruction, nodes.Load):
            return self._is_known(instruction.pointer) and self._is_unwritten(instruction.pointer)
        is_pointer = isinstance(instruction.type, Pointer)
        return is_pure(instruction) and not is_pointer and all(it not in self.inside for it in instruction.operands)

    def _is_known(self, pointer: Value) -> bool:
        """Whether a pointer is from outside, or is made right here of what is."""
        if pointer not in self.inside:
            return True
        is_here = isinstance(pointer, nodes.Access) and pointer in self.here
        return is_here and all(it not in self.inside for it in pointer.operands)

    def _is_unwritten(self, pointer: Value) -> bool:
        if is_constant_memory(pointer):
            return True
        root = root_of(pointer)
        assert isinstance(root.type, Pointer)
        is_own = isinstance(root, nodes.Var) and root.type.space in (AddressSpace.FUNCTION, AddressSpace.PRIVATE)
        return is_own and not any(_may_write(it, root) for it in self.effects)

    def _pointer_of(self, instruction: nodes.Instruction) -> Sequence[nodes.Instruction]:
        """The pointer that a load needs, if it is still inside."""
        if not isinstance(instruction, nodes.Load) or instruction.pointer not in self.inside:
            return ()
        assert isinstance(instruction.pointer, nodes.Access)
        self.inside.discard(instruction.pointer)
        return (instruction.pointer,)


def _may_write(instruction: nodes.Instruction, root: Value) -> bool:
    """Whether an instruction with effects may write to a variable of this invocation."""
    match instruction:
        case nodes.Store(pointer=pointer):
            return may_alias(root_of(pointer), root)
        case nodes.Call(arguments=arguments):
            passed = [root_of(it) for it in arguments if isinstance(it.type, Pointer)]
            is_private = isinstance(root.type, Pointer) and root.type.space is AddressSpace.PRIVATE
            return is_private or any(may_alias(it, root) for it in passed)
        case _:
            return any(may_alias(root_of(it), root) for it in instruction.operands if isinstance(it.type, Pointer))
