"""Dead code elimination."""

from __future__ import annotations

from ...base.records import dataclass
from ...ir.hercules.nodes import Module
from .cleanup import remove_dead, remove_unreachable


@dataclass(frozen=True)
class DeadCodeElimination:
    """Removes control that cannot be reached, and data that no reachable branch or return needs.

    Data that only needs itself, around a loop or through a Reduce, is dead too. Forks and loops stay even if nothing is
    computed in them.
    """

    name = "dce"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            changed |= remove_unreachable(function)
            changed |= remove_dead(function)
        return changed
