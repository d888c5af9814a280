"""Phis of divergent loops that keep their values in lanes that have left the loop.

What is used after a divergent loop is needed as it was in each lane's last iteration. A Phi at the head of the loop can
keep that itself, if each iteration changes it only in lanes that go on to the next one. No copy is made of it then,
which would take a register in the loop.
"""

from __future__ import annotations

from collections.abc import Iterable

from .....ir.hercules import nodes as h
from .shapes import Shapes


class RetainedPhis:
    """Which Phis keep their values."""

    def __init__(self, shapes: Shapes) -> None:
        self._shapes, self._body = shapes, shapes.body

    def retains(self, phi: h.Phi, uses: Iterable[h.Node]) -> bool:
        """Whether a Phi can keep its value for uses after its loop, in these blocks. It cannot where the loop begins
        anew while some lanes have left a divergent loop around it.
        """
        region = phi.region
        assert isinstance(region, h.Region)
        level = self._body.level_of[region]
        if level.header is not region or level not in self._shapes.divergent or len(level.back) != 1:
            return False
        around = [it for it in self._body.enclosing(region) if it is not level and it in self._shapes.divergent]
        return all(block in it.leaders for block in uses for it in around)
