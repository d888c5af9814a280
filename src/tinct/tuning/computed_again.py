"""What the loops of a nest compute or load again and again, which decisions may keep in memory instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Final

from ..ir.schedule.nodes import Fby, Gather, Last, Load, Map
from ..ir.schedule.scope import used_by
from ..transforms.schedule import equal_values
from ..transforms.schedule.decided import Decided
from ..transforms.schedule.tasks import Carry, Task, demand, roots_of

_FEWEST: Final = 4096
"""Elements below which nothing is gained: they stay in the first cache."""


def needed_again(plain: Decided) -> tuple[str, ...]:
    """The values that other loops need, but for what only indices are needed for: memory would cost more."""
    return tuple(it for it in equal_values.needed_again(plain.nest) if _takes_memory(it, plain))


def read_again(plain: Decided, extents: Mapping[str, int]) -> tuple[str, ...]:
    """The loads of many elements that are made again for each iteration of a dimension they do not depend on."""
    tasks = plain.tasks
    loads = {it for task in tasks for it in plain.demand_of(task).loads if _is_repeated(it, task, plain, extents)}
    return tuple(name for name in plain.scope.values if name in loads)


def worth_keeping(plain: Decided, extents: Mapping[str, int]) -> tuple[str, ...]:
    """What tasks compute of many elements again for each iteration of a dimension it does not depend on: loads, or
    what is computed of them, such as their conversion to another type, or the weights of attention for each element of
    a row of the output. What depends on the end of a loop counts if the task carries along its dimensions: else it is
    computed once, outside of the loop. Of equal values that are more than loads, it is the first one.
    """
    values, first = plain.scope.values, equal_values.computed_before(plain.nest)
    repeated = (it for task in plain.tasks for it in _repeated(task, plain, extents))
    found = {it if isinstance(values[it], Load) else first.get(it, it) for it in repeated}
    return tuple(name for name in values if name in found)


def _repeated(task: Task, plain: Decided, extents: Mapping[str, int]) -> Iterator[str]:
    scope, seen = plain.scope, set[str]()
    carried = set(task.on) if isinstance(task, Carry) else set[str]()
    pending = roots_of(task)
    while pending:
        name = pending.pop()
        value = scope.values[name]
        if name in seen or isinstance(value, (Fby, Last, Map)):
            continue
        seen.add(name)
        if not scope.dimensions_of(name) < task.dimensions:
            pending += used_by(value)
            continue
        is_once = demand([name], scope).ends and not scope.dimensions_of(name) & carried
        if not is_once and _is_repeated(name, task, plain, extents) and _takes_memory(name, plain):
            yield name


def _is_repeated(name: str, task: Task, plain: Decided, extents: Mapping[str, int]) -> bool:
    own = plain.scope.dimensions_of(name)
    return own < task.dimensions and prod(extents[it] for it in own) >= _FEWEST


def _takes_memory(name: str, plain: Decided) -> bool:
    """Whether a value needs more than indices."""
    used = demand([name], plain.scope)
    return bool(used.loads or used.reads or used.ends) or isinstance(plain.scope.values[name], Gather)
