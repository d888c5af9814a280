"""What a user wrote wrong: diagnostics, their rendering, and the exception that carries them.

A message is one lower-case sentence without a full stop; the caret shows the place, the words don't quote it; a second
place is a note with its own span.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .source import Source, Span


class Severity(enum.Enum):
    """How much a diagnostic weighs; only an error makes a program invalid."""

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
    """One finding. `code` names its kind (`unresolved-identifier`); `span` is None when no place of the source is at fault."""

    severity: Severity
    code: str
    message: str
    span: Span | None = None
    notes: tuple[Note, ...] = ()

    @property
    def is_error(self) -> bool:
        """Whether the program is invalid."""
        return self.severity is Severity.ERROR


class TinctError(Exception):
    """Base of the errors that tell a user of something they can mend."""


class InputError(TinctError, ValueError):
    """Buffers, sizes, names or options that do not fit the shader."""


class DeviceError(TinctError, RuntimeError):
    """A device that is missing, refused the work, or died."""


class ShaderError(TinctError):
    """An invalid or unsupported shader: `diagnostics` say where and why."""

    def __init__(self, diagnostics: Sequence[Diagnostic], source: Source | None = None) -> None:
        self.diagnostics = tuple(diagnostics)
        self.source = source
        super().__init__(render_all(self.diagnostics, source))


@dataclass(slots=True)
class DiagnosticList:
    """Collects diagnostics while a stage goes on."""

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


def not_supported(what: str, span: Span | None) -> Diagnostic:
    """The diagnostic for valid WGSL that a stage cannot handle yet."""
    return Diagnostic(Severity.ERROR, "not-supported", f"not supported: {what}", span)


def render(diagnostic: Diagnostic, source: Source | None) -> str:
    """The diagnostic with the source line and a caret, and so each note."""
    head = f"{diagnostic.severity.value}[{diagnostic.code}]: {diagnostic.message}"
    lines = [head, *_excerpt(diagnostic.span, source)]
    for note in diagnostic.notes:
        lines += [f"note: {note.message}", *_excerpt(note.span, source)]
    return "\n".join(lines)


def render_all(diagnostics: Iterable[Diagnostic], source: Source | None) -> str:
    """All diagnostics, in order, separated by blank lines."""
    return "\n\n".join(render(diagnostic, source) for diagnostic in diagnostics)


_LONGEST_LINE = 160


def _excerpt(span: Span | None, source: Source | None) -> list[str]:
    if span is None or source is None:
        return []
    start, end = source.position(span.start), source.position(span.end)
    text = source.line_text(start.line)
    first = start.column - 1
    last = end.column - 1 if end.line == start.line else len(text)
    shift = max(0, first - _LONGEST_LINE // 2)  # a very long line is cut around the caret
    shown = text[shift : shift + _LONGEST_LINE]
    width = max(1, min(last, shift + _LONGEST_LINE) - first)
    number = str(start.line)
    gutter = " " * len(number)
    return [
        f"{gutter}--> {source.name}:{start.line}:{start.column}",
        f"{gutter} |",
        f"{number} | {_printable(shown)}",
        f"{gutter} | {' ' * (first - shift)}{'^' * width}",
    ]


def _printable(text: str) -> str:
    """One column a code point: control characters and tabs become a space."""
    return "".join(char if char.isprintable() else " " for char in text)
