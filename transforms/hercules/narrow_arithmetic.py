"""Arithmetic on 8-bit and 16-bit integers in 32 bits: wrapping, conversions, and the operations of atomics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from ...ir.hercules import nodes as h
from ...ir.hercules.arithmetic import integer_range
from ...ir.hercules.types import F16, F32, I32, U16, U32, U64
from .packed_arrays import widened
from .words import Op, Words


def wrapped(words: Words, value: h.Node, type: h.Integer) -> h.Node:
    """A 32-bit integer wrapped to a narrow type, as `widened(type)`."""
    if not type.signed:
        return words.both(value, words.u32((1 << type.bits) - 1))
    count = words.integer(I32, 32 - type.bits)
    return words.binary(Op.SHIFT_RIGHT, words.binary(Op.SHIFT_LEFT, value, count), count)


def converted(words: Words, value: h.Node, source: h.Type, type: h.Integer) -> h.Node:
    """A scalar of the type `source` converted to a narrow integer, as `widened(type)`."""
    target = widened(type)
    match source:
        case h.Bool():
            return words.cast(target, value)
        case h.Float():
            # An infinite f16 gives u32 no more than the greatest f16, which is less than the greatest u16.
            value = words.cast(F32, value) if source == F16 else value
            low, high = (words.integer(target, it) for it in integer_range(type))
            return words.intrinsic("clamp", target, words.cast(target, value), low, high)
        case h.Integer():
            return _integer_as(words, value, source, type)
        case h.Product() | h.Summation() | h.Array() | h.Control():
            raise AssertionError("converts what is no scalar")
        case _:
            assert_never(source)


def _integer_as(words: Words, value: h.Node, source: h.Integer, type: h.Integer) -> h.Node:
    low, high = integer_range(source)
    least, greatest = integer_range(type)
    now, target = widened(source), widened(type)
    if now == U64:
        value = words.cast(target, value)
    elif now != target:
        value = words.bitcast(target, value)
    return value if least <= low and high <= greatest else wrapped(words, value, type)


def same_bits(words: Words, value: h.Node, source: h.Type, type: h.Integer) -> h.Node:
    """The bits of an integer or an f16 as a narrow integer, as `widened(type)`."""
    if isinstance(source, h.Integer):
        return _integer_as(words, value, source, type)
    bits = words.cast(U32, words.bitcast(U16, value))
    return wrapped(words, words.bitcast(I32, bits), type) if type.signed else bits


def after_atomic(words: Words, op: h.AtomicOp, old: h.Node, operands: Sequence[h.Node], type: h.Integer) -> h.Node:
    """The value of an element after an atomic operation on it."""
    of = widened(type)
    match op:
        case h.AtomicOp.LOAD:
            return old
        case h.AtomicOp.STORE | h.AtomicOp.EXCHANGE:
            return operands[0]
        case h.AtomicOp.ADD | h.AtomicOp.SUB:
            return wrapped(words, words.binary(Op(op.value), old, operands[0]), type)
        case h.AtomicOp.MAX | h.AtomicOp.MIN:
            return words.intrinsic(op.value, of, old, operands[0])
        case h.AtomicOp.AND | h.AtomicOp.OR | h.AtomicOp.XOR:
            return words.binary(Op(op.value), old, operands[0])
        case h.AtomicOp.COMPARE_EXCHANGE:
            return words.select(words.binary(Op.EQUAL, old, operands[0]), operands[1], old)
        case _:
            assert_never(op)
