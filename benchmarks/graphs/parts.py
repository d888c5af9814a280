"""The parts of the benchmark, in the order in which they are measured."""

from __future__ import annotations

from typing import Final

from . import dispatches, memory, programs
from .measuring import Part

PARTS: Final[tuple[Part, ...]] = (dispatches.ON_CPU, dispatches.ON_GPU, *programs.PARTS, memory.TRANSIENTS)
