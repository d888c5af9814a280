"""The places to which a body stores, where components of one vector or record are one place."""

from __future__ import annotations

from collections.abc import Iterable

from .....ir.hercules import nodes as h
from .....ir.hercules.graph import positions_of
from ...storage import StoragePlan


def stored_records(stores: Iterable[h.Write], plan: StoragePlan) -> set[tuple[int | None, *tuple[h.Node, ...]]]:
    """The parameters that are stored to, each with the positions that all scalars of a record have: its components are
    at constants.
    """
    return {(plan.of(it).parameter, *_position_of_record(it)) for it in stores}


def _position_of_record(write: h.Write) -> list[h.Node]:
    return [it for it in positions_of(write.indices) if not isinstance(it, h.ConstantNode)]
