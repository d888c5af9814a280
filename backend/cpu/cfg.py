"""The control nodes of a Hercules function as basic blocks, with dominators and loops.

A fork becomes a loop: its *head* holds the thread index and the Reduces, its *body* runs once a thread, and its *exit* is the
block of the join. Perfectly nested forks may share one loop (`ForkLoop.forks`, outermost first), whose joins share the exit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...ir.hercules import nodes as h
from ...ir.hercules.graph import is_control


@dataclass(eq=False, slots=True)
class Block:
    """A basic block. `dominator` is None for the first; `loops` are the heads of the loops around it, the head's own included."""

    name: str
    predecessors: list[Block] = field(default_factory=list["Block"])
    successors: list[Block] = field(default_factory=list["Block"])
    dominator: Block | None = None
    dominator_depth: int = 0
    loops: frozenset[Block] = frozenset()

    def __repr__(self) -> str:
        return f"<Block {self.name}>"

    @property
    def loop_depth(self) -> int:
        """How many loops it is in."""
        return len(self.loops)

    def dominates(self, other: Block) -> bool:
        """Whether every path to `other` goes through this block."""
        while other.dominator is not None and other.dominator_depth > self.dominator_depth:
            other = other.dominator
        return other is self

    def dominators(self) -> Iterator[Block]:
        """The block, its dominator, and so on to the first block."""
        block: Block | None = self
        while block is not None:
            yield block
            block = block.dominator


@dataclass(eq=False, slots=True)
class ForkLoop:
    """One loop for perfectly nested forks and their joins (both outermost first)."""

    forks: tuple[h.Fork, ...]
    joins: tuple[h.Join, ...]
    head: Block
    body: Block
    exit: Block


class ControlFlow:
    """The blocks of a function, in reverse postorder.

    `entry[c]` and `exit[c]` are the blocks where the control node `c` begins, and where what follows it is placed.
    `merged` forks, outermost first and perfectly nested, become one loop.
    """

    def __init__(self, function: h.Function, users: Mapping[h.Node, Sequence[h.Node]], merged: tuple[h.Fork, ...]) -> None:
        self.function = function
        self.entry: dict[h.Node, Block] = {}
        self.exit: dict[h.Node, Block] = {}
        self.terminators: dict[Block, h.If | h.Match | h.Return] = {}
        self.fork_loops: dict[h.Node, ForkLoop] = {}
        self._count = 0
        start = function.nodes[0]
        self.controls = _reachable_controls(start, users)
        joins = _joins_of_forks(start, users)
        self._add_fork_loops(merged, joins)
        self._add_blocks()
        self._add_edges()
        self.blocks = _reverse_postorder(self.entry[start])
        _set_dominators(self.blocks)
        _set_loops(self.blocks)

    def common(self, blocks: Iterable[Block]) -> Block:
        """The nearest block that dominates all of the given ones (at least one)."""
        result, *rest = blocks
        for other in rest:
            while other is not result:
                if other.dominator_depth > result.dominator_depth:
                    assert other.dominator is not None
                    other = other.dominator
                else:
                    assert result.dominator is not None, "blocks without a common dominator"
                    result = result.dominator
        return result

    def _block(self, name: str) -> Block:
        self._count += 1
        return Block(f"{name}{self._count}")

    def _add_fork_loops(self, merged: tuple[h.Fork, ...], joins: Mapping[h.Fork, h.Join]) -> None:
        for fork in joins:
            forks = merged if fork in merged else (fork,)
            if fork is forks[0]:
                loop = ForkLoop(
                    forks, tuple(joins[it] for it in forks), self._block("head"), self._block("body"), self._block("exit")
                )
                self.fork_loops.update((node, loop) for node in (*loop.forks, *loop.joins))

    def _add_blocks(self) -> None:
        for node in self.controls:
            loop = self.fork_loops.get(node)
            if loop is not None:
                self.entry[node], self.exit[node] = (
                    (loop.head, loop.body) if isinstance(node, h.Fork) else (loop.exit, loop.exit)
                )
            elif isinstance(node, (h.Start, h.Region, h.Read)):
                self.entry[node] = self.exit[node] = self._block(type(node).__name__.lower())

    def _add_edges(self) -> None:
        for node in self.controls:
            match node:
                case h.Region(predecessors=predecessors):
                    for predecessor in predecessors:
                        if predecessor in self.exit:
                            _connect(self.exit[predecessor], self.entry[node])
                case h.Read(collection=(h.If() | h.Match()) as branch):
                    _connect(self.exit[branch.control], self.entry[node])
                case h.If(control=control) | h.Match(control=control) | h.Return(control=control):
                    self.terminators[self.exit[control]] = node
                case _:
                    pass
        for loop in dict.fromkeys(self.fork_loops.values()):
            _connect(self.exit[loop.forks[0].control], loop.head)
            _connect(loop.head, loop.body)
            _connect(loop.head, loop.exit)
            _connect(self.exit[loop.joins[-1].control], loop.head)


