"""Beam and evolutionary search with restarts for the fastest point of a space.

Small spaces are tried whole, points with the least expected time first. Of large ones, the best of many random points
are measured, and then neighbours and children of the fastest, until several generations bring nothing: then it begins
again, with other points. Points whose least possible time is above the best time are never measured.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from random import Random
from typing import Final, Generic, Literal, Protocol, TypeVar

from .rejected import Rejected

Point = TypeVar("Point", bound=Hashable)
Status = Literal["measured", "pruned", "wrong", "failed"]

MOST_WHOLE: Final = 128
"""The largest space that is tried whole, which takes about half a minute."""
MARGIN: Final = 0.02
"""A point is better than another if it is faster by this share: less is noise."""
_POOL: Final = 160
"""Random points of which the most promising ones begin a search."""
_BEAM: Final = 10
"""Points that are measured in a generation, and the fastest, of which the next one is made."""
_CHILDREN: Final = 48
"""New points of a generation, of which the most promising are measured."""
_PATIENCE: Final = 3
"""Generations without progress before the search begins again."""
_EMPTY_RESTARTS: Final = 2
"""Beginnings that find no new point before the space counts as exhausted."""
_CORRECTION: Final = 0.5
"""Bounds are corrected to this share of a time that was below its bound, as where rates were measured under load."""
_FINALISTS: Final = 4
_NEAR: Final = 1.25
"""Points that take longer than this many times the best are not compared with it in the end."""
_SHARE_OF_FINAL: Final = 0.12
"""The share of the time that is left for comparing the fastest."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds: what a point takes in any case, and what it probably takes."""

    least: float
    expected: float


