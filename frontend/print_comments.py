"""`// @debugPrintf("FORMAT", …);`: a statement for printing, in a comment.

Other tools ignore the comment. `@` marks it, so that a call that was merely commented out stays so. Nothing but the
statement may stand in the comment, and it may not write anything, so that a shader means the same to all tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ..base.records import dataclass, field, replace
from ..ir.diagnostics import Diagnostic, Note, Severity
from ..ir.language import DEBUG_PRINTF
from ..ir.source import Source, Span
from ..ir.wgsl import ast

FORM: Final = f'// @{DEBUG_PRINTF}("FORMAT", ARGUMENTS…);'
_MARK: Final = r"//[ \t]*@[ \t]*"
_STATEMENT: Final = _MARK + DEBUG_PRINTF + r'[ \t]*\([ \t]*"(?:\\.|[^"\\])*"[ \t]*(?:,[^;"]*)?\)[ \t]*;[ \t]*(?://.*)?'
_LIKE_ONE: Final = r"(?i)/[/*]+[ \t]*@[ \t]*debug_?print\w*"


@dataclass(slots=True)
class PrintComments:
    """The comments of a source that are statements, and an error for each one that looks so and is none."""

    source: Source
    spans: list[Span] = field(default_factory=list[Span])
    faults: list[Diagnostic] = field(default_factory=list[Diagnostic])

    @property
    def as_statements(self) -> Source:
        """The source with blanks for what makes them comments, so that all places stay what they are."""
        data = bytearray(self.source.data)
        for it in self.spans:
            mark = re.match(_MARK, self.source.text(it))
            assert mark is not None
            data[it.start : it.start + mark.end()] = b" " * mark.end()
        return Source(self.source.name, bytes(data))

    def explained(self, found: Diagnostic) -> Diagnostic:
        """A syntax error that comes of taking the comments as statements, with the nearest comment before it."""
        before = [it for it in self.spans if found.span is not None and it.start <= found.span.start]
        if not before:
            return found
        note = Note(f"this comment is a statement, since it begins with '@{DEBUG_PRINTF}'", before[-1])
        return replace(found, notes=(*found.notes, note))


def print_comments(source: Source, comments: Iterable[ast.Comment]) -> PrintComments:
    """The comments that print, among all."""
    found = PrintComments(source)
    for it in comments:
        if re.fullmatch(_STATEMENT, it.text):
            found.spans.append(it.span)
        elif like_one := re.match(_LIKE_ONE, it.text):
            message = f"a comment that prints has the form '{FORM}', on one line and with nothing after it"
            span = Span(it.span.start, it.span.start + like_one.end())
            found.faults.append(Diagnostic(Severity.ERROR, "invalid-print", message, span))
    return found
