"""The counters of a program: the instrument of kernels that are counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from ..ir.core.nodes import Module
from ..ir.wgsl.program import Program
from ..origins import ProgramOrigin
from ..reflection import BindingInfo, words_binding
from ..transforms.core.count_blocks import Counting, count_blocks, totals
from ..transforms.from_wgsl.build import build_with_printing
from .places import Places, places_of
from .recorders import recorders

_NAME: Final = "counters of tinct"
"""The name of the buffer among a kernel's bindings: no WGSL name has a space."""


class CountedOrigin(ProgramOrigin):
    """A checked WGSL program, with counters. (The cache on disk tells it from others by the name of its class.)"""

    def core(self) -> Module:
        """See `Origin`."""
        return self.counted()[0]

    def counted(self) -> tuple[Module, Counting]:
        """The module, and what its counters mean."""
        module = super().core()
        return module, count_blocks(module)


class CountedPrintingOrigin(CountedOrigin):
    """A checked WGSL program that prints, with counters."""

    def counted(self) -> tuple[Module, Counting]:
        """See `CountedOrigin`."""
        module, printing = build_with_printing(self.program)
        return module, count_blocks(module, uncounted=printing.writers)


@dataclass(eq=False)
class CountedProgram:
    """What all counted kernels of a program share. `origin` gives the module with counters."""

    origin: CountedOrigin
    counting: Counting = field(init=False)
    places: Places = field(init=False)
    binding: BindingInfo | None = field(init=False)

    def __post_init__(self) -> None:
        _, self.counting = self.origin.counted()
        self.places = places_of(self.origin.program)
        point = self.counting.point
        self.binding = None if point is None else words_binding(_NAME, point, self.counting.words)

    def words(self) -> npt.NDArray[np.uint32]:
        """Zeros."""
        return np.zeros(self.counting.words, np.uint32)

    def take(self, words: npt.NDArray[np.uint32], entry: str, invocations: int) -> None:
        """Tell the recorders the counts of a dispatch."""
        counts = self.counting.counts(entry, invocations, totals(words.tolist(), invocations))
        for it in recorders():
            it.record(self.places, counts)


def counted_program(program: Program, *, prints: bool) -> CountedProgram:
    """A program with counters, and with records of what it prints if it does."""
    return CountedProgram(CountedPrintingOrigin(program) if prints else CountedOrigin(program))
