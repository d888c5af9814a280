"""The structure of a fork's body: blocks, loops and inner forks as a tree of levels, each an acyclic sequence.

A *level* is the body of the gang's fork, of a loop, or of an inner fork. Its *items* are blocks and whole inner levels,
in an order in which all edges but back edges go forward.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .....base.deadline import check_compile_time
from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop, block_leader
from .....ir.hercules.placement import Placement

Container = Loop | h.Fork


@dataclass(frozen=True, slots=True)
class BlockEdge:
    """A control-flow edge between two blocks, which are named by their leaders."""

    source: h.Node
    target: h.Node


@dataclass(eq=False, slots=True)
class Item:
    """A block, or a whole inner level; `leader` is its first block.

    The same lanes pass the item and its `twin`, an earlier item of the level.
    """

    leader: h.Node
    level: Level
    inner: Level | None = None
    incoming: list[BlockEdge] = field(default_factory=list[BlockEdge])
    twin: Item | None = None


@dataclass(eq=False, slots=True)
class Level:
    """The body of a loop or fork, the `container`. `back` are its back edges, `exits` the edges that leave it, from any
    depth.
    """

    container: Container
    header: h.Node
    parent: Level | None
    items: list[Item] = field(default_factory=list[Item])
    back: list[BlockEdge] = field(default_factory=list[BlockEdge])
    exits: list[BlockEdge] = field(default_factory=list[BlockEdge])
    leaders: set[h.Node] = field(default_factory=set[h.Node])

    @property
    def is_loop(self) -> bool:
        """Whether the container is a loop of the program."""
        return isinstance(self.container, Loop)


@dataclass(eq=False, slots=True)
class Body:
    """The body of a fork: its levels, outermost first, the level of each block, and the edges out of it."""

    fork: h.Fork
    top: Level
    levels: list[Level]
    level_of: dict[h.Node, Level]
    outgoing: dict[h.Node, list[BlockEdge]]

    def enclosing(self, leader: h.Node) -> list[Level]:
        """The levels around a block, innermost first; none for a block outside of the fork."""
        result: list[Level] = []
        level = self.level_of.get(leader)
        while level is not None:
            result.append(level)
            level = level.parent
        return result


def find_body(placed: Placement, forks: Sequence[h.Fork]) -> Body:
    """The structure of the body of perfectly nested forks, taken as one fork."""
    fork = forks[0]
    leaders = placed.members.blocks[fork]
    flow: dict[h.Node, list[BlockEdge]] = {it: [] for it in leaders}
    for leader in leaders:
        for node in placed.members.control[leader]:
            for following in placed.graph.successors[node]:
                if block_leader(following) is following:
                    flow[leader].append(BlockEdge(leader, following))
    paths = {it: _containers(placed, forks, it) for it in leaders}
    body = Body(fork, Level(fork, fork, None), [], {}, flow)
    _LevelBuilder(placed, body, paths).build(body.top, leaders, 1)
    return body


def _containers(placed: Placement, own: Sequence[h.Fork], leader: h.Node) -> list[Container]:
    """The gang's fork, and the loops and forks between the fork and a block; outermost first."""
    fork, around = own[0], placed.nest.around[leader]
    forks: list[Container] = [fork, *(it for it in around[around.index(fork) :] if it not in own)]
    loops: list[Container] = [it for it in placed.loops.around[leader] if fork in placed.nest.around[it.header]]
    return sorted([*forks, *loops], key=lambda it: _depth(placed, it))


def _depth(placed: Placement, container: Container) -> int:
    header = container if isinstance(container, h.Fork) else container.header
    return len(placed.nest.around[header]) + len(placed.loops.around[header])


