"""Uniformity analysis: collective operations must be reached by all invocations together (WGSL, "Uniformity").

`check_module` analyses a module that is otherwise valid. Functions are analysed callees first: `statements`, `loops`,
`expressions` and `calls` walk over a function and build its `graph`, and track its variables in `values`; then
`tags` finds violations, which `messages` reports, and computes the `summary` for callers.
"""

from __future__ import annotations

from ....ir.wgsl.program import FunctionInfo
from ..context import Context
from . import statements, tags
from .analysis import NEXT, begin
from .graph import START
from .summary import Summary

__all__ = ["check_module"]


def check_module(context: Context) -> None:
    """Report every call that needs uniform control flow or arguments and may not have them."""
    summaries: dict[FunctionInfo, Summary] = {}
    for function in _relevant(context):
        analysis = begin(context, function, summaries)
        _, behavior = statements.block(analysis, START, function.node.body)
        if behavior & NEXT:
            statements.leave(analysis)
        summaries[function] = tags.conclude(analysis)


def _relevant(context: Context) -> list[FunctionInfo]:
    """The functions that may require something, all that lead there, and all that those call, callees first.

    Every builtin with a requirement is for some stages only, which the resolver has noted.
    """
    asking: set[FunctionInfo] = set()
    for function in context.functions:
        if context.restricted.get(function) or not asking.isdisjoint(function.calls):
            asking.add(function)
    for function in reversed(context.functions):
        if function in asking:
            asking.update(function.calls)
    return [function for function in context.functions if function in asking]
