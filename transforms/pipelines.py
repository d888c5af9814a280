"""The named pipelines: what happens to a module between the front end and a device."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.core.nodes import Module, Var
from ..ir.core.text import print_module
from ..ir.core.verify import verify
from ..ir.hercules.entry import EntryPoint
from ..ir.hercules.nodes import Module as HerculesModule
from ..ir.types import BindingPoint
from .core.algebraic import Algebraic
from .core.array_length_from_uniform import ArrayLengthFromUniform
from .core.cse import CommonSubexpressionElimination
from .core.dce import DeadCodeElimination as CoreDeadCodeElimination
from .core.direct_variable_access import DirectVariableAccess
from .core.drop_filters import DropFilters
from .core.flatten_loops import FlattenLoops
from .core.fold_constants import FoldConstants
from .core.inline import Inline
from .core.licm import LoopInvariantCodeMotion
from .core.loop_turns import most_turns
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
from .core.simplify_control_flow import SimplifyControlFlow
from .core.single_entry_point import SingleEntryPoint
from .core.std140 import Std140
from .core.strength_reduction import StrengthReduction
from .core.substitute_overrides import SubstituteOverrides
from .core.unroll import Unroll
from .core.vectorize import Vectorize
from .core.watch_loops import WatchLoops
from .core.zero_init_workgroup_memory import ZeroInitWorkgroupMemory
from .hercules import HERCULES, ConditionalConstantPropagation, DeadCodeElimination, GlobalValueNumbering
from .passes import Pass, Stage, run_passes

O0: tuple[Pass[Module], ...] = ()
"""Nothing: the module as it was written."""

O1: tuple[Pass[Module], ...] = (
    FoldConstants(),
    SimplifyControlFlow(),
    Algebraic(),
    CommonSubexpressionElimination(),
    CoreDeadCodeElimination(),
)
"""Less work, in code that still looks like the source."""

O2: tuple[Pass[Module], ...] = (
    Inline(),
    MemoryToRegisters(),
    FoldConstants(),
    SimplifyControlFlow(),
    Algebraic(),
    LoopInvariantCodeMotion(),
    Unroll(),
    FoldConstants(),
    SimplifyControlFlow(),
    Algebraic(),
    StrengthReduction(),
    CommonSubexpressionElimination(),
    CoreDeadCodeElimination(),
)
"""Inlined and in SSA form; the second round folds what unrolling has made constant."""

CPU: tuple[Pass[Module], ...] = (FoldConstants(), SimplifyControlFlow(), CoreDeadCodeElimination())
"""What the translation to Hercules IR need not see; that makes values of variables itself."""

GPU: tuple[Pass[Module], ...] = (DirectVariableAccess(), Robustness(), ZeroInitWorkgroupMemory())
"""What WGSL promises and a GPU's compiler may not keep, written out.

Pointer parameters go first: clamps in the callee need the array that an index is for, and naga refuses pointers to
storage, and aborts on pointers to elements. The code that zeroes workgroup memory comes last: its indices are in
range, and need no clamps.
"""

NAGA: tuple[Pass[Module], ...] = (DropFilters(), NagaDialect())
"""What only naga needs, wgpu's compiler, which refuses filters on statements too. Others need what this drops."""

LOOP_EFFORTS: tuple[tuple[Pass[Module], ...], ...] = (
    (),
    (ReplicateLoops(n=16, size=1024, short=33),),
    (ReplicateLoops(n=64, size=4096, short=33),),
    (ReplicateLoops(n=256, size=8192),),
    (Inline(), FlattenLoops(), ReplicateLoops(n=64, size=8192)),
)
"""What is done against a driver that ends loops early, one after the other until it does not: see `ReplicateLoops`.

Each takes longer to compile: 16 copies two to ten times as long as none. Drivers unroll loops of up to 32 turns
themselves, which may then take no turn at all: the first efforts leave those alone. The last is for inner loops that
are entered too often, each of which takes a turn at least.
"""

