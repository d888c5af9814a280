"""Fork fission: a fork that makes several things becomes several forks, one after the other.

For other schedules of `.hir` functions. No pipeline runs it: gangs rely on the forks as they are translated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from ...base.cached import cached_property
from ...ir.hercules.cache import Analyses
from ...ir.hercules.graph import is_control, map_predecessors, predecessors, replace_predecessor
from ...ir.hercules.nodes import (
    Collect,
    Fork,
    Function,
    If,
    Join,
    Match,
    Module,
    Node,
    PositionIndex,
    Read,
    Reduce,
    ThreadID,
)
from ...ir.hercules.types import is_scalar
from .cleanup import remove_dead
from .forks import PLACED_CALLS, ForkBody, Forks


@dataclass(frozen=True)
class ForkFission:
    """Splits each fork that allows it, or only those with the label `fork`, into a fork for each of its parts.

    A part is one Reduce, or several that need each other, or a Collect. Each becomes a fork of its own, after those
    that it needs: what a thread of an earlier part has made, the thread of its number reads from an array. What
    depends on no Reduce is computed in each part that needs it. A fork may be split if

    - it has more than one part;
    - there is no loop and no fork inside: each part would run it;
    - no branch inside depends on what the threads carry: each part takes the branches anew;
    - values passed between parts are scalars that every thread computes on every path.

    The threads of all parts must run in one order if the order of what they carry shows.
    """

    fork: str = ""
    name = "fork_fission"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            changed |= remove_dead(function)
            changed |= split_all(function, lambda it: self.fork in ("", it.body.fork.label))
        return changed


def split_all(function: Function, is_wanted: Callable[[Fission], bool]) -> bool:
    """Split the forks of which that is wanted and possible; whether there were any."""
    wanted = [it for it in function.nodes if isinstance(it, Fork)]
    known = Analyses(function)
    changed = False
    for fork in wanted:
        fission = Fission.of(Forks.of(known).body(fork))
        if fission.obstacle() is None and is_wanted(fission):
            fission.split()
            changed = True
    return changed


Part = tuple["Reduce | Collect", ...]


@dataclass(frozen=True)
class Fission:
    """The parts of a fork, each after those that it needs, and the part in which each data node inside belongs.

    A node that depends on no Reduce is in none.
    """

    body: ForkBody
    parts: tuple[Part, ...]
    homes: dict[Node, int] = field(default_factory=dict[Node, int])

    @staticmethod
    def of(body: ForkBody) -> Fission:
        """How a fork could be split."""
        dependents = {it: _dependents(body, it) for it in body.reduces}
        parts: list[Part] = [*_groups(body.reduces, dependents), *((it,) for it in body.collects)]
        homes: dict[Node, int] = {}
        for number, part in enumerate(parts):
            for carried in part:
                if isinstance(carried, Reduce):
                    own = [it for it in dependents[carried] if it not in body.reduces]
                    homes |= dict.fromkeys([carried, *own], number)
        return Fission(body, tuple(parts), homes)

    def obstacle(self) -> str | None:
        """Why the fork is not split; None if it is."""
        body, placed = self.body, self.body.forks.placed
        if len(self.parts) < 2:
            return "it has one part only"
        if body.has_placed_calls:
            return PLACED_CALLS
        if any(isinstance(it, (Fork, Join)) for it in body.control):
            return "each part would run the fork inside"
        if any(placed.loops.around[it] != placed.loops.around[body.fork] for it in body.control):
            return "each part would run the loop inside"
        if any(it in self.homes for it in self._conditions()):
            return "a branch depends on what the threads carry"
        end = body.join.control
        for value in {value for values in self.handed for value in values}:
            if not is_scalar(placed.types[value]):
                return "a part needs a collection of another"
            if not placed.dominators.dominates(placed.place[value], end):
                return "a part needs what another makes on some ways only"
        return None

    def _conditions(self) -> Iterator[Node]:
        for node in self.body.control:
            if isinstance(node, If):
                yield node.condition
            elif isinstance(node, Match):
                yield node.sum

    @cached_property
    def computed(self) -> tuple[tuple[Node, ...], ...]:
        """The data nodes inside that each part computes."""
        return tuple(tuple(it[0]) for it in self._work)

    @cached_property
    def handed(self) -> tuple[tuple[Node, ...], ...]:
        """The values that each part needs of earlier ones."""
        return tuple(it[1] for it in self._work)

    @cached_property
    def _work(self) -> tuple[tuple[list[Node], tuple[Node, ...]], ...]:
        """For each part the data nodes inside that it computes, and what it needs of earlier parts. Later parts are
        visited first: this part must also compute the values they need.
        """
        work: list[tuple[list[Node], tuple[Node, ...]]] = []
        wanted: dict[Node, None] = {}
        for part in reversed(range(len(self.parts))):
            roots = [*self._conditions(), *map(_result, self.parts[part])]
            computed, handed = self._cone(part, [*roots, *(it for it in wanted if self.homes[it] == part)])
            wanted |= dict.fromkeys(handed)
            work.append((computed, handed))
        return tuple(reversed(work))

    def _cone(self, part: int, roots: list[Node]) -> tuple[list[Node], tuple[Node, ...]]:
        """What a part computes for these values, and what it needs of earlier parts for that."""
        inside = {*self.body.data} - {*self.parts[part]}
        found: dict[Node, None] = {}
        handed: dict[Node, None] = {}
        pending = list(roots)
        while pending:
            node = pending.pop()
            if node in found or node not in inside:
                continue
            if self.homes.get(node, part) == part:
                found[node] = None
                pending.extend(predecessors(node))
            else:
                handed[node] = None
        return list(found), tuple(handed)

    def split(self) -> None:
        """Replace the fork by the forks of the parts."""
        body, placed = self.body, self.body.forks.placed
        function, (after,) = placed.function, placed.graph.successors[body.join]
        collected: dict[Node, Collect] = {}
        made: list[Node] = []
        before = body.fork.control
        for part, (computed, handed) in enumerate(self._work):
            copies: dict[Node, Node] = {it: it.copy() for it in (body.fork, *body.control, *computed, body.join)}
            thread = ThreadID(copies[body.fork])
            values = copies | {it: Read(collected[it], [PositionIndex(thread)]) for it in handed}
            for node in copies.values():
                map_predecessors(node, partial(_replaced, values))
            for carried in self.parts[part]:
                _move(carried, values, copies[body.join])
            wanted = {it: None for later in self.handed for it in later if self.homes[it] == part}
            collected |= {it: Collect(copies[body.join], copies.get(it, it)) for it in wanted}
            replace_predecessor(copies[body.fork], body.fork.control, before)
            before = copies[body.join]
            made += [thread, *values.values(), *(collected[it] for it in wanted)]
        gone = {body.fork, body.join, *body.control, *body.data} - set(body.reduces)
        function.nodes = [*(it for it in function.nodes if it not in gone), *made]
        replace_predecessor(after, body.join, before)
        remove_dead(function)


def _replaced(values: Mapping[Node, Node], node: Node) -> Node:
    return values.get(node, node)


def _move(carried: Reduce | Collect, values: Mapping[Node, Node], join: Node) -> None:
    carried.join = join
    if isinstance(carried, Reduce):
        carried.update = values.get(carried.update, carried.update)
    else:
        carried.value = values.get(carried.value, carried.value)


def _result(carried: Reduce | Collect) -> Node:
    return carried.update if isinstance(carried, Reduce) else carried.value


def _dependents(body: ForkBody, reduce: Reduce) -> frozenset[Node]:
    """What is made inside from the value that a Reduce carries, up to the Reduces that carry it on."""
    found: set[Node] = set()
    pending: list[Node] = [reduce]
    while pending:
        node = pending.pop()
        for user in body.inside_users(node):
            if user not in found and not is_control(user) and user not in body.collects:
                found.add(user)
                pending += [] if user in body.reduces else [user]
    return frozenset(found)


def _groups(reduces: Sequence[Reduce], dependents: Mapping[Reduce, frozenset[Node]]) -> list[Part]:
    """The Reduces that need each other together, each group after those that it needs."""
    needs = {it: {other for other in reduces if it in dependents[other]} | {it} for it in reduces}
    while True:
        wider = {it: {far for near in them for far in needs[near]} for it, them in needs.items()}
        if wider == needs:
            break
        needs = wider
    # What is needed needs less than what needs it.
    groups: dict[frozenset[Reduce], list[Reduce]] = {}
    for reduce in sorted(reduces, key=lambda it: len(needs[it])):
        groups.setdefault(frozenset(needs[reduce]), []).append(reduce)
    return [tuple(it) for it in groups.values()]
