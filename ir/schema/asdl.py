r"""Reads the ASDL dialect that declares every IR.

    -- a comment; directly above a kind or a sum it becomes the docstring
    module core "ir/core/nodes.py" {        -- name, output file; then perhaps `immutable`
        extern span = Span in ..source      -- a Python class, which the schema treats as a leaf
        text module = print_module in .text -- the function that `str` calls for nodes of the kind
        tracked value                       -- fields of this sum are operands with use lists
        operations node                     -- the kinds of this sum are operations, with annotations

        statement = Assign(expression lhs, expression rhs)          -- a sum: classes and their union
                  | @Block(statement* statements, function \parent) -- @: compared by identity
                  attributes (span \span)                           -- fields that every constructor gets
        operator = Negate | Not                                     -- no fields at all: an enum
        argument = (str name, expression? value = none)             -- a product: one class, Argument
        node = @Fork(control node before, int factor) ["fork", control]      -- an operation: role, word, flag
             | @Index(pinned node fork) ["index", pure]
             | @Binary(binary_op op, node lhs, node rhs) [op, scalar, pure]  -- `op` is the word
             attributes (note str \label = "")
        binary_op = Add [commutative] | Sub
    }

`*` marks a list, `?` an optional field, `\` a hidden one: no child, left out of visitors and comparisons. A default
is a literal (`true`, `false`, `none`, a number, a string), `[]`, or the name of an enum's constructor; hidden optional
fields default to none. A bare constructor name that is declared with parentheses elsewhere refers to that constructor.

An operation's fields in parentheses are its shape, its annotations in brackets its meaning. A field may have a role,
before its type:

    control     an operand that control comes from
    pinned      the control node that the operation belongs to, having no place of its own
    note        information for people, such as a name or a source place, that does not affect the operation's result
    (none)      data: an operand that is a value, or an attribute of the operation

The annotations are one word for the text form, in quotes, or the name of the field whose value is the word, and flags:

    control     a node of the control flow; fields with the role `control` or `pinned` refer to such operations only
    input       has no operands: a parameter or a constant
    scalar      computes a scalar from scalars; has rows in the tables of typing rules, evaluators and code
    pure        the result depends on attributes and operands alone: two operations with equal ones give the same value
    reads       the result depends on memory
    writes      changes memory, or gives a new version of a collection
    exits       may end the invocation
    commutative the operands may be exchanged; may also annotate a single operator of an enum
    composed    the builder's method is handwritten, since it does more than construct

The generated module has a class for each group of operations (`PureNode`), with a union of the members (`AnyPureNode`):
a group for each flag, one for pinned operations, and one for floating operations, which are neither pinned nor control.
Each operation gets `copy`; `attributes`, which with the operands are its value number; where operands are not tracked,
`inputs` and `map_inputs`, which include the operands in its parts (such as indices); a method of the builder; and a row
of `BY_WORD`.

Where a sum is tracked, the output's package has a handwritten module `values` with the bases `User` and `Value`; fields
that all kinds of the sum have are attributes of that `Value`.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from .check import check
from .model import (
    Annotation,
    DefaultValue,
    Definition,
    EnumDefault,
    EnumType,
    Extern,
    Field,
    Flag,
    Kind,
    Product,
    Reference,
    Role,
    SchemaError,
    SchemaModule,
    SchemaPosition,
    Sum,
    TextForm,
    camel_case,
)
from .runtime import REQUIRED, Count

TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\r]+)
    | (?P<newline>\n)
    | (?P<comment>--[^\n]*)
    | (?P<string>"(?:[^"\\\n]|\\.)*")
    | (?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
    | (?P<path>\.+[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<mark>[=|(){},*?@\\\[\]])
    | (?P<other>.)""",
    re.VERBOSE,
)
COUNTS: Final = {"*": Count.MANY, "?": Count.OPTIONAL}


@dataclass(frozen=True, slots=True)
class Token:
    """A token. `sort` is the name of a group of `TOKEN`, or "end"; `doc` is the comment block that ends on the line
    above.
    """

    sort: str
    text: str
    place: SchemaPosition
    doc: str = ""

    def __str__(self) -> str:
        return "the end of the file" if self.sort == "end" else f"'{self.text}'"


def read_schema(path: Path, shown_as: str | None = None) -> SchemaModule:
    """The schema in a file; errors name the file `shown_as`."""
    return parse_schema(path.read_text(encoding="utf-8"), shown_as or str(path))


def parse_schema(text: str, file: str = "<schema>") -> SchemaModule:
    """The schema in `text`, with every rule of the dialect checked. Raises `SchemaError`."""
    module = _Parser(_tokens(text, file)).module()
    check(module)
    return module


