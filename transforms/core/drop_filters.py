"""Drop diagnostic filters on statements: a device does not need them, and naga rejects them there.

Those of the module and of functions stay. The module must have been checked: what a filter let pass may no longer be
accepted by WGSL's uniformity analysis.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.core import nodes
from ...ir.core.structure import blocks_of
from .simplify_control_flow import SimplifyControlFlow


@dataclass(frozen=True)
class DropFilters:
    """Drops filters together with the scopes that carried them, and then simplifies control flow."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "drop_filters"

    def run(self, module: nodes.Module) -> bool:
        """Whether there was a filter."""
        blocks = [block for function in module.functions for block in blocks_of(function) if block.diagnostics]
        for block in blocks:
            block.diagnostics = []
        if blocks:
            SimplifyControlFlow().run(module)
        return bool(blocks)
