"""The text form: what is printed parses to the same, and mistakes are placed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tinct.ir.hercules.nodes import (
    Array,
    ConstantNode,
    DynamicBinary,
    DynamicLiteral,
    DynamicOp,
    DynamicParameter,
    Module,
    Parameter,
)
from tinct.ir.hercules.text import parse, print_module
from tinct.ir.hercules.types import F32, I32, array
from tinct.ir.schema.traverse import same
from tinct.ir.tokens import TextError

from .builder import FunctionBuilder, position
from .generate import generate
from .support import SAMPLES, inputs

NAMES = inputs(SAMPLES)


@pytest.mark.parametrize("name", NAMES)
def test_sample_round_trips(name: str, golden: Callable[[Path, str], None]) -> None:
    module = parse((SAMPLES / f"{name}.hir").read_text(encoding="utf-8"))
    text = print_module(module)
    assert same(parse(text), module)
    assert print_module(parse(text)) == text
    golden(SAMPLES / f"{name}.out.hir", text)


@pytest.mark.parametrize("seed", range(20))
def test_random_module_round_trips(seed: int) -> None:
    module = generate(seed)
    text = print_module(module)
    assert same(parse(text), module)
    assert print_module(parse(text)) == text


def test_every_form_of_type_and_constant() -> None:
    text = """fn f<n>(a: product<>, b: sum<bool, i8>, c: array<array<u16, 3>, max(n, (2 * n))>) -> f16 {
  k1 = constant(f32 nan)
  k2 = constant(f64 -inf)
  k3 = constant(f32 -0.0)
  k4 = constant(bool false)
  k5 = constant(sum<bool, i8> 1(i8 -128))
  k6 = constant(product<i32, array<u8, 2>> (i32 5, array<u8, 2> [u8 1, u8 2]))
  k7 = constant(array<array<u16, 3>, min(n, 4)> zero)
  k8 = constant(control<n, 4> zero)
  d1 = dynamic(((n + 1) - ((n / 2) % 3)))
  k9 = constant(f16 1.5)
  done = return(start, k9)
}
"""
    assert print_module(parse(text)) == text


def test_precedence_of_dynamic_constants() -> None:
    head = "fn f<n, m>(a: array<i32, n + m * 2 - 1>) -> i32 {\n}"
    (type,) = parse(head).functions[0].parameter_types
    assert isinstance(type, Array)
    product = DynamicBinary(DynamicOp.MUL, DynamicParameter(1), DynamicLiteral(2))
    total = DynamicBinary(DynamicOp.ADD, DynamicParameter(0), product)
    assert type.extent == DynamicBinary(DynamicOp.SUB, total, DynamicLiteral(1))


def test_labels_become_unique_names() -> None:
    b = FunctionBuilder("f", I32)
    a = b.parameter("x", array(I32, 4))
    x = b.read(a, [position(b.dynamic(0))], label="x")
    y = b.read(a, [position(b.dynamic(1))], label="x")
    b.return_(b.start, b.select(b.boolean(True), x, y, label="not a name"))
    text = print_module(Module([b.function]))
    assert "x_1 = read(x, position(d1))" in text
    assert "x_2 = read(x, position(d2))" in text
    assert same(parse(text), Module([b.function]))


def test_parameters_that_are_not_at_the_front_are_explicit() -> None:
    b = FunctionBuilder("f", F32)
    b.parameter("x", F32)
    node = b.add(Parameter(0))
    b.return_(b.start, node)
    text = print_module(Module([b.function]))
    assert "explicit_parameters" in text
    assert same(parse(text), Module([b.function]))


def test_modules_that_do_not_verify_print_and_parse() -> None:
    b = FunctionBuilder("f", F32)
    b.add(ConstantNode(parse("fn g() -> i32 {\n k = constant(array<i32, $7> zero)\n}").functions[0].nodes[1].value))  # type: ignore[union-attr]
    assert same(parse(print_module(Module([b.function]))), Module([b.function]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fn f() -> i32 {\n  x = add(y, y)\n}", "2:11: no node 'y'"),
        ("fn f() -> i32 {\n  x = frob(start)\n}", "2:7: no operation 'frob'"),
        ("fn f() -> i32 {\n  x = join(start)\n  x = join(start)\n}", "3:3: 'x' is defined twice"),
        ("fn f() -> int {\n}", "1:11: no type 'int'"),
        ("fn f() -> array<i32, n> {\n}", "1:22: no dynamic constant 'n'"),
        ("fn f() -> i32 {\n  x = call(g)\n}", "2:12: no function 'g'"),
        ("fn f() -> i32 {\n  x = call(f, at())\n}", "2:18: expected a node, found ')'"),
        ("fn f() -> i32 {\n  x = call(f, at(start, start)\n}", "2:23: expected ')', found ','"),
        ("fn f() -> i32 {\n}\nfn f() -> i32 {\n}", "3:4: the function 'f' is defined twice"),
        ("fn f() -> i32 {\n  x = constant(i32 1.5)\n}", "2:20: expected a value, found '1.5'"),
        ("fn f() -> i32 {\n  x = read(start, place(1))\n}", "2:19: no kind of index 'place'"),
        ("fn f() -> i32 {\n  x = atomic(nand, start)\n}", "2:14: no atomic operation 'nand'"),
        ("fn f() -> i32 {", "1:16: expected a node's name, found 'the end of the text'"),
        ("fn f() -> i32 @", "1:15: unexpected character '@'"),
        ("function f", "1:1: expected 'fn', found 'function'"),
    ],
)
def test_mistakes_are_placed(text: str, message: str) -> None:
    with pytest.raises(TextError) as error:
        parse(text)
    assert str(error.value) == message
