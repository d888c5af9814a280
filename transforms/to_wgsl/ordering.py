"""Decides which values may wait to become part of a later expression.

Instructions are in the order in which they execute. If several are written as one expression, they execute in the order
of the expression (WGSL, "Program Order Within an Invocation"). Both orders must agree for operations that conflict. A
*tree* is a waiting value together with the operands folded into it; it has the times of its first and last effect.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from ...ir.builtins import builtin
from ...ir.core import nodes
from ...ir.core.effects import has_effects, reads_memory
from ...ir.core.values import Value
from ...ir.types import Access, AddressSpace, Pointer


class Effect(enum.IntEnum):
    """The effect of an operation on memory. Two operations conflict if one writes and the other is not NONE."""

    NONE = 0
    READ = 1
    WRITE = 2


def effect_of(instruction: nodes.Instruction) -> Effect:
    """The effect of one operation. One that must stay in uniform control flow counts as a write, so it is not moved."""
    if has_effects(instruction):
        return Effect.WRITE
    if isinstance(instruction, nodes.BuiltinCall):
        function = builtin(instruction.function)
        if function is not None and function.flags.uniformity is not None:
            return Effect.WRITE
    if isinstance(instruction, nodes.Load) and _is_constant_memory(instruction.pointer):
        return Effect.NONE
    return Effect.READ if reads_memory(instruction) else Effect.NONE


def _is_constant_memory(pointer: Value) -> bool:
    type = pointer.type
    assert isinstance(type, Pointer)
    is_read_only = type.space is AddressSpace.STORAGE and type.access is Access.READ
    return is_read_only or type.space in (AddressSpace.UNIFORM, AddressSpace.IMMEDIATE, AddressSpace.HANDLE)


@dataclass(frozen=True, slots=True)
class Tree:
    """A waiting value: the times of its first and last operation with an effect, and the strongest effect."""

    first: int
    last: int
    effect: Effect

    def notices(self, other: Tree) -> bool:
        """Whether the two trees conflict: they must keep their order."""
        return min(self.effect, other.effect) > Effect.NONE and max(self.effect, other.effect) is Effect.WRITE


class Waiting:
    """The trees of one run of statements. Trees that conflict never overlap in time."""

    def __init__(self, clock: int = 0) -> None:
        self._trees: dict[Value, Tree] = {}
        self.clock = clock

    def __contains__(self, value: Value) -> bool:
        return value in self._trees

    def add(self, value: Value, tree: Tree) -> None:
        """Add a waiting value with its tree."""
        self._trees[value] = tree

    def take(self, operands: Sequence[Value], effect: Effect) -> Tree:
        """Join the waiting operands, and an operation with `effect` that executes now, to one tree."""
        self.clock += 1
        now = [] if effect is Effect.NONE else [Tree(self.clock, self.clock, effect)]
        parts = [self._trees.pop(operand) for operand in operands if operand in self._trees]
        effective = [part for part in parts if part.effect is not Effect.NONE] + now
        if not effective:
            return Tree(self.clock, self.clock, Effect.NONE)
        strongest = max(part.effect for part in effective)
        return Tree(min(part.first for part in effective), max(part.last for part in effective), strongest)

    def forget(self, value: Value) -> None:
        """Remove a value that no longer waits."""
        self._trees.pop(value, None)

    def in_the_way(self, operands: Sequence[Value], effect: Effect, *, is_statement: bool) -> Sequence[Value]:
        """The values that must be written out, in this order, before the operands can join an operation that executes
        now. A statement executes at once, so all waiting values that conflict with it must be written out first.
        """
        parts = [self._trees[operand] for operand in operands if operand in self._trees]
        for index, later in enumerate(parts):
            if any(earlier.notices(later) and earlier.last >= later.first for earlier in parts[:index]):
                return self._up_to(later)
        whole = Tree(
            min((part.first for part in parts if part.effect is not Effect.NONE), default=self.clock + 1),
            self.clock + 1,
            max([effect, *(part.effect for part in parts)]),
        )
        for value, tree in sorted(self._trees.items(), key=lambda item: -item[1].first):
            if value not in operands and tree.notices(whole) and (is_statement or tree.last > whole.first):
                return self._up_to(tree)
        return ()

    def _up_to(self, last: Tree) -> Sequence[Value]:
        found = [(tree.first, value) for value, tree in self._trees.items() if tree.effect is not Effect.NONE]
        return [value for first, value in sorted(found, key=lambda item: item[0]) if first <= last.first]
