"""Formats of `debugPrintf`, which are checked when a shader is resolved, and applied to what a dispatch recorded.

A format is a string literal with C's escapes for line breaks, tabs, quotes and backslashes, and with conversions as C
has them, `%[flags][width][.precision][vN]LETTER`, where `v2`, `v3` and `v4` are for vectors (Vulkan Validation Layers,
"Debug Printf").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias, assert_never, cast

import numpy as np

from ..base.records import dataclass
from .constants import RawValue
from .types import BOOL, F16, F32, I32, U32, Array, Matrix, Scalar, Struct, Type, Vector

_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_PIECE: Final = r"\\(?P<escape>.)|%(?P<percent>%)|%(?P<rest>[-+ #0]*\d*(?:\.\d*)?(?:v\d)?[A-Za-z]?)|[^\\%]+"
_CONVERSION: Final = r"(?P<flags>[-+ #0]*\d{0,3}(?:\.\d{1,2})?)(?:v(?P<size>[234]))?(?P<letter>[diuxXeEfFgGs])"
_COMMENT: Final = rb"//[ \t]*@[ \t]*\Z"
_UNSIGNED, _FLOATS = "uxX", "eEfFgG"
_LETTERS: Mapping[Scalar, str] = {BOOL: "<bool>", I32: "i", U32: "u", F32: "f", F16: "h"}
_INTEGERS = frozenset({BOOL, I32, U32})

Printable: TypeAlias = Scalar | Vector | Matrix | Array | Struct
"""The types of values that can be printed."""


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
            return "a scalar, a vector, a matrix, an array or a structure"
        elements = "f32 or f16" if self.letter in _FLOATS else "i32, u32 or bool"
        return elements if self.size is None else f"a vec{self.size} of {elements}"

    def takes(self, type: Type) -> bool:
        """Whether it is for values of a concrete type."""
        if self.letter == "s" and self.size is None:
            return isinstance(type, Printable)
        if isinstance(type, Vector):
            return type.width == self.size and self._takes_element(type.element)
        return self.size is None and self._takes_element(type)

    def _takes_element(self, type: Type) -> bool:
        return type in ((F32, F16) if self.letter in _FLOATS else _INTEGERS)

    def apply(self, type: Type, raw: RawValue) -> str:
        """The text of a value of a type that `takes` allows."""
        if self.letter == "s":
            return f"%{self.flags}s" % shown(type, raw)
        if isinstance(type, Vector):
            return ", ".join(self._apply_to_scalar(type.element, it) for it in cast("Sequence[RawValue]", raw))
        return self._apply_to_scalar(type, raw)

    def _apply_to_scalar(self, type: Type, raw: RawValue) -> str:
        assert isinstance(raw, (bool, int, float))
        value = _float(type, raw) if isinstance(raw, float) else raw
        number = int(value) & 0xFFFFFFFF if self.letter in _UNSIGNED else value
        return f"%{self.flags}{'d' if self.letter in 'diu' else self.letter}" % number


@dataclass(frozen=True, slots=True)
class Format:
    """A parsed format: texts and conversions in order."""

    pieces: tuple[str | Conversion, ...]

    @property
    def conversions(self) -> tuple[Conversion, ...]:
        """Its conversions, one for each argument."""
        return tuple(it for it in self.pieces if isinstance(it, Conversion))

    def apply(self, types: Sequence[Type], values: Sequence[RawValue]) -> str:
        """The text for arguments of the types that `takes` allowed."""
        arguments = zip(types, values, strict=True)
        texts = (it if isinstance(it, str) else it.apply(*next(arguments)) for it in self.pieces)
        return "".join(texts)


def comment_start(data: bytes, offset: int) -> int | None:
    """Where the comment begins in which a `debugPrintf` at an offset of a source stands; None if it stands in none."""
    line = data.rfind(b"\n", 0, offset) + 1
    found = re.search(_COMMENT, data[line:offset])
    return None if found is None else line + found.start()


def parse_format(literal: str) -> Format:
    """The format of a string literal, given with its quotes. Raises FormatFault."""
    return Format(tuple(_pieces(literal)))


def _pieces(literal: str) -> Iterator[str | Conversion]:
    for match in re.compile(_PIECE, re.DOTALL).finditer(literal, 1, len(literal) - 1):
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
    found = re.fullmatch(_CONVERSION, text)
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
        case Array(element=element, count=int() as count):
            return count * word_count(element)
        case Struct(members=members):
            return sum(word_count(it.type) for it in members)
        case _:
            return 1


def recorded(type: Type, words: Iterator[int]) -> RawValue:
    """The next value among words, which hold an f16 as f32: columns, elements and members in order."""
    match type:
        case Vector(width=width, element=element):
            return tuple(recorded(element, words) for _ in range(width))
        case Matrix(columns=columns):
            return tuple(recorded(type.column, words) for _ in range(columns))
        case Array(element=element, count=int() as count):
            return tuple(recorded(element, words) for _ in range(count))
        case Struct(members=members):
            return tuple(recorded(it.type, words) for it in members)
        case _:
            return _scalar(type, next(words))


def shown(type: Type, raw: RawValue) -> str:
    """A value as WGSL writes it."""
    assert isinstance(type, Printable)
    if isinstance(type, Scalar):
        assert isinstance(raw, (bool, int, float))
        if isinstance(raw, bool):
            return str(raw).lower()
        return str(_float(type, raw) if isinstance(raw, float) else raw)
    parts = cast("Sequence[RawValue]", raw)
    match type:
        case Vector(element=element):
            texts = (shown(element, it) for it in parts)
        case Matrix(element=element):
            texts = (shown(element, it) for column in parts for it in cast("Sequence[RawValue]", column))
        case Array(element=element):
            texts = (shown(element, it) for it in parts)
        case Struct(members=members):
            texts = (shown(member.type, it) for member, it in zip(members, parts, strict=True))
        case _:
            assert_never(type)
    return f"{_constructor(type)}({', '.join(texts)})"


def _constructor(type: Type) -> str:
    """The name of a type as a constructor has it, with the short names of vectors and matrices."""
    match type:
        case Vector(width=width, element=element):
            return f"vec{width}{_LETTERS[element]}"
        case Matrix(columns=columns, rows=rows, element=element):
            return f"mat{columns}x{rows}{_LETTERS[element]}"
        case Array(element=element, count=count):
            return f"array<{_constructor(element)}, {count}>"
        case _:
            return str(type)


def _scalar(type: Type, word: int) -> RawValue:
    if type is BOOL:
        return bool(word)
    if type is U32:
        return word
    bits = np.uint32(word)
    return int(bits.view(np.int32)) if type is I32 else float(bits.view(np.float32))


def _float(type: Type, value: float) -> np.float32 | np.float16:
    return np.float16(value) if type is F16 else np.float32(value)
