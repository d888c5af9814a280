"""Replaces `subgroupBroadcastFirst` by a shuffle, for a driver that cannot compile it (see `backend/gpu/faults`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...ir.core import nodes
from ...ir.core.builder import Builder, bool_constant, empty_block, u32
from ...ir.core.structure import blocks_of

_BROADCAST: Final = "subgroupBroadcastFirst"


@dataclass(frozen=True)
class ShuffleFirst:
    """Makes each `subgroupBroadcastFirst` a `subgroupShuffle` from the first active invocation, which a ballot tells.

    It is for subgroups of up to 32 invocations.
    """

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "shuffle_first"

    def run(self, module: nodes.Module) -> bool:
        """Whether there is such a broadcast."""
        found = [
            (block, it)
            for function in module.functions
            for block in blocks_of(function)
            for it in block.instructions
            if isinstance(it, nodes.BuiltinCall) and it.function == _BROADCAST
        ]
        for block, broadcast in found:
            _replace(module, block, broadcast)
        return bool(found)


def _replace(module: nodes.Module, block: nodes.Block, broadcast: nodes.BuiltinCall) -> None:
    before = empty_block()
    builder = Builder(module, before)
    builder.span = broadcast.span
    active = builder.builtin_call("subgroupBallot", [bool_constant(True)])
    first = builder.builtin_call("countTrailingZeros", [builder.access(active, [u32(0)])])
    shuffled = builder.builtin_call("subgroupShuffle", [broadcast.arguments[0], first])
    shuffled.name = broadcast.name
    broadcast.replace_all_uses_with(shuffled)
    place = block.instructions.index(broadcast)
    block.instructions[place : place + 1] = before.instructions
    broadcast.drop_operands()