def _tokens(text: str, file: str) -> list[Token]:
    tokens: list[Token] = []
    comments: dict[int, str] = {}
    line, line_start, code_line = 1, 0, 0
    for match in TOKEN.finditer(text):
        sort, lexeme = str(match.lastgroup), match.group()
        place = SchemaPosition(file, line, match.start() - line_start + 1)
        if sort == "newline":
            line, line_start = line + 1, match.end()
        elif sort == "comment":
            if code_line != line:
                comments[line] = lexeme[2:].removeprefix(" ").rstrip()
        elif sort == "other":
            raise SchemaError(place, f"unexpected character '{lexeme}'")
        elif sort != "space":
            doc = _comment_block(comments, line - 1) if code_line != line else ""
            tokens.append(Token(sort, lexeme, place, doc))
            code_line = line
    tokens.append(Token("end", "", SchemaPosition(file, line, len(text) - line_start + 1)))
    return tokens


def _comment_block(comments: dict[int, str], last: int) -> str:
    first = last
    while first in comments:
        first -= 1
    return "\n".join(comments[line] for line in range(first + 1, last + 1)).strip("\n")


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._position = 0

    @property
    def _token(self) -> Token:
        return self._tokens[self._position]

    def _ahead(self, distance: int) -> Token:
        return self._tokens[min(self._position + distance, len(self._tokens) - 1)]

    def _next(self) -> Token:
        token = self._token
        self._position += token.sort != "end"
        return token

    def _at(self, text: str) -> bool:
        return self._token.text == text and self._token.sort in ("mark", "name")

    def _accept(self, text: str) -> bool:
        found = self._at(text)
        if found:
            self._next()
        return found

    def _expect(self, text: str) -> Token:
        if not self._at(text):
            raise SchemaError(self._token.place, f"expected '{text}', found {self._token}")
        return self._next()

    def _expect_sort(self, sort: str, what: str) -> Token:
        if self._token.sort != sort:
            raise SchemaError(self._token.place, f"expected {what}, found {self._token}")
        return self._next()

    def _name(self, what: str) -> Token:
        return self._expect_sort("name", what)

    def module(self) -> SchemaModule:
        start = self._expect("module")
        name = self._name("the module's name").text
        output = _string(self._expect_sort("string", "the output file's name"))
        immutable = self._accept("immutable")
        self._expect("{")
        externs: list[Extern] = []
        texts: list[TextForm] = []
        definitions: list[Definition] = []
        named: dict[str, str] = {}
        while not self._accept("}"):
            if self._at("extern"):
                externs.append(Extern(*self._python_name()))
            elif self._at("text"):
                texts.append(TextForm(*self._python_name()))
            elif self._at("tracked") or self._at("operations"):
                self._named_sum(named)
            else:
                definitions.append(self._definition())
        self._expect_sort("end", "the end of the file")
        resolved = _resolve_bare_names(definitions)
        tracked, operations = named.get("tracked"), named.get("operations")
        return SchemaModule(
            name, output, immutable, tracked, tuple(externs), resolved, start.doc, start.place, operations, tuple(texts)
        )

    def _python_name(self) -> tuple[str, str, str, SchemaPosition]:
        """What follows `extern` or `text`: a type, its class or function, the module of that; and the type's place."""
        what = "a Python class" if self._next().text == "extern" else "a Python function"
        name = self._name("a type's name")
        self._expect("=")
        python_name = self._name(what).text
        self._expect("in")
        module = self._expect_sort("path", "a relative module such as '..types'").text
        return name.text, python_name, module, name.place

    def _named_sum(self, named: dict[str, str]) -> None:
        """`tracked value` or `operations node`."""
        statement = self._next()
        if statement.text in named:
            raise SchemaError(statement.place, f"a schema has one '{statement.text}' sum only")
        named[statement.text] = self._name("a sum's name").text

    def _definition(self) -> Definition:
        name = self._name("a definition")
        self._expect("=")
        if self._at("(") or (self._at("@") and self._tokens[self._position + 1].text == "("):
            return self._product(name)
        return self._sum(name)

    def _product(self, name: Token) -> Product:
        identity = self._accept("@")
        fields = self._fields() + self._attributes()
        return Product(name.text, Kind(camel_case(name.text), fields, identity, name.doc, name.place), name.place)

    def _sum(self, name: Token) -> Sum:
        doc = self._token.doc
        self._accept("|")
        alternatives = [self._alternative(doc)]
        while self._at("|"):
            alternatives.append(self._alternative(self._next().doc))
        attributes = self._attributes()
        return Sum(name.text, tuple(_with_fields(it, attributes) for it in alternatives), name.doc, name.place)

    def _alternative(self, doc: str) -> Kind | Reference:
        doc = doc or self._token.doc
        identity = self._accept("@")
        name = self._name("a constructor or a type")
        if not name.text[:1].isupper():
            if identity or self._at("("):
                raise SchemaError(name.place, f"the constructor '{name.text}' must begin with a capital letter")
            return Reference(name.text, name.place)
        if not self._at("(") and not identity:
            return _BareName(name.text, (), identity, doc, name.place, self._annotations())
        fields = self._fields() if self._at("(") else ()
        return Kind(name.text, fields, identity, doc, name.place, self._annotations())

    def _annotations(self) -> tuple[Annotation, ...]:
        if not self._accept("["):
            return ()
        found = [self._annotation()]
        while not self._accept("]"):
            self._expect(",")
            found.append(self._annotation())
        return tuple(found)

    def _annotation(self) -> Annotation:
        if self._token.sort == "string":
            token = self._next()
            return Annotation(_string(token), True, token.place)
        token = self._name("an annotation")
        return Annotation(token.text, False, token.place)

    def _attributes(self) -> tuple[Field, ...]:
        return self._fields() if self._accept("attributes") else ()

    def _fields(self) -> tuple[Field, ...]:
        self._expect("(")
        fields: list[Field] = []
        while not self._accept(")"):
            fields.append(self._field())
            if not self._at(")"):
                self._expect(",")
        return tuple(fields)

    def _field(self) -> Field:
        role = self._role()
        type_name = self._name("a field's type").text
        count = COUNTS.get(self._token.text, Count.ONE)
        if count is not Count.ONE:
            self._next()
        hidden = self._accept("\\")
        name = self._name("the field's name")
        default: DefaultValue = None if hidden and count is Count.OPTIONAL else REQUIRED
        if self._accept("="):
            default = self._default()
        return Field(name.text, type_name, count, hidden, default, name.place, role)

    def _role(self) -> Role:
        """The role before a field's type. A word is a role only if a type and a name follow it."""
        following, after = self._ahead(1), self._ahead(2)
        if following.sort != "name" or not (after.sort == "name" or after.text in ("*", "?", "\\")):
            return Role.DATA
        word = self._name("a role")
        roles = {it.value: it for it in Role}
        if word.text not in roles:
            raise SchemaError(word.place, f"unknown role '{word.text}'")
        return roles[word.text]

    def _default(self) -> DefaultValue:
        token = self._next()
        if token.sort == "string":
            return _string(token)
        if token.sort == "number":
            return float(token.text) if re.search(r"[.eE]", token.text) else int(token.text)
        if token.text == "[" and token.sort == "mark":
            self._expect("]")
            return ()
        if token.sort == "name":
            words: dict[str, bool | None] = {"none": None, "true": True, "false": False}
            return words[token.text] if token.text in words else EnumDefault(token.text)
        raise SchemaError(token.place, f"expected a default value, found {token}")


