"""Which kept values of a workgroup share memory: those of one type of which one is dead before the other is computed.

A value lives from the loops that compute it to those that read it last, among nodes of the tree that follow each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ...ir.schedule.nodes import ElementType, Location
from .decided import Decided
from .kept_values import Kept, length_of
from .structure import Loop, Node, leaves_of
from .tasks import Hold, Task


@dataclass(frozen=True, slots=True)
class Life:
    """The positions of the nodes that compute a value and read it last, in the loop around them, if there is one."""

    value: str
    around: Loop | None
    first: int
    last: int


Group: TypeAlias = tuple[Life, ...]
"""Values that share memory, one after the other."""


def groups_of(nodes: Sequence[Node], kept: Mapping[str, Kept], decided: Decided) -> tuple[Group, ...]:
    """The values in workgroup memory, by the memory that they have."""
    tasks = {name: _tasks(it, decided) for name, it in kept.items() if it.readings and _is_shared(it)}
    groups: list[list[Life]] = []
    for life in sorted(_lives(nodes, None, tasks), key=lambda it: it.first):
        free = (it for it in groups if _is_after(life, it[-1]) and _type(it[-1], decided) is _type(life, decided))
        group = next(free, None)
        if group is None:
            groups.append([life])
        else:
            group.append(life)
    return tuple(map(tuple, groups))


def group_length(group: Group, kept: Mapping[str, Kept], decided: Decided) -> int:
    """The number of elements of the memory of a group."""
    return max(length_of(kept[it.value], decided) for it in group)


def _is_shared(kept: Kept) -> bool:
    return kept.keep.location is Location.WORKGROUP


def _tasks(kept: Kept, decided: Decided) -> set[Task]:
    """What computes a value, and what loads it."""
    name = kept.keep.value
    readers = {it for it in decided.tasks if name in decided.demand_of(it).kept}
    return {Hold(name, decided.scope.dimensions_of(name))} | (readers - kept.near)


def _lives(nodes: Sequence[Node], around: Loop | None, tasks: Mapping[str, set[Task]]) -> Iterator[Life]:
    leaves = [set(leaves_of([it])) for it in nodes]
    for name, wanted in tasks.items():
        positions = [number for number, it in enumerate(leaves) if not wanted.isdisjoint(it)]
        if len(positions) > 1 and wanted <= set[Task]().union(*leaves):
            yield Life(name, around, positions[0], positions[-1])
    for it in nodes:
        if isinstance(it, Loop):
            yield from _lives(it.body, it, tasks)


def _is_after(life: Life, other: Life) -> bool:
    return life.around is other.around and other.last < life.first


def _type(life: Life, decided: Decided) -> ElementType:
    return decided.scope.values[life.value].type
