"""Arrays with an element for each thread that a loop carries, and that a fork in the loop makes anew.

These are what accumulators become where the loop synchronises a workgroup. The new array needs no memory of its own if
each thread reads only its own element of the old one, and nothing reads the old array once the fork has ended. The same
holds for the array that the loop begins with, made by a fork before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .nodes import Collect, Fork, Index, Join, Node, Phi, PositionIndex, Read, ThreadID
from .placement import Placement
from .sharing import nested_in
from .types import is_collection

_Users = Mapping[Node, Sequence[Node]]


def collects_in_place(placed: Placement, users: _Users) -> dict[Collect, Phi]:
    """The outermost Collects that can be made in the memory of a loop's Phi, which is their only use."""
    headers = {loop.header for loop in placed.loops.loops}
    phis = [
        it for it in placed.live if isinstance(it, Phi) and it.region in headers and is_collection(placed.types[it])
    ]
    return {
        collect: phi
        for phi in phis
        for collect in phi.values
        if isinstance(collect, Collect) and list(users[collect]) == [phi] and _is_in_place(placed, users, collect, phi)
    }


def _is_in_place(placed: Placement, users: _Users, collect: Collect, phi: Phi) -> bool:
    forks = list(_forks(placed, users, collect))
    if not forks or collect not in placed.live:
        return False
    after = _after(placed, collect, phi)
    for user in users[phi]:
        if user not in placed.live:
            continue
        at = placed.place.get(user)
        if not isinstance(user, Read) or at is None or at in after:
            return False
        if forks[0] in placed.nest.around[at] and not _is_own(user.indices, forks):
            return False
    return True


def _forks(placed: Placement, users: _Users, collect: Collect) -> Iterator[Fork]:
    """The forks over whose threads elements are collected, outermost first."""
    if isinstance(collect.join, Join):
        yield placed.nest.forks[collect.join]
        inner = collect.value
        if isinstance(inner, Collect) and nested_in(inner, users) is collect:
            yield from _forks(placed, users, inner)


def _is_own(indices: Sequence[Index], forks: Sequence[Fork]) -> bool:
    """Whether indices are the numbers of the threads of these forks."""
    numbers = [it.position for it in indices if isinstance(it, PositionIndex)]
    own = [it.fork if isinstance(it, ThreadID) else None for it in numbers]
    return own == list(forks)


def _after(placed: Placement, collect: Collect, phi: Phi) -> set[Node]:
    """The control nodes between the end of the fork and the loop's next iteration, or its end."""
    found: dict[Node, None] = {collect.join: None}
    for node in (pending := list(found)):
        new = [it for it in placed.graph.successors[node] if it not in found and it is not phi.region]
        found |= dict.fromkeys(new)
        pending += new
    return set(found)
