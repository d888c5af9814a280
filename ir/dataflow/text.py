'''The text form of dataflow graphs (`.hpvm`), printer and parser: `parse(print_module(m)) == m`, for every module that
verifies. Both are in one long file because each line of the printer corresponds to a line of the parser.

    shader filters = file("filters.wgsl")

    leaf blur(in source: array<f32>, inout blurred: array<f32>, in size.width: u32, in size.height: u32) {
      entry(filters, blur)
      constant(RADIUS, 2)
      workgroup_size(16, 4, 1)
    }

    graph twice(in picture: array<f32>, in width: u32, in height: u32, out soft: array<f32>) {
      room = malloc(array<f32>, width * height)
      first = createNode2D(blur, width, height)
      second = createNode2D(blur, width, height)
      bind.input(first, picture, source)
      bind.input(first, room, blurred)
      bind.input(first, width, size.width)
      bind.input(first, height, size.height)
      createEdge(first, second, all_to_all, blurred, source)
      bind.input(second, room, blurred)
      bind.input(second, width, size.width)
      bind.input(second, height, size.height)
      bind.output(second, blurred, soft)
    }

    root = createNode(twice)

The intrinsics have the names and the order of arguments of the HPVM Language Reference: `createEdge(SOURCE, SINK,
REPLICATION, OUTPUT, INPUT)`, `bind.input(CHILD, VALUE, INPUT)`, `bind.output(CHILD, OUTPUT, OUTPUT OF THE GRAPH)`,
each with `streaming` as a last argument where data stream. The last arguments of a node are `capacity = NUMBER` and
`repeat = EXPRESSION`, where it has them. A shader is a `file` or a `text("""…""")`. A leaf on the
host is its head alone, as in `host median(in samples: array<f32>, out median: f32)`. Names that are no identifiers are
written in quotes, with JSON's escapes. Comments go from `#` to the end of the line.
'''

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, assert_never

from ..tokens import Item, Token, TokenReader, tokens_of
from .nodes import (
    Access,
    Binary,
    BinaryOp,
    BindInput,
    BindOutput,
    BoolLiteral,
    Constant,
    CreateEdge,
    CreateNode,
    Dimension,
    Element,
    EmbeddedShader,
    Endpoint,
    Expression,
    FloatLiteral,
    Function,
    Graph,
    Host,
    IntegerLiteral,
    Leaf,
    Length,
    Malloc,
    Member,
    Module,
    NestShader,
    Number,
    Port,
    Query,
    Question,
    Reference,
    Replication,
    Selector,
    Shader,
    ShaderFile,
    ShaderSource,
    Split,
    Statement,
    Type,
)

MOST_LEVELS: Final = 100
"""Maximum nesting of expressions and types in a text, so that no stage overflows Python's stack."""
_IDENTIFIER: Final = re.compile(r"[^\W\d]\w*\Z")
_COUNT: Final = re.compile(r"(?:0|[1-9][0-9]*)\Z")
_WORDS: Final = frozenset(("true", "false", "inf", "nan"))
SYMBOLS: Final[Mapping[BinaryOp, str]] = {
    BinaryOp.ADD: "+",
    BinaryOp.SUB: "-",
    BinaryOp.MUL: "*",
    BinaryOp.DIV: "/",
    BinaryOp.REM: "%",
}
_RANKS: Final[Mapping[BinaryOp, int]] = {op: 1 if symbol in "+-" else 2 for op, symbol in SYMBOLS.items()}
_CREATE: Final = ("createNode", "createNode1D", "createNode2D", "createNode3D")
_QUESTIONS: Final[Mapping[Question, str]] = {
    Question.NUM_DIMS: "getNumDims",
    Question.NODE_INSTANCE_ID: "getNodeInstanceID",
    Question.NUM_NODE_INSTANCES: "getNumNodeInstances",
}


# Printing


def print_module(module: Module, notes: Mapping[int, Iterable[str]] | None = None) -> str:
    """The text of a module, with a newline at its end. `notes` are messages by the `id` of a statement, a function, a
    shader or a port, each to stand under its line, after a caret.
    """
    said = notes or {}
    shaders = [line for it in module.shaders for line in _noted(_shader_text(it), it, said)]
    parts = ["\n".join(shaders)] if shaders else []
    parts += ["\n".join(_function_lines(function, said)) for function in module.functions]
    root = f"root = {_creation(module.root)}"
    named = root if module.root.name == "root" else f"root({_name(module.root.name)}) = {_creation(module.root)}"
    return "\n\n".join([*parts, "\n".join(_noted(named, module.root, said))]) + "\n"


