"""Events as JSON.

A node is `{"kind": "Binary", "lhs": …}`, with its kind first; `"@id": 3` follows if there are references to the node,
which are written `{"@ref": 3}`. (No field can have these names.) Enums, externs and bytes (in hexadecimal) are strings,
and so are the floats that JSON cannot express as numbers: "nan", "inf", "-inf".
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Final

from .events import BEGIN_LIST, END, Begin, CodecError, Cursor, Event, Label, Leaf, Mark, Reference, Sign

TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\r\n]+)
    | (?P<string>"(?:[^"\\\x00-\x1f]|\\.)*")
    | (?P<float>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+))
    | (?P<int>-?(?:0|[1-9][0-9]*))
    | (?P<word>true|false|null)
    | (?P<mark>[][{},:])
    | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
WORDS: Final = {"true": True, "false": False, "null": None}


def write_json(events: Iterable[Event]) -> str:
    """The events as JSON text on one line."""
    parts: list[str] = []
    closers: list[str] = []
    after_value = False
    for event in events:
        if event is END:
            parts.append(closers.pop())
            after_value = True
            continue
        if after_value:
            parts.append(", ")
        match event:
            case Begin(kind, number):
                parts.append(f'{{"kind": {json.dumps(kind)}' + (f', "@id": {number}' if number is not None else ""))
                closers.append("}")
            case Label(name):
                parts.append(f"{json.dumps(name)}: ")
            case Leaf(value):
                parts.append(_leaf(value))
            case Reference(number):
                parts.append(f'{{"@ref": {number}}}')
            case Sign() | Mark():
                parts.append("[")
                closers.append("]")
        after_value = not isinstance(event, Label) and event is not BEGIN_LIST
    return "".join(parts)


def _leaf(value: str | int | float | bool | None) -> str:
    is_number = not isinstance(value, float) or math.isfinite(value)
    return json.dumps(value if is_number else repr(value))


def read_json(text: str) -> Iterator[Event]:
    """The events of a JSON text. Raises `CodecError` with line and column."""
    cursor = Cursor(text, TOKEN)
    closers: list[str] = []
    fresh = cursor.text == "["
    yield from _value(cursor, closers)
    while closers:
        if cursor.accept(closers[-1]):
            closers.pop()
            fresh = False
            yield END
            continue
        if not fresh:
            cursor.expect(",")
        fresh = False
        if closers[-1] == "}":
            key = _key(cursor)
            if key == "@id":
                yield Mark(int(cursor.take("int", "an id")))
                continue
            yield Label(key)
        fresh = cursor.text == "["
        yield from _value(cursor, closers)
    if cursor.sort != "end":
        raise cursor.error("expected the end of the text")


def _value(cursor: Cursor, closers: list[str]) -> Iterator[Event]:
    """The events of a scalar or a reference, or of the beginning of a node or a list."""
    if cursor.accept("["):
        closers.append("]")
        yield BEGIN_LIST
    elif cursor.accept("{"):
        key = _key(cursor)
        if key == "@ref":
            yield Reference(int(cursor.take("int", "an id")))
            cursor.expect("}")
        elif key == "kind":
            yield Begin(_string(cursor))
            closers.append("}")
        else:
            raise CodecError(f"an object must begin with its kind, not with '{key}'")
    else:
        yield Leaf(_scalar(cursor))


def _key(cursor: Cursor) -> str:
    key = _string(cursor)
    cursor.expect(":")
    return key


def _scalar(cursor: Cursor) -> str | int | float | bool | None:
    match cursor.sort:
        case "string":
            return _string(cursor)
        case "int":
            return int(cursor.advance())
        case "float":
            return float(cursor.advance())
        case "word":
            return WORDS[cursor.advance()]
        case _:
            raise cursor.error("expected a value")


def _string(cursor: Cursor) -> str:
    value: object = json.loads(cursor.take("string", "a string"))
    assert isinstance(value, str)
    return value
