"""Inner products of four bytes that are packed into a 32-bit word (WGSL, "Packed Integer Dot Product").

In vectors on x86-64 with VNNI, one instruction adds the products of unsigned by signed bytes. Elsewhere on x86-64, the
even and the odd bytes are extended to 16 bits where they are, and the products of adjacent 16-bit integers added by one
instruction. On other processors, and in scalars, each byte is extended to 32 bits.
"""

from __future__ import annotations

from typing import Literal

from .llvm import Ops

Extension = Literal["sext", "zext"]

FUNCTIONS: dict[str, Extension] = {"dot4I8Packed": "sext", "dot4U8Packed": "zext"}
"""WGSL's functions, and how they extend bytes."""

_MIXED_PRODUCTS = {4: "128", 8: "256", 16: "512"}
"""The variants of the instruction that multiplies unsigned by signed bytes, by the number of sums."""
_PAIRED_PRODUCTS = {4: "llvm.x86.sse2.pmadd.wd", 8: "llvm.x86.avx2.pmadd.wd", 16: "llvm.x86.avx512.pmaddw.d.512"}
"""The instruction that multiplies 16-bit integers and adds adjacent products, by the number of sums."""
_BYTE = 8
_SIGNS = -0x7F7F7F80
"""A word with the highest bit of each byte set."""


def packed_dot(ops: Ops, extension: Extension, factors: tuple[str, str], rest: str = "") -> str:
    """The inner product of signed (`sext`) or unsigned bytes, an i32, and the `rest` if there is one."""
    target = ops.out.module.target
    is_vector = ops.lanes in _PAIRED_PRODUCTS and ops.lanes * 4 <= target.vector_bytes
    if is_vector and target.has_byte_products:
        return _by_mixed_products(ops, extension, factors, rest or ops.constant("i32", 0))
    product = (
        _by_pairs(ops, extension, factors) if is_vector and not target.is_arm else _by_bytes(ops, extension, factors)
    )
    return ops.binary("add", "i32", rest, product) if rest else product


def _by_mixed_products(ops: Ops, extension: Extension, factors: tuple[str, str], rest: str) -> str:
    """With the highest bit of its bytes changed, the left word is of the other kind: signed bytes become unsigned ones
    that are 128 greater, unsigned bytes signed ones that are 128 less. What that adds is taken off.
    """
    left, right = factors
    signs, sums = ops.constant("i32", _SIGNS), ops.type("i32")
    name = f"llvm.x86.avx512.vpdpbusd.{_MIXED_PRODUCTS[ops.lanes]}"
    ops.out.module.declare(f"{sums} @{name}({sums}, {sums}, {sums})")

    def added(start: str, changed: str) -> str:
        operands = (changed, right) if extension == "sext" else (right, changed)
        values = ", ".join(f"{sums} {it}" for it in (start, *operands))
        return ops.out.pure(f"call {sums} @{name}({values})")

    changed = ops.binary("xor", "i32", left, signs)
    return ops.binary("sub", "i32", added(rest, changed), added(ops.constant("i32", 0), signs))


def _by_pairs(ops: Ops, extension: Extension, factors: tuple[str, str]) -> str:
    name, words = _PAIRED_PRODUCTS[ops.lanes], Ops(ops.out, 2 * ops.lanes)
    sums, halves = ops.type("i32"), words.type("i16")
    ops.out.module.declare(f"{sums} @{name}({halves}, {halves})")
    found: list[str] = []
    for one, other in zip(*(_parts(ops, words, extension, it) for it in factors), strict=True):
        found.append(ops.out.pure(f"call {sums} @{name}({halves} {one}, {halves} {other})"))
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
