"""The named pipelines: what happens to a module between the front end and a device."""

from __future__ import annotations

from ..ir.binding_points import free_point
from ..ir.core.nodes import Module, Var
from ..ir.core.text import print_module
from ..ir.core.verifier import verify
from ..ir.types import BindingPoint
from .core.algebraic import Algebraic
from .core.array_length_from_uniform import ArrayLengthFromUniform
from .core.bind_immediates import BindImmediates
from .core.cse import CommonSubexpressionElimination
from .core.dce import DeadCodeElimination
from .core.derive_indices import DeriveIndices
from .core.direct_variable_access import DirectVariableAccess
from .core.drop_filters import DropFilters
from .core.expand_views import ExpandViews
from .core.flatten_external import FlattenExternal
from .core.flatten_loops import FlattenLoops
from .core.fold_constants import FoldConstants
from .core.hide_uniforms import HideUniforms
from .core.inline import Inline
from .core.licm import LoopInvariantCodeMotion
from .core.mem2reg import MemoryToRegisters
from .core.naga_dialect import NagaDialect
from .core.polyfill import Polyfill
from .core.preserve_padding import PreservePadding
from .core.prevent_infinite_loops import PreventInfiniteLoops
from .core.reg2mem import RegistersToMemory
from .core.remove_continue_in_switch import RemoveContinueInSwitch
from .core.rename import Rename
from .core.replicate_loops import ReplicateLoops
from .core.robustness import Robustness
from .core.scalarize import Scalarize
from .core.shuffle_first import ShuffleFirst
from .core.simplify_control_flow import SimplifyControlFlow
from .core.single_entry_point import SingleEntryPoint
from .core.std140 import Std140
from .core.store_uniforms import StoreUniforms
from .core.strength_reduction import StrengthReduction
from .core.substitute_overrides import SubstituteOverrides
from .core.trip_counts import max_trip_count
from .core.unpack_low_halves import UnpackLowHalves
from .core.unroll import Unroll
from .core.vectorize import Vectorize
from .core.watch_loops import WatchLoops
from .core.widen_bools import WidenBools
from .core.zero_init_workgroup_memory import ZeroInitWorkgroupMemory
from .passes import Pass, Pipeline, Stage, pipeline, run_passes

O0: Pipeline[Module] = pipeline("the module as it was written")

O1: Pipeline[Module] = pipeline(
    "less work, in code that still looks like the source",
    (FoldConstants(), "first: conditions become constants"),
    (SimplifyControlFlow(), "branches on constants go"),
    (Algebraic(), "on what is left, operands are constants where they can be"),
    (CommonSubexpressionElimination(), "equal expressions look alike by now"),
    (DeadCodeElimination(), "last: what the others left without a use goes"),
)

O2: Pipeline[Module] = pipeline(
    "inlined and in SSA form",
    (Inline(), "first: values of arguments are known to all that follows"),
    (MemoryToRegisters(), "after inlining, when no call takes a pointer to a local variable"),
    (FoldConstants(), "on values: loads of local variables are gone"),
    (SimplifyControlFlow(), "branches on constants go"),
    (Algebraic(), "loops get the simplest expressions"),
    (LoopInvariantCodeMotion(), "before unrolling, which would copy what is invariant"),
    (Unroll(), "counts of turns are constants by now"),
    (FoldConstants(), "unrolling made the counters constants"),
    (SimplifyControlFlow(), "and conditions on them"),
    (Algebraic(), "and operands"),
    (StrengthReduction(), "after algebraic rules, which know multiplications but not what replaces them"),
    (CommonSubexpressionElimination(), "the copies of a loop's body have expressions in common"),
    (DeadCodeElimination(), "last: what the others left without a use goes"),
)

GPU: Pipeline[Module] = pipeline(
    "what WGSL promises and a GPU's compiler may not keep, written out",
    (
        DirectVariableAccess(),
        "first: clamps in a callee need the array that an index is for, and naga refuses pointers to storage, and "
        "aborts on pointers to elements",
    ),
    (Robustness(), "on indices of variables, which pointers hid before"),
    (ZeroInitWorkgroupMemory(), "last: the indices of the zeroing code are in range, and need no clamps"),
)

NAGA: Pipeline[Module] = pipeline(
    "what only naga needs, wgpu's compiler; others need what these passes drop",
    (DropFilters(), "naga refuses filters on statements"),
    (DeriveIndices(), "naga lacks two builtin inputs, and has two for workgroups of one dimension only"),
    (FlattenExternal(), "wgpu has no external textures"),
    (StoreUniforms(), "naga lacks the layout of other memory for uniform buffers"),
    (Std140(), "naga aborts on some loads of matrices of two rows from uniform buffers"),
    (WidenBools(), "after passes that store in workgroup memory: naga does not give each bool there a word"),
    (NagaDialect(), "last: other passes write what naga refuses"),
)

PORTABLE: Pipeline[Module] = pipeline(
    "WGSL for engines other than wgpu's that lack newer builtin functions, get `continue` in a Switch or the layout of "
    "uniform buffers wrong, do not guard against endless loops, or overwrite padding",
    (DirectVariableAccess(), "first, as for `gpu`"),
    (Polyfill(), "what it writes is guarded and clamped by the passes below"),
    (RemoveContinueInSwitch(), "before passes that add to loops"),
    (PreventInfiniteLoops(), "on loops in their last form"),
    (Std140(), "before clamps: it splits accesses to uniform buffers"),
    (PreservePadding(), "before clamps: it splits stores into those of members"),
    (Robustness(), "on all accesses"),
    (ZeroInitWorkgroupMemory(), "last, as for `gpu`"),
)

