"""What a run of a function computes that WGSL leaves open: it may be different on each GPU."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from unittest import mock

from tinct.compare import EXACT, Tolerance
from tinct.ir.hercules import interp, operations
from tinct.ir.hercules.arithmetic import ScalarValue
from tinct.ir.hercules.nodes import AnyScalarNode, Binary, BinaryOp, Float, Function
from tinct.ir.hercules.types import F16, F32, Scalar

DIVISION = Tolerance(ulp=2.5)
"""WGSL, "Accuracy of Concrete Floating Point Expressions": of `x / y`."""
_EPSILON = {F16: 2.0**-10, F32: 2.0**-23}
"""A unit in the last place of 1."""
_SMALLEST_NORMAL = {F16: 2.0**-14, F32: 2.0**-126}


@dataclass(slots=True)
class _Found:
    is_open: bool = False
    divides: bool = False


def tolerance_of(function: Function, constants: Sequence[int], arguments: Sequence[object]) -> Tolerance | None:
    """How far floats in the results of a run may be off; None if they, and what depends on them, may be anything.

    WGSL lets implementations assume that there are no infinities and NaNs, and flush subnormal numbers ("Differences
    from IEEE-754").
    """
    found = _Found()
    make = operations.kernel

    def noting(node: AnyScalarNode, operands: Sequence[Scalar], result: Scalar) -> operations.Kernel:
        return _noting(found, make(node, operands, result), node, [*operands, result])

    with mock.patch.object(operations, "kernel", noting):
        interp.run(function, constants, arguments)
    if found.is_open:
        return None
    return DIVISION if found.divides else EXACT


def _noting(
    found: _Found, compute: Callable[..., ScalarValue], node: AnyScalarNode, types: Sequence[Scalar]
) -> operations.Kernel:
    is_remainder = isinstance(node, Binary) and node.op is BinaryOp.REM and isinstance(types[0], Float)
    divides = is_remainder or (isinstance(node, Binary) and node.op is BinaryOp.DIV and isinstance(types[0], Float))

    def run(*operands: ScalarValue) -> ScalarValue:
        result = compute(*operands)
        found.divides |= divides
        found.is_open |= any(map(_is_open, [*operands, result], types))
        found.is_open |= is_remainder and _has_open_remainder(*map(float, operands), types[0])
        return result

    return run


def _is_open(value: ScalarValue, type: Scalar) -> bool:
    if not isinstance(type, Float):
        return False
    return not math.isfinite(value) or 0 < abs(value) < _SMALLEST_NORMAL.get(type, 0)


def _has_open_remainder(x: float, y: float, type: Scalar) -> bool:
    """Whether `x % y`, whose error is that of `x - y * trunc(x / y)`, may be off by more than a division.

    The quotient may have another whole part, or the product may be rounded to a multiple of less digits than the
    remainder has (WGSL, "Accuracy of Concrete Floating Point Expressions").
    """
    if not (math.isfinite(x) and math.isfinite(y)) or y == 0:
        return True
    quotient, error = abs(x / y), 2.5 * _EPSILON.get(type, 0)
    return math.floor(quotient * (1 - error)) != math.floor(quotient * (1 + error)) or quotient >= 2
