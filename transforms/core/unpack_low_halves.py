"""Unpacks upper halves as lower ones, for a driver that gets constant upper halves wrong (see `backend/gpu/faults`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...ir.core import nodes
from ...ir.core.builder import Builder, u32
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from .rewriting import rewrite

_UNPACK: Final = "unpack2x16float"


@dataclass(frozen=True)
class UnpackLowHalves:
    """Takes only the lower half of each `unpack2x16float`; the upper one is shifted down. Values stay the same."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "unpack_low_halves"

    def run(self, module: nodes.Module) -> bool:
        """Whether something was unpacked."""
        return rewrite(module, [_unpacked])


def _unpacked(node: nodes.Instruction, builder: Builder) -> Value | None:
    if not isinstance(node, nodes.BuiltinCall) or node.function != _UNPACK:
        return None
    (word,) = node.arguments
    upper = builder.binary(BinaryOp.SHIFT_RIGHT, word, u32(16))
    halves = [builder.access(builder.builtin_call(_UNPACK, [it]), [u32(0)]) for it in (word, upper)]
    return builder.construct(node.type, halves)
