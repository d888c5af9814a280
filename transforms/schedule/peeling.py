"""Conditions under which the iterations of peeled dimensions need no tests: neither of indices nor of boundaries.

A condition is about one iteration of the first level of a dimension, and holds for all iterations of the levels inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from ...ir import types as w
from ...ir.core.builder import constant, u32
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.schedule.nodes import Affine, Boundary, LevelName, Load, Term
from .addresses import Addresses


@dataclass(slots=True)
class Interior:
    """Conditions, and the subscripts that are inside of their arrays where they hold."""

    conditions: list[Value] = field(default_factory=list[Value])
    sure: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])


def whole(addresses: Addresses, dimension: str) -> Value:
    """Whether all indices of the current iteration of the first level are in the dimension."""
    return addresses.frame.builder.binary(
        BinaryOp.LESS, addresses.at[LevelName(dimension, 0)], whole_count(addresses, dimension)
    )


def whole_count(addresses: Addresses, dimension: str) -> Value:
    """The number of iterations of the first level all of whose indices are in the dimension."""
    inner = u32(addresses.decided.inner(dimension))
    return addresses.frame.binary(BinaryOp.DIVIDE, addresses.size(dimension), inner)


@dataclass(frozen=True, slots=True)
class Subscript:
    """A subscript of a load that may be outside of its array."""

    load: Load
    position: int
    extent: Affine

    @property
    def affine(self) -> Affine:
        """The subscript."""
        return self.load.subscripts[self.position]


def subscripts_on(
    addresses: Addresses, loads: Iterable[str], now: Iterable[str], before: Iterable[str]
) -> list[Subscript]:
    """The subscripts that may be outside of their arrays, and whose last peeled dimension is one of `now`; those of
    `before` are entered already.
    """
    decided, current, entered = addresses.decided, set(now), {*now, *before}
    found: list[Subscript] = []
    for load in map(decided.scope.values.get, sorted(loads)):
        if not isinstance(load, Load) or load.boundary is Boundary.INSIDE:
            continue
        for position, (subscript, extent) in enumerate(
            zip(load.subscripts, decided.scope.arrays[load.array].extents, strict=True)
        ):
            peeled = {it.name for it in subscript.terms} & set(decided.decisions.peeled)
            is_last = bool(peeled & current) and peeled <= entered
            if is_last and not decided.is_inside(load, position, {}):
                found.append(Subscript(load, position, extent))
    return found


def interior(addresses: Addresses, dimensions: Iterable[str], subscripts: Iterable[Subscript]) -> Interior:
    """The conditions of dimensions that may have tails, and of subscripts."""
    result = Interior()
    padded = [it for it in dimensions if addresses.decided.is_padded(it)]
    result.conditions += [whole(addresses, it) for it in padded]
    groups: dict[tuple[object, Affine], list[Subscript]] = {}
    for it in subscripts:
        result.sure.add((it.load.name, it.position))
        groups.setdefault((frozenset(it.affine.terms), it.extent), []).append(it)
    for (_, extent), members in groups.items():
        result.conditions += _inside([it.affine for it in members], extent, addresses)
    return result


def _inside(subscripts: list[Affine], extent: Affine, addresses: Addresses) -> Iterator[Value]:
    """That subscripts which differ in their constants are inside, for all iterations of the levels inside."""
    terms, builder = subscripts[0].terms, addresses.frame.builder
    constants = [it.constant for it in subscripts]
    if min(constants) < 0 or any(it.coefficient < 0 for it in terms):
        low = addresses.summed(Affine(terms, min(constants)), partial(_end, addresses, is_high=False))
        yield builder.binary(BinaryOp.GREATER_EQUAL, builder.convert(w.I32, low), constant(w.I32, 0))
    if not (_is_index(terms, extent, addresses) and max(constants) <= 0):
        high = addresses.summed(Affine(terms, max(constants)), partial(_end, addresses, is_high=True))
        most = builder.convert(w.I32, addresses.affine(extent, {}))
        yield builder.binary(BinaryOp.LESS, builder.convert(w.I32, high), most)


def _is_index(terms: tuple[Term, ...], extent: Affine, addresses: Addresses) -> bool:
    """Whether a subscript is the index of a dimension as large as the array, but for a constant."""
    if len(terms) != 1 or terms[0].coefficient != 1:
        return False
    dimension = addresses.decided.scope.dimensions.get(terms[0].name)
    return dimension is not None and dimension.size == extent


def _end(addresses: Addresses, name: str, coefficient: int, *, is_high: bool) -> Value:
    """The index of a dimension at which a term is least or greatest; a size itself."""
    frame, decided = addresses.frame, addresses.decided
    if name in frame.sizes:
        return frame.sizes[name]
    is_last = is_high == (coefficient > 0)
    if name not in decided.decisions.peeled:
        return frame.binary(BinaryOp.SUBTRACT, addresses.size(name), u32(1)) if is_last else u32(0)
    inner = decided.inner(name)
    first = frame.binary(BinaryOp.MULTIPLY, addresses.at[LevelName(name, 0)], u32(inner))
    return frame.binary(BinaryOp.ADD, first, u32(inner - 1 if is_last else 0))
