"""Values that are kept in memory: what one is computed in, what reads it, and the memory that it takes.

Loops that a value's computation shares with all that read it have the same memory in each iteration. All other levels
of the value's dimensions have memory for each of their iterations: these are the `cells`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final, TypeAlias

from ...ir.hints import unknown_name
from ...ir.schedule.nodes import Execution, Fby, Keep, Last, LevelName, Location, Map
from ...ir.schedule.scope import used_by
from ...ir.schedule.text import level_name_text
from .decided import AT_ONCE, Decided
from .structure import Loop, Node, Wait, structure_of
from .tasks import Hold, Task, roots_of

MOST_HELD: Final = 256
"""The most elements of one value that an invocation keeps: more spill to memory that is slower than a workgroup's."""
Reading: TypeAlias = tuple[tuple[str, str], ...]
"""For each dimension of a kept value the one whose index a task reads it at."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A value in memory. Tasks in `near` have it in a variable, in the iteration in which it is computed, or may
    compute it again; `readings` are the indices at which all others load it.
    """

    keep: Keep
    cells: tuple[LevelName, ...]
    readings: frozenset[Reading]
    near: frozenset[Task]

    def indexed(self, decided: Decided) -> tuple[LevelName, ...]:
        """The cells whose iterations are elements of an array, and have no variables of their own."""
        if self.keep.location is Location.WORKGROUP:
            return self.cells
        return tuple(it for it in self.cells if any(_is_loop(name, decided) for name in self._places(it)))

    def variables(self, decided: Decided) -> tuple[LevelName, ...]:
        """The cells whose iterations have variables of their own."""
        indexed = self.indexed(decided)
        return tuple(it for it in self.cells if it not in indexed)

    def _places(self, cell: LevelName) -> Iterator[LevelName]:
        yield cell
        yield from (LevelName(dict(it)[cell.dimension], cell.level) for it in self.readings)


def _is_loop(name: LevelName, decided: Decided) -> bool:
    return decided.execution(name) is Execution.LOOP


def length_of(kept: Kept, decided: Decided) -> int:
    """The number of elements of each array for a value; their number is known."""
    return prod(decided.count(it) or 0 for it in kept.indexed(decided))


def kept_values(decided: Decided, nodes: Sequence[Node]) -> dict[str, Kept]:
    """The values that are kept in memory, by name."""
    paths = dict(paths_in(nodes))
    found: dict[str, Kept] = {}
    for keep in decided.decisions.kept:
        hold = Hold(keep.value, decided.scope.dimensions_of(keep.value))
        if hold in paths:
            readers = [task for task in decided.tasks if keep.value in decided.demand_of(task).kept]
            around = [it.level for it in _common([paths[hold], *(paths[it] for it in readers)])]
            shared = {it for it in around if not decided.is_vector(it)}
            cells = tuple(it for it in _levels(hold, decided) if it not in shared and _is_cell(it, keep, decided))
            is_apart = keep.location is Location.WORKGROUP and bool(other_axes(keep.value, decided))
            near = frozenset(it for it in readers if not is_apart and _is_near(hold, it, paths, decided))
            readings = {
                at for it in readers if it not in near for name, at in readings_of(it, decided) if name == keep.value
            }
            found[keep.value] = Kept(keep, cells, frozenset(readings), near)
    return found


def _is_near(hold: Hold, reader: Task, paths: Mapping[Task, tuple[Loop, ...]], decided: Decided) -> bool:
    """Whether a task is in all loops of a value's computation, and needs it at its own indices only. A value that
    depends on what is carried may have changed meanwhile.
    """
    path = paths[hold]
    is_inside = len(_common([path, paths[reader]])) == len(path)
    own = all(one == other for name, at in readings_of(reader, decided) if name == hold.value for one, other in at)
    return is_inside and own and not decided.demand_of(hold).reads


def paths_in(nodes: Sequence[Node], path: tuple[Loop, ...] = ()) -> Iterator[tuple[Task, tuple[Loop, ...]]]:
    """The tasks in a part of the tree, with the levels around them."""
    for node in nodes:
        if isinstance(node, Loop):
            yield from paths_in(node.body, (*path, node))
        elif not isinstance(node, Wait):
            yield node, path


def _common(paths: Sequence[tuple[Loop, ...]]) -> list[Loop]:
    """The loops that paths begin with."""
    return [first for first, *others in zip(*paths, strict=False) if all(it is first for it in others)]


def _levels(hold: Hold, decided: Decided) -> Iterator[LevelName]:
    for dimension in decided.scope.ordered(hold.dimensions):
        yield from decided.names(dimension)


def _is_cell(level: LevelName, keep: Keep, decided: Decided) -> bool:
    kind = decided.kind(level)
    own = () if keep.location is Location.WORKGROUP else (Execution.INVOCATION, Execution.VECTOR)
    return kind is not Execution.WORKGROUP and kind not in own


def readings_of(task: Task, decided: Decided) -> Iterator[tuple[str, Reading]]:
    """The kept values that a task reads, with their indices."""
    own = task.value if isinstance(task, Hold) else None
    pending: list[tuple[str, Reading]] = [(it, ()) for it in roots_of(task)]
    seen = set(pending)
    while pending:
        name, indices = pending.pop()
        if name in decided.kept and name != own:
            at = dict(indices)
            yield name, tuple((it, at.get(it, it)) for it in decided.scope.ordered(decided.scope.dimensions_of(name)))
            continue
        fresh = [it for it in _operands(name, dict(indices), decided) if it not in seen]
        seen.update(fresh)
        pending += fresh


