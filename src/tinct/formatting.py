"""WGSL text in tinct's style."""

from __future__ import annotations

from collections import Counter

from .base.interpreter_state import deep_nesting
from .frontend import nesting_fault
from .frontend.parse import parse
from .ir.diagnostics import ShaderError
from .ir.schema.runtime import SchemaNode
from .ir.schema.traverse import rewrite, same
from .ir.source import Source
from .ir.wgsl import ast


@deep_nesting()
def format_source(source: Source) -> str:
    """The formatted text: the same program, with all its comments. Raises ShaderError for a source that is malformed,
    or nests deeper than any program may.

    The result is checked against the source, so that a bug of the formatter never reaches a file.
    """
    from .backend.wgsl.format import format_unit

    unit = _unit(source)
    fault = nesting_fault(source, unit)
    if fault is not None:
        raise ShaderError([fault], source)
    text = format_unit(unit, source)
    again = _unit(Source.from_text(text, source.name))
    if not same(_meaning(unit), _meaning(again)):
        raise AssertionError("the formatted text is another program")
    if _comments(unit) != _comments(again):
        raise AssertionError("the formatted text has other comments")
    return text


def _unit(source: Source) -> ast.TranslationUnit:
    parsed = parse(source)
    if parsed.has_errors:
        raise ShaderError(parsed.diagnostics, source)
    return parsed.unit


def _meaning(unit: ast.TranslationUnit) -> SchemaNode:
    """The tree without comments and parentheses."""
    bare = ast.TranslationUnit(unit.directives, unit.declarations, unit.span)
    return rewrite(bare, lambda node: node.operand if isinstance(node, ast.Paren) else node)


def _comments(unit: ast.TranslationUnit) -> Counter[str]:
    return Counter(comment.text.rstrip() for comment in unit.comments)
