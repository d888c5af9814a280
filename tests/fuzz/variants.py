"""Changed shaders of which many are still valid: operators, numbers, names and statements of real ones exchanged.

`mutations` damages texts so that the front end refuses most of them; what comes after the front end sees these.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from .mutations import tokens

_NUMBER = re.compile(rb"(0x[0-9a-fA-F]+|\d+)([uif]?)$")
_NAME = re.compile(rb"[A-Za-z_]\w*$")
_NUMBERS = [b"0", b"1", b"2", b"3", b"7", b"16", b"31", b"32", b"33", b"63", b"64", b"255", b"1000", b"65536"]
_LARGE = [b"2147483647", b"0xffffffff", b"4294967296"]
_OPERATORS = [
    [b"+", b"-", b"*", b"/", b"%"],
    [b"<", b">"],
    [b"&", b"|", b"^"],
    [b"f32", b"i32", b"u32"],
    [b"min", b"max"],
    [b"true", b"false"],
    [b"break", b"continue"],
    [b"storage", b"workgroup"],
    [b"vec2f", b"vec3f", b"vec4f", b"vec3u"],
    [b"sin", b"cos", b"exp", b"sqrt", b"abs", b"floor"],
    [b"workgroupBarrier", b"storageBarrier"],
    [b"atomicAdd", b"atomicMax", b"atomicAnd", b"atomicExchange"],
]
"""Each word may stand where another one of its line stands."""
_STRANGE = [b";", b"workgroupBarrier();", b"return;", b"{}", b"break;", b"loop { break; }", b"if true {}", b"@const"]


def variant(text: bytes, generator: random.Random) -> bytes:
    """The text with one to three changes."""
    parts = list(tokens(text)) or [b" "]
    for _ in range(generator.randint(1, 3)):
        parts = _changed(parts, generator)
    return b"".join(parts)


def _changed(parts: list[bytes], generator: random.Random) -> list[bytes]:
    match generator.randrange(8):
        case 0 | 1 | 2 | 3:
            return _exchange_word(parts, generator)
        case 4:
            return _exchange_name(parts, generator)
        case 5:
            return _repeat_statement(parts, generator)
        case 6:
            return _drop_statement(parts, generator)
        case _:
            return _insert(parts, generator)


def _exchange_word(parts: list[bytes], generator: random.Random) -> list[bytes]:
    places = [at for at, it in enumerate(parts) if _NUMBER.match(it) or _row(it)]
    if places:
        at = generator.choice(places)
        row = _row(parts[at])
        parts[at] = generator.choice(row) if row else _other_number(parts[at], generator)
    return parts


def _row(word: bytes) -> Sequence[bytes]:
    return next((row for row in _OPERATORS if word in row), ())


def _other_number(number: bytes, generator: random.Random) -> bytes:
    found = _NUMBER.match(number)
    assert found is not None
    return generator.choice(_LARGE if generator.random() < 0.05 else _NUMBERS) + found.group(2)


def _exchange_name(parts: list[bytes], generator: random.Random) -> list[bytes]:
    places = [at for at, it in enumerate(parts) if _NAME.match(it)]
    if places:
        parts[generator.choice(places)] = parts[generator.choice(places)]
    return parts


def _statements(parts: Sequence[bytes]) -> list[tuple[int, int]]:
    """The ranges from behind one semicolon or brace to behind the next semicolon."""
    found: list[tuple[int, int]] = []
    start = 0
    for at, it in enumerate(parts):
        if it == b";":
            found.append((start, at + 1))
        if it in (b";", b"{", b"}"):
            start = at + 1
    return found


def _repeat_statement(parts: list[bytes], generator: random.Random) -> list[bytes]:
    found = _statements(parts)
    if not found:
        return parts
    (start, end), (at, _) = generator.choice(found), generator.choice(found)
    return [*parts[:at], *parts[start:end], *parts[at:]]


def _drop_statement(parts: list[bytes], generator: random.Random) -> list[bytes]:
    found = _statements(parts)
    if not found:
        return parts
    start, end = generator.choice(found)
    return [*parts[:start], *parts[end:]]


def _insert(parts: list[bytes], generator: random.Random) -> list[bytes]:
    found = _statements(parts)
    at = generator.choice(found)[1] if found else 0
    return [*parts[:at], generator.choice(_STRANGE), *parts[at:]]
