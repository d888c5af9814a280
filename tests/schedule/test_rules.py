"""Each rule of the verifier holds for a nest, and is broken by a change to it."""

from __future__ import annotations

import pytest

from tinct.ir.schedule.rules.declarations import MOST_STATEMENTS
from tinct.ir.schedule.text import parse
from tinct.ir.schedule.verify import GROUPS, VerifyError, check, verify

from .nests import ARGMAX, EVERYTHING, ROW_SUMS, SOFTMAX

LAST = "row: f32 = last acc on [j]"
CASES = {
    "names": [
        ("out sums", "out i", "'i' is declared already"),
        ("dim i", "dim if", "'if' is no name"),
        ("nest row_sums", "nest __", "'__' is no name"),
        ("nest row_sums", "nest rows", "'rows' is declared already"),
        ("nest row_sums", "nest max", "'max' is a name that WGSL predeclares"),
    ],
    "sizes": [
        ("dim i: rows", "dim i: row", "there is no size 'row'"),
        ("f32[rows]", "f32[i]", "there is no size 'i'"),
        ("dim i: rows", "dim i: rows + 4294967296", "4294967296 is past the 32 bits of an index"),
        ("dim i: rows", "dim i: 0 * rows", "a coefficient of 0"),
    ],
    "fixed-sizes": [
        ("dim i: rows", "dim i: -1", "the size is -1"),
        ("f32[rows]\n", "f32[-2]\n", "an extent is negative"),
    ],
    "elements": [("sums: f32", "sums: bool", "WGSL has no buffers of bool")],
    "defined": [
        ("acc + x0", "acc + y0", "there is no value 'y0'"),
        ("acc + x0", "row + x0", "'row' comes only after this"),
        ("fby total", "fby row", "the next value 'row' is no value of an instruction"),
        ("last acc", "last more", "there is no value 'more'"),
    ],
    "dimensions": [
        (LAST, "row: f32 = last acc on [k]", "there is no dimension 'k'"),
        (LAST, "row: f32 = last acc on [j, j]", "a dimension comes twice"),
        (LAST, "row: f32 = last acc on []", "no dimension"),
    ],
    "subscripts": [
        ("x[i, j]", "x[i]", "1 subscripts for 2 extents"),
        ("x[i, j]", "sums[i]", "there is no array 'sums' with 'in'"),
        ("sums[i] =", "x[i] =", "there is no array 'x' with 'out'"),
        ("x[i, j] on [i, j]", "x[i, j] on [i]", "there is no size or dimension here 'j'"),
        ("inst acc + x0", "inst index acc", "there is no size or dimension here 'acc'"),
    ],
    "stores": [
        ("sums[i] = row on [i]", "sums[i] = row on [i, j]", "'j' is not alone in one subscript"),
        ("  sums[i] = row on [i]\n", "", "0 stores"),
        ("sums[i] = row on [i]", "sums[i] = row on [i]\n sums[i + 1] = row on [i]", "2 stores"),
        ("sums[i] = row on [i]", "sums[i + 2 * j] = x0 on [i, j]", "so elements could be written twice"),
    ],
    "types": [
        ("total: f32", "total: i32", "f32 where i32 is needed"),
        ("inst acc + x0", "inst acc + 1i", "+ does not take (f32, i32)"),
        ("inst acc + x0", "inst maxx(acc, x0)", "there is no function 'maxx' of scalars; did you mean 'max'?"),
        ("0.0f fby", "0i fby", "i32 where f32 is needed"),
        ("0.0f fby", "1e39f fby", "inf is no finite f32"),
        ("x0: f32 = inst x[i, j]", "x0: f32 = inst index j", "an index is i32 or u32, not f32"),
        ("inst acc + x0", "inst dot(acc, x0)", "dot does not take (f32, f32)"),
        ("inst acc + x0", "inst storageBarrier()", "there is no function 'storageBarrier' of scalars"),
    ],
    "inside": [("= row on [i]", "= x0 on [i]", "'x0' is used outside of its dimensions [j]")],
    "fby-dimensions": [
        ("inst acc + x0 on [i, j]", "inst 1.0f + 1.0f on [i]", "the next value 'total' is not on [j]"),
        ("0.0f fby", "x0 fby", "the first value 'x0' is on [j]"),
    ],
    "last-dimensions": [
        (LAST, "row: f32 = last acc on [i]", "'acc' is carried on [j]"),
        (LAST, "z: f32 = inst 1.0f + 1.0f on [i]\n row: f32 = last z on [j]", "'z' is not on [j]"),
    ],
    "no-broadcast": [
        (
            "acc: f32 = 0.0f fby",
            "zero: f32 = inst 0.0f + 0.0f on []\n acc: f32 = zero fby",
            "'zero' would be consumed for each iteration of [i]: copy it",
        )
    ],
    "consumed-once": [
        (
            LAST,
            LAST + "\n other: f32 = 0.0f fby total on [j]",
            "'total' is consumed already: copy it",
        )
    ],
    "not-destroyed": [
        (LAST, LAST + "\n late: f32 = inst acc - total on [i, j]", "this reads a value that 'total' has destroyed"),
    ],
    "ended": [(LAST, LAST + "\n x1: f32 = inst x0 - row on [i, j]", "this is in [j] and needs 'row'")],
}

SOFTMAX_CASES = {
    "map-dimensions": [
        ("[j -> k]", "[k -> j]", "'x0' is not on [k]"),
        ("[j -> k]", "[j -> i]", "'x0' is on [i] already"),
        ("dim k: columns", "dim k: rows", "'j' and 'k' differ in size"),
    ],
    "not-destroyed": [
        ("again: f32 = map x0", "again: f32 = map better", "'better' is overwritten by each iteration: map a copy"),
    ],
}

