"""The arithmetic of dynamic constants: modulo 2^64, where division and remainder by zero give zero.

It is apart from Hercules IR, since a process that only runs machine code computes extents, and imports no IR.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

MASK: Final = (1 << 64) - 1

COMPUTE: Final[Mapping[str, Callable[[int, int], int]]] = {
    "add": lambda lhs, rhs: (lhs + rhs) & MASK,
    "sub": lambda lhs, rhs: (lhs - rhs) & MASK,
    "mul": lambda lhs, rhs: (lhs * rhs) & MASK,
    "div": lambda lhs, rhs: lhs // rhs if rhs else 0,
    "rem": lambda lhs, rhs: lhs % rhs if rhs else 0,
    "min": min,
    "max": max,
}
"""The value of an operation, by its word."""
