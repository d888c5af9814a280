"""The way from a program to what a device runs, stage by stage, each made once and timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from .ir.core.builder_impl import build
from .ir.core.nodes import Constant, Module
from .ir.hercules.entry import EntryPoint
from .ir.wgsl.program import Program

if TYPE_CHECKING:
    from .backend.cpu.device import CompiledKernel

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds that one dispatch took: `compile` is 0 when nothing was left to compile."""

    compile: float
    run: float


@dataclass(eq=False)
class Compilation:
    """An entry point with values for its overrides. `seconds` holds the time of each stage made so far."""

    program: Program
    entry: str
    constants: Mapping[str, float]
    seconds: dict[str, float] = field(default_factory=dict[str, float])

    @cached_property
    def core(self) -> Module:
        """Core IR of the whole module, as it was built."""
        return self._timed("core", lambda: build(self.program))

    @cached_property
    def specialised(self) -> Module:
        """Core IR of this entry point alone, with its overrides' values in place: what every device starts from."""
        from .transforms.pipelines import specialise

        return self._timed("specialise", lambda: specialise(build(self.program), self.entry, self.constants))

    @cached_property
    def workgroup_size(self) -> tuple[int, int, int]:
        """Invocations a workgroup along x, y and z."""
        function = next(function for function in self.specialised.functions if function.name == self.entry)
        sizes = [size.value.value for size in function.workgroup_size if isinstance(size, Constant)]
        x, y, z = (*(size for size in sizes if isinstance(size, int)), 1, 1, 1)[:3]
        return x, y, z

    @cached_property
    def hercules_unoptimised(self) -> EntryPoint:
        """Hercules IR as the translation gives it."""
        from .transforms.to_hercules import translate

        specialised = self.specialised
        return self._timed("translate", lambda: translate(specialised, self.entry))

    @cached_property
    def hercules(self) -> EntryPoint:
        """Hercules IR after its passes."""
        from .transforms.pipelines import optimise_hercules

        entry = self.hercules_unoptimised
        return self._timed("optimise", lambda: optimise_hercules(entry))

    @cached_property
    def cpu(self) -> CompiledKernel:
        """Machine code."""
        from .backend.cpu.device import compile_entry

        entry = self.hercules
        return self._timed("machine code", lambda: compile_entry(entry))

    @cached_property
    def wgsl(self) -> str:
        """WGSL text for a GPU: overrides in place, indices clamped, workgroup memory zeroed."""
        from .backend.wgsl.printer import print_unit
        from .ir.core.to_program import to_unit
        from .transforms.pipelines import for_gpu

        def write() -> str:
            module = for_gpu(build(self.program), self.entry, self.constants)
            return print_unit(to_unit(module))

        return self._timed("wgsl", write)

    def _timed(self, stage: str, make: Callable[[], T]) -> T:
        start = time.perf_counter()
        result = make()
        self.seconds[stage] = time.perf_counter() - start
        return result
