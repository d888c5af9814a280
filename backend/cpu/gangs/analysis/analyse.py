"""All that is known of a gang before any of its code is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .....ir.hercules import nodes as h
from .....ir.hercules.placement import Placement
from .....ir.hercules.sharing import makes_version
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
    private = frozenset(_private_storages(placed, body, plan))
    return GangAnalysis(placed, gang, plan, users, body, private, Shapes(placed, gang, body, plan, private))


def _private_storages(placed: Placement, body: Body, plan: StoragePlan) -> Iterator[Storage]:
    """The storages of collections that exist only inside the fork."""
    inside = (node for leader in body.level_of for node in placed.members.data.get(leader, ()))
    for storage in {plan.of(it) for it in inside if makes_version(it, placed.types)}:
        if all(_is_inside(it, placed, body) for it in plan.versions[storage]):
            yield storage


def _is_inside(version: h.Node, placed: Placement, body: Body) -> bool:
    is_result = isinstance(version, h.Collect) or version in placed.members.reduces.get(body.fork, ())
    return not is_result and placed.place.get(version) in body.level_of
