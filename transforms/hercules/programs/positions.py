"""Sets of positions in arrays, and whether threads of a fork can meet at one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ....ir.hercules.nodes import Node


@dataclass(frozen=True, slots=True)
class Spread:
    """A set of positions: a coefficient for the thread of one fork, terms that all threads of it share, and the least
    and the greatest of everything else.
    """

    coefficient: int
    shared: Mapping[Node, int]
    low: int
    high: int
    bits: int

    def join(self, other: Spread) -> Spread | None:
        """Both sets; None if they are not of one form."""
        if self.coefficient != other.coefficient or self.shared != other.shared:
            return None
        bits = min(self.bits, other.bits)
        return Spread(self.coefficient, self.shared, min(self.low, other.low), max(self.high, other.high), bits)

    def keeps_apart(self, threads: int) -> bool:
        """Whether different threads have different positions."""
        step, width = abs(self.coefficient), self.high - self.low
        return step > width and step * (threads - 1) + width < 1 << self.bits
