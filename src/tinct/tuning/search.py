"""Beam and evolutionary search with restarts for the fastest point of a space.

Small spaces are tried whole, points with the least expected time first. In large ones, points are improved by what the
space expects of them, hundreds of them for each that is measured: structured and random ones in the beginning, then
neighbours and children of the fastest, until several generations bring nothing, and details of the fastest. Then it
begins again, with other random points. What is expected of a point is corrected by what points of its kind took. Points
whose least possible time is above the best time are never measured.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import exp, inf, log
from random import Random
from statistics import fmean
from typing import Final, Generic, Literal, Protocol, TypeVar

from .rejected import Rejected

Point = TypeVar("Point", bound=Hashable)
Status = Literal["measured", "pruned", "wrong", "failed"]

MOST_WHOLE: Final = 128
"""The largest space that is tried whole, which takes about half a minute."""
MARGIN: Final = 0.02
"""A point is better than another if it is faster by this share: less is noise."""
_POOL: Final = 96
"""Random points that are improved, beside the structured ones, before any is measured."""
_FRUITLESS: Final = 3
"""Attempts at random points that find none before there are no more: almost all points of the space are illegal."""
_STEPS: Final = 10
_PARENTS: Final = 24
_STEP: Final = 40
"""How often points are improved in the beginning, and how many have new ones, so many in all, in each step."""
_SHARE_OF_BREEDING: Final = 0.1
"""The share of the time after which points are no longer improved before any is measured."""
_BEAM: Final = 10
"""Points that are measured in a generation, and the fastest, of which the next one is made."""
_OF_A_KIND: Final = 4
"""The most points of one kind, and of different shapes, that are measured together in the beginning."""
_FAR: Final = 4.0
"""Starts that are expected to take this many times as long as the best one are not measured."""
_COARSE: Final = 0.25
"""Expected times are corrected by steps of their logarithms, so that noise rarely changes which points are tried."""
_CHILDREN: Final = 64
"""New points of a generation, of which the most promising are measured."""
_EXPLORED: Final = 2
"""The points of a generation that are not the most promising."""
_PATIENCE: Final = 3
"""Generations without progress before the search begins again."""
_EMPTY_RESTARTS: Final = 2
"""Beginnings that find no new point before the space counts as exhausted."""
_CORRECTION: Final = 0.5
"""Bounds are corrected to this share of a time that was below its bound, as where rates were measured under load."""
_FINALISTS: Final = 10
_NEAR: Final = 2.0
"""Points that seem to take longer than this many times the best are not compared with it in the end: the one that seems
the best may have been measured while the machine was fast.
"""
_SHARE_OF_FINAL: Final = 0.12
"""The largest share of the time that is left for comparing the fastest."""
_FINAL_SECONDS: Final = 2.5
_FINAL_RUNS: Final = 100
"""What that takes at most: some seconds if the fastest are measured in many rounds, and else so many of their runs."""
_SHARE_OF_DETAILS: Final = 0.08
"""The share of the time before that in which details of the fastest points are tried, if they were not before."""
_DETAILED: Final = 5
"""The kinds of points whose fastest ones' details are tried: where those of the fastest kind gain nothing, those of
others may.
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds: what a point takes in any case, and what it probably takes."""

    least: float
    expected: float


@dataclass(frozen=True, slots=True)
class Attempt(Generic[Point]):
    """What came of a point. `seconds` is its time, or its least time for one that was pruned; None if it failed.
    `compiling` is for how many seconds another process compiled it; None if none did.
    """

    point: Point
    status: Status
    seconds: float | None
    why: str = ""
    compiling: float | None = None


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

    def structured(self) -> Iterable[Point]:
        """Points of forms that are often good, to be improved by what is expected of them."""
        ...

    def refined(self, point: Point) -> Iterable[Point]:
        """What differs from a fast point in details of which is not known whether they gain something."""
        ...

    def kind(self, point: Point) -> Hashable:
        """What a point has in common with others for which expected times are wrong by about the same factor."""
        ...

    def shape(self, point: Point) -> Hashable:
        """What a point has in common with others that take about the same time. Those of one shape are of one kind."""
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
class _Variety(Generic[Point]):
    """Points of different shapes, and few of each kind."""

    space: Space[Point]
    points: list[Point] = field(default_factory=list[Point])
    _kinds: Counter[Hashable] = field(default_factory=Counter[Hashable])
    _shapes: set[Hashable] = field(default_factory=set[Hashable])

    def has_room(self, point: Point) -> bool:
        return self.space.shape(point) not in self._shapes and self._kinds[self.space.kind(point)] < _OF_A_KIND

    def add(self, point: Point) -> None:
        self.points.append(point)
        self._shapes.add(self.space.shape(point))
        self._kinds[self.space.kind(point)] += 1


@dataclass
class Search(Generic[Point]):
    """A search for at most `seconds`. The same `seed` tries the same points, as long as times are about the same.

    `measure` takes a point and the best time so far, and returns seconds; it raises Rejected. `compare` measures
    several points by turns, with `base` among them, if that was measured. `prepare` is told the next points, at most
    `together` of them, before the first of them is measured; it returns for how many seconds each was compiled.
    `measure_patiently` measures a point again that was rejected because compiling it took too long.
    """

    space: Space[Point]
    measure: Callable[[Point, float], float]
    compare: Callable[[Sequence[Point]], Sequence[float]]
    seconds: float
    seed: int = 0
    clock: Callable[[], float] = time.monotonic
    watch: Callable[[Progress], None] = lambda _: None
    base: Point | None = None
    prepare: Callable[[Sequence[Point]], Mapping[Point, float]] = lambda _: {}
    together: int = 1
    measure_patiently: Callable[[Point, float], float] | None = None
    _late: list[Point] = field(default_factory=list[Point])
    """The points that were rejected because compiling them took too long."""
    _prepared: set[Point] = field(default_factory=set[Point])
    _compiling: dict[Point, float] = field(default_factory=dict[Point, float])
    _attempts: list[Attempt[Point]] = field(default_factory=list[Attempt[Point]])
    _seen: set[Point] = field(default_factory=set[Point])
    _times: dict[Point, float] = field(default_factory=dict[Point, float])
    _factors: dict[Hashable, list[float]] = field(default_factory=dict[Hashable, "list[float]"])
    """Logarithms of the times of points, divided by what was expected, by kind."""
    _all_factors: list[float] = field(default_factory=list[float])

    def __post_init__(self) -> None:
        self._random = Random(self.seed)
        self._begun = self.clock()
        self._for_details = 0.0
        """Seconds that are left for details."""
        self._trust = 1.0
        """What bounds are multiplied by: less than 1 as soon as a point was faster than its bound."""

    def run(self) -> Found[Point]:
        """Search. KeyboardInterrupt ends the search, which keeps what it has found; it is raised if that is nothing."""
        is_whole, is_interrupted = False, False
        try:
            self._measure_starts()
            whole = self.space.whole(MOST_WHOLE)
            if whole is None:
                self._search_large()
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

    def _measure_starts(self) -> None:
        """Measure the starts of the space but for those that are expected to take far longer than the best of them. If
        none works, as where all take too long to compile, they get more time, and then the others are measured. Then it
        does not matter how late it is.
        """
        starts = self.space.starts()
        most = _FAR * min(map(self._expected, starts), default=0.0)
        self._measure_all(self._new(it for it in starts if self._expected(it) <= most))
        if self.measure_patiently is not None:
            late = list(self._late)
            while late and not self._times:
                self._try(late.pop(0), self.measure_patiently)
        left = [it for it in starts if it not in {attempt.point for attempt in self._attempts}]
        while left and not self._times:
            self._seen.update(left)
            self._prepare_first(left)
            self._try(left.pop(0), self.measure)

    @property
    def _best(self) -> float:
        return min(self._times.values(), default=inf)

    def _is_over(self) -> bool:
        final = min(_SHARE_OF_FINAL * self.seconds, _FINAL_SECONDS + _FINAL_RUNS * self._best)
        spent = self.clock() - self._begun
        return bool(self._attempts) and spent >= self.seconds - final - self._for_details

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
        for number, point in enumerate(points):
            if self._is_over():
                return False
            self._prepare_first(points[number:])
            self._try(point, self.measure)
        return True

    def _prepare_first(self, points: Sequence[Point]) -> None:
        """Have the first point prepared, if it is not yet and will be measured, together with some that come later."""
        if points[0] not in self._prepared and not self._is_pruned(points[0]):
            new = (it for it in points if it not in self._prepared and not self._is_pruned(it))
            chosen = list(islice(new, self.together))
            self._prepared.update(chosen)
            self._compiling.update(self.prepare(chosen))

    def _least(self, point: Point) -> float:
        return self.space.cost(point).least * self._trust

    def _is_pruned(self, point: Point) -> bool:
        return self._least(point) > self._best

    def _try(self, point: Point, measure: Callable[[Point, float], float]) -> None:
        if self._is_pruned(point):
            why = "its least possible time is above the best"
            self._attempts.append(Attempt(point, "pruned", self._least(point), why))
            return
        least, best, compiling = self.space.cost(point).least, self._best, self._compiling.get(point)
        try:
            seconds = self._times[point] = measure(point, best)
            self._learn(point, seconds)
            if seconds < least * self._trust:
                self._trust = _CORRECTION * seconds / least
            self._attempts.append(Attempt(point, "measured", seconds, compiling=compiling))
        except Rejected as error:
            self._attempts.append(Attempt(point, error.status, None, str(error), compiling))
            if error.is_late:
                self._late.append(point)
        self._tell()

    def _learn(self, point: Point, seconds: float) -> None:
        expected = self._expected(point)
        if expected > 0 and seconds > 0:
            self._all_factors.append(round(log(seconds / expected) / _COARSE) * _COARSE)
            self._factors.setdefault(self.space.kind(point), []).append(self._all_factors[-1])

    def _tell(self) -> None:
        share = (self.clock() - self._begun) / self.seconds if self.seconds else 1.0
        self.watch(Progress(min(share, 1.0), len(self._times), min(self._times.values(), default=None)))

    # Large spaces

    def _search_large(self) -> None:
        self._for_details = _SHARE_OF_DETAILS * self.seconds
        self._restarts(self._unseen(self.space.structured()), list(self._times))
        self._for_details = 0.0
        self._refine()
        self._restarts([], [])

    def _refine(self) -> None:
        """Try the details of the fastest points of several kinds, and of what becomes one of them."""
        while not self._is_over():
            points = self._new(other for it in self._fastest_of_kinds() for other in self.space.refined(it))
            if not points:
                break
            self._measure_all(points)

    def _fastest_of_kinds(self) -> list[Point]:
        found: dict[Hashable, Point] = {}
        for point in self._fastest(len(self._times)):
            found.setdefault(self.space.kind(point), point)
        return list(found.values())[:_DETAILED]

    def _restarts(self, structured: Sequence[Point], starts: Sequence[Point]) -> None:
        """Begin with structured points, and some that were measured, and then again with random ones alone."""
        empty = 0
        while not self._is_over() and empty < _EMPTY_RESTARTS:
            points = self._measure_varied(self._bred(structured), _BEAM)
            empty = 0 if points else empty + 1
            known = (it for it in (*starts, *points, *self._fastest_of_kinds()) if it in self._times)
            self._generations(list(dict.fromkeys(known)))
            self._refine()
            structured, starts = [], []

    def _bred(self, structured: Sequence[Point]) -> list[Point]:
        """Points that were improved by what is expected of them, unless nothing is known of any."""
        until = self.clock() + _SHARE_OF_BREEDING * self.seconds
        pool = dict.fromkeys((*structured, *self._unseen(self._samples(until))))
        steps = _STEPS if len(set(map(self._expected, pool))) > 1 else 0
        for _ in range(steps):
            if self._is_over() or self.clock() >= until:
                break
            parents = self._varied(pool, _PARENTS)
            made = self._unseen(self._offspring(parents) for _ in range(_STEP if parents else 0))
            pool |= dict.fromkeys(made)
        return list(pool)

    def _samples(self, until: float) -> Iterator[Point | None]:
        """Random points, until it is late, or several attempts after one another find none that is legal."""
        fruitless = 0
        for _ in range(_POOL):
            if fruitless == _FRUITLESS or self.clock() >= until:
                break
            point = self.space.sample(self._random)
            fruitless = fruitless + 1 if point is None else 0
            yield point

    def _varied(self, points: Iterable[Point], most: int) -> list[Point]:
        """The most promising points, at most so many: one of each shape, and few of each kind."""
        found = _Variety[Point](self.space)
        for point in sorted(points, key=self._predicted):
            if len(found.points) < most and found.has_room(point):
                found.add(point)
        return found.points

    def _measure_varied(self, points: Sequence[Point], most: int) -> list[Point]:
        """Measure the most promising points; after each, what was measured decides which are promising."""
        found = _Variety[Point](self.space)
        left = points
        while len(found.points) < most and not self._is_over():
            left = [it for it in left if it not in self._seen and found.has_room(it)]
            if not left:
                break
            promising = self._varied(left, self.together)
            self._prepare_first(promising)
            point = promising[0]
            found.add(point)
            self._measure_all(self._new([point]))
        return found.points

    def _predicted(self, point: Point) -> float:
        """The expected time, corrected by those of points of the kind; of an unknown kind, by those of all."""
        factors = self._factors.get(self.space.kind(point)) or self._all_factors
        return self._expected(point) * (exp(fmean(factors)) if factors else 1.0)

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
            made = self._unseen(self._offspring(population) for _ in range(_CHILDREN))
            fresh = sorted(made, key=self._predicted)
            explored = self._random.sample(fresh[_BEAM:], min(_EXPLORED, len(fresh[_BEAM:])))
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
