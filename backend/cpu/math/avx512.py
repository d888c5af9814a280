"""Instructions of AVX-512 on floats for which LLVM has no portable name, on any number of lanes.

Only for targets with `has_avx512`. Each is one instruction for 4, 8 or 16 lanes; more lanes are split into parts. The
semantics are in Intel's "Intrinsics Guide".
"""

from __future__ import annotations

from collections.abc import Sequence

from ....base.records import dataclass
from ..llvm import Ops

_MOST_LANES = 16
_CURRENT_ROUNDING, _FROM_1_TO_2 = (("i32 immarg", it) for it in ("4", "0"))
_NO_EXCEPTIONS = ("i32 immarg", "0")


KEEP, THE_ARGUMENT, NAN, NEGATIVE_INFINITY, ONE = 0, 1, 3, 4, 10
"""Results that `with_exceptions` can substitute."""


def inverse_sqrt_estimate(ops: Ops, x: str) -> str:
    """`1 / √x` with a relative error below 2^-14; exact if the result is 0 or infinite, NaN for a negative x."""
    return _in_parts(ops, _Instruction("rsqrt14.ps"), [x])


def inverse_estimate(ops: Ops, x: str) -> str:
    """`1 / x` with a relative error below 2^-14, for a normal x whose inverse is normal."""
    return _in_parts(ops, _Instruction("rcp14.ps"), [x])


def exponent(ops: Ops, x: str) -> str:
    """The floor of `log2 |x|`, subnormal numbers included; -inf for 0, inf for infinities."""
    return _in_parts(ops, _Instruction("mask.getexp.ps", has_rounding=True), [x])


def significand(ops: Ops, x: str) -> str:
    """`x / 2^n` in [1, 2), n being the floor of `log2 x`, of a positive finite x."""
    return _in_parts(ops, _Instruction("mask.getmant.ps", _FROM_1_TO_2, has_rounding=True), [x])


def scale(ops: Ops, x: str, n: str) -> str:
    """`x * 2^n`, rounded once, for any float n without a fraction."""
    return _in_parts(ops, _Instruction("mask.scalef.ps", has_rounding=True), [x, n])


def with_exceptions(
    ops: Ops, result: str, x: str, *, negative: int, zero: int = KEEP, one: int = KEEP, infinity: int = KEEP
) -> str:
    """A function's result, with replacements for an argument x that is negative, 0, 1 or +inf."""
    classes = (KEEP, KEEP, zero, one, negative, infinity, negative, KEEP)
    """QNaN, SNaN, 0, 1, -inf, inf, other negative numbers, other positive ones: four bits for each class."""
    table = sum(token << 4 * index for index, token in enumerate(classes))
    return _in_parts(ops, _Instruction("mask.fixupimm.ps", table=table, has_rounding=True), [result, x])


@dataclass(frozen=True, slots=True)
class _Instruction:
    """An intrinsic of LLVM: its name between the prefix and the vector's bits, an immediate operand, a `table` for all
    lanes, and whether its 512-bit form has a rounding mode as last operand.
    """

    name: str
    immediate: tuple[str, str] | None = None
    table: int | None = None
    has_rounding: bool = False

    def call(self, ops: Ops, width: int, operands: Sequence[str]) -> str:
        """A call of the intrinsic on vectors of `width` lanes."""
        vector, mask = f"<{width} x float>", f"i{max(width, 8)}"
        typed = [(vector, it) for it in operands]
        if self.immediate is not None:
            typed.append(self.immediate)
        if self.table is None:
            typed.append((vector, "zeroinitializer"))
        else:
            typed += [(f"<{width} x i32>", f"splat (i32 {self.table})"), _NO_EXCEPTIONS]
        typed.append((mask, "-1"))
        if self.has_rounding and width == _MOST_LANES:
            typed.append(_CURRENT_ROUNDING)
        full = f"llvm.x86.avx512.{self.name}.{width * 32}"
        ops.out.module.declare(f"{vector} @{full}({', '.join(type for type, _ in typed)})")
        arguments = ", ".join(f"{type.removesuffix(' immarg')} {it}" for type, it in typed)
        return ops.out.pure(f"call {vector} @{full}({arguments})")


def _in_parts(ops: Ops, instruction: _Instruction, operands: Sequence[str]) -> str:
    """The instruction on all lanes, split into vectors of a supported width."""
    width = min(max(ops.lanes, 4), _MOST_LANES)
    if ops.lanes == 1:
        vector = f"<{width} x float>"
        wide = [ops.out.pure(f"insertelement {vector} poison, float {it}, i32 0") for it in operands]
        return ops.out.pure(f"extractelement {vector} {instruction.call(ops, width, wide)}, i32 0")
    parts = [
        instruction.call(ops, width, [_lanes(ops, ops.lanes, [it], range(start, start + width)) for it in operands])
        for start in range(0, ops.lanes, width)
    ]
    while len(parts) > 1:
        parts = [_lanes(ops, width, parts[at : at + 2], range(2 * width)) for at in range(0, len(parts), 2)]
        width *= 2
    return _lanes(ops, width, parts, range(ops.lanes))


def _lanes(ops: Ops, lanes: int, vectors: Sequence[str], chosen: range) -> str:
    """The lanes with these numbers of one vector or two concatenated ones; lanes beyond the end are undefined."""
    if len(vectors) == 1 and chosen == range(lanes):
        return vectors[0]
    first, second = (*vectors, "poison")[:2]
    type, count = f"<{lanes} x float>", lanes * len(vectors)
    places = ", ".join(f"i32 {it}" if it < count else "i32 poison" for it in chosen)
    return ops.out.pure(f"shufflevector {type} {first}, {type} {second}, <{len(chosen)} x i32> <{places}>")
