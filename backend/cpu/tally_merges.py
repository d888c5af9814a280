"""Which elements of workgroup memory a fork adds to which elements of a binding: the fork is executed at compile time.

Of each invocation, the thread numbers and the counters of loops are known, and with them most conditions and positions,
whatever formula they come from. Where a branch asks whether the element that was taken is zero, and both ways meet
again after the addition, the way of the addition is followed: an addition of zero changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...base.cached import cached_property
from ...ir.hercules import nodes as h
from ...ir.hercules.analyses import block_leader
from ...ir.hercules.graph import positions_of
from ...ir.hercules.placement import Placement
from ...ir.hercules.types import is_collection
from ...ir.hercules.versions import is_version_projection
from .gangs.analysis.bounds import constant_value
from .gangs.analysis.known import KnownValues

_MOST_STEPS = 1 << 14
"""The most blocks that are executed, counted once for each invocation."""

_Users = Mapping[h.Node, Sequence[h.Node]]


class _Unknown(Exception):
    """What a fork does is not known before the kernel runs, or is more than merging."""


@dataclass(frozen=True, slots=True)
class Merge:
    """Each element that `load` takes is combined with that of the binding `offset` elements further."""

    load: h.Atomic
    merge: h.Atomic
    offset: int


def find_merges(placed: Placement, users: _Users, fork: h.Fork, inside: Iterable[h.Node]) -> list[Merge] | None:
    """The merges of a fork, if it does nothing else, and takes each element of each array exactly once. `inside` are
    the live nodes in it.
    """
    try:
        merges = _merges(placed, users, [it for it in inside if isinstance(it, (h.Write, h.Atomic, h.Call))])
        run = _Run(placed, _nest(placed, fork), merges, _guards(placed, users, merges))
        run.execute()
        return [Merge(load, merge, _offset(placed, load, run.moves[load])) for load, merge in merges.items()]
    except _Unknown:
        return None


def _merges(placed: Placement, users: _Users, effects: Iterable[h.Node]) -> dict[h.Atomic, h.Atomic]:
    """The atomic operation that each load goes to. Raises _Unknown if there is any other operation."""
    merges: dict[h.Atomic, h.Atomic] = {}
    others: list[h.Node] = []
    for node in effects:
        if isinstance(node, h.Atomic) and node.op is h.AtomicOp.LOAD:
            found = [it for it in _element_users(placed, users, node) if isinstance(it, h.Atomic)]
            if len(found) != 1 or not _is_element(found[0].operands, node):
                raise _Unknown
            merges[node] = found[0]
        else:
            others.append(node)
    if len(set(merges.values())) != len(merges) or set(merges.values()) != set(others):
        raise _Unknown
    return merges


def _element_users(placed: Placement, users: _Users, load: h.Atomic) -> list[h.Node]:
    elements = [it for it in users[load] if it in placed.live and not is_version_projection(it)]
    return [user for element in elements for user in users[element] if user in placed.live]


def _is_element(operands: Sequence[h.Node], load: h.Atomic) -> bool:
    """Whether the element that a load takes is the only operand."""
    match operands:
        case [h.Read(collection=collection, indices=[h.FieldIndex(field=1)])]:
            return collection is load
        case _:
            return False


def _nest(placed: Placement, fork: h.Fork) -> list[h.Fork]:
    """A fork, and the forks that are perfectly nested in it. Raises _Unknown if there are others in it."""
    nest = [fork]
    inside = [it for it in placed.nest.joins if fork in placed.nest.around[it] and it is not fork]
    while len(nest) <= len(inside):
        following = placed.graph.successors[nest[-1]]
        inner = following[0] if len(following) == 1 else None
        if not isinstance(inner, h.Fork) or not isinstance(inner.factor, h.DynamicLiteral):
            raise _Unknown
        if placed.nest.joins[nest[-1]].control is not placed.nest.joins[inner]:
            raise _Unknown
        nest.append(inner)
    return nest


def _guards(placed: Placement, users: _Users, merges: Mapping[h.Atomic, h.Atomic]) -> dict[h.If, tuple[h.Node, h.Node]]:
    """The branches that ask whether an element is zero: the way on which it is not, and where both ways meet. Raises
    _Unknown if anything else is done with an element.
    """
    guards: dict[h.If, tuple[h.Node, h.Node]] = {}
    for load, merge in merges.items():
        for user in _element_users(placed, users, load):
            if user is merge:
                continue
            wanted = _value_if_not_zero(placed, user)
            for branch in users[user]:
                if branch in placed.live or isinstance(branch, h.If):
                    if not isinstance(branch, h.If):
                        raise _Unknown
                    guards[branch] = _meeting(placed, branch, wanted, merges)
    return guards


def _value_if_not_zero(placed: Placement, node: h.Node) -> bool:
    """The value of a comparison for all numbers but zero. Raises _Unknown if there is no such value."""
    match node:
        case h.Binary(op=op, lhs=lhs, rhs=rhs):
            limit, is_left = constant_value(lhs), True
            if limit is None:
                limit, is_left = constant_value(rhs), False
        case _:
            raise _Unknown
    type = placed.types[lhs]
    if limit is None or not isinstance(type, h.Integer):
        raise _Unknown
    found = {_compare(op, limit, it) if is_left else _compare(op, it, limit) for it in _extremes(type, op, limit)}
    if len(found) != 1:
        raise _Unknown
    return found.pop()


def _extremes(type: h.Integer, op: h.BinaryOp, limit: int) -> tuple[int, ...]:
    """Numbers, not zero, for which a comparison differs if it differs for any."""
    if op in (h.BinaryOp.EQUAL, h.BinaryOp.NOT_EQUAL):
        return (1,) if limit == 0 else (limit, limit + 1 or 1)
    low, high = (-(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1) if type.signed else (1, (1 << type.bits) - 1)
    return (low, 1, high)


def _compare(op: h.BinaryOp, left: int, right: int) -> bool:
    match op:
        case h.BinaryOp.EQUAL:
            return left == right
        case h.BinaryOp.NOT_EQUAL:
            return left != right
        case h.BinaryOp.LESS:
            return left < right
        case h.BinaryOp.LESS_EQUAL:
            return left <= right
        case h.BinaryOp.GREATER:
            return left > right
        case h.BinaryOp.GREATER_EQUAL:
            return left >= right
        case _:
            raise _Unknown


def _meeting(
    placed: Placement, branch: h.If, wanted: bool, merges: Mapping[h.Atomic, h.Atomic]
) -> tuple[h.Node, h.Node]:
    """The way of a branch for numbers that are not zero, and the region where both ways meet directly after it."""
    taken, other = _way(placed, branch, wanted), _way(placed, branch, not wanted)
    region = placed.exits[taken]
    is_empty = placed.exits[other] is region and not placed.blocks[other]
    values = [it for it, at in placed.place.items() if at is region and isinstance(it, h.Phi)]
    if not isinstance(region, h.Region) or not is_empty or not all(is_collection(placed.types[it]) for it in values):
        raise _Unknown
    return taken, region


def _way(placed: Placement, branch: h.If, truth: bool) -> h.Node:
    for way in placed.graph.successors[branch]:
        assert isinstance(way, h.Read)
        if way.indices == [h.ControlIndex(int(truth))]:
            return way
    raise _Unknown


def _offset(placed: Placement, load: h.Atomic, moves: Sequence[tuple[int, int]]) -> int:
    """How much further elements go. Raises _Unknown if that differs, or not each element goes somewhere once."""
    array = placed.types[load.collection]
    offsets = {target - source for source, target in moves}
    if not isinstance(array, h.Array) or not isinstance(array.extent, h.DynamicLiteral) or len(offsets) != 1:
        raise _Unknown
    if sorted(source for source, _ in moves) != list(range(array.extent.value)):
        raise _Unknown
    return offsets.pop()


@dataclass(frozen=True, slots=True)
class _State:
    """Some invocations before a block: where they come from, and what is known of all invocations."""

    leader: h.Node
    before: h.Node | None
    counters: Mapping[h.Node, tuple[bool | int | float, ...]]
    active: Sequence[int]


@dataclass
class _Run:
    """Executes a fork. `moves` has the elements that each load takes, with those to which they go."""

    placed: Placement
    forks: Sequence[h.Fork]
    merges: Mapping[h.Atomic, h.Atomic]
    guards: Mapping[h.If, tuple[h.Node, h.Node]]
    moves: dict[h.Atomic, list[tuple[int, int]]] = field(default_factory=dict[h.Atomic, "list[tuple[int, int]]"])

    def execute(self) -> None:
        """All invocations, from the fork to its join. Raises _Unknown."""
        count = self._known.threads
        end, left = self.placed.nest.joins[self.forks[-1]], _MOST_STEPS
        waiting = [_State(self.forks[-1], None, {}, range(count))]
        while waiting:
            state = waiting.pop()
            left -= count
            if left < 0:
                raise _Unknown
            if state.leader is not end:
                waiting += self._after(state)

    @cached_property
    def _known(self) -> KnownValues:
        return KnownValues(self.placed.types, self.forks, {})

    def _after(self, state: _State) -> list[_State]:
        """Execute a block; gives what follows it."""
        leader, counters = state.leader, self._counters(state)
        known = self._known.with_counters(counters)
        for node in self.placed.blocks[leader]:
            if isinstance(node, h.Atomic) and node in self.merges:
                self._move(known, node, state.active)
        exit = self.placed.exits[leader]
        if not isinstance(exit, h.If):
            return [_State(exit, leader, counters, state.active)]
        if exit in self.guards:
            taken, region = self.guards[exit]
            return [_State(region, taken, counters, state.active)]
        truths = known.of(exit.condition)
        if truths is None:
            raise _Unknown
        ways = {truth: [it for it in state.active if bool(truths[it]) is truth] for truth in (False, True)}
        return [_State(_way(self.placed, exit, it), leader, counters, lanes) for it, lanes in ways.items() if lanes]

    def _counters(self, state: _State) -> dict[h.Node, tuple[bool | int | float, ...]]:
        """What is known of Phis in a block."""
        region, found = state.leader, dict(state.counters)
        if not isinstance(region, h.Region):
            return found
        known = self._known.with_counters(state.counters)
        for node, at in self.placed.place.items():
            if isinstance(node, h.Phi) and at is region and not is_collection(self.placed.types[node]):
                pairs = zip(region.predecessors, node.values, strict=True)
                (value,) = [it for control, it in pairs if block_leader(control) is state.before]
                values = known.of(value)
                found.pop(node, None)
                if values is not None:
                    found[node] = tuple(values)
        return found

    def _move(self, known: KnownValues, load: h.Atomic, active: Iterable[int]) -> None:
        from_, to = _positions(known, load), _positions(known, self.merges[load])
        self.moves.setdefault(load, []).extend((int(from_[it]), int(to[it])) for it in active)


def _positions(known: KnownValues, access: h.Atomic) -> Sequence[bool | int | float]:
    """The position of an access in each thread, the only one of its indices."""
    positions = positions_of(access.indices)
    values = known.of(positions[0]) if len(positions) == 1 else None
    if values is None:
        raise _Unknown
    return values
