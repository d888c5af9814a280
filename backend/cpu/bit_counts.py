"""The zeros before the first and after the last bit of 32-bit integers.

Only AVX-512 and Arm count them in vectors. Elsewhere LLVM counts bits by a table, which takes it 13 to 20 instructions.
Converting a single bit to a float gives its number as the exponent ("IEEE 754-2019", "Binary interchange format").
"""

from __future__ import annotations

from .llvm import Ops

_BITS = 32
_MANTISSA_BITS, _EXPONENT_BITS, _BIAS = 23, 0xFF, 127
"""Of a float of 32 bits."""


def trailing_zeros(ops: Ops, value: str) -> str:
    """The zeros after the last bit that is set; 32 if there is none."""
    if not _is_by_float(ops):
        return ops.intrinsic("llvm.cttz", "i32", value, flags=("false",))
    lowest = ops.binary("and", "i32", value, ops.binary("sub", "i32", ops.constant("i32", 0), value))
    # of no bit the exponent is 0, which is below the bias
    number = ops.binary("sub", "i32", _exponent(ops, lowest), ops.constant("i32", _BIAS))
    return ops.intrinsic("llvm.umin", "i32", number, ops.constant("i32", _BITS))


def leading_zeros(ops: Ops, value: str) -> str:
    """The zeros before the first bit that is set; 32 if there is none."""
    if not _is_by_float(ops):
        return ops.intrinsic("llvm.ctlz", "i32", value, flags=("false",))
    shifted = ops.binary("lshr", "i32", value, ops.constant("i32", 1))
    # without a bit right after the first one, the float is not rounded up to the next power of two
    first = ops.binary("and", "i32", value, ops.binary("xor", "i32", shifted, ops.constant("i32", -1)))
    number = ops.binary("sub", "i32", ops.constant("i32", _BIAS + _BITS - 1), _exponent(ops, first))
    limited = ops.intrinsic("llvm.umin", "i32", number, ops.constant("i32", _BITS))
    is_positive = ops.binary("icmp sgt", "i32", value, ops.constant("i32", -1))
    return ops.select(is_positive, "i32", limited, ops.constant("i32", 0))


def _exponent(ops: Ops, value: str) -> str:
    """The exponent of a signed integer as a float."""
    bits = ops.convert("bitcast", "float", ops.convert("sitofp", "i32", value, "float"), "i32")
    above = ops.binary("lshr", "i32", bits, ops.constant("i32", _MANTISSA_BITS))
    return ops.binary("and", "i32", above, ops.constant("i32", _EXPONENT_BITS))


def _is_by_float(ops: Ops) -> bool:
    target = ops.out.module.target
    return ops.lanes > 1 and not target.has_avx512 and not target.is_arm