class _BareName(Kind):
    """A constructor without parentheses, which may still be resolved to a reference."""


def _with_fields(alternative: Kind | Reference, fields: tuple[Field, ...]) -> Kind | Reference:
    if isinstance(alternative, Reference) or not fields:
        return alternative
    return replace(alternative, fields=alternative.fields + fields)


def _resolve_bare_names(definitions: list[Definition]) -> tuple[Definition, ...]:
    """Resolve each bare name: it refers to a constructor, declares one without fields, or is a value of an enum."""
    declared = {it.kind.name for it in definitions if isinstance(it, Product)}
    for definition in definitions:
        if isinstance(definition, Sum):
            kinds = (it for it in definition.alternatives if isinstance(it, Kind))
            declared.update(kind.name for kind in kinds if not isinstance(kind, _BareName))
    return tuple(_resolved_sum(it, declared) if isinstance(it, Sum) else it for it in definitions)


def _resolved_sum(definition: Sum, declared: set[str]) -> Definition:
    alternatives = tuple(_resolved_alternative(it, declared) for it in definition.alternatives)
    bare = tuple(it for it in definition.alternatives if isinstance(it, _BareName) and not it.fields)
    if len(bare) == len(alternatives) and not any(isinstance(it, Reference) for it in alternatives):
        return _enum(definition, bare)
    return replace(definition, alternatives=alternatives)


def _enum(definition: Sum, constructors: tuple[_BareName, ...]) -> EnumType:
    for annotation in (annotation for it in constructors for annotation in it.annotations):
        if annotation.is_text or annotation.text != Flag.COMMUTATIVE.value:
            raise SchemaError(annotation.place, f"a constructor of an enum cannot be '{annotation.text}'")
    names = tuple(it.name for it in constructors)
    commutative = tuple(it.name for it in constructors if it.annotations)
    return EnumType(definition.name, names, definition.doc, definition.place, commutative)


def _resolved_alternative(alternative: Kind | Reference, declared: set[str]) -> Kind | Reference:
    if not isinstance(alternative, _BareName):
        return alternative
    if alternative.name not in declared:
        it = alternative
        return Kind(it.name, it.fields, it.identity, it.doc, it.place, it.annotations)
    if alternative.annotations:
        raise SchemaError(alternative.annotations[0].place, f"'{alternative.name}' is declared elsewhere")
    return Reference(alternative.name, alternative.place)


def _string(token: Token) -> str:
    value: object = ast.literal_eval(token.text)
    assert isinstance(value, str)
    return value
