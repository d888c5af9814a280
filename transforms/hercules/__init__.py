"""The passes on Hercules IR, and their stage."""

from __future__ import annotations

from ...ir.hercules.nodes import Module
from ...ir.hercules.text import print_module
from ...ir.hercules.verify import check
from ..passes import Pipeline, Stage, pipeline
from .ccp import ConditionalConstantPropagation
from .contract_arrays import ContractArrays
from .dce import DeadCodeElimination
from .expand_collects import ExpandCollects
from .fork_fission import ForkFission
from .fork_fusion import ForkFusion
from .fork_interchange import ForkInterchange
from .fork_tiling import ForkTiling
from .forkify import Forkify
from .form_collects import FormCollects
from .gcm import GlobalCodeMotion
from .gvn import GlobalValueNumbering
from .predication import Predication
from .ranges import RangeSimplification
from .reduce_to_tree import ReduceToTree

CPU: Pipeline[Module] = pipeline(
    "what machine code is made from",
    (ConditionalConstantPropagation(), "first: branches on constants go, and with them what only they need"),
    (GlobalValueNumbering(), "on what is left, each value is computed once"),
    (DeadCodeElimination(), "last: what the others left without a use goes"),
)

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
        "gcm": GlobalCodeMotion,
        "predication": Predication,
        "ranges": RangeSimplification,
        "reduce_to_tree": ReduceToTree,
    },
    pipelines={"cpu": CPU},
    groups={
        "For the CPU": ("ccp", "gvn", "dce"),
        "Measured to be of no use for the CPU (docs/ARCHITECTURE.md)": ("forkify", "gcm", "predication", "ranges"),
        "For other schedules of `.hir` functions; no device runs these": (
            "expand_collects",
            "fork_fission",
            "fork_fusion",
            "fork_interchange",
            "fork_tiling",
            "form_collects",
        ),
    },
)
"""The stage `hercules`."""

__all__ = [
    "CPU",
    "HERCULES",
    "ConditionalConstantPropagation",
    "ContractArrays",
    "DeadCodeElimination",
    "ExpandCollects",
    "ForkFission",
    "ForkFusion",
    "ForkInterchange",
    "ForkTiling",
    "Forkify",
    "FormCollects",
    "GlobalCodeMotion",
    "GlobalValueNumbering",
    "Predication",
    "RangeSimplification",
    "ReduceToTree",
]
