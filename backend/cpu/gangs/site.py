"""Where code is being written: in which block, for which lanes, and for which part of the gang."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ....ir.hercules import nodes as h
from .analysis.shapes import Key


@dataclass(frozen=True, slots=True)
class Proved:
    """What is known in one version of a block: `in_range` are positions that all lanes have inside arrays of an extent,
    `linear` values likely to be affine that are, and `exact` sums and products of u32 that do not wrap round. If it is
    `streaming`, gangs pass the block once each, and access much for what they compute.
    """

    in_range: frozenset[tuple[h.Node, h.DynamicConstant]] = frozenset()
    linear: frozenset[h.Node] = frozenset()
    exact: frozenset[h.Node] = frozenset()
    streaming: bool = False


@dataclass(slots=True)
class Site:
    """A place in the body of a gang of `count` parts, each a vector of `lanes` lanes.

    `base` is the number of the gang's first lane. `act` says whether any lane passes the block that is written, where
    there is no jump around it.
    """

    here: h.Node
    key: Key
    lanes: int
    count: int
    base: str = "0"
    part: int = 0
    act: str = "true"
    proved: Proved = field(default_factory=Proved)
    is_rare: bool = False

    def parts(self) -> Iterator[int]:
        """Code is written for each part in turn."""
        for part in range(self.count):
            self.part = part
            yield part
        self.part = 0

    @property
    def first(self) -> int:
        """How many lanes of the gang come before the part."""
        return self.part * self.lanes
