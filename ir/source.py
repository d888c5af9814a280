"""Source texts and places in them.

Offsets are bytes of the UTF-8 text, as the parser reports them. Lines and columns count from 1; a column counts code
points. Line breaks are those of WGSL ("Blankspace and line breaks").
"""

from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING, BinaryIO

from ..base.cached import cached_property
from ..base.named_tuples import NamedTuple
from ..base.records import dataclass

if TYPE_CHECKING:
    from pathlib import Path

_LARGEST = 64 << 20
"""Maximum size of a source in bytes: a larger file is probably data or a device, not a shader."""
_LINE_BREAK = b"\r\n|[\n\v\f\r]|\xc2\x85|\xe2\x80[\xa8\xa9]"


class Span(NamedTuple):
    """The bytes `start` … `end - 1` of a source."""

    start: int
    end: int

    def merge(self, other: Span) -> Span:
        """The smallest span that covers both."""
        return Span(min(self.start, other.start), max(self.end, other.end))


class Position(NamedTuple):
    """A line and a column, both counted from 1."""

    line: int
    column: int


class Place(NamedTuple):
    """Where a byte of a text comes from: unless it `is_copied`, from text that was put in place of what is there."""

    source: Source
    offset: int
    is_copied: bool


class Part(NamedTuple):
    """The bytes of a text from `start` on, up to the next part. `source` is None for what comes from nowhere; copied
    bytes come from `offset` on, others all stand for the byte at `offset`.
    """

    start: int
    source: Source | None
    offset: int = 0
    is_copied: bool = True


@dataclass(frozen=True)
class Source:
    """A WGSL text with a name for messages. `data` is the text in UTF-8, which may be invalid."""

    name: str
    data: bytes

    @staticmethod
    def from_text(text: str, name: str = "<text>") -> Source:
        """A source from text; lone surrogates become invalid UTF-8, which the parser reports."""
        return Source(name, text.encode("utf-8", "surrogatepass"))

    @staticmethod
    def from_file(path: Path) -> Source:
        """A source from a file, named by its path. Raises OSError, also for more than 64 MiB."""
        with path.open("rb") as file:
            return Source.from_stream(file, str(path))

    @staticmethod
    def from_stream(stream: BinaryIO, name: str) -> Source:
        """A source from a stream of bytes. Raises the errors of `from_file`."""
        data = stream.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise OSError(errno.EFBIG, f"larger than the {_LARGEST >> 20} MiB that a shader may have", name)
        return Source(name, data)

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset of each line's first byte."""
        return [0, *(match.end() for match in re.finditer(_LINE_BREAK, self.data))]

    def position(self, offset: int) -> Position:
        """The line and column of a byte offset; for an offset past the end, those of the end."""
        offset = min(max(offset, 0), len(self.data))
        from bisect import bisect_right

        line = bisect_right(self.line_starts, offset) - 1
        before = self.data[self.line_starts[line] : offset]
        return Position(line + 1, len(before.decode("utf-8", "replace")) + 1)

    def line_text(self, line: int) -> str:
        """The text of a line (counted from 1) without its line break."""
        start = self.line_starts[line - 1]
        end = self.line_starts[line] if line < len(self.line_starts) else len(self.data)
        return self.data[start:end].decode("utf-8", "replace").rstrip("\r\n\v\f\u0085\u2028\u2029")

    def text(self, span: Span) -> str:
        """The text of a span."""
        return self.data[span.start : span.end].decode("utf-8", "replace")

    def origin(self, offset: int) -> Place | None:
        """Where a byte comes from: from here, unless the text was derived from others."""
        return Place(self, offset, is_copied=True)


@dataclass(frozen=True)
class DerivedSource(Source):
    """A text made of parts of others, in order."""

    parts: tuple[Part, ...]

    def origin(self, offset: int) -> Place | None:
        """Where a byte comes from in the texts that were given; None for what was added."""
        from bisect import bisect_right

        part = self.parts[max(bisect_right(self.parts, offset, key=lambda it: it.start) - 1, 0)]
        if part.source is None:
            return None
        place = part.source.origin(part.offset + (offset - part.start if part.is_copied else 0))
        return None if place is None else place._replace(is_copied=place.is_copied and part.is_copied)