def _operands(name: str, indices: Mapping[str, str], decided: Decided) -> Iterable[tuple[str, Reading]]:
    """What a value is computed of in the same iteration, with the indices that stand for others."""
    value = decided.scope.values[name]
    if isinstance(value, Map):
        targets = {it.source: indices.get(it.target, it.target) for it in value.pairs}
        return [(value.value, tuple(sorted({**indices, **targets}.items())))]
    if isinstance(value, (Fby, Last)):
        return []
    return [(it, tuple(sorted(indices.items()))) for it in used_by(value)]


def is_crossing(kept: Kept, reading: Reading, decided: Decided) -> bool:
    """Whether invocations read what others wrote."""
    if kept.keep.location is not Location.WORKGROUP:
        return False
    is_elsewhere = any(one != other and _shape(one, decided) != _shape(other, decided) for one, other in reading)
    return is_elsewhere or bool(other_axes(kept.keep.value, decided))


def other_axes(value: str, decided: Decided) -> list[LevelName]:
    """The levels of invocations that would all compute the same value, one for each axis."""
    hold = Hold(value, decided.scope.dimensions_of(value))
    used = decided.axes_of(hold, Execution.INVOCATION)
    others = {axis: it for it, axis in decided.axes(Execution.INVOCATION).items() if axis not in used}
    return [it for it in others.values() if decided.count(it) != 1]


# Legality


def keep_mistakes(decided: Decided) -> Iterator[str]:
    """Values that cannot have a location of their own."""
    names = [it.value for it in decided.decisions.kept]
    for name in dict.fromkeys(names):
        value = decided.scope.values.get(name)
        if value is None:
            yield unknown_name(f"there is no value {name!r}", name, decided.scope.values)
        elif isinstance(value, Map):
            yield f"{name!r} is a map: keep {value.value!r}"
        elif names.count(name) > 1:
            yield f"{name!r} is kept twice"
        elif isinstance(value, Fby) and decided.location(name) is Location.STORAGE:
            yield f"{name!r} is carried, and not yet what it will be at the end: keep a copy of it in storage"
        elif decided.location(name) is Location.STORAGE and _is_joined_by_atomics(name, decided):
            yield f"atomic operations join {name!r} in an output, and not in memory between two dispatches"


def _is_joined_by_atomics(name: str, decided: Decided) -> bool:
    carry = decided.homes.get(name)
    return carry is not None and any(decided.execution(it) is Execution.ATOMIC for it in decided.joined(carry))


def location_mistakes(decided: Decided) -> Iterator[str]:
    """Locations whose size is not known, or in which readers would not find a value."""
    for name, kept in kept_values(decided, structure_of(decided)).items():
        unknown = [it for it in kept.cells if decided.count(it) is None]
        if unknown:
            yield f"{name!r} is kept for all iterations of {level_name_text(unknown[0])}: their number is not known"
            continue
        if kept.keep.location is not Location.WORKGROUP:
            held = prod(decided.count(it) or 0 for it in kept.cells)
            if held > MOST_HELD:
                yield f"{held} elements of {name!r} in the registers of an invocation; at most {MOST_HELD} are kept"
        if kept.keep.location is Location.SUBGROUP and _is_spread(name, decided):
            yield f"{name!r} differs between the invocations of a workgroup, so that no subgroup can broadcast it"
        for reading in sorted(kept.readings):
            yield from _reading_mistakes(kept, reading, decided)


def _is_spread(name: str, decided: Decided) -> bool:
    hold = Hold(name, decided.scope.dimensions_of(name))
    return any(decided.kind(it) is Execution.INVOCATION and decided.count(it) != 1 for it in _levels(hold, decided))


def _reading_mistakes(kept: Kept, reading: Reading, decided: Decided) -> Iterator[str]:
    name, in_registers = kept.keep.value, kept.keep.location is not Location.WORKGROUP
    for source, target in reading:
        if source == target:
            continue
        if in_registers and _shape(source, decided) != _shape(target, decided):
            yield f"{name!r} is in registers, and the levels of {source!r} and {target!r} differ"
        elif _grid_level(source, decided) != _grid_level(target, decided):
            yield f"workgroups have other parts of {target!r} than of {source!r}, of which they keep {name!r}"


def _shape(dimension: str, decided: Decided) -> list[object]:
    """Equal for dimensions whose iterations of equal indices are in the same invocations and components."""
    axes = {**decided.axes(Execution.INVOCATION), **decided.axes(Execution.WORKGROUP)}
    apart = (*AT_ONCE, Execution.VECTOR)
    found: list[object] = []
    for it in decided.names(dimension):
        kind = decided.kind(it)
        found.append((decided.levels[dimension][it.level].factor, kind if kind in apart else None, axes.get(it)))
    return found


def _grid_level(dimension: str, decided: Decided) -> object:
    """Equal for dimensions whose iterations of equal indices are in the same workgroups; None without workgroups."""
    axes = decided.axes(Execution.WORKGROUP)
    found = [it for it in decided.names(dimension) if it in axes]
    if not found:
        return None
    return (decided.inner(dimension), axes[found[0]]) if found[0].level == 0 else dimension
