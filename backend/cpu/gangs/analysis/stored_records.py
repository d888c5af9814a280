"""The places to which a body stores, where components of one vector or record are one place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .....ir.hercules import nodes as h
from .....ir.hercules.graph import positions_of
from ...storage import StoragePlan

Record = tuple[int | None, *tuple[h.Node, ...]]
"""A parameter, and the positions that all scalars of a record have: its components are at constants."""


def stored_records(nodes: Iterable[h.Node], plan: StoragePlan) -> Mapping[Record, h.Write]:
    """The records of bindings that are never read to which nodes store, each with a Write to it."""
    stores = [it for it in nodes if isinstance(it, h.Write) and plan.of(it).is_only_written]
    return {(plan.of(it).parameter, *_position_of_record(it)): it for it in stores}


def _position_of_record(write: h.Write) -> list[h.Node]:
    return [it for it in positions_of(write.indices) if not isinstance(it, h.ConstantNode)]
