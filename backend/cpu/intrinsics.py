"""WGSL's builtin functions of scalars in LLVM IR (WGSL, "Built-in Functions")."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...base.records import dataclass
from ...ir.hercules import nodes as h
from . import bit_counts, math, packed_dots
from .data import llvm_type, narrow, widen
from .llvm import Ops
from .math.coefficients import DEGREES_PARTS, RADIANS_PARTS


@dataclass(frozen=True, slots=True)
class _Call:
    """A call on arguments that are already in registers; `type` is the result's. `numbers` says which arguments are
    known never to be NaN, if that matters.
    """

    ops: Ops
    name: str
    type: h.Type
    arguments: tuple[str, ...]
    numbers: tuple[bool, ...] = ()

    @property
    def scalar(self) -> str:
        return llvm_type(self.type)

    @property
    def is_float(self) -> bool:
        return isinstance(self.type, h.Float)

    @property
    def is_signed(self) -> bool:
        return isinstance(self.type, h.Integer) and self.type.signed

    def c(self, value: float) -> str:
        """A constant of the result's type."""
        return self.ops.constant(self.scalar, value)

    def op(self, instruction: str, lhs: str, rhs: str) -> str:
        """An operation on the result's type."""
        return self.ops.binary(instruction, self.scalar, lhs, rhs)

    def select(self, condition: str, if_true: str, if_false: str) -> str:
        return self.ops.select(condition, self.scalar, if_true, if_false)

    def intrinsic(self, name: str, *operands: str, flags: tuple[str, ...] = ()) -> str:
        return self.ops.intrinsic(f"llvm.{name}", self.scalar, *operands, flags=flags)

    def less(self, lhs: str, rhs: str) -> str:
        """`lhs < rhs`, false on NaN."""
        return self.op("fcmp olt" if self.is_float else "icmp slt" if self.is_signed else "icmp ult", lhs, rhs)


def emit(ops: Ops, name: str, type: h.Type, arguments: tuple[str, ...], numbers: tuple[bool, ...] = ()) -> str:
    """A call of the WGSL function `name` whose result has this type. `numbers` says which arguments of `min` and `max`
    are never NaN. Raises KeyError for an unknown name.
    """
    call = _Call(ops, name, type, arguments, numbers)
    if math.is_transcendental(name):
        return _transcendental(call)
    return _EMITTERS[name](call)


def _transcendental(call: _Call) -> str:
    """In f32, also for f16."""
    ops = call.ops
    operands = [("float", ops.convert("fpext", call.scalar, it, "float")) for it in call.arguments]
    result = ops.call(math.define(call.name, ops), "float", operands)
    return ops.convert("fptrunc", "float", result, call.scalar)


# Comparisons and bounds: a NaN loses against a number


def _minimum(call: _Call, lhs: str, rhs: str) -> str:
    return _limited(call, lhs, rhs, _Limit("min", "olt", "ole"))


def _maximum(call: _Call, lhs: str, rhs: str) -> str:
    return _limited(call, lhs, rhs, _Limit("max", "ogt", "oge"))


@dataclass(frozen=True, slots=True)
class _Limit:
    """The processor's instruction for a minimum or maximum, and comparisons that hold if the first of two different
    operands is the result; the weak one also if they are equal.
    """

    instruction: str
    strict: str
    weak: str


def _limited(call: _Call, lhs: str, rhs: str, limit: _Limit) -> str:
    """The least or greatest of two values; the first one if they are equal."""
    if _is_bound(call, rhs):
        return call.select(call.op(f"fcmp {limit.strict}", lhs, rhs), lhs, rhs)
    is_first_number, is_second_number = call.numbers or (False, False)
    found = _of_processor(call, limit.instruction, rhs, lhs)
    if found is not None and is_first_number:
        return found
    if call.is_float and is_second_number:
        return call.select(call.op(f"fcmp {limit.weak}", lhs, rhs), lhs, rhs)
    if found is not None:
        return _or_other(call, found, rhs) or call.select(call.op("fcmp uno", lhs, lhs), rhs, found)
    is_second = call.less(rhs, lhs) if limit.instruction == "min" else call.less(lhs, rhs)
    return call.select(is_second if is_first_number else _or_nan(call, is_second, lhs), rhs, lhs)


