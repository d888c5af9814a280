"""The way from a shader to what a device runs, stage by stage, each made once and timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar

from .frontend import check_pipeline
from .ir.core.builder_impl import build
from .ir.core.nodes import Constant, Module
from .ir.diagnostics import InputError, ShaderError, render_all
from .ir.hercules.entry import EntryPoint
from .ir.interpreter_state import paused_collection
from .ir.source import Source
from .ir.wgsl.program import Program

if TYPE_CHECKING:
    from .backend.cpu.device import CompiledKernel

T = TypeVar("T")
_FAULTS_OF_CONSTANTS = frozenset({"unknown-override", "missing-override", "invalid-override-value"})


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds that one dispatch took: `compile` is 0 when nothing was left to compile."""

    compile: float
    run: float


class Origin(Protocol):
    """Where a compilation starts."""

    @property
    def source(self) -> Source:
        """The text that diagnostics point into."""
        ...

    def core(self) -> Module:
        """A fresh module, which the caller may change."""
        ...

    def check_pipeline(self, entry: str, constants: Mapping[str, float]) -> None:
        """Raise ShaderError for an entry point that is over a limit, InputError for constants that do not fit."""
        ...


@dataclass(frozen=True, slots=True)
class ProgramOrigin:
    """A checked WGSL program."""

    program: Program

    @property
    def source(self) -> Source:
        """The WGSL text."""
        return self.program.source

    def core(self) -> Module:
        """See `Origin`."""
        return build(self.program)

    def check_pipeline(self, entry: str, constants: Mapping[str, float]) -> None:
        """See `Origin`."""
        found = [diagnostic for diagnostic in check_pipeline(self.program, entry, constants) if diagnostic.is_error]
        given = [diagnostic for diagnostic in found if diagnostic.code in _FAULTS_OF_CONSTANTS]
        if given:
            raise InputError("\n\n".join(_without_head(render_all([diagnostic], self.source)) for diagnostic in given))
        if found:
            raise ShaderError(found, self.source)


def _without_head(rendered: str) -> str:
    return rendered.partition(": ")[2]


@dataclass(eq=False)
class Compilation:
    """An entry point with values for its overrides, by name or `@id`. `seconds` holds the time of each stage made.

    Every stage raises ShaderError, with its place in the source, for what is not supported.
    """

    origin: Origin
    entry: str
    constants: Mapping[str, float]
    seconds: dict[str, float] = field(default_factory=dict[str, float])

    @cached_property
    def core(self) -> Module:
        """Core IR of the whole module, as it was built."""
        return self._timed("core", self.origin.core)

    @cached_property
    def specialised(self) -> Module:
        """Core IR with the overrides' values in place: what every device starts from."""
        from .transforms.pipelines import specialise

        module = self._timed("core", self.origin.core)

        def make() -> Module:
            self.origin.check_pipeline(self.entry, self.constants)
            return specialise(module, self.entry, self.constants)

        return self._timed("specialise", make)

    def check_runnable(self) -> None:
        """Raise ShaderError for what no device runs yet."""
        from .ir.core.runnable import check_runnable

        function = next(function for function in self.specialised.functions if function.name == self.entry)
        check_runnable(function, self.origin.source)

    @cached_property
    def workgroup_size(self) -> tuple[int, int, int]:
        """Invocations a workgroup along x, y and z."""
        function = next(function for function in self.specialised.functions if function.name == self.entry)
        sizes = [size.value.value for size in function.workgroup_size if isinstance(size, Constant)]
        x, y, z = (*(size for size in sizes if isinstance(size, int)), 1, 1, 1)[:3]
        return x, y, z

    @cached_property
    def hercules_unoptimised(self) -> EntryPoint:
        """Hercules IR as the translation gives it; `hercules` then changes it in place."""
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
        kernel = self._timed("machine code", lambda: compile_entry(entry))
        times = kernel.times
        del self.seconds["machine code"]
        self.seconds |= {
            "emit LLVM IR": times.emit + times.parse,
            "LLVM passes": times.optimise,
            "machine code": times.generate,
        }
        return kernel

    @cached_property
    def wgsl(self) -> str:
        """WGSL text for a GPU: overrides in place, indices clamped, workgroup memory zeroed."""
        from .backend.wgsl.printer import print_unit
        from .ir.core.to_program import to_unit
        from .transforms.pipelines import for_gpu

        module = self._timed("core", self.origin.core)
        self.origin.check_pipeline(self.entry, self.constants)
        prepared = self._timed("prepare for the GPU", lambda: for_gpu(module, self.entry, self.constants))
        return self._timed("write WGSL", lambda: print_unit(to_unit(prepared)))

    def _timed(self, stage: str, make: Callable[[], T]) -> T:
        start = time.perf_counter()
        try:
            with paused_collection():
                result = make()
        except ShaderError as error:
            if error.source is not None:
                raise
            raise ShaderError(error.diagnostics, self.origin.source) from None
        self.seconds[stage] = time.perf_counter() - start
        return result
