"""Texel formats in Hercules IR: the channel transfer functions and their inverses, built from primitive nodes. They
follow those of `ir.texels` step by step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from ...ir.hercules import nodes as h
from ...ir.scalars import round_fraction
from ...ir.texels import FEWER_BITS, WORD, Channel, ChannelKind, TexelFormat
from ...ir.types import F32
from . import arithmetic
from . import types as t
from .graph import Graph

ADD, MUL, AND, OR = h.BinaryOp.ADD, h.BinaryOp.MUL, h.BinaryOp.AND, h.BinaryOp.OR
SHIFT_LEFT, SHIFT_RIGHT = h.BinaryOp.SHIFT_LEFT, h.BinaryOp.SHIFT_RIGHT


def decode(graph: Graph, form: TexelFormat, words: Sequence[h.Node]) -> tuple[h.Node, ...]:
    """The vector of a texel: missing channels are 0, a missing alpha is 1."""
    value = [arithmetic.scalar_literal(graph, form.scalar, number) for number in (0, 0, 0, 1)]
    for channel in form.channels:
        value[channel.component] = _decode(graph, channel, words[channel.word])
    return tuple(value)


def encode(graph: Graph, form: TexelFormat, value: Sequence[h.Node]) -> list[h.Node]:
    """The words of the texel that holds a vector."""
    words: list[h.Node | None] = [None] * form.words
    for channel in form.channels:
        bits = _encode(graph, channel, value[channel.component])
        placed = graph.binary(SHIFT_LEFT, bits, graph.u32(channel.shift)) if channel.shift else bits
        other = words[channel.word]
        words[channel.word] = placed if other is None else graph.binary(OR, other, placed)
    return [word for word in words if word is not None]


def _decode(graph: Graph, channel: Channel, word: h.Node) -> h.Node:
    is_signed = channel.kind in (ChannelKind.SNORM, ChannelKind.SINT)
    bits = _signed_bits(graph, channel, word) if is_signed else _bits(graph, channel, word)
    match channel.kind:
        case ChannelKind.UINT | ChannelKind.SINT:
            return bits
        case ChannelKind.UNORM:
            return _fraction(graph, channel, bits)
        case ChannelKind.SNORM:
            return graph.intrinsic("max", t.F32, _fraction(graph, channel, bits), graph.floating(t.F32, -1.0))
        case ChannelKind.FLOAT if channel.bits == WORD:
            return graph.bitcast(t.F32, bits)
        case ChannelKind.FLOAT:
            return _from_half(graph, bits)
        case ChannelKind.UFLOAT:
            return _from_half(graph, graph.binary(SHIFT_LEFT, bits, graph.u32(15 - channel.bits)))


def _bits(graph: Graph, channel: Channel, word: h.Node) -> h.Node:
    """The stored bits as a u32."""
    moved = graph.binary(SHIFT_RIGHT, word, graph.u32(channel.shift)) if channel.shift else word
    return graph.binary(AND, moved, graph.u32(channel.mask)) if channel.bits + channel.shift < WORD else moved


def _signed_bits(graph: Graph, channel: Channel, word: h.Node) -> h.Node:
    """The stored bits as an i32: shifted to the top, then down again with the sign."""
    above = WORD - channel.bits - channel.shift
    moved = graph.binary(SHIFT_LEFT, word, graph.u32(above)) if above else word
    signed = graph.bitcast(t.I32, moved)
    below = WORD - channel.bits
    return graph.binary(SHIFT_RIGHT, signed, graph.integer(t.I32, below)) if below else signed


def _fraction(graph: Graph, channel: Channel, bits: h.Node) -> h.Node:
    """The bits over the largest ones, correctly rounded, in less time than a division takes."""
    value = graph.cast(t.F32, bits)
    high, low = (graph.floating(t.F32, it) for it in reciprocal(channel.largest, channel.bits))
    return graph.binary(ADD, graph.binary(MUL, value, high), graph.binary(MUL, value, low))


def reciprocal(divisor: int, bits: int) -> tuple[float, float]:
    """1 / divisor as a sum of two f32. The products of the first with integers of that many bits are exact."""
    mantissa, exponent = math.frexp(1 / divisor)
    kept = _SIGNIFICAND - bits
    high = math.ldexp(math.floor(math.ldexp(mantissa, kept)), exponent - kept)
    return high, round_fraction(F32, Fraction(1, divisor) - Fraction(high))


def _from_half(graph: Graph, bits: h.Node) -> h.Node:
    return graph.cast(t.F32, graph.bitcast(t.F16, graph.cast(t.U16, bits)))


def _to_half(graph: Graph, value: h.Node) -> h.Node:
    return graph.cast(t.U32, graph.bitcast(t.U16, graph.cast(t.F16, value)))


def _encode(graph: Graph, channel: Channel, value: h.Node) -> h.Node:
    """The stored bits as a u32, zeros above them."""
    match channel.kind:
        case ChannelKind.UINT if channel.bits == WORD:
            return value
        case ChannelKind.UINT:
            return graph.intrinsic("min", t.U32, value, graph.u32(channel.largest))
        case ChannelKind.SINT:
            return _masked(graph, channel, _clamped_integer(graph, channel, value))
        case ChannelKind.UNORM | ChannelKind.SNORM:
            return _masked(graph, channel, _normalized(graph, channel, value))
        case ChannelKind.FLOAT if channel.bits == WORD:
            return graph.bitcast(t.U32, value)
        case ChannelKind.FLOAT:
            return _to_half(graph, value)
        case ChannelKind.UFLOAT:
            return _small_float(graph, channel, value)


def _masked(graph: Graph, channel: Channel, value: h.Node) -> h.Node:
    """An i32's lowest bits."""
    bits = graph.bitcast(t.U32, value)
    return bits if channel.bits == WORD else graph.binary(AND, bits, graph.u32(channel.mask))


