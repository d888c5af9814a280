"""Builtin functions on the bits of i32 and u32 (WGSL, "Numeric Built-in Functions")."""

from __future__ import annotations

from collections.abc import Callable

from ..arithmetic import IntUnary
from ..scalars import EvaluationError, Mode, wrap
from ..types import I32, Scalar
from .registry import Check, componentwise

_INTEGER = "[T: integers](e: T) -> T"
_WIDTH = 32


def _of_pattern(function: IntUnary, scalar: Scalar) -> IntUnary:
    """Converts a function of bit patterns, as unsigned numbers, to one of values of the type."""
    return lambda e: wrap(scalar, function(e & 0xFFFFFFFF))


@componentwise("countLeadingZeros", _INTEGER)
def _count_leading_zeros(scalar: Scalar, mode: Mode) -> IntUnary:
    """The number of 0 bits above the highest 1 bit."""
    del mode
    return _of_pattern(lambda bits: _WIDTH - bits.bit_length(), scalar)


@componentwise("countOneBits", _INTEGER)
def _count_one_bits(scalar: Scalar, mode: Mode) -> IntUnary:
    """How many bits are 1."""
    del mode
    return _of_pattern(int.bit_count, scalar)


@componentwise("countTrailingZeros", _INTEGER)
def _count_trailing_zeros(scalar: Scalar, mode: Mode) -> IntUnary:
    """The number of 0 bits below the lowest 1 bit."""
    del mode
    return _of_pattern(lambda bits: _lowest_one(bits) if bits else _WIDTH, scalar)


@componentwise("firstLeadingBit", _INTEGER)
def _first_leading_bit(scalar: Scalar, mode: Mode) -> IntUnary:
    """The position of the highest bit that differs from the sign bit (for a u32: of the highest 1 bit), or -1."""
    del mode
    if scalar is I32:
        return lambda e: (~e if e < 0 else e).bit_length() - 1
    return _of_pattern(lambda bits: bits.bit_length() - 1, scalar)


@componentwise("firstTrailingBit", _INTEGER)
def _first_trailing_bit(scalar: Scalar, mode: Mode) -> IntUnary:
    """The position of the lowest 1 bit, or -1."""
    del mode
    return _of_pattern(_lowest_one, scalar)


def _lowest_one(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


@componentwise("reverseBits", _INTEGER)
def _reverse_bits(scalar: Scalar, mode: Mode) -> IntUnary:
    """The bits in reverse order."""
    del mode
    return _of_pattern(lambda bits: int(f"{bits:032b}"[::-1], 2), scalar)


def _check_field(scalar: Scalar, offset: int, count: int) -> None:
    del scalar
    if offset + count > _WIDTH:
        raise EvaluationError(f"{count} bits from bit {offset} on are more than the {_WIDTH} that there are")


_FIELD_CHECK = Check(("offset", "count"), _check_field)


def _field(offset: int, count: int) -> tuple[int, int]:
    """The offset and the mask of a bit field, clamped to the width of the type."""
    offset = min(offset, _WIDTH)
    return offset, (1 << min(count, _WIDTH - offset)) - 1


@componentwise("extractBits", "[T: integers](e: T, offset: u32, count: u32) -> T", checks=[_FIELD_CHECK])
def _extract_bits(scalar: Scalar, mode: Mode) -> Callable[[int, int, int], int]:
    """The bits of a field, sign-extended for an i32."""
    del mode

    def extract(e: int, offset: int, count: int) -> int:
        offset, mask = _field(offset, count)
        bits = (e >> offset) & mask
        is_negative = scalar is I32 and bits > mask >> 1
        return bits - mask - 1 if is_negative else bits

    return extract


@componentwise("insertBits", "[T: integers](e: T, newbits: T, offset: u32, count: u32) -> T", checks=[_FIELD_CHECK])
def _insert_bits(scalar: Scalar, mode: Mode) -> Callable[[int, int, int, int], int]:
    """The first argument with a field of bits replaced by the lowest bits of the second."""
    del mode

    def insert(e: int, newbits: int, offset: int, count: int) -> int:
        offset, mask = _field(offset, count)
        return wrap(scalar, (e & ~(mask << offset)) | ((newbits & mask) << offset))

    return insert
