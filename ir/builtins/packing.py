"""Builtin functions that pack values into a u32 and unpack them, and dot products of packed bytes.

The component at index i has its lowest bit at i times its width, so the packed bytes are those of the components in
little-endian order.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from functools import partial

from ..constants import RawValue
from ..scalars import Mode, checked_float, in_finite_range, round_f16, round_f32, wrap_i32, wrap_u32
from ..types import F16, F32
from .registry import Evaluator, Signature, declare, evaluated, integers, numbers

_WORD = struct.Struct("<I")


def _pack(layout: struct.Struct, components: Sequence[float]) -> int:
    (word,) = _WORD.unpack(layout.pack(*components))
    return int(word)


def _unpack(layout: struct.Struct, word: RawValue) -> tuple[int, ...]:
    return layout.unpack(_WORD.pack(word))


def _declare_normalized(count: int, code: str, largest: int) -> None:
    """Declares the packing and unpacking of floats in [0, 1] or, for signed integers, [-1, 1]."""
    layout = struct.Struct(f"<{count}{code}")
    is_signed = code.islower()
    lowest = -1.0 if is_signed else 0.0
    suffix = f"{count}x{32 // count}{'s' if is_signed else 'u'}norm"
    interval = f"[{lowest:g}, 1]"

    def encode(component: float) -> int:
        return math.floor(0.5 + largest * min(1.0, max(lowest, component))) if component == component else 0

    def make_pack(signature: Signature) -> Evaluator:
        del signature
        return lambda args: _pack(layout, [encode(component) for component in numbers(args[0])])

    def make_unpack(signature: Signature) -> Evaluator:
        del signature
        return lambda args: tuple([round_f32(max(value / largest, lowest)) for value in _unpack(layout, args[0])])

    declare(
        f"pack{suffix}",
        f"(e: vec{count}<f32>) -> u32",
        doc=f"{count} numbers in {interval} as integers of {32 // count} bits.",
        make_evaluator=make_pack,
    )
    declare(
        f"unpack{suffix}",
        f"(e: u32) -> vec{count}<f32>",
        doc=f"{count} integers of {32 // count} bits as numbers in {interval}.",
        make_evaluator=make_unpack,
    )


_declare_normalized(4, "b", 127)
_declare_normalized(4, "B", 255)
_declare_normalized(2, "h", 32767)
_declare_normalized(2, "H", 65535)

_HALVES = struct.Struct("<2e")


@evaluated("pack2x16float", "(e: vec2<f32>) -> u32")
def _pack_halves(signature: Signature) -> Evaluator:
    """Two numbers packed as f16."""
    check = partial(in_finite_range, F16) if signature.mode is Mode.CONST else round_f16
    return lambda args: _pack(_HALVES, [round_f16(check(component)) for component in numbers(args[0])])


@evaluated("unpack2x16float", "(e: u32) -> vec2<f32>")
def _unpack_halves(signature: Signature) -> Evaluator:
    """Two packed f16 as f32."""
    check = partial(checked_float, F32) if signature.mode is Mode.CONST else float
    return lambda args: tuple([check(component) for component in _unpack(_HALVES, args[0])])


_SIGNED_BYTES = struct.Struct("<4b")
_BYTES = struct.Struct("<4B")


def _low_byte(component: int) -> int:
    return component & 0xFF


def _between(low: int, high: int) -> Callable[[int], int]:
    return lambda component: max(low, min(component, high))


def _packing(layout: struct.Struct, encode: Callable[[int], int]) -> Evaluator:
    return lambda args: _pack(layout, [encode(component) for component in integers(args[0])])


@evaluated("pack4xI8", "(e: vec4<i32>) -> u32")
def _pack_signed(signature: Signature) -> Evaluator:
    """The low bytes of four integers, packed."""
    del signature
    return _packing(_BYTES, _low_byte)


@evaluated("pack4xU8", "(e: vec4<u32>) -> u32")
def _pack_unsigned(signature: Signature) -> Evaluator:
    """The low bytes of four integers, packed."""
    del signature
    return _packing(_BYTES, _low_byte)


@evaluated("pack4xI8Clamp", "(e: vec4<i32>) -> u32")
def _pack_signed_clamped(signature: Signature) -> Evaluator:
    """Four integers clamped to the range from -128 to 127, packed as bytes."""
    del signature
    return _packing(_SIGNED_BYTES, _between(-128, 127))


@evaluated("pack4xU8Clamp", "(e: vec4<u32>) -> u32")
def _pack_unsigned_clamped(signature: Signature) -> Evaluator:
    """Four integers clamped to at most 255, packed as bytes."""
    del signature
    return _packing(_BYTES, _between(0, 255))


@evaluated("unpack4xI8", "(e: u32) -> vec4<i32>")
def _unpack_signed(signature: Signature) -> Evaluator:
    """Four packed signed bytes as i32."""
    del signature
    return lambda args: _unpack(_SIGNED_BYTES, args[0])


@evaluated("unpack4xU8", "(e: u32) -> vec4<u32>")
def _unpack_unsigned(signature: Signature) -> Evaluator:
    """Four packed unsigned bytes as u32."""
    del signature
    return lambda args: _unpack(_BYTES, args[0])


def _byte_dot(layout: struct.Struct, args: Sequence[RawValue]) -> int:
    pairs = zip(_unpack(layout, args[0]), _unpack(layout, args[1]), strict=True)
    return sum(a * b for a, b in pairs)


@evaluated("dot4I8Packed", "(e1: u32, e2: u32) -> i32")
def _signed_dot(signature: Signature) -> Evaluator:
    """The dot product of two vectors of four packed signed bytes."""
    del signature
    return lambda args: wrap_i32(_byte_dot(_SIGNED_BYTES, args))


@evaluated("dot4U8Packed", "(e1: u32, e2: u32) -> u32")
def _unsigned_dot(signature: Signature) -> Evaluator:
    """The dot product of two vectors of four packed unsigned bytes."""
    del signature
    return lambda args: wrap_u32(_byte_dot(_BYTES, args))
