"""`tinct.Nest`: building, running, lowering, and what is said of mistakes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tinct
from tinct import InputError, Nest
from tinct.cases.loader import load_cases

X = np.random.default_rng(0).integers(-9, 9, (13, 37)).astype(np.float32)


def row_sums() -> Nest:
    nest = Nest("row_sums")
    i, j = nest.dim("rows"), nest.dim("columns")
    x = nest.load("x", "f32", [i, j])
    acc = nest.fby(0.0, on=[j])
    acc.next = acc + x
    nest.store("sums", nest.last(acc, on=[j]), [i])
    return nest


POINTS = (
    "",
    "i: workgroup * invocation(8)",
    "i: workgroup * invocation(4)\nj: loop * invocation(5)",
    "i: workgroup * unrolled(2)\nj: loop * tree(4) * invocation(8)",
    "i: loop * unrolled(2)\nj: loop * unrolled(4)\norder: i.0, j.0, i.1, j.1",
)


@pytest.mark.parametrize("device", ["interp", "cpu", "gpu"])
def test_points_of_the_space(device: str) -> None:
    x = X[:3, :9]
    points = POINTS if device == "cpu" else POINTS[3:4]
    for decisions in points:
        lowered = row_sums().lower(decisions, reassociate=True)
        assert lowered.run({"x": x}, device=device)["sums"].tolist() == x.sum(1).tolist(), decisions


def test_a_block_of_a_product_in_registers() -> None:
    nest = Nest("product")
    i, j, k = nest.dim("m"), nest.dim("n"), nest.dim("k", name="k_index")
    product = nest.load("a", "f32", [i, k]) * nest.load("b", "f32", [k, j])
    bias = nest.load("bias", "f32", [j])
    nest.store("c", nest.call("max", nest.reduce("+", product, on=[k]) + bias, 0.0), [i, j])
    a, b, bias_array = X[:, :11], X[:11, :29], X[0, :29]
    point = "i: workgroup * unrolled(4)\nj: workgroup * unrolled(2) * invocation(8)\norder: k_index.0, i.1, j.1"
    arrays = {"a": a, "b": b, "bias": bias_array}
    expected = np.maximum(a @ b + bias_array, 0)
    assert nest.run(arrays)["c"].tolist() == expected.tolist()
    lowered = nest.lower(point)
    assert lowered.run(arrays)["c"].tolist() == expected.tolist()
    loop = re.search(r"for \(var k_index.*?\n    }\n", lowered.wgsl, re.DOTALL)
    assert loop is not None
    assert loop[0].count("+=") == 8  # the accumulators
    assert loop[0].count("a[") == 4  # each element is loaded once for all of them
    assert loop[0].count("b[") == 2
    assert "if" not in loop[0]


def test_softmax_shares_the_invocations_of_its_loops() -> None:
    nest = Nest("softmax")
    i, j, k, last = nest.dim("rows"), nest.dim("n", "j"), nest.dim("n", "k"), nest.dim("n", "l")
    x = nest.load("x", "f32", [i, j])
    e = nest.call("exp", nest.map(x, [(j, k)]) - nest.reduce("max", x, on=[j]))
    nest.store("y", nest.map(e, [(k, last)]) / nest.reduce("+", e, on=[k]), [i, last])
    expected = np.exp(X - X.max(1, keepdims=True))
    expected /= expected.sum(1, keepdims=True)
    levels = "".join(f"{it}: loop * invocation(16)\n" for it in "jkl")
    lowered = nest.lower(f"i: workgroup\n{levels}", reassociate=True)
    assert "@workgroup_size(16u, 1u, 1u)" in lowered.wgsl
    assert np.allclose(lowered.run({"x": X})["y"], expected, rtol=1e-5)
    assert np.allclose(nest.run({"x": X})["y"], expected, rtol=1e-5)


def test_several_carried_values() -> None:
    """The place of the greatest, and a running maximum with the sum of exponentials."""
    nest = Nest("of_rows")
    i, j = nest.dim("rows"), nest.dim("columns")
    x = nest.load("x", "f32", [i, j])
    value, place = nest.argmax(x, j)
    most, total = nest.fby(-1e30, on=[j]), nest.fby(0.0, on=[j])
    greater = nest.call("max", most, x)
    most.next = greater
    total.next = total * nest.call("exp", most - greater) + nest.call("exp", x - greater)
    nest.store("value", value, [i])
    nest.store("place", place, [i])
    nest.store("log_sum_exp", nest.last(most, on=[j]) + nest.call("log", nest.last(total, on=[j])), [i])
    for results in (nest.run({"x": X}), nest.lower("i: workgroup * unrolled(2)\norder: j.0, i.1").run({"x": X})):
        assert results["value"].tolist() == X.max(1).tolist()
        assert results["place"].tolist() == X.argmax(1).tolist()
        assert np.allclose(results["log_sum_exp"], np.log(np.exp(X.astype(float)).sum(1)), rtol=1e-5)


def test_stencils_strides_and_transposes() -> None:
    nest = Nest("indices")
    i, j = nest.dim("h"), nest.dim("w")
    h, w = nest.size("h"), nest.size("w")
    near = [nest.load("x", "f32", [i + di, j + dj], boundary="clamp", extents=[h, w]) for di, dj in ((0, -1), (1, 0))]
    nest.store("sum", near[0] + near[1], [i, j])
    nest.store("turned", nest.load("x", "f32", [i, j]), [j, h - 1 - i], extents=[w, h])
    odd = nest.dim(nest.size("w") * 1 - 20, "odd")
    nest.store("strided", nest.load("x", "f32", [i, 2 * odd + 1]), [i, odd])
    right = np.pad(X, ((0, 1), (1, 0)), mode="edge")
    for results in (nest.run({"x": X}), nest.lower("i: workgroup\nj: loop * invocation(8)").run({"x": X})):
        assert results["sum"].tolist() == (right[:-1, :-1] + right[1:, 1:]).tolist()
        assert results["turned"].tolist() == X.T[:, ::-1].tolist()
        assert results["strided"].tolist() == X[:, 1 : 2 * 17 : 2].tolist()


def test_a_first_value_in_parts() -> None:
    nest = Nest("from_start")
    i, j = nest.dim("rows"), nest.dim("columns")
    start = nest.load("start", "i32", [i])
    total = nest.reduce("+", nest.load("x", "i32", [i, j]), on=[j], first=start)
    nest.store("y", total - start, [i])
    arrays = {"x": X.astype(np.int32), "start": np.arange(13, dtype=np.int32)}
    for decisions in ("", "j: loop * tree(3) * invocation(4)", "i: workgroup * unrolled(2)\nj: loop * invocation(8)"):
        assert nest.lower(decisions).run(arrays)["y"].tolist() == X.sum(1).astype(int).tolist()


def test_its_text_is_read_again() -> None:
    nest = row_sums()
    again = tinct.parse_nest(str(nest))
    assert str(again) == str(nest)
    assert again.run({"x": X})["sums"].tolist() == X.sum(1).tolist()


def test_known_sizes_leave_tests_out() -> None:
    point = "i: workgroup * invocation(13)\nj: loop * unrolled(37)"
    assert "if" not in row_sums().lower(point, sizes={"rows": 26, "columns": 74}).wgsl.partition("fn ")[2]
    assert "if" in row_sums().lower(point).wgsl.partition("fn ")[2]
    fixed = row_sums().lower(point, sizes={"rows": 13, "columns": 37})
    assert "override" not in fixed.wgsl
    assert "// only for rows = 13, columns = 37\n" in fixed.wgsl
    assert fixed.run({"x": X})["sums"].tolist() == X.sum(1).tolist()
    with pytest.raises(InputError, match="size 'rows' is 12, and the kernel is for 13"):
        fixed.run({"x": X[:12]}, sizes={"rows": 12})


def test_the_case_file_beside_the_shader(tmp_path: Path) -> None:
    lowered = row_sums().lower("i: workgroup * invocation(64)")
    (tmp_path / "row_sums.wgsl").write_text(lowered.wgsl)
    (tmp_path / "row_sums.toml").write_text(lowered.toml({"rows": 100, "columns": 7}))
    assert tomllib.loads(lowered.toml({"rows": 1, "columns": 1}))["workgroups"] == ["ceil_div(rows, 64)", "1", "1"]
    (kernel,) = load_cases(tmp_path / "row_sums.toml")
    (case,) = kernel.cases
    assert case.workgroups == (2, 1, 1)
    assert case.constants == {"rows": 100, "columns": 7}
    with pytest.raises(InputError, match="size 'rows' is a whole number"):
        lowered.toml({"rows": -1, "columns": 7})
    with pytest.raises(InputError, match="nest 'row_sums': "):
        lowered.toml({"rows": 2**32 - 1, "columns": 7})


def test_no_iterations() -> None:
    for rows, columns in ((0, 3), (3, 0)):
        x = np.zeros((rows, columns), np.float32)
        for decisions in ("", "i: workgroup * invocation(4)", "j: loop * invocation(4)"):
            assert row_sums().lower(decisions, reassociate=True).run({"x": x})["sums"].tolist() == [0.0] * rows


def test_operators_are_those_of_wgsl() -> None:
    """Also from the right, and `==`. A number has the type of the value, or else one that the operator takes."""
    nest = Nest()
    i = nest.dim("n")
    x = nest.load("x", "i32", [i])
    results = {
        "shifted": (x << 2) + (x >> 1),
        "power": 1 << nest.index(i),
        "from_the_right": (1 ^ (200 % x)) | (6 & x),
        "compared": nest.call("select", 0, 1, x == 3) + nest.call("select", 2, 4, x != 3),
        "bits": nest.call("extractBits", x, 1, 2),
    }
    for name, value in results.items():
        nest.store(name, value, [i])
    nest.store("scaled", nest.call("ldexp", nest.call("select", 0.5, 1, x == 2), 3), [i])
    array = np.array([3, 7, 2], np.int32)
    found = nest.run({"x": array})
    assert found["shifted"].tolist() == [12 + 1, 28 + 3, 8 + 1]
    assert found["power"].tolist() == [1, 2, 4]
    assert found["from_the_right"].tolist() == [(1 ^ 2) | 2, (1 ^ 4) | 6, (1 ^ 0) | 2]
    assert found["compared"].tolist() == [1 + 2, 0 + 4, 0 + 4]
    assert found["bits"].tolist() == [1, -1, 1]  # the upper of two bits is a sign
    assert found["scaled"].tolist() == [4, 4, 8]
    lowered = nest.lower().run({"x": array})
    assert {name: it.tolist() for name, it in lowered.items()} == {name: it.tolist() for name, it in found.items()}


def without_next() -> object:
    nest = Nest()
    j = nest.dim("n")
    acc = nest.fby(0.0, on=[j])
    return nest.last(acc, on=[j])


def never_set() -> object:
    nest = row_sums()
    nest.fby(0.0, on=[nest.dimensions[0]])
    return nest.ir


def outside() -> object:
    nest = Nest()
    i, j = nest.dim("n"), nest.dim("m")
    nest.store("y", nest.load("x", "f32", [i, j]), [i])
    return nest.ir


def set_twice() -> object:
    nest = Nest()
    j = nest.dim("n")
    acc = nest.fby(0, on=[j])
    acc.next = acc + 1
    acc.next = acc + 2
    return nest


def other_nest() -> object:
    return row_sums().load("x", "f32", [0, 0]) + Nest().index(0)


def no_type() -> object:
    return Nest().load("x", "f64", [])


def no_function() -> object:
    nest = Nest()
    return nest.call("maximum", nest.index(0), 1)


def a_float_for_an_integer() -> object:
    return Nest("n").index(0) + 0.5


def a_truth_value() -> object:
    return bool(Nest().index(0))


def no_dimensions() -> object:
    return row_sums().fby(0.0, on=[])


def a_name_given_by_default() -> object:
    nest = Nest("convolution")
    dimensions = [nest.dim(it) for it in ("channels", "height", "width")]
    return nest.load("k", "f32", dimensions)


def two_sorts_of_names() -> object:
    nest = Nest()
    nest.load("d", "f32", [nest.dim("n")])
    return nest.dim("d")


def a_word_of_wgsl() -> object:
    nest = Nest()
    nest.store("y", nest.load("target", "f32", [nest.dim("n")]), [nest.dim("m")])
    return nest.ir


def the_name_of_the_nest() -> object:
    nest = Nest("y")
    i = nest.dim("n")
    nest.store("y", nest.load("x", "f32", [i]), [i])
    return nest.ir


def an_index_that_is_no_value() -> object:
    nest = Nest()
    i = nest.dim("n")
    return nest.load("x", "u32", [i]) == i  # type: ignore[operator]


def numbers_alone() -> object:
    return Nest().call("min", 1, 2)


def a_fraction() -> object:
    return row_sums().dimensions[0] * 0.5  # type: ignore[operator]


MISTAKES: dict[Callable[[], object], str] = {
    without_next: "'acc' has no next value: set .next before its last value is used",
    never_set: r"test_nest.py:\d+: 'acc0' has no next value",
    outside: r"nest 'nest': test_nest.py:\d+: 'x0' is used outside of its dimensions \[j\] \[inside\]",
    set_twice: "the next value of 'acc' is set already",
    other_nest: "is a value of another nest, 'nest'",
    no_type: "'f64' is no type",
    no_function: "there is no function 'maximum' of scalars",
    a_float_for_an_integer: r"0.5 is no constant of type u32",
    a_truth_value: "'at' has no value while a nest is built",
    no_dimensions: r"expected a list of dimensions, as in on=\[j\]",
    a_name_given_by_default: r"'k' is declared already in nest 'convolution', as a dimension that was given no name",
    two_sorts_of_names: "'d' is declared already in nest 'nest', as an array",
    a_word_of_wgsl: r"'target' is no name: WGSL reserves it \[names\]",
    the_name_of_the_nest: r"'y' is declared already, as the name of the nest \[names\]",
    an_index_that_is_no_value: "expected a value of the nest or a number of type u32, not <Dim i>; nest.index gives",
    numbers_alone: "min needs at least one value as an operand",
    a_fraction: "a size or an index is multiplied by a whole number, not by 0.5",
}


@pytest.mark.parametrize("make", MISTAKES, ids=lambda make: make.__name__)
def test_mistakes(make: Callable[[], object]) -> None:
    with pytest.raises(InputError, match=MISTAKES[make]):
        make()


RUNS: dict[str, tuple[dict[str, object], dict[str, int]]] = {
    "input 'x' is missing": ({}, {}),
    "nest 'row_sums' has no input 'y'": ({"x": X, "y": X}, {}),
    "'x' has elements of type float64, not float32": ({"x": X.astype(float)}, {}),
    "'x' has 1 dimensions, not 2": ({"x": X[0]}, {}),
    r"'x' has the shape \(13, 37\), not \(12, 37\)": ({"x": X}, {"rows": 12}),
    "nest 'row_sums' has no size 'row'; did you mean 'rows'": ({"x": X}, {"row": 12}),
    "size 'rows' is a whole number from 0 to 2\\^32 - 1, not -1": ({"x": X}, {"rows": -1}),
    "size 'rows' is a whole number from 0 to 2\\^32 - 1, not 4294967296": ({"x": X}, {"rows": 2**32}),
}


@pytest.mark.parametrize("message", RUNS)
def test_arrays_and_sizes_that_do_not_fit(message: str) -> None:
    arrays, sizes = RUNS[message]
    with pytest.raises(InputError, match=message):
        row_sums().run(arrays, sizes=sizes)  # type: ignore[arg-type]


def test_texts_that_are_no_nests() -> None:
    with pytest.raises(InputError, match="1:1: expected 'nest'"):
        tinct.parse_nest("nets f() {}")
    with pytest.raises(InputError, match=r"\^ there is no size 'm'; there is n \[sizes\]"):
        tinct.parse_nest("nest f(n) { dim i: m }")
    with pytest.raises(InputError, match="decisions: 1:4: expected a level"):
        row_sums().lower("i: lop")
