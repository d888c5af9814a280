"""Reads relocatable ELF files of 64-bit little-endian machines: sections, symbols and relocations.

The names are those of the System V ABI ("Object Files"). All offsets in a file are checked against its size.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TypeAlias

from ...base.records import dataclass

SECTION_WRITE, SECTION_ALLOC, SECTION_CODE, SECTION_THREAD = 1, 2, 4, 0x400
"""Flags of sections: written to, in memory at all, executed, one for each thread."""
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_IDENTITY = b"\x7fELF\x02\x01\x01"
_RELOCATABLE = 1
_PAGE = 4096
"""The smallest page of any machine, and so the largest alignment that all have."""
_BITS, _SYMBOLS, _RELOCATIONS, _NO_BITS, _IMPLICIT_RELOCATIONS = 1, 2, 4, 8, 9
_UNDEFINED, _FIRST_RESERVED = 0, 0xFF00

_Header: TypeAlias = "tuple[int, ...]"


class UnknownObjectError(ValueError):
    """An object file is not of the kind that is understood here; the message says why."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section that is in memory while the program runs."""

    flags: int
    content: bytes
    alignment: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """`offset` bytes into a section; `section` is None for a symbol that another file defines."""

    name: str
    section: int | None
    offset: int


@dataclass(frozen=True, slots=True)
class Relocation:
    """What is to be written `offset` bytes into a section, by the rule `kind` of the machine."""

    offset: int
    kind: int
    symbol: Symbol
    addend: int


@dataclass(frozen=True, slots=True)
class ObjectFile:
    """Sections by their number, and the relocations of each; `machine` is the ABI's number of the processor."""

    machine: int
    sections: Mapping[int, Section]
    symbols: tuple[Symbol, ...]
    relocations: Mapping[int, tuple[Relocation, ...]]


def read_elf(data: bytes) -> ObjectFile:
    """The object file. Raises UnknownObjectError."""
    try:
        return _read(data)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise UnknownObjectError(f"the object file is damaged: {error}") from None


def _read(data: bytes) -> ObjectFile:
    identity, kind, machine, _, _, _, start, _, _, _, _, size, count, _ = _HEADER.unpack_from(data)
    if not identity.startswith(_IDENTITY) or kind != _RELOCATABLE or size != _SECTION.size or not count:
        raise UnknownObjectError("not a relocatable ELF file")
    if start + size * count > len(data):
        raise UnknownObjectError("the object file is cut off")
    headers: list[_Header] = [_SECTION.unpack_from(data, start + size * index) for index in range(count)]
    sections: dict[int, Section] = {}
    symbols: tuple[Symbol, ...] = ()
    for index, (_, kind, flags, _, _, _, link, _, alignment, _) in enumerate(headers):
        if kind == _SYMBOLS:
            symbols = _symbols(_content(data, headers[index]), _content(data, headers[link]))
        elif flags & SECTION_ALLOC:
            sections[index] = _section(data, headers[index], flags, alignment)
    relocations = {
        header[7]: _relocations(_content(data, header), symbols) for header in headers if header[1] == _RELOCATIONS
    }
    if any(header[1] == _IMPLICIT_RELOCATIONS for header in headers):
        raise UnknownObjectError("relocations without addends")
    return ObjectFile(machine, sections, symbols, relocations)


def _section(data: bytes, header: _Header, flags: int, alignment: int) -> Section:
    if header[1] == _NO_BITS or flags & (SECTION_WRITE | SECTION_THREAD):
        raise UnknownObjectError("a section that is written to")
    if header[1] != _BITS:
        raise UnknownObjectError(f"a section of type {header[1]:#x}")
    if alignment & (alignment - 1) or alignment > _PAGE:
        raise UnknownObjectError(f"a section with the alignment {alignment}")
    return Section(flags, _content(data, header), max(alignment, 1))


def _content(data: bytes, header: _Header) -> bytes:
    start, size = header[4], header[5]
    if start + size > len(data):
        raise UnknownObjectError("the object file is cut off")
    return data[start : start + size]


def _symbols(table: bytes, names: bytes) -> tuple[Symbol, ...]:
    rows = (_SYMBOL.unpack_from(table, start) for start in range(0, len(table), _SYMBOL.size))
    return tuple(_symbol(name, section, value, names) for name, _, _, section, value, _ in rows)


def _symbol(name: int, section: int, value: int, names: bytes) -> Symbol:
    text = names[name : names.index(b"\0", name)].decode() if name < len(names) and b"\0" in names[name:] else ""
    if section >= _FIRST_RESERVED:  # a constant, such as the name of a file, or memory that has no place yet
        return Symbol("", None, 0)
    return Symbol(text, None if section == _UNDEFINED else section, value)


def _relocations(table: bytes, symbols: tuple[Symbol, ...]) -> tuple[Relocation, ...]:
    rows = (_RELOCATION.unpack_from(table, start) for start in range(0, len(table), _RELOCATION.size))
    return tuple(_relocation(*row, symbols=symbols) for row in rows)


def _relocation(offset: int, info: int, addend: int, *, symbols: tuple[Symbol, ...]) -> Relocation:
    return Relocation(offset, info & 0xFFFFFFFF, symbols[info >> 32], addend)
