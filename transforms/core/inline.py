"""Inlines function bodies into their callers.

A parameter is replaced by its argument, a pointer argument by its access chain. A function that returns in one place is
spliced in; `returns` merges several returns.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...base.records import dataclass
from ...ir.builtins import builtin
from ...ir.core import nodes
from ...ir.core.builder import Builder, block_argument
from ...ir.core.names import NameScope
from ...ir.core.structure import blocks_of
from ...ir.types import VOID, Pointer
from .copying import Copier
from .editing import drop_uncalled, merge_access_chains, module_names, names_in
from .nesting import DEEPEST, Region, height, regions
from .regions import split
from .replacing import replace
from .returns import Returns, growth


@dataclass(frozen=True)
class Inline:
    """Inlines every call, or, with `only="pointers"`, those that pass a pointer.

    Functions that nothing calls any more are dropped. A diagnostic filter holds in the text of its function: a function
    that calls what filters are about is only inlined where the same filters hold. A call stays where the statements of
    the body would nest deeper than `nesting.DEEPEST`.
    """

    only: str = "all"

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "inline"

    def run(self, module: nodes.Module) -> bool:
        """Whether a call was replaced."""
        changed = False
        module_scope = module_names(module)
        heights: dict[nodes.Function, int] = {}
        for function in module.functions:
            around = regions(function)
            calls = [
                (block, position, call)
                for block, position, call in _calls(function)
                if self._fits(function, call) and _is_shallow(around[id(block)], heights[call.callee])
            ]
            names = names_in(module_scope, function) if calls else NameScope()
            for block, position, call in reversed(calls):
                _Inlining(module, names, call).put_into(block, position)
            if calls:
                merge_access_chains(function)
                changed = True
            heights[function] = height(function) + growth(function)
        if changed:
            drop_uncalled(module)
        return changed

    def _fits(self, caller: nodes.Function, call: nodes.Call) -> bool:
        if self.only == "pointers" and not any(isinstance(it.type, Pointer) for it in call.arguments):
            return False
        return list(caller.diagnostics) == list(call.callee.diagnostics) or not _is_filtered(call.callee)


def _calls(function: nodes.Function) -> Sequence[tuple[nodes.Block, int, nodes.Call]]:
    """The calls with their positions; inlining one does not move the calls before it."""
    return [
        (block, position, it)
        for block in blocks_of(function)
        for position, it in enumerate(block.instructions)
        if isinstance(it, nodes.Call)
    ]


def _is_shallow(region: Region, added: int) -> bool:
    """Whether statements of this height still fit at a region's nesting level."""
    return max(region.deepest, region.level + added) <= DEEPEST


def _is_filtered(function: nodes.Function) -> bool:
    """Whether a function calls a builtin function that diagnostic filters apply to."""
    return any(
        isinstance(it, nodes.BuiltinCall) and _complains(it)
        for block in blocks_of(function)
        for it in block.instructions
    )


def _complains(call: nodes.BuiltinCall) -> bool:
    function = builtin(call.function)
    return function is None or function.flags.uniformity not in (None, "error")


class _Inlining:
    """Inlines one call."""

    def __init__(self, module: nodes.Module, names: NameScope, call: nodes.Call) -> None:
        self.call = call
        self.names = names
        self.callee = call.callee
        self.builder = Builder(module)
        self.builder.span = call.span
        self.end = nodes.Terminator()
        self.copier = Copier(names)
        self.copier.map_end(self.callee.end_target, self.end)
        self.copier.values |= dict(zip(self.callee.parameters, call.arguments, strict=True))

    def put_into(self, block: nodes.Block, position: int) -> None:
        """Split the block at the call, and insert the body between the halves."""
        after = split(block, position + 1)
        del block.instructions[position]
        start = self.copier.region(self.callee.start_target)
        if self.callee.return_type is not VOID:
            result = block_argument(self.callee.return_type)
            after.arguments.append(result)
            replace(self.call, result)
        self.call.drop_operands()
        Returns(self.builder, self.names, self.end, self.callee.return_type).lead(block, start, after)
