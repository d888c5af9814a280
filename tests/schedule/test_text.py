"""The text forms, JSON and ATerms: what is written is read again, and mistakes have a place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

import tinct.ir.schedule as package
from tinct.ir.schedule import text as text_module
from tinct.ir.schedule.codec import CODEC
from tinct.ir.schedule.nodes import Decisions, Nest
from tinct.ir.schedule.text import affine_text, parse, parse_affine, parse_decisions, print_decisions, print_nest
from tinct.ir.schedule.verify import check, verify
from tinct.ir.schema.traverse import mistakes
from tinct.ir.tokens import TextError

from .nests import ARGMAX, EVERYTHING, ROW_SUMS, SOFTMAX
from .random_texts import DECISIONS, NESTS

POINT = "i: workgroup * invocation(64)\nj: loop * tree(4) * unrolled(2)\norder: j.0, j.1, j.2\n"
STAGED = "stage: loop\norder: stage.0\nstage x, at at stage.0 pad(1) double\nstage x\npeel stage, peel\ngrid stage\n"


@pytest.mark.parametrize("text", [ROW_SUMS, SOFTMAX, EVERYTHING, ARGMAX])
def test_nests(text: str) -> None:
    nest = parse(text)
    check(nest)
    assert print_nest(nest) == str(nest) == text
    assert CODEC.from_json(CODEC.to_json(nest), Nest) == nest
    assert CODEC.from_aterm(CODEC.to_aterm(nest), Nest) == nest


@given(NESTS)
@settings(deadline=None, max_examples=25)
def test_parsing_what_was_printed_gives_the_same_nest(nest: Nest) -> None:
    assert mistakes(nest, CODEC.schema) == []
    assert parse(print_nest(nest)) == nest
    assert CODEC.from_json(CODEC.to_json(nest), Nest) == nest
    for it in verify(nest):  # any nest is verified without an exception
        assert it.message


@given(DECISIONS)
@settings(deadline=None, max_examples=25)
def test_parsing_printed_decisions_gives_the_same(decisions: Decisions) -> None:
    assert parse_decisions(print_decisions(decisions)) == decisions
    assert CODEC.from_aterm(CODEC.to_aterm(decisions), Decisions) == decisions


def test_decisions() -> None:
    for text in (POINT, STAGED):
        decisions = parse_decisions(text)
        assert print_decisions(decisions) == str(decisions) == text
        assert repr(decisions).startswith("Decisions(")
    assert parse_decisions("") == Decisions((), ())


def test_examples_in_docstrings() -> None:
    for document in (package.__doc__, text_module.__doc__):
        assert document is not None
        nest, _, rest = document[document.index("    nest ") :].partition("\n    }\n")
        check(parse(nest + "\n}"))
        lines = [it.strip() for it in rest.splitlines()]
        points = [it for it in lines if it.startswith(("i: ", "j: ", "order: "))]
        assert parse_decisions("\n".join(points)).dimensions


def test_spans_are_those_of_the_text() -> None:
    nest = parse(ROW_SUMS)
    span = nest.body[3].span
    assert span is not None
    assert ROW_SUMS[span.start : span.end] == "row: f32 = last acc on [j]"


@pytest.mark.parametrize("text", ["0", "n", "-n", "2 * n - 3", "n - 2 * m + 1", "-4"])
def test_sums(text: str) -> None:
    assert affine_text(parse_affine(text)) == text


BAD = {
    "nest": "1:5: expected the name of the nest, found the end of the text",
    "nest f(n) { dim i n }": "1:19: expected ':', found 'n'",
    "nest f(n) { x = 1i }": "1:15: expected ':', found '='",
    "nest f(n) { x: f33 = inst a on [] }": "1:16: expected a type (bool, i32, u32, f32, f16), found 'f33'",
    "nest f(n) { x: f32 = inst a b on [] }": "1:29: expected an operator, found 'b'",
    "nest f(n) { x: f32 = inst 1.0 + a on [] }": "1:27: a constant has a suffix: i, u, f or h",
    "nest f(n) { x: i32 = inst 1.5i + a on [] }": "1:27: expected a whole number of at most 20 digits, found '1.5i'",
    "nest f(n) { dim i: n + n }": "1:24: 'n' comes twice in a sum",
    "nest f(n) { dim i: 2 n }": "1:24: expected ':', found '}'",
    "nest f(n) { a[i] = ((1i)) on [i] }": "1:21: expected a constant, found '('",
    "nest f(n) { } more": "1:15: expected the end of the text, found 'more'",
    "nest f(n) { ? }": "1:13: unexpected character '?'",
}


@pytest.mark.parametrize(("text", "message"), BAD.items())
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(TextError) as caught:
        parse(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "text", ["i", "i: ", "i: loops", "i: loop *", "i: loop(x)", "order: i", "order: i.0,", "i: loop 3"]
)
def test_mistakes_in_decisions(text: str) -> None:
    with pytest.raises(TextError):
        parse_decisions(text)
