"""From Hercules IR to core IR, and with it to WGSL for a GPU."""

from __future__ import annotations

from .entry import entry_module
from .grid import MOST_WORKGROUPS, WORKGROUP_SIZE, grid_module, grid_size

__all__ = ["MOST_WORKGROUPS", "WORKGROUP_SIZE", "entry_module", "grid_module", "grid_size"]
