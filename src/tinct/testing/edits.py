"""Replaces parts of a text, and finds the places of the new text in the old one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ..ir.diagnostics import Diagnostic, Note, ShaderError
from ..ir.source import DerivedSource, Part, Source, Span


class Edit(NamedTuple):
    """The bytes of `span` become `text`."""

    span: Span
    text: str


class _Piece(NamedTuple):
    """Bytes from `start` on of the new text, which come from `origin` in the old one: as they are, or replaced."""

    start: int
    origin: int
    is_kept: bool


@dataclass(frozen=True, slots=True)
class Edited:
    """A text after edits."""

    original: Source
    source: Source
    pieces: tuple[_Piece, ...]

    def before(self, offset: int) -> int:
        """The place in the original of one in the new text; what was put in is at the beginning of what it replaced."""
        piece = next(it for it in reversed(self.pieces) if it.start <= offset)
        return piece.origin + (offset - piece.start if piece.is_kept else 0)

    def span_before(self, span: Span | None) -> Span | None:
        """A span in the original."""
        if span is None:
            return None
        start = self.before(span.start)
        return Span(start, max(self.before(span.end), start))

    def error_before(self, error: ShaderError) -> ShaderError:
        """An error of the new text at its places in the original."""
        return ShaderError([self._before(it) for it in error.diagnostics], self.original)

    def _before(self, diagnostic: Diagnostic) -> Diagnostic:
        notes = tuple(Note(it.message, self.span_before(it.span)) for it in diagnostic.notes)
        span = self.span_before(diagnostic.span)
        return Diagnostic(diagnostic.severity, diagnostic.code, diagnostic.message, span, notes)


def edited(source: Source, edits: Iterable[Edit], added: Iterable[Source | str] = ()) -> Edited:
    """The text after edits that do not overlap, with more at its end."""
    pieces = [_Piece(0, 0, is_kept=True)]
    made, at = bytearray(), 0
    for span, text in sorted(edits):
        made += source.data[at : span.start]
        pieces.append(_Piece(len(made), span.start, is_kept=False))
        made += text.encode()
        pieces.append(_Piece(len(made), span.end, is_kept=True))
        at = span.end
    made += source.data[at:]
    parts = [Part(it.start, source, it.origin, it.is_kept) for it in pieces]
    pieces.append(_Piece(len(made), len(source.data), is_kept=False))
    for more in added:
        parts.append(Part(len(made), more if isinstance(more, Source) else None))
        made += more.data if isinstance(more, Source) else more.encode()
    return Edited(source, DerivedSource(source.name, bytes(made), tuple(parts)), tuple(pieces))
