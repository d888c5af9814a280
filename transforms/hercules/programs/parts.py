"""The control of a function as a tree of parts, as far as kernels must be told apart.

Control that contains no grid is `Straight`, whatever its form. A fork, a loop or a branch that contains grids is
structured, if it can be: a loop has one way out and one latch, and both arms of a branch lead to one region. What
cannot be structured is `Straight`, its grids included.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from ....ir.hercules.analyses import Dominators, Loop, post_dominators
from ....ir.hercules.graph import is_control
from ....ir.hercules.nodes import (
    ControlIndex,
    FloatingNode,
    Fork,
    If,
    Join,
    Match,
    Node,
    PinnedNode,
    Read,
    Region,
    Return,
    Start,
)
from ....ir.hercules.placement import Placement


@dataclass(frozen=True, slots=True)
class Straight:
    """Blocks that one invocation runs, by their leaders; control enters at the first."""

    leaders: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A fork that is the grid of a kernel, together with `depth - 1` forks directly below it."""

    fork: Fork
    depth: int
    leaders: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Sequential:
    """A fork whose threads follow one another."""

    fork: Fork
    join: Join
    body: Parts


@dataclass(frozen=True, slots=True)
class Iteration:
    """A loop: `before`, then the branch, then `after` if it stays."""

    branch: If
    stays_if: bool
    before: Parts
    after: Parts


@dataclass(frozen=True, slots=True)
class Choice:
    """A branch whose arms lead to one region."""

    branch: If
    if_false: Parts
    if_true: Parts


Part: TypeAlias = "Straight | Grid | Sequential | Iteration | Choice"
Parts: TypeAlias = tuple[Part, ...]


def counted_forks(parts: Parts) -> Iterator[Fork]:
    """The forks whose threads follow one another around grids, so that a host counts them."""
    for part in parts:
        match part:
            case Sequential(fork=fork, body=body):
                yield fork
                yield from counted_forks(body)
            case Iteration(before=first, after=second) | Choice(if_false=first, if_true=second):
                yield from counted_forks((*first, *second))
            case Straight() | Grid():
                pass
            case _:
                assert_never(part)


def parts_of(placed: Placement, grids: Mapping[Fork, int]) -> Parts:
    """The parts of a function with one return, one after another; `grids` has the depth of each grid."""
    start = placed.graph.order[0]
    try:
        return _Parser(placed, grids, post_dominators(placed.graph)).sequence(start, None)
    except _UnstructuredError:
        return (Straight(tuple(placed.blocks)),)


class _UnstructuredError(Exception):
    """Control that has none of the forms."""


@dataclass(slots=True)
class _Parser:
    placed: Placement
    grids: Mapping[Fork, int]
    post: Dominators
    open: set[Node] = field(default_factory=set[Node])
    """The headers of the loops around."""

    def sequence(self, leader: Node, stop: Node | None) -> Parts:
        """The parts from a block on, up to the one that control leaves for `stop`."""
        parts: list[Part] = []
        following: Node | None = leader
        while following is not None and following is not stop:
            part, following = self._next(following, stop)
            parts += part
        return tuple(parts)

    def _next(self, leader: Node, stop: Node | None) -> tuple[Parts, Node | None]:
        """The parts that begin at a block, and the block or the end after them."""
        loop = next((it for it in self.placed.loops.loops if it.header is leader), None)
        if loop is not None and leader not in self.open:
            return self._loop(loop, stop)
        block, end = Straight((leader,)), self.placed.exits[leader]
        if end is stop:
            return (block,), stop
        match end:
            case Return():
                return (block,), None
            case Fork():
                return (block, self._fork(end)), self.placed.nest.joins[end]
            case If():
                part, following = self._branch(end, leader, stop)
                return (block, *part), following
            case Region():
                if end in self.open:
                    raise _UnstructuredError
                return (block,), end
            case Join() | Match() | Start() | FloatingNode() | PinnedNode():
                raise _UnstructuredError
            case _:
                assert_never(end)

    def _fork(self, fork: Fork) -> Part:
        join = self.placed.nest.joins[fork]
        leaders = self._leaders(fork, join)
        if fork in self.grids:
            return Grid(fork, self.grids[fork], leaders)
        if self._has_grid(leaders):
            try:
                return Sequential(fork, join, self.sequence(fork, join))
            except _UnstructuredError:
                pass
        return Straight(leaders)

    def _branch(self, branch: If, leader: Node, stop: Node | None) -> tuple[Parts, Node]:
        merge = self._after(branch)
        leaders = self._leaders(leader, merge, stop)[1:]
        if self._has_grid(leaders):
            try:
                arms = [self.sequence(self._output(branch, it), merge) for it in (0, 1)]
                return (Choice(branch, arms[0], arms[1]),), merge
            except _UnstructuredError:
                pass
        return (Straight(leaders),), merge

    def _loop(self, loop: Loop, stop: Node | None) -> tuple[Parts, Node]:
        header, body = loop.header, set(loop.body)
        following = self._after(header)
        while following in body:
            following = self._after(following)
        leaders = self._leaders(header, following, stop)
        if self._has_grid(leaders):
            try:
                return (self._iteration(loop, following),), following
            except _UnstructuredError:
                pass
        return (Straight(leaders),), following

    def _iteration(self, loop: Loop, following: Node) -> Iteration:
        """A loop with one way out and one latch. Raises for others."""
        body = set(loop.body)
        exits = [it for node in loop.body for it in self.placed.graph.successors[node] if it not in body]
        branch = following.collection if isinstance(following, Read) else None
        if exits != [following] or len(loop.latches) != 1 or not isinstance(branch, If):
            raise _UnstructuredError
        stays_if = self._output(branch, 0) is following
        self.open.add(loop.header)
        try:
            before = self.sequence(loop.header, branch)
            after = self.sequence(self._output(branch, int(stays_if)), loop.header)
        finally:
            self.open.discard(loop.header)
        return Iteration(branch, stays_if, before, after)

    def _output(self, branch: If, number: int) -> Node:
        for output in self.placed.graph.successors[branch]:
            if isinstance(output, Read) and output.indices == [ControlIndex(number)]:
                return output
        raise _UnstructuredError

    def _after(self, node: Node) -> Node:
        """The next block that all paths from a node pass."""
        for after in self.post.chain(node):
            if after is not node and after in self.placed.blocks:
                return after
        raise _UnstructuredError

    def _leaders(self, first: Node, end: Node, stop: Node | None = None) -> tuple[Node, ...]:
        """The blocks from one on, before `end`. Raises if control passes `stop` there, or an open loop's header."""
        found: dict[Node, None] = {}
        pending = [first]
        while pending:
            node = pending.pop()
            if node is end or node in found:
                continue
            if node is stop or (node in self.open and node is not first):
                raise _UnstructuredError
            found[node] = None
            pending += reversed([it for it in self.placed.graph.successors[node] if is_control(it)])
        return tuple(it for it in found if it in self.placed.blocks)

    def _has_grid(self, leaders: tuple[Node, ...]) -> bool:
        return any(it in self.grids for it in leaders)
