"""The tree of loops and written-out levels of a lowered nest: tasks that follow each other in the same level share it.

Invocations and workgroups are in no tree: each of them does all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ...ir.schedule.nodes import LevelName, Location
from .decided import Decided
from .tasks import Carry, Hold, Task, Write
from .tiles import stages_in


@dataclass(slots=True, eq=False)
class Loop:
    """A level with what is in it. `opened` are the tasks whose values are carried by it and by no level around it."""

    level: LevelName
    opened: list[Carry] = field(default_factory=list[Carry])
    body: list[Node] = field(default_factory=list["Node"])


@dataclass(frozen=True, slots=True)
class Wait:
    """The invocations of a workgroup wait for each other."""


Node: TypeAlias = "Loop | Carry | Hold | Write | Wait"


def structure_of(decided: Decided) -> list[Node]:
    """The tree of all tasks."""
    paths = [(task, decided.path(task)) for task in decided.tasks]
    return _nodes(paths, decided, frozenset())


def _nodes(
    paths: Sequence[tuple[Task, tuple[LevelName, ...]]], decided: Decided, outer: frozenset[LevelName]
) -> list[Node]:
    """The nodes for tasks with the levels that are left of their paths."""
    units: list[tuple[LevelName | None, list[tuple[Task, tuple[LevelName, ...]]]]] = []
    for task, path in paths:
        level = path[0] if path else None
        position = _unit_to_join(task, level, units, decided)
        if position is None:
            units.append((level, [(task, path[1:])]))
        else:
            units[position][1].append((task, path[1:]))
    return [_node(level, members, decided, outer) for level, members in units]


def _unit_to_join(
    task: Task,
    level: LevelName | None,
    units: Sequence[tuple[LevelName | None, list[tuple[Task, tuple[LevelName, ...]]]]],
    decided: Decided,
) -> int | None:
    """The latest unit of a level, unless the task needs one that comes after that."""
    for position in range(len(units) - 1, -1, -1):
        if level is not None and units[position][0] == level:
            return position
        if any(_is_before(other, task, decided) for other, _ in units[position][1]):
            return None
    return None


def _is_before(other: Task, task: Task, decided: Decided) -> bool:
    """Whether a task must be complete before another: it has a value at its end or keeps one, or reads what the other
    carries.
    """
    if isinstance(other, Hold) and other.value in decided.demand_of(task).kept:
        return True
    if any(decided.homes[it] == other for it in decided.demand_of(task).ends):
        return True
    return other != task and any(decided.homes[it] == task for it in decided.demand_of(other).reads)


def _node(
    level: LevelName | None,
    members: list[tuple[Task, tuple[LevelName, ...]]],
    decided: Decided,
    outer: frozenset[LevelName],
) -> Node:
    if level is None:
        return members[0][0]
    carries = [task for task, _ in members if isinstance(task, Carry)]
    opened = [it for it in carries if level.dimension in it.on and outer.isdisjoint(decided.carrying(it))]
    return Loop(level, opened, _nodes(members, decided, outer | {level}))


def has_barrier(nodes: Sequence[Node], decided: Decided) -> bool:
    """Whether invocations wait for each other in a part of the tree, or exchange values."""
    if any(isinstance(it, Wait) for it in (*nodes, *(it for loop in loops_in(nodes) for it in loop.body))):
        return True
    if any(isinstance(it, Hold) and decided.location(it.value) is Location.SUBGROUP for it in leaves_of(nodes)):
        return True
    carries = [it for it in leaves_of(nodes) if isinstance(it, Carry) and not decided.carrying(it)]
    carries += [carry for loop in loops_in(nodes) for carry in loop.opened]
    copies = any(stages_in(it.level, list(leaves_of(it.body)), decided) for it in loops_in(nodes))
    return copies or any(map(decided.waits, carries))


def has_effect(nodes: Sequence[Node], dimension: str) -> bool:
    """Whether iterations past the end of a dimension would store something, or change what is carried along it."""
    return any(isinstance(it, Write) or (isinstance(it, Carry) and dimension in it.on) for it in leaves_of(nodes))


def is_inside(node: Node, dimension: str) -> bool:
    """Whether all tasks in a part of the tree are in a dimension."""
    return all(dimension in it.dimensions for it in leaves_of([node]))


def leaves_of(nodes: Sequence[Node]) -> Iterator[Task]:
    """The tasks in a part of the tree."""
    for node in nodes:
        if isinstance(node, Loop):
            yield from leaves_of(node.body)
        elif not isinstance(node, Wait):
            yield node


def loops_in(nodes: Sequence[Node]) -> Iterator[Loop]:
    """The levels in a part of the tree, outermost first."""
    for node in nodes:
        if isinstance(node, Loop):
            yield node
            yield from loops_in(node.body)
