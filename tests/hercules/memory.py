"""Values of Hercules IR as the bytes of buffers: packed as in C, but for bools and narrow integers in products.

Written apart from the passes that change the types of parameters, so that tests compare bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from tinct.ir.hercules import dynamic
from tinct.ir.hercules.nodes import Array, Bool, Float, Integer, Product, Type
from tinct.ir.hercules.storage import Value
from tinct.ir.hercules.types import BOOL, U32

_CODES = {8: "b", 16: "h", 32: "i", 64: "q"}
_FLOATS = {16: "e", 32: "f", 64: "d"}


def code(type: Type) -> str:
    match type:
        case Bool():
            return "<?"
        case Integer(bits, signed):
            return "<" + (_CODES[bits] if signed else _CODES[bits].upper())
        case Float(bits):
            return "<" + _FLOATS[bits]
        case _:
            raise TypeError(type)


def in_product(type: Type) -> Type:
    """What a field is stored as: bools and narrow integers take four bytes."""
    if type == BOOL:
        return U32
    return Integer(32, type.signed) if isinstance(type, Integer) and type.bits < 32 else type


def alignment(type: Type) -> int:
    match type:
        case Product(fields):
            return max((alignment(in_product(it)) for it in fields), default=1)
        case Array(element=element):
            return alignment(element)
        case _:
            return struct.calcsize(code(type))


def write(type: Type, value: Value, constants: Sequence[int], out: bytearray) -> None:
    out += bytes(-len(out) % alignment(type))
    match type, value:
        case Product(fields), list():
            for field, part in zip(fields, value, strict=True):
                write(in_product(field), int(part) if field == BOOL else part, constants, out)
            out += bytes(-len(out) % alignment(type))
        case Array(element), list():
            for part in value:
                write(element, part, constants, out)
        case _:
            out += struct.pack(code(type), value)


def read(type: Type, data: bytes, at: int, constants: Sequence[int]) -> tuple[Value, int]:
    """The value at a byte, and where it ends."""
    at += -at % alignment(type)
    match type:
        case Product(fields):
            parts: list[Value] = []
            for field in fields:
                part, at = read(in_product(field), data, at, constants)
                parts.append(bool(part) if field == BOOL else part)
            return parts, at + -at % alignment(type)
        case Array(element, extent):
            elements: list[Value] = []
            for _ in range(dynamic.evaluate(extent, constants)):
                element_value, at = read(element, data, at, constants)
                elements.append(element_value)
            return elements, at
        case _:
            (scalar,) = struct.unpack_from(code(type), data, at)
            return scalar, at + struct.calcsize(code(type))


def to_bytes(type: Type, value: Value, constants: Sequence[int]) -> bytes:
    """A buffer: its length is a multiple of four."""
    out = bytearray()
    write(type, value, constants, out)
    return bytes(out) + bytes(-len(out) % 4)


def converted(value: Value, before: Type, after: Type, constants: Sequence[int]) -> Value:
    """The value of another type that has the same bytes in a buffer; a scalar is one by itself."""
    if before == after:
        return value
    stored = in_product(before) if after != BOOL else before
    found, _ = read(after, to_bytes(stored, value, constants) + bytes(8), 0, constants)
    return found
