"""Writes and reads events as annotated terms: `If(Binary(less, #1, 3), [Break()], _){#2}`.

A node is its kind with its fields in order. `_` is a field that has its default; such fields at the end are left out.
`{#2}` after a node is its id, `#2` refers to it. Enums and booleans are bare words, None is `None`; strings, externs
and bytes (in hexadecimal) are quoted with JSON's escapes; floats have a point or an exponent, or are `nan`, `inf`,
`-inf`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Final

from .events import BEGIN_LIST, END, SKIP, Begin, CodecError, Cursor, Event, Label, Leaf, Mark, Reference, Sign, Word

TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\r\n]+)
    | (?P<string>"(?:[^"\\\x00-\x1f]|\\.)*")
    | (?P<float>-?(?:inf\b|[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)))
    | (?P<int>-?[0-9]+)
    | (?P<id>\{\#[0-9]+\})
    | (?P<reference>\#[0-9]+)
    | (?P<begin>[A-Za-z_][A-Za-z0-9_]*\()
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<mark>[][),])
    | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


def write_aterm(events: Iterable[Event]) -> str:
    """The events as a term on one line."""
    writer = _Writer()
    for event in events:
        writer.write(event)
    return "".join(writer.parts)


class _Writer:
    def __init__(self) -> None:
        self.parts: list[str] = []
        self._closers: list[str] = []
        self._positions: list[int] = []

    def write(self, event: Event) -> None:
        match event:
            case Begin(kind, number):
                self._open(f"{kind}(", ")" + (f"{{#{number}}}" if number is not None else ""))
            case Label(_, position):
                self._skip_to(position)
            case Leaf(value):
                self._value(_leaf(value))
            case Reference(number):
                self._value(f"#{number}")
            case Mark():
                raise CodecError("a term's id follows it")
            case Sign():
                self._sign(event)

    def _sign(self, sign: Sign) -> None:
        if sign is BEGIN_LIST:
            self._open("[", "]")
        elif sign is END:
            self.parts.append(self._closers.pop())
            self._positions.pop()

    def _open(self, opening: str, closing: str) -> None:
        self._value(opening)
        self._closers.append(closing)
        self._positions.append(0)

    def _skip_to(self, position: int) -> None:
        while self._positions[-1] < position:
            self._value("_")

    def _value(self, text: str) -> None:
        if self._positions:
            if self._positions[-1]:
                self.parts.append(", ")
            self._positions[-1] += 1
        self.parts.append(text)


def _leaf(value: str | int | float | bool | None) -> str:
    match value:
        case Word():
            return value
        case str():
            return json.dumps(value)
        case bool():
            return "true" if value else "false"
        case None | int() | float():
            return repr(value)


def read_aterm(text: str) -> Iterator[Event]:
    """The events of a term. Raises `CodecError` with line and column."""
    cursor = Cursor(text, TOKEN)
    closers: list[str] = []
    while True:
        fresh = cursor.sort == "begin" or cursor.text == "["
        yield _value(cursor, closers)
        while closers and cursor.accept(closers[-1]):
            fresh = False
            if closers.pop() == ")" and cursor.sort == "id":
                yield Mark(int(cursor.advance()[2:-1]))
            yield END
        if not closers:
            break
        if not fresh:
            cursor.expect(",")
    if cursor.sort != "end":
        raise cursor.error("expected the end of the text")


def _value(cursor: Cursor, closers: list[str]) -> Event:
    """A leaf or a reference, or the beginning of a node or a list."""
    match cursor.sort:
        case "begin":
            closers.append(")")
            return Begin(cursor.advance()[:-1])
        case "reference":
            return Reference(int(cursor.advance()[1:]))
        case "string":
            value: object = json.loads(cursor.advance())
            assert isinstance(value, str)
            return Leaf(value)
        case "int":
            return Leaf(int(cursor.advance()))
        case "float":
            return Leaf(float(cursor.advance()))
        case "word":
            return _word(cursor.advance())
        case "mark" if cursor.accept("["):
            closers.append("]")
            return BEGIN_LIST
        case _:
            raise cursor.error("expected a term")


def _word(word: str) -> Event:
    if word == "_":
        return SKIP
    return Leaf(None if word == "None" else Word(word))
