"""Formats of `debugPrintf`, which are checked when a shader is resolved, and applied to what a dispatch recorded.

A format is a string literal with C's escapes for line breaks, tabs, quotes and backslashes, and with conversions as C
has them, `%[flags][width][.precision][vN]LETTER`, where `v2`, `v3` and `v4` are for vectors (Vulkan Validation Layers,
"Debug Printf").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from .types import BOOL, F16, F32, I32, U32, Matrix, Scalar, Type, Vector

NAME: Final = "debugPrintf"
EXTENSION: Final = "wgpu_debug_printf"
"""The extension that wgpu demands for calls (wgpu, "Shader debugPrintf")."""

_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_PIECE = re.compile(
    r"\\(?P<escape>.)|%(?P<percent>%)|%(?P<rest>[-+ #0]*\d*(?:\.\d*)?(?:v\d)?[A-Za-z]?)|[^\\%]+", re.DOTALL
)
_CONVERSION = re.compile(r"(?P<flags>[-+ #0]*\d{0,3}(?:\.\d{1,2})?)(?:v(?P<size>[234]))?(?P<letter>[diuxXeEfFgGs])")
_UNSIGNED, _FLOATS = "uxX", "eEfFgG"
_LETTERS: Mapping[Scalar, str] = {BOOL: "<bool>", I32: "i", U32: "u", F32: "f", F16: "h"}
_INTEGERS = frozenset({BOOL, I32, U32})


class FormatFault(Exception):
    """What is wrong with a format, and the characters of the literal's text it is about."""

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end


@dataclass(frozen=True, slots=True)
class Conversion:
    """One conversion: `flags` with width and precision, the number of a vector's components or None, and the letter.
    `start` and `end` are its place in the literal's text, in characters.
    """

    flags: str
    size: int | None
    letter: str
    start: int
    end: int

    @property
    def expected(self) -> str:
        """The types that it takes, in words."""
        if self.letter == "s":
            return "a scalar, a vector or a matrix"
        elements = "f32 or f16" if self.letter in _FLOATS else "i32, u32 or bool"
        return elements if self.size is None else f"a vec{self.size} of {elements}"

    def takes(self, type: Type) -> bool:
        """Whether it is for values of a concrete type."""
        if self.letter == "s" and self.size is None:
            return isinstance(type, (Scalar, Vector, Matrix))
        if isinstance(type, Vector):
            return type.width == self.size and self._takes_element(type.element)
        return self.size is None and self._takes_element(type)

    def _takes_element(self, type: Type) -> bool:
        return type in ((F32, F16) if self.letter in _FLOATS else _INTEGERS)

    def apply(self, type: Type, words: Sequence[int]) -> str:
        """The text of a value whose components were recorded in words."""
        if self.letter == "s":
            text = shown(type, words)
            return f"%{self.flags}s" % text
        element = type.element if isinstance(type, Vector) else type
        values = [_value(element, it) for it in words]
        if self.letter in _UNSIGNED:
            values = [int(it) & 0xFFFFFFFF for it in values]
        pattern = f"%{self.flags}{'d' if self.letter in 'diu' else self.letter}"
        return ", ".join(pattern % it for it in values)


@dataclass(frozen=True, slots=True)
class Format:
    """A parsed format: texts and conversions in order."""

    pieces: tuple[str | Conversion, ...]

    @property
    def conversions(self) -> tuple[Conversion, ...]:
        """Its conversions, one for each argument."""
        return tuple(it for it in self.pieces if isinstance(it, Conversion))

    def apply(self, types: Sequence[Type], words: Sequence[int]) -> str:
        """The text for arguments of the types that `takes` allowed, recorded in words one after another."""
        arguments, first, texts = iter(types), 0, list[str]()
        for piece in self.pieces:
            if isinstance(piece, str):
                texts.append(piece)
                continue
            type = next(arguments)
            count = word_count(type)
            texts.append(piece.apply(type, words[first : first + count]))
            first += count
        return "".join(texts)


def parse_format(literal: str) -> Format:
    """The format of a string literal, given with its quotes. Raises FormatFault."""
    return Format(tuple(_pieces(literal)))


def _pieces(literal: str) -> Iterator[str | Conversion]:
    for match in _PIECE.finditer(literal, 1, len(literal) - 1):
        start, end = match.span()
        if (escape := match["escape"]) is not None:
            if escape not in _ESCAPES:
                raise FormatFault(f"unknown escape '\\{escape}': there are \\n, \\r, \\t, \\\" and \\\\", start, end)
            yield _ESCAPES[escape]
        elif match["percent"]:
            yield "%"
        elif (rest := match["rest"]) is not None:
            yield _conversion(rest, start, end)
        else:
            yield match[0]


def _conversion(text: str, start: int, end: int) -> Conversion:
    found = _CONVERSION.fullmatch(text)
    if found is None or (found["letter"] == "s" and found["size"]):
        known = "%d, %i, %u, %x, %X, %e, %f, %g and %s, vectors as in %v3f, and %% for a percent sign"
        raise FormatFault(f"unknown conversion '%{text}': there are {known}", start, end)
    size = found["size"]
    return Conversion(found["flags"], None if size is None else int(size), found["letter"], start, end)


def word_count(type: Type) -> int:
    """The number of words that a value of a type is recorded in: one for each component."""
    match type:
        case Vector(width=width):
            return width
        case Matrix(columns=columns, rows=rows):
            return columns * rows
        case _:
            return 1


def shown(type: Type, words: Sequence[int]) -> str:
    """A value as WGSL writes it."""
    match type:
        case Vector(width=width, element=element):
            name = f"vec{width}{_LETTERS[element]}"
        case Matrix(columns=columns, rows=rows, element=element):
            name = f"mat{columns}x{rows}{_LETTERS[element]}"
        case _:
            value = _value(type, words[0])
            return str(value).lower() if isinstance(value, bool) else str(value)
    return f"{name}({', '.join(shown(element, [it]) for it in words)})"


def _value(type: Type, word: int) -> bool | int | np.float32 | np.float16:
    """The value of a scalar that was recorded in a word, which holds an f16 as f32."""
    if type is BOOL:
        return bool(word)
    if type is U32:
        return word
    if type is I32:
        return int(np.uint32(word).view(np.int32))
    value = np.uint32(word).view(np.float32)
    return np.float16(value) if type is F16 else np.float32(value)
