"""The comments at the top of a module, which are kept when its text is written again."""

from __future__ import annotations

from .ir.source import Source
from .ir.wgsl import ast


def with_header(text: str, unit: ast.TranslationUnit, source: Source) -> str:
    """A text made from a unit, under the comments that its source begins with.

    These are the comments before all declarations, up to the last empty line: a comment directly above a declaration
    describes only that.
    """
    kept = _header(unit, source)
    return f"{kept}\n\n{text}" if kept else text


def _header(unit: ast.TranslationUnit, source: Source) -> str:
    nodes = (*unit.directives, *unit.declarations)
    end = min((node.span.start for node in nodes), default=len(source.data))
    leading = [comment for comment in unit.comments if comment.span.end <= end]
    following = [*(comment.span.start for comment in leading[1:]), end]
    kept = 0
    for number, (comment, start) in enumerate(zip(leading, following, strict=False), 1):
        if source.data[comment.span.end : start].count(b"\n") > 1 or not nodes:
            kept = number
    if not kept:
        return ""
    return source.data[leading[0].span.start : leading[kept - 1].span.end].decode("utf-8").rstrip()
