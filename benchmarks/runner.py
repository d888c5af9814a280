"""Interleaved rounds: in each, every peer runs once, so that what disturbs the machine disturbs all of them.

The order is another one in each round. What ran before decides what the caches hold: with the same neighbour each time,
equal code differed by 20 %.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from .machine import spread
from .peers import Peer, Prepared, Unsupported
from .problem import Problem, WrongAnswer

_SETTLE_SECONDS = 0.003
"""Pause between peers, in which spinning threads of the previous peer go to sleep."""
_FEWEST_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure: at most `rounds` rounds, and no new round of a kernel after `seconds`."""

    rounds: int
    seconds: float


@dataclass(slots=True)
class Measurement:
    """One peer on one kernel: seconds of each round, or the reason why there are none."""

    peer: str
    samples: list[float] = field(default_factory=list)
    compile_seconds: float | None = None
    skipped: str | None = None

    @property
    def median(self) -> float:
        """The median of the samples; there must be at least one."""
        return statistics.median(self.samples)

    @property
    def spread(self) -> float:
        """Half the distance between the quartiles, relative to the median."""
        return spread(self.samples)


def measure(problem: Problem, peers: Sequence[Peer], effort: Effort) -> list[Measurement]:
    """Every peer on one problem. A peer whose output is wrong, or that lacks the kernel, is skipped with the reason."""
    measurements: list[Measurement] = []
    running: list[tuple[Measurement, Prepared]] = []
    for peer in peers:
        measurement = Measurement(peer.name)
        measurements.append(measurement)
        prepared = _prepare(problem, peer, measurement)
        if prepared is not None:
            running.append((measurement, prepared))
    _run_rounds(problem, running, effort)
    return measurements


def _prepare(problem: Problem, peer: Peer, measurement: Measurement) -> Prepared | None:
    """The peer's kernel, after its output was found right; this run also warms caches up."""
    try:
        prepared = peer.prepare(problem)
        problem.restore()
        prepared.run()
        problem.check()
    except Unsupported as reason:
        measurement.skipped = str(reason)
        return None
    except WrongAnswer as reason:
        measurement.skipped = f"wrong answer: {reason}"
        return None
    except Exception as error:  # whatever fails in one peer, the others are still measured
        measurement.skipped = f"failed: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        return None
    measurement.compile_seconds = prepared.compile_seconds
    return prepared


def _run_rounds(problem: Problem, running: list[tuple[Measurement, Prepared]], effort: Effort) -> None:
    end = time.perf_counter() + effort.seconds
    for number in range(effort.rounds):
        if number >= min(_FEWEST_ROUNDS, effort.rounds) and time.perf_counter() > end:
            return
        for measurement, prepared in random.Random(number).sample(running, len(running)):
            problem.restore()
            time.sleep(_SETTLE_SECONDS)
            measurement.samples.append(prepared.run())
