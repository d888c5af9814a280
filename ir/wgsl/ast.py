# Written by `python -m tinct.ir.schema.generate` from ir/schema/wgsl.asdl: change the schema, not this file.

"""The syntax tree of a WGSL file (WGSL, "Directives" to "Statements").

Immutable, compared by identity: two occurrences of `x` are two nodes, so that facts can be attached to each.
Every node has the span of its source text. The meaning of a file (types, constants, declarations) is in `Program`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeAlias

from ...base.records import dataclass, field
from ..schema.runtime import Category, Count, FieldInfo, Schema, SchemaNode

if TYPE_CHECKING:
    from ..ops import BinaryOp, UnaryOp
    from ..source import Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TranslationUnit(SchemaNode):
    """A whole file. `comments` are all comments, in source order, for formatters."""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("directives", "directive", Category.NODE, Count.MANY),
        FieldInfo("declarations", "declaration", Category.NODE, Count.MANY),
        FieldInfo("comments", "comment", Category.NODE, Count.MANY, default=()),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    directives: tuple[Directive, ...]
    declarations: tuple[Declaration, ...]
    comments: tuple[Comment, ...] = field(default=(), kw_only=True)
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comment(SchemaNode):
    """One comment, delimiters included."""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("text", "str", Category.SCALAR),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    text: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Enable(SchemaNode):
    """`Enable(str* extensions)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("extensions", "str", Category.SCALAR, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    extensions: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Requires(SchemaNode):
    """`Requires(str* features)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("features", "str", Category.SCALAR, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    features: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DiagnosticDirective(SchemaNode):
    """`DiagnosticDirective(str severity, str rule)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("severity", "str", Category.SCALAR),
        FieldInfo("rule", "str", Category.SCALAR),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    severity: str
    rule: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attribute(SchemaNode):
    """`@name(arguments)`. The severity and rule of `@diagnostic(off, a.b)` are Identifier arguments named "off" and
    "a.b".
    """

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("arguments", "expression", Category.NODE, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    name: str
    arguments: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Alias(SchemaNode):
    """`Alias(str name, expression type)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("name_span", "span", Category.EXTERN, hidden=True),
        FieldInfo("type", "expression", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    name: str
    name_span: Span
    type: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Struct(SchemaNode):
    """`Struct(str name, member* members)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("name_span", "span", Category.EXTERN, hidden=True),
        FieldInfo("members", "member", Category.NODE, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    name: str
    name_span: Span
    members: tuple[Member, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Function(SchemaNode):
    """`Function(attribute* attributes, str name, parameter* parameters, attribute* return_attributes, expression?
    return_type, Block body)`
    """

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("attributes", "attribute", Category.NODE, Count.MANY),
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("name_span", "span", Category.EXTERN, hidden=True),
        FieldInfo("parameters", "parameter", Category.NODE, Count.MANY),
        FieldInfo("return_attributes", "attribute", Category.NODE, Count.MANY),
        FieldInfo("return_type", "expression", Category.NODE, Count.OPTIONAL),
        FieldInfo("body", "Block", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    attributes: tuple[Attribute, ...]
    name: str
    name_span: Span
    parameters: tuple[Parameter, ...]
    return_attributes: tuple[Attribute, ...]
    return_type: Expression | None
    body: Block
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Override(SchemaNode):
    """`Override(attribute* attributes, str name, expression? type, expression? initializer)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("attributes", "attribute", Category.NODE, Count.MANY),
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("name_span", "span", Category.EXTERN, hidden=True),
        FieldInfo("type", "expression", Category.NODE, Count.OPTIONAL),
        FieldInfo("initializer", "expression", Category.NODE, Count.OPTIONAL),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    attributes: tuple[Attribute, ...]
    name: str
    name_span: Span
    type: Expression | None
    initializer: Expression | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Var(SchemaNode):
    """`Var(attribute* attributes, expression* template_arguments, str name, expression? type, expression?
    initializer)`
    """

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("attributes", "attribute", Category.NODE, Count.MANY),
        FieldInfo("template_arguments", "expression", Category.NODE, Count.MANY),
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("name_span", "span", Category.EXTERN, hidden=True),
        FieldInfo("type", "expression", Category.NODE, Count.OPTIONAL),
        FieldInfo("initializer", "expression", Category.NODE, Count.OPTIONAL),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    attributes: tuple[Attribute, ...]
    template_arguments: tuple[Expression, ...]
    name: str
    name_span: Span
    type: Expression | None
    initializer: Expression | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Const(SchemaNode):
    """`Const(str name, expression? type, expression initializer)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("name_span", "span", Category.EXTERN, hidden=True),
        FieldInfo("type", "expression", Category.NODE, Count.OPTIONAL),
        FieldInfo("initializer", "expression", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    name: str
    name_span: Span
    type: Expression | None
    initializer: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConstAssert(SchemaNode):
    """`ConstAssert(expression condition)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("condition", "expression", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    condition: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Member(SchemaNode):
    """`Member(attribute* attributes, str name, expression type)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("attributes", "attribute", Category.NODE, Count.MANY),
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("name_span", "span", Category.EXTERN, hidden=True),
        FieldInfo("type", "expression", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    attributes: tuple[Attribute, ...]
    name: str
    name_span: Span
    type: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Parameter(SchemaNode):
    """`Parameter(attribute* attributes, str name, expression type)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("attributes", "attribute", Category.NODE, Count.MANY),
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("name_span", "span", Category.EXTERN, hidden=True),
        FieldInfo("type", "expression", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    attributes: tuple[Attribute, ...]
    name: str
    name_span: Span
    type: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Block(SchemaNode):
    """`Block(attribute* attributes, statement* statements)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("attributes", "attribute", Category.NODE, Count.MANY),
        FieldInfo("statements", "statement", Category.NODE, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    attributes: tuple[Attribute, ...]
    statements: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class If(SchemaNode):
    """`If(attribute* attributes, expression condition, Block body, if_else? alternative)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("attributes", "attribute", Category.NODE, Count.MANY),
        FieldInfo("condition", "expression", Category.NODE),
        FieldInfo("body", "Block", Category.NODE),
        FieldInfo("alternative", "if_else", Category.NODE, Count.OPTIONAL),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    attributes: tuple[Attribute, ...]
    condition: Expression
    body: Block
    alternative: IfElse | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Switch(SchemaNode):
    """`Switch(attribute* attributes, expression subject, attribute* body_attributes, case* cases)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("attributes", "attribute", Category.NODE, Count.MANY),
        FieldInfo("subject", "expression", Category.NODE),
        FieldInfo("body_attributes", "attribute", Category.NODE, Count.MANY),
        FieldInfo("cases", "case", Category.NODE, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    attributes: tuple[Attribute, ...]
    subject: Expression
    body_attributes: tuple[Attribute, ...]
    cases: tuple[Case, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Loop(SchemaNode):
    """`Loop(attribute* attributes, Block body, continuing? continuing)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("attributes", "attribute", Category.NODE, Count.MANY),
        FieldInfo("body", "Block", Category.NODE),
        FieldInfo("continuing", "continuing", Category.NODE, Count.OPTIONAL),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    attributes: tuple[Attribute, ...]
    body: Block
    continuing: Continuing | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class While(SchemaNode):
    """`While(attribute* attributes, expression condition, Block body)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("attributes", "attribute", Category.NODE, Count.MANY),
        FieldInfo("condition", "expression", Category.NODE),
        FieldInfo("body", "Block", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    attributes: tuple[Attribute, ...]
    condition: Expression
    body: Block
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class For(SchemaNode):
    """`For(attribute* attributes, statement? initializer, expression? condition, statement? update, Block body)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("attributes", "attribute", Category.NODE, Count.MANY),
        FieldInfo("initializer", "statement", Category.NODE, Count.OPTIONAL),
        FieldInfo("condition", "expression", Category.NODE, Count.OPTIONAL),
        FieldInfo("update", "statement", Category.NODE, Count.OPTIONAL),
        FieldInfo("body", "Block", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    attributes: tuple[Attribute, ...]
    initializer: Statement | None
    condition: Expression | None
    update: Statement | None
    body: Block
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Let(SchemaNode):
    """`Let(str name, expression? type, expression initializer)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("name_span", "span", Category.EXTERN, hidden=True),
        FieldInfo("type", "expression", Category.NODE, Count.OPTIONAL),
        FieldInfo("initializer", "expression", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    name: str
    name_span: Span
    type: Expression | None
    initializer: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Assign(SchemaNode):
    """`Assign(expression target, expression value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("target", "expression", Category.NODE),
        FieldInfo("value", "expression", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    target: Expression
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CompoundAssign(SchemaNode):
    """`CompoundAssign(binary_op op, expression target, expression value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("op", "binary_op", Category.EXTERN),
        FieldInfo("target", "expression", Category.NODE),
        FieldInfo("value", "expression", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    op: BinaryOp
    target: Expression
    value: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PhonyAssign(SchemaNode):
    """`PhonyAssign(expression value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("value", "expression", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    value: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Increment(SchemaNode):
    """`Increment(expression target)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("target", "expression", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    target: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decrement(SchemaNode):
    """`Decrement(expression target)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("target", "expression", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    target: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CallStatement(SchemaNode):
    """`CallStatement(Call call)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("call", "Call", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    call: Call
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Print(SchemaNode):
    """`Print(str name, str format, expression* arguments)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("name_span", "span", Category.EXTERN, hidden=True),
        FieldInfo("format", "str", Category.SCALAR),
        FieldInfo("format_span", "span", Category.EXTERN, hidden=True),
        FieldInfo("arguments", "expression", Category.NODE, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    name: str
    name_span: Span
    format: str
    format_span: Span
    arguments: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Return(SchemaNode):
    """`Return(expression? value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("value", "expression", Category.NODE, Count.OPTIONAL),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    value: Expression | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Break(SchemaNode):
    """`Break`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("span", "span", Category.EXTERN, hidden=True),)
    IDENTITY: ClassVar[bool] = True

    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Continue(SchemaNode):
    """`Continue`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("span", "span", Category.EXTERN, hidden=True),)
    IDENTITY: ClassVar[bool] = True

    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Discard(SchemaNode):
    """`Discard`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("span", "span", Category.EXTERN, hidden=True),)
    IDENTITY: ClassVar[bool] = True

    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Case(SchemaNode):
    """`case 1, 2, default: {}`; a `default {}` clause is a Case whose only selector is DefaultSelector."""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("selectors", "case_selector", Category.NODE, Count.MANY),
        FieldInfo("body", "Block", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    selectors: tuple[CaseSelector, ...]
    body: Block
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DefaultSelector(SchemaNode):
    """`DefaultSelector`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (FieldInfo("span", "span", Category.EXTERN, hidden=True),)
    IDENTITY: ClassVar[bool] = True

    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Continuing(SchemaNode):
    """`continuing { … break if condition; }` at the end of a loop."""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("body", "Block", Category.NODE),
        FieldInfo("break_if", "expression", Category.NODE, Count.OPTIONAL),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    body: Block
    break_if: Expression | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Identifier(SchemaNode):
    """`Identifier(str name, expression* template_arguments)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("name", "str", Category.SCALAR),
        FieldInfo("template_arguments", "expression", Category.NODE, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    name: str
    template_arguments: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BoolLiteral(SchemaNode):
    """`BoolLiteral(bool value)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("value", "bool", Category.SCALAR),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    value: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class IntLiteral(SchemaNode):
    """`IntLiteral(int value, str suffix, str text)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("value", "int", Category.SCALAR),
        FieldInfo("suffix", "str", Category.SCALAR),
        FieldInfo("text", "str", Category.SCALAR),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    value: int
    suffix: str
    text: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FloatLiteral(SchemaNode):
    """`FloatLiteral(str text, str suffix)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("text", "str", Category.SCALAR),
        FieldInfo("suffix", "str", Category.SCALAR),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    text: str
    suffix: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Unary(SchemaNode):
    """`Unary(unary_op op, expression operand)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("op", "unary_op", Category.EXTERN),
        FieldInfo("operand", "expression", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    op: UnaryOp
    operand: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Binary(SchemaNode):
    """`Binary(binary_op op, expression lhs, expression rhs)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("op", "binary_op", Category.EXTERN),
        FieldInfo("lhs", "expression", Category.NODE),
        FieldInfo("rhs", "expression", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    op: BinaryOp
    lhs: Expression
    rhs: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call(SchemaNode):
    """`Call(Identifier callee, expression* arguments)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("callee", "Identifier", Category.NODE),
        FieldInfo("arguments", "expression", Category.NODE, Count.MANY),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    callee: Identifier
    arguments: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Index(SchemaNode):
    """`Index(expression object, expression index)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("object", "expression", Category.NODE),
        FieldInfo("index", "expression", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    object: Expression
    index: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MemberAccess(SchemaNode):
    """`MemberAccess(expression object, str member)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("object", "expression", Category.NODE),
        FieldInfo("member", "str", Category.SCALAR),
        FieldInfo("member_span", "span", Category.EXTERN, hidden=True),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    object: Expression
    member: str
    member_span: Span
    span: Span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Paren(SchemaNode):
    """`Paren(expression operand)`"""

    FIELDS: ClassVar[tuple[FieldInfo, ...]] = (
        FieldInfo("operand", "expression", Category.NODE),
        FieldInfo("span", "span", Category.EXTERN, hidden=True),
    )
    IDENTITY: ClassVar[bool] = True

    operand: Expression
    span: Span


Directive: TypeAlias = Enable | Requires | DiagnosticDirective
"""`enable f16, subgroups;`, `requires feature;` and `diagnostic(off, rule);`"""

Declaration: TypeAlias = Alias | Struct | Function | Override | Var | Const | ConstAssert
"""Declarations at module scope. `Const`, `ConstAssert` and `Var` may be statements too; the template arguments of a
`Var` (`var<storage, read_write>`) are plain expressions.
"""

Statement: TypeAlias = (
    Block
    | If
    | Switch
    | Loop
    | While
    | For
    | Let
    | Assign
    | CompoundAssign
    | PhonyAssign
    | Increment
    | Decrement
    | CallStatement
    | Print
    | Return
    | Break
    | Continue
    | Discard
    | Var
    | Const
    | ConstAssert
)
"""Statements. An empty statement `;` has no node. `Const`, `Var` and `ConstAssert` may be statements as well.
`Print` is wgpu's `debugPrintf`; its format is the text of the literal, quotes included.
"""

IfElse: TypeAlias = Block | If
"""The part after `else`: a block, or an `If` for `else if`."""

Expression: TypeAlias = (
    Identifier | BoolLiteral | IntLiteral | FloatLiteral | Unary | Binary | Call | Index | MemberAccess | Paren
)
"""Expressions. An Identifier may name a value, a type, a function or an enumerant; `vec3<f32>` is an Identifier
with template arguments. `Paren` records the author's parentheses; it means its operand.
A literal keeps its text, suffix included, so that rounding happens once, in the type that the resolver finds.
"""

CaseSelector: TypeAlias = Expression | DefaultSelector

SCHEMA = Schema(
    name="wgsl",
    kinds=(
        TranslationUnit,
        Comment,
        Enable,
        Requires,
        DiagnosticDirective,
        Attribute,
        Alias,
        Struct,
        Function,
        Override,
        Var,
        Const,
        ConstAssert,
        Member,
        Parameter,
        Block,
        If,
        Switch,
        Loop,
        While,
        For,
        Let,
        Assign,
        CompoundAssign,
        PhonyAssign,
        Increment,
        Decrement,
        CallStatement,
        Print,
        Return,
        Break,
        Continue,
        Discard,
        Case,
        DefaultSelector,
        Continuing,
        Identifier,
        BoolLiteral,
        IntLiteral,
        FloatLiteral,
        Unary,
        Binary,
        Call,
        Index,
        MemberAccess,
        Paren,
    ),
    enums={},
    sums={
        "translation_unit": (TranslationUnit,),
        "comment": (Comment,),
        "directive": (Enable, Requires, DiagnosticDirective),
        "attribute": (Attribute,),
        "declaration": (Alias, Struct, Function, Override, Var, Const, ConstAssert),
        "member": (Member,),
        "parameter": (Parameter,),
        "statement": (
            Block,
            If,
            Switch,
            Loop,
            While,
            For,
            Let,
            Assign,
            CompoundAssign,
            PhonyAssign,
            Increment,
            Decrement,
            CallStatement,
            Print,
            Return,
            Break,
            Continue,
            Discard,
            Var,
            Const,
            ConstAssert,
        ),
        "if_else": (Block, If),
        "case": (Case,),
        "case_selector": (
            Identifier,
            BoolLiteral,
            IntLiteral,
            FloatLiteral,
            Unary,
            Binary,
            Call,
            Index,
            MemberAccess,
            Paren,
            DefaultSelector,
        ),
        "continuing": (Continuing,),
        "expression": (
            Identifier,
            BoolLiteral,
            IntLiteral,
            FloatLiteral,
            Unary,
            Binary,
            Call,
            Index,
            MemberAccess,
            Paren,
        ),
    },
    externs=("span", "unary_op", "binary_op"),
)
