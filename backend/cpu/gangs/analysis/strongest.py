"""Which tests imply others: of bounds of sums that differ by a constant, the greatest or the least decides.

The accesses of a stencil or of a block of a matrix product are at constant distances from each other. Only some of
their tests need be made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

_Terms: TypeAlias = "tuple[tuple[str, int], ...]"
_UPPER = ("ult", "ule", "slt", "sle")
_LOWER = ("sgt", "sge")
_NEAR = 1 << 31
"""Sums are compared up to this constant. Terms that fit in 32 bits, which other tests say, do not wrap with it."""
_MOST_TERMS = 8


@dataclass(frozen=True, slots=True)
class _Sum:
    """The sum of a constant and of values times factors, modulo 2^64."""

    terms: _Terms
    constant: int


@dataclass(frozen=True, slots=True)
class _Bound:
    """A comparison of a sum with a limit."""

    order: str
    terms: _Terms
    limit: str
    constant: int


@dataclass(slots=True)
class ImpliedTests:
    """Keeps how values of 64 bits, by their names, were made, and what tests compare."""

    _sums: dict[str, _Sum] = field(default_factory=dict[str, _Sum])
    _bounds: dict[str, _Bound] = field(default_factory=dict[str, _Bound])

    def made(self, instruction: str, left: str, right: str, result: str) -> None:
        """Take note of the result of an instruction."""
        found = _combined(instruction, self._sum(left), self._sum(right))
        if found is not None and len(found.terms) <= _MOST_TERMS and not _is_number(result):
            self._sums.setdefault(result, found)

    def compared(self, order: str, left: str, right: str, test: str) -> None:
        """Take note of a comparison with a limit on the right; one whose outcome is known stands for itself."""
        sum = self._sum(left)
        if abs(sum.constant) < _NEAR and test[0] == "%":
            self._bounds.setdefault(test, _Bound(order, sum.terms, right, sum.constant))

    def strongest(self, tests: Iterable[str]) -> list[str]:
        """The tests that imply all the given ones."""
        kept: dict[object, str] = {}
        for test in tests:
            bound = self._bounds.get(test)
            key = test if bound is None else (bound.order, bound.terms, bound.limit)
            other = kept.get(key)
            if other is None or (bound is not None and _is_stronger(bound, self._bounds[other])):
                kept[key] = test
        return list(kept.values())

    def _sum(self, text: str) -> _Sum:
        if _is_number(text):
            return _Sum((), _signed(int(text)))
        return self._sums.get(text) or _Sum(((text, 1),), 0)


def _is_stronger(bound: _Bound, other: _Bound) -> bool:
    if bound.order in _UPPER:
        return bound.constant > other.constant
    return bound.order in _LOWER and bound.constant < other.constant


def _combined(instruction: str, left: _Sum, right: _Sum) -> _Sum | None:
    match instruction:
        case "add":
            return _added(left, right, 1)
        case "sub":
            return _added(left, right, -1)
        case "mul" if not left.terms or not right.terms:
            sum, factor = (right, left.constant) if not left.terms else (left, right.constant)
            return _scaled(sum, factor)
        case "shl" if not right.terms and 0 <= right.constant < 32:
            return _scaled(left, 1 << right.constant)
        case _:
            return None


def _added(left: _Sum, right: _Sum, sign: int) -> _Sum:
    factors = dict(left.terms)
    for term, factor in right.terms:
        factors[term] = factors.get(term, 0) + sign * factor
    terms = tuple(sorted((term, factor) for term, factor in factors.items() if factor))
    return _Sum(terms, left.constant + sign * right.constant)


def _scaled(sum: _Sum, factor: int) -> _Sum:
    return _Sum(tuple((term, it * factor) for term, it in sum.terms if factor), sum.constant * factor)


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdigit()


def _signed(number: int) -> int:
    """A literal of 64 bits as a signed number."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)
