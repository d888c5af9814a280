"""Parsing: from WGSL text to its syntax tree (WGSL, "Textual Structure")."""

from __future__ import annotations

from ..base.records import dataclass
from ..ir.diagnostics import Diagnostic, DiagnosticList, Note
from ..ir.source import Source, Span
from ..ir.wgsl import ast
from .lower import lower
from .tree import parse_tree

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BYTE_ORDER_MARKS_OF_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class ParseResult:
    """The syntax tree of a source, and what is wrong with it.

    If a diagnostic is an error, `unit` lacks the incomplete declarations and statements: tools may use
    it, but it is not a program.
    """

    unit: ast.TranslationUnit
    diagnostics: tuple[Diagnostic, ...]

    @property
    def has_errors(self) -> bool:
        """Whether the source is malformed."""
        return any(diagnostic.is_error for diagnostic in self.diagnostics)


def parse(source: Source) -> ParseResult:
    """The syntax tree of a WGSL module. Never raises: whatever is wrong with the text is a diagnostic."""
    diagnostics = DiagnosticList()
    if not _is_text(source.data, diagnostics):
        return ParseResult(_empty(source), tuple(diagnostics.items))
    tree = parse_tree(source.data)
    if tree is None:
        from .syntax_errors import report_first_fault

        report_first_fault(source, diagnostics)
        return ParseResult(_empty(source), tuple(diagnostics.items))
    if tree.root_node.has_error:
        from .syntax_errors import report_syntax_errors

        report_syntax_errors(tree, source, diagnostics)
    unit = lower(tree, source, diagnostics)
    return ParseResult(unit, tuple(sorted(diagnostics.items, key=_place)))


def _place(diagnostic: Diagnostic) -> int:
    return diagnostic.span.start if diagnostic.span else 0


def _is_text(data: bytes, diagnostics: DiagnosticList) -> bool:
    """Whether the source is Unicode text without null code points and byte order mark; else the reason is reported."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        is_utf16 = data.startswith(_BYTE_ORDER_MARKS_OF_UTF16)
        notes = [Note("this looks like UTF-16: save the file as UTF-8")] if is_utf16 else []
        diagnostics.error("invalid-utf8", "the text is not valid UTF-8", Span(error.start, error.end), notes)
        return False
    if data.startswith(_BYTE_ORDER_MARK):
        span, note = Span(0, len(_BYTE_ORDER_MARK)), Note("save the file as UTF-8 without a BOM")
        diagnostics.error("invalid-character", "a byte order mark is not allowed", span, [note])
        return False
    null = data.find(b"\0")
    if null >= 0:
        diagnostics.error("invalid-character", "a null code point is not allowed", Span(null, null + 1))
        return False
    return True


def _empty(source: Source) -> ast.TranslationUnit:
    return ast.TranslationUnit(directives=(), declarations=(), span=Span(0, len(source.data)))
