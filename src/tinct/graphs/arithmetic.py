"""A kernel of ours that computes with whole numbers that nodes wrote, one operation in each dispatch of one invocation.

Numbers have a sign and 64 bits between operations, so that no product of two numbers in buffers is cut. The result is
stored as such a number, or as the u32, the i32 or the number of invocations that a node takes, which is checked. Where
an operation divides by zero, or a number does not fit, the first such step of all leaves its number, the reason and the
number in the error buffer, and this result and all later ones are zero.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Final

from ..ir.dataflow.nodes import BinaryOp
from ..kernel import Kernel
from ..shader import load

ARITHMETIC_LEAF: Final = "number-arithmetic"
"""The leaf of the kernel in plans; no leaf of a graph has such a name."""
RESULT_BYTES: Final = 12
_OPERATIONS: Final = (
    BinaryOp.ADD,
    BinaryOp.SUB,
    BinaryOp.MUL,
    BinaryOp.DIV,
    BinaryOp.REM,
    BinaryOp.MIN,
    BinaryOp.MAX,
    BinaryOp.CEIL_DIV,
)
"""In the order of the numbers that `ARITHMETIC_WGSL` has for them."""
_WORD: Final = 0xFFFFFFFF
_DIVIDES_BY_ZERO: Final = 1
_TOO_LARGE: Final = 2
_NEGATIVE: Final = 256
"""Added to the reason in the error buffer."""

ARITHMETIC_WGSL: Final = """
struct Operand { kind: u32, index: u32, low: u32, high: u32, is_negative: u32 }
struct Request { operation: u32, form: u32, step: u32, lhs: Operand, rhs: Operand }
struct Number { low: u32, high: u32, is_negative: u32 }
struct Division { quotient: Number, remainder: Number }

@group(0) @binding(0) var<storage, read> lhs_source: array<u32>;
@group(0) @binding(1) var<storage, read> rhs_source: array<u32>;
@group(0) @binding(2) var<storage, read> request: Request;
@group(0) @binding(3) var<storage, read_write> result: array<u32, 3>;
@group(0) @binding(4) var<storage, read_write> error: array<u32, 4>;

var<private> fault: u32;

fn of_words(kind: u32, low: u32, high: u32, sign: u32) -> Number {
    if kind == 1u { return Number(low, 0u, 0u); }
    if kind == 2u { return Number(select(low, ~low + 1u, low > 0x7fffffffu), 0u, low >> 31u); }
    return Number(low, high, sign);
}

fn signed(number: Number, is_negative: bool) -> Number {
    return Number(number.low, number.high, u32(is_negative && (number.low | number.high) != 0u));
}

