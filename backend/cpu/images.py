"""Makes images of object files.

The code of a module refers to its constants by their distance, so that all sections together need only be copied to
any page. What is left to do then is to fill in the addresses of the few functions of the C library that LLVM calls:
each has a slot after the constants, and a stub after the code that jumps to what the slot says. To load an image is
thus the work of microseconds, and needs no LLVM (`_pool.Code`).
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Mapping

from . import relocations
from .code_image import CodeImage
from .elf import SECTION_CODE, ObjectFile, Relocation, Section, Symbol, UnknownObjectError, read_elf

_SLOT = 8


def image_of(code: bytes) -> CodeImage | None:
    """The image of an object file; None for a file that has something that is not understood here."""
    try:
        return _image(read_elf(code))
    except UnknownObjectError:
        return None


def _image(file: ObjectFile) -> CodeImage:
    machine = relocations.MACHINES.get(file.machine)
    if machine is None:
        raise UnknownObjectError(f"machine {file.machine}")
    code = {index: it for index, it in file.sections.items() if it.flags & SECTION_CODE}
    constants = {index: it for index, it in file.sections.items() if index not in code}
    names = _missing(file)
    starts: dict[int, int] = {}
    stubs = _place(code, 0, starts, relocations.STUB)
    code_end = stubs + relocations.STUB * len(names)
    executable = _rounded(code_end, mmap.PAGESIZE)
    slots = _place(constants, executable, starts, _SLOT)
    end = slots + _SLOT * len(names)
    content = bytearray(end if end > executable else code_end)
    for index, section in file.sections.items():
        content[starts[index] : starts[index] + len(section.content)] = section.content
    stub_of = {name: stubs + relocations.STUB * number for number, name in enumerate(names)}
    slot_of = {name: slots + _SLOT * number for number, name in enumerate(names)}
    for name in names:
        content[stub_of[name] : stub_of[name] + relocations.STUB] = machine.stub(stub_of[name], slot_of[name])
    for index, found in file.relocations.items():
        if index in starts:
            _relocate(content, starts, index, file.sections[index], found, stub_of, machine)
    entry = _entry(file, starts)
    return CodeImage(
        bytes(content), min(executable, len(content)), tuple((at, it) for it, at in slot_of.items()), entry
    )


def _missing(file: ObjectFile) -> list[str]:
    """The names of the functions that the module calls and other libraries have."""
    found = (it.symbol for index in file.sections for it in file.relocations.get(index, ()))
    return list(dict.fromkeys(it.name for it in found if it.section is None))


def _place(sections: Mapping[int, Section], start: int, starts: dict[int, int], alignment: int) -> int:
    """Give sections their places from `start` on, and return the next place with an alignment."""
    for index, section in sections.items():
        starts[index] = _rounded(start, section.alignment)
        start = starts[index] + len(section.content)
    return _rounded(start, alignment)


def _relocate(
    content: bytearray,
    starts: Mapping[int, int],
    index: int,
    section: Section,
    found: Iterable[Relocation],
    stubs: Mapping[str, int],
    machine: relocations.Machine,
) -> None:
    """Apply the relocations of a section."""
    for it in found:
        if not 0 <= it.offset <= len(section.content) - machine.width(it.kind):
            raise UnknownObjectError("a relocation outside of its section")
        target = _target(it.symbol, starts, stubs, is_call=it.kind in machine.calls)
        machine.apply(content, it.kind, starts[index] + it.offset, target + it.addend)


def _target(symbol: Symbol, starts: Mapping[int, int], stubs: Mapping[str, int], *, is_call: bool) -> int:
    """Where a symbol is in the image."""
    if symbol.section is not None:
        if symbol.section not in starts:
            raise UnknownObjectError("a symbol of a section that is not in memory")
        return starts[symbol.section] + symbol.offset
    if not is_call or not symbol.name:
        raise UnknownObjectError(f"the address of '{symbol.name}', which is not called")
    return stubs[symbol.name]


def _entry(file: ObjectFile, starts: Mapping[int, int]) -> int:
    for it in file.symbols:
        section = file.sections.get(it.section) if it.name == "kernel" and it.section is not None else None
        if section is not None and section.flags & SECTION_CODE and it.offset < len(section.content):
            return starts[it.section or 0] + it.offset
    raise UnknownObjectError("no function 'kernel'")


def _rounded(number: int, to: int) -> int:
    return -(-number // to) * to
