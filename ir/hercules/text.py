"""The text form of Hercules IR, printer and parser: `parse(print_module(m))` is the same as `m`, for every module.
Both are in one long file because each line of the printer corresponds to a line of the parser.

    fn dot<n>(a: array<f32, n>, b: array<f32, n>) -> f32 {
      zero = constant(f32 0.0)
      f = fork(start, n)
      i = thread_id(f)
      x = read(a, position(i))
      y = read(b, position(i))
      p = mul(x, y)
      sum = reduce(j, zero, next)
      next = add(sum, p)
      j = join(f)
      done = return(j, sum)
    }

One line a node, in the order of the node list; references may go forward. The Start node is `start`. The nodes of the
parameters are those named in the head, directly after it; where a function's node list has not exactly these, the
body begins with `explicit_parameters` and has lines `a = parameter(0)`. Comments go from `#` to the end of the line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar, assert_never

from ..schema.runtime import Count, FieldInfo
from ..tokens import TextError, Token, tokens_of
from .graph import map_predecessors
from .nodes import (
    BY_WORD,
    SCHEMA,
    Array,
    ArrayConstant,
    AtomicOp,
    Bool,
    BoolConstant,
    Call,
    Collect,
    Constant,
    ConstantNode,
    Control,
    ControlIndex,
    DynamicBinary,
    DynamicConstant,
    DynamicConstantNode,
    DynamicLiteral,
    DynamicOp,
    DynamicParameter,
    FieldIndex,
    Float,
    FloatConstant,
    Fork,
    Function,
    If,
    Index,
    Integer,
    IntegerConstant,
    Join,
    Match,
    Module,
    Node,
    Parameter,
    Phi,
    PositionIndex,
    Product,
    ProductConstant,
    Reduce,
    Region,
    Return,
    Start,
    Summation,
    SummationConstant,
    ThreadID,
    Type,
    VariantIndex,
    ZeroConstant,
)

Item = TypeVar("Item")

_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*\Z")
_PREFIXES: Final[Mapping[type, str]] = {
    Region: "region",
    If: "branch",
    Match: "match",
    Fork: "fork",
    Join: "join",
    Phi: "phi",
    ThreadID: "thread",
    Reduce: "reduce",
    Collect: "collect",
    Return: "end",
    ConstantNode: "c",
    DynamicConstantNode: "d",
}
_SYMBOLS: Final[Mapping[DynamicOp, str]] = {
    DynamicOp.ADD: "+",
    DynamicOp.SUB: "-",
    DynamicOp.MUL: "*",
    DynamicOp.DIV: "/",
    DynamicOp.REM: "%",
}


# Printing


def print_module(module: Module) -> str:
    """The text of a module, with a newline at its end."""
    return "\n".join(print_function(function) for function in module.functions)


def print_function(function: Function, notes: Mapping[Node, Iterable[str]] | None = None) -> str:
    """The text of a function; each note stands under the line of its node, after a caret."""
    names = node_names(function)
    implicit = _implicit_parameters(function)
    writer = _Writer(names, function.dynamic_constants)
    lines = [_head(function)]
    lines += [] if implicit is not None else ["  explicit_parameters"]
    for number, node in enumerate(function.nodes):
        if number > (implicit or 0):
            lines.append(f"  {names[node]} = {writer.expression(node)}")
        lines += [f"  ^ {names[node]}: {note}" for note in (notes or {}).get(node, ())]
    return "\n".join([*lines, "}", ""])


def node_names(function: Function) -> dict[Node, str]:
    """A name for each node, unique in the function: its label, made unique, or its kind and a number."""
    taken = {"start", *function.parameter_names}
    names: dict[Node, str] = {}
    counts: dict[str, int] = {}
    implicit = _implicit_parameters(function) or 0
    labels = {node.label for node in function.nodes}
    for number, node in enumerate(function.nodes):
        if number == 0:
            names[node] = "start"
        elif number <= implicit:
            names[node] = function.parameter_names[number - 1]
        else:
            names[node] = _fresh(node, taken, counts, labels)
            taken.add(names[node])
    return names


def _fresh(node: Node, taken: set[str], counts: dict[str, int], labels: set[str]) -> str:
    is_name = _IDENTIFIER.match(node.label) is not None
    if is_name and node.label not in taken:
        return node.label
    stem = f"{node.label}_" if is_name else _PREFIXES.get(type(node), "v")
    while True:
        counts[stem] = counts.get(stem, 0) + 1
        name = f"{stem}{counts[stem]}"
        if name not in taken and name not in labels:
            return name


def _implicit_parameters(function: Function) -> int | None:
    """How many parameter nodes need no lines of their own; None if the body has to list them."""
    count = len(function.parameter_types)
    if len(function.parameter_names) != count or len(set(function.parameter_names)) != count:
        return None
    found = [node.index for node in function.nodes if isinstance(node, Parameter)]
    first = [node for node in function.nodes[1 : count + 1] if isinstance(node, Parameter)]
    return count if found == list(range(count)) and len(first) == count else None


def _head(function: Function) -> str:
    dynamic = f"<{', '.join(function.dynamic_constants)}>" if function.dynamic_constants else ""
    types = [type_text(it, function.dynamic_constants) for it in function.parameter_types]
    parameters = [f"{name}: {type}" for name, type in zip(function.parameter_names, types, strict=True)]
    result = type_text(function.return_type, function.dynamic_constants)
    return f"fn {function.name}{dynamic}({', '.join(parameters)}) -> {result} {{"


def type_text(type: Type, dynamic_names: list[str]) -> str:
    """The text of a type; `dynamic_names` are those of the function's dynamic constants."""
    match type:
        case Bool():
            return "bool"
        case Integer(bits, signed):
            return f"{'i' if signed else 'u'}{bits}"
        case Float(bits):
            return f"f{bits}"
        case Product(parts):
            return f"product<{', '.join(type_text(it, dynamic_names) for it in parts)}>"
        case Summation(parts):
            return f"sum<{', '.join(type_text(it, dynamic_names) for it in parts)}>"
        case Array(element, extent):
            return f"array<{type_text(element, dynamic_names)}, {dynamic_text(extent, dynamic_names)}>"
        case Control(factors):
            return f"control<{', '.join(dynamic_text(it, dynamic_names) for it in factors)}>"
        case _:
            assert_never(type)


