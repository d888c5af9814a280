"""Searches with many seeds, of which each point is measured once: later seeds are told what an earlier one measured.

So all seeds see the same times, whatever else the machine does, and differ only in which points they try. The clock of
a search counts what measuring a point took where it was measured first, and in between what the search itself takes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf

from tinct.ir.schedule.nodes import Decisions
from tinct.tuning.nest_tuning import NestProblem, Processes
from tinct.tuning.rejected import Rejected
from tinct.tuning.search import Search

WITHIN = 1.05
"""A point is as good as the best if it takes at most this many times as long."""
_FINALISTS = 12
_ROUNDS = 41


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of a point: its seconds, or why it has none, and the seconds that finding out took."""

    seconds: float
    spent: float
    rejected: Rejected | None = None


@dataclass(slots=True)
class Seed:
    """One search. `tried` are the points in order, with the seconds of the search's clock after each."""

    chosen: Decisions | None
    pruned: int
    tried: list[tuple[Decisions, float]]

    def found_after(self, times: dict[Decisions, float], limit: float) -> float:
        """The seconds until a point was measured that takes at most `limit`; infinite if none was."""
        return next((clock for point, clock in self.tried if times.get(point, inf) <= limit), inf)


@dataclass(slots=True)
class Replay:
    """All that was measured of a problem so far."""

    problem: NestProblem
    processes: Processes
    known: dict[Decisions, Measured] = field(default_factory=dict[Decisions, Measured])
    compared: dict[tuple[Decisions, ...], list[float]] = field(
        default_factory=dict[tuple[Decisions, ...], "list[float]"]
    )
    _prepared: dict[Decisions, float] = field(default_factory=dict[Decisions, float])
    """The seconds that preparing points took."""

    def search(self, seed: int, seconds: float) -> Seed:
        """A search of so many seconds."""
        ahead = 0.0
        tried: list[tuple[Decisions, float]] = []
        begun = time.perf_counter()

        def clock() -> float:
            return time.perf_counter() - begun + ahead

        def prepare(points: Sequence[Decisions]) -> dict[Decisions, float]:
            nonlocal ahead
            before = time.perf_counter()
            compiling = self.prepare([it for it in points if it not in self.known])
            ahead -= time.perf_counter() - before  # what it took is counted when a point is measured
            return compiling

        def measure(point: Decisions, best: float) -> float:
            nonlocal ahead
            before = time.perf_counter()
            found = self.measured(point, best)
            ahead += found.spent - (time.perf_counter() - before)
            tried.append((point, clock()))
            if found.rejected is not None:
                raise found.rejected
            return found.seconds

        def compare(points: Sequence[Decisions]) -> Sequence[float]:
            return self.by_turns(tuple(points))

        space = self.problem.space([])
        result = Search(
            space,
            measure,
            compare,
            seconds=seconds,
            seed=seed,
            clock=clock,
            prepare=prepare,
            together=self.processes.together,
        ).run()
        return Seed(result.best, result.counts["pruned"], tried)

    def prepare(self, points: Sequence[Decisions]) -> dict[Decisions, float]:
        """Prepare points; each takes its share of the time. Returns for how many seconds each was compiled."""
        before = time.perf_counter()
        compiling = self.problem.prepare(self.processes, points) if points else {}
        self._prepared |= dict.fromkeys(points, (time.perf_counter() - before) / max(len(points), 1))
        return compiling

    def measured(self, point: Decisions, best: float) -> Measured:
        """What comes of a point; it is measured if it was not before."""
        if point not in self.known:
            before = time.perf_counter() - self._prepared.get(point, 0.0)
            try:
                seconds, rejected = self.problem.measure(point, best), None
            except Rejected as error:
                seconds, rejected = inf, error
            self.known[point] = Measured(seconds, time.perf_counter() - before, rejected)
        return self.known[point]

    def by_turns(self, points: tuple[Decisions, ...]) -> list[float]:
        """The seconds of points that are measured by turns, once."""
        if points not in self.compared:
            self.compared[points] = list(self.problem.compare(points))
        return self.compared[points]

    def judged(self, others: Iterable[Decisions]) -> tuple[Decisions, dict[Decisions, float]]:
        """The best of all points, and the seconds of the fastest and of `others`, measured by turns.

        One series of rounds chooses the best, and another one gives the seconds, so that the best is not the luckiest.
        """
        found = {it: each.seconds for it, each in self.known.items() if each.rejected is None}
        fastest = sorted(found, key=found.__getitem__)[:_FINALISTS]
        points = list(dict.fromkeys((*fastest, *(it for it in others if it in found))))
        jobs = [self.problem.job(it) for it in points]
        chosen = dict(zip(points, self.problem.bench.by_turns(jobs, _ROUNDS), strict=True))
        seconds = dict(zip(points, self.problem.bench.by_turns(jobs, _ROUNDS), strict=True))
        return min(chosen, key=chosen.__getitem__), seconds
