"""Merges branches on one condition that follow one another, as the guards of kernels that were joined do.

    if c { a } else { b }  if c { d } else { e }    becomes    if c { a d } else { b e }

What merged between the two stays apart, so that values no longer go through a Phi there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...ir.hercules import nodes as h
from ...ir.hercules.graph import def_use, replace_all, replace_predecessor
from ...ir.hercules.placement import Placement, place_nodes
from ..hercules.cleanup import remove_dead


def merge_branches(function: h.Function) -> bool:
    """Merge all such branches of a function that verifies; whether there were any."""
    changed = False
    while _merge_one(function):
        changed = True
    return changed


@dataclass(frozen=True, slots=True)
class _Pair:
    """A branch, and what is before and after it: `middle` merges the arms of a branch on the same condition, `end`
    those of this one. `first` and `second` have the outputs of the two branches, for false and true.
    """

    branch: h.If
    middle: h.Region
    end: h.Region
    first: tuple[h.Node, h.Node]
    second: tuple[h.Node, h.Node]

    def side(self, placed: Placement, at: h.Node) -> int | None:
        """Where a control node is: after an output of the branch (0, 1), after `end` (2), or elsewhere."""
        around = (*self.second, self.end)
        return next((number for number, it in enumerate(around) if placed.dominators.dominates(it, at)), None)


def _merge_one(function: h.Function) -> bool:
    remove_dead(function)
    placed = place_nodes(function)
    users = def_use(function)
    for branch in (it for it in function.nodes if isinstance(it, h.If)):
        pair = _pair(placed, users, branch)
        if pair is not None and _Merging(function, placed, users, pair).run():
            return True
    return False


def _outputs(users: Mapping[h.Node, tuple[h.Node, ...]], branch: h.If) -> tuple[h.Node, h.Node] | None:
    """The outputs of a branch, for false and true."""
    found = {
        it.indices[0].output: it
        for it in users[branch]
        if isinstance(it, h.Read) and isinstance(it.indices[0], h.ControlIndex)
    }
    return (found[0], found[1]) if len(found) == 2 else None


def _pair(placed: Placement, users: Mapping[h.Node, tuple[h.Node, ...]], branch: h.If) -> _Pair | None:
    middle, second = branch.control, _outputs(users, branch)
    if not isinstance(middle, h.Region) or second is None:
        return None
    ends = [it for it in placed.graph.order if isinstance(it, h.Region) and placed.dominators.parent.get(it) is branch]
    if len(ends) != 1 or not _splits(placed, ends[0], second):
        return None
    for above in placed.dominators.chain(middle):
        if isinstance(above, h.If) and above.condition is branch.condition:
            first = _outputs(users, above)
            if first is not None and _splits(placed, middle, first):
                return _Pair(branch, middle, ends[0], first, second)
    return None


def _splits(placed: Placement, region: h.Node, outputs: tuple[h.Node, h.Node]) -> bool:
    """Whether each way into a region comes from one of two outputs, and some from each."""
    assert isinstance(region, h.Region)
    sides = [_side(placed, it, outputs) for it in region.predecessors]
    return set(sides) == {0, 1}


def _side(placed: Placement, at: h.Node, outputs: tuple[h.Node, h.Node]) -> int | None:
    return next((number for number, it in enumerate(outputs) if placed.dominators.dominates(it, at)), None)


class _Merging:
    """Merges one pair."""

    def __init__(
        self, function: h.Function, placed: Placement, users: Mapping[h.Node, tuple[h.Node, ...]], pair: _Pair
    ) -> None:
        self.function = function
        self.placed = placed
        self.users = users
        self.pair = pair

    def run(self) -> bool:
        """Merge the pair; False, without a change, where a value is used between the branches."""
        phis = [it for it in self.users[self.pair.middle] if isinstance(it, h.Phi)]
        if any(side is None for phi in phis for _, _, side in self._uses(phi)):
            return False
        ways = tuple(self._ways(number) for number in (0, 1))
        for phi in phis:
            self._replace(phi, ways)
        branch = self.pair.branch
        replaced = {old: new for old, (new, _) in zip(self.pair.second, ways, strict=True)}
        gone = {branch, self.pair.middle, *phis, *replaced}
        self.function.nodes = [it for it in self.function.nodes if it not in gone]
        replace_all(self.function, replaced)
        return True

    def _ways(self, number: int) -> tuple[h.Node, list[int]]:
        """The control that comes from an output of the first branch, and which ways into the middle these are."""
        ways = [
            index
            for index, it in enumerate(self.pair.middle.predecessors)
            if _side(self.placed, it, self.pair.first) == number
        ]
        if len(ways) == 1:
            return self.pair.middle.predecessors[ways[0]], ways
        region = h.Region([self.pair.middle.predecessors[it] for it in ways])
        self.function.nodes.append(region)
        return region, ways

    def _uses(self, phi: h.Phi) -> Iterator[tuple[h.Node, int | None, int | None]]:
        """The users of a Phi, for another Phi with the number of its input, and the side that each is on."""
        for user in self.users[phi]:
            if isinstance(user, h.Phi) and isinstance(user.region, h.Region):
                for index, value in enumerate(user.values):
                    if value is phi:
                        yield user, index, self.pair.side(self.placed, user.region.predecessors[index])
            elif isinstance(user, h.Reduce):
                assert isinstance(user.join, h.Join)
                yield user, None, self.pair.side(self.placed, user.join.control)
            else:
                yield user, None, self.pair.side(self.placed, self.placed.place.get(user, user))

    def _replace(self, phi: h.Phi, ways: tuple[tuple[h.Node, list[int]], ...]) -> None:
        """Give the users of a Phi of the middle the values on their sides."""
        values: list[h.Node] = []
        for control, numbers in ways:
            value = phi.values[numbers[0]]
            if len(numbers) > 1:
                value = h.Phi(control, [phi.values[it] for it in numbers])
                self.function.nodes.append(value)
            values.append(value)
        uses = list(self._uses(phi))
        if any(side == 2 for _, _, side in uses):
            sides = [_side(self.placed, it, self.pair.second) for it in self.pair.end.predecessors]
            after = h.Phi(self.pair.end, [values[1 if side else 0] for side in sides])
            self.function.nodes.append(after)
            values.append(after)
        for user, index, side in uses:
            assert side is not None
            if isinstance(user, h.Phi) and index is not None:
                user.values[index] = values[side]
            else:
                replace_predecessor(user, phi, values[side])
