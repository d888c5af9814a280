"""Operators and conversions in LLVM IR with WGSL's meaning: total, wrapping, and free of LLVM's undefined behaviour."""

from __future__ import annotations

import math
from typing import assert_never

from ...ir.hercules import nodes as h
from ...ir.hercules.types import I32, U32
from .float_bounds import Bounds
from .llvm import Ops, constant_text

_FLOATS = {16: "half", 32: "float", 64: "double"}
_COMPARISONS = {
    h.BinaryOp.LESS: "lt",
    h.BinaryOp.LESS_EQUAL: "le",
    h.BinaryOp.GREATER: "gt",
    h.BinaryOp.GREATER_EQUAL: "ge",
    h.BinaryOp.EQUAL: "eq",
    h.BinaryOp.NOT_EQUAL: "ne",
}
_INTEGER_OPS = {
    h.BinaryOp.ADD: "add",
    h.BinaryOp.SUB: "sub",
    h.BinaryOp.MUL: "mul",
    h.BinaryOp.AND: "and",
    h.BinaryOp.OR: "or",
    h.BinaryOp.XOR: "xor",
}
_FLOAT_OPS = {h.BinaryOp.ADD: "fadd", h.BinaryOp.SUB: "fsub", h.BinaryOp.MUL: "fmul", h.BinaryOp.DIV: "fdiv"}

_GREATEST = {
    (32, I32): (1 << 31) - (1 << 7),
    (32, U32): (1 << 32) - (1 << 8),
    (16, I32): 65504,
    (16, U32): 65504,
}
"""The greatest integer of a type that is a value of a floating-point type as well."""


def llvm_type(type: h.Type) -> str:
    """The LLVM type of a scalar in a register."""
    match type:
        case h.Bool():
            return "i1"
        case h.Integer(bits=bits):
            return f"i{bits}"
        case h.Float(bits=bits):
            return _FLOATS[bits]
        case h.Product() | h.Summation() | h.Array() | h.Control():
            raise TypeError(f"not a scalar: {type}")
        case _:
            assert_never(type)


def scalar_constant(constant: h.Constant) -> str:
    """A scalar constant's text, without its type."""
    match constant:
        case h.BoolConstant(value=value):
            return constant_text("i1", value)
        case h.IntegerConstant(type=type, value=value) | h.FloatConstant(type=type, value=value):
            return constant_text(llvm_type(type), value)
        case h.ZeroConstant(type=type):
            return constant_text(llvm_type(type), 0)
        case h.ProductConstant() | h.SummationConstant() | h.ArrayConstant():
            raise TypeError(f"not a scalar constant: {constant}")
        case _:
            assert_never(constant)


def unary(ops: Ops, op: h.UnaryOp, type: h.Type, operand: str) -> str:
    """A prefix operator."""
    scalar = llvm_type(type)
    if op is h.UnaryOp.NEGATE and isinstance(type, h.Float):
        return ops.unary("fneg", scalar, operand)
    if op is h.UnaryOp.NEGATE:
        return ops.binary("sub", scalar, ops.constant(scalar, 0), operand)
    return ops.binary("xor", scalar, operand, ops.constant(scalar, -1))


def binary(ops: Ops, op: h.BinaryOp, type: h.Type, lhs: str, rhs: str) -> str:
    """An infix operator on two operands of `type`."""
    if op in _COMPARISONS:
        return _compare(ops, _COMPARISONS[op], type, lhs, rhs)
    if isinstance(type, h.Float):
        return _float_binary(ops, op, type, lhs, rhs)
    scalar = llvm_type(type)
    if op in _INTEGER_OPS:
        return ops.binary(_INTEGER_OPS[op], scalar, lhs, rhs)
    assert isinstance(type, h.Integer)
    if op in (h.BinaryOp.DIV, h.BinaryOp.REM):
        return _divide(ops, op, type, lhs, rhs)
    count = ops.binary("and", scalar, rhs, ops.constant(scalar, type.bits - 1))
    right = "ashr" if type.signed else "lshr"
    return ops.binary("shl" if op is h.BinaryOp.SHIFT_LEFT else right, scalar, lhs, count)