MINIFY: tuple[Pass[Module], ...] = (
    FoldConstants(),
    SimplifyControlFlow(),
    Algebraic(),
    CoreDeadCodeElimination(),
    Rename(),
)
"""Shorter text."""

CORE: Stage[Module] = Stage(
    name="core",
    verify=verify,
    text=print_module,
    passes={
        "algebraic": Algebraic,
        "array_length_from_uniform": ArrayLengthFromUniform,
        "cse": CommonSubexpressionElimination,
        "dce": CoreDeadCodeElimination,
        "direct_variable_access": DirectVariableAccess,
        "drop_filters": DropFilters,
        "flatten_loops": FlattenLoops,
        "fold_constants": FoldConstants,
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
        "simplify_control_flow": SimplifyControlFlow,
        "single_entry_point": SingleEntryPoint,
        "std140": Std140,
        "strength_reduction": StrengthReduction,
        "substitute_overrides": SubstituteOverrides,
        "unroll": Unroll,
        "vectorize": Vectorize,
        "watch_loops": WatchLoops,
        "zero_init_workgroup_memory": ZeroInitWorkgroupMemory,
    },
    pipelines={"O0": O0, "O1": O1, "O2": O2, "cpu": CPU, "gpu": GPU, "naga": NAGA, "minify": MINIFY},
)
"""Core IR, its passes and its named pipelines."""

OPTIMISING: tuple[Pass[HerculesModule], ...] = (
    ConditionalConstantPropagation(),
    GlobalValueNumbering(),
    DeadCodeElimination(),
)
"""What the CPU's code is made from: constants folded, branches on them gone, each value computed once."""


def specialising(entry: str, constants: Mapping[str, float]) -> tuple[Pass[Module], ...]:
    """One entry point with its overrides' values in place: what every device starts from."""
    return (SubstituteOverrides(constants, entry), SingleEntryPoint(entry))


def preparing_for_gpu(entry: str, constants: Mapping[str, float]) -> tuple[Pass[Module], ...]:
    """One entry point for a GPU: see `GPU`."""
    return (*specialising(entry, constants), *GPU)


def guard_loops(module: Module, entry: str, *, limit: int, effort: int) -> BindingPoint | None:
    """Guard an entry point against a driver that ends all loops early, after `limit` turns: see `LOOP_EFFORTS`.

    The module is changed in place; the binding is that of the watch (`WatchLoops`). None, and no change, if the loops
    are known to take at most half as many turns: drivers' compilers may add some.
    """
    if most_turns(module, entry) <= limit // 2:
        return None
    taken = {it.binding for it in module.root.instructions if isinstance(it, Var)}
    point = next(it for it in (BindingPoint(0, number) for number in range(len(taken) + 1)) if it not in taken)
    run_passes(module, (*LOOP_EFFORTS[effort], WatchLoops(point.group, point.binding)), CORE)
    return point


def specialise(module: Module, entry: str, constants: Mapping[str, float]) -> Module:
    """The module after `specialising`; it is changed in place. Raises InputError and ShaderError."""
    run_passes(module, specialising(entry, constants), CORE)
    return module


def for_gpu(module: Module, entry: str, constants: Mapping[str, float]) -> Module:
    """The module after `preparing_for_gpu`; it is changed in place. Raises InputError and ShaderError."""
    run_passes(module, preparing_for_gpu(entry, constants), CORE)
    return module


def as_naga_takes_it(module: Module) -> Module:
    """The module after `NAGA`, which comes last: it is changed in place."""
    run_passes(module, NAGA, CORE)
    return module


def for_naga(module: Module, entry: str, constants: Mapping[str, float]) -> Module:
    """The module after `for_gpu` and `NAGA`; it is changed in place. Raises InputError and ShaderError."""
    return as_naga_takes_it(for_gpu(module, entry, constants))


def optimise_hercules(entry: EntryPoint) -> EntryPoint:
    """The entry point after `OPTIMISING`; its module is changed in place."""
    run_passes(entry.module, OPTIMISING, HERCULES)
    return entry
