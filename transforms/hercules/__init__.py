"""The passes on Hercules IR, and the stage that knows them."""

from __future__ import annotations

from ...ir.hercules.nodes import Module
from ...ir.hercules.text import print_module
from ...ir.hercules.verify import check
from ..passes import Stage
from .ccp import ConditionalConstantPropagation
from .dce import DeadCodeElimination
from .forkify import Forkify
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
        "forkify": Forkify,
        "predication": Predication,
        "ranges": RangeSimplification,
    },
)
"""The stage `hercules`."""

__all__ = [
    "HERCULES",
    "ConditionalConstantPropagation",
    "DeadCodeElimination",
    "Forkify",
    "GlobalValueNumbering",
    "Predication",
    "RangeSimplification",
]
