"""Constants with which collections begin, but of which nobody reads an element.

Workgroup memory begins with zeros. Where the first phase writes all of a tile before anything reads it, the tile need
not be cleared. The invocations of that phase are executed at compile time, as far as branches and positions follow from
thread numbers and constants: so the formulas of positions, guards and loops do not matter. Of a branch that is
not known, either way may be taken: only what both ways write counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from ...base.cached import cached_property
from ...base.records import dataclass, field
from ...ir.hercules import nodes as h
from ...ir.hercules.analyses import Dominators, block_leader, post_dominators
from ...ir.hercules.arithmetic import ScalarValue
from ...ir.hercules.graph import is_control
from ...ir.hercules.placement import Placement
from ...ir.hercules.types import is_collection
from .gangs.analysis.known import KnownValues

_MOST_STEPS = 1 << 16
"""Maximum number of executed blocks, counted once for each thread. A phase that takes more is taken to fill nothing."""

Versions = Collection[h.Node]
Place = tuple[int, int]
"""A thread, and the number of a scalar that it writes."""


def unread_constants(placed: Placement) -> frozenset[h.Node]:
    """The Phis and Reduces that need no constant in their storage, since each element is written before it is read.

    This is about constants among a Phi's values, and a Reduce's `init`.
    """
    return _Finder(placed).find()


class _Finder:
    def __init__(self, placed: Placement) -> None:
        self._placed = placed
        self._filled: dict[h.Reduce, bool] = {}

    @cached_property
    def _flow(self) -> _Flow:
        graph = self._placed.graph
        return _Flow(self._placed, {node: number for number, node in enumerate(graph.order)}, post_dominators(graph))

    def find(self) -> frozenset[h.Node]:
        """See `unread_constants`."""
        placed = self._placed
        constants = [it for it in placed.live if isinstance(it, h.ConstantNode) and is_collection(placed.types[it])]
        phis = self._phis_after(constants)
        while read := {it for it in phis if not all(self._is_unread(user, it, phis) for user in self._users(it))}:
            phis -= read
        starts = [(user, it) for it in constants for user in self._users(it) if isinstance(user, h.Reduce)]
        return frozenset([*phis, *(user for user, it in starts if self._is_unread(user, it, phis))])

    def _phis_after(self, constants: Iterable[h.Node]) -> set[h.Node]:
        """The Phis that take a constant, directly or from another Phi."""
        seen: set[h.Node] = set()
        waiting = list(constants)
        while waiting:
            new = {it for it in self._users(waiting.pop()) if isinstance(it, h.Phi)} - seen
            seen |= new
            waiting += new
        return seen

    def _users(self, node: h.Node) -> Iterator[h.Node]:
        return (it for it in self._placed.users[node] if it in self._placed.live or is_control(it))

    def _is_unread(self, user: h.Node, version: h.Node, phis: Versions) -> bool:
        """Whether a user reads no element of a version, if none of these Phis is read."""
        if isinstance(user, h.Reduce):
            return user.update is not version and self._is_filled(user)
        return user in phis

    def _is_filled(self, reduce: h.Reduce) -> bool:
        if reduce not in self._filled:
            phase = _phase_of(self._placed, reduce)
            self._filled[reduce] = phase is not None and _fills(self._flow, phase)
        return self._filled[reduce]


@dataclass(frozen=True, slots=True)
class _Phase:
    """Perfectly nested forks, outermost first, whose threads only write to a collection, by `writes`."""

    forks: Sequence[h.Fork]
    type: h.Type
    writes: Sequence[h.Write]


def _phase_of(placed: Placement, reduce: h.Reduce) -> _Phase | None:
    """The phase that makes the result of a Reduce; None if it reads the collection."""
    reduces = _nested_reduces(placed, reduce)
    forks = [_fork_of(placed, it) for it in reduces]
    chain = _chain(reduces)
    is_literal = all(isinstance(it.factor, h.DynamicLiteral) and it.factor.value > 0 for it in forks)
    if chain is None or not is_literal or not _only_writes(placed, reduces, chain):
        return None
    return _Phase(forks, placed.types[reduce], [it for it in chain if isinstance(it, h.Write)])


def _fork_of(placed: Placement, reduce: h.Reduce) -> h.Fork:
    assert isinstance(reduce.join, h.Join)
    return placed.nest.forks[reduce.join]


def _nested_reduces(placed: Placement, reduce: h.Reduce) -> list[h.Reduce]:
    """The Reduce, and those of perfectly nested forks through which its collection passes."""
    found = [reduce]
    while isinstance(inner := found[-1].update, h.Reduce) and inner.init is found[-1]:
        fork, around = _fork_of(placed, inner), _fork_of(placed, found[-1])
        if fork.control is not around or placed.nest.joins[around].control is not inner.join:
            break
        found.append(inner)
    return found


def _chain(reduces: Sequence[h.Reduce]) -> Sequence[h.Node] | None:
    """The Writes and Phis that make a thread's version of a collection out of that of the thread before. None if
    there are other nodes, or other versions.
    """
    found: dict[h.Node, None] = {}
    waiting = [reduces[-1].update]
    while waiting:
        node = waiting.pop()
        if node in found or node is reduces[-1]:
            continue
        if isinstance(node, h.Write):
            waiting.append(node.collection)
        elif isinstance(node, h.Phi):
            waiting += node.values
        else:
            return None
        found[node] = None
    return list(found)


def _only_writes(placed: Placement, reduces: Sequence[h.Reduce], chain: Iterable[h.Node]) -> bool:
    """Whether nothing uses the versions of threads except what makes the next version of them."""
    versions = {*reduces, *chain}
    for version in versions:
        for user in placed.users[version]:
            is_next = user in versions and not (isinstance(user, h.Write) and user.value is version)
            is_after = version is reduces[0] and _is_after(placed, reduces[0], user)
            if not is_next and not is_after and (user in placed.live or is_control(user)):
                return False
    return True


def _is_after(placed: Placement, reduce: h.Reduce, user: h.Node) -> bool:
    """Whether a user of a Reduce is not inside of its fork."""
    fork = _fork_of(placed, reduce)
    if isinstance(user, h.Collect) and isinstance(user.join, h.Join):
        return fork not in placed.nest.around[placed.nest.forks[user.join]]
    place = block_leader(user) if is_control(user) else placed.place.get(user)
    return place is not None and fork not in placed.nest.around[place]


class _Unknown(Exception):
    """The execution takes too long, or a type has parts that are not counted."""


@dataclass(frozen=True, slots=True)
class _Flow:
    """Where control goes in a function. `number` is the place of each control node in reverse postorder, and `ends` are
    the post-dominators.
    """

    placed: Placement
    number: Mapping[h.Node, int]
    ends: Dominators


def _fills(flow: _Flow, phase: _Phase) -> bool:
    """Whether a phase surely writes all scalars of its collection."""
    written: set[int] = set()
    try:
        size = _size(phase.type)
        for places in _Run(flow, phase).execute() if phase.writes and size <= _MOST_STEPS else ():
            written.update(place for _, place in places)
            if len(written) == size:
                return True
    except _Unknown:
        pass
    return False


def _size(type: h.Type) -> int:
    """The number of scalars in a type."""
    match type:
        case h.Bool() | h.Integer() | h.Float():
            return 1
        case h.Array(element=element, extent=h.DynamicLiteral(value=count)):
            return count * _size(element)
        case h.Product(fields=fields):
            return sum(map(_size, fields))
        case h.Array() | h.Control() | h.Summation():
            raise _Unknown
        case _:
            assert_never(type)


@dataclass(frozen=True, slots=True)
class _State:
    """Some `active` threads before a block, and what is known of Phis in all threads."""

    counters: Mapping[h.Node, tuple[ScalarValue, ...]]
    active: frozenset[int]


@dataclass
class _Run:
    """Executes a phase. Threads that come to the same block go on together."""

    flow: _Flow
    phase: _Phase
    _left: int = _MOST_STEPS
    _open: set[h.Node] = field(default_factory=set[h.Node])
    """The branches of which both ways are being executed."""

    _writes: dict[h.Node, list[h.Write]] = field(default_factory=dict[h.Node, "list[h.Write]"])
    """The Writes of each block."""

    @property
    def placed(self) -> Placement:
        """The function."""
        return self.flow.placed

    def execute(self) -> Iterator[set[Place]]:
        """All that threads surely write, in steps. Raises _Unknown."""
        placed, innermost = self.placed, self.phase.forks[-1]
        for write in self.phase.writes:
            self._writes.setdefault(placed.place[write], []).append(write)
        threads = frozenset(range(self._known.threads))
        yield from self._between(innermost, placed.nest.joins[innermost], _State({}, threads))

    @cached_property
    def _known(self) -> KnownValues:
        return KnownValues(self.placed.types, self.phase.forks, {})

    def _between(self, first: h.Node, end: h.Node, state: _State) -> Iterator[set[Place]]:
        """What threads write from one block on until another one."""
        waiting = {first: state}
        while waiting:
            leader = max(waiting, key=self._urgency)
            state = waiting.pop(leader)
            known = self._known.with_counters(state.counters)
            self._left -= known.threads
            if self._left < 0:
                raise _Unknown
            for write in self._writes.get(leader, ()):
                yield self._places(write, known, state.active)
            truths = self._truths(leader, known)
            if truths is None:
                yield self._both_ways(leader, state)
            for following, after in self._after(leader, state, known, truths):
                if following is not end:
                    waiting[following] = _together(after, waiting[following]) if following in waiting else after

    def _urgency(self, leader: h.Node) -> tuple[int, int]:
        """Threads in loops come first, so that those after the loop wait for them."""
        return len(self.placed.loops.around[leader]), -self.flow.number[leader]

    def _truths(self, leader: h.Node, known: KnownValues) -> Sequence[ScalarValue] | None:
        """The outcome of the branch at a block's end in each thread; None if that is not known."""
        exit = self.placed.exits[leader]
        if not isinstance(exit, (h.If, h.Match)):
            return ()
        return known.of(exit.condition) if isinstance(exit, h.If) and not self._is_idle(leader) else None

    def _is_idle(self, leader: h.Node) -> bool:
        """Whether a block is the header of a loop without Writes, which is not executed."""
        loops = self.placed.loops.around[leader]
        return bool(loops) and loops[-1].header is leader and not any(it in self._writes for it in loops[-1].body)

    def _after(
        self, leader: h.Node, state: _State, known: KnownValues, truths: Sequence[ScalarValue] | None
    ) -> Iterator[tuple[h.Node, _State]]:
        """The blocks that follow a block, each with the threads that come there."""
        exit = self.placed.exits[leader]
        if truths is None:
            yield from self._skipped(exit, state)
        elif isinstance(exit, h.If):
            for way in self.placed.graph.successors[exit]:
                assert isinstance(way, h.Read)
                is_true = way.indices == [h.ControlIndex(1)]
                active = frozenset(it for it in state.active if bool(truths[it]) is is_true)
                if active:
                    yield way, _State(state.counters, active)
        elif isinstance(exit, h.Region):
            yield exit, _State(self._merged(exit, leader, state, known), state.active)

    def _merged(
        self, region: h.Region, before: h.Node, state: _State, known: KnownValues
    ) -> dict[h.Node, tuple[ScalarValue, ...]]:
        """What is known of Phis in a region, if threads come there from a block."""
        found = dict(state.counters)
        for phi in self.placed.members.phis.get(region, ()):
            pairs = zip(region.predecessors, phi.values, strict=True)
            values = [known.of(it) for control, it in pairs if block_leader(control) is before]
            found.pop(phi, None)
            if len(values) == 1 and values[0] is not None:
                found[phi] = tuple(values[0])
        return found

    # Branches that are not known

    def _both_ways(self, leader: h.Node, state: _State) -> set[Place]:
        """What threads write on each way of a branch, before the ways meet."""
        exit = self.placed.exits[leader]
        end = self._end(exit)
        if end is None or exit in self._open or not any(it in self._writes for it in self._inside(exit, end)):
            return set()
        self._open.add(exit)
        ways = self.placed.graph.successors[exit]
        steps = (self._between(way, end, state) if way is not end else () for way in ways)
        written = [set[Place]().union(*it) for it in steps]
        self._open.remove(exit)
        return written[0].intersection(*written)

    def _skipped(self, exit: h.Node, state: _State) -> Iterator[tuple[h.Node, _State]]:
        """Threads where the ways of a branch meet. Nothing is known of the Phis that they may have passed."""
        end = self._end(exit)
        if end is None or exit in self._open:
            return
        passed = {*self._inside(exit, end), end}
        counters = {
            phi: it for phi, it in state.counters.items() if not isinstance(phi, h.Phi) or phi.region not in passed
        }
        yield end, _State(counters, state.active)

    def _end(self, exit: h.Node) -> h.Node | None:
        """The block where the ways of a branch meet."""
        end = self.flow.ends.parent.get(exit)
        return end if end in self.placed.blocks else None

    def _inside(self, exit: h.Node, end: h.Node) -> set[h.Node]:
        """The control nodes after a branch, as far as to where its ways meet."""
        seen: set[h.Node] = set()
        waiting = [exit]
        while waiting:
            new = {it for it in self.placed.graph.successors[waiting.pop()] if it is not end} - seen
            seen |= new
            waiting += new
        return seen

    # Positions

    def _places(self, write: h.Write, known: KnownValues, active: Iterable[int]) -> set[Place]:
        """What a Write changes in each thread, where its positions are known to exist."""
        starts: list[int | None] = [0] * known.threads
        type = self.phase.type
        for index in write.indices:
            match index, type:
                case h.PositionIndex(position=position), h.Array(element=element, extent=h.DynamicLiteral(value=count)):
                    values = known.of(position)
                    if values is None:
                        return set()
                    starts = _moved(starts, values, count, _size(element))
                    type = element
                case h.FieldIndex(field=number), h.Product(fields=fields):
                    before = sum(map(_size, fields[:number]))
                    starts = [None if it is None else it + before for it in starts]
                    type = fields[number]
                case _:
                    return set()
        size = _size(type)
        return {(it, start + k) for it in active if (start := starts[it]) is not None for k in range(size)}


def _moved(starts: Iterable[int | None], positions: Iterable[ScalarValue], count: int, stride: int) -> list[int | None]:
    pairs = zip(starts, positions, strict=True)
    return [None if start is None or not 0 <= it < count else start + int(it) * stride for start, it in pairs]


def _together(state: _State, other: _State) -> _State:
    """The threads of two states in one block."""
    counters = {
        phi: tuple(it if number in state.active else others[number] for number, it in enumerate(values))
        for phi, values in state.counters.items()
        if (others := other.counters.get(phi)) is not None
    }
    return _State(counters, state.active | other.active)
