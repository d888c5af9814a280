"""Accesses to textures: which texel they load or store, and whether the texel is in the texture."""

from __future__ import annotations

from dataclasses import dataclass

from ...diagnostics import Diagnostic, Note, Severity
from ...textures import format_in, is_layered, is_loadable, is_multisampled, is_written, level_extent, rank, read_extent
from ...types import Texture
from .. import nodes
from ..interp_frame import INVOCATION, Frame, Memory
from ..interp_textures import TexelArguments, texel_offset


@dataclass(frozen=True, slots=True)
class Texel:
    """A texel of a texture; `offset` is None if it is out of bounds."""

    memory: Memory
    offset: int | None
    at: tuple[int, ...]
    size: tuple[int, ...]
    last: int
    count: int

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.at))})"


class TexelAccess:
    """A call that loads or stores a texel. `is_shared` is true if another invocation may write the texture."""

    def __init__(self, node: nodes.BuiltinCall, arguments: tuple[int, ...]) -> None:
        texture = node.arguments[0].type
        assert isinstance(texture, Texture)
        self.node = node
        self.texture = texture
        self.slot = arguments[0]
        self.place = TexelArguments(texture, node, arguments)
        self.is_store = node.function == "textureStore"
        self.is_shared = is_written(texture)
        self.is_signed = "i32" in str(node.arguments[1].type)

    @staticmethod
    def of(node: nodes.Instruction, arguments: tuple[int, ...]) -> TexelAccess | None:
        """The access of an instruction; None for an instruction that accesses no texel."""
        if not isinstance(node, nodes.BuiltinCall) or node.function not in ("textureLoad", "textureStore"):
            return None
        return TexelAccess(node, arguments) if is_loadable(node.arguments[0].type) else None

    def texel(self, frame: Frame) -> Texel:
        """The texel that the call is about to access."""
        memory: Memory = frame[self.slot]
        extent = read_extent(memory)
        at, last = self.place.given(frame)
        level = 0 if is_multisampled(self.texture) else min(last, extent.count - 1)
        size = level_extent(self.texture, extent, level)
        is_inside = last < extent.count and all(a < count for a, count in zip(at, size, strict=True))
        form = format_in(self.texture, memory)
        offset = texel_offset(form, self.texture, extent, at, last) if is_inside else None
        dimensions = rank(self.texture) + is_layered(self.texture)
        shown = tuple(self._shown(number) for number in at[:dimensions])
        return Texel(memory, offset, shown, size[:dimensions], last, extent.count)

    def _shown(self, number: int) -> int:
        return number - (1 << 32) if self.is_signed and number >> 31 else number

    def outside(self, frame: Frame, texel: Texel) -> Diagnostic:
        """The finding for a texel out of bounds."""
        verb = "stores to" if self.is_store else "loads"
        size = " x ".join(map(str, texel.size))
        if texel.last >= texel.count:
            what = "sample" if is_multisampled(self.texture) else "mip level"
            has = f"which has {texel.count} {what}s"
            message = f"{frame[INVOCATION]} {verb} {what} {texel.last} of a {self.texture}, {has}"
        else:
            message = f"{frame[INVOCATION]} {verb} texel {texel} of a {self.texture} of {size} texels"
        if self.is_store:
            return self._finding(Severity.WARNING, message, "the store is dropped")
        return self._finding(Severity.ERROR, message, "the nearest texel is taken here; other devices may do otherwise")

    def _finding(self, severity: Severity, message: str, note: str) -> Diagnostic:
        return Diagnostic(severity, "out-of-bounds-access", message, self.node.span, (Note(note),))
