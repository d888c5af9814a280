"""The two pipelines of the compiler, top to bottom: from a checked shader to what a device runs.

`compile_for_cpu` and `compile_for_gpu` do one step a line. A `Step` has a name and the reason for its place. `Steps`
remembers what each step made, so that a compilation can stop after any step (the interpreters and `tinct compile
--emit` do) and go on later. `tinct.load` has parsed and resolved the WGSL text before; a text of core IR is read by the
step `core`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from .base.in_time import import_in_time
from .base.records import dataclass
from .ir.entry_points import entry_point
from .ir.handle_facts import NO_FACTS, HandleFacts
from .ir.types import BindingPoint
from .origins import Origin
from .steps import Step, Steps

if TYPE_CHECKING:
    from .backend.cpu.device import CompiledKernel
    from .backend.cpu.emitted import Emitted
    from .backend.cpu.jit import MachineCode
    from .backend.cpu.options import CpuOptions
    from .ir.core.nodes import Module
    from .ir.hercules.entry import EntryPoint
    from .ir.hercules.nodes import Function
    from .ir.hercules.nodes import Module as HerculesModule
    from .ir.hercules.program import GridKernel, Program
    from .ir.wgsl.ast import TranslationUnit
    from .transforms.hercules.programs import WorkgroupTrees
    from .transforms.passes import Pass

WORKGROUP_SIZE: Final = 64
"""The default number of invocations of a workgroup: two to four hardware vectors of common GPUs, one of the widest."""

CHECK: Step[None] = Step("check", "First: other steps rely on limits that are kept and on overrides that have values.")
BUILD: Step[Module] = Step("core", "Each device builds core IR anew, since its passes change the module in place.")
CHECK_RESOURCES: Step[None] = Step("check resources", "Before passes, which do not know external textures.")
SPECIALISE: Step[Module] = Step(
    "specialise",
    "Before any other pass: the sizes of arrays and of workgroups are numbers from here on, and what only other entry "
    "points use is gone.",
)
CHECK_RUNNABLE: Step[None] = Step("check what runs", "On one entry point: others may use what no device runs.")
LOWER_SAMPLERS: Step[Module] = Step(
    "lower samplers",
    "On a module of its own: the interpreter of core IR samples by itself. Hercules IR has no samplers.",
)
EXPAND: Step[Module] = Step("expand views", "On buffers whose sizes are numbers; branches then pass no arrays.")
TRANSLATE: Step[EntryPoint] = Step("translate", "On sizes that are numbers.")
OPTIMISE: Step[HerculesModule] = Step("optimise", "Before LLVM, which no longer sees forks and versions of memory.")
RETURN_TO_CORE: Step[Module] = Step("from hercules", "For a GPU: on the smallest graph, like machine code.")
TIDY: Step[Module] = Step("tidy", "Vectors, and terms that are zero, have come apart in Hercules IR.")
EMIT: Step[Emitted] = Step("emit LLVM IR", "On the smallest graph: schedule, layouts and gangs are chosen here.")
COMPILE: Step[MachineCode] = Step("machine code", "Last: what LLVM makes of the module is kept on disk.")

PREPARE: Step[Module] = Step(
    "prepare for the GPU", "Before passes for one driver, which must see the loops that zero memory."
)
GUARD_LOOPS: Step[BindingPoint | None] = Step("guard loops", "On the loops as the driver will get them.")
DIALECT: Step[Module] = Step("write for the engine", "Last of the passes: what a pass writes after it may be refused.")
RAISE: Step[TranslationUnit] = Step("raise to WGSL", "Control flow and expressions as WGSL has them.")
PRINT: Step[str] = Step("write WGSL", "The text that an engine takes.")

ORDER_OF_STEPS = (
    *("parse", "resolve"),
    *(step.name for step in (CHECK, BUILD, CHECK_RESOURCES, SPECIALISE, CHECK_RUNNABLE)),
    *(step.name for step in (LOWER_SAMPLERS, EXPAND, TRANSLATE, OPTIMISE, RETURN_TO_CORE, TIDY)),
    *(step.name for step in (PREPARE, GUARD_LOOPS, DIALECT, RAISE, PRINT)),
    *("start LLVM", "load from the cache", EMIT.name, "LLVM passes", COMPILE.name),
)
"""The names of all steps, and of the parts of `COMPILE`, as they follow one another."""


@dataclass(frozen=True, slots=True)
class GpuOptions:
    """How WGSL is written for a GPU. `for_naga`: in the dialect of wgpu's compiler, else for any engine.

    `loop_limit` is the number of iterations after which a driver ends all loops early. A kernel that may reach it is
    watched, and `loop_effort` is the index of a workaround in `transforms.pipelines.LOOP_EFFORTS`. `via_hercules`: from
    Hercules IR, after its passes. `workgroup_size` is the number of invocations of a workgroup in the grids of
    programs, which have none of their own. `hides_uniforms`: for a driver that compiles again for the values of
    uniforms (see `transforms.core.hide_uniforms`). `shuffles_first`: for one that cannot compile some
    `subgroupBroadcastFirst` (see `transforms.core.shuffle_first`). `unpacks_low`: for one that unpacks upper halves of
    constants wrongly (see `transforms.core.unpack_low_halves`).
    """

    for_naga: bool = False
    loop_limit: int | None = None
    loop_effort: int = 0
    via_hercules: bool = False
    workgroup_size: int = WORKGROUP_SIZE
    hides_uniforms: bool = False
    shuffles_first: bool = False
    unpacks_low: bool = False


@dataclass(frozen=True, slots=True)
class GpuKernel:
    """WGSL for a GPU, with this entry point. `watch` is the binding of the buffer that reports loops ended early, None
    without one.

    `nesting` is the greatest nesting depth of conditions. `has_f16`: whether the text enables f16. `subgroup_size` is
    what the shader demands, None where any will do, as it will by way of Hercules IR. `limits` has names of
    GPUSupportedLimits and the values that a device must be asked for, since workgroups take more than every device has.
    """

    wgsl: str
    entry: str
    watch: BindingPoint | None
    nesting: int
    has_f16: bool
    subgroup_size: int | None = None
    limits: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """What to compile: an entry point, with values for its overrides by name or `@id`, for dispatches of which the
    facts are true.
    """

    origin: Origin
    entry: str
    constants: Mapping[str, float]
    facts: HandleFacts = NO_FACTS


def compile_for_cpu(job: Job, options: CpuOptions, do: Steps) -> CompiledKernel:
    """Machine code. Raises ShaderError and InputError."""
    _import_in_time("ir.core.runnable", "transforms.specialising", "transforms.from_wgsl.build")
    from .ir.core.runnable import check_resources, check_runnable
    from .transforms.specialising import specialise

    do(CHECK, job.origin.check, job.entry, job.constants)
    module = do(BUILD, job.origin.core)
    do(CHECK_RESOURCES, check_resources, entry_point(module.functions, job.entry))
    do(SPECIALISE, specialise, module, job.entry, job.constants)
    do(CHECK_RUNNABLE, check_runnable, entry_point(module.functions, job.entry))

    _import_in_time("backend.cpu.device", "transforms.hercules", "transforms.pipelines", "transforms.to_hercules")
    from .backend.cpu.device import CompiledKernel, recipe_for, slots_of
    from .backend.cpu.jit import compile_module
    from .transforms.expanding import TO_HERCULES, for_hercules
    from .transforms.hercules import CPU
    from .transforms.passes import apply_passes
    from .transforms.to_hercules import translate

    module = do(LOWER_SAMPLERS, _without_samplers, job, module)
    module = do(EXPAND, for_hercules, module, lambda: _without_samplers(job, _specialised(job)))
    graph = do(TRANSLATE, translate, module, job.entry, lambda: _expanded(job, TO_HERCULES), job.facts)
    do(OPTIMISE, apply_passes, graph.module, CPU.passes)
    recipe = recipe_for(lambda: graph, options)
    emitted = do(EMIT, recipe.emit)
    code = do(COMPILE, compile_module, emitted.text, emitted.passes, do.seconds[EMIT.name])
    do.split(COMPILE, code.seconds_by_stage)
    return CompiledKernel(recipe.function(emitted.interface, code), slots_of(graph))


def compile_for_gpu(job: Job, options: GpuOptions, do: Steps) -> GpuKernel:
    """WGSL with the values of overrides substituted, indices clamped and workgroup memory zeroed, as far as WGSL leaves
    that to the implementation. Raises ShaderError and InputError.
    """
    _import_in_time("backend.wgsl.printer", "transforms.pipelines", "transforms.to_wgsl.unit")
    from .backend.wgsl.printer import print_unit
    from .ir.core.runnable import check_resources, demanded_limits, demanded_subgroup_size
    from .transforms.core.condition_depth import deepest_nesting
    from .transforms.core.expand_views import ExpandViews
    from .transforms.passes import apply_passes
    from .transforms.pipelines import GPU, guard_loops
    from .transforms.specialising import specialise
    from .transforms.to_wgsl.unit import to_unit

    do(CHECK, job.origin.check, job.entry, job.constants)
    module = do(BUILD, job.origin.core)
    do(CHECK_RESOURCES, check_resources, entry_point(module.functions, job.entry))
    do(SPECIALISE, specialise, module, job.entry, job.constants)
    if options.via_hercules:
        module = _through_hercules(job, module, do)
    entry = entry_point(module.functions, job.entry)
    demanded, limits = demanded_subgroup_size(entry), Counter(demanded_limits(entry))
    if options.for_naga:
        do(EXPAND, apply_passes, module, (ExpandViews(),))
    do(PREPARE, apply_passes, module, GPU.passes)
    watch = do(GUARD_LOOPS, guard_loops, module, job.entry, limit=options.loop_limit, effort=options.loop_effort)
    do(DIALECT, apply_passes, module, _dialect(options))
    # Workgroups may have other sizes now: of each limit, the greater demand counts.
    limits |= Counter(demanded_limits(entry_point(module.functions, job.entry)))
    nesting = deepest_nesting(module, job.entry)
    unit = do(RAISE, to_unit, module)
    text = do(PRINT, print_unit, unit)
    return GpuKernel(text, job.entry, watch, nesting, "f16" in module.enables, demanded, tuple(limits.items()))


def _through_hercules(job: Job, module: Module, do: Steps) -> Module:
    """The entry point of a specialised module, translated into Hercules IR and back."""
    from .ir.core.runnable import check_runnable
    from .transforms.expanding import THROUGH_HERCULES
    from .transforms.from_hercules import entry_module
    from .transforms.hercules import TO_CORE
    from .transforms.passes import apply_passes
    from .transforms.pipelines import O1
    from .transforms.to_hercules import translate

    do(CHECK_RUNNABLE, check_runnable, entry_point(module.functions, job.entry))
    module = do(LOWER_SAMPLERS, _without_samplers, job, module)
    do(EXPAND, apply_passes, module, THROUGH_HERCULES)
    graph = do(TRANSLATE, translate, module, job.entry, lambda: _expanded(job, THROUGH_HERCULES), job.facts)
    do(OPTIMISE, apply_passes, graph.module, TO_CORE.passes)
    lowered = do(RETURN_TO_CORE, entry_module, graph)
    do(TIDY, apply_passes, lowered, O1.passes)
    return lowered


def _without_samplers(job: Job, module: Module) -> Module:
    """A module in which samplers are structures: the given one, which stays as it is, if it has none."""
    from .ir.core.sampled_pairs import has_samplers

    if not has_samplers(module):
        return module

    from .origins import core_of
    from .transforms.core.flatten_external import FlattenExternal
    from .transforms.core.lower_samplers import LowerSamplers
    from .transforms.passes import apply_passes

    return apply_passes(_specialised(job), (FlattenExternal(), LowerSamplers(core_of, job.facts)))


def _expanded(job: Job, passes: Sequence[Pass[Module]]) -> Module:
    """A module of its own that can be translated into Hercules IR."""
    from .transforms.passes import apply_passes

    return apply_passes(_without_samplers(job, _specialised(job)), passes)


def _specialised(job: Job) -> Module:
    """A specialised module of its own."""
    from .transforms.specialising import specialise

    return specialise(job.origin.core(), job.entry, job.constants)


def program_of(function: Function, constants: Sequence[int], trees: WorkgroupTrees | None = None) -> Program:
    """The program of a function that verifies, for these values of its dynamic constants: its loops and folds are made
    grids where that is proved, and workgroups run long threads as `trees` say, or as on any GPU. Where `trees` may
    reassociate floats, all passes may. The function may be changed.
    """
    from .ir.hercules.nodes import Module as HerculesModule
    from .transforms.hercules import COUNTS_OF_GRIDS, grid_passes
    from .transforms.hercules.for_machine import with_own_control
    from .transforms.hercules.programs import WorkgroupTrees, program_for
    from .transforms.passes import apply_passes

    trees = WorkgroupTrees() if trees is None else trees
    with_own_control(function)
    if all(it < 1 << COUNTS_OF_GRIDS for it in constants):  # which the passes rely on
        apply_passes(HerculesModule([function]), grid_passes(reassociate=trees.reassociate))
    return program_for(function, constants, trees)


def compile_grid(kernel: GridKernel, options: GpuOptions) -> GpuKernel:
    """WGSL of a kernel of a program (see `ir.hercules.program`), as `compile_for_gpu` writes it. Its function changes:
    its integers become those of WGSL. Raises ShaderError.
    """
    from .backend.wgsl.printer import print_unit
    from .transforms.core.condition_depth import deepest_nesting
    from .transforms.from_hercules import grid_module
    from .transforms.hercules.fold_zeros import fold_zeros
    from .transforms.hercules.lower_integers import lower_integers
    from .transforms.passes import apply_passes
    from .transforms.pipelines import GPU, O1, guard_loops
    from .transforms.to_wgsl.unit import to_unit

    fold_zeros(kernel.function)  # an empty array has no member in a structure
    lower_integers(kernel.function)
    module = grid_module(kernel, options.workgroup_size)
    (entry,) = (it.name for it in module.functions if it.stage is not None)
    apply_passes(module, (*O1.passes, *GPU.passes))
    watch = guard_loops(module, entry, limit=options.loop_limit, effort=options.loop_effort)
    apply_passes(module, _dialect(options))
    nesting, has_f16 = deepest_nesting(module, entry), "f16" in module.enables
    return GpuKernel(print_unit(to_unit(module)), entry, watch, nesting, has_f16)


def _import_in_time(*modules: str) -> None:
    import_in_time(*(f"{__package__}.{it}" for it in modules))


def _dialect(options: GpuOptions) -> tuple[Pass[Module], ...]:
    """The passes for one engine, and one driver."""
    from .transforms.core.hide_uniforms import HideUniforms
    from .transforms.core.shuffle_first import ShuffleFirst
    from .transforms.core.unpack_low_halves import UnpackLowHalves
    from .transforms.pipelines import NAGA

    hiding = (HideUniforms(),) if options.hides_uniforms else ()
    shuffling = (ShuffleFirst(),) if options.shuffles_first else ()
    unpacking = (UnpackLowHalves(),) if options.unpacks_low else ()  # last: naga's dialect unpacks, too
    return (*hiding, *shuffling, *(NAGA.passes if options.for_naga else ()), *unpacking)
