"""Workgroup memory in which a workgroup only counts what it adds to a binding in the end.

Histograms count in workgroup memory and add each counter to one in a binding, after a barrier. Where each worker has a
private copy of the binding (see `privatise`), and no program can observe in which order operands are combined there,
counting in the private copy is the same: the workgroup's own counters, their clearing and the pass that adds them up
can go.

A *tally* is workgroup memory for which this is proved:

- all that is done to it is to store zeros, then to combine operands with its elements by atomic operations of the kind
  of the binding, whose old values are unused, then to take each element once, in one fork that every workgroup runs
  once;
- an element that is taken goes nowhere but into the binding, `offset` elements further, whatever formula says where:
  the fork is executed at compile time (see `tally_merges`);
- zero is the identity of the operation, so that it does not matter whether an element that is zero is added.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from ...ir.hercules import nodes as h
from ...ir.hercules.copying import copy_of
from ...ir.hercules.graph import predecessors, replace_all, replace_predecessor
from ...ir.hercules.placement import Placement
from ...ir.hercules.sharing import makes_version
from ...ir.hercules.types import U32, U64, is_collection
from ...ir.hercules.versions import consumed, is_version_projection, looked_at
from .analysed import AnalysedFunction, analyse
from .gangs.analysis.bounds import greatest
from .layout import Layout
from .privatise import kind_of, private_bindings
from .storage import Storage

_ZERO_CHANGES_NOTHING = ("add", "or", "xor", "umax")


@dataclass(frozen=True, slots=True)
class _Tally:
    """Counts go to `binding`, a version of which the fork `merging` takes over; `first` is the version that
    begins with zeros. An element goes to the position of `merge`, whose index is `offset` more.
    """

    first: h.Reduce | h.Phi
    clears: Sequence[h.Atomic]
    counts: Sequence[h.Atomic]
    extent: int
    binding: h.Reduce
    merge: h.Atomic
    offset: int


@dataclass(frozen=True, slots=True)
class _Merging:
    """The fork that adds tallies to bindings."""

    fork: h.Fork
    tallies: Sequence[_Tally]


def with_direct_counts(function: h.Function, bindings: Mapping[int, Layout]) -> h.Function:
    """The function without tallies; the function itself if there are none."""
    analysed = analyse(function, bindings)
    found = _Finder(analysed).find()
    return _rewritten(analysed, found) if found else function


class _Finder:
    """Finds the tallies of a function."""

    def __init__(self, analysed: AnalysedFunction) -> None:
        self._analysed = analysed
        self._placed, self._plan, self._users = analysed.placed, analysed.plan, analysed.placed.users
        privates = private_bindings(analysed.placed, analysed.plan, analysed.bindings)
        self._kinds = {it.parameter: it.kind for it in privates if it.kind in _ZERO_CHANGES_NOTHING}
        self._around = analysed.placed.nest.around
        self._atomics = [it for it in analysed.live if isinstance(it, h.Atomic)]

    def find(self) -> list[_Merging]:
        """All forks that only merge tallies, with these."""
        if not self._kinds:
            return []
        loads = [it for it in self._atomics if it.op is h.AtomicOp.LOAD and not self._plan.of(it).is_binding]
        forks = dict.fromkeys(it for it in (_workgroup_fork(self._placed, load) for load in loads) if it is not None)
        found = [_Merging(fork, tallies) for fork in forks if (tallies := self._merged_in(fork))]
        bindings = [tally.binding for it in found for tally in it.tallies]
        return found if len(set(bindings)) == len(bindings) else []

    def _merged_in(self, fork: h.Fork) -> list[_Tally]:
        """The tallies that a fork merges, if it does nothing else."""
        from .tally_merges import find_merges

        inside = [it for it in self._analysed.live if self._is_in(it, fork)]
        merges = find_merges(self._placed, self._users, fork, inside) if self._runs_once(fork) else None
        tallies = [self._tally(fork, it.load, it.merge, it.offset) for it in merges or ()]
        found = [it for it in tallies if it is not None]
        return found if len(found) == len(tallies) and self._carries_only(fork, found) else []

    def _is_in(self, node: h.Node, fork: h.Fork) -> bool:
        return fork in self._around[self._placed.place[node]] if node in self._placed.place else False

    def _runs_once(self, fork: h.Fork) -> bool:
        """Whether each workgroup runs the fork exactly once."""
        outer = self._around[fork][:-1]
        if not outer or any(isinstance(it.factor, h.DynamicLiteral) for it in outer):
            return False
        loops, end = self._placed.loops.around, self._placed.nest.joins[outer[-1]]
        return loops[fork] == loops[outer[-1]] and self._placed.dominators.dominates(fork, end)

    def _carries_only(self, fork: h.Fork, tallies: Sequence[_Tally]) -> bool:
        """Whether the fork changes nothing but tallies and their bindings, and tallies are not used after it."""
        join = self._placed.nest.joins[fork]
        ours = {self._plan.of(it.first) for it in tallies}
        changed = {*ours, *(self._plan.of(it.binding) for it in tallies)}
        if len(changed) != 2 * len(tallies):
            return False
        for node in self._analysed.live:
            if not isinstance(node, (h.Reduce, h.Collect)) or not self._is_in(node, fork):
                continue
            if isinstance(node, h.Collect) or not is_collection(self._placed.types[node]):
                return False
            if self._plan.of(node) not in changed:
                return False
            is_last = node.join is join and self._plan.of(node) in ours
            if is_last and any(not self._is_in(it, fork) for it in self._live_users(node)):
                return False
        return True

    def _live_users(self, node: h.Node) -> list[h.Node]:
        return [it for it in self._users[node] if it in self._placed.live]

    def _tally(self, fork: h.Fork, load: h.Atomic, merge: h.Atomic, offset: int) -> _Tally | None:
        """The tally that a load takes elements of, if it is one."""
        storage, target = self._plan.of(load), self._plan.of(merge)
        uses = [it for it in self._analysed.live if self._touches(it, storage)]
        first = self._beginning(uses)
        binding = self._taken_over(fork, target)
        kind = None if target.parameter is None else self._kinds.get(target.parameter)
        if first is None or binding is None or kind is None or merge.op is h.AtomicOp.SUB:
            return None
        operations = [it for it in uses if isinstance(it, h.Atomic) and it is not load]
        clears = [it for it in operations if it.op is h.AtomicOp.STORE]
        counts = [it for it in operations if it.op is not h.AtomicOp.STORE]
        is_counted = all(kind_of(it, self._placed) == kind and self._is_plain(it) for it in counts)
        if not is_counted or not all(_is_zero(it.operands[0]) for it in clears):
            return None
        if not self._are_ordered(fork, clears, counts):
            return None
        type = storage.type
        assert isinstance(type, h.Array)
        assert isinstance(type.extent, h.DynamicLiteral)
        return _Tally(first, clears, counts, type.extent.value, binding, merge, offset)

    def _touches(self, node: h.Node, storage: Storage) -> bool:
        types, forks = self._placed.types, self._placed.nest.forks
        versions = [node, *(it for it, _ in (*consumed(node, types, forks), *looked_at(node, types)))]
        return any(self._plan.of(it) is storage for it in versions if makes_version(it, types))

    def _beginning(self, uses: Sequence[h.Node]) -> h.Reduce | h.Phi | None:
        """Where the storage begins, as zeros, once in a workgroup; None if it does not, or is used in other ways."""
        starts: list[h.Reduce | h.Phi] = []
        for node in uses:
            if not isinstance(node, (h.Atomic, h.Phi, h.Reduce)):
                return None
            constants = [it for it in _sources(node) if isinstance(it, h.ConstantNode)]
            if constants and (isinstance(node, h.Atomic) or len(constants) > 1 or not _is_zero(constants[0])):
                return None
            starts += [node] if constants and not isinstance(node, h.Atomic) else []
        return starts[0] if len(starts) == 1 and self._begins_once(starts[0]) else None

    def _begins_once(self, first: h.Reduce | h.Phi) -> bool:
        """Whether a workgroup comes by a first version once: it is in no loop, or at the head of one."""
        loops, home = self._placed.loops.around, self._placed.place[first]
        workgroups = [it for it in self._around[home] if not isinstance(it.factor, h.DynamicLiteral)]
        inside = loops[home][len(loops[workgroups[-1]]) if workgroups else 0 :]
        if isinstance(first, h.Reduce) or not inside:
            return not inside and isinstance(first, h.Reduce)
        pairs = zip(inside[0].header.predecessors, first.values, strict=True)
        enters = all(control not in inside[0].latches for control, it in pairs if isinstance(it, h.ConstantNode))
        return len(inside) == 1 and home is inside[0].header and enters

    def _taken_over(self, fork: h.Fork, target: Storage) -> h.Reduce | None:
        """The version of a binding at the beginning of each workgroup, if the fork takes it over as it is."""
        join, outer = self._placed.nest.joins[fork], self._around[fork][-2]
        reduces = [it for it in self._users[join] if isinstance(it, h.Reduce) and it in self._placed.live]
        found = [it.init for it in reduces if is_collection(self._placed.types[it]) and self._plan.of(it) is target]
        if len(found) != 1 or not isinstance(found[0], h.Reduce):
            return None
        (version,) = found
        assert isinstance(version, h.Reduce)
        inside = [it for it in self._live_users(version) if self._is_in(it, outer)]
        return version if version.join is self._placed.nest.joins[outer] and len(inside) == 1 else None

    def _is_plain(self, count: h.Atomic) -> bool:
        """Whether the index of a count is the cast of a u32."""
        match count.indices:
            case [h.PositionIndex(position=h.Cast(operand=operand))]:
                type = self._placed.types[operand]
                return isinstance(type, h.Integer) and not type.signed and type.bits == 32
            case _:
                return False

    def _are_ordered(self, fork: h.Fork, clears: Sequence[h.Atomic], counts: Sequence[h.Atomic]) -> bool:
        """Whether zeros are stored before anything is counted, and all is counted before the fork."""
        clearing = {_workgroup_fork(self._placed, it) for it in clears}
        counting = {_workgroup_fork(self._placed, it) for it in counts}
        if None in clearing | counting or fork in clearing | counting or clearing & counting:
            return False
        after_counts = set[h.Node]().union(*(self._after(it) for it in counting if it is not None))
        return not after_counts & clearing and not self._after(fork) & (counting | clearing)

    def _after(self, fork: h.Fork) -> set[h.Node]:
        """The control nodes that may run after a fork in the same workgroup."""
        waiting: list[h.Node] = [self._placed.nest.joins[fork]]
        end, seen = self._placed.nest.joins[self._around[fork][-2]], set[h.Node]()
        while waiting:
            node = waiting.pop()
            if node not in seen and node is not end:
                seen.add(node)
                waiting += self._placed.graph.successors[node]
        return seen


def _sources(node: h.Atomic | h.Reduce | h.Phi) -> Sequence[h.Node]:
    """The versions from which a node makes one."""
    match node:
        case h.Atomic(collection=collection):
            return [collection]
        case h.Reduce(init=init, update=update):
            return [init, update]
        case h.Phi(values=values):
            return values
        case _:
            assert_never(node)


def _is_zero(node: h.Node) -> bool:
    match node:
        case h.ConstantNode(value=h.IntegerConstant(value=0) | h.ZeroConstant()):
            return True
        case _:
            return False


def _rewritten(analysed: AnalysedFunction, mergings: Sequence[_Merging]) -> h.Function:
    """A copy of the function in which the bindings count."""
    result, copies = copy_of(analysed.placed.function)
    gone: dict[h.Node, h.Node] = {}
    for merging in mergings:
        gone |= _without_merging(analysed, merging) | _without_clears(analysed, merging)
        for tally in merging.tallies:
            (zeros,) = [it for it in predecessors(tally.first) if isinstance(it, h.ConstantNode)]
            replace_predecessor(copies[tally.first], copies[zeros], copies[tally.binding])
            for count in tally.counts:
                result.nodes += _moved(copies, tally, count, analysed.placed.types)
    replace_all(result, {copies[old]: copies[new] for old, new in gone.items()})
    result.nodes = _reachable(result.nodes)
    return result


def _without_merging(analysed: AnalysedFunction, merging: _Merging) -> dict[h.Node, h.Node]:
    """What stands for the join of the fork that merges, and for the bindings after it: what the tallies were before."""
    plan, end = analysed.plan, analysed.placed.nest.joins[merging.fork]
    uses = analysed.placed.users[end]
    reduces = {plan.of(it): it for it in uses if isinstance(it, h.Reduce) and it in analysed.placed.live}
    gone: dict[h.Node, h.Node] = {end: merging.fork.control}
    for it in merging.tallies:
        gone[reduces[plan.of(it.binding)]] = reduces[plan.of(it.first)].init
    return gone


def _without_clears(analysed: AnalysedFunction, merging: _Merging) -> dict[h.Node, h.Node]:
    """What stands for the versions that clears make, and for forks that do nothing else."""
    placed, users = analysed.placed, analysed.placed.users
    clears = {clear: tally for tally in merging.tallies for clear in tally.clears}
    gone: dict[h.Node, h.Node] = {}
    for clear in clears:
        gone |= {it: clear.collection for it in users[clear] if is_version_projection(it)}
    bindings = {it.first: it.binding for it in merging.tallies}
    for fork in dict.fromkeys(_workgroup_fork(placed, it) for it in clears):
        if fork is not None and _does_only(analysed, fork, clears):
            end = placed.nest.joins[fork]
            gone[end] = fork.control
            reduces = [it for it in users[end] if isinstance(it, h.Reduce) and it in placed.live]
            gone |= {it: bindings.get(it, it.init) for it in reduces}
    return gone


def _does_only(analysed: AnalysedFunction, fork: h.Fork, effects: Collection[h.Node]) -> bool:
    """Whether a fork changes nothing but by these nodes."""
    placed = analysed.placed
    inside = [it for it in analysed.live if it in placed.place and fork in placed.nest.around[placed.place[it]]]
    changing = [it for it in inside if isinstance(it, (h.Write, h.Atomic, h.Collect, h.Call))]
    folded = [it for it in inside if isinstance(it, h.Reduce) and not is_collection(placed.types[it])]
    return not folded and all(it in effects for it in changing)


def _workgroup_fork(placed: Placement, node: h.Node) -> h.Fork | None:
    """The outermost fork over the invocations of a workgroup around a node."""
    around = placed.nest.around[placed.place[node]]
    return next((it for it in around if isinstance(it.factor, h.DynamicLiteral)), None)


def _moved(
    copies: Mapping[h.Node, h.Node], tally: _Tally, count: h.Atomic, types: Mapping[h.Node, h.Type]
) -> list[h.Node]:
    """Let a count update the binding. Gives the nodes that compute its index."""
    (index,) = count.indices
    assert isinstance(index, h.PositionIndex)
    assert isinstance(index.position, h.Cast)
    position = copies[index.position.operand]
    made: list[h.Node] = []
    bound = greatest(index.position.operand, types)
    if bound is None or bound >= tally.extent:
        last = h.ConstantNode(h.IntegerConstant(U32, tally.extent - 1))
        position = h.Intrinsic("min", U32, [position, last])
        made += [last, position]
    if tally.offset:
        offset = h.ConstantNode(h.IntegerConstant(U32, tally.offset))
        position = h.Binary(h.BinaryOp.ADD, position, offset)
        made += [offset, position]
    position = h.Cast(U64, position)
    copy = copies[count]
    assert isinstance(copy, h.Atomic)
    copy.indices = [h.PositionIndex(position) if isinstance(it, h.PositionIndex) else it for it in tally.merge.indices]
    return [*made, position]


def _reachable(nodes: Sequence[h.Node]) -> list[h.Node]:
    """The nodes that the result of a function is computed from, and its parameters."""
    waiting: list[h.Node] = [it for it in nodes if isinstance(it, (h.Return, h.Parameter))]
    seen = set(waiting)
    while waiting:
        for used in predecessors(waiting.pop()):
            if used not in seen:
                seen.add(used)
                waiting.append(used)
    return [it for it in nodes if it in seen]
