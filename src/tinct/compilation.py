"""The way from a shader to what a device runs, stage by stage, each made once and timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from .frontend import check_pipeline
from .ir.core.builder_impl import build
from .ir.core.nodes import Constant, Module
from .ir.diagnostics import InputError, ShaderError, not_supported, render_all, with_article
from .ir.hercules.entry import EntryPoint
from .ir.interpreter_state import paused_collection
from .ir.source import Source
from .ir.textures import is_loadable
from .ir.types import BindingPoint, Pointer, Sampler, Texture
from .ir.wgsl.program import Program

if TYPE_CHECKING:
    from .backend.cpu.device import CompiledKernel
    from .backend.cpu.emit import Tier
    from .backend.cpu.trial import Trial

T = TypeVar("T")
LOADING = "load from the cache"
ORDER_OF_STAGES = (
    "parse",
    "resolve",
    "core",
    "specialise",
    "prepare for the GPU",
    "guard loops",
    "write WGSL",
    "translate",
    "optimise",
    "start LLVM",
    LOADING,
    "emit LLVM IR",
    "LLVM passes",
    "machine code",
)
"""What `seconds` has times of, in the order of a compilation."""
_FAULTS_OF_CONSTANTS = frozenset({"unknown-override", "missing-override", "invalid-override-value"})


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds that one dispatch took: `compile` is 0 when nothing was left to compile. If it `is_cached`, machine code
    was only loaded from the cache on disk. Starting LLVM, once in a process, is not in it.
    """

    compile: float
    run: float
    is_cached: bool = False


@dataclass(frozen=True, slots=True)
class WgpuKernel:
    """WGSL for wgpu. `watch` is where the buffer is bound that tells of loops ended early, None if it has none.

    `nesting` is the most conditions that control is under at any place.
    """

    wgsl: str
    watch: BindingPoint | None
    nesting: int


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

    def workgroup_size(self, entry: str) -> Sequence[int] | None:
        """The sizes that are written, None if overrides decide one of them."""
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

    def workgroup_size(self, entry: str) -> Sequence[int] | None:
        """See `Origin`."""
        function = next(it for it in self.program.entry_points if it.name == entry)
        constants = [self.program.facts.expressions[it].constant for it in function.workgroup_size]
        sizes = [it.value for it in constants if it is not None and isinstance(it.value, int)]
        return sizes if len(sizes) == len(constants) else None


def _without_head(rendered: str) -> str:
    return rendered.partition(": ")[2]


