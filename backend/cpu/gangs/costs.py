"""What code costs, where that decides how it is written."""

from __future__ import annotations

from ....ir.hercules import nodes as h
from ....ir.hercules.analyses import Loop
from ....ir.hercules.schedule import Schedule
from .. import math
from ..endless import HALVINGS, most_turns
from .control import Level
from .shapes import Shapes

SMALL = 10
"""Up to this cost, code under a mask has no jump around it."""
_UNROLLED = 400
"""Loops that turn a known number of times are unrolled up to this many operations in all."""


def block_cost(placed: Schedule, leader: h.Node) -> float:
    """What a block costs; infinity if it does something or calls a function."""
    total = 0.0
    for node in placed.blocks[leader]:
        match node:
            case h.Write() | h.Atomic():
                return float("inf")
            case h.Intrinsic(function=name) if math.is_transcendental(name):
                return float("inf")
            case h.Binary(op=h.BinaryOp.DIV | h.BinaryOp.REM):
                total += 8
            case h.Read():
                total += 3
            case _:
                total += 1
    return total


def is_short(placed: Schedule, shapes: Shapes, level: Level, parts: int) -> bool:
    """Whether a loop, and all in it, turns a small number of times that is known."""
    if not isinstance(level.container, Loop) or level in shapes.divergent:
        return False
    turns = most_turns(placed, level.container)
    size = sum(len(placed.blocks[it]) for it in level.leaders) * parts
    is_counted = turns < HALVINGS and [edge.source for edge in level.exits] == [level.header]
    inner = [it.inner for it in level.items if it.inner is not None]
    return is_counted and turns * size <= _UNROLLED and all(is_short(placed, shapes, it, parts) for it in inner)
