"""The lowered children of a syntax node, with typed access by field name."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from ...base.named_tuples import NamedTuple
from ...base.records import dataclass
from ...ir.diagnostics import DiagnosticList
from ...ir.schema.runtime import SchemaNode
from ...ir.source import Span
from ...ir.wgsl import ast

Node = TypeVar("Node")


class MissingPart(Exception):
    """A node lacks a required part, because of a syntax error already reported; the node is left out of the tree."""


class Name(NamedTuple):
    """A declared name and its span."""

    text: str
    span: Span


class Operator(NamedTuple):
    """An operator's text and its span."""

    text: str
    span: Span


Value: TypeAlias = "SchemaNode | Operator | Parts"


@dataclass(slots=True)
class Parts:
    """A syntax node whose children are lowered: `values` are their results, each with the name of its field or None.
    `slot` is the field under which the node's own parent will keep its result; `text` is a leaf's text.

    A kind of node that has no node of its own in the tree (a template list, a loop's body) is passed to its parent as
    Parts.
    """

    kind: int
    span: Span
    slot: str | None
    text: str
    diagnostics: DiagnosticList
    values: list[tuple[str | None, Value]]

    def error(self, code: str, message: str, span: Span | None = None) -> None:
        """Report an error, at this node unless a span is given."""
        self.diagnostics.error(code, message, span or self.span)

    def find(self, name: str, kind: type[Node]) -> Node | None:
        """The value of a field, or None where it is absent or of another kind."""
        for key, value in self.values:
            if key == name and isinstance(value, kind):
                return value
        return None

    def get(self, name: str, kind: type[Node]) -> Node:
        """The value of a field. Raises MissingPart."""
        value = self.find(name, kind)
        if value is None:
            raise MissingPart
        return value

    def all(self, kind: type[Node]) -> tuple[Node, ...]:
        """The values of a kind that are in no field, in order."""
        return tuple(value for key, value in self.values if key is None and isinstance(value, kind))

    def name(self) -> Name:
        """The declared name. Raises MissingPart."""
        identifier = self.get("name", ast.Identifier)
        return Name(identifier.name, identifier.span)

    def operator(self) -> str:
        """The operator's text. Raises MissingPart."""
        return self.get("operator", Operator).text

    def find_expression(self, name: str) -> ast.Expression | None:
        """The expression in a field, or None."""
        for key, value in self.values:
            if key == name and isinstance(value, ast.Expression):
                return value
        return None

    def expression(self, name: str) -> ast.Expression:
        """The expression in a field. Raises MissingPart."""
        value = self.find_expression(name)
        if value is None:
            raise MissingPart
        return value

    def expressions(self) -> tuple[ast.Expression, ...]:
        """The expressions that are in no field, in order."""
        return tuple(value for key, value in self.values if key is None and isinstance(value, ast.Expression))

    def find_statement(self, name: str) -> ast.Statement | None:
        """The statement in a field, or None."""
        for key, value in self.values:
            if key == name and isinstance(value, ast.Statement):
                return value
        return None

    def statements(self) -> tuple[ast.Statement, ...]:
        """The statements that are in no field, in order."""
        return tuple(value for key, value in self.values if key is None and isinstance(value, ast.Statement))

    def attributes(self) -> tuple[ast.Attribute, ...]:
        """The attributes, in order."""
        return self.all(ast.Attribute)
