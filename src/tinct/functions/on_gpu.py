"""Functions on a GPU, as programs of kernels (`ir.hercules.program`)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..base.deadline import compiling_within
from ..dispatch import Timing
from ..ir.hercules import nodes as h
from ..pipeline import WORKGROUP_SIZE
from .copies import copied_function
from .results import DeviceResult

if TYPE_CHECKING:
    from ..gpu_programs import ProgramOnGpu
    from ..transforms.hercules.programs import WorkgroupTrees

_MOST_KEPT: Final = 16
"""Most sets of dynamic constants for which programs are kept."""


class OnGpu:
    """A function that verifies, made a program for each set of dynamic constants."""

    def __init__(self, function: h.Function) -> None:
        self._given = function
        self._programs: dict[tuple[tuple[int, ...], WorkgroupTrees], ProgramOnGpu] = {}

    def run(
        self,
        constants: Sequence[int],
        buffers: Sequence[bytearray],
        *,
        adapter: str,
        timeout: float | None,
        workgroup_size: int | None,
        reassociate: bool,
    ) -> DeviceResult:
        """The result for these bytes of the parameters. `adapter` is "" for any. `reassociate`: floats may be added and
        multiplied in another order.

        Raises ShaderError for what has no place in WGSL, InputError for sizes that a GPU cannot number and workgroup
        sizes that the adapter does not allow, DeviceError.
        """
        from ..backend.gpu import shared_device
        from ..gpu_programs import trees_for

        start = time.perf_counter()
        with compiling_within(timeout):
            trees = replace(trees_for(shared_device(adapter).adapter()), reassociate=reassociate)
            program = self.program(constants, trees)
        seconds = time.perf_counter() - start
        size = WORKGROUP_SIZE if workgroup_size is None else workgroup_size
        outcome = program.run(buffers, adapter=adapter, timeout=timeout, workgroup_size=size)
        results = [memoryview(it) for it in outcome.results]
        timing = Timing(seconds + outcome.compile_seconds, outcome.run_seconds)
        return DeviceResult(results, program.program.is_product, timing)

    def program(self, constants: Sequence[int], trees: WorkgroupTrees) -> ProgramOnGpu:
        """The program for these values of the dynamic constants, and for the adapters of `trees`."""
        from ..gpu_programs import ProgramOnGpu
        from ..pipeline import program_of

        key = tuple(constants), trees
        if key not in self._programs:
            if len(self._programs) == _MOST_KEPT:
                del self._programs[next(iter(self._programs))]
            self._programs[key] = ProgramOnGpu(program_of(copied_function(self._given), constants, trees))
        return self._programs[key]
