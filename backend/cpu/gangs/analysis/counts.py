"""Atomic operations that take gangs little time: counts, of which all lanes make one."""

from __future__ import annotations

from collections.abc import Iterable

from .....ir.hercules import nodes as h
from .....ir.hercules.placement import Placement
from ...privatise import kind_of


def is_count(placed: Placement, node: h.Node) -> bool:
    """Whether a node is an atomic operation at one address for all threads, of which nobody uses the old values.
    All lanes make one operation of it, and gangs may make it in any order.
    """
    return isinstance(node, h.Atomic) and is_at_one_address(node) and kind_of(node, placed) is not None


def is_at_one_address(node: h.Atomic) -> bool:
    """Whether all threads change the same element."""
    return all(
        isinstance(it, h.FieldIndex) or (isinstance(it, h.PositionIndex) and isinstance(it.position, h.ConstantNode))
        for it in node.indices
    )


def has_atomics(placed: Placement, nodes: Iterable[h.Node]) -> bool:
    """Whether there are atomic operations that are not counts."""
    return any(isinstance(it, h.Atomic) and not is_count(placed, it) for it in nodes)
