"""From text to syntax tree: what each construct becomes, spans, literals, and what malformed texts are told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tinct.frontend.literals import read_int
from tinct.frontend.parse import parse
from tinct.ir.ops import BinaryOp, UnaryOp
from tinct.ir.schema.runtime import SchemaNode
from tinct.ir.source import Source, Span
from tinct.ir.wgsl import ast


def unit(text: str) -> ast.TranslationUnit:
    result = parse(Source.from_text(text))
    assert result.diagnostics == ()
    return result.unit


def statements(text: str) -> tuple[ast.Statement, ...]:
    (function,) = unit(f"fn f() {{ {text} }}").declarations
    assert isinstance(function, ast.Function)
    return function.body.statements


def expression(text: str) -> ast.Expression:
    (const,) = unit(f"const a = {text};").declarations
    assert isinstance(const, ast.Const)
    return const.initializer


def errors(text: str) -> list[tuple[str, str]]:
    """The code of each diagnostic, with the text that it points at."""
    source = Source.from_text(text)
    found = parse(source).diagnostics
    return [(diagnostic.code, source.text(diagnostic.span or Span(0, 0))) for diagnostic in found]


def nodes(root: SchemaNode) -> Iterator[SchemaNode]:
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        for info in node.FIELDS:
            value = getattr(node, info.name)
            pending += [
                item for item in (value if isinstance(value, tuple) else [value]) if isinstance(item, SchemaNode)
            ]


def test_module_scope() -> None:
    found = unit("""
        enable f16, subgroups;
        requires a;
        diagnostic(off, x.y);
        alias A = f32;
        struct S { @align(16) a: i32, b: A }
        ;
        @group(0) @binding(1) var<storage, read_write> v: array<S>;
        @id(3) override o: u32 = 2u;
        const c = 1;
        const_assert c == 1;
    """)
    enable, requires, diagnostic = found.directives
    assert isinstance(enable, ast.Enable) and enable.extensions == ("f16", "subgroups")
    assert isinstance(requires, ast.Requires) and requires.features == ("a",)
    assert isinstance(diagnostic, ast.DiagnosticDirective)
    assert (diagnostic.severity, diagnostic.rule) == ("off", "x.y")
    kinds = [ast.Alias, ast.Struct, ast.Var, ast.Override, ast.Const, ast.ConstAssert]
    assert [type(declaration) for declaration in found.declarations] == kinds
    struct, variable = found.declarations[1:3]
    assert isinstance(struct, ast.Struct) and isinstance(variable, ast.Var)
    assert [(member.name, len(member.attributes)) for member in struct.members] == [("a", 1), ("b", 0)]
    assert [attribute.name for attribute in variable.attributes] == ["group", "binding"]
    assert [argument.name for argument in variable.template_arguments if isinstance(argument, ast.Identifier)] == [
        "storage",
        "read_write",
    ]


def test_function() -> None:
    (function,) = unit(
        "@compute @workgroup_size(8, 4) fn f(@location(0) a: i32, b: u32) -> @builtin(x) f32 { }"
    ).declarations
    assert isinstance(function, ast.Function)
    assert [(attribute.name, len(attribute.arguments)) for attribute in function.attributes] == [
        ("compute", 0),
        ("workgroup_size", 2),
    ]
    assert [parameter.name for parameter in function.parameters] == ["a", "b"]
    assert [attribute.name for attribute in function.return_attributes] == ["builtin"]
    assert isinstance(function.return_type, ast.Identifier)


def test_diagnostic_attribute_has_two_names() -> None:
    (function,) = unit("@diagnostic(off, a.b) fn f() { }").declarations
    assert isinstance(function, ast.Function)
    (attribute,) = function.attributes
    names = [argument.name for argument in attribute.arguments if isinstance(argument, ast.Identifier)]
    assert names == ["off", "a.b"]


def test_each_statement() -> None:
    found = statements("""
        var a = 1; let b = 2; const c = 3; const_assert true; ;
        a = 1; a += 2; _ = 3; a++; a--; f(); { }
        if a { } while a { } for (;;) { } loop { } switch a { default { } }
        return; discard;
    """)
    assert [type(statement) for statement in found] == [
        ast.Var,
        ast.Let,
        ast.Const,
        ast.ConstAssert,
        ast.Assign,
        ast.CompoundAssign,
        ast.PhonyAssign,
        ast.Increment,
        ast.Decrement,
        ast.CallStatement,
        ast.Block,
        ast.If,
        ast.While,
        ast.For,
        ast.Loop,
        ast.Switch,
        ast.Return,
        ast.Discard,
    ]


def test_if_chain() -> None:
    (first,) = statements("if a { } else if b { } else { return; }")
    assert isinstance(first, ast.If)
    assert isinstance(first.alternative, ast.If)
    assert isinstance(first.alternative.alternative, ast.Block)
    assert len(first.alternative.alternative.statements) == 1


def test_loop_with_continuing() -> None:
    (loop,) = statements("loop @diagnostic(off, a) { break; continue; continuing { i++; break if i > 3; } }")
    assert isinstance(loop, ast.Loop)
    assert len(loop.body.attributes) == 1 and len(loop.attributes) == 0
    assert [type(statement) for statement in loop.body.statements] == [ast.Break, ast.Continue]
    assert loop.continuing is not None
    assert len(loop.continuing.body.statements) == 1
    assert isinstance(loop.continuing.break_if, ast.Binary)


def test_for_header() -> None:
    (loop,) = statements("for (var i = 0; i < 3; i += 1) { }")
    assert isinstance(loop, ast.For)
    kinds = (type(loop.initializer), type(loop.condition), type(loop.update))
    assert kinds == (ast.Var, ast.Binary, ast.CompoundAssign)


def test_switch() -> None:
    (switch,) = statements("switch a @diagnostic(off, a) { case 1, default: { } case 2 { } default { } }")
    assert isinstance(switch, ast.Switch)
    assert len(switch.body_attributes) == 1
    selectors = [[type(selector) for selector in case.selectors] for case in switch.cases]
    assert selectors == [[ast.IntLiteral, ast.DefaultSelector], [ast.IntLiteral], [ast.DefaultSelector]]


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"])
def test_compound_assignment(op: str) -> None:
    (statement,) = statements(f"a {op}= 1;")
    assert isinstance(statement, ast.CompoundAssign)
    assert statement.op is BinaryOp(op)


@pytest.mark.parametrize("op", list(BinaryOp))
def test_binary_operator(op: BinaryOp) -> None:
    found = expression(f"(a) {op.value} b")
    assert isinstance(found, ast.Binary)
    assert found.op is op
    assert isinstance(found.lhs, ast.Paren) and isinstance(found.rhs, ast.Identifier)


def test_unary_operators_nest() -> None:
    found = expression("- ! ~ & * a")
    operators: list[UnaryOp] = []
    while isinstance(found, ast.Unary):
        operators.append(found.op)
        found = found.operand
    assert operators == [
        UnaryOp.NEGATE,
        UnaryOp.NOT,
        UnaryOp.COMPLEMENT,
        UnaryOp.ADDRESS_OF,
        UnaryOp.INDIRECTION,
    ]


def test_postfix_expressions() -> None:
    found = expression("f<u32>(1)[2].xy")
    assert isinstance(found, ast.MemberAccess) and found.member == "xy"
    assert isinstance(found.object, ast.Index)
    call = found.object.object
    assert isinstance(call, ast.Call) and call.callee.name == "f"
    assert len(call.callee.template_arguments) == 1


@pytest.mark.parametrize(
    ("text", "value", "suffix"),
    [("0", 0, ""), ("42u", 42, "u"), ("7i", 7, "i"), ("0xfF", 255, ""), ("0X1fu", 31, "u"), ("9" * 30, 10**30 - 1, "")],
)
def test_integer_literal(text: str, value: int, suffix: str) -> None:
    found = expression(text)
    assert isinstance(found, ast.IntLiteral)
    assert (found.value, found.suffix, found.text) == (value, suffix, text)


def test_integers_of_any_length_are_exact() -> None:
    assert read_int("1" + "0" * 9000 + "7").value == 10**9001 + 7


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("1.5", ""),
        (".5f", "f"),
        ("1h", "h"),
        ("1e-3", ""),
        ("1.e3h", "h"),
        ("0x1.8f", ""),
        ("0x1p4f", "f"),
        ("0x.8p-1", ""),
    ],
)
def test_float_literal(text: str, suffix: str) -> None:
    found = expression(text)
    assert isinstance(found, ast.FloatLiteral)
    assert (found.text, found.suffix) == (text, suffix)


def test_spans_are_bytes_and_nest() -> None:
    text = "// é\nconst Δ = f(a, -b) + 1; // end\nfn g(p: i32) { if p > 1 { return; } }"
    source = Source.from_text(text)
    found = parse(source).unit
    (const, function) = found.declarations
    assert isinstance(const, ast.Const) and isinstance(function, ast.Function)
    assert source.text(const.name_span) == const.name == "Δ"
    assert source.text(const.initializer.span) == "f(a, -b) + 1"
    assert source.text(function.span).startswith("fn g") and source.text(function.span).endswith("}")
    for parent in nodes(function):
        for child in nodes(parent):
            outer, inner = getattr(parent, "span"), getattr(child, "span")  # noqa: B009
            assert outer.start <= inner.start < inner.end <= outer.end


def test_comments_are_kept_in_order() -> None:
    found = unit("// a\nconst b = /* c */ 1; // d")
    assert [comment.text for comment in found.comments] == ["// a", "/* c */", "// d"]


@pytest.mark.parametrize(
    "text",
    [
        "a && b || c",
        "a || b && c",
        "a | b & c",
        "a & b | c",
        "a ^ b & c",
        "a << b << c",
        "a + b << c",
        "a << b + c",
        "a < b < c",
        "a == b < c",
        "a & b == c",
        "a == b & c",
        "a + b & c",
        "a && b & c",
    ],
)
def test_operators_that_do_not_mix(text: str) -> None:
    assert {code for code, _ in errors(f"const x = {text};")} <= {"mixed-operators", "unexpected-token"}
    assert errors(f"const x = {text};")


@pytest.mark.parametrize(
    "text",
    [
        "a && b && c",
        "a + b * c - d",
        "a + b < c * d",
        "a << b < c",
        "a == b && c < d",
        "a & b & c",
        "(a && b) || c",
        "a << (b + c)",
        "-a << ~b",
        "a * b % c",
    ],
)
def test_operators_that_mix(text: str) -> None:
    assert errors(f"const x = {text};") == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("const a = 012;", [("malformed-number", "012")]),
        ("const a = 1u32;", [("malformed-number", "1u32")]),
        ("const a = #;", [("invalid-character", "#")]),
        ("/* a /* b */", [("unterminated-comment", "/*")]),
        ("const a = 1", [("missing-token", "")]),
        ("fn f() { let a = ; }", [("unexpected-token", ";")]),
        ("let a = 1;", [("unexpected-token", "let")]),
        ("var x i32;", [("unexpected-token", "i32")]),
        ("const a = 1; enable f16;", [("misplaced-directive", "enable f16;")]),
        ("; enable f16;", [("misplaced-directive", "enable f16;")]),
        ("@diagnostic(off) fn f() { }", [("malformed-diagnostic", "@diagnostic(off)")]),
        ("const a = b.c<d>;", [("unexpected-template-list", "<d>")]),
        ("\ufeffconst a = 1;", [("invalid-character", "\ufeff")]),
        ("const a = 1;\0", [("invalid-character", "\0")]),
        ("fn f() { break if a; }", [("unexpected-token", "if")]),
        ("switch", [("unexpected-token", "switch")]),
        ("fn f() { switch a { } }", [("unexpected-token", "}")]),
        ("struct S { }", [("unexpected-token", "}")]),
    ],
)
def test_malformed_text(text: str, found: list[tuple[str, str]]) -> None:
    assert errors(text) == found


def test_several_errors_are_reported_each_once() -> None:
    found = errors("fn f() { let a = ; }\nfn g() { let b = (1; }\nconst c = 08;\nfn h() { return 1 }")
    assert [code for code, _ in found] == ["unexpected-token", "missing-token", "malformed-number", "missing-token"]


def test_what_is_whole_survives_an_error() -> None:
    result = parse(Source.from_text("const a = 1;\nfn f() { let b = ; let c = 2; }\nconst d = 3;"))
    assert result.has_errors
    first, function, last = result.unit.declarations
    assert isinstance(first, ast.Const) and isinstance(last, ast.Const)
    assert isinstance(function, ast.Function)
    assert [getattr(statement, "name", None) for statement in function.body.statements] == ["c"]


def test_invalid_utf8_is_a_diagnostic() -> None:
    result = parse(Source("<bytes>", b"const a = \xff;"))
    assert [(diagnostic.code, diagnostic.span) for diagnostic in result.diagnostics] == [("invalid-utf8", (10, 11))]


@pytest.mark.parametrize(
    "text", ["(" * 9000 + "1" + ")" * 9000, "-" * 9000 + "1", "1" + "+1" * 9000, "a[" * 9000 + "1" + "]" * 9000]
)
def test_depth_does_not_exhaust_the_stack(text: str) -> None:
    assert errors(f"const a = {text};") == []


def test_long_malformed_texts_are_told_where() -> None:
    padding = "const a = 1;\n" * 6000
    assert errors(f"{padding}const b = (1;") == [("missing-token", "")]
    assert errors(f"{padding}fn f() {{ x + 1; }}") == [("unexpected-token", "x")]


@pytest.mark.parametrize("padding", ["", f"// {'x' * 70_000}\n"])
@pytest.mark.parametrize(
    "member", ["n: array<u32, 4", "n: array<u32, 4,", "a: i32, n: array<u32, 4", "n: array<array<u32, 4>, 2"]
)
def test_a_template_list_that_does_not_end(member: str, padding: str) -> None:
    """The `>` of a later `->` ends it, as far as template list discovery goes."""
    text = f"{padding}struct S {{ {member} }}\nfn f() -> u32 {{ return 1; }}"
    found = parse(Source.from_text(text)).diagnostics
    assert [(it.code, it.message) for it in found] == [("missing-token", "expected '>'")]
    assert found[0].span is not None
    assert text.encode()[: found[0].span.start].decode().endswith(member)
