"""What a part of the benchmark measures: seconds of several ways to do the same, and the ratios that are demanded."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Call = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure, usually a ratio of two times of one run, that must be at least, or at most, `wanted`."""

    what: str
    figure: float
    direction: Literal["at least", "at most"]
    wanted: float

    @property
    def holds(self) -> bool:
        return self.figure >= self.wanted if self.direction == "at least" else self.figure <= self.wanted

    def __str__(self) -> str:
        return f"{self.what}: {self.figure:.2f}, {self.direction} {self.wanted:g} is wanted"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The seconds of each way to do one thing, how often it was done in a call, and the bars that apply."""

    title: str
    seconds: Mapping[str, float]
    ours: str
    """The way whose time the others are relative to."""
    bars: tuple[Bar, ...] = ()
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "seconds": dict(self.seconds),
            "ratios": {name: it / self.seconds[self.ours] for name, it in self.seconds.items()},
            "bars": [{"what": it.what, "figure": it.figure, it.direction: it.wanted} for it in self.bars],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Effort:
    """How much to measure: interleaved rounds, and sizes that are `"full"`, or `"tiny"` for tests."""

    rounds: int
    size: Literal["tiny", "full"] = "full"

    def pick(self, full: int, tiny: int) -> int:
        """The size of a problem."""
        return full if self.size == "full" else tiny


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the benchmark. `measure` yields comparisons; `needs` says why it cannot run here, or None."""

    name: str
    about: str
    measure: Callable[[Effort], Iterable[Comparison]]
    needs: Callable[[], str | None] = field(default=lambda: None)


def medians(calls: Mapping[str, Call], rounds: int, each: int = 1) -> dict[str, float]:
    """The median seconds of one of the `each` executions in a call, by name, over interleaved rounds."""
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name in random.sample(list(calls), len(calls)):
            start = time.perf_counter()
            calls[name]()
            samples[name].append((time.perf_counter() - start) / each)
    return {name: statistics.median(found) for name, found in samples.items()}