def _of_processor(call: _Call, name: str, lhs: str, rhs: str) -> str | None:
    """The smaller or greater one by an instruction of x86-64, which is `rhs` where they are equal or one is NaN; None
    if there is no such instruction. LLVM does not make it of two comparisons and a choice.
    """
    target, lanes = call.ops.out.module.target, call.ops.lanes
    prefixes = {4: "sse.{}.ps", 8: "avx.{}.ps.256", 16: "avx512.{}.ps.512"}
    if target.is_arm or call.scalar != "float" or lanes not in prefixes or 4 * lanes > target.vector_bytes:
        return None
    type, rounding = call.ops.type("float"), ", i32 4" if lanes == 16 else ""
    full = f"@llvm.x86.{prefixes[lanes].format(name)}"
    call.ops.out.module.declare(f"{type} {full}({type}, {type}{', i32 immarg' if lanes == 16 else ''})")
    return call.ops.out.pure(f"call {type} {full}({type} {lhs}, {type} {rhs}{rounding})")


def _or_other(call: _Call, value: str, other: str) -> str | None:
    """A value, or the other one where it is NaN, by one instruction of AVX-512; None if there is none."""
    target, lanes = call.ops.out.module.target, call.ops.lanes
    if not target.has_avx512 or lanes not in _FIXED:
        return None
    floats, responses = call.ops.type("float"), call.ops.type("i32")
    mask, rounding, parameter = f"i{max(lanes, 8)}", *((", i32 4", ", i32 immarg") if lanes == 16 else ("", ""))
    name = f"{floats} @llvm.x86.avx512.mask.fixupimm.ps.{_FIXED[lanes]}"
    call.ops.out.module.declare(f"{name}({floats}, {floats}, {responses}, i32 immarg, {mask}{parameter})")
    table = call.ops.constant("i32", _KEEP_NUMBERS)
    return call.ops.out.pure(
        f"call {name}({floats} {other}, {floats} {value}, {responses} {table}, i32 0, {mask} -1{rounding})"
    )


_FIXED = {4: "128", 8: "256", 16: "512"}
"""The variants of the instruction that replaces floats of some classes, by lanes."""
_KEEP_NUMBERS = 0x11111100
"""Its response to each class of floats, four bits each (Intel, "Software Developer's Manual", VFIXUPIMMPS): 0 takes the
other operand for a quiet or signalling NaN, 1 the value itself for zeros, ones, infinities and other numbers.
"""


def _is_bound(call: _Call, value: str) -> bool:
    """Whether a float is a constant that is neither NaN nor zero: one comparison with it gives the result, NaN or not,
    and processors have an instruction for both. Of two zeros, which compare as equal, the first is the result.
    """
    bits = _FLOAT_CONSTANT.search(value) if call.scalar == "float" else None
    return bits is not None and 0 < int(bits[1], 16) & _MAGNITUDE < _INFINITY


_FLOAT_CONSTANT = re.compile(r"^(?:splat \(float )?0x([0-9A-F]{16})\)?$")
_MAGNITUDE, _INFINITY = (1 << 63) - 1, 0x7FF << 52
"""Bits of a double, as which LLVM writes constants."""


def _or_nan(call: _Call, condition: str, value: str) -> str:
    if not call.is_float:
        return condition
    return call.ops.binary("or", "i1", condition, call.op("fcmp uno", value, value))


def _min(call: _Call) -> str:
    return _minimum(call, *call.arguments)


def _max(call: _Call) -> str:
    return _maximum(call, *call.arguments)


def _clamp(call: _Call) -> str:
    value, low, high = call.arguments
    return _minimum(call, _maximum(call, value, low), high)


def _saturate(call: _Call) -> str:
    return _minimum(call, _maximum(call, call.arguments[0], call.c(0.0)), call.c(1.0))


def _abs(call: _Call) -> str:
    (value,) = call.arguments
    if call.is_float:
        return call.intrinsic("fabs", value)
    return call.intrinsic("abs", value, flags=("false",)) if call.is_signed else value


def _sign(call: _Call) -> str:
    (value,) = call.arguments
    negative = call.select(call.less(value, call.c(0)), call.c(-1), call.c(0))
    return call.select(call.less(call.c(0), value), call.c(1), negative)


def _step(call: _Call) -> str:
    edge, x = call.arguments
    return call.select(call.op("fcmp ole", edge, x), call.c(1.0), call.c(0.0))


