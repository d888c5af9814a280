"""Depth, size and damage: always a diagnostic or an answer."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from tinct.frontend import check
from tinct.frontend.resolve.suggest import closest, edit_distance
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


def test_many_unresolved_names_take_little_time() -> None:
    start = time.perf_counter()
    found = codes("fn f() {" + "".join(f"let a{index} = b{index};" for index in range(1000)) + "}")
    assert found == {"unresolved-identifier"}
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


def test_closest() -> None:
    assert closest("postion", ["position", "velocity"]) == "position"
    assert closest("x", ["position"]) is None
