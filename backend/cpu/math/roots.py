"""Inverse roots in f32."""

from __future__ import annotations

from collections.abc import Sequence

from ..llvm import Ops
from .reals import Reals


def inverse_sqrt(r: Reals, x: str) -> str:
    """`1 / √x`: the processor's estimate and a step of Newton's method, or where it has none, a root and a division.

    The step makes NaN of the estimates at 0 and infinity, which are exact.
    """
    if not r.ops.out.module.target.has_avx512:
        return r.div(r.c(1.0), r.call("sqrt", x))
    estimate = _estimate(r.ops, x)
    rest = r.multiply_add(r.neg(r.mul(x, estimate)), estimate, r.c(1.0))
    result = r.multiply_add(r.mul(estimate, r.c(0.5)), rest, estimate)
    return r.select(r.test("uno", result, result), estimate, result)


def _estimate(ops: Ops, x: str) -> str:
    """`1 / √x` to 2^-14 of itself, by AVX-512's instruction for vectors of 4, 8 or 16 floats."""
    width = min(max(ops.lanes, 4), 16)
    name = f"llvm.x86.avx512.rsqrt14.ps.{width * 32}"
    vector, mask = f"<{width} x float>", f"i{max(width, 8)}"
    ops.out.module.declare(f"{vector} @{name}({vector}, {vector}, {mask})")

    def of_part(part: str) -> str:
        return ops.out.value(f"call {vector} @{name}({vector} {part}, {vector} zeroinitializer, {mask} -1)")

    if ops.lanes == 1:
        wide = ops.out.pure(f"insertelement {vector} poison, float {x}, i32 0")
        return ops.out.pure(f"extractelement {vector} {of_part(wide)}, i32 0")
    starts = range(0, ops.lanes, width)
    parts = [of_part(_lanes(ops, ops.lanes, [x], range(start, start + width))) for start in starts]
    while len(parts) > 1:
        parts = [_lanes(ops, width, parts[at : at + 2], range(2 * width)) for at in range(0, len(parts), 2)]
        width *= 2
    return _lanes(ops, width, parts, range(ops.lanes))


def _lanes(ops: Ops, lanes: int, vectors: Sequence[str], chosen: range) -> str:
    """These lanes of one vector, or of two one after the other; nothing in particular beyond their end."""
    if len(vectors) == 1 and chosen == range(lanes):
        return vectors[0]
    first, second = (*vectors, "poison")[:2]
    type, count = f"<{lanes} x float>", lanes * len(vectors)
    places = ", ".join(f"i32 {it}" if it < count else "i32 poison" for it in chosen)
    return ops.out.pure(f"shufflevector {type} {first}, {type} {second}, <{len(chosen)} x i32> <{places}>")