def dynamic_text(constant: DynamicConstant, names: list[str]) -> str:
    """The text of a dynamic constant."""
    match constant:
        case DynamicLiteral(value):
            return str(value)
        case DynamicParameter(index):
            return names[index] if 0 <= index < len(names) else f"${index}"
        case DynamicBinary(op, lhs, rhs):
            left, right = dynamic_text(lhs, names), dynamic_text(rhs, names)
            return f"({left} {_SYMBOLS[op]} {right})" if op in _SYMBOLS else f"{op.value}({left}, {right})"
        case _:
            assert_never(constant)


def constant_text(constant: Constant, names: list[str]) -> str:
    """The text of a constant: its type, then its value."""
    match constant:
        case BoolConstant(value):
            return f"bool {'true' if value else 'false'}"
        case IntegerConstant(type, value):
            return f"{type_text(type, names)} {value}"
        case FloatConstant(type, value):
            return f"{type_text(type, names)} {value!r}"
        case ZeroConstant(type):
            return f"{type_text(type, names)} zero"
        case ProductConstant(type, parts):
            return f"{type_text(type, names)} ({', '.join(constant_text(it, names) for it in parts)})"
        case ArrayConstant(type, parts):
            return f"{type_text(type, names)} [{', '.join(constant_text(it, names) for it in parts)}]"
        case SummationConstant(type, variant, value):
            return f"{type_text(type, names)} {variant}({constant_text(value, names)})"
        case _:
            assert_never(constant)


def expression_text(node: Node, names: Mapping[Node, str], function: Function) -> str:
    """The text of a node's operation, with the names of its operands."""
    return _Writer(names, function.dynamic_constants).expression(node)