LOOP_EFFORTS: tuple[tuple[Pass[Module], ...], ...] = (
    (),
    (ReplicateLoops(n=16, size=1024, short=33),),
    (ReplicateLoops(n=64, size=4096, short=33),),
    (ReplicateLoops(n=256, size=8192),),
    (Inline(), FlattenLoops(), ReplicateLoops(n=64, size=8192)),
)
"""The measures against a driver that ends loops early, tried in order until it does not: see `ReplicateLoops`.

Each takes longer to compile: 16 copies two to ten times as long as none. Drivers unroll loops of up to 32 iterations
themselves, which may then count no iteration: the first efforts leave those alone. The last is for inner loops that are
entered too often, each of which counts at least one iteration.
"""

MINIFY: Pipeline[Module] = pipeline(
    "less text: `tinct minify` runs it before it shortens names and literals",
    (FoldConstants(), "first: conditions become constants"),
    (SimplifyControlFlow(), "branches on constants go"),
    (DeadCodeElimination(), "last: what the others left without a use goes"),
)

CORE: Stage[Module] = Stage(
    name="core",
    verify=verify,
    text=print_module,
    passes={
        "algebraic": Algebraic,
        "array_length_from_uniform": ArrayLengthFromUniform,
        "bind_immediates": BindImmediates,
        "cse": CommonSubexpressionElimination,
        "dce": DeadCodeElimination,
        "derive_indices": DeriveIndices,
        "direct_variable_access": DirectVariableAccess,
        "drop_filters": DropFilters,
        "expand_views": ExpandViews,
        "flatten_external": FlattenExternal,
        "flatten_loops": FlattenLoops,
        "fold_constants": FoldConstants,
        "hide_uniforms": HideUniforms,
        "inline": Inline,
        "licm": LoopInvariantCodeMotion,
        "mem2reg": MemoryToRegisters,
        "naga_dialect": NagaDialect,
        "polyfill": Polyfill,
        "preserve_padding": PreservePadding,
        "prevent_infinite_loops": PreventInfiniteLoops,
        "reg2mem": RegistersToMemory,
        "remove_continue_in_switch": RemoveContinueInSwitch,
        "rename": Rename,
        "replicate_loops": ReplicateLoops,
        "robustness": Robustness,
        "scalarize": Scalarize,
        "shuffle_first": ShuffleFirst,
        "simplify_control_flow": SimplifyControlFlow,
        "single_entry_point": SingleEntryPoint,
        "std140": Std140,
        "store_uniforms": StoreUniforms,
        "strength_reduction": StrengthReduction,
        "substitute_overrides": SubstituteOverrides,
        "unpack_low_halves": UnpackLowHalves,
        "unroll": Unroll,
        "vectorize": Vectorize,
        "watch_loops": WatchLoops,
        "widen_bools": WidenBools,
        "zero_init_workgroup_memory": ZeroInitWorkgroupMemory,
    },
    pipelines={
        "O0": O0,
        "O1": O1,
        "O2": O2,
        "gpu": GPU,
        "portable": PORTABLE,
        "naga": NAGA,
        "minify": MINIFY,
    },
    groups={
        "For every device, and for minify": (
            "bind_immediates",
            "dce",
            "expand_views",
            "fold_constants",
            "reg2mem",
            "simplify_control_flow",
            "single_entry_point",
            "substitute_overrides",
        ),
        "For GPUs": ("direct_variable_access", "robustness", "zero_init_workgroup_memory"),
        "For wgpu and its drivers": (
            "derive_indices",
            "drop_filters",
            "flatten_external",
            "flatten_loops",
            "hide_uniforms",
            "inline",
            "naga_dialect",
            "replicate_loops",
            "shuffle_first",
            "std140",
            "store_uniforms",
            "unpack_low_halves",
            "watch_loops",
            "widen_bools",
        ),
        "For WGSL that is to be shorter or faster, as by O1 and O2": (
            "algebraic",
            "cse",
            "licm",
            "mem2reg",
            "rename",
            "strength_reduction",
            "unroll",
        ),
        "For engines that lack something; no device here runs these": (
            "array_length_from_uniform",
            "polyfill",
            "preserve_padding",
            "prevent_infinite_loops",
            "remove_continue_in_switch",
            "scalarize",
            "vectorize",
        ),
    },
)
"""Core IR, its passes and its named pipelines."""


def guard_loops(module: Module, entry: str, *, limit: int | None, effort: int) -> BindingPoint | None:
    """Guard an entry point against a driver that ends all loops early, after `limit` iterations: see `LOOP_EFFORTS`.

    The module is changed in place; the binding is that of the watch (`WatchLoops`). None, and no change, without a
    limit, or if the loops are known to take at most half as many iterations: drivers' compilers may add some.
    """
    if limit is None or max_trip_count(module, entry) <= limit // 2:
        return None
    point = free_point(it.binding for it in module.root.instructions if isinstance(it, Var))
    run_passes(module, (*LOOP_EFFORTS[effort], WatchLoops(point.group, point.binding)), CORE)
    return point
