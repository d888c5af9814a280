"""Estimated costs of blocks and loops, which decide between jumps and masks, and about unrolling."""

from __future__ import annotations

from math import isfinite, prod
from typing import assert_never

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.costs import DIVISION, operation_cost
from .....ir.hercules.placement import Placement
from ... import math
from ...trip_counts import HALVINGS, max_trip_count
from .body import Level
from .counts import is_count
from .shapes import Shapes

SMALL = 10
"""The greatest cost of a block that runs under a mask without a jump around it."""
MISPREDICTED = 22
"""The same for a block that iterations of a loop may skip or not: which they do often changes, and the operations of
such a block take as long as it takes processors to find out that a jump was predicted wrongly, some 20 cycles.
"""
_COUNT = 4
"""An operation at one address for all lanes: the number of lanes in a mask is added to memory."""
_LONG_FUNCTION = 12
"""A builtin function that is none of the short ones, such as `exp`, which is computed by a polynomial."""
_SOME_TURNS = 8
"""The turns of a loop of which nothing is known."""
_UNROLLED = 400
"""The most operations of a counted loop after it is unrolled, and its inner loops are not; LLVM keeps larger loops."""


def block_cost(placed: Placement, leader: h.Node) -> float:
    """The cost of a block: about one for each operation, infinity with a write, a call, or an atomic operation
    that is no count.
    """
    total = 0.0
    for node in placed.blocks[leader]:
        match node:
            case h.Atomic() if is_count(placed, node):
                total += _COUNT
            case h.Write() | h.Atomic() | h.Call():
                return float("inf")
            case h.Intrinsic(function=name) if math.is_transcendental(name):
                return float("inf")
            case h.Binary(op=h.BinaryOp.DIV | h.BinaryOp.REM):
                total += DIVISION
            case h.Read():
                total += 3
            case h.ScalarNode() | h.InputNode() | h.ProductNode() | h.PinnedNode() | h.ControlNode():
                total += 1
            case _:
                assert_never(node)
    return total


def operations_for_each_read(placed: Placement, loop: Loop) -> float:
    """The operations of a turn of a loop, divided by its reads of collections."""
    nodes = [it for leader in loop.body for it in placed.blocks.get(leader, ())]
    return sum(map(_operations, nodes)) / max(1, sum(isinstance(it, h.Read) for it in nodes))


def operations_of_turn(placed: Placement, loop: Loop) -> float:
    """The operations of a turn of a loop, with all turns of the loops inside, as far as their number is known."""
    total = 0.0
    for leader in loop.body:
        inner = [it for it in placed.loops.around[leader] if it is not loop and it.header in loop.body]
        turns = prod(it if isfinite(it) else _SOME_TURNS for it in (max_trip_count(placed, it) for it in inner))
        total += turns * sum(map(_operations, placed.blocks.get(leader, ())))
    return total


def _operations(node: h.Node) -> int:
    found = operation_cost(node)
    return (_LONG_FUNCTION if isinstance(node, h.Intrinsic) else 0) if found is None else found


def is_short(placed: Placement, shapes: Shapes, level: Level, parts: int) -> bool:
    """Whether a loop and its inner loops have small constant trip counts that LLVM is sure to find.

    A branch on a value that all lanes share, such as a counter, rules that out: LLVM may split such a loop into several
    ones, and warns if it cannot unroll one of them.
    """
    if not isinstance(level.container, Loop) or level in shapes.divergent:
        return False
    trips = max_trip_count(placed, level.container)
    size = sum(len(placed.blocks[it]) for it in level.leaders) * parts
    is_counted = trips < HALVINGS and [edge.source for edge in level.exits] == [level.header]
    is_plain = not any(_is_uniform_branch(placed, shapes, it) for it in level.leaders if not _is_header(level, it))
    inner = [it.inner for it in level.items if it.inner is not None]
    is_small = trips * size <= _UNROLLED
    return is_counted and is_plain and is_small and all(is_short(placed, shapes, it, parts) for it in inner)


def _is_header(level: Level, leader: h.Node) -> bool:
    """Whether a block is the header of a loop or of an inner loop."""
    inner = [it.inner for it in level.items if it.inner is not None]
    return leader is level.header or any(_is_header(it, leader) for it in inner)


def _is_uniform_branch(placed: Placement, shapes: Shapes, leader: h.Node) -> bool:
    """Whether a block ends with a uniform branch."""
    return isinstance(placed.exits[leader], h.If) and not shapes.splits(leader)
