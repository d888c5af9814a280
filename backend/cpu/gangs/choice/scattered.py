"""The parts of gangs that read at scattered positions, as samplers of textures do: the lanes of one part wait for
memory while the other parts compute.

Bilinear sampling of a picture of 2048 x 2048 texels takes 0.62 (two parts) and 0.5 (four) of the time of one part if
texels are four floats, and 0.9 with two or four parts if they are bytes (AMD EPYC, Zen 4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from .....ir.hercules import nodes as h
from .. import budgets

_WIDE = 3
"""Minimum number of Reads for each position that takes one load a lane, and a transposition."""
_DEPTH = 12


def parts_for_scattered(inside: Sequence[h.Node], types: Mapping[h.Node, h.Type]) -> int:
    """The number of parts for a body without loops; 1 if nothing is read at scattered positions."""
    reads = [it for it in inside if isinstance(it, h.Read)]
    firsts = [next((it.position for it in read.indices if isinstance(it, h.PositionIndex)), None) for read in reads]
    scattered = [it for it in firsts if it is not None and _is_from_float(it, types)]
    if not scattered or 2 * len(inside) > budgets.PARTS:
        return 1
    is_wide = len(scattered) >= _WIDE * len(set(scattered))
    return 4 if is_wide and 4 * len(inside) <= budgets.PARTS else 2


def _is_from_float(position: h.Node, types: Mapping[h.Node, h.Type], depth: int = _DEPTH) -> bool:
    """Whether a position was computed from a float."""
    match position:
        case h.Cast(operand=operand) if isinstance(types[operand], h.Float):
            return True
        case h.Cast(operand=operand) | h.Bitcast(operand=operand) | h.Unary(operand=operand):
            inner = [operand]
        case h.Binary(lhs=lhs, rhs=rhs) | h.Select(if_true=lhs, if_false=rhs):
            inner = [lhs, rhs]
        case h.Intrinsic(arguments=arguments):
            inner = list(arguments)
        case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
            return False
        case _:
            assert_never(position)
    return depth > 0 and any(_is_from_float(it, types, depth - 1) for it in inner)
