"""Texel formats (WGSL, "Texel Formats"): the positions of a texel's channels in words, and the values of channels.

A texel takes one, two or four u32 words: its bytes in WebGPU's order, zero-padded to a whole word. `decode` and
`encode` are the channel transfer functions and their inverses. Each step is in f32 arithmetic, so that generated code
with the same steps gets the same bits.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Sequence
from functools import cache
from typing import Final, cast

from ..base.records import dataclass
from .constants import RawValue
from .scalars import bits_of, from_bits, round_f16, round_f32
from .types import F16, F32, I32, U32, Scalar, Type, vector

WORD = 32


class ChannelKind(enum.Enum):
    """How the bits of a channel are interpreted."""

    UNORM = "unorm"
    SNORM = "snorm"
    UINT = "uint"
    SINT = "sint"
    FLOAT = "float"
    UFLOAT = "ufloat"

    @property
    def shader_type(self) -> Scalar:
        """The scalar type of the channel in a shader."""
        return _SHADER_TYPES.get(self, F32)


_SHADER_TYPES = {ChannelKind.UINT: U32, ChannelKind.SINT: I32}


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel: `bits` bits of word `word`, from bit `shift` on. It is the component `component` of the shader's
    vector.
    """

    kind: ChannelKind
    bits: int
    component: int
    word: int
    shift: int

    @property
    def mask(self) -> int:
        """A mask of `bits` ones, not shifted."""
        return (1 << self.bits) - 1

    @property
    def largest(self) -> int:
        """The largest stored integer; in a normalised channel it represents 1.0."""
        is_signed = self.kind in (ChannelKind.SNORM, ChannelKind.SINT)
        return (1 << (self.bits - 1)) - 1 if is_signed else self.mask

    @property
    def largest_float(self) -> float:
        """The largest finite number of a small float without sign: five bits of exponent, the others of fraction."""
        return math.ldexp(2.0 - math.ldexp(1.0, 5 - self.bits), 15)

    def decode(self, words: Sequence[int]) -> RawValue:
        """The value of the channel in the shader, from the words of a texel."""
        bits = (words[self.word] >> self.shift) & self.mask
        match self.kind:
            case ChannelKind.UINT:
                return bits
            case ChannelKind.SINT:
                return _signed(bits, self.bits)
            case ChannelKind.UNORM:
                return round_f32(bits / self.largest)
            case ChannelKind.SNORM:
                return round_f32(max(-1.0, _signed(bits, self.bits) / self.largest))
            case ChannelKind.FLOAT:
                return from_bits(F32 if self.bits == WORD else F16, bits)
            case ChannelKind.UFLOAT:
                return from_bits(F16, bits << (15 - self.bits))

    def encode(self, value: RawValue) -> int:
        """A word with the bits of the value at the channel's position."""
        return (self._stored(cast("int | float", value)) & self.mask) << self.shift

    def _stored(self, value: float) -> int:
        match self.kind:
            case ChannelKind.UINT:
                return min(int(value), self.largest)
            case ChannelKind.SINT:
                return max(-self.largest - 1, min(int(value), self.largest))
            case ChannelKind.UNORM:
                return self._normalized(value, 0.0)
            case ChannelKind.SNORM:
                return self._normalized(value, -1.0)
            case ChannelKind.FLOAT:
                return bits_of(F32, value) if self.bits == WORD else bits_of(F16, round_f16(value))
            case ChannelKind.UFLOAT:
                return self._small_float(value)

    def _normalized(self, value: float, lowest: float) -> int:
        """The integer nearest to the scaled value; 0 for NaN."""
        if math.isnan(value):
            return 0
        scaled = round_f32(max(lowest, min(value, 1.0)) * self.largest)
        return math.floor(round_f32(scaled + 0.5))

    def _small_float(self, value: float) -> int:
        """The bits of a small float: the upper bits of an f16, rounded towards zero, clamped to the largest."""
        if math.isnan(value):
            return bits_of(F16, math.nan) >> (15 - self.bits) & self.mask
        if value == math.inf:
            return bits_of(F16, math.inf) >> (15 - self.bits)
        least = max(0.0, min(value, self.largest_float))
        kept = cast("float", from_bits(F32, bits_of(F32, least) & FEWER_BITS))
        return bits_of(F16, round_f16(kept)) >> (15 - self.bits)