def _noted(text: str, node: object, notes: Mapping[int, Iterable[str]], indent: str = "") -> list[str]:
    return [indent + text, *(f"{indent}^ {note}" for note in notes.get(id(node), ()))]


def _shader_text(shader: Shader) -> str:
    match shader.source:
        case ShaderFile(path):
            return f"shader {_name(shader.name)} = file({_quoted(path)})"
        case EmbeddedShader(text):
            return f"shader {_name(shader.name)} = text({_block(text)})"
        case NestShader(nest, decisions, sizes, reassociate):
            parts = [_block(nest), *([_block(decisions)] if decisions else [])]
            parts += [f"size{_constant_text(it)}" for it in sizes] + (["reassociate"] if reassociate else [])
            return f"shader {_name(shader.name)} = nest({', '.join(parts)})"
        case _:
            assert_never(shader.source)


def _constant_text(constant: Constant) -> str:
    return f"({_name(constant.name)}, {_number_text(constant.value)})"


def _block(text: str) -> str:
    """A text between triple quotes, as it is, after a line break; one that this cannot hold in JSON's quotes."""
    return _quoted(text) if '"""' in text or text.endswith('"') else f'"""\n{text}"""'


def _function_lines(function: Function, notes: Mapping[int, Iterable[str]]) -> Iterable[str]:
    head = f"{_name(function.name)}({', '.join(_port_text(it) for it in function.ports)})"
    said = [f"^ {note}" for it in (function, *function.ports) for note in notes.get(id(it), ())]
    match function:
        case Host():
            return [f"host {head}", *said]
        case Leaf():
            lines = [f"leaf {head} {{", *said]
            lines.append(f"  entry({_name(function.shader)}, {_name(function.entry)})")
            lines += [f"  constant{_constant_text(it)}" for it in function.constants]
            if function.workgroup_size:
                lines.append(f"  workgroup_size({', '.join(map(str, function.workgroup_size))})")
        case Graph():
            lines = [f"graph {head} {{", *said]
            for statement in function.body:
                lines += _noted(statement_text(statement), statement, notes, "  ")
        case _:
            assert_never(function)
    return [*lines, "}"]


def _port_text(port: Port) -> str:
    return f"{port.access.value} {_path(port.name)}: {type_text(port.type)}"


def statement_text(statement: Statement) -> str:
    """The line of a statement."""
    match statement:
        case CreateNode(name):
            return f"{_name(name)} = {_creation(statement)}"
        case Split(name, type, count):
            return f"{_name(name)} = split({type_text(type)}, {count})"
        case Malloc(name, type, extents):
            return f"{_name(name)} = malloc({', '.join([type_text(type), *map(expression_text, extents)])})"
        case CreateEdge(source, destination, replication):
            ports = f"{_path(source.port)}, {_path(destination.port)}"
            ends = f"{_name(source.node)}, {_name(destination.node)}"
            return f"createEdge({ends}, {replication.value}, {ports}{_streaming(statement.streaming)})"
        case BindInput(source, destination):
            ends = f"{_name(destination.node)}, {expression_text(source)}, {_path(destination.port)}"
            return f"bind.input({ends}{_streaming(statement.streaming)})"
        case BindOutput(source, output):
            ends = f"{_name(source.node)}, {_path(source.port)}, {_path(output)}"
            return f"bind.output({ends}{_streaming(statement.streaming)})"
        case _:
            assert_never(statement)


def _creation(node: CreateNode) -> str:
    """`createNode2D(…)`; a node of more dimensions than there are, which the verifier reports, has a word, too."""
    count = len(node.extents)
    word = _CREATE[count] if count < len(_CREATE) else f"createNode{count}D"
    parts = [_name(node.function), *map(expression_text, node.extents)]
    if node.capacity is not None:
        parts.append(f"capacity = {node.capacity}")
    if node.repeat is not None:
        parts.append(f"repeat = {expression_text(node.repeat)}")
    return f"{word}({', '.join(parts)})"


