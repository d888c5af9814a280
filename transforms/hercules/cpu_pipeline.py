"""The pipelines of the CPU and of the way back to core IR: apart from `pipelines`, so that the first call in a process
imports no other passes.
"""

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
    (SplitRecords(), "on constant indices; before the passes after it, since writes of one member can be merged"),
    (GlobalValueNumbering(), "on what is left, each value is computed once"),
    (MergeWrites(), "after that: the same place is one node on all paths"),
    (DeadCodeElimination(), "last: what the others left without a use goes"),
)
TO_CORE: Pipeline[Module] = Pipeline(
    "what core IR is made from again: a GPU loads vectors at once",
    tuple(it for it in CPU.placed if not isinstance(it.step, SplitRecords)),
)
