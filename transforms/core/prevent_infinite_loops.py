"""Ends every loop after a maximum number of iterations.

A GPU that hangs can freeze the machine, and compilers may assume that loops end and drop checks after them. A
counter leaves each loop in its 2³²-1st iteration, which no shader that ends in time can tell.

For engines that do not guard loops themselves: WebGPU implementations do, wgpu among them. The pipeline `portable` runs
it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.constants import zero_constant
from ...ir.core import nodes
from ...ir.core.builder import Builder, empty_block, u32, variable_type
from ...ir.core.structure import blocks_of
from ...ir.ops import BinaryOp
from ...ir.types import U32, VOID, AddressSpace
from .editing import module_names, names_in
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
        module_scope = module_names(module)
        for function in module.functions:
            names = names_in(module_scope, function)
            for block in blocks_of(function):
                node = None if block.branch is None else block.branch.target
                if isinstance(node, nodes.Loop) and not is_unreachable(node.continuing_target):
                    self._limit(module, function, block, names.unique("rounds"))
                    changed = True
        return changed

    def _limit(self, module: nodes.Module, function: nodes.Function, block: nodes.Block, name: str) -> None:
        assert block.branch is not None
        loop = block.branch.target
        assert isinstance(loop, nodes.Loop)
        counter = nodes.Var(None, variable_type(AddressSpace.FUNCTION, U32), name, span=loop.span)
        block.instructions.append(counter)
        builder = Builder(module)
        builder.span = loop.span
        if is_unreachable(loop.merge_target):
            loop.merge_target = _returning(function, builder)
        rest = split(loop.start_target, 0)
        with builder.at(loop.start_target):
            rounds = builder.load(counter)
            node = builder.enter_if(builder.binary(BinaryOp.EQUAL, rounds, u32(self.limit)))
            node.merge_target = counting = empty_block()
            with builder.at(node.true_target):
                builder.branch(loop.merge_target, _zeros(loop.merge_target))
            with builder.at(node.false_target):
                builder.branch(counting)
        with builder.at(counting):
            builder.store(counter, builder.binary(BinaryOp.ADD, rounds, u32(1)))
        counting.instructions += rest.instructions
        counting.branch = rest.branch


def _returning(function: nodes.Function, builder: Builder) -> nodes.Block:
    """Where a loop goes that only returns leave: nothing comes after it."""
    block = empty_block()
    with builder.at(block):
        type = function.return_type
        builder.return_(function, None if type is VOID else nodes.Constant(zero_constant(type), type, None))
    return block


def _zeros(block: nodes.Block) -> list[nodes.Constant]:
    return [nodes.Constant(zero_constant(it.type), it.type, None) for it in block.arguments]
