"""From Hercules IR to core IR, and with it to WGSL for a GPU."""

from __future__ import annotations

from .entry import entry_module
from .grid import grid_module, grid_size, threads_of_workgroup, workgroups_of

__all__ = ["entry_module", "grid_module", "grid_size", "threads_of_workgroup", "workgroups_of"]
