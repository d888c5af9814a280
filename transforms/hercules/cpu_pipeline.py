"""The pipeline of the CPU: apart from `pipelines`, so that the first call in a process imports no other passes."""

from __future__ import annotations

from ...ir.hercules.nodes import Module
from ..passes import Pipeline, pipeline
from .ccp import ConditionalConstantPropagation
from .dce import DeadCodeElimination
from .gvn import GlobalValueNumbering
from .merge_writes import MergeWrites
from .split_records import SplitRecords

CPU: Pipeline[Module] = pipeline(
    "what machine code is made from",
    (ConditionalConstantPropagation(), "first: branches on constants go, and with them what only they need"),
    (SplitRecords(), "on constant indices; before values are numbered and writes merged, of which it makes simpler ones"),
    (GlobalValueNumbering(), "on what is left, each value is computed once"),
    (MergeWrites(), "after that: the same place is one node on all paths"),
    (DeadCodeElimination(), "last: what the others left without a use goes"),
)
