"""`// @debugPrintf("FORMAT", …);`: a statement for printing, in a comment that is alone in its line.

Other tools ignore the comment. `@` marks it, so that a call that was merely commented out stays so.
"""

from __future__ import annotations

import re

from ..ir.print_formats import NAME
from ..ir.source import Source, Span

_MARK = b"// @"
_COMMENT = re.compile(rb"^([ \t]*)" + _MARK + rb"(?=" + NAME.encode() + rb"[ \t]*\()", re.MULTILINE)


def with_print_comments(source: Source) -> Source:
    """The source with the statements of such comments as statements: blanks stand for what makes them comments, so that
    all places stay what they are. Inside of a block comment this changes nothing that is not blank.
    """
    if _MARK + NAME.encode() not in source.data:
        return source
    data = _COMMENT.sub(lambda match: match[1] + b" " * len(_MARK), source.data)
    return Source(source.name, data)


def stands_in_comment(source: Source, span: Span) -> bool:
    """Whether a statement stands in such a comment."""
    return source.data[: span.start].endswith(_MARK)
