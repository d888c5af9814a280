"""The text form, JSON and ATerms: what is written is read again, and mistakes have a place."""

from __future__ import annotations

from types import ModuleType

import pytest
from hypothesis import given, settings

import tinct.ir.dataflow as package
from tinct.ir.dataflow import text as text_module
from tinct.ir.dataflow.codec import CODEC
from tinct.ir.dataflow.nodes import EmbeddedShader, Leaf, Module
from tinct.ir.dataflow.text import (
    expression_text,
    parse,
    parse_expression,
    parse_type,
    print_module,
    type_text,
)
from tinct.ir.dataflow.verify import check, verify
from tinct.ir.schema.traverse import mistakes, walk
from tinct.ir.tokens import TextError

from .random_modules import MODULES


@given(MODULES)
@settings(deadline=None)
def test_parsing_what_was_printed_gives_the_same_module(module: Module) -> None:
    assert mistakes(module, CODEC.schema) == []
    printed = print_module(module)
    assert parse(printed) == module
    assert print_module(parse(printed)) == str(module) == printed


@given(MODULES)
@settings(deadline=None)
def test_json_and_aterms_give_the_same_module(module: Module) -> None:
    assert CODEC.from_json(CODEC.to_json(module), Module) == module
    assert CODEC.from_aterm(CODEC.to_aterm(module), Module) == module


@given(MODULES)
@settings(deadline=None)
def test_the_verifier_takes_any_module(module: Module) -> None:
    for it in verify(module):
        assert it.message
    assert sum(1 for _ in walk(module)) >= 2


@pytest.mark.parametrize(("documented", "end"), [(text_module, "The intrinsics"), (package, "Ports:")])
def test_the_examples_in_docstrings(documented: ModuleType, end: str) -> None:
    assert documented.__doc__ is not None
    example = documented.__doc__[documented.__doc__.index("    shader ") :].split(f"\n\n{end}")[0]
    module = parse(example)
    check(module)
    again = print_module(module)
    assert [line.strip() for line in again.splitlines()] == [line.strip() for line in example.splitlines()]


def test_spans_are_bytes_of_the_text() -> None:
    text = 'shader s = file("é.wgsl") # é\nleaf f(in é: u32) { entry(s, f) }\ngraph g() {}\nroot = createNode(g)\n'
    module = parse(text)
    leaf = module.functions[0]
    assert isinstance(leaf, Leaf)
    span = leaf.ports[0].span
    assert span is not None
    assert text.encode()[span.start : span.end].decode() == "in é: u32"


@pytest.mark.parametrize(
    "source", ["fn f() {}\n", 'quotes " inside', 'ends with "', 'three """ quotes', "", "\r\n é\\n"]
)
def test_embedded_shaders(source: str) -> None:
    module = parse("graph g() {}\nroot = createNode(g)")
    from tinct.ir.dataflow.nodes import Shader

    module = Module((Shader("s", EmbeddedShader(source)),), module.functions, module.root)
    assert parse(print_module(module)) == module


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        ("a+b*c", "a + b * c"),
        ("(a+b)*c", "(a + b) * c"),
        ("a-(b-c)-d", "a - (b - c) - d"),
        ("a / b * c", "a / b * c"),
        ("a / (b * c)", "a / (b * c)"),
        ("a - -3", "a - -3"),
        ("min(a, ceil_div(len(b), 64)) % 2", "min(a, ceil_div(len(b), 64)) % 2"),
        ("node.counts[3].total", "node.counts[3].total"),
        ("getNodeInstanceID.x(getParentNode(getParentNode(getNode())))",) * 2,
        ("getNumDims( getNode() )", "getNumDims(getNode())"),
        ("1.5e3", "1500.0"),
        ('"true" + "a b"', '"true" + "a b"'),
    ],
)
def test_expressions(given: str, printed: str) -> None:
    assert expression_text(parse_expression(given)) == printed
    assert parse_expression(printed) == parse_expression(given)


def test_types() -> None:
    for text in ("array<vec2<f32>, 64>", "texture_storage_2d<rgba8unorm, write>", "atomic<u32>", "Point"):
        assert type_text(parse_type(text)) == text
    assert type_text(parse_type("array< vec3<f32> ,4>")) == "array<vec3<f32>, 4>"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "1:1", "expected a declaration (shader, leaf, host, graph, root), found the end"),
        ("shader s = path", "1:12", "expected where the shader is (file, nest, text), found 'path'"),
        ("shader s = file(s)", "1:17", "expected the path of a file in quotes, found 's'"),
        ("leaf f(a: u32)", "1:8", "expected in, out or both (in, out, inout), found 'a'"),
        ("leaf f(in a: array<>) {", "1:21", "expected a type between < and >"),
        ("leaf f() { entry(s) }", "1:19", "expected ',', found ')'"),
        ("graph g() { a = createNode1D(f) }", "1:31", "createNode1D takes 1 extents, not 0"),
        ("graph g() { a = createNode(f, 3) }", "1:29", "createNode takes 0 extents, not 1"),
        ("graph g() { a = createNode(f, repeat = 2, 3) }", "1:43", "expected the end of the node, since capacity"),
        ("graph g() { a = node(f) }", "1:17", "expected what the name stands for (malloc, split, "),
        ("graph g() { createEdge(a, b, one, c, d) }", "1:30", "expected the replication (one_to_one, all_to_all)"),
        ("graph g() { createEdge(a, b, one_to_one, c, d, stream) }", "1:48", "expected 'streaming', found 'stream'"),
        ("graph g() { bind.inputs(a, b, c) }", "1:18", "expected input or output (input, output), found 'inputs'"),
        ("graph g() { bind.input(a, true, c) }", "1:27", "a bool is no number"),
        ("graph g() { bind.input(a, half(2), c) }", "1:27", "no function 'half'; there are len, min, max, ceil_div"),
        ("graph g() { let a }", "1:13", "expected NAME = …, createEdge, bind.input or bind.output, found 'let'"),
        ("graph g() {}\nroot = createNode(g)\ngraph h() {}", "3:1", "expected the end, since the root comes last"),
        ("graph g() {}\nroot = malloc(u32)", "2:8", "expected the root node"),
        ("graph g() { a = malloc(u32, 1 ; 2) }", "1:31", "unexpected character ';'"),
        ('shader s = file("\\x")', "1:17", "a string has JSON's escapes"),
        ('shader s = text("""\nabc', "1:17", "unexpected character '\"'"),
        ("graph g() { a = malloc(u32, " + "9" * 5000, "1:29", "the number has too many digits"),
        ("graph g() { a = malloc(u32, " + "(" * 200, "1:129", "nested more than 100 levels deep"),
        ("graph g() { a = malloc(u32, 1" + " + 1" * 200, "1:429", "nested more than 100 levels deep"),
        ("graph g() { a = malloc(" + "array<" * 200, "1:630", "nested more than 100 levels deep"),
    ],
)
def test_mistakes(text: str, place: str, message: str) -> None:
    with pytest.raises(TextError) as caught:
        parse(text)
    assert str(caught.value).startswith(f"{place}: {message}")