def _clamped_integer(graph: Graph, channel: Channel, value: h.Node) -> h.Node:
    if channel.bits == WORD:
        return value
    most = graph.integer(t.I32, channel.largest)
    least = graph.integer(t.I32, -channel.largest - 1)
    return graph.intrinsic("max", t.I32, graph.intrinsic("min", t.I32, value, most), least)


def _normalized(graph: Graph, channel: Channel, value: h.Node) -> h.Node:
    """The stored i32 of a normalized channel: clamped, scaled, and rounded to the nearest integer; 0 for NaN."""
    least = graph.floating(t.F32, -1.0 if channel.kind is ChannelKind.SNORM else 0.0)
    known = _or_zero(graph, value)
    inside = graph.intrinsic("max", t.F32, graph.intrinsic("min", t.F32, known, graph.floating(t.F32, 1.0)), least)
    scaled = graph.binary(MUL, inside, graph.floating(t.F32, float(channel.largest)))
    rounded = graph.intrinsic("floor", t.F32, graph.binary(ADD, scaled, graph.floating(t.F32, 0.5)))
    return graph.cast(t.I32, rounded)


def _or_zero(graph: Graph, value: h.Node) -> h.Node:
    """The value, or 0 if it is NaN."""
    is_number = graph.binary(h.BinaryOp.EQUAL, value, value)
    return graph.select(is_number, value, arithmetic.scalar_literal(graph, F32, 0.0))


def _small_float(graph: Graph, channel: Channel, value: h.Node) -> h.Node:
    """The upper bits of an f16 without sign. Finite numbers are clamped to the format's range, rounded towards zero."""
    shift = 15 - channel.bits
    zero, largest = graph.floating(t.F32, 0.0), graph.floating(t.F32, channel.largest_float)
    least = graph.intrinsic("max", t.F32, graph.intrinsic("min", t.F32, _or_zero(graph, value), largest), zero)
    kept = graph.bitcast(t.F32, graph.binary(AND, graph.bitcast(t.U32, least), graph.u32(FEWER_BITS)))
    unsigned = graph.binary(AND, _to_half(graph, kept), graph.u32(_UNSIGNED))  # max(0, -0) may be either zero
    stored = graph.binary(SHIFT_RIGHT, unsigned, graph.u32(shift))
    is_infinite = graph.binary(h.BinaryOp.EQUAL, value, graph.floating(t.F32, float("inf")))
    stored = graph.select(is_infinite, graph.u32(_INFINITY >> shift), stored)
    is_number = graph.binary(h.BinaryOp.EQUAL, value, value)
    return graph.select(is_number, stored, graph.u32(_NAN >> shift))


_SIGNIFICAND = 24
"""Bits of an f32's significand."""

_INFINITY, _NAN, _UNSIGNED = 0x7C00, 0x7E00, 0x7FFF
"""Bits of an f16."""