FEWER_BITS = 0xFFFFE000
"""The bits of an f32 that an f16 can represent: if all others are 0, the conversion to f16 needs no rounding."""


def _signed(bits: int, width: int) -> int:
    return bits - (1 << width) if bits >> (width - 1) else bits


@dataclass(frozen=True, slots=True)
class TexelFormat:
    """A texel format: its channels in memory order."""

    name: str
    channels: tuple[Channel, ...]

    @property
    def words(self) -> int:
        """The number of u32 words of a texel in memory here: 1, 2 or 4."""
        return self.channels[-1].word + 1

    @property
    def bytes(self) -> int:
        """The number of bytes of a texel in WebGPU."""
        return sum(channel.bits for channel in self.channels) // 8

    @property
    def is_packed(self) -> bool:
        """Whether channels share a word without being whole bytes, so that an array has one number a texel."""
        return self.channels[0].bits not in (8, 16, WORD)

    @property
    def is_normalised(self) -> bool:
        """Whether channels are integers that stand for floats between -1 and 1."""
        return self.channels[0].kind in (ChannelKind.UNORM, ChannelKind.SNORM)

    @property
    def scalar(self) -> Scalar:
        """The scalar type of the texel's components in a shader."""
        return self.channels[0].kind.shader_type

    @property
    def texel_type(self) -> Type:
        """The type of a texel in memory."""
        return U32 if self.words == 1 else vector(self.words, U32)

    def decode(self, words: Sequence[int]) -> tuple[RawValue, ...]:
        """The vector that a shader loads; missing channels are 0, a missing alpha 1."""
        value: list[RawValue] = [0, 0, 0, 1] if self.scalar is not F32 else [0.0, 0.0, 0.0, 1.0]
        for channel in self.channels:
            value[channel.component] = channel.decode(words)
        return tuple(value)

    def encode(self, value: Sequence[RawValue]) -> list[int]:
        """The words of the vector that a shader stores."""
        words = [0] * self.words
        for channel in self.channels:
            words[channel.word] |= channel.encode(value[channel.component])
        return words


_SPECIAL = {
    "rgb10a2unorm": ((ChannelKind.UNORM, 10), (ChannelKind.UNORM, 10), (ChannelKind.UNORM, 10), (ChannelKind.UNORM, 2)),
    "rgb10a2uint": ((ChannelKind.UINT, 10), (ChannelKind.UINT, 10), (ChannelKind.UINT, 10), (ChannelKind.UINT, 2)),
    "rg11b10ufloat": ((ChannelKind.UFLOAT, 11), (ChannelKind.UFLOAT, 11), (ChannelKind.UFLOAT, 10)),
}
_REGULAR: Final = r"(r|rg|rgba|bgra)(8|16|32)(unorm|snorm|uint|sint|float)"


@cache
def texel_format(name: str) -> TexelFormat:
    """The format of that name, which must be one of WGSL's."""
    if name in _SPECIAL:
        return TexelFormat(name, _placed("rgba", _SPECIAL[name]))
    match = re.fullmatch(_REGULAR, name)
    assert match is not None, f"{name} is no texel format"
    order, bits, kind = match.groups()
    return TexelFormat(name, _placed(order, ((ChannelKind(kind), int(bits)),) * len(order)))


def _placed(order: str, channels: Sequence[tuple[ChannelKind, int]]) -> tuple[Channel, ...]:
    placed: list[Channel] = []
    at = 0
    for letter, (kind, bits) in zip(order, channels, strict=False):
        placed.append(Channel(kind, bits, "rgba".index(letter), at // WORD, at % WORD))
        at += bits
    return tuple(placed)
