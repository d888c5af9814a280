"""Unrolls loops that run a known small number of times.

A loop counts with block arguments (run `mem2reg` before) from constants; it has one exit, an If on the path through
its body or `break if`, and one back edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...ir.constants import ConstantValue
from ...ir.core import nodes
from ...ir.core.names import NameScope
from ...ir.core.operations import pure_evaluator
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.scalars import Mode
from .copying import Copier
from .editing import any_of, module_names, names_in
from .purity import is_pure
from .regions import blocks_from, branches_to, erase, is_unreachable, last_block, prune, region, take_over

_MOST_INSTRUCTIONS = 512


@dataclass(frozen=True)
class Unroll:
    """Replaces loops of at most `n` iterations by their bodies, one after another; inner loops first."""

    n: int = 8

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "unroll"

    def run(self, module: nodes.Module) -> bool:
        """Whether a loop was unrolled."""
        names = module_names(module)
        return any_of(self._function(names_in(names, function), function) for function in module.functions)

    def _function(self, names: NameScope, function: nodes.Function) -> bool:
        changed = any_of(self._unroll(names, block) for block in reversed(blocks_of(function)))
        if changed:
            prune(function.start_target)
        return changed

    def _unroll(self, names: NameScope, block: nodes.Block) -> bool:
        if block.branch is None or not isinstance(block.branch.target, nodes.Loop):
            return False
        loop = block.branch.target
        exit = _exit_of(loop)
        if exit is None:
            return False
        rounds = _Counting(loop, exit).rounds(block.branch.arguments, self.n)
        if rounds is None or (rounds + 1) * _size(loop) > _MOST_INSTRUCTIONS:
            return False
        _Unrolling(loop, exit, names).run(block, rounds)
        return True


@dataclass(frozen=True)
class _Exit:
    """The one block that a loop is left from, by the arm of an If; control goes round by the other arm."""

    block: nodes.Block
    node: nodes.If
    leaves_if: bool

    def leaving(self, node: nodes.If) -> nodes.Block:
        """The arm of a copy of the If that leaves."""
        return node.true_target if self.leaves_if else node.false_target

    def staying(self, node: nodes.If) -> nodes.Block:
        """The other arm."""
        return node.false_target if self.leaves_if else node.true_target


def _exit_of(loop: nodes.Loop) -> _Exit | None:
    inside = [*blocks_from(loop.start_target), *blocks_from(loop.continuing_target)]
    leaving = branches_to(inside, loop.merge_target)
    if len(leaving) != 1 or is_unreachable(loop.continuing_target):
        return None
    if len(branches_to(inside, loop.continuing_target)) != 1 or len(branches_to(inside, loop.start_target)) != 1:
        return None
    body_end = last_block(loop.start_target).branch
    if body_end is None or body_end.target is not loop.continuing_target:
        return None
    for block in (*region(loop.start_target), *region(loop.continuing_target)):
        node = None if block.branch is None else block.branch.target
        if isinstance(node, nodes.If):
            for arm, leaves_if in ((node.true_target, True), (node.false_target, False)):
                if arm.branch is leaving[0]:
                    return _Exit(block, node, leaves_if)
    return None


def _size(loop: nodes.Loop) -> int:
    blocks = [*blocks_from(loop.start_target), *blocks_from(loop.continuing_target)]
    return sum(len(block.instructions) + 1 for block in blocks)


class _Counting:
    """Follows the values that a loop's condition depends on from iteration to iteration."""

    def __init__(self, loop: nodes.Loop, exit: _Exit) -> None:
        self.loop = loop
        self.exit = exit
        inside = [*blocks_from(loop.start_target), *blocks_from(loop.continuing_target)]
        (into_continuing,) = branches_to(inside, loop.continuing_target)
        (self.back,) = branches_to(inside, loop.start_target)
        arguments = zip(loop.continuing_target.arguments, into_continuing.arguments, strict=True)
        self.passed: dict[Value, Value] = dict(arguments)
        self.known: dict[Value, ConstantValue | None] = {}

    def rounds(self, initial: Sequence[Value], most: int) -> int | None:
        """How often control goes round; None if it is not known, or more than `most`."""
        values = [it.value if isinstance(it, nodes.Constant) else None for it in initial]
        for count in range(most + 1):
            self.known = dict(zip(self.loop.start_target.arguments, values, strict=True))
            condition = self._value(self.exit.node.condition)
            if condition is None:
                return None
            if condition.value is self.exit.leaves_if:
                return count
            values = [self._value(it) for it in self.back.arguments]
        return None

    def _value(self, value: Value) -> ConstantValue | None:
        if isinstance(value, nodes.Constant):
            return value.value
        if value not in self.known:
            self.known[value] = self._computed(value)
        return self.known[value]

    def _computed(self, value: Value) -> ConstantValue | None:
        if value in self.passed:
            return self._value(self.passed[value])
        if not isinstance(value, nodes.Instruction) or not is_pure(value):
            return None
        operands = [found.value for found in map(self._value, value.operands) if found is not None]
        evaluate = pure_evaluator(value, Mode.RUNTIME) if len(operands) == len(value.operands) else None
        return None if evaluate is None else ConstantValue(value.type, evaluate(operands))


class _Unrolling:
    """Puts copies of a loop's body behind each other."""

    def __init__(self, loop: nodes.Loop, exit: _Exit, names: NameScope) -> None:
        self.loop = loop
        self.exit = exit
        self.names = names

    def run(self, block: nodes.Block, rounds: int) -> None:
        """Replace the Loop that `block` enters by `rounds` iterations and the way to the exit."""
        for _ in range(rounds):
            block = self._iteration(block)
        self._leave(block)
        erase(self.loop.start_target)
        erase(self.loop.continuing_target)

    def _iteration(self, block: nodes.Block) -> nodes.Block:
        """Go once round from the end of a block, whose branch passes the arguments of the start; the end of it."""
        exit = self._enter(block)
        node = _node_of(exit)
        erase(self.exit.leaving(node))
        staying = self.exit.staying(node)
        end = last_block(staying)
        take_over(exit, staying)
        node.drop_operands()
        if node.merge_target is not None:
            end = exit if end is staying else end
            assert end.branch is not None
            take_over(end, node.merge_target, end.branch.arguments)
        return last_block(block)

    def _leave(self, block: nodes.Block) -> None:
        """Go from the end of a block, whose branch passes the arguments of the start, out of the loop."""
        exit = self._enter(block)
        node = _node_of(exit)
        erase(self.exit.staying(node))
        if node.merge_target is not None:
            erase(node.merge_target)
        take_over(exit, self.exit.leaving(node))
        node.drop_operands()
        assert exit.branch is not None
        take_over(exit, self.loop.merge_target, exit.branch.arguments)

    def _enter(self, block: nodes.Block) -> nodes.Block:
        """Go from a block through copies of the body and the continuing part; the copy of the exit."""
        assert block.branch is not None
        copier = Copier(self.names)
        copier.regions(self.loop.start_target, self.loop.continuing_target)
        start, continuing = copier.block_of(self.loop.start_target), copier.block_of(self.loop.continuing_target)
        body_end = last_block(start)
        take_over(block, start, block.branch.arguments)
        body_end = block if body_end is start else body_end
        assert body_end.branch is not None
        take_over(body_end, continuing, body_end.branch.arguments)
        exit = copier.block_of(self.exit.block)
        return {id(start): block, id(continuing): body_end}.get(id(exit), exit)


def _node_of(block: nodes.Block) -> nodes.If:
    assert block.branch is not None
    assert isinstance(block.branch.target, nodes.If)
    return block.branch.target
