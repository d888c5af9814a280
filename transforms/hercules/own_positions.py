"""Positions that are linear functions of a thread's or an iteration's number, where no two numbers share a position.

Functions are compared modulo the narrowest type that the position passes through (`linear_forms`). A multiple by an odd
factor never repeats then; one by 2^k, in 64 bits, only after 2^(64 - k) numbers, which nothing counts to while k is at
most 16.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from ...ir.hercules.nodes import Node, Type
from .linear_forms import LinearForms, term_of

_WORD: Final = 64
_NARROWEST: Final = 32
"""Bits that surely hold every number of a thread."""
_SHIFT: Final = 16


@dataclass(frozen=True, slots=True)
class OwnPosition:
    """`factor * number + constant + ` the sum of `others`, terms that are the same in all iterations, with their
    factors, modulo 2^`bits`.
    """

    factor: int = 1
    constant: int = 0
    others: frozenset[tuple[Node, int]] = field(default_factory=frozenset[tuple[Node, int]])
    bits: int = _WORD


def own_position(
    position: Node, numbers: Collection[Node], types: Mapping[Node, Type], is_fixed: Callable[[Node], bool]
) -> tuple[Node, OwnPosition] | None:
    """One of the numbers, and the position as a function of it that gives each number a position of its own; None if
    it is not such a function. `is_fixed` says of a term whether all iterations see the same value.
    """
    form = LinearForms(types, whole=numbers).of(position)
    by_term = {term_of(number): number for number in numbers}
    own = [term for term in form.terms if term in by_term]
    others = frozenset((term, factor) for term, factor in form.terms.items() if term not in by_term)
    if form.bits < _NARROWEST or len(own) != 1 or not all(is_fixed(term) for term, _ in others):
        return None
    factor = form.terms[own[0]]
    if not _is_injective(factor, form.bits):
        return None
    is_plain = factor == 1 and form.constant == 0 and not others
    return by_term[own[0]], OwnPosition(factor, form.constant, others, _WORD if is_plain else form.bits)


def _is_injective(factor: int, bits: int) -> bool:
    twos = (factor & -factor).bit_length() - 1
    return factor != 0 and (twos == 0 or (bits == _WORD and twos <= _SHIFT))