RESULTS = "(most, first) {"
ARGMAX_CASES = {
    "combined": [
        ("combine (best, place)", "combine (best, spot)", "'spot' is no carried value"),
        ("combine (best, place)", "combine (best, best)", "'best' is combined twice"),
        ("combine (best, place)", "combine ()", "carried on the same dimensions, and there is some"),
    ],
    "combine": [
        ("(-3.4028235e+38f, 0u)", "(-3.4028235e+38f)", "1 neutral values for 2 carried values"),
        ("(-3.4028235e+38f, 0u)", "(-3.4028235e+38f, place)", "a neutral value is no constant of type u32"),
        ("(-3.4028235e+38f, 0u)", "(-3.4028235e+38f, 4294967296u)", "4294967296 is no u32"),
        ("(best2, place2)", "(best2, place1)", "'place1' comes twice"),
        (RESULTS, "(first, first) {", "a result is no f32 that is known in the body"),
        ("best2 == best1 on []", "best2 == best1 on [j]", "operations on no dimension only"),
        ("place2 < place1", "place2 < best1", "< of (u32, f32) gives no bool"),
        ("place2 < place1", "place2 < place", "'before' uses a value that is not known in the body"),
    ],
    "joins-parts": [
        ("place2 < place1", "place1 < place2", "in three parts"),
        ("best2 > best1", "best2 < best1", "in three parts"),
        ("from (-3.4028235e+38f, 0u)", "from (0.0f, 0u)", "in three parts"),
        ("inst x0 > best", "inst x0 >= best", "in three parts"),
    ],
}


@pytest.mark.parametrize("text", [ROW_SUMS, SOFTMAX, EVERYTHING, ARGMAX])
def test_the_nests_hold(text: str) -> None:
    assert verify(parse(text)) == []


def broken(text: str, old: str, new: str) -> list[tuple[str, str]]:
    assert text.count(old) == 1, old
    return [(it.rule, it.message) for it in verify(parse(text.replace(old, new)))]


@pytest.mark.parametrize(("rule", "case"), [(rule, case) for rule, cases in CASES.items() for case in cases])
def test_rule(rule: str, case: tuple[str, str, str]) -> None:
    old, new, message = case
    found = broken(ROW_SUMS, old, new)
    assert any(name == rule and message in said for name, said in found), found


@pytest.mark.parametrize(("rule", "case"), [(rule, case) for rule, cases in SOFTMAX_CASES.items() for case in cases])
def test_rule_of_several_loops(rule: str, case: tuple[str, str, str]) -> None:
    old, new, message = case
    found = broken(SOFTMAX, old, new)
    assert any(name == rule and message in said for name, said in found), found


def test_rules_of_combines() -> None:
    for rule, cases in ARGMAX_CASES.items():
        for old, new, message in cases:
            found = broken(ARGMAX, old, new)
            assert any(name == rule and message in said for name, said in found), (rule, new, found)


CIRCLE = """nest circle(n) {
  dim j: n
  dim k: n
  in x: i32[n]
  out y: i32[n]
  out z: i32[n]

  a: i32 = inst x[j] on [j]
  b: i32 = inst x[k] on [k]
  s: i32 = last a on [j]
  t: i32 = last b on [k]
  u: i32 = inst a + 1i on [j]
  v: i32 = inst b + s on [k]
  y[j] = u on [j]
  z[k] = v on [k]
}
"""


def test_dimensions_in_a_circle() -> None:
    assert verify(parse(CIRCLE)) == []
    found = broken(CIRCLE, "inst a + 1i", "inst a + t")
    assert found == [("in-order", f"{it!r} would have to end before it begins") for it in "jk"]


def test_boundaries() -> None:
    found = broken(EVERYTHING, "inst one[] on", "inst one[] clamp on")
    assert found == [("boundaries", "a number without subscripts has no outside")]


def test_first_values_are_not_read_when_they_are_overwritten() -> None:
    text = ROW_SUMS.replace("0.0f fby", "start fby").replace("  acc:", "  start: f32 = inst 0.0f + 0.0f on [i]\n  acc:")
    assert verify(parse(text)) == []
    after = "not-destroyed", "this reads a value that 'total' has destroyed by then: copy that before"
    assert broken(text, LAST, LAST + "\n late: f32 = inst row - start on [i]") == [after]
    assert broken(text, LAST, LAST + "\n inner: f32 = inst x0 - start on [i, j]") == [after]
    assert broken(text, LAST, LAST + "\n early: f32 = inst start + 1.0f on [i]") == []


def test_the_length_is_bounded() -> None:
    line = "  row: f32 = last acc on [j]\n"
    many = "".join(f"  c{number}: f32 = inst row + 1.0f on [i]\n" for number in range(MOST_STATEMENTS))
    (mistake,) = verify(parse(ROW_SUMS.replace(line, line + many)))
    assert mistake.rule == "length"


def test_every_rule_is_broken_here() -> None:
    others = {"length", "boundaries", "in-order"}
    assert {rule.name for group in GROUPS for rule in group} == (
        others | CASES.keys() | SOFTMAX_CASES.keys() | ARGMAX_CASES.keys()
    )


def test_the_message_shows_the_place() -> None:
    with pytest.raises(VerifyError) as caught:
        check(parse(ROW_SUMS.replace("acc + x0", "acc + y0")))
    lines = str(caught.value).splitlines()
    assert lines[8] == "  total: f32 = inst acc + y0 on [i, j]"
    assert lines[9] == "  ^ there is no value 'y0'; did you mean 'x0'? [defined]"
