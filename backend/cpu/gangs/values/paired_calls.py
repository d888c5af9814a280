"""Pairs of calls of one float function, made as one call on a vector of twice the lanes.

A function of `backend/cpu/math` is one long dependency chain. LLVM writes each operation on a vector of twice the lanes
as two instructions, so that two chains overlap; the result of a lane does not depend on the number of lanes. Calls are
paired if neither needs the result of the other, and made where the last one is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .....ir.hercules import nodes as h
from .....ir.hercules.graph import predecessors
from ... import intrinsics, math
from ...data import llvm_type
from ...llvm import Ops
from .vectors import LaneVectors

PAIR = 2
"""Vectors in one call. Registers suffice for the constants and two chains, not for more."""


def find_paired_calls(
    nodes: Sequence[h.Node], is_vector: Callable[[h.Node], bool], parts: int
) -> dict[h.Node, tuple[h.Intrinsic, ...]]:
    """The group of calls, in the order of the block, that each call is made with."""
    found: dict[h.Node, tuple[h.Intrinsic, ...]] = {}
    waiting: dict[tuple[str, h.Type], list[h.Intrinsic]] = {}

    def close(group: list[h.Intrinsic]) -> None:
        found.update(dict.fromkeys(group, tuple(group)))
        group.clear()

    for node in nodes:
        needed = list(predecessors(node))
        for group in waiting.values():
            if any(it in needed for it in group):
                close(group)
        if isinstance(node, h.Intrinsic) and math.is_transcendental(node.function) and is_vector(node):
            group = waiting.setdefault((node.function, node.type), [])
            group.append(node)
            if len(group) * parts >= PAIR:
                close(group)
    for group in waiting.values():
        close(group)
    return found


def emit_paired_calls(vectors: LaneVectors, function: str, type: h.Type, calls: Sequence[Sequence[str]]) -> list[str]:
    """The results of calls on vectors of operands, PAIR at a time."""
    results: list[str] = []
    for start in range(0, len(calls), PAIR):
        some = calls[start : start + PAIR]
        joined = tuple(_join(vectors, llvm_type(type), operands) for operands in zip(*some, strict=True))
        result = intrinsics.emit(Ops(vectors.out, vectors.lanes * len(some)), function, type, joined)
        results += _take_apart(vectors, llvm_type(type), result, len(some))
    return results


def _join(vectors: LaneVectors, scalar: str, parts: Sequence[str]) -> str:
    """The concatenation of the vectors."""
    if len(parts) == 1:
        return parts[0]
    first, second = parts
    return vectors.shuffle(scalar, first, second, range(2 * vectors.lanes))


def _take_apart(vectors: LaneVectors, scalar: str, joined: str, count: int) -> list[str]:
    if count == 1:
        return [joined]
    lanes = vectors.lanes
    wide = LaneVectors(Ops(vectors.out, count * lanes))
    return [wide.shuffle(scalar, joined, "poison", range(at * lanes, (at + 1) * lanes)) for at in range(count)]