def _streaming(streaming: bool) -> str:
    return ", streaming" if streaming else ""


def type_text(type: Type) -> str:
    """The text of a type."""
    arguments = f"<{', '.join(map(type_text, type.arguments))}>" if type.arguments else ""
    is_count = _COUNT.match(type.name) is not None and not type.arguments
    return (type.name if is_count else _name(type.name)) + arguments


def expression_text(expression: Expression) -> str:
    """The text of an expression, with parentheses where it would be read in another way without them."""
    match expression:
        case IntegerLiteral() | FloatLiteral():
            return _number_text(expression)
        case Reference(name, selectors):
            return _bare_word(name) + "".join(map(_selector_text, selectors))
        case Length(value):
            return f"len({expression_text(value)})"
        case Query(question, level, dimension):
            node = "getParentNode(" * level + "getNode()" + ")" * level
            return f"{_QUESTIONS[question]}{'' if dimension is None else f'.{dimension.value}'}({node})"
        case Binary(op, lhs, rhs) if op in SYMBOLS:
            left, right = _operand(lhs, _RANKS[op]), _operand(rhs, _RANKS[op] + 1)
            return f"{left} {SYMBOLS[op]} {right}"
        case Binary(op, lhs, rhs):
            return f"{op.value}({expression_text(lhs)}, {expression_text(rhs)})"
        case _:
            assert_never(expression)


def _operand(expression: Expression, least: int) -> str:
    """An operand, in parentheses if its operator ranks below `least`."""
    is_loose = isinstance(expression, Binary) and _RANKS.get(expression.op, least) < least
    return f"({expression_text(expression)})" if is_loose else expression_text(expression)


def _selector_text(selector: Selector) -> str:
    match selector:
        case Member(name):
            return f".{_name(name)}"
        case Element(index):
            return f"[{index}]"
        case _:
            assert_never(selector)


def _number_text(number: Number) -> str:
    match number:
        case IntegerLiteral(value):
            return str(value)
        case FloatLiteral(value):
            return repr(value)
        case BoolLiteral(value):
            return "true" if value else "false"
        case _:
            assert_never(number)


def _name(name: str) -> str:
    return name if _IDENTIFIER.match(name) else _quoted(name)


def _bare_word(name: str) -> str:
    """A name where `true` and `inf` are numbers."""
    return _quoted(name) if name in _WORDS else _name(name)


def _path(name: str) -> str:
    """The name of a port, which may have a dot in it."""
    return name if all(_IDENTIFIER.match(part) for part in name.split(".")) else _quoted(name)


def _quoted(text: str) -> str:
    return json.dumps(text)


# Parsing


_TOKEN: Final = re.compile(
    r'''(?P<space>[ \t\r\n]+|\#[^\n]*)
    | (?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)
    | (?P<name>[^\W\d]\w*)
    | (?P<block>"""\n(?:(?!""")[\s\S])*""")
    | (?P<string>"(?!"")(?:[^"\\\x00-\x1f]|\\.)*")
    | (?P<mark>[(){}\[\]<>,:.=+*/%-])
    | (?P<other>.)''',
    re.VERBOSE,
)


def parse(text: str) -> Module:
    """The module of a text. Raises TextError at the first mistake."""
    return _Parser(tokens_of(text, _TOKEN)).module()


def parse_expression(text: str) -> Expression:
    """The expression that is a whole text. Raises TextError."""
    return _Parser(tokens_of(text, _TOKEN)).whole_expression()


def parse_type(text: str) -> Type:
    """The type that is a whole text. Raises TextError."""
    return _Parser(tokens_of(text, _TOKEN)).whole_type()


