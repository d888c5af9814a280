"""The relocations that LLVM's code for kernels has, of each processor.

After "ELF for the x86-64 psABI" and "ELF for the Arm 64-bit Architecture (AArch64)". Places and targets are offsets
from the start of an image, which lies at the start of a page.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

from ...base.records import dataclass
from .elf import UnknownObjectError

STUB = 16
"""The bytes of a stub, which jumps to the address in a slot, and their alignment."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The relocations of a processor. `rules` has a function for each kind, which is given the image, a place and a
    target, and writes; `calls` are those of calls. `stub` makes the stub at a place for a slot at another.
    """

    rules: Mapping[int, Callable[[bytearray, int, int], None]]
    calls: frozenset[int]
    long: frozenset[int]
    """Those that write 8 bytes; all others write 4."""
    stub: Callable[[int, int], bytes]

    def width(self, kind: int) -> int:
        """How many bytes are written."""
        return 8 if kind in self.long else 4

    def apply(self, content: bytearray, kind: int, place: int, target: int) -> None:
        """Write what a relocation says. Raises UnknownObjectError for an unknown one, and for what is too far away."""
        rule = self.rules.get(kind)
        if rule is None:
            raise UnknownObjectError(f"relocation {kind}")
        try:
            rule(content, place, target)
        except struct.error:
            raise UnknownObjectError("a target that is too far away") from None


def _distance(content: bytearray, place: int, target: int) -> None:
    struct.pack_into("<i", content, place, target - place)


def _long_distance(content: bytearray, place: int, target: int) -> None:
    struct.pack_into("<q", content, place, target - place)


def _x86_stub(place: int, slot: int) -> bytes:
    """`jmp [rip + distance]`, and breakpoints."""
    return (b"\xff\x25" + struct.pack("<i", slot - (place + 6))).ljust(STUB, b"\xcc")


_X86 = Machine(
    {2: _distance, 4: _distance, 24: _long_distance},  # R_X86_64_PC32, PLT32, PC64
    calls=frozenset({4}),
    long=frozenset({24}),
    stub=_x86_stub,
)

_PAGE_BITS = 12
_PAGE = (1 << _PAGE_BITS) - 1


def _set_bits(content: bytearray, place: int, mask: int, bits: int) -> None:
    (word,) = struct.unpack_from("<I", content, place)
    struct.pack_into("<I", content, place, (word & ~mask) | bits)


def _branch(content: bytearray, place: int, target: int) -> None:
    distance = (target - place) >> 2
    if not -(1 << 25) <= distance < 1 << 25 or (target - place) & 3:
        raise UnknownObjectError("a call that is too far away")
    _set_bits(content, place, 0x3FFFFFF, distance & 0x3FFFFFF)


def _page_bits(place: int, target: int) -> int:
    """The immediate of `adrp`: the distance of two pages."""
    pages = (target >> _PAGE_BITS) - (place >> _PAGE_BITS)
    if not -(1 << 20) <= pages < 1 << 20:
        raise UnknownObjectError("a page that is too far away")
    return (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5


def _page(content: bytearray, place: int, target: int) -> None:
    _set_bits(content, place, 0x60FFFFE0, _page_bits(place, target))


def _in_page(shift: int) -> Callable[[bytearray, int, int], None]:
    """For an access of `1 << shift` bytes, or with 0 an addition: where the target is in its page."""

    def write(content: bytearray, place: int, target: int) -> None:
        _set_bits(content, place, 0xFFF << 10, (target & _PAGE) >> shift << 10)

    return write


def _arm_stub(place: int, slot: int) -> bytes:
    """`adrp x16, slot`, `ldr x16, [x16, slot]`, `br x16`, and a breakpoint."""
    load = 0xF9400210 | (slot & _PAGE) >> 3 << 10
    return struct.pack("<4I", 0x90000010 | _page_bits(place, slot), load, 0xD61F0200, 0xD4200000)


_ARM = Machine(
    {
        260: _long_distance,  # R_AARCH64_PREL64
        261: _distance,  # PREL32
        275: _page,  # ADR_PREL_PG_HI21
        277: _in_page(0),  # ADD_ABS_LO12_NC
        278: _in_page(0),  # LDST8_ABS_LO12_NC
        282: _branch,  # JUMP26
        283: _branch,  # CALL26
        284: _in_page(1),  # LDST16_ABS_LO12_NC
        285: _in_page(2),  # LDST32_ABS_LO12_NC
        286: _in_page(3),  # LDST64_ABS_LO12_NC
        299: _in_page(4),  # LDST128_ABS_LO12_NC
    },
    calls=frozenset({282, 283}),
    long=frozenset({260}),
    stub=_arm_stub,
)

MACHINES: Mapping[int, Machine] = {62: _X86, 183: _ARM}
"""By the number that ELF files have for the processor."""
