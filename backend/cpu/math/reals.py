"""Emits arithmetic on floats of one width, on one lane or on a vector of lanes, with short names for formulas."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ..llvm import Ops

_INTEGERS = {"float": "i32", "double": "i64"}
_FRACTION_BITS = {"float": 23, "double": 52}
_BIAS = {"float": 127, "double": 1023}


class Reals:
    """Numbers of the type `float` or `double`."""

    def __init__(self, ops: Ops, scalar: str = "float") -> None:
        self.ops = ops
        self.scalar = scalar
        self.integers = _INTEGERS[scalar]
        self.fraction_bits = _FRACTION_BITS[scalar]
        self.rounding = 1.5 * 2.0**self.fraction_bits
        """A constant: the sum of it and a number has the nearest integer in its low bits."""

    # Arithmetic

    def c(self, value: float) -> str:
        """A constant, rounded to the type."""
        if self.scalar == "float":
            (value,) = struct.unpack("<f", struct.pack("<f", value))
        return self.ops.constant(self.scalar, value)

    def add(self, a: str, b: str) -> str:
        """`a + b`."""
        return self.ops.binary("fadd", self.scalar, a, b)

    def sub(self, a: str, b: str) -> str:
        """`a - b`."""
        return self.ops.binary("fsub", self.scalar, a, b)

    def mul(self, a: str, b: str) -> str:
        """`a * b`."""
        return self.ops.binary("fmul", self.scalar, a, b)

    def div(self, a: str, b: str) -> str:
        """`a / b`."""
        return self.ops.binary("fdiv", self.scalar, a, b)

    def neg(self, a: str) -> str:
        """`-a`."""
        return self.ops.unary("fneg", self.scalar, a)

    def call(self, name: str, *operands: str) -> str:
        """An LLVM intrinsic: `rint`, `fabs`, …"""
        return self.ops.intrinsic(f"llvm.{name}", self.scalar, *operands)

    def multiply_add(self, a: str, b: str, c: str) -> str:
        """`a * b + c` with one rounding or two: fused if the target has fused multiply-add."""
        return self.call("fma", a, b, c) if self.ops.out.module.target.has_fma else self.add(self.mul(a, b), c)

    def exact_fma(self, a: str, b: str, c: str) -> str:
        """`a * b + c` with the product exact. Targets without the instruction compute in double, which may round floats
        twice.
        """
        if self.scalar == "double" or self.ops.out.module.target.has_fma:
            return self.call("fma", a, b, c)
        wide = Reals(self.ops, "double")
        x, y, z = (self.ops.convert("fpext", "float", it, "double") for it in (a, b, c))
        return self.ops.convert("fptrunc", "double", wide.add(wide.mul(x, y), z), "float")

    def polynomial(self, x: str, coefficients: Sequence[float]) -> str:
        """The polynomial with these coefficients, the constant first, by Horner's rule."""
        *others, last = coefficients
        result = self.c(last)
        for coefficient in reversed(others):
            result = self.multiply_add(result, x, self.c(coefficient))
        return result

    # Comparisons

    def test(self, relation: str, a: str, b: str) -> str:
        """A comparison: `olt`, `oeq`, …"""
        return self.ops.binary(f"fcmp {relation}", self.scalar, a, b)

    def select(self, condition: str, a: str, b: str) -> str:
        """`condition ? a : b`."""
        return self.ops.select(condition, self.scalar, a, b)

    def cut(self, x: str, low: float, high: float) -> str:
        """The number, clamped to an interval; a NaN stays."""
        x = self.select(self.test("olt", x, self.c(low)), self.c(low), x)
        return self.select(self.test("ogt", x, self.c(high)), self.c(high), x)

    # Bits

    def bits(self, a: str) -> str:
        """The bit pattern as an integer."""
        return self.ops.convert("bitcast", self.scalar, a, self.integers)

    def of_bits(self, a: str) -> str:
        """The number of a bit pattern."""
        return self.ops.convert("bitcast", self.integers, a, self.scalar)

    def integer(self, instruction: str, a: str, b: int) -> str:
        """An operation on an integer of the number's width with a constant."""
        return self.ops.binary(instruction, self.integers, a, self.ops.constant(self.integers, b))

    def flip_sign(self, a: str, n: str) -> str:
        """The number, negated where bit 0 of the integer n is set."""
        sign = self.integer("shl", n, 31 if self.scalar == "float" else 63)
        return self.of_bits(self.ops.binary("xor", self.integers, self.bits(a), sign))

    def with_sign(self, magnitude: str, x: str) -> str:
        """A number that is not negative, with the sign of x."""
        sign = self.integer("and", self.bits(x), -(1 << (31 if self.scalar == "float" else 63)))
        return self.of_bits(self.ops.binary("or", self.integers, self.bits(magnitude), sign))

    def power(self, n: str) -> str:
        """2^n for an integer n in the exponent range of normal numbers."""
        return self.of_bits(self.integer("shl", self.integer("add", n, _BIAS[self.scalar]), self.fraction_bits))

    def ldexp(self, a: str, n: str) -> str:
        """LLVM's ldexp, which a target with `has_avx512` does in one instruction: any float, any i32."""
        ops, name = self.ops, f"llvm.ldexp.{self.ops.suffix(self.scalar)}.{self.ops.suffix('i32')}"
        ops.out.module.declare(f"{ops.type(self.scalar)} @{name}({ops.type(self.scalar)}, {ops.type('i32')})")
        return ops.call(name, self.scalar, [(self.scalar, a), ("i32", n)])