class _Parser(TokenReader):
    def __init__(self, tokens: list[Token]) -> None:
        super().__init__(tokens)
        self._level = 0

    # Tokens

    def _word(self, known: Iterable[str], what: str) -> str:
        words = list(known)
        if self._next.sort != "name" or self._next.text not in words:
            raise self._expected(f"{what} ({', '.join(words)})")
        return self._sort("name", what).text

    def _name(self, what: str) -> str:
        if self._next.sort == "string":
            return self._string(what)
        return self._sort("name", what).text

    def _string(self, what: str) -> str:
        token = self._sort("string", what)
        try:
            value: object = json.loads(token.text)
        except ValueError:
            raise self._fail("a string has JSON's escapes", token) from None
        assert isinstance(value, str)
        return value

    def _port_name(self, what: str) -> str:
        if self._next.sort == "string":
            return self._string(what)
        parts = [self._sort("name", what).text]
        while self._accept("."):
            parts.append(self._sort("name", "a member").text)
        return ".".join(parts)

    def _integer(self, what: str) -> int:
        is_negative = self._accept("-")
        token = self._sort("number", what)
        if not token.text.isdigit():
            raise self._fail(f"expected {what}, found {token.text!r}", token)
        return -self._digits(token) if is_negative else self._digits(token)

    def _digits(self, token: Token) -> int:
        try:
            return int(token.text)
        except ValueError:  # Python's limit of digits
            raise self._fail("the number has too many digits", token) from None

    def _following(self, end: str, item: Callable[[], Item]) -> list[Item]:
        """The items up to `end`, each after a comma."""
        items: list[Item] = []
        while not self._accept(end):
            self._take(",")
            items.append(item())
        return items

    def _after_comma(self, item: Callable[[], Item]) -> Item:
        self._take(",")
        return item()

    def _nested(self, item: Callable[[], Item]) -> Item:
        """An item one level deeper."""
        self._level += 1
        if self._level > MOST_LEVELS:
            raise self._fail(f"nested more than {MOST_LEVELS} levels deep")
        parsed = item()
        self._level -= 1
        return parsed

    # Modules

    def module(self) -> Module:
        shaders: list[Shader] = []
        functions: list[Function] = []
        while not self._is_at("root"):
            match self._word(("shader", "leaf", "host", "graph", "root"), "a declaration"):
                case "shader":
                    shaders.append(self._shader())
                case "leaf":
                    functions.append(self._leaf())
                case "host":
                    first, name, ports = self._head("leaf on the host")
                    functions.append(Host(name, ports, span=self._since(first)))
                case _:
                    functions.append(self._graph())
        root = self._root()
        if self._next.sort != "end":
            raise self._expected("the end, since the root comes last")
        return Module(tuple(shaders), tuple(functions), root)

    def _root(self) -> CreateNode:
        first = self._take("root")
        name = "root"
        if self._accept("("):
            name = self._name("the root's name")
            self._take(")")
        self._take("=")
        return self._create_node(first, name, self._word(_CREATE, "the root node"))

    def _shader(self) -> Shader:
        first = self._next
        name = self._name("a shader's name")
        self._take("=")
        word = self._word(("file", "nest", "text"), "where the shader is")
        self._take("(")
        source: ShaderSource
        match word:
            case "file":
                source = ShaderFile(self._string("the path of a file in quotes"))
            case "nest":
                source = self._nest()
            case _:
                source = EmbeddedShader(self._block())
        self._take(")")
        return Shader(name, source, span=self._since(first))

    def _block(self) -> str:
        if self._next.sort == "block":
            return self._sort("block", "a text").text[4:-3]
        return self._string('a text in quotes, or in """ after a line break')

    def _nest(self) -> NestShader:
        """The nest of a shader, its decisions if there are some, and what they are made for."""
        nest, decisions, sizes, reassociate = self._block(), "", list[Constant](), False
        while self._accept(","):
            if self._next.sort in ("block", "string"):
                decisions = self._block()
            elif self._word(("reassociate", "size"), "decisions as a text") == "size":
                sizes.append(self._constant())
            else:
                reassociate = True
        return NestShader(nest, decisions, tuple(sizes), reassociate)

    def _head(self, what: str) -> tuple[Token, str, tuple[Port, ...]]:
        first = self._next
        name = self._name(f"the name of a {what}")
        self._take("(")
        return first, name, tuple(self._separated(")", self._port))

    def _port(self) -> Port:
        first = self._next
        access = Access(self._word([it.value for it in Access], "in, out or both"))
        name = self._port_name("a port's name")
        self._take(":")
        return Port(access, name, self._type(), span=self._since(first))

    def _leaf(self) -> Leaf:
        first, name, ports = self._head("leaf")
        span = self._since(first)
        self._take("{")
        self._take("entry")
        self._take("(")
        shader = self._name("a shader")
        entry = self._after_comma(lambda: self._name("an entry point"))
        self._take(")")
        constants: list[Constant] = []
        while self._accept("constant"):
            constants.append(self._constant())
        size: list[int] = []
        if self._accept("workgroup_size"):
            self._take("(")
            size = self._separated(")", lambda: self._integer("a whole number"))
            if not size:
                raise self._fail("expected one to three numbers")
        self._take("}")
        return Leaf(name, ports, shader, entry, tuple(constants), tuple(size), span=span)

    def _constant(self) -> Constant:
        self._take("(")
        name = self._name("an override's name, or its id in quotes")
        value = self._after_comma(self._number)
        self._take(")")
        return Constant(name, value)

    def _graph(self) -> Graph:
        first, name, ports = self._head("graph")
        span = self._since(first)
        self._take("{")
        body: list[Statement] = []
        while not self._accept("}"):
            body.append(self._statement())
        return Graph(name, ports, tuple(body), span=span)

    # Statements

    def _statement(self) -> Statement:
        first = self._next
        following = self._after_next.text
        if following == "=" or first.sort == "string":
            return self._declaration(first)
        if self._is_at("createEdge"):
            return self._edge(first)
        if self._is_at("bind"):
            return self._bind(first)
        raise self._expected("NAME = …, createEdge, bind.input or bind.output")

    def _declaration(self, first: Token) -> Statement:
        name = self._name("a name")
        self._take("=")
        word = self._word(("malloc", "split", *_CREATE), "what the name stands for")
        if word not in ("malloc", "split"):
            return self._create_node(first, name, word)
        self._take("(")
        type = self._type()
        if word == "split":
            count = self._after_comma(lambda: self._integer("the number of copies"))
            self._take(")")
            return Split(name, type, count, span=self._since(first))
        extents = tuple(self._following(")", self._expression))
        return Malloc(name, type, extents, span=self._since(first))

    def _create_node(self, first: Token, name: str, word: str) -> CreateNode:
        self._take("(")
        function = self._name("a node function")
        place = self._next
        extents: list[Expression] = []
        capacity: int | None = None
        repeat: Expression | None = None
        while not self._accept(")"):
            self._take(",")
            if capacity is None and repeat is None and self._accept_named("capacity"):
                capacity = self._integer("the capacity")
            elif repeat is None and self._accept_named("repeat"):
                repeat = self._expression()
            elif capacity is None and repeat is None:
                extents.append(self._expression())
            else:
                raise self._expected("the end of the node, since capacity and then repeat come last")
        if len(extents) != _CREATE.index(word):
            raise self._fail(f"{word} takes {_CREATE.index(word)} extents, not {len(extents)}", place)
        return CreateNode(name, function, tuple(extents), capacity=capacity, repeat=repeat, span=self._since(first))

    def _accept_named(self, word: str) -> bool:
        """Whether an argument `word = …` comes; then its value is next."""
        is_named = self._is_at(word) and self._after_next.text == "="
        if is_named:
            self._position += 2
        return is_named

    def _edge(self, first: Token) -> CreateEdge:
        self._take("createEdge")
        self._take("(")
        source = self._name("the source's name")
        sink = self._after_comma(lambda: self._name("the sink's name"))
        words = [it.value for it in Replication]
        replication = Replication(self._after_comma(lambda: self._word(words, "the replication")))
        output = self._after_comma(lambda: self._port_name("an output of the source"))
        given = self._after_comma(lambda: self._port_name("an input of the sink"))
        ends = Endpoint(source, output), Endpoint(sink, given)
        streaming = self._streaming()
        return CreateEdge(*ends, replication, streaming=streaming, span=self._since(first))

    def _bind(self, first: Token) -> BindInput | BindOutput:
        self._take("bind")
        self._take(".")
        word = self._word(("input", "output"), "input or output")
        self._take("(")
        node = self._name("a child's name")
        if word == "input":
            value = self._after_comma(self._expression)
            target = Endpoint(node, self._after_comma(lambda: self._port_name("an input of the child")))
            streaming = self._streaming()
            return BindInput(value, target, streaming=streaming, span=self._since(first))
        origin = Endpoint(node, self._after_comma(lambda: self._port_name("an output of the child")))
        output = self._after_comma(lambda: self._port_name("an output of the graph"))
        streaming = self._streaming()
        return BindOutput(origin, output, streaming=streaming, span=self._since(first))

    def _streaming(self) -> bool:
        """The last argument, and the closing parenthesis."""
        found = self._accept(",")
        if found:
            self._take("streaming")
        self._take(")")
        return found

    # Types and expressions

    def whole_type(self) -> Type:
        type = self._type()
        self._sort("end", "the end")
        return type

    def whole_expression(self) -> Expression:
        expression = self._expression()
        self._sort("end", "the end")
        return expression

    def _type(self) -> Type:
        if self._next.sort == "number" and _COUNT.match(self._next.text):
            return Type(self._sort("number", "a count").text, ())
        name = self._name("a type")
        if not self._accept("<"):
            return Type(name, ())
        arguments = self._nested(lambda: self._separated(">", self._type))
        if not arguments:
            raise self._fail("expected a type between < and >")
        return Type(name, tuple(arguments))

    def _expression(self) -> Expression:
        """Left-associative, `*`, `/` and `%` before `+` and `-`; nothing is folded."""
        return self._nested(lambda: self._chain(("+", "-"), self._term))

    def _term(self) -> Expression:
        return self._chain(("*", "/", "%"), self._atom)

    def _chain(self, symbols: tuple[str, ...], operand: Callable[[], Expression]) -> Expression:
        """Operands and operators from left to right. Each operator is one level, since it nests all before it."""
        left, level = operand(), self._level
        while self._next.sort == "mark" and self._next.text in symbols:
            op = _OPERATORS[self._take(self._next.text).text]
            right = self._nested(operand)
            left = Binary(op, left, right)
            self._level += 1
        self._level = level
        return left

    def _atom(self) -> Expression:
        if self._accept("("):
            inner = self._expression()
            self._take(")")
            return inner
        if self._is_number():
            number = self._number()
            if isinstance(number, BoolLiteral):
                raise self._fail("a bool is no number", self._last)
            return number
        following = self._after_next.text
        if self._next.sort == "name" and (following == "(" or self._next.text in _ASKING):
            return self._function(self._sort("name", "a function"))
        return self._reference()

    def _is_number(self) -> bool:
        return (
            self._next.sort == "number" or self._is_at("-") or (self._next.sort == "name" and self._next.text in _WORDS)
        )

    def _number(self) -> Number:
        if self._accept("true"):
            return BoolLiteral(True)
        if self._accept("false"):
            return BoolLiteral(False)
        sign = -1 if self._accept("-") else 1
        if self._accept("inf"):
            return FloatLiteral(sign * math.inf)
        if self._accept("nan"):
            return FloatLiteral(math.nan)
        token = self._sort("number", "a number")
        if token.text.isdigit():
            return IntegerLiteral(sign * self._digits(token))
        return FloatLiteral(sign * float(token.text))

    def _function(self, word: Token) -> Expression:
        if word.text in _ASKING:
            return self._query(_ASKING[word.text])
        if word.text not in _FUNCTIONS and word.text != "len":
            raise self._fail(
                f"no function {word.text!r}; there are len, {', '.join(_FUNCTIONS)}, {', '.join(_ASKING)}", word
            )
        self._take("(")
        if word.text == "len":
            value = self._reference()
            self._take(")")
            return Length(value)
        lhs = self._expression()
        rhs = self._after_comma(self._expression)
        self._take(")")
        return Binary(_FUNCTIONS[word.text], lhs, rhs)

    def _query(self, question: Question) -> Query:
        dimension = None
        if self._accept("."):
            dimension = Dimension(self._word([it.value for it in Dimension], "a dimension"))
        self._take("(")
        level = 0
        while self._accept("getParentNode"):
            self._take("(")
            level += 1
        self._take("getNode")
        self._take("(")
        for _ in range(level + 2):
            self._take(")")
        return Query(question, level, dimension)

    def _reference(self) -> Reference:
        name = self._name("a name")
        selectors: list[Selector] = []
        while True:
            if self._accept("."):
                selectors.append(Member(self._name("a member")))
            elif self._accept("["):
                selectors.append(Element(self._integer("an index")))
                self._take("]")
            else:
                return Reference(name, tuple(selectors))


_OPERATORS: Final = {symbol: op for op, symbol in SYMBOLS.items()}
_FUNCTIONS: Final = {op.value: op for op in BinaryOp if op not in SYMBOLS}
_ASKING: Final = {word: question for question, word in _QUESTIONS.items()}
