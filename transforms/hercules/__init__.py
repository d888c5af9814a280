"""Passes on Hercules IR, one a file, named after the pass; their stage and pipelines are in `pipelines`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.lazy_names import lazy_names

if TYPE_CHECKING:
    from .cpu_pipeline import CPU, TO_CORE
    from .pipelines import COUNTS_OF_GRIDS, GRID, HERCULES, grid_passes

__all__ = ["COUNTS_OF_GRIDS", "CPU", "GRID", "HERCULES", "TO_CORE", "grid_passes"]

__getattr__ = lazy_names(
    __name__,
    {
        **dict.fromkeys(("CPU", "TO_CORE"), "cpu_pipeline"),
        **dict.fromkeys(("COUNTS_OF_GRIDS", "GRID", "HERCULES", "grid_passes"), "pipelines"),
    },
)