def _same(call: _Call) -> str:
    (value,) = call.arguments
    return value


def _choose(call: _Call) -> str:
    if_false, if_true, condition = call.arguments
    return call.select(condition, if_true, if_false)


def _distance(call: _Call) -> str:
    return call.intrinsic("fabs", call.op("fsub", *call.arguments))


# Formulas


def _direct(intrinsic: str) -> Callable[[_Call], str]:
    return lambda call: call.intrinsic(intrinsic, *call.arguments)


def _fma(call: _Call) -> str:
    """Of f16 by way of f64, where product and sum are exact: not every machine has it for f16."""
    if call.scalar != "half":
        return call.intrinsic("fma", *call.arguments)
    a, b, c = (widen(call.ops, "half", it) for it in call.arguments)
    total = call.ops.binary("fadd", "double", call.ops.binary("fmul", "double", a, b), c)
    return _double_to_half(call.ops, total)


def _double_to_half(ops: Ops, value: str) -> str:
    """An f64 as f16, rounded once: to f32 with the last bit odd where that is inexact, then to f16."""
    nearest = ops.convert("fptrunc", "double", value, "float")
    back = ops.convert("fpext", "float", nearest, "double")
    bits = ops.convert("bitcast", "float", nearest, "i32")
    magnitude, exact = ops.intrinsic("llvm.fabs", "double", value), ops.intrinsic("llvm.fabs", "double", back)
    went_up = ops.convert("zext", "i1", ops.binary("fcmp ogt", "double", exact, magnitude), "i32")
    down = ops.binary("sub", "i32", bits, went_up)
    inexact = ops.convert("zext", "i1", ops.binary("fcmp one", "double", back, value), "i32")
    odd = ops.binary("or", "i32", down, inexact)
    return ops.convert("fptrunc", "float", ops.convert("bitcast", "i32", odd, "float"), "half")


def _fract(call: _Call) -> str:
    (value,) = call.arguments
    return call.op("fsub", value, call.intrinsic("floor", value))


def _mix(call: _Call) -> str:
    low, high, t = call.arguments
    rest = call.op("fsub", call.c(1.0), t)
    return call.op("fadd", call.op("fmul", low, rest), call.op("fmul", high, t))


def _smoothstep(call: _Call) -> str:
    low, high, x = call.arguments
    t = call.op("fdiv", call.op("fsub", x, low), call.op("fsub", high, low))
    t = _minimum(call, _maximum(call, t, call.c(0.0)), call.c(1.0))
    slope = call.op("fsub", call.c(3.0), call.op("fmul", call.c(2.0), t))
    return call.op("fmul", call.op("fmul", t, t), slope)


def _scaled(parts: tuple[float, float]) -> Callable[[_Call], str]:
    """Times a constant that is the sum of two floats: nearly always the nearest value. In f32, also for f16."""

    def emit(call: _Call) -> str:
        ops = call.ops
        r = math.Reals(ops)
        value = ops.convert("fpext", call.scalar, call.arguments[0], "float")
        product = r.exact_fma(value, r.c(parts[0]), r.mul(value, r.c(parts[1])))
        return ops.convert("fptrunc", "float", product, call.scalar)

    return emit


def _ldexp(call: _Call) -> str:
    """In double precision, where every step is exact and the exponent, cut to ±400, fits a factor."""
    value, exponent = call.arguments
    ops = call.ops
    if call.scalar == "float" and ops.out.module.target.has_avx512:
        return math.Reals(ops).ldexp(value, exponent)
    exponent = ops.intrinsic("llvm.smin", "i32", exponent, ops.constant("i32", 400))
    exponent = ops.intrinsic("llvm.smax", "i32", exponent, ops.constant("i32", -400))
    biased = ops.convert("zext", "i32", ops.binary("add", "i32", exponent, ops.constant("i32", 1023)), "i64")
    power = ops.convert("bitcast", "i64", ops.binary("shl", "i64", biased, ops.constant("i64", 52)), "double")
    product = ops.binary("fmul", "double", widen(ops, call.scalar, value), power)
    return _double_to_half(ops, product) if call.scalar == "half" else narrow(ops, product, call.scalar)


def _quantize(call: _Call) -> str:
    half = call.ops.convert("fptrunc", "float", call.arguments[0], "half")
    return call.ops.convert("fpext", "half", half, "float")


# Bits


