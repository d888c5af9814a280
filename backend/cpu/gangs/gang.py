"""What a gang is: the forks it runs, and how many of their threads it runs at once."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from ....base.cached import cached_property
from ....ir.hercules import nodes as h
from .choice.widen import ThreadLimit

State: TypeAlias = tuple[tuple[h.Node, int], ...]
"""Counters of loops, and their values."""


@dataclass(frozen=True)
class Gang:
    """Perfectly nested forks, outermost first, and the size of the gangs that run their threads.

    The threads of all forks are numbered together; the innermost fork's index changes fastest. A gang has `parts`
    vectors of `lanes` lanes, and every part has at least one thread. Threads beyond the `limit` do not exist.
    """

    forks: tuple[h.Fork, ...]
    lanes: int
    parts: int = 1
    limit: ThreadLimit | None = None
    is_in_unrolled: bool = False
    """Whether LLVM unrolls loops around the forks."""
    states: tuple[State, ...] = ()
    """If there are any, all states of some counters of the loops around the forks. Each has its own code, and gangs are
    written one after another, so that their threads' numbers are constants.
    """
    repeats: tuple[tuple[range, ...], ...] = ()
    """For each state, the first threads of gangs; those in one range have the same code (see `choice.repeats`)."""
    is_straight: bool = False
    """Whether the loops around the forks are written iteration after iteration: counters are constants, too. The state
    is that of the first iteration, or the one behind all loops.
    """

    @property
    def threads(self) -> int:
        """The number of lanes in all parts."""
        return self.lanes * self.parts

    @property
    def count(self) -> int:
        """The number of threads of all forks together."""
        return prod(self.factors)

    @cached_property
    def factors(self) -> tuple[int, ...]:
        """The number of threads of each fork."""
        return tuple(fork.factor.value for fork in self.forks if isinstance(fork.factor, h.DynamicLiteral))

    @property
    def row(self) -> int:
        """The number of consecutive lanes that belong to consecutive threads of the innermost fork."""
        return self.lanes if len(self.forks) == 1 else self.factors[-1]

    @property
    def has_whole_rows(self) -> bool:
        """Whether there are several forks and all lanes of a part are in one row of the innermost."""
        return len(self.forks) > 1 and self.row % self.lanes == 0

    def steps(self, fork: h.Node) -> tuple[int, int, bool]:
        """The factor of a fork, the number of threads inside each of its threads, and whether it is the outermost."""
        at = next(number for number, it in enumerate(self.forks) if it is fork)
        return self.factors[at], prod(self.factors[at + 1 :]), at == 0
