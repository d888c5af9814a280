"""From tree-sitter's tree to the syntax tree of `ir/wgsl`.

A bottom-up fold with an explicit stack, so that deep nesting cannot exhaust Python's. After a syntax error, a node that
lacks a part is left out of its parent.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from tree_sitter import Tree, TreeCursor

from ...base.records import dataclass, field
from ...ir.diagnostics import DiagnosticList
from ...ir.source import Source, Span
from ...ir.wgsl import ast
from ..grammar import language
from . import declarations, expressions, statements
from .parts import MissingPart, Operator, Parts, Value

Builder = Callable[[Parts], Value]

_OPERATORS = (
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "|",
    "^",
    "~",
    "!",
    "<<",
    ">>",
    "<",
    "<=",
    ">",
    ">=",
    "==",
    "!=",
    "&&",
    "||",
)
_ASSIGNMENTS = ("+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
# Kinds that have no node of their own in the tree: their Parts are handed up.
_HANDED_UP = ("template_list", "result", "switch_body", "loop_body", "continuing_body", "break_if", "empty_declaration")


def lower(tree: Tree, source: Source, diagnostics: DiagnosticList) -> ast.TranslationUnit:
    """The syntax tree, without what a syntax error left incomplete; reports the errors that the grammar leaves open."""
    return _Lowering(source, diagnostics).run(tree.walk())


@dataclass(frozen=True)
class _Kinds:
    """What to do with a syntax node, by the number of its kind."""

    builders: dict[int, Builder]
    operators: dict[int, str]
    comment: int
    unterminated_comment: int


@cache
def _kinds() -> _Kinds:
    builders: dict[str, Builder] = {**expressions.BUILDERS, **statements.BUILDERS, **declarations.BUILDERS}
    builders |= dict.fromkeys(_HANDED_UP, _hand_up)
    return _Kinds(
        builders={_number(kind): build for kind, build in builders.items()},
        operators={_number(text, named=False): text for text in _OPERATORS + _ASSIGNMENTS},
        comment=_number("comment"),
        unterminated_comment=_number("unterminated_comment"),
    )


def _number(kind: str, *, named: bool = True) -> int:
    number = language().id_for_node_kind(kind, named)
    if number is None:
        raise LookupError(f"the grammar has no {kind}")
    return number


def _hand_up(parts: Parts) -> Parts:
    return parts


@dataclass
class _Lowering:
    source: Source
    diagnostics: DiagnosticList
    comments: list[ast.Comment] = field(default_factory=list[ast.Comment])

    def run(self, cursor: TreeCursor) -> ast.TranslationUnit:
        root = Parts(0, Span(0, len(self.source.data)), None, "", self.diagnostics, [])
        if cursor.goto_first_child():
            self._fold(cursor, root)
        return self._translation_unit(root)

    def _fold(self, cursor: TreeCursor, root: Parts) -> None:
        """Lower the siblings from the cursor on, with all below them, into `root`."""
        kinds = _kinds()
        builders = kinds.builders
        open_parts = [root]
        while True:
            parts = self._enter(cursor, open_parts[-1], kinds)
            if parts is not None and cursor.goto_first_child():
                open_parts.append(parts)
                continue
            if parts is not None:
                _leave(parts, open_parts[-1], builders)
            while not cursor.goto_next_sibling():
                if len(open_parts) == 1:
                    return
                cursor.goto_parent()
                done = open_parts.pop()
                _leave(done, open_parts[-1], builders)

    def _enter(self, cursor: TreeCursor, parent: Parts, kinds: _Kinds) -> Parts | None:
        """The Parts of the node under the cursor; None if it has no node in the syntax tree."""
        node = cursor.node
        if node is None:
            return None
        kind = node.kind_id
        if kind in kinds.builders:
            start, end = node.byte_range
            if start == end:
                return None  # a token that the parser has made up
            text = "" if node.child_count else self.source.data[start:end].decode()
            return Parts(kind, Span(start, end), cursor.field_name, text, self.diagnostics, [])
        if kind in kinds.operators:
            span = Span(node.start_byte, node.end_byte)
            parent.values.append((cursor.field_name, Operator(kinds.operators[kind], span)))
        elif kind in (kinds.comment, kinds.unterminated_comment):
            self._comment(kind, Span(node.start_byte, node.end_byte))
        return None

    def _comment(self, kind: int, span: Span) -> None:
        self.comments.append(ast.Comment(text=self._text(span), span=span))
        if kind == _kinds().unterminated_comment:
            opening = Span(span.start, span.start + len("/*"))
            self.diagnostics.error("unterminated-comment", "a block comment has no end", opening)

    def _text(self, span: Span) -> str:
        return self.source.data[span.start : span.end].decode()

    def _translation_unit(self, root: Parts) -> ast.TranslationUnit:
        values = [value for _, value in root.values]
        directives = [value for value in values if isinstance(value, ast.Directive)]
        later = next((n for n, value in enumerate(values) if not isinstance(value, ast.Directive)), len(values))
        for value in values[later:]:
            if isinstance(value, ast.Directive):
                root.error("misplaced-directive", "directives come before all declarations", value.span)
        return ast.TranslationUnit(
            directives=tuple(directives),
            declarations=tuple(value for value in values if isinstance(value, ast.Declaration)),
            comments=tuple(self.comments),
            span=root.span,
        )


def _leave(parts: Parts, parent: Parts, builders: dict[int, Builder]) -> None:
    """Build a node whose children are complete, and add it to its parent."""
    try:
        parent.values.append((parts.slot, builders[parts.kind](parts)))
    except MissingPart:
        return
