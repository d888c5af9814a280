"""Inner products of four bytes that are packed into a 32-bit word (WGSL, "Packed Integer Dot Product").

In vectors on x86-64, the even and the odd bytes are extended to 16 bits where they are, and the products of adjacent
16-bit integers added by one instruction. Elsewhere each byte is extended to 32 bits.
"""

from __future__ import annotations

from typing import Literal

from .llvm import Ops

Extension = Literal["sext", "zext"]

_PAIRED_PRODUCTS = {4: "llvm.x86.sse2.pmadd.wd", 8: "llvm.x86.avx2.pmadd.wd", 16: "llvm.x86.avx512.pmaddw.d.512"}
"""The instruction that multiplies 16-bit integers and adds adjacent products, by the number of sums."""
_BYTE = 8


def packed_dot(ops: Ops, extension: Extension, left: str, right: str) -> str:
    """The inner product of signed (`sext`) or unsigned bytes, an i32."""
    target = ops.out.module.target
    if target.is_arm or ops.lanes not in _PAIRED_PRODUCTS or ops.lanes * 4 > target.vector_bytes:
        return _by_bytes(ops, extension, (left, right))
    name, words = _PAIRED_PRODUCTS[ops.lanes], Ops(ops.out, 2 * ops.lanes)
    sums, halves = ops.type("i32"), words.type("i16")
    ops.out.module.declare(f"{sums} @{name}({halves}, {halves})")
    found: list[str] = []
    for factors in zip(_parts(ops, words, extension, left), _parts(ops, words, extension, right), strict=True):
        found.append(ops.out.pure(f"call {sums} @{name}({halves} {factors[0]}, {halves} {factors[1]})"))
    return ops.binary("add", "i32", *found)


def _parts(ops: Ops, words: Ops, extension: Extension, packed: str) -> tuple[str, str]:
    """The even and the odd bytes of words as 16-bit integers."""
    pairs = ops.out.pure(f"bitcast {ops.type('i32')} {packed} to {words.type('i16')}")
    shift, count = "ashr" if extension == "sext" else "lshr", words.constant("i16", _BYTE)
    even = words.binary(shift, "i16", words.binary("shl", "i16", pairs, count), count)
    return even, words.binary(shift, "i16", pairs, count)


def _by_bytes(ops: Ops, extension: Extension, packed: tuple[str, str]) -> str:
    total = ops.constant("i32", 0)
    for shift in range(0, 32, _BYTE):
        left, right = (_byte(ops, extension, it, shift) for it in packed)
        total = ops.binary("add", "i32", total, ops.binary("mul", "i32", left, right))
    return total


def _byte(ops: Ops, extension: Extension, word: str, shift: int) -> str:
    lowest = ops.binary("lshr", "i32", word, ops.constant("i32", shift))
    return ops.convert(extension, "i8", ops.convert("trunc", "i32", lowest, "i8"), "i32")