def _count(zeros: Callable[[Ops, str], str]) -> Callable[[_Call], str]:
    return lambda call: zeros(call.ops, call.arguments[0])


def _first_leading_bit(call: _Call) -> str:
    (value,) = call.arguments
    if call.is_signed:
        value = call.op("xor", value, call.op("ashr", value, call.c(31)))
    return call.op("sub", call.c(31), bit_counts.leading_zeros(call.ops, value))


def _first_trailing_bit(call: _Call) -> str:
    (value,) = call.arguments
    is_zero = call.op("icmp eq", value, call.c(0))
    return call.select(is_zero, call.c(-1), bit_counts.trailing_zeros(call.ops, value))


def _field(call: _Call, offset: str, count: str) -> tuple[str, str, str]:
    """Offset and count of a bit field, cut to 32 bits in all, and its mask at bit 0, as i64."""
    ops = call.ops
    offset = ops.intrinsic("llvm.umin", "i32", offset, ops.constant("i32", 32))
    room = ops.binary("sub", "i32", ops.constant("i32", 32), offset)
    count = ops.intrinsic("llvm.umin", "i32", count, room)
    offset, count = (ops.convert("zext", "i32", it, "i64") for it in (offset, count))
    power = ops.binary("shl", "i64", ops.constant("i64", 1), count)
    return offset, count, ops.binary("sub", "i64", power, ops.constant("i64", 1))


def _extract_bits(call: _Call) -> str:
    """Shifted to the top of 64 bits and back again, which extends the sign. A field of no bits is 0."""
    value, offset, count = call.arguments
    ops = call.ops
    offset, count, mask = _field(call, offset, count)
    wide = ops.convert("zext", "i32", value, "i64")
    bits = ops.binary("and", "i64", ops.binary("lshr", "i64", wide, offset), mask)
    if call.is_signed:
        unused = ops.binary("sub", "i64", ops.constant("i64", 64), count)
        up = ops.binary("and", "i64", unused, ops.constant("i64", 63))
        bits = ops.binary("ashr", "i64", ops.binary("shl", "i64", bits, up), up)
    return ops.convert("trunc", "i64", bits, "i32")


def _insert_bits(call: _Call) -> str:
    value, new_bits, offset, count = call.arguments
    ops = call.ops
    offset, _, mask = _field(call, offset, count)
    wide, wide_new = (ops.convert("zext", "i32", it, "i64") for it in (value, new_bits))
    placed = ops.binary("shl", "i64", ops.binary("and", "i64", wide_new, mask), offset)
    hole = ops.binary("xor", "i64", ops.binary("shl", "i64", mask, offset), ops.constant("i64", -1))
    return ops.convert("trunc", "i64", ops.binary("or", "i64", ops.binary("and", "i64", wide, hole), placed), "i32")


def _packed_dot(call: _Call) -> str:
    left, right = call.arguments
    return packed_dots.packed_dot(call.ops, packed_dots.FUNCTIONS[call.name], (left, right))


_EMITTERS: dict[str, Callable[[_Call], str]] = {
    "abs": _abs,
    "sign": _sign,
    "min": _min,
    "max": _max,
    "clamp": _clamp,
    "saturate": _saturate,
    "step": _step,
    "all": _same,
    "any": _same,
    "select": _choose,
    "length": _abs,
    "distance": _distance,
    "floor": _direct("floor"),
    "ceil": _direct("ceil"),
    "trunc": _direct("trunc"),
    "round": _direct("roundeven"),
    "sqrt": _direct("sqrt"),
    "fma": _fma,
    "fract": _fract,
    "mix": _mix,
    "smoothstep": _smoothstep,
    "degrees": _scaled(DEGREES_PARTS),
    "radians": _scaled(RADIANS_PARTS),
    "ldexp": _ldexp,
    "quantizeToF16": _quantize,
    "countOneBits": _direct("ctpop"),
    "countLeadingZeros": _count(bit_counts.leading_zeros),
    "countTrailingZeros": _count(bit_counts.trailing_zeros),
    "reverseBits": _direct("bitreverse"),
    "firstLeadingBit": _first_leading_bit,
    "firstTrailingBit": _first_trailing_bit,
    "extractBits": _extract_bits,
    "insertBits": _insert_bits,
    **dict.fromkeys(packed_dots.FUNCTIONS, _packed_dot),
}
