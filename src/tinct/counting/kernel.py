"""A kernel with counters."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..compilation import Compilation
from ..ir.core.nodes import Module
from ..ir.wgsl.program import Program
from ..origins import ProgramOrigin
from ..pipeline import Job
from ..reflection import BindingInfo, EntryPointInfo, counters_binding
from ..transforms.core.count_blocks import Counting, count_blocks, totals
from .places import Places, places_of
from .recorders import recorders

_NAME = "counters of tinct"
"""The name of the buffer among a kernel's bindings: no WGSL name has a space."""


class Countable(Protocol):
    """A kernel that can be counted."""

    @property
    def info(self) -> EntryPointInfo:
        """Its entry point."""
        ...

    @property
    def bindings(self) -> Sequence[BindingInfo]:
        """The bound variables it uses."""
        ...

    def compilation(self, constants: Mapping[str, Any] | None = None) -> Compilation:
        """Its compilation with values for overrides."""
        ...


class CountedOrigin(ProgramOrigin):
    """A checked WGSL program, with counters. (The cache on disk tells it from others by the name of its class.)"""

    def core(self) -> Module:
        """See `Origin`."""
        module = super().core()
        count_blocks(module)
        return module


@dataclass(eq=False)
class CountedProgram:
    """What all counted kernels of a program share."""

    program: Program
    counting: Counting = field(init=False)
    places: Places = field(init=False)

    def __post_init__(self) -> None:
        self.counting = count_blocks(ProgramOrigin(self.program).core())
        self.places = places_of(self.program)


class CountedKernel:
    """A kernel with a further binding for its counters, which a device runs as any other."""

    def __init__(self, kernel: Countable, counted: CountedProgram) -> None:
        self.info = kernel.info
        self._kernel = kernel
        self._counted = counted
        self._own = _binding(counted.counting)
        self.bindings: tuple[BindingInfo, ...] = (*kernel.bindings, *self._own)
        self._compilations: dict[Compilation, Compilation] = {}

    def compilation(self, constants: Mapping[str, Any] | None = None) -> Compilation:
        """Its compilation with values for overrides. Raises InputError."""
        plain = self._kernel.compilation(constants)
        if plain not in self._compilations:
            job = plain.job
            self._compilations[plain] = Compilation(Job(CountedOrigin(self._counted.program), job.entry, job.constants))
        return self._compilations[plain]

    def values(self) -> dict[str, npt.NDArray[np.uint32]]:
        """The values of its own bindings before a dispatch."""
        return {it.name: np.zeros(self._counted.counting.words, np.uint32) for it in self._own}

    def take(
        self,
        outputs: MutableMapping[str, npt.NDArray[Any]],
        compilation: Compilation,
        workgroups: tuple[int, int, int],
    ) -> None:
        """Take the values of its own bindings out of the outputs of a dispatch, and tell the recorders."""
        words = [it for info in self._own for it in outputs.pop(info.name).tolist()]
        invocations = prod(workgroups) * prod(compilation.workgroup_size)
        counts = self._counted.counting.counts(self.info.name, invocations, totals(words, invocations))
        for it in recorders():
            it.record(self._counted.places, counts)


def _binding(counting: Counting) -> tuple[BindingInfo, ...]:
    return () if counting.point is None else (counters_binding(_NAME, counting.point, counting.words),)
