"""Depth, size and damage: always a diagnostic or an answer."""

from __future__ import annotations

import gc
import random
import sys
import time
from itertools import islice
from pathlib import Path

import pytest
from tests.frontend.fuzz import examine, mutants, seeds

from tinct.frontend import check, load_program
from tinct.frontend.resolve.suggest import Hints
from tinct.ir.hints import MOST_WORK, closest, edit_distance
from tinct.ir.source import Source

MODULES = Path(__file__).parent / "modules"


def codes(text: str) -> set[str]:
    return {diagnostic.code for diagnostic in check(Source.from_text(text))}


DEEP = {
    "parentheses": ("const a = ", "(", "1", ")", ";"),
    "indices": ("fn f() { let x = array(1); let a = ", "x[", "0", "]", "; }"),
    "calls": ("fn f(x: f32) { let a = ", "abs(", "x", ")", "; }"),
    "constructors": ("const a = ", "vec2(", "1", ")", ";"),
    "operators": ("fn f(x: i32) { let a = ", "(x + ", "x", ")", "; }"),
    "chains": ("fn f(x: bool) { let a = ", "x && ", "x", "", "; }"),
    "types": ("alias A = ", "array<", "i32", ", 1>", ";"),
    "blocks": ("fn f() { ", "{", "", "}", " }"),
    "ifs": ("fn f() { ", "if true {", "", "}", " }"),
    "loops": ("fn f() { ", "loop { break; continuing {", "", "}}", " }"),
    "branches": ("fn f() { if true {}", " else if true {}", "", "", " }"),
}


@pytest.mark.parametrize("kind", DEEP)
def test_moderate_nesting_is_accepted(kind: str) -> None:
    before, opening, middle, closing, after = DEEP[kind]
    assert codes(before + opening * 60 + middle + closing * 60 + after) == set()


@pytest.mark.parametrize("kind", DEEP)
def test_deep_nesting_is_refused(kind: str) -> None:
    before, opening, middle, closing, after = DEEP[kind]
    assert codes(before + opening * 5000 + middle + closing * 5000 + after) == {"nesting-too-deep"}


def test_long_chains_of_declarations() -> None:
    links = "".join(f"const c{index + 1} = c{index} + 1;" for index in range(3000))
    assert codes(links + "const c0 = 0; const_assert c3000 == 3000;") == set()


def test_structures_may_not_nest_without_end() -> None:
    links = "".join(f"struct S{index + 1} {{ a: S{index} }}" for index in range(3000))
    assert codes("struct S0 { a: i32 }" + links) == {"nesting-too-deep"}


def test_structures_that_hold_one_another_twice_are_not_unfolded() -> None:
    links = "".join(f"struct S{index + 1} {{ a: S{index}, b: S{index} }}" for index in range(60))
    assert codes("struct S0 { a: i32 }" + links + "fn f(p: ptr<private, S60>) { let x = (*p).a.b.a; }") == set()


def test_long_chains_of_overrides_take_memory_in_proportion() -> None:
    links = "".join(f"override o{index + 1} = o{index} + 1;" for index in range(5000))
    text = links + "override o0 = 0; @compute @workgroup_size(o5000) fn main() {}"
    program = load_program(Source.from_text(text))
    assert [variable.name for variable in program.entry_points[0].resources[:2]] == ["o1", "o2"]
    assert len(program.entry_points[0].resources) == 5001


def test_many_functions() -> None:
    assert codes("".join(f"fn f{index}() {{ f{index + 1}(); }}\n" for index in range(5000)) + "fn f5000() {}") == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("const a = " + "9" * 10**6 + ";", {"value-out-of-range"}, id="integer"),
        pytest.param("const a = 0x" + "f" * 10**6 + "p0;", {"value-out-of-range"}, id="hexadecimal float"),
        pytest.param("const a = 0." + "0" * 10**6 + "1;", set(), id="tiny float"),
        pytest.param("const a = 1e" + "9" * 10**6 + ";", {"value-out-of-range"}, id="exponent"),
        pytest.param("const " + "a" * 10**6 + " = 1;", set(), id="name"),
        pytest.param("\0" * 10**6, {"invalid-character"}, id="nulls"),
        pytest.param("/*" * 10**5 + "*/" * 10**5, set(), id="comments"),
        pytest.param("fn f() { a" + "<b" * 4000 + "; }", {"unexpected-token"}, id="template lists without end"),
        pytest.param("@" * 10**5, {"unexpected-token"}, id="attributes without names"),
    ],
)
def test_large_tokens_and_heaps_of_them(text: str, expected: set[str]) -> None:
    start = time.thread_time()
    assert codes(text) == expected
    assert time.thread_time() - start < 10


