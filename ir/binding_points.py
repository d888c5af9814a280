"""Binding points that a module leaves free, for what has none in WGSL."""

from __future__ import annotations

from collections.abc import Iterable

from .types import BindingPoint


def free_point(taken: Iterable[BindingPoint | None]) -> BindingPoint:
    """The first binding of group 0 that no variable has, given the binding points of all variables of a module.

    Immediate data is bound there, too, by reflection and by the pass `bind_immediates`.
    """
    points = set(taken)
    return next(it for it in (BindingPoint(0, number) for number in range(len(points) + 1)) if it not in points)
