"""The printer: what it prints parses to the same tree, with the parentheses that the grammar needs and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tinct.backend.wgsl import print_expression, print_unit
from tinct.frontend.parse import parse
from tinct.ir.ops import BinaryOp, UnaryOp
from tinct.ir.schema.traverse import rewrite, same
from tinct.ir.source import Source, Span
from tinct.ir.wgsl import ast

ROOT = Path(__file__).parents[2]
GOLDENS = [path for path in (ROOT / "tests" / "goldens").glob("*/*.wgsl") if path.parent.name != "diagnostics"]
FILES = sorted([*(ROOT / "shaders").glob("*/*.wgsl"), *GOLDENS])
NOWHERE = Span(0, 0)


def unit_of(text: str) -> ast.TranslationUnit:
    result = parse(Source.from_text(text))
    assert not result.has_errors, text
    return result.unit


def without_comments(unit: ast.TranslationUnit) -> ast.TranslationUnit:
    return ast.TranslationUnit(unit.directives, unit.declarations, NOWHERE)


def without_parentheses(unit: ast.TranslationUnit) -> ast.TranslationUnit:
    changed = rewrite(without_comments(unit), lambda node: node.operand if isinstance(node, ast.Paren) else node)
    assert isinstance(changed, ast.TranslationUnit)
    return changed


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_parses_to_the_same_tree(path: Path) -> None:
    unit = unit_of(path.read_text(encoding="utf-8"))
    text = print_unit(unit)
    assert same(without_comments(unit_of(text)), without_comments(unit))
    assert print_unit(unit_of(text)) == text


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_adds_the_parentheses_it_needs(path: Path) -> None:
    unit = without_parentheses(unit_of(path.read_text(encoding="utf-8")))
    again = without_parentheses(unit_of(print_unit(unit)))
    assert same(again, unit)


EXPRESSIONS = [
    "a + b * c",
    "(a + b) * c",
    "a - (b - c)",
    "a - b - c",
    "a * (b / c)",
    "(a & b) == c",
    "a & b & c",
    "(a & b) | c",
    "(a + b) & c",
    "a << b",
    "(a << b) << c",
    "a << (b + c)",
    "(a << b) + c",
    "(a < b) == c",
    "a + b < c << d",
    "a && b && c",
    "a && (b && c)",
    "(a && b) || c",
    "a < b && c > d",
    "!(a && b)",
    "- -a",
    "-~a",
    "a - -b",
    "&(*p)[i]",
    "*p",
    "(*p).x",
    "(*p)[i]",
    "(-a).x",
    "(a + b).x[i]",
    "f((a < b), c > d)",
    "f(a < b, c < d)",
    "f(a > b, c < d)",
    "array<i32, (a >> b)>(c)",
    "array<i32, a + b>()",
    "vec2<f32>(1.0, 2.0)",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expression(text: str) -> None:
    """The parser's tree without its Paren nodes prints as the text."""
    unit = without_parentheses(unit_of(f"const x = {text};"))
    (declaration,) = unit.declarations
    assert isinstance(declaration, ast.Const)
    assert print_expression(declaration.initializer) == text


def test_address_of_address() -> None:
    """`&&` is one token."""
    name = ast.Identifier("x", (), NOWHERE)
    inner = ast.Unary(UnaryOp.ADDRESS_OF, name, NOWHERE)
    assert print_expression(ast.Unary(UnaryOp.ADDRESS_OF, inner, NOWHERE)) == "&(&x)"


def test_long_chains_need_no_stack() -> None:
    name: ast.Expression = ast.Identifier("x", (), NOWHERE)
    chain = name
    for _ in range(20_000):
        chain = ast.Binary(BinaryOp.ADD, chain, name, NOWHERE)
    assert print_expression(chain).count("+") == 20_000


def test_layout() -> None:
    text = (
        "enable f16;\n\nalias T = f32;\nalias U = T;\n\nconst a = 1;\n\n"
        "fn long_name(\n    first_parameter: array<vec4<f32>, 16>,\n    second_parameter: array<vec4<f32>, 16>,\n"
        "    third: i32,\n) -> i32 {\n    return 1;\n}\n\nfn f() {}\n"
    )
    assert print_unit(unit_of(text)) == text
