"""What code costs, where that decides how it is written."""

from __future__ import annotations

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.schedule import Schedule
from ... import math
from ...trip_counts import HALVINGS, max_trip_count
from .body import Level
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
            case h.Write() | h.Atomic() | h.Call():
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
    """Whether a loop, and all in it, turns a small number of times that is known, and LLVM is sure to find that out.

    It is not where a way through the loop depends on a value that all lanes share, as counters are: LLVM may make
    several loops of one that goes different ways in different turns, and warns of those it cannot unroll.
    """
    if not isinstance(level.container, Loop) or level in shapes.divergent:
        return False
    turns = max_trip_count(placed, level.container)
    size = sum(len(placed.blocks[it]) for it in level.leaders) * parts
    is_counted = turns < HALVINGS and [edge.source for edge in level.exits] == [level.header]
    is_plain = not any(_is_uniform_branch(placed, shapes, it) for it in level.leaders if not _is_header(level, it))
    inner = [it.inner for it in level.items if it.inner is not None]
    is_small = turns * size <= _UNROLLED
    return is_counted and is_plain and is_small and all(is_short(placed, shapes, it, parts) for it in inner)


def _is_header(level: Level, leader: h.Node) -> bool:
    """Whether a loop, or one inside it, starts with a block."""
    inner = [it.inner for it in level.items if it.inner is not None]
    return leader is level.header or any(_is_header(it, leader) for it in inner)


def _is_uniform_branch(placed: Schedule, shapes: Shapes, leader: h.Node) -> bool:
    """Whether a block ends with a branch that is the same for all lanes."""
    return isinstance(placed.exits[leader], h.If) and not shapes.splits(leader)