def _compare(ops: Ops, relation: str, type: h.Type, lhs: str, rhs: str) -> str:
    """A comparison, ordered except for `!=`, which is true on NaN."""
    if isinstance(type, h.Float):
        return ops.binary(f"fcmp {'u' if relation == 'ne' else 'o'}{relation}", llvm_type(type), lhs, rhs)
    sign = "" if relation in ("eq", "ne") else "s" if isinstance(type, h.Integer) and type.signed else "u"
    return ops.binary(f"icmp {sign}{relation}", llvm_type(type), lhs, rhs)


def _divide(ops: Ops, op: h.BinaryOp, type: h.Integer, lhs: str, rhs: str) -> str:
    """Where LLVM's result is undefined, divide by 1: `x / 0` is x, `INT_MIN / -1` is INT_MIN, both remainders are 0."""
    scalar = llvm_type(type)
    bad = ops.binary("icmp eq", scalar, rhs, ops.constant(scalar, 0))
    if type.signed:
        least = ops.binary("icmp eq", scalar, lhs, ops.constant(scalar, -(1 << (type.bits - 1))))
        minus_one = ops.binary("icmp eq", scalar, rhs, ops.constant(scalar, -1))
        overflow = ops.binary("and", "i1", least, minus_one)
        bad = ops.binary("or", "i1", bad, overflow)
    divisor = ops.select(bad, scalar, ops.constant(scalar, 1), rhs)
    if ops.lanes > 1 and type.bits == 32 and not rhs.startswith("splat"):
        return _divide_vectors(ops, op, type, lhs, divisor)
    name = "div" if op is h.BinaryOp.DIV else "rem"
    return ops.binary(("s" if type.signed else "u") + name, scalar, lhs, divisor)


def _divide_vectors(ops: Ops, op: h.BinaryOp, type: h.Integer, lhs: str, divisor: str) -> str:
    """Divide integers as doubles, since machines have no division of integer vectors.

    The quotient of 32-bit integers is at least 2^-32 away from a whole number that it is not, relatively more than a
    double's error.
    """
    sign = "s" if type.signed else "u"
    x, y = (ops.convert(f"{sign}itofp", "i32", it, "double") for it in (lhs, divisor))
    quotient = ops.convert(f"fpto{sign}i", "double", ops.binary("fdiv", "double", x, y), "i32")
    if op is h.BinaryOp.DIV:
        return quotient
    return ops.binary("sub", "i32", lhs, ops.binary("mul", "i32", quotient, divisor))


def _float_binary(ops: Ops, op: h.BinaryOp, type: h.Float, lhs: str, rhs: str) -> str:
    scalar = llvm_type(type)
    if op in _FLOAT_OPS:
        return ops.binary(_FLOAT_OPS[op], scalar, lhs, rhs)
    assert op is h.BinaryOp.REM, f"no {op} of floats"
    return _float_remainder(ops, scalar, lhs, rhs)


_SURELY_INSIDE = 2.0**30
"""Floats up to this one, and those next to it, fit into 32 bits: bounds may be off by one place with `contract`."""


def multiply_add(ops: Ops, type: h.Type, factors: tuple[str, str], rest: str) -> str:
    """`a * b + rest`, rounded once if that is faster on the machine, else twice."""
    if ops.lanes > 1:
        ops.out.note_sum()
    return ops.intrinsic("llvm.fmuladd", llvm_type(type), *factors, rest)


def _float_remainder(ops: Ops, scalar: str, lhs: str, rhs: str) -> str:
    """`x - y * trunc(x / y)`, exactly (the C library's fmod)."""
    if scalar != "half":
        return ops.binary("frem", scalar, lhs, rhs)
    x, y = ops.convert("fpext", scalar, lhs, "float"), ops.convert("fpext", scalar, rhs, "float")
    return ops.convert("fptrunc", "float", ops.binary("frem", "float", x, y), scalar)


