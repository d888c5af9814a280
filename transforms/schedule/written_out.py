"""The order of the points of written-out levels: one in which few loaded elements are needed at the same time.

Where the window of a stencil and several outputs are written out, each element that is loaded serves several points. In
the order of the levels these may be so far apart that all elements wait in registers for the last of them. In the order
of the elements, by a subscript that the window and the outputs share, each is used up before the next one is loaded.
What is carried goes through its iterations in the same order either way, so that results are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, product
from typing import TypeAlias

from ...ir.schedule.nodes import Affine, LevelName, Load
from .decided import WRITTEN_OUT, Decided
from .structure import Loop
from .tasks import Carry

Numbers: TypeAlias = tuple[int, ...]
"""The iterations of several levels."""
_Steps: TypeAlias = tuple[int, ...]
"""By how much a subscript grows with the iteration of each level."""


def nested_loops(loop: Loop, decided: Decided) -> list[Loop]:
    """Written-out levels, each the only thing in the one before, of which the innermost one only carries values."""
    found = [loop]
    while len(found[-1].body) == 1:
        (inner,) = found[-1].body
        if not isinstance(inner, Loop) or inner.opened or decided.execution(inner.level) not in WRITTEN_OUT:
            break
        found.append(inner)
    return found if all(isinstance(it, Carry) for it in found[-1].body) else [loop]


def ordered_points(loops: Sequence[Loop], decided: Decided) -> list[Numbers]:
    """The iterations of nested written-out levels, in the order in which they are executed."""
    levels = [it.level for it in loops]
    points = list(product(*(range(decided.count(it) or 0) for it in levels)))
    carries = [it for it in loops[-1].body if isinstance(it, Carry)]
    loads = [_steps_of(it, levels, decided) for it in _loads(carries, decided)]
    orders = [points]
    for steps in dict.fromkeys(it for load in loads for it in load):
        if sum(map(bool, steps)) > 1:
            order = sorted(points, key=lambda it: _sum(steps, it))
            if all(_keeps_order(order, levels, it) for it in carries):
                orders.append(order)
    return min(orders, key=lambda it: _most_live(it, loads))


def _loads(carries: Sequence[Carry], decided: Decided) -> Iterator[Load]:
    names = {name for it in carries for name in decided.demand_of(it).loads}
    return (it for it in decided.scope.values.values() if isinstance(it, Load) and it.name in names)


def _steps_of(load: Load, levels: Sequence[LevelName], decided: Decided) -> tuple[_Steps, ...]:
    """For each subscript by how much it grows with each level."""
    return tuple(_steps_in(it, levels, decided) for it in load.subscripts)


def _steps_in(subscript: Affine, levels: Sequence[LevelName], decided: Decided) -> _Steps:
    factors: Mapping[str, int] = {it.name: it.coefficient for it in subscript.terms}
    return tuple(factors.get(it.dimension, 0) * decided.strides(it.dimension)[it] for it in levels)


def _sum(steps: _Steps, numbers: Numbers) -> int:
    return sum(step * number for step, number in zip(steps, numbers, strict=True))


def _keeps_order(order: Sequence[Numbers], levels: Sequence[LevelName], carry: Carry) -> bool:
    """Whether each carried value goes through its iterations in the order of the levels."""
    last: dict[Numbers, Numbers] = {}
    for numbers in order:
        pairs = list(zip(levels, numbers, strict=True))
        place = tuple(number for level, number in pairs if level.dimension not in carry.on)
        iteration = tuple(number for level, number in pairs if level.dimension in carry.on)
        if place in last and iteration < last[place]:
            return False
        last[place] = iteration
    return True


def _most_live(order: Sequence[Numbers], loads: Sequence[tuple[_Steps, ...]]) -> int:
    """The most elements that are loaded at one time and used again later."""
    first, last = dict[Numbers, int](), dict[Numbers, int]()
    for at, numbers in enumerate(order):
        for load, subscripts in enumerate(loads):
            element = load, *(_sum(steps, numbers) for steps in subscripts)
            first.setdefault(element, at)
            last[element] = at
    changes = [0] * (len(order) + 1)
    for element, at in first.items():
        changes[at] += 1
        changes[last[element] + 1] -= 1
    return max(accumulate(changes))
