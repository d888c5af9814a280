"""Results of `expr` records: decoding output bytes and matching them with what the suite expects.

A value is a number, a bool, or a list of values: components, columns, elements.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from typing import Any

Value = bool | int | float | list["Value"]

_SCALARS = {"i32": ("<i", 4), "u32": ("<I", 4), "bool": ("<I", 4), "f32": ("<f", 4), "f16": ("<e", 2)}
_WIDE = {"abstract-int": "<q", "abstract-float": "<d"}
_COMPOSITE = re.compile(r"(vec|mat)(\d)(?:x(\d))?<(.+)>$|array<(.+), (\d+)>$")


def decode(type: str, data: bytes) -> Value:
    """The value of a type in memory. Abstract numbers are stored as two words."""
    return _decode(type, data, 0)[0]


def _decode(type: str, data: bytes, offset: int) -> tuple[Value, int]:
    """The value at an offset, and the offset after it."""
    if type in _SCALARS:
        form, size = _SCALARS[type]
        (value,) = struct.unpack_from(form, data, offset)
        return (bool(value) if type == "bool" else value), offset + size
    if type in _WIDE:
        return struct.unpack_from(_WIDE[type], data, offset)[0], offset + 8
    element, count, stride = _shape(type)
    items: list[Value] = []
    for index in range(count):
        items.append(_decode(element, data, offset + index * stride)[0])
    return items, offset + count * stride


def _shape(type: str) -> tuple[str, int, int]:
    """A composite's element type, element count, and the bytes from one element to the next."""
    match = _COMPOSITE.match(type)
    if match is None:
        raise ValueError(f"a result of type {type} is not known")
    family, first, second, scalar, element, length = match.groups()
    if family == "vec":
        return scalar, int(first), _size(scalar)
    if family == "mat":
        column = f"vec{second}<{scalar}>"
        return column, int(first), _stride(column)
    return element, int(length), _stride(element)


def _size(type: str) -> int:
    if type in _SCALARS:
        return _SCALARS[type][1]
    if type in _WIDE:
        return 8
    _, count, stride = _shape(type)
    return count * stride


def _stride(type: str) -> int:
    """Bytes between elements of an array or columns of a matrix: vectors of three take the room of four."""
    return _size(type) // 3 * 4 if type.startswith("vec3") else _size(type)


def matches(expected: Any, actual: Value) -> bool:
    """Whether a value is what a matcher allows."""
    if isinstance(expected, list):
        assert isinstance(actual, list)
        return len(expected) == len(actual) and all(map(matches, expected, actual))
    if "alwaysPass" in expected:
        return True
    if "skipUndefined" in expected:
        return expected["skipUndefined"] is None or matches(expected["skipUndefined"], actual)
    if "anyOf" in expected:
        return any(matches(choice, actual) for choice in expected["anyOf"])
    if "iv" in expected:
        low, high = (float(bound) for bound in expected["iv"])
        assert not isinstance(actual, list)
        return _within(low, high, float(actual))
    return _flat(actual) == list(_numbers(expected["s"]))


def _within(low: float, high: float, actual: float) -> bool:
    unbounded = math.isinf(low) and math.isinf(high) and low < high
    return unbounded or low <= actual <= high or (math.isnan(low) and math.isnan(actual))


def _flat(value: Value) -> list[bool | int | float]:
    return [part for item in value for part in _flat(item)] if isinstance(value, list) else [value]


_NUMBER = re.compile(
    r"true|false|-?Infinity|NaN"
    r"|(?<![\w.])-?(?:0x[\da-fA-F.]+(?:p[+-]?\d+)?|[\d.]+(?:e[+-]?\d+)?)(?=[fhu]?(?![\w.]))"
)


def _numbers(text: str) -> Iterator[bool | int | float]:
    """The scalars in the WGSL spelling of a value, in order."""
    text = re.sub(r"array<[^()]*>(?=\()", "", text)
    for token in _NUMBER.findall(text.replace("(-9223372036854775807 - 1)", "-9223372036854775808")):
        if token in ("true", "false"):
            yield token == "true"
        elif re.fullmatch(r"-?\d+", token):
            yield int(token)
        else:
            yield float.fromhex(token) if "0x" in token else float(token)