def widen(ops: Ops, scalar: str, value: str) -> str:
    """A float as a double."""
    return ops.convert("fpext", scalar, value, "double")


def narrow(ops: Ops, value: str, scalar: str) -> str:
    """A double rounded to a float; to f16 by way of f32, since few machines can do it at once."""
    if scalar == "half":
        return ops.convert("fptrunc", "float", ops.convert("fptrunc", "double", value, "float"), "half")
    return ops.convert("fptrunc", "double", value, scalar)


def cast(ops: Ops, source: h.Type, target: h.Type, operand: str, bounds: Bounds | None = None) -> str:
    """A numeric conversion (WGSL, "Floating Point Conversion"); float to integer saturates, and NaN gives 0. `bounds`
    are those of a float that is no NaN.
    """
    before, after = llvm_type(source), llvm_type(target)
    match source, target:
        case h.Float(), h.Bool():
            return ops.binary("fcmp une", before, operand, ops.constant(before, 0.0))
        case _, h.Bool():
            return ops.binary("icmp ne", before, operand, ops.constant(before, 0))
        case h.Float(), h.Integer():
            return _saturated(ops, source, target, operand, bounds)
        case h.Float(bits=bits), h.Float(bits=wanted):
            if bits == 64 and wanted == 16:
                return narrow(ops, operand, "half")
            return ops.convert("fpext" if wanted > bits else "fptrunc", before, operand, after)
        case h.Bool(), h.Integer():
            return ops.convert("zext", before, operand, after)
        case h.Integer(bits=bits, signed=signed), h.Integer(bits=wanted):
            widening = "sext" if signed else "zext"
            return ops.convert(widening if wanted > bits else "trunc", before, operand, after)
        case ((h.Bool() | h.Integer()), h.Float()):
            signed = isinstance(source, h.Integer) and source.signed
            return ops.convert("sitofp" if signed else "uitofp", before, operand, after)
        case _:
            raise TypeError(f"no conversion from {source} to {target}")


def _saturated(ops: Ops, source: h.Float, target: h.Integer, operand: str, bounds: Bounds | None) -> str:
    """Float to integer; i32 and u32 stop at the greatest value that the float's type has, too.

    Those are cut as floats before the conversion, since LLVM takes vectors apart for its own saturating one.
    """
    before, after = llvm_type(source), llvm_type(target)
    sign = "s" if target.signed else "u"
    greatest = _GREATEST.get((source.bits, target))
    wide = "double" if before == "double" else "float"  # from a half, LLVM makes the least i16 of a NaN
    value = ops.convert("fpext", before, operand, wide) if before != wide else operand
    if greatest is None:
        return ops.converting(f"llvm.fpto{sign}i.sat", wide, value, after)
    least, (low, high) = -(2.0**31) if target.signed else 0.0, bounds or (-math.inf, math.inf)
    cut = value
    if low < max(least, -_SURELY_INSIDE):
        bound = ops.constant("float", least)
        cut = ops.select(ops.binary("fcmp ogt", "float", cut, bound), "float", cut, bound)
    if high > _SURELY_INSIDE:
        bound = ops.constant("float", float(greatest))
        cut = ops.select(ops.binary("fcmp olt", "float", cut, bound), "float", cut, bound)
    if target.signed and bounds is None:
        cut = ops.select(ops.binary("fcmp uno", "float", value, value), "float", ops.constant("float", 0.0), cut)
    return ops.convert(f"fpto{sign}i", "float", cut, after)


def bitcast(ops: Ops, source: h.Type, target: h.Type, operand: str) -> str:
    """The same bits."""
    return ops.convert("bitcast", llvm_type(source), operand, llvm_type(target))
