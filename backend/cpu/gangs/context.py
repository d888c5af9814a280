"""What everything that writes the code of one gang works with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ....ir.hercules import nodes as h
from ....ir.hercules.placement import Placement
from ..llvm import FunctionText, Ops
from ..nodes import NodeEmitter
from ..storage import Storage, StoragePlan
from .analysis.analyse import GangAnalysis
from .analysis.body import Body
from .analysis.live import Knowledge
from .analysis.shapes import Shapes
from .gang import Gang
from .site import Site
from .values.slots import Slots


@dataclass(frozen=True, slots=True)
class GangContext:
    """The analysis of a gang, the place where its code is being written, and what writes instructions there: `one` for
    scalars, `vec` for vectors of a part's lanes. `nodes` writes what is outside of gangs.
    """

    analysis: GangAnalysis
    nodes: NodeEmitter
    site: Site
    one: Ops
    vec: Ops
    slots: Slots

    @staticmethod
    def of(
        analysis: GangAnalysis, nodes: NodeEmitter, known: Knowledge | None = None, *, has_short_rows: bool = False
    ) -> GangContext:
        """The context of a gang of which nothing is written yet."""
        gang, out = analysis.gang, nodes.memory.ops.out
        site = Site(
            gang.lanes, gang.parts, analysis.shapes.keys, gang.forks[0], known=known, has_short_rows=has_short_rows
        )
        return GangContext(analysis, nodes, site, Ops(out), Ops(out, gang.lanes), Slots(out))

    @property
    def out(self) -> FunctionText:
        """The text of the function."""
        return self.one.out

    @property
    def placed(self) -> Placement:
        """The function."""
        return self.analysis.placed

    @property
    def types(self) -> Mapping[h.Node, h.Type]:
        """The types of the function's nodes."""
        return self.analysis.placed.types

    @property
    def users(self) -> Mapping[h.Node, Sequence[h.Node]]:
        """The users of the function's nodes."""
        return self.analysis.users

    @property
    def gang(self) -> Gang:
        """The gang."""
        return self.analysis.gang

    @property
    def plan(self) -> StoragePlan:
        """The storages of the function's collections."""
        return self.analysis.plan

    @property
    def private(self) -> frozenset[Storage]:
        """The storages of which each lane has its own copy."""
        return self.analysis.private

    @property
    def body(self) -> Body:
        """The structure of the forks' body."""
        return self.analysis.body

    @property
    def shapes(self) -> Shapes:
        """How values differ between lanes."""
        return self.analysis.shapes

    @property
    def threads_of_workgroup(self) -> int:
        """The number of invocations of a workgroup, as far as they are around the gang or in it."""
        around = [it.factor for it in self.placed.nest.around[self.gang.forks[-1]]]
        return prod(it.value for it in around if isinstance(it, h.DynamicLiteral))

    def is_workgroup(self, node: h.Node) -> bool:
        """Whether a node is the number of a workgroup along the dimension in which they run one after another."""
        if not isinstance(node, h.ThreadID):
            return False
        around = self.placed.nest.around[self.gang.forks[0]]
        dimensions = [it for it in around if not isinstance(it.factor, h.DynamicLiteral)]
        return bool(dimensions) and node.fork is dimensions[-1]