@dataclass(frozen=True, slots=True)
class _LevelBuilder:
    """Fills the levels of a body; `paths` are the containers around each block."""

    placed: Placement
    body: Body
    paths: Mapping[h.Node, Sequence[Container]]

    def build(self, level: Level, leaders: Sequence[h.Node], depth: int) -> None:
        """Fill the level at a depth, and those inside, with the blocks of these leaders."""
        self.body.levels.append(level)
        level.leaders = set(leaders)
        item_of: dict[h.Node, Item] = {}
        for key, members in self._groups(leaders, depth).items():
            item_of.update(dict.fromkeys(members, self._item(key, members, level, depth)))
        items = list(dict.fromkeys(item_of.values()))
        for leader in leaders:
            for edge in self.body.outgoing[leader]:
                _add_edge(edge, level, item_of)
        empty = {it for it in items if it.inner is None and not self.placed.blocks[it.leader]}
        level.items = _in_order(items, item_of, level.header, empty)
        _find_twins(level.items, item_of, level)

    def _groups(self, leaders: Sequence[h.Node], depth: int) -> dict[h.Node | Container, list[h.Node]]:
        """The blocks of each inner level, by its container, and single blocks."""
        groups: dict[h.Node | Container, list[h.Node]] = {}
        for leader in leaders:
            path = self.paths[leader]
            groups.setdefault(path[depth] if len(path) > depth else leader, []).append(leader)
        return groups

    def _item(self, key: h.Node | Container, members: list[h.Node], level: Level, depth: int) -> Item:
        first = members[0]
        if not isinstance(key, (Loop, h.Fork)) or len(self.paths[first]) <= depth:
            self.body.level_of[first] = level
            return Item(first, level)
        header = key if isinstance(key, h.Fork) else key.header
        inner = Level(key, header, level)
        self.build(inner, members, depth + 1)
        return Item(header, level, inner)


def _add_edge(edge: BlockEdge, level: Level, item_of: Mapping[h.Node, Item]) -> None:
    target = item_of.get(edge.target)
    if target is None:
        level.exits.append(edge)
    elif edge.target is level.header:
        level.back.append(edge)
    elif target is not item_of[edge.source]:
        target.incoming.append(edge)


def _in_order(
    items: Iterable[Item], item_of: dict[h.Node, Item], header: h.Node, empty: Collection[Item]
) -> list[Item]:
    """The items in topological order, breadth first. Of those that become ready together, empty ones come last."""
    following: dict[Item, list[Item]] = {it: [] for it in items}
    missing: dict[Item, int] = {}
    for item in following:
        before = {item_of[edge.source] for edge in item.incoming}
        missing[item] = len(before)
        for it in before:
            following[it].append(item)
    number = {item: index for index, item in enumerate(following)}
    ready = [it for it in following if not missing[it]]
    result: list[Item] = []
    while ready:
        result += ready
        freed: list[Item] = []
        for it in ready:
            for after in following[it]:
                missing[after] -= 1
                freed += [] if missing[after] else [after]
        ready = sorted(freed, key=lambda it: (it in empty, number[it]))
    assert len(result) == len(following), "an irreducible loop"
    assert result[0].leader is header
    return result


def _find_twins(items: list[Item], item_of: dict[h.Node, Item], level: Level) -> None:
    """Finds control-equivalent items: one dominates the other, which postdominates it. The same lanes pass both."""
    number = {item: index for index, item in enumerate(items)}
    count = len(items)
    above = [0] * count
    for index, item in enumerate(items):
        common = -1
        for edge in item.incoming:
            common &= above[number[item_of[edge.source]]]
        above[index] = (1 << index) | (common if item.incoming else 0)
    ways: list[set[int]] = [set() for _ in items]
    for item in items:
        for edge in item.incoming:
            ways[number[item_of[edge.source]]].add(number[item])
    for edge in [*level.exits, *level.back]:
        ways[number[item_of[edge.source]]].add(count)
    below = [0] * (count + 1)
    below[count] = 1 << count
    for index in reversed(range(count)):
        check_compile_time()
        common = -1
        for following in ways[index]:
            common &= below[following]
        below[index] = (1 << index) | (common if ways[index] else 0)
    for index, item in enumerate(items):
        for earlier in range(index):
            if above[index] >> earlier & 1 and below[earlier] >> index & 1:
                item.twin = items[earlier]
                break
