"""Texts made to exhaust a parser: deep, broken or hostile. Each is parsed in a moment, and none ends the process."""

from __future__ import annotations

import random
import time

import pytest
from tree_sitter import Parser

from tinct.frontend.grammar import language

DEPTH = 20_000

VALID = {
    "parentheses": b"const a = " + b"(" * DEPTH + b"1" + b")" * DEPTH + b";",
    "indices": b"const a = " + b"a[" * DEPTH + b"1" + b"]" * DEPTH + b";",
    "template lists": b"const a = " + b"a<" * DEPTH + b"1" + b">" * DEPTH + b";",
    "candidates that are none": b"const a = f(" + b"a<b, " * DEPTH + b"1);",
    "candidates of both kinds": b"const a = f(" + b"a<b, c<d>(), " * DEPTH + b"1);",
    "nested comments": b"/*" * DEPTH + b"*/" * DEPTH,
    "comments between a name and its list": b"var a: array" + b"/**/" * DEPTH + b"<f32>;",
    "unary operators": b"const a = " + b"-" * DEPTH + b"1;",
    "else if": b"fn f() { " + b"if a { } else " * DEPTH + b"{ } }",
    "blocks": b"fn f() { " + b"{" * DEPTH + b"}" * DEPTH + b" }",
    "a long sum": b"const a = 1" + b" + 1" * DEPTH + b";",
}

BROKEN = {
    "open parentheses": b"const a = " + b"(" * DEPTH,
    "open blocks": b"fn f() " + b"{" * DEPTH,
    "open template lists": b"const a = " + b"a<" * DEPTH + b";",
    "null code points": b"\0" * DEPTH,
    "broken UTF-8": b"\xff\xfe\xc3" * DEPTH,
    "broken UTF-8 among tokens": b"const a\xff = b<\xc3c>\x80(d);" * 100,
}

TOKENS = rb"fn a < > ( ) { } ; , = 1 if let : @ && || ! /* */ // . [ ] var struct loop continuing case 0x".split()


def parse(text: bytes) -> bool:
    """Whether the grammar takes a text."""
    start = time.perf_counter()
    found = not Parser(language()).parse(text).root_node.has_error
    assert time.perf_counter() - start < 10
    return found


@pytest.mark.parametrize("name", VALID)
def test_deep_and_long_texts_are_taken(name: str) -> None:
    assert parse(VALID[name])


@pytest.mark.parametrize("name", BROKEN)
def test_broken_texts_are_refused(name: str) -> None:
    assert not parse(BROKEN[name])


def test_random_tokens_and_bytes_do_no_harm() -> None:
    choice = random.Random(1)
    for _ in range(200):
        parse(b" ".join(choice.choices(TOKENS, k=200)))
        parse(choice.randbytes(300))


def test_remembered_verdicts_agree_with_fresh_ones() -> None:
    """Past 256 code points the scanner keeps its verdicts on what lies ahead: the ones it would reach there."""
    choice = random.Random(2)
    for _ in range(50):
        arguments = [choice.choice(("a < b", "c<d>()", "e<f<g>>(1)", "h < (i)", "j[k < l]")) for _ in range(300)]
        long = Parser(language()).parse(f"const x = f({', '.join(arguments)});".encode()).root_node
        assert not long.has_error
        call = long.children[0].child_by_field_name("value")
        assert call is not None
        for node, text in zip(call.named_children[1:], arguments, strict=True):
            alone = Parser(language()).parse(f"const x = {text};".encode()).root_node
            value = alone.children[0].child_by_field_name("value")
            assert value is not None
            assert str(node) == str(value)