@dataclass(frozen=True, slots=True)
class Attempt(Generic[Point]):
    """What came of a point. `seconds` is its time, or its least time for one that was pruned; None if it failed."""

    point: Point
    status: Status
    seconds: float | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a search stands: shares are of its time limit."""

    share: float
    measured: int
    best: float | None


class Space(Protocol[Point]):
    """The points of a search. All that is returned is legal."""

    def whole(self, most: int) -> Sequence[Point] | None:
        """All points, if there are at most so many."""
        ...

    def starts(self) -> Sequence[Point]:
        """Points that are measured first."""
        ...

    def sample(self, random: Random) -> Point | None:
        """A random point; None if none was found."""
        ...

    def neighbour(self, point: Point, random: Random) -> Point | None:
        """The point with something changed."""
        ...

    def child(self, first: Point, second: Point, random: Random) -> Point | None:
        """A point that has parts of both."""
        ...

    def cost(self, point: Point) -> Cost:
        """What the point takes."""
        ...


@dataclass(frozen=True, slots=True)
class Found(Generic[Point]):
    """The result of a search: the fastest point, or None, with its seconds, and all attempts in their order."""

    best: Point | None
    seconds: float
    attempts: tuple[Attempt[Point], ...]
    is_whole: bool
    is_interrupted: bool
    compared: Mapping[Point, float] = field(default_factory=dict[Point, float])
    """The times of the fastest points, and of the base, measured by turns."""

    @property
    def counts(self) -> Counter[Status]:
        """How many attempts ended in which way."""
        return Counter(it.status for it in self.attempts)


@dataclass
class Search(Generic[Point]):
    """A search for at most `seconds`. The same `seed` tries the same points, as long as times rank them equally.

    `measure` takes a point and the best time so far, and returns seconds; it raises Rejected. `compare` measures
    several points by turns, with `base` among them, if that was measured.
    """

    space: Space[Point]
    measure: Callable[[Point, float], float]
    compare: Callable[[Sequence[Point]], Sequence[float]]
    seconds: float
    seed: int = 0
    clock: Callable[[], float] = time.monotonic
    watch: Callable[[Progress], None] = lambda _: None
    base: Point | None = None
    _attempts: list[Attempt[Point]] = field(default_factory=list[Attempt[Point]])
    _seen: set[Point] = field(default_factory=set[Point])
    _times: dict[Point, float] = field(default_factory=dict[Point, float])

    def __post_init__(self) -> None:
        self._random = Random(self.seed)
        self._begun = self.clock()
        self._trust = 1.0
        """What bounds are multiplied by: less than 1 as soon as a point was faster than its bound."""

    def run(self) -> Found[Point]:
        """Search. KeyboardInterrupt ends the search, which keeps what it has found; it is raised if that is nothing."""
        is_whole, is_interrupted = False, False
        try:
            self._measure_all(self._new(self.space.starts()))
            whole = self.space.whole(MOST_WHOLE)
            if whole is None:
                self._restarts()
            else:
                is_whole = self._measure_all(sorted(self._new(whole), key=self._expected))
            times = self._final()
        except KeyboardInterrupt:
            if not self._times:
                raise
            is_interrupted = True
            times = {it: self._times[it] for it in self._fastest(1)}
        best = self._chosen(times)
        seconds = inf if best is None else times[best]
        return Found(best, seconds, tuple(self._attempts), is_whole, is_interrupted, times)

    # Points

    @property
    def _best(self) -> float:
        return min(self._times.values(), default=inf)

    def _is_over(self) -> bool:
        limit = self.seconds * (1 - _SHARE_OF_FINAL)
        return bool(self._attempts) and self.clock() - self._begun >= limit

    def _new(self, points: Iterable[Point | None]) -> list[Point]:
        """The points that were not seen before; they are seen now."""
        found = [it for it in dict.fromkeys(points) if it is not None and it not in self._seen]
        self._seen.update(found)
        return found

    def _expected(self, point: Point) -> float:
        return self.space.cost(point).expected

    def _fastest(self, most: int) -> list[Point]:
        return sorted(self._times, key=self._times.__getitem__)[:most]

    def _measure_all(self, points: Sequence[Point]) -> bool:
        """Try the points while there is time. Whether all were tried."""
        for point in points:
            if self._is_over():
                return False
            self._try(point)
        return True

    def _try(self, point: Point) -> None:
        least = self.space.cost(point).least
        best = self._best
        if least * self._trust > best:
            why = "its least possible time is above the best"
            self._attempts.append(Attempt(point, "pruned", least * self._trust, why))
            return
        try:
            seconds = self._times[point] = self.measure(point, best)
            if seconds < least * self._trust:
                self._trust = _CORRECTION * seconds / least
            self._attempts.append(Attempt(point, "measured", seconds))
        except Rejected as error:
            self._attempts.append(Attempt(point, error.status, None, str(error)))
        self._tell()

    def _tell(self) -> None:
        share = (self.clock() - self._begun) / self.seconds if self.seconds else 1.0
        self.watch(Progress(min(share, 1.0), len(self._times), min(self._times.values(), default=None)))

    # Large spaces

    def _restarts(self) -> None:
        empty = 0
        while not self._is_over() and empty < _EMPTY_RESTARTS:
            points = self._promising()
            empty = 0 if points else empty + 1
            self._measure_all(points)
            self._generations([it for it in points if it in self._times] or self._fastest(_BEAM))

    def _promising(self) -> list[Point]:
        """The best of many random points; after the first time, chance has a part in which are the best."""
        pool = self._unseen(self.space.sample(self._random) for _ in range(_POOL))
        spread = 0.0 if len(self._times) <= _BEAM else 1.0
        rank = {it: self._expected(it) * (1 + spread * self._random.random()) for it in pool}
        return self._new(sorted(pool, key=rank.__getitem__)[:_BEAM])

    def _unseen(self, points: Iterable[Point | None]) -> list[Point]:
        """The points that were not seen before, and stay so."""
        found: dict[Point, None] = {}
        for point in points:
            if point is not None and point not in self._seen:
                found[point] = None
            if self._is_over():
                break
        return list(found)

    def _generations(self, population: Sequence[Point]) -> None:
        """Go on from points to neighbours and children, as long as they get faster."""
        quiet = 0
        population = list(population)
        while population and quiet < _PATIENCE and not self._is_over():
            before = min(self._times[it] for it in population)
            fresh = sorted(self._unseen(self._offspring(population) for _ in range(_CHILDREN)), key=self._expected)
            explored = self._random.sample(fresh[_BEAM:], min(2, len(fresh[_BEAM:])))
            points = self._new([*fresh[: _BEAM - len(explored)], *explored])
            self._measure_all(points)
            population = sorted(
                {*population, *(it for it in points if it in self._times)}, key=lambda it: (self._times[it], str(it))
            )[:_BEAM]
            quiet = 0 if self._times[population[0]] < before * (1 - MARGIN) else quiet + 1

    def _offspring(self, population: Sequence[Point]) -> Point | None:
        first = population[min(self._random.randrange(len(population)), self._random.randrange(len(population)))]
        if len(population) > 1 and self._random.random() < 0.3:
            return self.space.child(first, self._random.choice(population), self._random)
        return self.space.neighbour(first, self._random)

    # The end

    def _final(self) -> dict[Point, float]:
        """The times of the fastest points, measured by turns."""
        finalists = [it for it in self._fastest(_FINALISTS) if self._times[it] <= self._best * _NEAR]
        if self.base in self._times and self.base not in finalists:
            finalists.append(self.base)
        if len(finalists) < 2:
            return {it: self._times[it] for it in finalists}
        return dict(zip(finalists, self.compare(finalists), strict=True))

    def _chosen(self, times: Mapping[Point, float]) -> Point | None:
        """The fastest point; an earlier one, unless it is faster than that by the margin."""
        if not times:
            return None
        order = {it.point: number for number, it in enumerate(self._attempts)}
        fastest = min(times.values())
        return min((it for it in times if times[it] * (1 - MARGIN) <= fastest), key=order.__getitem__)