def test_texts_that_slow_recovery_down_are_given_up_with_a_place() -> None:
    text = "fn f() { " + "b<" * 30000 + " }"
    start = time.thread_time()
    (found,) = check(Source.from_text(text))
    assert time.thread_time() - start < 5
    assert found.code == "unexpected-token"
    assert found.span is not None
    assert found.span.start == 10


def test_settings_of_the_interpreter_are_put_back() -> None:
    before = sys.getrecursionlimit(), gc.isenabled()
    assert codes("const a = " + "(" * 400 + "1" + ")" * 400 + ";") == set()
    assert codes("const a = " + "(" * 4000 + "1" + ")" * 4000 + ";") == {"nesting-too-deep"}
    assert (sys.getrecursionlimit(), gc.isenabled()) == before


def test_mutants_are_answered() -> None:
    """A few of those that `python -m tests.frontend.fuzz` makes."""
    for text in islice(mutants(seeds(), random.Random(2)), 150):
        assert examine(text, seconds=20)[1] is None, text


def test_many_unresolved_names_take_little_time() -> None:
    start = time.perf_counter()
    found = codes("fn f() {" + "".join(f"let a{index} = b{index};" for index in range(1000)) + "}")
    assert found == {"unresolved-identifier", "more-diagnostics"}
    assert time.perf_counter() - start < 10


def test_large_zero_value_costs_nothing() -> None:
    assert codes("const a = array<vec4f, 1000000000>(); const_assert a[7].x == 0;") == set()


@pytest.mark.parametrize("path", sorted(MODULES.glob("*.wgsl")), ids=lambda path: path.stem)
def test_damaged_modules_are_answered(path: Path) -> None:
    generator = random.Random(path.stem)
    words = path.read_text().split(" ")
    for _ in range(25):
        damaged = list(words)
        for _ in range(3):
            first, second = generator.randrange(len(damaged)), generator.randrange(len(damaged))
            match generator.randrange(3):
                case 0:
                    damaged[first], damaged[second] = damaged[second], damaged[first]
                case 1:
                    damaged[first] = ""
                case _:
                    damaged.insert(first, damaged[second])
        check(Source.from_text(" ".join(damaged)))


@pytest.mark.parametrize(
    ("left", "right", "distance"),
    [("", "", 0), ("abc", "abc", 0), ("abc", "abd", 1), ("abc", "acb", 1), ("abc", "ab", 1), ("abc", "xyz", 3)],
)
def test_edit_distance(left: str, right: str, distance: int) -> None:
    assert edit_distance(left, right, 3) == distance


def test_edit_distance_is_bounded() -> None:
    assert edit_distance("kitten", "sitting", 1) == 2


def test_closest_is_the_least_distance_of_all() -> None:
    numbers = random.Random(0)
    for _ in range(200):
        names = ["".join(numbers.choices("abC_", k=numbers.randrange(1, 9))) for _ in range(30)]
        name = "".join(numbers.choices("abC_", k=3))
        limit = 1
        distance, best = min((edit_distance(name.lower(), other.lower(), 99), other) for other in names)
        if distance <= limit:
            assert closest(name, names) == best


def test_hints_take_a_bounded_time() -> None:
    hints = Hints()
    names = [f"value_{number}" for number in range(2000)]
    found = [bool(hints.did_you_mean("valeu_7", names)) for _ in range(MOST_WORK // 2000)]
    assert found == sorted(found, reverse=True)
    assert found[0]
    assert not found[-1]
    assert not hints.are_left


def test_one_hint_takes_a_bounded_time() -> None:
    """Names with a long beginning in common, none of which is like the other in its middle."""
    names = [f"{'common_beginning_of_all_names_'[: 20 + number % 8]}{number:09}" for number in range(20_000)]
    hints = Hints()
    hints.did_you_mean("xommon_beginning_of_all_name_000123456", names)
    assert -MOST_WORK < hints.work.left <= 0


def test_closest() -> None:
    assert closest("postion", ["position", "velocity"]) == "position"
    assert closest("x", ["position"]) is None
