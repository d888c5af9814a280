"""All that is known of a gang before any of its code is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .....ir.hercules import nodes as h
from .....ir.hercules.placement import Placement
from .....ir.hercules.types import is_collection
from .....ir.hercules.versions import is_version_projection
from ...storage import Storage, StoragePlan
from ..gang import Gang
from .body import Body, find_body
from .shapes import Shapes


@dataclass(frozen=True, slots=True)
class GangAnalysis:
    """A gang in its function. `users` are those of every node; `private` storages are lane-private: each lane has its
    own copy.
    """

    placed: Placement
    gang: Gang
    plan: StoragePlan
    users: Mapping[h.Node, Sequence[h.Node]]
    body: Body
    private: frozenset[Storage]
    shapes: Shapes


def analyse_gang(
    placed: Placement, gang: Gang, plan: StoragePlan, users: Mapping[h.Node, Sequence[h.Node]]
) -> GangAnalysis:
    """The analysis of one of a function's gangs."""
    body = find_body(placed, gang.forks)
    private = _private_storages(placed, body, plan)
    return GangAnalysis(placed, gang, plan, users, body, private, Shapes(placed, gang, body, plan, private))


def _private_storages(placed: Placement, body: Body, plan: StoragePlan) -> frozenset[Storage]:
    """The storages of collections that exist only inside the fork."""
    inside: set[Storage] = set()
    outside: set[Storage] = set()
    for node in placed.function.nodes:
        if node not in placed.live or isinstance(node, (h.ConstantNode, h.ProductNode)):
            continue
        if not isinstance(node, h.Atomic) and not is_collection(placed.types.get(node)):
            continue
        if is_version_projection(node):
            continue
        storage = plan.of(node)
        own = isinstance(node, h.Reduce) and isinstance(node.join, h.Join) and placed.nest.forks[node.join] is body.fork
        is_outside = own or isinstance(node, h.Collect) or placed.place.get(node) not in body.level_of
        (outside if is_outside else inside).add(storage)
    return frozenset(inside - outside)
