"""Lets every loop end.

A GPU that hangs takes the machine with it, and compilers may assume that loops end and drop checks after them. A
counter leaves each loop in its 2³²-1st iteration, which no shader that ends in time can tell.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.constants import zero_constant
from ...ir.core import nodes
from ...ir.core.builder import Builder, u32, variable_type
from ...ir.core.structure import blocks_of
from ...ir.ops import BinaryOp
from ...ir.types import U32, AddressSpace
from .editing import names_in
from .regions import is_unreachable, split

_UNTIL = 0xFFFFFFFF


@dataclass(frozen=True)
class PreventInfiniteLoops:
    """Leaves a loop after `limit` iterations."""

    limit: int = _UNTIL

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "prevent_infinite_loops"

    def run(self, module: nodes.Module) -> bool:
        """Whether there is a loop that goes round."""
        changed = False
        for function in module.functions:
            names = names_in(module, function)
            for block in blocks_of(function):
                node = None if block.branch is None else block.branch.target
                if isinstance(node, nodes.Loop) and not is_unreachable(node.continuing_target):
                    self._limit(module, block, node, names.unique("rounds"))
                    changed = True
        return changed

    def _limit(self, module: nodes.Module, block: nodes.Block, loop: nodes.Loop, name: str) -> None:
        counter = nodes.Var(None, variable_type(AddressSpace.FUNCTION, U32), name, span=loop.span)
        block.instructions.append(counter)
        if is_unreachable(loop.merge_target):
            return  # left by returns alone: the way out below would make code that never returns
        builder = Builder(module)
        builder.span = loop.span
        rest = split(loop.start_target, 0)
        with builder.at(loop.start_target):
            rounds = builder.load(counter)
            node = builder.enter_if(builder.binary(BinaryOp.EQUAL, rounds, u32(self.limit)))
            node.merge_target = rest
            with builder.at(node.true_target):
                zeros = [nodes.Constant(zero_constant(it.type), it.type, None) for it in loop.merge_target.arguments]
                builder.branch(loop.merge_target, zeros)
            with builder.at(node.false_target):
                builder.branch(rest)
        following = nodes.Binary(BinaryOp.ADD, rounds, u32(1), U32, None, span=loop.span)
        with builder.at(nodes.Block([], [following], None)) as _:
            store = builder.store(counter, following)
        rest.instructions[:0] = [following, store]
