"""Interchange for grids: a parallel fork right inside a sequential one becomes the outer one.

For grids: one dispatch runs the whole nest, in place of one for each thread of the sequential fork.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.hercules.nodes import Module
from .cleanup import remove_dead
from .fork_interchange import interchange
from .forks import ForkBody


@dataclass(frozen=True)
class GridInterchange:
    """Swaps an outermost fork whose threads depend on each other with the fork right inside it, if the threads of that
    one are independent. `fork_interchange` says which nests allow it.
    """

    name = "grid_interchange"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            changed |= remove_dead(function)
            changed |= interchange(function, _makes_grid)
        return changed


def _makes_grid(outer: ForkBody, inner: ForkBody) -> bool:
    return outer.is_outermost and inner.is_parallel and not outer.is_parallel
