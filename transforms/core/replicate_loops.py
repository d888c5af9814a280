"""Runs several iterations of a loop in one, for drivers that limit iterations.

    loop { body; continuing { next } }    becomes    loop { body; next; body; next; body; continuing { next } }

Each copy keeps its tests, so that the loop may be left in any: what is computed stays the same, in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...ir.core import nodes
from ...ir.core.builder import Builder, empty_block
from ...ir.core.names import NameScope
from ...ir.core.structure import blocks_of
from ...ir.types import VOID
from .copying import Copier
from .editing import any_of, module_names, names_in
from .regions import blocks_from, branches_to, is_unreachable, merge_of, nested, region
from .replacing import replace
from .returns import Returns, nests_too_deep
from .trip_counts import TripCount, trip_counts

_OUTER_COPIES = 4
"""Maximum number of copies of a loop with inner loops, whose own iterations are few compared with theirs."""


@dataclass(frozen=True)
class ReplicateLoops:
    """Copies the bodies of loops up to `n` times, as long as a loop has at most `size` operations then.

    Loops of at most `short` iterations stay as they are: drivers unroll them. Inner loops are done
    first; the loops around them get few copies. Loops that pass more than one value to their continuing part stay.
    """

    n: int = 16
    size: int = 1024
    short: int = 0

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "replicate_loops"

    def run(self, module: nodes.Module) -> bool:
        """Whether a loop was copied."""
        names = module_names(module)
        return any_of(self._function(module, names_in(names, function), function) for function in module.functions)

    def _function(self, module: nodes.Module, names: NameScope, function: nodes.Function) -> bool:
        kinds = _Kinds(trip_counts(function), self.short)
        places = [(it, loop) for it in reversed(blocks_of(function)) if (loop := _loop_at(it)) is not None]
        long = [loop for _, loop in places if not kinds.is_short(loop)]
        inner = {id(loop) for loop in long if not kinds.has_long(loop)}
        changed = False
        for loop in long:
            most = self.n if id(loop) in inner else min(self.n, _OUTER_COPIES)
            copies = min(most, self.size // kinds.size(loop))
            if copies > 1 and _can_copy(loop):
                _Replication(module, names, loop).run(copies)
                changed = True
        return changed


@dataclass(frozen=True)
class _Kinds:
    """Separates loops that a driver unrolls, of at most `short` iterations, from others. Copies are as long."""

    counts: dict[int, TripCount]
    short: int

    def is_short(self, loop: nodes.Loop) -> bool:
        """Whether the driver unrolls it."""
        return self.counts.get(id(loop), math.inf) <= self.short

    def has_long(self, loop: nodes.Loop) -> bool:
        """Whether there is a loop in it that the driver does not unroll."""
        loops = (_loop_at(block) for block in _inside(loop))
        return any(it is not None and not self.is_short(it) for it in loops)

    def size(self, loop: nodes.Loop) -> int:
        """The operations in it, once short loops have been unrolled."""
        return self._region(loop.start_target) + self._region(loop.continuing_target)

    def _region(self, start: nodes.Block) -> int:
        return sum(len(block.instructions) + 1 + self._nested(block) for block in region(start))

    def _nested(self, block: nodes.Block) -> int:
        loop = _loop_at(block)
        if loop is None:
            return sum(map(self._region, nested(block)))
        return self.size(loop) * (int(self.counts[id(loop)]) if self.is_short(loop) else 1)


def _loop_at(block: nodes.Block) -> nodes.Loop | None:
    target = None if block.branch is None else block.branch.target
    return target if isinstance(target, nodes.Loop) else None


def _inside(loop: nodes.Loop) -> Sequence[nodes.Block]:
    return [*blocks_from(loop.start_target), *blocks_from(loop.continuing_target)]


def _can_copy(loop: nodes.Loop) -> bool:
    """Whether the loop goes round, and its `continue`s can be brought to one place."""
    going_on = loop.continuing_target
    if is_unreachable(going_on) or len(going_on.arguments) > 1:
        return False
    return not nests_too_deep(loop.start_target, going_on)


class _Replication:
    """Chains copies of a loop's body and continuing part in front of the body."""

    def __init__(self, module: nodes.Module, names: NameScope, loop: nodes.Loop) -> None:
        self.loop = loop
        self.names = names
        self.builder = Builder(module)
        self.builder.span = loop.span

    def run(self, copies: int) -> None:
        """Let one iteration of the loop run this many."""
        loop = self.loop
        replicas = [self._copy() for _ in range(copies - 1)]
        back_to_start = branches_to(_inside(loop), loop.start_target)
        block = start = empty_block(replicas[0][0].arguments)
        replicas[0][0].arguments = []
        for index, (body, continuing) in enumerate(replicas):
            following = replicas[index + 1][0] if index + 1 < len(replicas) else loop.start_target
            block = self._go_through(block, body, continuing, following)
        block.instructions.extend(loop.start_target.instructions)
        block.branch = loop.start_target.branch
        loop.start_target = start
        for back in back_to_start:
            back.target = start

    def _copy(self) -> tuple[nodes.Block, nodes.Block]:
        copier = Copier(self.names)
        copier.regions(self.loop.start_target, self.loop.continuing_target)
        return copier.block_of(self.loop.start_target), copier.block_of(self.loop.continuing_target)

    def _go_through(
        self, block: nodes.Block, body: nodes.Block, continuing: nodes.Block, following: nodes.Block
    ) -> nodes.Block:
        """Append an iteration to a block; `following` continues after it and gets the values of its arguments."""
        end = nodes.Terminator()
        for branch in branches_to(blocks_from(body), continuing):
            branch.target = end
        type = continuing.arguments[0].type if continuing.arguments else VOID
        Returns(self.builder, self.names, end, type).lead(block, body, continuing)
        closing = next(it for it in blocks_from(block) if it.branch is not None and it.branch.target is body)
        back = closing.branch
        assert back is not None
        entering = next((it for it in blocks_from(block) if _enters(it, closing)), None)
        if entering is not None:  # `break if`: who does not leave goes on behind it
            return _behind(entering, closing, following)
        for argument, value in zip(following.arguments, back.arguments, strict=True):
            replace(argument, value)
        following.arguments = []
        back.drop_operands()
        closing.branch = None
        return closing


def _enters(block: nodes.Block, arm: nodes.Block) -> bool:
    """Whether a block enters an If without a merge of which `arm` is one."""
    node = None if block.branch is None else block.branch.target
    return isinstance(node, nodes.If) and merge_of(block) is None and arm in (node.true_target, node.false_target)


def _behind(entering: nodes.Block, closing: nodes.Block, following: nodes.Block) -> nodes.Block:
    """A merge of the If that a block enters, with the arguments of `following`, for the arm that goes back."""
    assert entering.branch is not None
    assert isinstance(entering.branch.target, nodes.If)
    assert closing.branch is not None
    merge = empty_block(following.arguments)
    following.arguments = []
    entering.branch.target.merge_target = merge
    closing.branch.target = merge
    return merge
