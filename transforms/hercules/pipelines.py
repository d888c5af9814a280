"""The named pipelines on Hercules IR, and the stage with all of its passes."""

from __future__ import annotations

from dataclasses import replace

from ...ir.hercules.nodes import Module
from ...ir.hercules.text import print_module
from ...ir.hercules.verify import check
from ..passes import Pass, Pipeline, Stage, pipeline
from .ccp import ConditionalConstantPropagation
from .contract_arrays import ContractArrays
from .cpu_pipeline import CPU
from .dce import DeadCodeElimination
from .expand_collects import ExpandCollects
from .fork_fission import ForkFission
from .fork_fusion import ForkFusion
from .fork_interchange import ForkInterchange
from .fork_tiling import ForkTiling
from .forkify import Forkify
from .form_collects import FormCollects
from .form_min_max import FormMinMax
from .gcm import GlobalCodeMotion
from .grid_fission import GridFission
from .grid_interchange import GridInterchange
from .gvn import GlobalValueNumbering
from .lower_integers import LowerIntegers
from .merge_writes import MergeWrites
from .predication import Predication
from .ranges import RangeSimplification
from .reduce_to_tree import ReduceToTree
from .split_records import SplitRecords

COUNTS_OF_GRIDS = 31
"""Bits of the dynamic constants of functions that GRID is for; whoever runs these checks them."""

GRID: Pipeline[Module] = pipeline(
    "forks that can be dispatches of a GPU, as few and as parallel as is proved",
    (ConditionalConstantPropagation(), "first: branches on constants go, so that bodies are straighter"),
    (Predication(), "short branches become selects, which are folds if they choose the lesser or the greater"),
    (FormMinMax(), "on selects, before loops are asked what they fold by"),
    (GlobalValueNumbering(), "the same position is one node, wherever it is written"),
    (Forkify(counts=COUNTS_OF_GRIDS), "all loops that can be are forks for what follows"),
    (ForkFusion(), "neighbours become one, loops that became forks included"),
    (ContractArrays(), "after fusion, when arrays between neighbours are used in one thread only"),
    (GridInterchange(), "on what fusion left: the nests have their final depth"),
    (GridFission(), "after fusion, which would undo it where all parts are parallel"),
    (ReduceToTree(counts=COUNTS_OF_GRIDS), "after fission, of folds that are alone in their fork"),
    (GlobalValueNumbering(), "on what was made: the same numbers and bounds several times"),
    (DeadCodeElimination(), "last: what the others left without a use goes"),
)


def grid_passes(*, reassociate: bool) -> tuple[Pass[Module], ...]:
    """The passes of GRID, which may add and multiply floats in another order if `reassociate`."""
    if not reassociate:
        return GRID.passes
    return tuple(replace(it, reassociate=True) if isinstance(it, (Forkify, ReduceToTree)) else it for it in GRID.passes)


HERCULES: Stage[Module] = Stage(
    name="hercules",
    verify=check,
    text=print_module,
    passes={
        "dce": DeadCodeElimination,
        "ccp": ConditionalConstantPropagation,
        "gvn": GlobalValueNumbering,
        "contract_arrays": ContractArrays,
        "expand_collects": ExpandCollects,
        "fork_fission": ForkFission,
        "fork_fusion": ForkFusion,
        "fork_interchange": ForkInterchange,
        "fork_tiling": ForkTiling,
        "forkify": Forkify,
        "form_collects": FormCollects,
        "form_min_max": FormMinMax,
        "grid_fission": GridFission,
        "grid_interchange": GridInterchange,
        "gcm": GlobalCodeMotion,
        "lower_integers": LowerIntegers,
        "merge_writes": MergeWrites,
        "predication": Predication,
        "ranges": RangeSimplification,
        "reduce_to_tree": ReduceToTree,
        "split_records": SplitRecords,
    },
    pipelines={"cpu": CPU, "grid": GRID},
    groups={
        "For the CPU, and ccp, gvn and dce for grids": ("ccp", "split_records", "gvn", "merge_writes", "dce"),
        "For grids; measured to be of no use for the CPU's kernels (docs/ARCHITECTURE.md)": ("forkify", "predication"),
        "For grids": (
            "contract_arrays",
            "fork_fusion",
            "form_min_max",
            "grid_fission",
            "grid_interchange",
            "reduce_to_tree",
        ),
        "For GPUs": ("lower_integers",),
        "Measured to be of no use for the CPU (docs/ARCHITECTURE.md)": ("gcm", "ranges"),
        "For other schedules of `.hir` functions; no device runs these": (
            "expand_collects",
            "fork_fission",
            "fork_interchange",
            "fork_tiling",
            "form_collects",
        ),
    },
)
"""The stage `hercules`."""
