"""Reductions in parts: subgroups, workgroups, and several values that a combine joins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tinct import InputError, Nest, parse_nest
from tinct.cases.loader import load_cases
from tinct.nests import Dim, Value
from tinct.nests.lowered_stages import LoweredStages

from .nests import ARGMAX

X = np.random.default_rng(0).integers(-9, 9, (3, 41)).astype(np.float32)
ARGMAX_POINTS = (
    "j: loop * tree(3)",
    "i: workgroup * invocation(2)\nj: loop * tree(2) * invocation(5)",
    "i: workgroup * unrolled(2)\nj: loop * subgroup(32)",
)


@pytest.mark.parametrize("device", ["interp", "cpu", "gpu"])
def test_argmax_in_parts(device: str) -> None:
    """Ties go to the least index, whatever the order, and numbers that are not compared are never chosen."""
    x = X.copy()
    x[1, ::2] = np.nan
    expected = parse_nest(ARGMAX).run({"x": x})
    assert expected["places"].tolist() == np.nanargmax(x, 1).tolist()
    for decisions in ARGMAX_POINTS if device == "cpu" else ARGMAX_POINTS[2:]:
        results = parse_nest(ARGMAX).lower(decisions).run({"x": x}, device=device)
        assert {name: it.tolist() for name, it in results.items()} == {
            name: it.tolist() for name, it in expected.items()
        }, decisions


@pytest.mark.parametrize("device", ["interp", "cpu", "gpu"])
def test_subgroups(device: str) -> None:
    """All functions that subgroups join, of numbers and of conditions, and a first value."""
    nest = Nest("functions")
    i, j = nest.dim("rows"), nest.dim("columns")
    x = nest.load("x", "i32", [i, j])
    for number, function in enumerate(("+", "*", "min", "max", "&", "|", "^")):
        first = -4 if function == "+" else None
        nest.store(f"y{number}", nest.reduce(function, x, on=[j], first=first), [i])
    for number, function in enumerate(("&", "|")):
        value = nest.reduce(function, nest.call("<", x, 8), on=[j])
        nest.store(f"z{number}", nest.call("u32", value), [i])
    x_array = X.astype(np.int32)
    expected = {name: it.tolist() for name, it in nest.run({"x": x_array}).items()}
    for count in (16,) if device == "cpu" else (64,):
        results = nest.lower(f"i: workgroup\nj: loop * subgroup({count})").run({"x": x_array}, device=device)
        assert {name: it.tolist() for name, it in results.items()} == expected


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_subgroups_beside_a_level_of_one_invocation(device: str) -> None:
    """They are along x, whatever the order: naga knows them in no other workgroups."""
    levels = ("i: workgroup * invocation(1)", "j: loop * subgroup(16)")
    for decisions in map("\n".join, (levels, levels[::-1])):
        nest = parse_nest(ARGMAX)
        lowered = nest.lower(decisions)
        assert ", 1u, 1u)" in lowered.wgsl
        assert lowered.run({"x": X}, device=device)["places"].tolist() == X.argmax(1).tolist()


@pytest.mark.parametrize("device", ["interp", "cpu", "gpu"])
def test_atomic_levels(device: str) -> None:
    x = X.astype(np.int32)
    points = ("i: workgroup\nj: atomic * loop(2) * invocation(4)", "i: loop\nj: loop * atomic(3) * tree(2)")
    nest = Nest("of_rows")
    i, j = nest.dim("rows"), nest.dim("columns")
    values = nest.load("x", "i32", [i, j])
    for name, function, first in (("total", "+", 5), ("least", "min", None), ("bits", "^", None)):
        nest.store(name, nest.reduce(function, values, on=[j], first=first), [i])
    kernels = [nest.lower(it) for it in points]
    for lowered in kernels if device == "cpu" else kernels[:1]:
        for array in (x, x[:, :0], x[:0]) if device == "cpu" else (x,):
            expected = nest.run({"x": array})
            results = lowered.run({"x": array}, device=device)
            assert {name: it.tolist() for name, it in results.items()} == {
                name: it.tolist() for name, it in expected.items()
            }, lowered.decisions
    assert "// total is 5 before the dispatch\n" in kernels[0].wgsl
    assert 'total = { shape = ["max(1, rows)"], output = {}, value = 5 }' in kernels[0].toml({"rows": 3, "columns": 9})


def recipes() -> Nest:
    """All reductions of several values, of one array."""
    nest = Nest("recipes")
    i, j = nest.dim("rows"), nest.dim("columns")
    x = nest.load("x", "f32", [i, j])
    mean, variance = nest.mean_variance(x, [j])
    shares, k = nest.softmax(x, j)
    least, place = nest.argmin(x, j)

    def sums(left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
        return [left[0] + right[0], nest.call("max", left[1], right[1])]

    total, largest = nest.reduce(sums, [x, nest.call("abs", x)], on=[j], first=[0.0, 0.0])
    outputs = {"mean": mean, "variance": variance, "least": least, "total": total, "largest": largest}
    for name, value in {**outputs, "logs": nest.logsumexp(x, [j])}.items():
        nest.store(name, value, [i])
    nest.store("place", place, [i])
    nest.store("shares", shares, [i, k])
    return nest


@pytest.mark.parametrize("decisions", ["", "i: workgroup\nj: loop * tree(2) * subgroup(16)\nk: loop * invocation(16)"])
def test_recipes(decisions: str) -> None:
    e = np.exp(X.astype(float))
    expected = {
        "mean": X.mean(1),
        "variance": X.astype(float).var(1),
        "least": X.min(1),
        "place": X.argmin(1),
        "total": X.sum(1),
        "largest": abs(X).max(1),
        "logs": np.log(e.sum(1)),
        "shares": e / e.sum(1, keepdims=True),
    }
    results = recipes().run({"x": X}, decisions=decisions, reassociate=True)
    assert results.keys() == expected.keys()
    for name, array in expected.items():
        assert np.allclose(results[name], array, rtol=1e-5), name


def test_recipes_without_elements() -> None:
    for decisions in ("", "j: loop * tree(2)"):
        results = recipes().run({"x": X[:, :0]}, decisions=decisions, reassociate=True)
        assert [results[it].tolist() for it in ("mean", "variance", "place", "total")] == [[0.0] * 3] * 4


def a_matrix_product(nest: Nest, x: Value, j: Dim) -> None:
    """Steps s -> x * s + 1, composed: associative, but not commutative."""

    def join(left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
        return [right[0] * left[0], right[0] * left[1] + right[1]]

    nest.reduce(join, [x, x * 0 + 1], on=[j], first=[1, 0])


def no_neutral_values(nest: Nest, x: Value, j: Dim) -> None:
    best = nest.fby(x, on=[j])
    nest.combine([best], lambda left, right: [left[0] + right[0]])


def too_few_results(nest: Nest, x: Value, j: Dim) -> None:
    nest.reduce(lambda left, _: [left[0]], [x, x], on=[j], first=[0, 0])


def values_from_outside(nest: Nest, x: Value, j: Dim) -> None:
    nest.reduce(lambda left, right: [left[0] + right[0] + x], [x], on=[j], first=[0])


def a_load(nest: Nest, x: Value, j: Dim) -> None:
    nest.reduce(lambda left, _: [left[0] + nest.load("x", "i32", [j])], [x], on=[j], first=[0])


MISTAKES: dict[Callable[[Nest, Value, Dim], None], str] = {
    a_matrix_product: r"nest 'steps': test_parts.py:\d+: \d elements give .* parts \[joins-parts\]",
    no_neutral_values: "the neutral values of a combine are numbers",
    too_few_results: "a function that joins 2 values gives a list of as many",
    values_from_outside: r"test_parts.py:\d+: the body has operations on no dimension only",
    a_load: "a function that joins parts has operators and calls only",
}


def whole(make: Callable[[Nest, Value, Dim], None]) -> object:
    nest = Nest("steps")
    j = nest.dim("n")
    make(nest, nest.load("x", "i32", [j]), j)
    return nest.ir


@pytest.mark.parametrize("make", MISTAKES, ids=lambda make: make.__name__)
def test_mistakes(make: Callable[[Nest, Value, Dim], None]) -> None:
    with pytest.raises(InputError, match=MISTAKES[make]):
        whole(make)


def test_sums_of_two_floats_need_leave() -> None:
    with pytest.raises(InputError, match="cannot be accumulated in parts"):
        recipes().lower("j: loop * tree(2)")


def test_vectors_of_several_values() -> None:
    """Components of vectors are parts, and rows may be components."""
    expected = parse_nest(ARGMAX).run({"x": X})
    for decisions in ("j: loop * subgroup(8) * vector(4)", "i: workgroup * vector(2)\nj: loop * subgroup(16)"):
        results = parse_nest(ARGMAX).lower(decisions).run({"x": X})
        assert all(np.array_equal(results[name], it) for name, it in expected.items()), decisions


PARTIAL = """
i: workgroup
j: partial * loop(2) * invocation(4)
k: loop * invocation(4)
j_part: loop * invocation(4)
"""


@pytest.mark.parametrize("device", ["interp", "cpu", "gpu"])
def test_partial_levels(device: str) -> None:
    """Parts of all sorts of values go through arrays, to a second dispatch; and so do none at all."""
    nest = recipes()
    lowered = nest.lower(PARTIAL, reassociate=True)
    assert isinstance(lowered, LoweredStages)
    assert [it.entry for it in lowered.stages] == ["recipes_1", "recipes_2"]
    assert [it.workgroups({"rows": 3, "columns": 41}) for it in lowered.stages] == [(6, 3, 1), (3, 1, 1)]
    for x in (X, X[:, :0], X[:0]) if device == "cpu" else (X,):
        expected = nest.run({"x": x})
        for name, array in lowered.run({"x": x}, device=device).items():
            assert np.allclose(array, expected[name], rtol=1e-5), name
    if device == "interp":
        sizes = {"rows": 3, "columns": 41}
        known = nest.lower(PARTIAL, sizes=sizes, reassociate=True)
        for each in (lowered, known):
            results = each.interpreted({"x": X}, sizes)
            assert all(np.allclose(results[name], it, rtol=1e-5) for name, it in nest.run({"x": X}).items())
    with pytest.raises(InputError, match=r"several kernels: recipes_1, recipes_2; see .stages"):
        assert lowered.kernel


def test_partial_levels_of_several_dimensions() -> None:
    """Conditions, copies of a first value, a level inside of loops, and what needs the results of both stages."""
    nest = Nest("whole")
    i, j = nest.dim("rows"), nest.dim("columns")
    k = nest.dim("columns", "k")
    x = nest.load("x", "i32", [i, j])
    is_small = nest.reduce("&", nest.call("<", x, 9), on=[i, j])
    total = nest.reduce("+", x, on=[i, j], first=nest.index(nest.size("rows"), "i32"))
    above = nest.call("select", nest.load("x", "i32", [0, k], extents=["rows", "columns"]) - total, 0, is_small)
    nest.store("count", nest.reduce("max", above, on=[k]), [])
    nest.store("total", total, [])
    array = X.astype(np.int32)
    for point in (
        "i: partial\nj: loop * partial(2) * tree(2)\nk: partial * loop(8)\ni_part: loop * invocation(2)",
        "j: partial * loop(8)\nk: partial\norder: i.0, j.1, j_part.0, k_part.0",
    ):
        lowered = nest.lower(point)
        assert lowered.run({"x": array}) == nest.run({"x": array}), lowered.wgsl


def test_the_case_file_of_several_stages(tmp_path: Path) -> None:
    lowered = recipes().lower(PARTIAL, reassociate=True)
    (tmp_path / "recipes.wgsl").write_text(lowered.wgsl)
    (tmp_path / "recipes.toml").write_text(lowered.toml({"rows": 3, "columns": 41}))
    (kernel,) = load_cases(tmp_path / "recipes.toml")
    assert [(it.entry, it.workgroups) for it in kernel.cases] == [("recipes_1", (6, 3, 1)), ("recipes_2", (3, 1, 1))]
    assert kernel.cases[1].constants == {"columns": 41, "j_parts": 6}


def test_tails_of_dimensions_without_loops() -> None:
    """Each workgroup has one iteration of each invocation, some past the end, inside of a loop over rows."""
    nest = Nest("tails")
    i, j, k = nest.dim("rows"), nest.dim("columns"), nest.dim(3)
    x = nest.load("x", "i32", [i, j])
    nest.store("y", nest.reduce("min", x + nest.index(k, "i32"), on=[j, k]), [i])
    array = X.astype(np.int32)
    lowered = nest.lower("i: loop\nj: partial * subgroup(4)\nk: loop\norder: i.0, k.0")
    assert lowered.run({"x": array})["y"].tolist() == array.min(1).tolist()


@pytest.mark.parametrize("decisions", ["j: tree", "j: unrolled", "j: partial * loop(2)\nj_part: tree", "j: invocation"])
def test_no_iterations_to_write_out(decisions: str) -> None:
    nest = Nest("total")
    j = nest.dim("n", "j")
    nest.store("sum", nest.reduce("+", nest.load("x", "i32", [j]), on=[j], first=5), [])
    with pytest.raises(InputError, match=r"the size of 'j(_part)?' is 0 \[known-counts\]"):
        nest.lower(decisions, sizes={"n": 0})


def test_parts_of_halves() -> None:
    """Arrays that are no whole number of words."""
    nest = Nest("total")
    i, j = nest.dim("m"), nest.dim("n")
    nest.store("sums", nest.reduce("+", nest.load("x", "f16", [i, j]), on=[j]), [i])
    lowered = nest.lower("i: workgroup\nj: partial * loop(8)", reassociate=True)
    for rows, columns in ((1, 1), (3, 37), (3, 0), (0, 4)):
        x = np.ones((rows, columns), np.float16)
        assert lowered.run({"x": x})["sums"].tolist() == [columns] * rows


def test_joined_nests_keep_combines() -> None:
    twice = Nest("twice")
    i, j = twice.dim("n"), twice.dim("m")
    twice.store("doubled", twice.load("w", "f32", [i, j]) * 2, [i, j])
    joined = twice.then(parse_nest(ARGMAX), {"doubled": "x"})
    results = joined.run({"w": X}, decisions="j: loop * tree(2)")
    assert results["places"].tolist() == X.argmax(1).tolist()
    assert results["values"].tolist() == (2 * X.max(1)).tolist()
