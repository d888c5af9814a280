"""Phis of divergent loops that keep their values in lanes that have left the loop.

What is used after a divergent loop is needed as it was in each lane's last iteration. A Phi at the head of the loop can
keep that itself, if each iteration changes it only in lanes that go on to the next one. No copy is made of it then,
which would take a register and a masked move in each iteration. The change needs no choice at the end of the iteration
if a Phi before that chooses values under the masks of some lanes, and the value at the head for all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .....ir.hercules import nodes as h
from .shapes import Shapes


class RetainedPhis:
    """Which Phis keep their values, and by which values they go on unchanged in all other lanes."""

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

    def goes_on(self, value: h.Node, phi: h.Phi, otherwise: Mapping[h.Phi, h.Node]) -> bool:
        """Whether the vector of what a Phi becomes has the Phi's value in lanes that do not take the back edge.
        `otherwise` has the value of a merged Phi in lanes that come by none of the edges to it.
        """
        assert isinstance(phi.region, h.Region)
        (back,) = self._body.level_of[phi.region].back
        while isinstance(value, h.Phi) and value is not phi:
            if self._shapes.keys.get(value.region) is not self._shapes.edge_keys[back] or value not in otherwise:
                return False
            value = otherwise[value]
        return value is phi
