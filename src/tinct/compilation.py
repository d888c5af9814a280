"""The compilation of an entry point: the results of the pipelines, each computed once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .backend.cpu.kernel_identity import KernelIdentity, Note, note_interpreted, note_of
from .base.cached import cached_property
from .base.forks import CompileLock
from .base.interpreter_state import paused_collection
from .base.records import dataclass, field, replace
from .ir.entry_points import entry_point
from .ir.handle_facts import HandleFacts
from .ir.types import BindingPoint
from .kept import keep_noted
from .pipeline import (
    BUILD,
    CHECK_RUNNABLE,
    OPTIMISE,
    SPECIALISE,
    TRANSLATE,
    GpuKernel,
    GpuOptions,
    Job,
    compile_for_cpu,
    compile_for_gpu,
)
from .steps import Step, Steps, T

if TYPE_CHECKING:
    from .backend.cpu import CompiledKernel, CpuOptions
    from .backend.cpu.tiered import TieredKernel
    from .first_calls import FirstCalls
    from .ir.core.nodes import Module
    from .ir.hercules.entry import EntryPoint


MOST_SUITED = 4
"""Maximum number of sets of facts about textures and samplers for which a kernel is compiled anew. Dispatches with
others run code for all textures and samplers.
"""


@dataclass(eq=False)
class Compilation:
    """An entry point with values for its overrides. `seconds` holds the time of each step done, by its name.

    Threads may share it: one compiles, while others that need a result wait.

    All but `machine_code` raises ShaderError, with its place in the source, for what is not supported.
    """

    job: Job
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    via_hercules: bool = False
    """Whether `wgsl` is written from Hercules IR, after its passes."""
    loop_effort: int = 0
    """The effort that was enough in the last dispatch on a driver that ends loops early (see `GpuOptions`)."""
    _gpu_kernels: dict[GpuOptions, GpuKernel] = field(default_factory=dict["GpuOptions", "GpuKernel"], repr=False)
    _lock: CompileLock = field(default_factory=CompileLock, repr=False)
    _suited: dict[HandleFacts, Compilation] = field(default_factory=dict["HandleFacts", "Compilation"], repr=False)

    @property
    def entry(self) -> str:
        """The name of the entry point."""
        return self.job.entry

    @cached_property
    def core(self) -> Module:
        """Core IR of the whole module, as it was built."""
        return Steps(self.job.origin.source, self.seconds)(BUILD, self.job.origin.core)

    @cached_property
    def sampled_pairs(self) -> tuple[tuple[BindingPoint, BindingPoint], ...]:
        """Each texture with each sampler that a builtin function takes together with it."""
        from .ir.core.sampled_pairs import sampled_pairs

        pairs = sampled_pairs(entry_point(self.core.functions, self.entry))
        return tuple((one.binding, other.binding) for one, other in pairs if one.binding and other.binding)

    @property
    def specialised(self) -> Module:
        """Core IR with the values of overrides substituted, which every device starts from."""
        return self._front(SPECIALISE)

    def suited_to(self, facts: HandleFacts) -> Compilation:
        """The compilation for dispatches of which the facts are true. It is this one if there are no facts, or if
        `MOST_SUITED` others were asked for.
        """
        if not facts.known:
            return self
        if facts not in self._suited and len(self._suited) < MOST_SUITED:
            self._suited.setdefault(facts, Compilation(replace(self.job, facts=facts)))  # threads may share it
        return self._suited.get(facts, self)

    @property
    def total_seconds(self) -> float:
        """The seconds of all steps done, also of those for certain textures and samplers."""
        return sum(self.seconds.values()) + sum(it.total_seconds for it in self._suited.values())

    def check_runnable_on(self, device: str) -> None:
        """Raise ShaderError for what no device runs yet. What the cache knows to have run on the CPU was checked."""
        if device != "cpu" or not self._note.is_compiled:
            self._front(CHECK_RUNNABLE)

    @property
    def hercules_unoptimised(self) -> EntryPoint:
        """Hercules IR as the translation makes it; `hercules` then changes it in place."""
        return self._front(TRANSLATE)

    @property
    def hercules(self) -> EntryPoint:
        """Hercules IR after its passes."""
        with self._lock:
            self._front(OPTIMISE)
            return self._front(TRANSLATE)

    @cached_property
    def machine_code(self) -> TieredKernel:
        """Machine code for this CPU, on each tier, made on request, which may raise ShaderError."""
        from .backend.cpu.tiered import TieredKernel

        return TieredKernel(self._identity, self._compile_for_cpu, lambda: self.hercules, self.seconds)

    @cached_property
    def first_calls(self) -> FirstCalls | None:
        """Runs on the interpreter in place of machine code; None if there are none.

        Only the first processes that run a kernel have any: then machine code pays, which the cache keeps.
        """
        from .first_calls import INTERPRETING_PROCESSES, first_calls

        if self._note.is_compiled or self._note.processes >= INTERPRETING_PROCESSES:
            return None
        made = first_calls(self.specialised, self.entry)
        if made is not None:
            note_interpreted(self._identity, self._note)
        return made

    @cached_property
    def _identity(self) -> KernelIdentity:
        """What machine code is compiled from."""
        job, origin = self.job, self.job.origin
        return KernelIdentity(type(origin).__name__, origin.source.data, job.entry, job.constants, job.facts)

    @cached_property
    def _note(self) -> Note:
        """What was known of it before this compilation began."""
        return note_of(self._identity)

    @property
    def cpu(self) -> CompiledKernel:
        """The fastest machine code, or that of the tier that TINCT_CPU_TIER names."""
        from .backend.cpu import default_options

        return self.machine_code.code(default_options())

    @property
    def wgsl(self) -> str:
        """WGSL text for any GPU and engine: overrides substituted, indices clamped, workgroup memory zeroed."""
        return self.for_gpu(GpuOptions(via_hercules=self.via_hercules)).wgsl

    def for_gpu(self, options: GpuOptions) -> GpuKernel:
        """WGSL for a GPU, made once for each choice of options."""
        with self._lock:
            if options not in self._gpu_kernels:
                do = Steps(self.job.origin.source, self.seconds)
                self._gpu_kernels[options] = compile_for_gpu(self.job, options, do)
            return self._gpu_kernels[options]

    @cached_property
    def workgroup_size(self) -> tuple[int, int, int]:
        """Invocations a workgroup along x, y and z."""
        sizes = self.job.origin.workgroup_size(self.entry)
        if sizes is None:
            from .ir.core.nodes import Constant

            values = entry_point(self.specialised.functions, self.entry).workgroup_size
            constants = [it.value.value for it in values if isinstance(it, Constant)]
            sizes = [it for it in constants if isinstance(it, int)]
        x, y, z = (*sizes, 1, 1, 1)[:3]
        return x, y, z

    @cached_property
    def _steps(self) -> Steps:
        """The steps that the interpreters and all tiers of the CPU share."""
        return Steps(self.job.origin.source, self.seconds)

    def _front(self, step: Step[T]) -> T:
        from .backend.cpu import CpuOptions

        with self._lock, paused_collection():
            return self._steps.result(step, lambda do: compile_for_cpu(self.job, CpuOptions(), do))

    def _compile_for_cpu(self, options: CpuOptions) -> CompiledKernel:
        with self._lock, paused_collection():
            self._front(OPTIMISE)
            made = compile_for_cpu(self.job, options, self._steps.branch())
            keep_noted()
            return made
