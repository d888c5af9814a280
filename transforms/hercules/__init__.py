"""The passes on Hercules IR, and the stage that knows them."""

from __future__ import annotations

from ...ir.hercules.nodes import Module
from ...ir.hercules.text import print_module
from ...ir.hercules.verify import check
from ..passes import Stage
from .ccp import ConditionalConstantPropagation
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

HERCULES: Stage[Module] = Stage(
    name="hercules",
    verify=check,
    text=print_module,
    passes={
        "dce": DeadCodeElimination,
        "ccp": ConditionalConstantPropagation,
        "gvn": GlobalValueNumbering,
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
    },
)
"""The stage `hercules`."""

__all__ = [
    "HERCULES",
    "ConditionalConstantPropagation",
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
]