@dataclass(eq=False)
class Compilation:
    """An entry point with values for its overrides, by name or `@id`. `seconds` holds the time of each stage made;
    `from_cache`, for each machine code that was made, whether it came from the cache on disk.

    Every stage raises ShaderError, with its place in the source, for what is not supported.
    """

    origin: Origin
    entry: str
    constants: Mapping[str, float]
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    from_cache: list[bool] = field(default_factory=list[bool])
    loop_effort: int = 0
    """The effort that was enough in the last dispatch on a driver that ends loops early (see `for_wgpu`)."""
    _wgpu_kernels: dict[tuple[int | None, int], WgpuKernel] = field(
        default_factory=dict["tuple[int | None, int]", "WgpuKernel"], repr=False
    )

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
            self._check(module)
            return specialise(module, self.entry, self.constants)

        return self._timed("specialise", make)

    def check_runnable(self) -> None:
        """Raise ShaderError for what no device runs yet."""
        assert self._is_runnable

    @cached_property
    def _is_runnable(self) -> bool:
        from .ir.core.runnable import check_runnable

        function = next(function for function in self.specialised.functions if function.name == self.entry)
        check_runnable(function, self.origin.source)
        return True

    @cached_property
    def workgroup_size(self) -> tuple[int, int, int]:
        """Invocations a workgroup along x, y and z."""
        sizes = self.origin.workgroup_size(self.entry)
        if sizes is None:
            function = next(function for function in self.specialised.functions if function.name == self.entry)
            values = [size.value.value for size in function.workgroup_size if isinstance(size, Constant)]
            sizes = [size for size in values if isinstance(size, int)]
        x, y, z = (*sizes, 1, 1, 1)[:3]
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
        vars(self).pop("hercules_unoptimised", None)  # changed in place: what is stopped half-way is not used again
        return self._timed("optimise", lambda: optimise_hercules(entry))

    @cached_property
    def cpu(self) -> CompiledKernel:
        """The fastest code, or of the tier that TINCT_CPU_TIER asks for; from the cache on disk, if it has it."""
        return self._machine_code(self._best_tier)

    @cached_property
    def cpu_contracted(self) -> CompiledKernel:
        """The same, with products and sums fused where there are both."""
        return self._machine_code(self._best_tier, contract=True)

    @property
    def cpu_trial(self) -> Trial | None:
        """Machine code for the first runs, there sooner than `cpu`; None if there is that, or TINCT_CPU_TIER is set."""
        from .backend.cpu.function import tier_asked_for

        return None if "cpu" in vars(self) or tier_asked_for() is not None else self._trial

    @cached_property
    def _trial(self) -> Trial | None:
        from .backend.cpu.trial import Trial

        kernel = self._restored(self._best_tier, contract=False)
        if kernel is not None:
            self.cpu = kernel
            return None
        return Trial(self._machine_code("baseline"))

    @property
    def _best_tier(self) -> Tier:
        from .backend.cpu.function import tier_asked_for

        return tier_asked_for() or "gang"

    def _machine_code(self, tier: Tier, *, contract: bool = False) -> CompiledKernel:
        from .backend.cpu import kernel_cache

        kernel = self._restored(tier, contract=contract)
        if kernel is None:
            kernel = self._compile_for_cpu(tier, contract=contract)
            name = self._name_in_cache(tier, contract=contract)
            if name is not None:
                kernel_cache.keep(name, kernel)
        return kernel

    def _restored(self, tier: Tier, *, contract: bool) -> CompiledKernel | None:
        from .backend.cpu import kernel_cache

        self.start_llvm()
        start = time.perf_counter()
        name = self._name_in_cache(tier, contract=contract)
        kernel = None if name is None else kernel_cache.restore(name, lambda: self.hercules, contract=contract)
        if kernel is not None:
            self.seconds[LOADING] = time.perf_counter() - start
            self.from_cache.append(True)
        return kernel

    def start_llvm(self) -> None:
        """Load and set up what compiling and the cache need once in a process, so that no other stage's time has it."""
        if "start LLVM" in self.seconds:
            return
        start = time.perf_counter()
        from .backend.cpu import jit, kernel_cache

        jit.identity()
        kernel_cache.compiler_files()
        self.seconds["start LLVM"] = time.perf_counter() - start

    def _name_in_cache(self, tier: Tier, *, contract: bool) -> str | None:
        from .backend.cpu import kernel_cache

        language, source = type(self.origin).__name__, self.origin.source.data
        return kernel_cache.kernel_name(language, source, self.entry, self.constants, tier, contract=contract)

    def _compile_for_cpu(self, tier: Tier, *, contract: bool) -> CompiledKernel:
        from .backend.cpu.device import compile_entry

        entry = self.hercules
        kernel = self._timed("machine code", lambda: compile_entry(entry, tier=tier, contract=contract))
        self.from_cache.append(False)
        times = kernel.times
        del self.seconds["machine code"]
        self.seconds |= {
            "emit LLVM IR": times.emit + times.parse,
            "LLVM passes": times.optimise,
            LOADING if kernel.function.code.is_cached else "machine code": times.generate,
        }
        return kernel

    @cached_property
    def wgsl(self) -> str:
        """WGSL text for any GPU and engine: overrides in place, indices clamped, workgroup memory zeroed."""
        return self._written(self._prepared_for_gpu())

    def for_wgpu(self, loop_limit: int | None = None, loop_effort: int = 0) -> WgpuKernel:
        """The same as wgpu's compiler takes it, made once.

        `loop_limit` is the number of turns after which a driver ends all loops early. A kernel that may come to it is
        watched, and written with an effort against it, one of `transforms.pipelines.LOOP_EFFORTS` by its index.
        """
        key = loop_limit, loop_effort
        if key not in self._wgpu_kernels:
            self._wgpu_kernels[key] = self._made_for_wgpu(loop_limit, loop_effort)
        return self._wgpu_kernels[key]

    def _made_for_wgpu(self, loop_limit: int | None, loop_effort: int) -> WgpuKernel:
        from .transforms.core.condition_depth import deepest_nesting
        from .transforms.pipelines import as_naga_takes_it, guard_loops

        module = self._prepared_for_gpu()
        watch = None
        if loop_limit is not None:
            guard = partial(guard_loops, module, self.entry, limit=loop_limit, effort=loop_effort)
            watch = self._timed("guard loops", guard)
        return WgpuKernel(self._written(as_naga_takes_it(module)), watch, deepest_nesting(module, self.entry))

    def _prepared_for_gpu(self) -> Module:
        from .transforms.pipelines import for_gpu

        module = self._timed("core", self.origin.core)
        self._check(module)
        return self._timed("prepare for the GPU", lambda: for_gpu(module, self.entry, self.constants))

    def _written(self, module: Module) -> str:
        from .backend.wgsl.printer import print_unit
        from .ir.core.to_program import to_unit

        return self._timed("write WGSL", lambda: print_unit(to_unit(module)))

    def _check(self, module: Module) -> None:
        """Raise for what does not fit a pipeline, and for samplers, which no device has here."""
        self.origin.check_pipeline(self.entry, self.constants)
        function = next((function for function in module.functions if function.name == self.entry), None)
        for variable in () if function is None else function.resources:
            store = variable.type.store if isinstance(variable.type, Pointer) else variable.type
            if isinstance(store, (Sampler, Texture)) and not is_loadable(store):
                found = not_supported(f"{with_article(str(store))} in a compute shader", variable.span)
                raise ShaderError([found], self.origin.source)

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
