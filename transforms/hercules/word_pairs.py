"""Arithmetic on 64-bit integers as pairs of 32-bit words, with the results of `ir/hercules/arithmetic`.

The bits of a pair do not depend on the sign; operations that do take the type of their operands. Two frequent kinds of
pairs are cheap, and marked: *natural* ones, whose high word is zero, and *signed* ones, whose high word repeats the
sign of the low word.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from ...ir.hercules import nodes as h
from ...ir.hercules.text import parse
from ...ir.hercules.types import BOOL, F16, F32, I32, U32, U64
from .words import ALL_ONES, Op, Words, literal

DIVIDE: Final = """
# Quotient and remainder of two u64 by restoring division: the dividend moves out of (low, high) from the top, and the
# bits of the quotient move in. A divisor of zero gives the quotient x and the remainder 0.
fn divide_u64(low: u32, high: u32, by_low: u32, by_high: u32) -> product<u32, u32, u32, u32> {
  zero = constant(u32 0)
  one = constant(u32 1)
  last = constant(u32 31)
  steps = constant(u32 64)
  highs = or(high, by_high)
  is_short = equal(highs, zero)
  size = if(start, is_short)
  long = read(size, control(0))
  short = read(size, control(1))

  short_quotient = div(low, by_low)
  short_remainder = rem(low, by_low)

  loop = region(long, again)
  step = phi(loop, zero, next_step)
  l = phi(loop, low, next_l)
  h = phi(loop, high, next_h)
  rest_l = phi(loop, zero, next_rest_l)
  rest_h = phi(loop, zero, next_rest_h)
  is_open = less(step, steps)
  test = if(loop, is_open)
  end = read(test, control(0))
  again = read(test, control(1))
  next_step = add(step, one)
  carry_out = shift_right(rest_h, last)
  rest_h_up = shift_left(rest_h, one)
  rest_l_top = shift_right(rest_l, last)
  rest_h_in = or(rest_h_up, rest_l_top)
  rest_l_up = shift_left(rest_l, one)
  top = shift_right(h, last)
  rest_l_in = or(rest_l_up, top)
  overflows = not_equal(carry_out, zero)
  is_high_more = greater(rest_h_in, by_high)
  is_high_same = equal(rest_h_in, by_high)
  is_low_enough = greater_equal(rest_l_in, by_low)
  is_same_enough = and(is_high_same, is_low_enough)
  is_enough = or(is_high_more, is_same_enough)
  fits = or(overflows, is_enough)
  less_l = sub(rest_l_in, by_low)
  borrows = less(rest_l_in, by_low)
  borrow = cast(u32, borrows)
  less_h_all = sub(rest_h_in, by_high)
  less_h = sub(less_h_all, borrow)
  next_rest_l = select(fits, less_l, rest_l_in)
  next_rest_h = select(fits, less_h, rest_h_in)
  bit = cast(u32, fits)
  l_up = shift_left(l, one)
  next_l = or(l_up, bit)
  h_up = shift_left(h, one)
  l_top = shift_right(l, last)
  next_h = or(h_up, l_top)

  bys = or(by_low, by_high)
  is_by_zero = equal(bys, zero)
  long_l = select(is_by_zero, low, l)
  long_h = select(is_by_zero, high, h)
  long_rest_l = select(is_by_zero, zero, rest_l)
  long_rest_h = select(is_by_zero, zero, rest_h)

  done = region(end, short)
  quotient_low = phi(done, long_l, short_quotient)
  quotient_high = phi(done, long_h, zero)
  remainder_low = phi(done, long_rest_l, short_remainder)
  remainder_high = phi(done, long_rest_h, zero)
  results = product(quotient_low, quotient_high, remainder_low, remainder_high)
  out = return(done, results)
}
"""


@dataclass(frozen=True, slots=True)
class Pair:
    """The words of a 64-bit integer, both u32. `is_natural`: the high word is zero; `is_signed`: it is the sign."""

    low: h.Node
    high: h.Node
    is_natural: bool = False
    is_signed: bool = False


class PairMaker:
    """Makes the nodes of operations on pairs. `helpers` are the functions that they call."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.helpers: dict[str, h.Function] = {}

    # Pairs from words

    def natural(self, low: h.Node, *, is_signed: bool = False) -> Pair:
        """The pair of a u32."""
        return Pair(low, self.words.u32(0), is_natural=True, is_signed=is_signed)

    def signed(self, low: h.Node) -> Pair:
        """The pair of the i32 with these bits."""
        return Pair(low, self.sign(low), is_signed=True)

    def constant(self, value: int) -> Pair:
        """The pair of a constant of either type."""
        low, high = value & ALL_ONES, value >> 32 & ALL_ONES
        sign = ALL_ONES if low >> 31 else 0
        words = self.words
        return Pair(words.u32(low), words.u32(high), is_natural=high == 0, is_signed=high == sign)

    def marked(self, pair: Pair, *, is_natural: bool, is_signed: bool) -> Pair:
        """The pair with what is known from elsewhere."""
        if is_natural and not pair.is_natural:
            pair = replace(pair, high=self.words.u32(0), is_natural=True)
        elif is_signed and not pair.is_signed and not pair.is_natural:
            pair = replace(pair, high=self.sign(pair.low))
        return replace(pair, is_signed=pair.is_signed or is_signed)

    def sign(self, word: h.Node) -> h.Node:
        """All ones if the highest bit of a word is set, else zero."""
        words = self.words
        return self.unsigned(words.binary(Op.SHIFT_RIGHT, self.as_i32(word), words.integer(I32, 31)))

    def as_i32(self, word: h.Node) -> h.Node:
        """The bits of a u32."""
        return self.words.bitcast(I32, word)

    def unsigned(self, word: h.Node) -> h.Node:
        """The bits of an i32."""
        return self.words.bitcast(U32, word)

    # Operations

    def binary(self, op: h.BinaryOp, left: Pair, right: Pair, *, is_signed: bool) -> Pair:
        """An operation that gives a pair."""
        match op:
            case Op.ADD:
                return self.add(left, right)
            case Op.SUB:
                return self.sub(left, right)
            case Op.MUL:
                return self.mul(left, right)
            case Op.AND | Op.OR | Op.XOR:
                return self._bitwise(op, left, right)
            case Op.SHIFT_LEFT:
                return self._shift_left(left, right.low)
            case Op.SHIFT_RIGHT:
                return self._shift_right(left, right.low, is_signed=is_signed)
            case Op.DIV | Op.REM:
                return self._divided(op, left, right, is_signed=is_signed)
            case _:
                raise AssertionError(f"{op.value} gives a bool")

    def add(self, left: Pair, right: Pair) -> Pair:
        """The sum."""
        words = self.words
        low = words.binary(Op.ADD, left.low, right.low)
        carry = words.cast(U32, words.binary(Op.LESS, low, left.low))
        high = words.binary(Op.ADD, words.binary(Op.ADD, left.high, right.high), carry)
        return Pair(low, high)

    def sub(self, left: Pair, right: Pair) -> Pair:
        """The difference."""
        words = self.words
        low = words.binary(Op.SUB, left.low, right.low)
        borrow = words.cast(U32, words.binary(Op.LESS, left.low, right.low))
        high = words.binary(Op.SUB, words.binary(Op.SUB, left.high, right.high), borrow)
        return Pair(low, high)

    def negated(self, pair: Pair) -> Pair:
        """The negative."""
        return self.sub(self.constant(0), pair)

    def complement(self, pair: Pair) -> Pair:
        """The complement of each bit."""
        words = self.words
        return Pair(words.unary(h.UnaryOp.NOT, pair.low), words.unary(h.UnaryOp.NOT, pair.high))

    def mul(self, left: Pair, right: Pair) -> Pair:
        """The product."""
        words = self.words
        low = words.binary(Op.MUL, left.low, right.low)
        crossed = words.binary(
            Op.ADD, words.binary(Op.MUL, left.low, right.high), words.binary(Op.MUL, left.high, right.low)
        )
        return Pair(low, words.binary(Op.ADD, self._high_product(left.low, right.low), crossed))

    def _high_product(self, left: h.Node, right: h.Node) -> h.Node:
        """The high word of the product of two words, from the products of their halves."""
        words = self.words
        half, mask = words.u32(16), words.u32(0xFFFF)
        a, b = words.both(left, mask), words.binary(Op.SHIFT_RIGHT, left, half)
        c, d = words.both(right, mask), words.binary(Op.SHIFT_RIGHT, right, half)
        first = words.binary(Op.MUL, a, c)
        second = words.binary(Op.ADD, words.binary(Op.MUL, b, c), words.binary(Op.SHIFT_RIGHT, first, half))
        third = words.binary(Op.ADD, words.binary(Op.MUL, a, d), words.both(second, mask))
        top = words.binary(Op.ADD, words.binary(Op.MUL, b, d), words.binary(Op.SHIFT_RIGHT, second, half))
        return words.binary(Op.ADD, top, words.binary(Op.SHIFT_RIGHT, third, half))

    def _bitwise(self, op: h.BinaryOp, left: Pair, right: Pair) -> Pair:
        words = self.words
        is_natural = (left.is_natural and right.is_natural) or (op is Op.AND and (left.is_natural or right.is_natural))
        return Pair(
            words.binary(op, left.low, right.low),
            words.binary(op, left.high, right.high),
            is_natural=is_natural,
            is_signed=left.is_signed and right.is_signed,
        )

    def select(self, condition: h.Node, if_true: Pair, if_false: Pair) -> Pair:
        """One of two pairs."""
        words = self.words
        low, high = (
            words.select(condition, a, b) for a, b in ((if_true.low, if_false.low), (if_true.high, if_false.high))
        )
        return Pair(
            low,
            high,
            is_natural=if_true.is_natural and if_false.is_natural,
            is_signed=if_true.is_signed and if_false.is_signed,
        )

    def _count(self, word: h.Node) -> tuple[h.Node, h.Node, h.Node]:
        """Of a shift: the count within a word, 31 less that, and whether the count is 32 or more."""
        words = self.words
        within = words.both(word, words.u32(31))
        is_far = words.is_not_zero(words.both(word, words.u32(32)))
        return within, words.binary(Op.XOR, within, words.u32(31)), is_far

    def _shift_left(self, pair: Pair, word: h.Node) -> Pair:
        words = self.words
        count, rest, is_far = self._count(word)
        low = words.binary(Op.SHIFT_LEFT, pair.low, count)
        moved = words.binary(Op.SHIFT_RIGHT, words.binary(Op.SHIFT_RIGHT, pair.low, words.u32(1)), rest)
        high = words.either(words.binary(Op.SHIFT_LEFT, pair.high, count), moved)
        return Pair(words.select(is_far, words.u32(0), low), words.select(is_far, low, high))

    def _shift_right(self, pair: Pair, word: h.Node, *, is_signed: bool) -> Pair:
        words = self.words
        count, rest, is_far = self._count(word)
        if is_signed and not pair.is_natural:
            high = self.unsigned(words.binary(Op.SHIFT_RIGHT, self.as_i32(pair.high), self.as_i32(count)))
            fill = self.sign(pair.high)
        else:
            high, fill = words.binary(Op.SHIFT_RIGHT, pair.high, count), words.u32(0)
        moved = words.binary(Op.SHIFT_LEFT, words.binary(Op.SHIFT_LEFT, pair.high, words.u32(1)), rest)
        low = words.either(words.binary(Op.SHIFT_RIGHT, pair.low, count), moved)
        return Pair(words.select(is_far, high, low), words.select(is_far, fill, high), is_natural=pair.is_natural)

    # Division

    def _divided(self, op: h.BinaryOp, left: Pair, right: Pair, *, is_signed: bool) -> Pair:
        if left.is_natural and right.is_natural:
            return self.natural(self.words.binary(op, left.low, right.low))
        if not is_signed:
            return self._called(op, left, right)
        if left.is_signed and right.is_signed:
            return self._divided_in_32_bits(op, left, right)
        return self._signed_division(op, left, right)

    def _divided_in_32_bits(self, op: h.BinaryOp, left: Pair, right: Pair) -> Pair:
        """Operands that fit i32: only the quotient of the least number and -1 does not."""
        words = self.words
        low = self.unsigned(words.binary(op, self.as_i32(left.low), self.as_i32(right.low)))
        pair = self.signed(low)
        if op is Op.REM:
            return pair
        is_least = words.binary(Op.EQUAL, left.low, words.u32(1 << 31))
        overflows = words.both(is_least, words.binary(Op.EQUAL, right.low, words.u32(ALL_ONES)))
        return Pair(low, words.select(overflows, words.u32(0), pair.high))

    def _signed_division(self, op: h.BinaryOp, left: Pair, right: Pair) -> Pair:
        """By the magnitudes: truncated towards zero, and the remainder has the dividend's sign.

        x / 0 is x too: if the divisor is zero, its sign is positive.
        """
        words = self.words
        result = self._called(op, self.magnitude(left), self.magnitude(right))
        is_negative = self.is_negative(left)
        if op is Op.DIV:
            is_negative = words.binary(Op.XOR, is_negative, self.is_negative(right))
        return self.select(is_negative, self.negated(result), result)

    def is_negative(self, pair: Pair) -> h.Node:
        """Whether an i64 is negative."""
        return self.words.binary(Op.LESS, self.as_i32(pair.high), self.words.integer(I32, 0))

    def magnitude(self, pair: Pair) -> Pair:
        """The magnitude of an i64, as a u64."""
        return pair if pair.is_natural else self.select(self.is_negative(pair), self.negated(pair), pair)

    def _called(self, op: h.BinaryOp, left: Pair, right: Pair) -> Pair:
        call = self.words.add(h.Call(self._helper(), [], [left.low, left.high, right.low, right.high]))
        first = 0 if op is Op.DIV else 2
        low, high = (self.words.add(h.Read(call, [h.FieldIndex(first + number)])) for number in range(2))
        return Pair(low, high)

    def _helper(self) -> h.Function:
        if "divide_u64" not in self.helpers:
            (self.helpers["divide_u64"],) = parse(DIVIDE).functions
        return self.helpers["divide_u64"]

    # Comparisons

    def compare(self, op: h.BinaryOp, left: Pair, right: Pair, *, is_signed: bool) -> h.Node:
        """A comparison."""
        words = self.words
        if (left.is_natural and right.is_natural) or (left.is_signed and right.is_signed and not is_signed):
            return words.binary(op, left.low, right.low)
        if left.is_signed and right.is_signed:
            return words.binary(op, self.as_i32(left.low), self.as_i32(right.low))
        match op:
            case Op.EQUAL:
                return self._is_equal(left, right)
            case Op.NOT_EQUAL:
                return words.unary(h.UnaryOp.NOT, self._is_equal(left, right))
            case Op.LESS:
                return self._is_less(left, right, is_signed=is_signed)
            case Op.GREATER:
                return self._is_less(right, left, is_signed=is_signed)
            case Op.GREATER_EQUAL:
                return words.unary(h.UnaryOp.NOT, self._is_less(left, right, is_signed=is_signed))
            case Op.LESS_EQUAL:
                return words.unary(h.UnaryOp.NOT, self._is_less(right, left, is_signed=is_signed))
            case _:
                raise AssertionError(f"{op.value} is no comparison")

    def _is_equal(self, left: Pair, right: Pair) -> h.Node:
        words = self.words
        lows = words.binary(Op.EQUAL, left.low, right.low)
        return words.both(lows, words.binary(Op.EQUAL, left.high, right.high))

    def _is_less(self, left: Pair, right: Pair, *, is_signed: bool) -> h.Node:
        words = self.words
        highs = (self.as_i32(left.high), self.as_i32(right.high)) if is_signed else (left.high, right.high)
        are_same = words.binary(Op.EQUAL, left.high, right.high)
        lows = words.both(are_same, words.binary(Op.LESS, left.low, right.low))
        return words.either(words.binary(Op.LESS, *highs), lows)

    # Conversions

    def from_word(self, word: h.Node, source: h.Type) -> Pair:
        """A bool, or an integer of at most 32 bits, as a pair."""
        words = self.words
        if source == I32:
            return self.signed(words.bitcast(U32, word))
        low = word if source == U32 else words.cast(U32, word)
        if isinstance(source, h.Integer) and source.signed:
            return self.signed(low)
        return self.natural(low, is_signed=isinstance(source, h.Bool) or source != U32)

    def to_word(self, pair: Pair, target: h.Integer) -> h.Node:
        """The low bits, as an integer of at most 32 bits."""
        if target == U32:
            return pair.low
        return self.words.bitcast(I32, pair.low) if target == I32 else self.words.cast(target, pair.low)

    def is_not_zero(self, pair: Pair) -> h.Node:
        """The conversion to bool."""
        return self.words.is_not_zero(self.words.either(pair.low, pair.high))

    def to_float(self, pair: Pair, target: h.Type, *, is_signed: bool) -> h.Node:
        """The nearest f32 or f16; ties go to even."""
        words = self.words
        if pair.is_natural:
            return words.cast(target, pair.low)
        if pair.is_signed and is_signed:
            return words.cast(target, self.as_i32(pair.low))
        if target == F16:
            return self._to_half(pair, is_signed=is_signed)
        if not is_signed:
            return self._nearest(pair)
        magnitude = self._nearest(self.magnitude(pair))
        return words.select(self.is_negative(pair), words.unary(h.UnaryOp.NEGATE, magnitude), magnitude)

    def _nearest(self, pair: Pair) -> h.Node:
        """The f32 nearest to a u64. The top 32 bits, the lowest of them set if a lower one is, round as all bits do.

        They are multiplied by the power of two that they are short of, which is exact.
        """
        words = self.words
        zeros = words.intrinsic("countLeadingZeros", U32, pair.high)
        count, rest, _ = self._count(zeros)
        moved = words.binary(Op.SHIFT_RIGHT, words.binary(Op.SHIFT_RIGHT, pair.low, words.u32(1)), rest)
        top = words.either(words.binary(Op.SHIFT_LEFT, pair.high, count), moved)
        below = words.is_not_zero(words.binary(Op.SHIFT_LEFT, pair.low, count))
        mantissa = words.cast(F32, words.either(top, words.cast(U32, below)))
        exponent = words.binary(Op.SUB, words.u32(127 + 32), zeros)
        scale = words.bitcast(F32, words.binary(Op.SHIFT_LEFT, exponent, words.u32(23)))
        scaled = words.binary(Op.MUL, mantissa, scale)
        return words.select(words.is_not_zero(pair.high), scaled, words.cast(F32, pair.low))

    def _to_half(self, pair: Pair, *, is_signed: bool) -> h.Node:
        """All numbers past 32 bits are as far out of the range of f16 as the ends of those are."""
        words = self.words
        if not is_signed:
            return words.cast(F16, words.select(words.is_not_zero(pair.high), words.u32(ALL_ONES), pair.low))
        fits = words.binary(Op.EQUAL, pair.high, self.sign(pair.low))
        end = words.binary(Op.XOR, self.sign(pair.high), words.u32(ALL_ONES >> 1))
        return words.cast(F16, self.as_i32(words.select(fits, pair.low, end)))

    def from_float(self, value: h.Node, source: h.Type, *, is_signed: bool) -> Pair:
        """The number truncated towards zero, at the ends of the type if it is past them; 0 for NaN."""
        words = self.words
        if source != F32:
            value = words.cast(F32, value)
        if not is_signed:
            return self._truncated(value, 2.0**64, self.constant(-1))
        is_negative = words.binary(Op.LESS, value, self._float(0.0))
        magnitude = words.select(is_negative, words.unary(h.UnaryOp.NEGATE, value), value)
        positive = self._truncated(magnitude, 2.0**63, self.constant((1 << 63) - 1))
        negative = self.negated(self._truncated(magnitude, 2.0**63, self.constant(1 << 63)))
        return self.select(is_negative, negative, positive)

    def _truncated(self, value: h.Node, limit: float, end: Pair) -> Pair:
        """A float that is not negative; `end` from the limit on. Each step is exact."""
        words = self.words
        high = words.cast(U32, words.binary(Op.MUL, value, self._float(2.0**-32)))
        above = words.binary(Op.MUL, words.cast(F32, high), self._float(2.0**32))
        low = words.cast(U32, words.binary(Op.SUB, value, above))
        is_past = words.binary(Op.GREATER_EQUAL, value, self._float(limit))
        return self.select(is_past, end, Pair(low, high))

    def _float(self, value: float) -> h.Node:
        return self.words.constant(h.FloatConstant(F32, value))

    # Positions

    def position(self, pair: Pair) -> h.Node:
        """A u64 that selects the same element of any array of less than 2^32 elements."""
        words = self.words
        word = pair.low
        if not pair.is_natural:
            word = words.select(words.is_not_zero(pair.high), words.u32(ALL_ONES), word)
        known = literal(word)
        return words.cast(U64, word) if known is None else words.integer(U64, int(known))


__all__ = ["BOOL", "DIVIDE", "Pair", "PairMaker"]
