"""Diagnostics for users, their rendering, and the exception that carries them.

A message is one lower-case sentence without a full stop; the caret shows the place, the words don't quote it; a second
place is a note with its own span.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias
from unicodedata import combining, east_asian_width

from ..base.errors import TinctError
from ..base.records import dataclass, field
from .source import Position, Source, Span


class Severity(enum.Enum):
    """The severity of a diagnostic; only an error makes a program invalid."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Note:
    """A second place, or a hint when `span` is None."""

    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `code` names its kind (`unresolved-identifier`); `span` is None when no place is at fault."""

    severity: Severity
    code: str
    message: str
    span: Span | None = None
    notes: tuple[Note, ...] = ()

    @property
    def is_error(self) -> bool:
        """Whether the program is invalid."""
        return self.severity is Severity.ERROR


class ShaderError(TinctError):
    """An invalid or unsupported shader: `diagnostics` say where and why."""

    def __init__(self, diagnostics: Sequence[Diagnostic], source: Source | None = None) -> None:
        self.diagnostics = tuple(diagnostics)
        self.source = source
        super().__init__(render_all(self.diagnostics, source))


@dataclass(slots=True)
class DiagnosticList:
    """Collects the diagnostics of a stage that continues after errors."""

    items: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def error(self, code: str, message: str, span: Span | None, notes: Iterable[Note] = ()) -> None:
        """Add an error."""
        self.items.append(Diagnostic(Severity.ERROR, code, message, span, tuple(notes)))

    def add(self, diagnostic: Diagnostic) -> None:
        """Add any diagnostic."""
        self.items.append(diagnostic)

    @property
    def has_errors(self) -> bool:
        """Whether any is an error."""
        return any(item.is_error for item in self.items)


_TAKES_AN: Final = r"(?i:[aeio]|[fhlmnrsx]\d|u(?!\d|ni)|8|1[18]\b)"


def with_article(noun: str) -> str:
    """A noun with `a` or `an` by its pronunciation: an override, an f32, a u32, a uniform, a texel format."""
    return f"an {noun}" if re.match(_TAKES_AN, noun) else f"a {noun}"


def not_supported(what: str, span: Span | None) -> Diagnostic:
    """The diagnostic for valid WGSL that a stage cannot handle yet."""
    return Diagnostic(Severity.ERROR, "not-supported", f"not supported: {what}", span)


class Part(enum.Enum):
    """The role of a piece of a rendered diagnostic. The first three are severities, with the carets for them."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    NOTE = "note"
    MESSAGE = "message"
    GUTTER = "gutter"


Paint: TypeAlias = Callable[[Part, str], str]
"""Adds the colours of its role to a piece of text."""


def plain(_: Part, text: str) -> str:
    """The text without colours."""
    return text


def render(diagnostic: Diagnostic, source: Source | None, paint: Paint = plain) -> str:
    """The diagnostic and its notes, each with the source line and carets."""
    kind = Part(diagnostic.severity.value)
    lines = [_head(f"{kind.value}[{diagnostic.code}]", diagnostic.message, kind, paint)]
    lines += _excerpt(diagnostic.span, source, kind, paint)
    for note in diagnostic.notes:
        lines += [_head("note", note.message, Part.NOTE, paint), *_excerpt(note.span, source, Part.NOTE, paint)]
    return "\n".join(lines)


def _head(word: str, message: str, kind: Part, paint: Paint) -> str:
    return f"{paint(kind, word)}{paint(Part.MESSAGE, f': {_shortened(message)}')}"


def render_all(diagnostics: Iterable[Diagnostic], source: Source | None, paint: Paint = plain) -> str:
    """All diagnostics, in order, separated by blank lines."""
    return "\n\n".join(render(diagnostic, source, paint) for diagnostic in diagnostics)


_LONGEST_LINE = 160
_LONGEST_MESSAGE = 600
_TAB = "    "
_ELLIPSIS = "…"


def _shortened(message: str) -> str:
    """A message that quotes a very long name is cut in the middle."""
    if len(message) <= _LONGEST_MESSAGE:
        return message
    half = _LONGEST_MESSAGE // 2
    return message[:half] + _ELLIPSIS + message[-half:]


def _excerpt(span: Span | None, source: Source | None, kind: Part, paint: Paint) -> list[str]:
    """The place, and its first and last line with carets under what the span covers."""
    if span is None or source is None:
        return []
    start, end = source.position(span.start), source.position(span.end)
    if end.line > start.line and end.column == 1:  # up to a line break: nothing of the last line
        end = Position(end.line - 1, len(source.line_text(end.line - 1)) + 1)
    margin = _Margin(len(str(end.line)), kind, paint)
    place = [f"{margin.arrow} {source.name}:{start.line}:{start.column}", margin.bar("")]
    first = source.line_text(start.line)
    if start.line == end.line:
        return place + _underlined(margin, start.line, first, start.column - 1, end.column - 1)
    last = source.line_text(end.line)
    between = [] if end.line == start.line + 1 else [margin.gap]
    return [
        *place,
        *_underlined(margin, start.line, first, start.column - 1, len(first)),
        *between,
        *_underlined(margin, end.line, last, len(last) - len(last.lstrip()), end.column - 1),
    ]


@dataclass(frozen=True, slots=True)
class _Margin:
    """The left margin of an excerpt, as wide as its greatest line number, and the carets."""

    width: int
    kind: Part
    paint: Paint

    @property
    def arrow(self) -> str:
        """The margin before the place."""
        return self.paint(Part.GUTTER, f"{'':{self.width}}-->")

    @property
    def gap(self) -> str:
        """The margin that represents omitted lines."""
        return self.paint(Part.GUTTER, f"{'':{self.width}} {_ELLIPSIS}")

    def bar(self, number: str) -> str:
        """The margin before a source line."""
        return self.paint(Part.GUTTER, f"{number:>{self.width}} |")

    def carets(self, count: int) -> str:
        """Under a place."""
        return self.paint(self.kind, "^" * count)


def _underlined(margin: _Margin, number: int, text: str, first: int, last: int) -> list[str]:
    """A line with carets under the code points `first` … `last - 1`; a very long one is cut around the first."""
    shift = max(0, first - _LONGEST_LINE // 2) if len(text) > _LONGEST_LINE else 0
    stop = shift + _LONGEST_LINE
    before, marked = _printable(text[shift:first]), _printable(text[first : min(last, stop)])
    after = _printable(text[max(first, min(last, stop)) : stop])
    if shift:
        before = _ELLIPSIS + before
    if stop < len(text):
        after += _ELLIPSIS
    carets = margin.carets(max(1, _columns(marked)))
    return [
        f"{margin.bar(str(number))} {before}{marked}{after}".rstrip(),
        f"{margin.bar('')} {' ' * _columns(before)}{carets}",
    ]


def _printable(text: str) -> str:
    """The text for a terminal: tabs become four spaces, other unprintable characters one space."""
    return "".join(_TAB if char == "\t" else char if char.isprintable() else " " for char in text)


def _columns(text: str) -> int:
    """The width of the text in terminal columns: wide characters take two, combining ones none."""
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)
