"""The parts of the benchmark, in the order in which they are measured.

`streams` is the first, since the peak of the process's memory would hide its own after parts with large arrays.
"""

from __future__ import annotations

from typing import Final

from . import copies, dispatches, fusion, memory, programs, streams
from .measuring import Part

PARTS: Final[tuple[Part, ...]] = (
    streams.STREAMS,
    dispatches.ON_CPU,
    dispatches.ON_GPU,
    *programs.PARTS,
    memory.TRANSIENTS,
    copies.COPIES,
    fusion.FUSION,
)
