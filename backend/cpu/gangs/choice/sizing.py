"""Which forks run as gangs, and of how many lanes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import gcd
from typing import assert_never

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.graph import positions_of
from .....ir.hercules.placement import Placement
from .....ir.hercules.versions import is_version_projection
from ...storage import StoragePlan
from ...target import current_target
from .. import budgets
from ..analysis.counts import has_atomics, is_at_one_address
from ..analysis.segments import segment_counter
from ..gang import Gang
from .scattered import parts_for_scattered
from .transposing import transposes_rows
from .whole_lines import parts_for_lines
from .widen import ThreadLimit

_FEWEST = 4
"""The number of lanes of the smallest vectors."""
_MOST_PARTS = 16
"""The most parts of a gang that is a workgroup: half of the 32 vector registers of AVX-512. With the 16 registers of
AVX2, spilling some is faster than what else there is.
"""
_GANGS = 8
"""The number of gangs of one row or several rows for which one test is made, if rows are short."""
_FEWEST_ACCESSES, _LIGHT = 4, 16
"""Minimum number of accesses, and maximum number of operations for each, of bodies in which tests take long."""


def size_gangs(
    placed: Placement, plan: StoragePlan, native: int, limit: ThreadLimit | None, *, as_one_gang: bool
) -> list[Gang]:
    """The gang of each nest of forks over literal factors; `native` is the number of lanes of a vector register.

    A gang runs the innermost fork, and the forks around it as long as that makes larger gangs. With `as_one_gang`, a
    small workgroup of a kernel with barriers is one gang. Nests of one thread have no gang.
    """
    found = nests(placed)
    is_alone = len(found) == 1
    gangs = [
        _of_nest(placed, plan, it, native, as_one_gang=as_one_gang and not is_alone, is_alone=is_alone) for it in found
    ]
    chosen = [gang for gang in gangs if gang.lanes > 1]
    return [replace(gang, limit=limit) if limit is not None and limit.inner in gang.forks else gang for gang in chosen]


def nests(placed: Placement) -> list[list[h.Fork]]:
    """The outermost forks over literal factors inside of which no dynamic fork has another such fork inside, each
    followed by the forks perfectly nested in it.
    """
    outside: set[h.Fork] = set()
    for fork in placed.nest.joins:
        if isinstance(fork.factor, h.DynamicLiteral):
            outside.update(_until_dynamic(placed.nest.around[fork]))
    found: list[list[h.Fork]] = []
    for fork, join in placed.nest.joins.items():
        is_literal = isinstance(fork.factor, h.DynamicLiteral)
        if not is_literal or fork in outside or not outside.issuperset(placed.nest.around[fork][:-1]):
            continue
        nest = [fork]
        while (inner := _perfectly_inside(placed, fork, join)) is not None:
            fork, join = inner
            nest.append(fork)
        found.append(nest)
    return found


def _until_dynamic(forks: Sequence[h.Fork]) -> Sequence[h.Fork]:
    """Those of some nested forks, outermost first, down to the innermost with a dynamic factor."""
    numbers = [number for number, it in enumerate(forks) if not isinstance(it.factor, h.DynamicLiteral)]
    return forks[: numbers[-1] + 1] if numbers else ()


def _of_nest(
    placed: Placement, plan: StoragePlan, nest: list[h.Fork], native: int, *, as_one_gang: bool, is_alone: bool
) -> Gang:
    """The gang of a nest: forks from the inside out until their threads fill it. All but the outermost have a power of
    two threads, so that rows are whole. If loops access memory, a part is one row: a row is one access.
    """
    if _iterates_segments(placed, nest[-1]):
        native = max(native // 2, min(native, _FEWEST))
    wanted = native * (native if transposes_rows(placed, nest, native) else _parts(placed, plan, nest[-1], native))
    if as_one_gang and _is_small(placed, nest, native):
        wanted = Gang(tuple(nest), 1).count
    forks = nest[-1:]
    count = row = Gang(tuple(forks), 1).count
    for fork in reversed(nest[:-1]):
        if count >= wanted or count & (count - 1):
            break
        forks.insert(0, fork)
        count *= Gang((fork,), 1).count
    if is_alone and _is_light(placed, nest[-1]):
        forks, count = _with_rows(nest, forks, count, _GANGS * wanted)
    is_row = row & (row - 1) == 0 and row >= native // 2 and _accesses_in_loops(placed, nest[-1])
    lanes = min(native, row if is_row else 1 << (count - 1).bit_length())
    return Gang(tuple(forks), lanes, gcd(max(wanted // lanes, 1), -(-count // lanes)))


def _with_rows(nest: list[h.Fork], forks: list[h.Fork], count: int, wanted: int) -> tuple[list[h.Fork], int]:
    """More forks around those of a gang, until they have so many threads: one test serves all gangs of them (see
    `control.whole_forks`).
    """
    for fork in reversed(nest[: -len(forks)]):
        if count >= wanted or count & (count - 1):
            break
        forks, count = [fork, *forks], count * Gang((fork,), 1).count
    return forks, count


def _is_light(placed: Placement, fork: h.Fork) -> bool:
    """Whether a body without loops does little but access memory, at several positions."""
    inside = placed.members.inside(fork)
    accesses = sum(isinstance(it, (h.Read, h.Write)) and not is_version_projection(it) for it in inside)
    is_plain = not _loop_nodes(placed, fork) and not has_atomics(placed, inside) and not _has_calls(inside)
    return is_plain and accesses >= _FEWEST_ACCESSES and len(inside) <= _LIGHT * accesses


def _is_small(placed: Placement, nest: list[h.Fork], native: int) -> bool:
    """Whether a workgroup may be one gang, which keeps values that live across barriers in registers."""
    inside = placed.members.inside(nest[-1])
    vectors = Gang(tuple(nest), 1).count // native
    is_plain = not _loop_nodes(placed, nest[-1]) and not has_atomics(placed, inside) and not _has_calls(inside)
    return is_plain and vectors <= _MOST_PARTS and vectors * len(inside) <= budgets.PARTS


def _perfectly_inside(placed: Placement, fork: h.Fork, join: h.Join) -> tuple[h.Fork, h.Join] | None:
    """The fork that is perfectly nested in another, and its join; None if there is none."""
    for following in placed.graph.successors[fork]:
        if isinstance(following, h.Fork) and placed.nest.joins[following] is join.control:
            inner = placed.nest.joins[following]
            return (following, inner) if isinstance(following.factor, h.DynamicLiteral) else None
    return None


def _loop_nodes(placed: Placement, fork: h.Fork) -> list[h.Node]:
    """The nodes in loops inside of a fork."""
    headers = {it.header for it in placed.members.loops.get(fork, ())}
    blocks = placed.members.blocks.get(fork, ())
    return placed.members.in_blocks(
        it for it in blocks if any(loop.header in headers for loop in placed.loops.around[it])
    )


def _accesses_in_loops(placed: Placement, fork: h.Fork) -> bool:
    return any(isinstance(it, (h.Read, h.Write, h.Atomic)) for it in _loop_nodes(placed, fork))


def _has_calls(nodes: Iterable[h.Node]) -> bool:
    return any(isinstance(it, h.Call) for it in nodes)


def _parts(placed: Placement, plan: StoragePlan, fork: h.Fork, lanes: int) -> int:
    """The number of parts: several dependency chains overlap while a loop's values fit into registers; larger gangs
    make fewer atomic operations at one address, and store whole cache lines.
    """
    nodes = _loop_nodes(placed, fork)
    inside = placed.members.inside(fork)
    if not nodes and any(isinstance(it, h.Atomic) and is_at_one_address(it) for it in inside):
        return 4
    if not nodes and not has_atomics(placed, inside) and not _has_calls(inside):
        return max(parts_for_scattered(inside, placed.types), parts_for_lines(placed, plan, fork, inside, lanes))
    if not nodes or has_atomics(placed, inside) or _has_calls(inside) or _iterates_segments(placed, fork):
        return 1
    if 4 * len(nodes) <= budgets.PARTS_OF_LOOP and not _has_divergent_branches(placed, fork):
        return 4 if _leaves_apart(placed, fork) else _parts_in_registers(_carried(placed, fork))
    return 2 if 2 * len(nodes) <= budgets.PARTS_OF_LOOP else 1


def _parts_in_registers(carried: int) -> int:
    """The parts whose loop-carried values, so many in each, take half of the registers; at least four."""
    half = current_target().vector_registers // 2
    return max(4, half // (carried or half))


def _iterates_segments(placed: Placement, fork: h.Fork) -> bool:
    """Whether each thread iterates over a segment of its own. Smaller gangs then wait less for their longest segment
    and for memory.
    """
    loops = placed.members.loops.get(fork, ())
    return any(segment_counter(placed, it.header) is not None for it in loops)


def _has_divergent_branches(placed: Placement, fork: h.Fork) -> bool:
    """Whether threads may diverge inside of a loop: larger gangs then run both ways of a branch more often."""
    loops = placed.members.loops.get(fork, ())
    branches = [(loop, node) for loop in loops for node in loop.body if isinstance(node, h.If)]
    return any(
        all(it in loop.body for it in placed.graph.successors[branch]) and _varies(branch.condition, loop)
        for loop, branch in branches
    )


def _leaves_apart(placed: Placement, fork: h.Fork) -> bool:
    """Whether threads may leave a loop in different iterations: larger gangs then wait longer for the last one."""
    loops = placed.members.loops.get(fork, ())
    branches = [(loop, node) for loop in loops for node in loop.body if isinstance(node, h.If)]
    return any(
        not all(it in loop.body for it in placed.graph.successors[branch]) and _varies(branch.condition, loop)
        for loop, branch in branches
    )


def _carried(placed: Placement, fork: h.Fork) -> int:
    """The number of loop-carried values that are no counters, rounded up to a power of two."""
    loops = {it.header: it for it in placed.members.loops.get(fork, ())}
    phis = [it for it in _loop_nodes(placed, fork) if isinstance(it, h.Phi)]
    count = sum(it.region in loops and _varies(it, loops[it.region]) for it in phis)
    return 1 << (count - 1).bit_length() if count else 0


def _varies(node: h.Node, loop: Loop, depth: int = 6) -> bool:
    """Whether a value may differ between threads in the same iteration, that is, depends on more than counters."""
    match node:
        case h.ConstantNode() | h.DynamicConstantNode():
            return False
        case h.Phi(region=region, values=values) if region is loop.header:
            steps = [it for it in values if isinstance(it, h.Binary) and node in (it.lhs, it.rhs)]
            others = {other for it in steps for other in (it.lhs, it.rhs) if other is not node}
            return not steps or any(not isinstance(it, h.ConstantNode) for it in others)
        case h.Binary(lhs=lhs, rhs=rhs) if depth > 0:
            return _varies(lhs, loop, depth - 1) or _varies(rhs, loop, depth - 1)
        case h.Unary(operand=operand) | h.Cast(operand=operand) if depth > 0:
            return _varies(operand, loop, depth - 1)
        case h.Read(indices=indices) if depth > 0:
            positions = positions_of(indices)
            return any(_varies(it, loop, depth - 1) for it in positions)
        case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
            return True
        case _:
            assert_never(node)
