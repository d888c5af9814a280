"""Uniformity analysis: collective operations must be reached by all invocations together (WGSL, "Uniformity").

`check_module` analyses a module that is otherwise valid. `check` takes functions callees first: `statements`, `loops`,
`expressions` and `calls` walk over a function and build its `graph`, and track its variables in `values`; then
`tags` finds violations, which `messages` reports, and computes the `summary` for callers.
"""

from __future__ import annotations

from ....ir.wgsl.program import FunctionInfo
from ..context import Context

__all__ = ["check_module"]


def check_module(context: Context) -> None:
    """Report every call that needs uniform control flow or arguments and may not have them."""
    relevant = _relevant(context)
    if relevant:  # as in few programs: others need not import the analysis
        from .check import check_functions

        check_functions(context, relevant)


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
