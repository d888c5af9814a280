"""Sizes that depend on the dynamic constants of a run, in the form in which they are kept on disk and given to C.

A process that runs machine code from the cache computes with these, and needs no Hercules IR.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from ...base.u64 import COMPUTE

if TYPE_CHECKING:
    from ...ir.hercules.nodes import DynamicConstant

Extent: TypeAlias = tuple[tuple[int, int], ...]
"""Terms in postfix order: `(LITERAL, value)`, `(PARAMETER, index)`, or `(OPERATION + index in WORDS, 0)`."""

LITERAL, PARAMETER, OPERATION = range(3)
WORDS: Final = ("add", "sub", "mul", "div", "rem", "min", "max")
"""The operations of `pool/sequence.h`, in their order."""
_OPERATIONS: Final = tuple(COMPUTE[word] for word in WORDS)


def extent_of(constant: DynamicConstant) -> Extent:
    """The extent that a dynamic constant is."""
    from ...ir.hercules.nodes import DynamicBinary, DynamicLiteral

    match constant:
        case DynamicLiteral(value):
            return ((LITERAL, value),)
        case DynamicBinary(op, lhs, rhs):
            return (*extent_of(lhs), *extent_of(rhs), (OPERATION + WORDS.index(op.value), 0))
        case _:
            return ((PARAMETER, constant.index),)


def product(extents: Sequence[Extent]) -> Extent:
    """The product of extents."""
    if not extents:
        return ((LITERAL, 1),)
    multiply = (OPERATION + WORDS.index("mul"), 0)
    return extents[0] + tuple(it for extent in extents[1:] for it in (*extent, multiply))


def evaluate(extent: Extent, constants: Sequence[int]) -> int:
    """The value of an extent, given the values of the dynamic constants."""
    stack: list[int] = []
    for kind, number in extent:
        if kind == LITERAL:
            stack.append(number)
        elif kind == PARAMETER:
            stack.append(constants[number])
        else:
            rhs = stack.pop()
            stack.append(_OPERATIONS[kind - OPERATION](stack.pop(), rhs))
    return stack.pop()


def depth(extent: Extent) -> int:
    """The most values that are kept while an extent is computed."""
    most = now = 0
    for kind, _ in extent:
        now += 1 if kind < OPERATION else -1
        most = max(most, now)
    return most
