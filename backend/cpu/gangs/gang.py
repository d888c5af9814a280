"""What a gang is: which forks it runs, and how many of their threads at once."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ....ir.hercules import nodes as h
from .choice.widen import ThreadLimit


@dataclass(frozen=True, slots=True)
class Gang:
    """Forks, perfectly nested, outermost first, whose threads are numbered together, the innermost's fastest, and run
    as gangs of so many parts, each a vector of so many lanes. No part is without threads. If there is a `limit`, some
    threads are beyond it.
    """

    forks: tuple[h.Fork, ...]
    lanes: int
    parts: int = 1
    limit: ThreadLimit | None = None
    is_in_unrolled: bool = False
    """Whether loops around it are unrolled."""

    @property
    def threads(self) -> int:
        """The lanes of all parts."""
        return self.lanes * self.parts

    @property
    def count(self) -> int:
        """The threads of all forks."""
        return prod(self.factors)

    @property
    def factors(self) -> tuple[int, ...]:
        """The number of threads of each fork."""
        return tuple(fork.factor.value for fork in self.forks if isinstance(fork.factor, h.DynamicLiteral))

    @property
    def row(self) -> int:
        """How many lanes follow one another in the innermost fork."""
        return self.lanes if len(self.forks) == 1 else self.factors[-1]

    @property
    def has_whole_rows(self) -> bool:
        """Whether all lanes of a part are in one row of the innermost of several forks."""
        return len(self.forks) > 1 and self.row % self.lanes == 0

    def steps(self, fork: h.Node) -> tuple[int, int, bool]:
        """The factor of a fork, the number of threads for each of its own, and whether it is the outermost."""
        at = next(number for number, it in enumerate(self.forks) if it is fork)
        return self.factors[at], prod(self.factors[at + 1 :]), at == 0