fn is_smaller(a: Number, b: Number) -> bool {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

fn is_less(a: Number, b: Number) -> bool {
    if a.is_negative != b.is_negative { return a.is_negative == 1u; }
    if a.is_negative == 1u { return is_smaller(b, a); }
    return is_smaller(a, b);
}

fn added(a: Number, b: Number) -> Number {
    let low = a.low + b.low;
    let high = a.high + b.high;
    let sum = high + u32(low < a.low);
    if high < a.high || sum < high { fault = 2u; }
    return Number(low, sum, 0u);
}

fn taken(a: Number, b: Number) -> Number {
    return Number(a.low - b.low, a.high - b.high - u32(a.low < b.low), 0u);
}

fn sum_of(a: Number, b: Number) -> Number {
    if a.is_negative == b.is_negative { return signed(added(a, b), a.is_negative == 1u); }
    if is_smaller(a, b) { return signed(taken(b, a), b.is_negative == 1u); }
    return signed(taken(a, b), a.is_negative == 1u);
}

fn words_multiplied(a: u32, b: u32) -> Number {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let cross = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let other = (a & 0xffffu) * (b >> 16u) + (cross & 0xffffu);
    return Number((other << 16u) | (low & 0xffffu), (a >> 16u) * (b >> 16u) + (cross >> 16u) + (other >> 16u), 0u);
}

fn product_of(a: Number, b: Number) -> Number {
    if a.high != 0u && b.high != 0u { fault = 2u; }
    let low = words_multiplied(a.low, b.low);
    let left = words_multiplied(a.high, b.low);
    let right = words_multiplied(a.low, b.high);
    if (left.high | right.high) != 0u { fault = 2u; }
    return signed(added(low, Number(0u, left.low | right.low, 0u)), a.is_negative != b.is_negative);
}

fn divided(a: Number, b: Number) -> Division {
    var found = Division(Number(0u, 0u, 0u), Number(0u, 0u, 0u));
    for (var bit = 0u; bit < 64u; bit++) {
        let word = select(a.low, a.high, bit < 32u);
        let next = (word >> (31u - bit % 32u)) & 1u;
        let carry = found.remainder.high >> 31u;
        found.remainder.high = (found.remainder.high << 1u) | (found.remainder.low >> 31u);
        found.remainder.low = (found.remainder.low << 1u) | next;
        found.quotient.high = (found.quotient.high << 1u) | (found.quotient.low >> 31u);
        found.quotient.low = found.quotient.low << 1u;
        if carry == 1u || !is_smaller(found.remainder, b) {
            found.remainder = taken(found.remainder, b);
            found.quotient.low |= 1u;
        }
    }
    return found;
}

fn quotient_of(a: Number, b: Number, rounds_up: bool) -> Number {
    let found = divided(a, b);
    let is_negative = a.is_negative != b.is_negative;
    let is_exact = (found.remainder.low | found.remainder.high) == 0u;
    if is_exact || is_negative == rounds_up { return signed(found.quotient, is_negative); }
    return signed(added(found.quotient, Number(1u, 0u, 0u)), is_negative);
}

fn remainder_of(a: Number, b: Number) -> Number {
    let rest = divided(a, b).remainder;
    if a.is_negative == b.is_negative || (rest.low | rest.high) == 0u { return signed(rest, b.is_negative == 1u); }
    return signed(taken(b, rest), b.is_negative == 1u);
}

fn operated(a: Number, b: Number) -> Number {
    if (request.operation == 3u || request.operation == 4u || request.operation == 7u) && (b.low | b.high) == 0u {
        fault = 1u;
        return a;
    }
    switch request.operation {
        case 0u: { return sum_of(a, b); }
        case 1u: { return sum_of(a, signed(b, b.is_negative == 0u)); }
        case 2u: { return product_of(a, b); }
        case 3u: { return quotient_of(a, b, false); }
        case 4u: { return remainder_of(a, b); }
        case 5u: { if is_less(b, a) { return b; } return a; }
        case 6u: { if is_less(a, b) { return b; } return a; }
        default: { return quotient_of(a, b, true); }
    }
}

fn fits(number: Number) -> bool {
    if request.form == 0u { return true; }
    if number.high != 0u { return false; }
    if request.form == 1u { return number.is_negative == 0u; }
    if number.is_negative == 1u { return request.form == 2u && number.low <= 0x80000000u; }
    return number.low <= 0x7fffffffu;
}

@compute @workgroup_size(1) fn main() {
    let l = request.lhs;
    let r = request.rhs;
    var lhs = Number(l.low, l.high, l.is_negative);
    var rhs = Number(r.low, r.high, r.is_negative);
    if l.kind != 0u { lhs = of_words(l.kind, lhs_source[l.index], lhs_source[l.index + 1u], lhs_source[l.index + 2u]); }
    if r.kind != 0u { rhs = of_words(r.kind, rhs_source[r.index], rhs_source[r.index + 1u], rhs_source[r.index + 2u]); }
    let found = operated(lhs, rhs);
    result = array<u32, 3>(0u, 0u, 0u);
    if error[0] != 0u { return; }
    if fault == 0u && !fits(found) { fault = 3u; }
    if fault != 0u {
        error = array<u32, 4>(request.step + 1u, fault + 256u * found.is_negative, found.low, found.high);
        return;
    }
    if request.form == 0u {
        result = array<u32, 3>(found.low, found.high, found.is_negative);
    } else {
        result[0] = select(found.low, ~found.low + 1u, found.is_negative == 1u);
    }
}
"""


class ResultForm(IntEnum):
    """How the kernel stores a result: `WIDE` is for other operations, `EXTENT` a number of invocations below 2^31, of
    which no GPU and no CPU has as many workgroups.
    """

    WIDE = 0
    U32 = 1
    I32 = 2
    EXTENT = 3


class WordForm(IntEnum):
    """How a number lies in a buffer: `WIDE` is a result of the kernel."""

    U32 = 1
    I32 = 2
    WIDE = 3


@dataclass(frozen=True, slots=True)
class NumberWord:
    """A number in the buffer that is bound for an operand: its first word."""

    index: int
    form: WordForm


def packed_operation(
    op: BinaryOp, lhs: int | NumberWord, rhs: int | NumberWord, form: ResultForm, step: int
) -> bytes | None:
    """What `ARITHMETIC_WGSL` takes, with a number for the step; None for a number of more than 64 bits."""
    words = [*_operand(lhs), *_operand(rhs)]
    if max(words) > _WORD:
        return None
    return struct.pack("<13I", _OPERATIONS.index(op), form, step, *words)


def _operand(number: int | NumberWord) -> tuple[int, int, int, int, int]:
    if isinstance(number, NumberWord):
        return number.form, number.index, 0, 0, 0
    return 0, 0, abs(number) & _WORD, abs(number) >> 32, int(number < 0)


def failure(text: str, form: ResultForm, words: tuple[int, int, int]) -> str:
    """What has failed, from the words of the error after the step's number. `text` is the computation."""
    reason, low, high = words
    value = (low | high << 32) * (-1 if reason >= _NEGATIVE else 1)
    if reason % _NEGATIVE == _DIVIDES_BY_ZERO:
        return f"{text} divides by zero"
    if reason % _NEGATIVE == _TOO_LARGE:
        return f"{text} has more than 64 bits"
    if form is ResultForm.EXTENT:
        return f"the extent {text} is {value}"
    return f"{text} is {value}, out of range for {form.name.lower()}"


@cache
def arithmetic_kernel() -> Kernel:
    """`ARITHMETIC_WGSL`."""
    return load(ARITHMETIC_WGSL)["main"]
