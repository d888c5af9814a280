"""The nesting depth of control flow in an entry point after a driver has inlined calls and structured it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from ...ir.core import nodes
from ...ir.core.structure import is_scope
from ...ir.entry_points import entry_point
from .regions import blocks_from, nested, region


def deepest_nesting(module: nodes.Module, entry: str) -> int:
    """The most conditions that control is under at any place: one for an If, two for a Switch.

    Mesa's compiler also puts what follows a `continue`, or a `return` outside of loops, under a condition (seen with
    Mesa 22.3 and 25.0); after a `break`, or a `return` in a loop, it does not.
    """
    found: dict[nodes.Function, int] = {}
    for function in module.functions:  # callees stand before their callers
        found[function] = _Depth(found, function.end_target).deepest(function.start_target)
    return found[entry_point(module.functions, entry)]


class _Depth:
    """The depth of regions. What follows a branch to `jump` is under a condition."""

    def __init__(self, callees: Mapping[nodes.Function, int], jump: nodes.Flow) -> None:
        self.callees = callees
        self.jump = jump

    def deepest(self, start: nodes.Block) -> int:
        """The most conditions at any place in a region."""
        depth = most = 0
        for block in region(start):
            calls = [self.callees[it.callee] for it in block.instructions if isinstance(it, nodes.Call)]
            most = max(most, depth + max([*calls, self._inside(block)], default=0))
            depth += any(self._jumps(it) for it in nested(block))
        return most

    def _inside(self, block: nodes.Block) -> int:
        target = None if block.branch is None else block.branch.target
        match target:
            case nodes.Loop(start_target=start, continuing_target=continuing):
                inner = _Depth(self.callees, continuing)
                return max(inner.deepest(start), inner.deepest(continuing))
            case nodes.If() as node:
                return (not is_scope(node)) + max(map(self.deepest, nested(block)))
            case nodes.Switch():
                return 2 + max(map(self.deepest, nested(block)))
            case nodes.Block() | nodes.Terminator() | None:
                return 0
            case _:
                assert_never(target)

    def _jumps(self, start: nodes.Block) -> bool:
        return any(it.branch is not None and it.branch.target is self.jump for it in blocks_from(start))
