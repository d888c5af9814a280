"""What a lowered nest does in loops: it carries values, keeps values in memory, and stores. Other values are computed
where they are used.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from ...base.cached import cached_property
from ...ir.schedule.nodes import Fby, Last, Load, Scatter, Store, Use
from ...ir.schedule.scope import Scope, Writing, used_by


class _Hashed:
    """Tables are by tasks: how their statements hash is computed once for each."""

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(self.__getstate__().values()))

    def __getstate__(self) -> dict[str, object]:
        """The fields alone: in another process strings hash differently."""
        return {name: value for name, value in vars(self).items() if name != "_hash"}

    def hash_once(self) -> int:
        """Their hash."""
        return self._hash


@dataclass(frozen=True)
class Carry(_Hashed):
    """Values that one loop nest carries along the dimensions `on`, in lexicographic order.

    `lasts` are those of values that are no Fby: what the values are in the iterations so far.
    """

    on: tuple[str, ...]
    dimensions: frozenset[str]
    fbys: tuple[Fby, ...]
    lasts: tuple[Last, ...]

    __hash__ = _Hashed.hash_once

    @property
    def values(self) -> tuple[Fby | Last, ...]:
        """All values that are carried."""
        return (*self.fbys, *self.lasts)


@dataclass(frozen=True)
class Write(_Hashed):
    """A store, or what joins values to elements of an output."""

    store: Writing
    dimensions: frozenset[str]

    __hash__ = _Hashed.hash_once


@dataclass(frozen=True, slots=True)
class Hold:
    """The computation of a value that is kept in memory."""

    value: str
    dimensions: frozenset[str]


Task: TypeAlias = Carry | Write | Hold


@dataclass(frozen=True, slots=True)
class Demand:
    """What a task uses of others: values at the end of their loops, carried values in the same iteration, and values
    that are kept in memory. `loads` are the loads that it makes.
    """

    ends: frozenset[str]
    reads: frozenset[str]
    loads: frozenset[str]
    kept: frozenset[str]


def demand_of(task: Task, scope: Scope, kept: frozenset[str] = frozenset()) -> Demand:
    """What a task uses of others, where values are kept."""
    return demand(roots_of(task), scope, kept - {task.value} if isinstance(task, Hold) else kept)


def demand(roots: Iterable[str], scope: Scope, kept: frozenset[str] = frozenset()) -> Demand:
    """What the computation of values uses of tasks, where values are kept."""
    ends, reads, loads, loaded = set[str](), set[str](), set[str](), set[str]()
    pending = list(roots)
    seen = set(pending)
    while pending:
        value = scope.values[pending.pop()]
        if value.name in kept:
            loaded.add(value.name)
        elif isinstance(value, Fby):
            reads.add(value.name)
        elif isinstance(value, Last):
            ends.add(value.name)
        elif isinstance(value, Load):
            loads.add(value.name)
        else:
            fresh = [it for it in used_by(value) if it not in seen]
            seen.update(fresh)
            pending += fresh
    return Demand(frozenset(ends), frozenset(reads), frozenset(loads), frozenset(loaded))


def roots_of(task: Task) -> list[str]:
    """The values that a task begins with; all others that it computes are needed by these."""
    if isinstance(task, Hold):
        return [task.value]
    if isinstance(task, Write):
        return list(used_by(task.store))
    firsts = [it.first.name for it in task.fbys if isinstance(it.first, Use)]
    return [*firsts, *(it.next for it in task.fbys), *(it.value for it in task.lasts)]


def homes_of(carries: Iterable[Carry], scope: Scope) -> dict[str, Carry]:
    """The task behind each carried value and each value that is known at the end of dimensions."""
    homes = {it.name: carry for carry in carries for it in carry.values}
    for value in scope.values.values():
        if isinstance(value, Last) and value.value in homes and value.name not in homes:
            homes[value.name] = homes[value.value]
    return homes


def tasks_of(scope: Scope, kept: frozenset[str] = frozenset()) -> tuple[Task, ...]:
    """The tasks of a verified nest, some of whose values are kept: each after those whose ends and kept values it uses,
    and after all that read what it carries.
    """
    carries = _carries(scope)
    holds = {it: Hold(it, scope.dimensions_of(it)) for it in scope.values if it in kept}
    tasks: list[Task] = [*holds.values(), *carries]
    tasks += [Write(it, frozenset(it.dimensions)) for it in scope.nest.body if isinstance(it, (Store, Scatter))]
    homes = homes_of(carries, scope)
    before: dict[Task, list[Task]] = {it: [] for it in tasks}
    for task in tasks:
        used = demand_of(task, scope, kept)
        before[task] += [holds[it] for it in sorted(used.kept)]
        before[task] += [homes[it] for it in sorted(used.ends)]
        for name in sorted(used.reads):
            if homes[name] != task:
                before[homes[name]].append(task)
    return _sorted(tasks, before)


def _carries(scope: Scope) -> list[Carry]:
    """Carried values with the same dimensions, in the same order, are carried together."""
    groups: dict[tuple[tuple[str, ...], frozenset[str]], tuple[list[Fby], list[Last]]] = {}
    for value in scope.values.values():
        if isinstance(value, Fby):
            key = value.dimensions, scope.dimensions_of(value.name)
            groups.setdefault(key, ([], []))[0].append(value)
        elif isinstance(value, Last) and not isinstance(scope.values[value.value], Fby):
            key = value.dimensions, scope.dimensions_of(value.value)
            groups.setdefault(key, ([], []))[1].append(value)
    return [Carry(on, dimensions, tuple(fbys), tuple(lasts)) for (on, dimensions), (fbys, lasts) in groups.items()]


def _sorted(tasks: list[Task], before: dict[Task, list[Task]]) -> tuple[Task, ...]:
    """The tasks in an order in which each comes after those before it. There is one, since dimensions end in order."""
    done: dict[Task, None] = {}
    begun: set[Task] = set()
    pending = [(it, False) for it in reversed(tasks)]
    while pending:
        task, is_ready = pending.pop()
        if is_ready:
            done[task] = None
        if task in begun:
            continue
        begun.add(task)
        pending.append((task, True))
        pending += [(it, False) for it in reversed(before[task]) if it not in done]
    return tuple(done)