def _connect(source: Block, target: Block) -> None:
    source.successors.append(target)
    target.predecessors.append(source)


def control_users(node: h.Node, users: Mapping[h.Node, Sequence[h.Node]]) -> list[h.Node]:
    """The control nodes that directly follow a control node."""
    return [user for user in users.get(node, ()) if is_control(user)]


def _reachable_controls(start: h.Node, users: Mapping[h.Node, Sequence[h.Node]]) -> list[h.Node]:
    seen = {start: None}
    pending = [start]
    while pending:
        for user in control_users(pending.pop(), users):
            if user not in seen:
                seen[user] = None
                pending.append(user)
    return list(seen)


def _joins_of_forks(start: h.Node, users: Mapping[h.Node, Sequence[h.Node]]) -> dict[h.Fork, h.Join]:
    """The join that ends each fork: the first one met on a path from the fork with no other fork open."""
    joins: dict[h.Fork, h.Join] = {}
    seen = {start}
    pending: list[tuple[h.Node, tuple[h.Fork, ...]]] = [(start, ())]
    while pending:
        node, open_forks = pending.pop()
        if isinstance(node, h.Fork):
            open_forks = (*open_forks, node)
        elif isinstance(node, h.Join):
            joins[open_forks[-1]] = node
            open_forks = open_forks[:-1]
        for user in control_users(node, users):
            if user not in seen:
                seen.add(user)
                pending.append((user, open_forks))
    return joins


def _reverse_postorder(first: Block) -> list[Block]:
    order: list[Block] = []
    seen = {first}
    pending = [(first, iter(first.successors))]
    while pending:
        block, successors = pending[-1]
        following = next((it for it in successors if it not in seen), None)
        if following is None:
            order.append(block)
            pending.pop()
        else:
            seen.add(following)
            pending.append((following, iter(following.successors)))
    return order[::-1]


def _set_dominators(blocks: list[Block]) -> None:
    """Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm"."""
    number = {block: index for index, block in enumerate(blocks)}
    dominator: dict[Block, Block] = {blocks[0]: blocks[0]}

    def meet(left: Block, right: Block) -> Block:
        while left is not right:
            if number[left] > number[right]:
                left = dominator[left]
            else:
                right = dominator[right]
        return left

    changed = True
    while changed:
        changed = False
        for block in blocks[1:]:
            known = [it for it in block.predecessors if it in dominator]
            best = known[0]
            for other in known[1:]:
                best = meet(best, other)
            if dominator.get(block) is not best:
                dominator[block] = best
                changed = True
    for block in blocks[1:]:
        block.dominator = dominator[block]
        block.dominator_depth = dominator[block].dominator_depth + 1


def _set_loops(blocks: list[Block]) -> None:
    """Natural loops: what reaches a back edge's source without passing its target."""
    for head in blocks:
        latches = [it for it in head.predecessors if head.dominates(it)]
        if not latches:
            continue
        inside = {head}
        pending = [it for it in latches if it is not head]
        while pending:
            block = pending.pop()
            if block not in inside:
                inside.add(block)
                pending.extend(block.predecessors)
        for block in inside:
            block.loops |= {head}