class _Writer:
    """Shows operations by the rows of the schema: the word, then the fields, each by its type."""

    def __init__(self, names: Mapping[Node, str], dynamic_names: list[str]) -> None:
        self._names = names
        self._dynamic_names = dynamic_names
        self._shown: Mapping[str, Callable[[Any], str]] = {
            "node": self._name,
            "index": lambda it: _index_text(it, names),
            "type": lambda it: type_text(it, dynamic_names),
            "dynamic_constant": lambda it: dynamic_text(it, dynamic_names),
            "constant": lambda it: constant_text(it, dynamic_names),
            "atomic_op": lambda it: str(it.value),
            "int": str,
            "str": str,
        }

    def expression(self, node: Node) -> str:
        """`word(field, field, …)`."""
        if isinstance(node, Call):
            return self._call(node)
        word, arguments = node.WORD, list[str]()
        for info in node.FIELDS:
            if info.note:
                continue
            value = getattr(node, info.name)
            if info.is_word:
                word = value.value
            elif info.count is Count.MANY:
                arguments += map(self._shown[info.type], value)
            else:
                arguments.append(self._shown[info.type](value))
        return f"{word}({', '.join(arguments)})"

    def _call(self, node: Call) -> str:
        """The callee's dynamic constants stand behind its name, then the place."""
        extra = ", ".join(dynamic_text(it, self._dynamic_names) for it in node.dynamic_constants)
        callee = node.callee.name + (f"<{extra}>" if extra else "")
        at = [] if node.control is None else [f"at({self._name(node.control)})"]
        return f"{node.WORD}({', '.join([callee, *at, *map(self._name, node.arguments)])})"

    def _name(self, node: Node) -> str:
        return self._names.get(node, "?")


def _index_text(index: Index, names: Mapping[Node, str]) -> str:
    match index:
        case FieldIndex(number):
            return f"field({number})"
        case VariantIndex(number):
            return f"variant({number})"
        case ControlIndex(number):
            return f"control({number})"
        case PositionIndex(node):
            return f"position({names.get(node, '?')})"
        case _:
            assert_never(index)


# Parsing


_TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\r\n]+|\#[^\n]*)
    | (?P<number>-?(?:[0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?|inf\b|nan\b))
    | (?P<name>[^\W\d]\w*)
    | (?P<mark>->|[-(){}\[\]<>,:=+*/%$?])
    | (?P<other>.)""",
    re.VERBOSE,
)


def _tokens(text: str) -> list[Token]:
    """The tokens; `inf` and `nan` may be names."""
    return [replace(it, sort="name") if it.text in ("inf", "nan") else it for it in tokens_of(text, _TOKEN)]


def parse(text: str) -> Module:
    """The module of a text, whose nodes have their lines as spans. Raises `TextError`."""
    return _Parser(_tokens(text)).module()


class _Parser:
    """Recursive descent. A reference to a node is first a Start labelled with the name; see `_resolve`."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._position = 0
        self._references: dict[Node, Token] = {}
        self._calls: list[tuple[Call, Token]] = []
        self._dynamic_names: list[str] = []
        self._readers: Mapping[str, Callable[[], object]] = {
            "node": self._operand,
            "index": self._index,
            "type": self._type,
            "dynamic_constant": self._dynamic,
            "constant": self._constant,
            "atomic_op": self._atomic_op,
            "int": lambda: self._natural("a number"),
            "str": lambda: self._name("a name").text,
        }

    # Tokens

    @property
    def _next(self) -> Token:
        return self._tokens[self._position]

    def _fail(self, message: str, at: Token | None = None) -> TextError:
        token = at or self._next
        return TextError(token.line, token.column, message, token.span)

    def _take(self, text: str) -> Token:
        token = self._next
        if token.text != text or token.sort == "end":
            raise self._fail(f"expected {text!r}, found {token.text!r}")
        self._position += 1
        return token

    def _accept(self, text: str) -> bool:
        if self._next.text != text or self._next.sort == "end":
            return False
        self._position += 1
        return True

    def _name(self, what: str) -> Token:
        token = self._next
        if token.sort != "name":
            raise self._fail(f"expected {what}, found {token.text!r}")
        self._position += 1
        return token

    def _natural(self, what: str) -> int:
        token = self._next
        if token.sort != "number" or not token.text.isdigit():
            raise self._fail(f"expected {what}, found {token.text!r}")
        self._position += 1
        return int(token.text)

    # Functions

    def module(self) -> Module:
        functions: dict[str, Function] = {}
        while self._next.sort != "end":
            function, name = self._function()
            if function.name in functions:
                raise self._fail(f"the function {function.name!r} is defined twice", name)
            functions[function.name] = function
        for call, token in self._calls:
            if token.text not in functions:
                raise self._fail(f"no function {token.text!r}", token)
            call.callee = functions[token.text]
        return Module(list(functions.values()))

    def _function(self) -> tuple[Function, Token]:
        self._take("fn")
        name = self._name("a function name")
        self._dynamic_names = []
        if self._accept("<"):
            self._dynamic_names = self._separated(">", lambda: self._name("a dynamic constant's name").text)
        self._take("(")
        parameters = self._separated(")", self._parameter)
        self._take("->")
        function = Function(
            name.text,
            self._dynamic_names,
            [type for _, type in parameters],
            [it for it, _ in parameters],
            self._type(),
            [],
        )
        self._take("{")
        start = Start()
        function.nodes.append(start)
        table: dict[str, Node] = {"start": start}
        if not self._accept("explicit_parameters"):
            for index, parameter in enumerate(function.parameter_names):
                table[parameter] = Parameter(index, label=parameter)
                function.nodes.append(table[parameter])
        while not self._accept("}"):
            self._line(function, table)
        self._resolve(function, table)
        return function, name

    def _parameter(self) -> tuple[str, Type]:
        name = self._name("a parameter's name").text
        self._take(":")
        return name, self._type()

    def _line(self, function: Function, table: dict[str, Node]) -> None:
        name = self._name("a node's name")
        if name.text in table:
            raise self._fail(f"{name.text!r} is defined twice", name)
        self._take("=")
        node = self._node()
        node.label = name.text
        node.span = name.span.merge(self._tokens[self._position - 1].span)
        table[name.text] = node
        function.nodes.append(node)

    def _resolve(self, function: Function, table: Mapping[str, Node]) -> None:
        def find(reference: Node) -> Node:
            token = self._references[reference]
            if token.text not in table:
                raise self._fail(f"no node {token.text!r}", token)
            return table[token.text]

        for node in function.nodes:
            map_predecessors(node, find)
        self._references.clear()

    def _separated(self, end: str, item: Callable[[], Item]) -> list[Item]:
        items: list[Item] = []
        while not self._accept(end):
            if items:
                self._take(",")
            items.append(item())
        return items

    # Nodes

    def _node(self) -> Node:
        operation = self._name("an operation")
        self._take("(")
        node = self._operation(operation)
        self._take(")")
        return node

    def _operation(self, word: Token) -> Node:
        if word.text == Call.WORD:
            return self._call()
        if word.text not in BY_WORD:
            raise self._fail(f"no operation {word.text!r}", word)
        kind, values = BY_WORD[word.text], dict[str, object]()
        is_first = True
        for info in kind.FIELDS:
            if info.is_word:
                values[info.name] = SCHEMA.enums[info.type](word.text)
            elif not info.note:
                values[info.name] = self._field(info, is_first=is_first)
                is_first = False
        return kind.of(values)

    def _field(self, info: FieldInfo, *, is_first: bool) -> object:
        """What stands for a field: all but the first come after a comma."""
        read = self._readers[info.type]
        if info.type == "index":
            return self._indices()
        if info.count is Count.MANY:
            return self._nodes() if is_first else self._more()
        return read() if is_first else self._after_comma(read)

    def _atomic_op(self) -> AtomicOp:
        token = self._name("an atomic operation")
        if token.text not in _ATOMIC:
            raise self._fail(f"no atomic operation {token.text!r}", token)
        return _ATOMIC[token.text]

    def _operand(self) -> Node:
        reference = Start()
        self._references[reference] = self._name("a node")
        return reference

    def _following(self) -> Node:
        return self._after_comma(self._operand)

    def _after_comma(self, item: Callable[[], Item]) -> Item:
        self._take(",")
        return item()

    def _more(self) -> list[Node]:
        """The nodes up to the closing parenthesis, each after a comma."""
        nodes: list[Node] = []
        while self._next.text == ",":
            nodes.append(self._following())
        return nodes

    def _nodes(self) -> list[Node]:
        return [] if self._next.text == ")" else [self._operand(), *self._more()]

    def _call(self) -> Call:
        callee = self._name("a function")
        extra = self._separated(">", self._dynamic) if self._accept("<") else []
        is_placed = self._next.text == "," and [it.text for it in self._tokens[self._position + 1 :][:2]] == ["at", "("]
        control = self._after_comma(self._place_of_call) if is_placed else None
        call = Call(Function(callee.text, [], [], [], Product(()), []), extra, self._more(), control=control)
        self._calls.append((call, callee))
        return call

    def _place_of_call(self) -> Node:
        """`at(CONTROL)`."""
        self._take("at")
        self._take("(")
        control = self._operand()
        self._take(")")
        return control

    def _indices(self) -> list[Index]:
        indices: list[Index] = []
        while self._next.text == "," and self._tokens[self._position + 2].text == "(":
            indices.append(self._after_comma(self._index))
        return indices

    def _index(self) -> Index:
        word = self._name("an index")
        self._take("(")
        index: Index
        match word.text:
            case "field":
                index = FieldIndex(self._natural("a field's number"))
            case "variant":
                index = VariantIndex(self._natural("a variant's number"))
            case "control":
                index = ControlIndex(self._natural("an output's number"))
            case "position":
                index = PositionIndex(self._operand())
            case _:
                raise self._fail(f"no kind of index {word.text!r}", word)
        self._take(")")
        return index

    # Types and constants

    def _type(self) -> Type:
        token = self._name("a type")
        match token.text:
            case "bool":
                return Bool()
            case "product":
                self._take("<")
                return Product(tuple(self._separated(">", self._type)))
            case "sum":
                self._take("<")
                return Summation(tuple(self._separated(">", self._type)))
            case "control":
                self._take("<")
                return Control(tuple(self._separated(">", self._dynamic)))
            case "array":
                self._take("<")
                array = Array(self._type(), self._after_comma(self._dynamic))
                self._take(">")
                return array
            case text if re.fullmatch(r"[iuf][0-9]+", text):
                bits = int(text[1:])
                return Float(bits) if text[0] == "f" else Integer(bits, signed=text[0] == "i")
            case _:
                raise self._fail(f"no type {token.text!r}", token)

    def _dynamic(self) -> DynamicConstant:
        """Left-associative, `*`, `/` and `%` before `+` and `-`; nothing is folded."""
        left = self._dynamic_term()
        while (op := _OPERATORS.get(self._next.text)) in (DynamicOp.ADD, DynamicOp.SUB):
            self._position += 1
            left = DynamicBinary(op, left, self._dynamic_term())
        return left

    def _dynamic_term(self) -> DynamicConstant:
        left = self._dynamic_atom()
        while (op := _OPERATORS.get(self._next.text)) in (DynamicOp.MUL, DynamicOp.DIV, DynamicOp.REM):
            self._position += 1
            left = DynamicBinary(op, left, self._dynamic_atom())
        return left

    def _dynamic_atom(self) -> DynamicConstant:
        token = self._next
        if token.sort == "number":
            return DynamicLiteral(self._natural("a natural number"))
        if self._accept("$"):
            return DynamicParameter(self._natural("a dynamic constant's index"))
        if self._accept("("):
            inner = self._dynamic()
            self._take(")")
            return inner
        name = self._name("a dynamic constant").text
        if name in self._dynamic_names:
            return DynamicParameter(self._dynamic_names.index(name))
        if name not in ("min", "max"):
            raise self._fail(f"no dynamic constant {name!r}", token)
        self._take("(")
        left, right = self._dynamic(), self._after_comma(self._dynamic)
        self._take(")")
        return DynamicBinary(DynamicOp(name), left, right)

    def _constant(self) -> Constant:
        type = self._type()
        token = self._next
        if self._accept("zero"):
            return ZeroConstant(type)
        if token.text in ("true", "false"):
            self._position += 1
            return BoolConstant(token.text == "true")
        if self._accept("("):
            return ProductConstant(type, tuple(self._separated(")", self._constant)))
        if self._accept("["):
            return ArrayConstant(type, tuple(self._separated("]", self._constant)))
        if isinstance(type, Summation):
            variant = self._natural("a variant's number")
            self._take("(")
            value = self._constant()
            self._take(")")
            return SummationConstant(type, variant, value)
        return self._number(type)

    def _number(self, type: Type) -> Constant:
        token = self._next
        self._position += 1
        try:
            if isinstance(type, Float):
                return FloatConstant(type, math.nan if token.text.endswith("nan") else float(token.text))
            return IntegerConstant(type, int(token.text))
        except ValueError:
            raise self._fail(f"expected a value, found {token.text!r}", token) from None


_OPERATORS: Final = {symbol: op for op, symbol in _SYMBOLS.items()}
_ATOMIC: Final = {op.value: op for op in AtomicOp}
