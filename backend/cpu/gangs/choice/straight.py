"""Workgroup memory in registers, and the loops around barriers that are written iteration after iteration for that.

Where all positions in an array of workgroup memory are known in each iteration (see `states`), and iterations are
written one after another, the array is a sequence of vectors, of which each access takes or changes some. LLVM then
keeps them in registers: iterations do not wait for each other's stores, and shuffles of one iteration are joined with
those of the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import TypeAlias

from .....base.cached import cached_property
from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop, block_leader
from .....ir.hercules.graph import predecessors
from .....ir.hercules.placement import Placement
from .....ir.hercules.types import is_collection
from .....ir.hercules.versions import is_version_projection
from ...layout import ArrayLayout, Layout, ProductLayout, ScalarLayout
from ...memory import STACK_LIMIT, is_padded
from ...storage import Storage, StoragePlan
from .. import budgets
from ..analysis.alike import turns_together
from ..analysis.body import Body, Level, find_body
from ..analysis.bounds import constant_value
from ..analysis.counts import has_atomics
from ..analysis.known import KnownValues, Values
from ..analysis.live import Knowledge
from ..gang import Gang
from ..memory.addresses import array_steps
from .counted import Arrival, Counters

_WORD = 4
_PARTS, _MOST_PARTS = 4, 16
"""The most parts of gangs in loops around barriers, and of others, which access buffers: larger ones in their order."""
_FEWEST_ROUNDS = 3
"""The fewest times that a workgroup writes to an array. Where it fills an array once, and then reads, no load waits for
a store, and an unaligned load takes less time than a shuffle. What threads fill or read in loops then stays in memory:
in registers it would cost a copy of the body for each turn.
"""
_MOST_BLOCKS = 8
"""The most blocks, of as many words as a vector has, in which a vector's words are, on average. With more, shuffles
take longer than memory.
"""


@dataclass(frozen=True, slots=True)
class StraightCode:
    """Gangs whose positions are constants, by their innermost fork, and the outermost loops around them."""

    gangs: Mapping[h.Fork, Gang] = field(default_factory=dict[h.Fork, Gang])
    loops: Mapping[Loop, Sequence[Arrival]] = field(default_factory=dict[Loop, "Sequence[Arrival]"])


def straight_code(placed: Placement, plan: StoragePlan, nests: Sequence[Sequence[h.Fork]], native: int) -> StraightCode:
    """What is written so, with vectors of `native` lanes. Marks the storages in registers."""
    function = _Function(placed, plan, nests, native)
    chosen = function.storages_in_registers()
    if not chosen:
        return StraightCode()
    found = function.around(chosen)
    if not all(it.is_whole for it in found) or function.size(found) > budgets.STRAIGHT:
        return StraightCode()
    for it in chosen:
        it.is_in_registers = True
    return StraightCode({it.forks[-1]: it.gang() for it in found}, function.loops(found))


_Step: TypeAlias = tuple[h.Node, h.DynamicConstant, int]
"""A position, the extent of its array, and the bytes of an element."""


def _words(steps: Iterable[_Step], known: KnownValues) -> list[int] | None:
    """The words of all threads, counted from some place; None if positions are not known."""
    words = [0] * known.threads
    for position, extent, stride in steps:
        found = known.of(position)
        if found is None or not isinstance(extent, h.DynamicLiteral):
            return None
        words = [it + min(int(at), extent.value - 1) * stride // _WORD for it, at in zip(words, found, strict=True)]
    return words


@dataclass(eq=False)
class _Nest:
    """Forks that one gang runs, and in which states of the counters of loops around them: `every`."""

    placed: Placement
    forks: tuple[h.Fork, ...]
    native: int
    every: Sequence[Mapping[h.Node, int]]
    _known: dict[tuple[int, Level], KnownValues | None] = field(
        default_factory=dict[tuple[int, Level], "KnownValues | None"]
    )
    """What is known in the blocks of a level, by the number of the state."""

    @cached_property
    def vectors(self) -> int:
        """The vectors of all threads."""
        return Gang(self.forks, self.native).count // self.native

    @cached_property
    def inside(self) -> list[h.Node]:
        """The nodes in blocks."""
        return self.placed.members.inside(self.forks[-1])

    @cached_property
    def operations(self) -> int:
        """The operations of a thread, in all turns of the loops that are written turn after turn."""
        counts = {level: self._turns(level) for level in self.body.levels}
        around = (counts[level] for it in self.inside for level in self.body.enclosing(self.placed.place[it])[:1])
        return sum(around)

    def _turns(self, level: Level) -> int:
        """How often the code of a level is written."""
        if level.parent is None:
            return 1
        found = turns_together(self.placed, self.forks, level, self.every[0]) if level in self.alike else None
        return self._turns(level.parent) * (1 if found is None else len(found))

    @cached_property
    def is_whole(self) -> bool:
        """Whether the threads fill vectors, and what they do can be written for each vector: if at first only one
        thread runs loops that are not alike for all, or atomic operations other than counts.
        """
        gang = Gang(self.forks, self.native)
        if not self.every or gang.count % self.native or any(it & (it - 1) for it in gang.factors[1:]):
            return False
        return all(self._is_of_one_thread(it) for it in self._heavy)

    @cached_property
    def _heavy(self) -> list[h.Node]:
        """Blocks that only one thread may pass."""
        heavy = (it for it in self.inside if isinstance(it, h.Call) or has_atomics(self.placed, [it]))
        leaders = [self.placed.place[it] for it in heavy]
        loops = [it for level in self.body.levels if level.parent and level not in self.alike for it in level.leaders]
        return list(dict.fromkeys([*leaders, *loops]))

    @cached_property
    def body(self) -> Body:
        """The structure of the forks' body."""
        return find_body(self.placed, self.forks)

    @cached_property
    def alike(self) -> frozenset[Level]:
        """The loops that are written turn after turn."""
        found: set[Level] = set()
        for level in self.body.levels:
            is_inside = level.parent is self.body.top or level.parent in found
            if is_inside and turns_together(self.placed, self.forks, level, self.every[0]) is not None:
                found.add(level)
        return frozenset(found)

    @cached_property
    def knowledge(self) -> Knowledge:
        """What is known in the first of the states."""
        return Knowledge(self.placed, self.body, KnownValues(self.placed.types, self.forks, self.every[0]))

    def _is_of_one_thread(self, leader: h.Node) -> bool:
        """Whether at most one thread passes a block, or enters the outermost loop around it, in the first state."""
        *inner, top = self.body.enclosing(leader)
        level = inner[-1] if inner else None
        item = next(it for it in top.items if it.inner is level and (level is not None or it.leader is leader))
        return sum(it is not False for it in self.knowledge.of(item)) <= 1

    def blocks(self, steps: Sequence[_Step], leader: h.Node) -> Sequence[int] | None:
        """In how many blocks of memory the words of each vector are, in some of the states; None if that is unknown."""
        found: list[int] = []
        for state in dict.fromkeys([0, len(self.every) // 2, len(self.every) - 1]):
            values = self._values(state, leader)
            words = None if values is None else _words(steps, values)
            if words is None:
                return None
            vectors = (words[first : first + self.native] for first in range(0, len(words), self.native))
            found += [len({it // self.native for it in vector}) for vector in vectors]
        return found

    def _values(self, state: int, leader: h.Node) -> KnownValues | None:
        """What is known in a block, in the first turn of the loops around it; None where turns are not known, or where
        lanes are in several rows, so that a gang does not know that they leave loops together.
        """
        around = self.body.enclosing(leader)
        key = state, around[0]
        if key not in self._known:
            self._known[key] = self._values_inside(around[:-1], self.every[state])
        return self._known[key]

    def _values_inside(self, inner: Sequence[Level], state: Mapping[h.Node, int]) -> KnownValues | None:
        """The same in the first of these levels, which lie in one another."""
        counters: dict[h.Node, Values] = dict(state)
        if inner and len(self.forks) > 1:
            return None
        for level in reversed(inner):
            found = turns_together(self.placed, self.forks, level, counters)
            if found is None:
                return None
            counters |= found[0].counters
        return KnownValues(self.placed.types, self.forks, counters)

    def gang(self) -> Gang:
        """The gang of these forks."""
        is_in_loop = bool(self.placed.loops.around[self.forks[0]])
        parts = gcd(_PARTS if is_in_loop else _MOST_PARTS, self.vectors)
        return Gang(self.forks, self.native, parts, states=(tuple(self.every[0].items()),), is_straight=True)


class _Function:
    """The accesses to workgroup memory in a function."""

    def __init__(self, placed: Placement, plan: StoragePlan, nests: Sequence[Sequence[h.Fork]], native: int) -> None:
        self._placed, self._plan = placed, plan
        self._counters = Counters(placed, [it[-1] for it in nests])
        self._nests = {it[0]: _Nest(placed, tuple(it), native, self._every(it[0])) for it in nests}

    @property
    def _nodes(self) -> Iterator[h.Node]:
        """The nodes in blocks, and Collects."""
        yield from (node for nodes in self._placed.blocks.values() for node in nodes)
        yield from (node for node in self._placed.live if isinstance(node, h.Collect))

    def _every(self, fork: h.Fork) -> Sequence[Mapping[h.Node, int]]:
        loops = self._placed.loops.around[fork]
        if not loops:
            return [self._counters.after()]
        return self._counters.of(loops[-1]) if self._is_chain(loops[0]) else []

    def _is_chain(self, loop: Loop) -> bool:
        """Whether control passes the blocks of a loop one after another."""
        placed, literal = self._placed, h.DynamicLiteral
        if not self._counters.trace(loop):
            return False
        headers = {it.header for it in placed.loops.loops if it.header in loop.body}
        own = [it for it in loop.body if not any(isinstance(f.factor, literal) for f in placed.nest.around[it])]
        branches = [it for it in own if isinstance(it, (h.If, h.Match))]
        return all(block_leader(it) in headers for it in branches)

    def _nest_of(self, leader: h.Node) -> _Nest | None:
        return next((self._nests[it] for it in self._placed.nest.around[leader] if it in self._nests), None)

    def _is_in_loop(self, leader: h.Node) -> bool:
        """Whether a block is in a loop that threads run between barriers."""
        nest = self._nest_of(leader)
        return nest is not None and len(nest.body.enclosing(leader)) > 1

    def storages_in_registers(self) -> list[Storage]:
        """The storages whose accesses are known, and touch few blocks: those that threads write often to, and, if there
        are any, those that are not accessed in loops.
        """
        blocks: dict[Storage, list[int]] = {}
        unknown, in_loops, written = set[Storage](), set[Storage](), dict[Storage, set[h.Node]]()
        for node in self._nodes:
            for storage, found, leader in self._accesses(node):
                if isinstance(node, h.Write):
                    written.setdefault(storage, set()).add(leader)
                if self._is_in_loop(leader):
                    in_loops.add(storage)
                if found is None:
                    unknown.add(storage)
                else:
                    blocks.setdefault(storage, []).extend(found)
        candidates = (it for it in blocks if it not in unknown)
        near = [it for it in candidates if sum(blocks[it]) <= _MOST_BLOCKS * len(blocks[it])]
        often = {it for it in near if self._rounds(written.get(it, ())) >= _FEWEST_ROUNDS}
        return [it for it in near if it in often or it not in in_loops] if often else []

    def _rounds(self, leaders: Iterable[h.Node]) -> int:
        """How often the threads of a workgroup pass nests that have some of these blocks."""
        nests = dict.fromkeys(it for it in map(self._nest_of, leaders) if it is not None)
        return sum(len(it.every) for it in nests)

    def _accesses(self, node: h.Node) -> Iterator[tuple[Storage, Sequence[int] | None, h.Node]]:
        """The storages that a node accesses, and in which block. With how many blocks of memory the vectors of an
        access have words in; None if that is not known.
        """
        if isinstance(node, (h.Read, h.Write)) and not is_version_projection(node):
            yield from self._element(node)
        elif isinstance(node, (h.Atomic, h.Call)):
            touched = [it for it in (node, *predecessors(node)) if is_collection(self._placed.types.get(it))]
            for it in touched:
                if not isinstance(it, h.ConstantNode):
                    yield self._plan.of(it), None, self._placed.place[node]
        elif isinstance(node, h.Collect) and isinstance(node.join, h.Join):
            fork = self._placed.nest.forks[node.join]
            nest = self._nests.get(fork)
            is_known = nest is not None and nest.is_whole and len(nest.forks) == 1
            yield self._plan.of(node), [1] if is_known else None, fork

    def _element(self, node: h.Read | h.Write) -> Iterator[tuple[Storage, Sequence[int] | None, h.Node]]:
        collection = node.collection if isinstance(node, h.Read) else node
        if isinstance(collection, (h.ConstantNode, h.Atomic)):
            return
        storage, leader = self._plan.of(collection), self._placed.place[node]
        value = node if isinstance(node, h.Read) else node.value
        is_whole = is_collection(self._placed.types[value])
        is_known = not is_whole and _can_be_in_registers(storage)
        yield storage, self._blocks(storage, node.indices, leader) if is_known else None, leader
        if is_whole and not isinstance(value, h.ConstantNode):
            yield self._plan.of(value), None, leader

    def _blocks(self, storage: Storage, indices: Sequence[h.Index], leader: h.Node) -> Sequence[int] | None:
        steps = list(array_steps(storage.layout, indices))
        if not any(isinstance(it.factor, h.DynamicLiteral) for it in self._placed.nest.around[leader]):
            return [1] if all(constant_value(it) is not None for it, _, _ in steps) else None
        nest = self._nest_of(leader)
        return nest.blocks(steps, leader) if nest is not None and nest.is_whole else None

    def around(self, storages: Iterable[Storage]) -> list[_Nest]:
        """The nests that access some storages, and all others in the loops around them."""
        wanted, found = set(storages), dict[h.Node, None]()
        for node in self._nodes:
            for storage, _, leader in self._accesses(node):
                nest = self._nest_of(leader)
                if storage in wanted and nest is not None:
                    found[nest.forks[0]] = None
        outer = {it for fork in found for it in self._placed.loops.around[fork][:1]}
        inside = [it for it in self._nests if not outer.isdisjoint(self._placed.loops.around[it])]
        return [self._nests[it] for it in dict.fromkeys([*found, *inside])]  # type: ignore[index]

    def size(self, nests: Iterable[_Nest]) -> int:
        """The operations of all iterations."""
        return sum(len(it.every) * it.vectors * it.operations for it in nests)

    def loops(self, nests: Iterable[_Nest]) -> dict[Loop, Sequence[Arrival]]:
        """The outermost loops around some nests."""
        outer = (it for nest in nests for it in self._placed.loops.around[nest.forks[0]][:1])
        return {it: self._counters.trace(it) for it in outer}


def _can_be_in_registers(storage: Storage) -> bool:
    size = storage.constant_size
    return is_padded(storage) and size is not None and size <= STACK_LIMIT and _is_of_words(storage.layout)


def _is_of_words(layout: Layout) -> bool:
    match layout:
        case ScalarLayout():
            return layout.size == _WORD
        case ArrayLayout(element=element):
            return _is_of_words(element)
        case ProductLayout(fields=fields):
            return all(map(_is_of_words, fields))
