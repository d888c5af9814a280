"""The analysis of the functions of a module."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.wgsl.program import FunctionInfo
from ..context import Context
from . import statements, tags
from .analysis import NEXT, begin
from .graph import START
from .summary import Summary


def check_functions(context: Context, functions: Sequence[FunctionInfo]) -> None:
    """Report what may not be uniform in these functions, callees first."""
    summaries: dict[FunctionInfo, Summary] = {}
    for function in functions:
        analysis = begin(context, function, summaries)
        _, behavior = statements.block(analysis, START, function.node.body)
        if behavior & NEXT:
            statements.leave(analysis)
        summaries[function] = tags.conclude(analysis)
