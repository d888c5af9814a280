"""Values that are joined to elements at computed places: by one invocation, by atomic operations, and in copies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tinct
from tinct import InputError, Nest, parse_nest
from tinct.cases import load_cases
from tinct.ir.schedule.rules.table import Mistake
from tinct.ir.schedule.text import parse
from tinct.ir.schedule.verify import verify
from tinct.nests import LoopNest

X = np.random.default_rng(0).integers(0, 9, 100).astype(np.uint32)
VALUES = np.random.default_rng(1).random(100).astype(np.float32)
SIZES = {"n": 100, "bins": 8}


def histogram() -> Nest:
    nest = Nest("histogram")
    i = nest.dim("n")
    nest.scatter("counts", 1, [nest.load("x", "u32", [i])], extents=["bins"], type="u32")
    return nest


def sums(function: str = "+", type: str = "f32", first: float | None = None) -> Nest:
    nest = Nest("sums")
    i = nest.dim("n")
    x, values = nest.load("x", "u32", [i]), nest.load("values", type, [i])
    nest.scatter("y", values, [x], extents=["bins"], function=function, first=first)
    return nest


POINTS = [
    "",
    "i: loop * vector(4)",
    "i: workgroup * unrolled(4)",
    "i: workgroup * invocation(16)",
    "i: workgroup * invocation(16)\nprivate counts",
    "i: workgroup * loop(8)\nprivate counts",
    "i: loop * invocation(4) * vector(2)\nprivate counts",
]


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("device", ["interp", "hercules", "cpu", "gpu"])
def test_a_histogram(point: str, device: str) -> None:
    """Of nine numbers, the last of which is outside."""
    kernel = histogram().lower(point, sizes={"bins": 8} if "private" in point else None)
    found = kernel.run({"x": X}, sizes=SIZES, device=device)["counts"]
    assert found.tolist() == np.bincount(X, minlength=9)[:8].tolist()
    is_shared = "workgroup" in point or ("invocation" in point and "private" not in point)
    assert ("counts: array<atomic<u32>>" in kernel.wgsl) is is_shared


@pytest.mark.parametrize("function", ["+", "*", "min", "max"])
def test_floats_by_exchanges_of_bits(function: str) -> None:
    nest = sums(function, first=0.5)
    expected = nest.run({"x": X, "values": VALUES}, sizes=SIZES)["y"]
    for point in ("i: workgroup * invocation(16)", "i: workgroup * loop(2) * invocation(16)\nprivate y"):
        kernel = nest.lower(point, sizes=SIZES, reassociate=True)
        assert kernel.bits() == {"y"}
        assert "atomicCompareExchangeWeak" in kernel.wgsl
        for device in ("interp", "cpu"):
            found = kernel.run({"x": X, "values": VALUES}, device=device)["y"]
            assert np.allclose(found, expected, rtol=1e-5)


def test_floats_in_order_are_what_the_definition_gives() -> None:
    nest = sums()
    expected = nest.run({"x": X, "values": VALUES}, sizes=SIZES)["y"]
    for point in ("", "i: loop * unrolled(4)", "i: loop * vector(4)"):
        assert np.array_equal(
            nest.run({"x": X, "values": VALUES}, sizes=SIZES, decisions=point, device="cpu")["y"], expected
        )


def test_several_subscripts_and_negative_places() -> None:
    """A histogram for each row, of which the first and the last bin lie outside."""
    nest = Nest("of_rows")
    i, j = nest.dim("rows"), nest.dim("columns")
    place = nest.load("x", "i32", [i, j]) - 1
    nest.scatter("y", nest.index(j, "i32"), [i, place], extents=["rows", 3], function="max", first=-1)
    x = np.array([[0, 1, 2, 3], [3, 3, 4, 1]], np.int32)
    expected = [[1, 2, 3], [3, -1, 1]]
    assert nest.run({"x": x})["y"].tolist() == expected
    for point in ("i: workgroup\nj: loop * invocation(2)", "j: workgroup\nprivate y", "order: j.0, i.0"):
        assert nest.lower(point, sizes={"rows": 2, "columns": 4}).run({"x": x})["y"].tolist() == expected


def test_what_is_carried_may_name_the_place() -> None:
    """Each element goes to the bin of the sum of all before it; another sum is computed in parts."""
    nest = Nest("walk")
    i, j = nest.dim("n"), nest.dim("n")
    x = nest.load("x", "u32", [i])
    total = nest.fby(0, on=[i], type="u32")
    total.next = total + x
    nest.scatter("y", x, [total % 5], extents=[5])
    nest.store("sum", nest.reduce("+", nest.load("x", "u32", [j]), on=[j]), [])
    expected = nest.run({"x": X})
    before = np.concatenate([[0], np.cumsum(X)[:-1]])
    assert expected["y"].tolist() == np.bincount((before % 5).astype(np.int64), X, 5).tolist()
    for point in ("", "j: partial * loop(8)", "j: loop * tree(4)"):
        found = nest.run({"x": X}, decisions=point, device="cpu")
        assert all(np.array_equal(found[it], expected[it]) for it in expected)


def test_a_prologue_and_a_graph() -> None:
    double = Nest("double")
    i = double.dim("n")
    double.store("y", double.load("x", "u32", [i]) * 2, [i])
    both = double.then(histogram(), {"y": "x"})
    expected = np.bincount(2 * X, minlength=18)[:8]
    assert both.run({"x": X}, sizes=SIZES, decisions="i: workgroup * invocation(8)", device="cpu")[
        "counts"
    ].tolist() == (expected.tolist())

    @tinct.graph
    def counted(x):  # type: ignore[no-untyped-def]
        point = "i: workgroup * invocation(8)"
        doubled = double.lower(point)({"x": x}, sizes={"n": 100})
        return histogram().lower(point)({"x": doubled["y"]}, sizes=SIZES)

    for graph in (counted, counted.fused()):
        assert graph.run({"x": X})["counts"].tolist() == expected.tolist()


def test_the_case_file(tmp_path: Path) -> None:
    """Elements begin with what joining begins with; floats are bits there."""
    for nest, value in ((sums("min", "u32"), "4294967295"), (sums("max", first=-1.0), str(0xBF800000))):
        lowered = nest.lower("i: workgroup * invocation(16)", reassociate=True)
        (tmp_path / "sums.wgsl").write_text(lowered.wgsl)
        (tmp_path / "sums.toml").write_text(lowered.toml(SIZES))
        assert f"value = {value}" in lowered.toml(SIZES)
        (kernel,) = load_cases(tmp_path / "sums.toml")
        assert kernel.cases[0].workgroups == (7, 1, 1)
    assert "y is -1.0 before the dispatch" in lowered.wgsl
    assert "y holds the bits of f32" in lowered.wgsl


def test_no_bins() -> None:
    assert histogram().run({"x": X}, sizes={"bins": 0}, decisions="i: workgroup", device="cpu")["counts"].size == 0
    with pytest.raises(InputError, match=r"'counts' has no elements \[private\]"):
        histogram().lower("private counts", sizes={"bins": 0})


def test_no_elements() -> None:
    nest = sums("min", first=2.0)
    inputs = {"x": X[:0], "values": VALUES[:0]}
    for point in ("", "i: workgroup", "i: loop * invocation(4)\nprivate y"):
        found = nest.lower(point, sizes={"n": 0, "bins": 3}, reassociate=True).run(inputs, device="cpu")["y"]
        assert found.tolist() == nest.run(inputs, sizes={"bins": 3})["y"].tolist() == [2, 2, 2]


def read_by_another_nest() -> object:
    later = Nest("later")
    i = later.dim("m")
    later.store("z", later.load("counts", "u32", [i]) + 1, [i])
    return histogram().then(later, {"counts": "counts"})


def of_unknown_size() -> object:
    return histogram().lower("private counts")


def private_output_that_there_is_not() -> object:
    return histogram().lower("private count", sizes=SIZES)


def private_twice() -> object:
    return histogram().lower("private counts, counts", sizes=SIZES)


def too_large() -> object:
    return histogram().lower("private counts", sizes={"bins": 5000})


def out_of_order() -> object:
    return sums().lower("i: workgroup * invocation(4)")


def copied_out_of_order() -> object:
    return sums().lower("private y", sizes=SIZES)


def halves_by_several() -> object:
    return sums(type="f16").lower("i: workgroup", reassociate=True)


def products_by_several() -> object:
    return sums("*", "u32").lower("i: workgroup")


def floats_in_a_graph() -> object:
    return tinct.Graph("g").node(sums().lower("i: workgroup", reassociate=True), sizes=SIZES)


def another_first_value_in_a_graph() -> object:
    return tinct.Graph("g").node(sums("min", "u32").lower("i: workgroup"), sizes=SIZES)


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (read_by_another_nest, "'counts' is complete only at the end of 'histogram'"),
        (of_unknown_size, r"the number of elements of 'counts' is not known: give sizes \[private\]"),
        (private_output_that_there_is_not, r"no values are joined to an output 'count'; did you mean 'counts'\?"),
        (private_twice, r"'counts' is private twice \[private\]"),
        (too_large, r"20000 bytes of workgroup memory; WebGPU allows 16384 \[memory\]"),
        (out_of_order, r"values are joined to 'y' in order, so by one invocation \[iteration-order\]"),
        (copied_out_of_order, r"a copy of 'y' has sums of floats in parts, which may not be reassociated \[private\]"),
        (halves_by_several, r"several invocations cannot join values to 'y': .* \[atomics\]"),
        (products_by_several, r"several invocations cannot join values to 'y': .* \[atomics\]"),
        (floats_in_a_graph, "not supported: atomic operations join f32 in 'y', which has no such port in a graph"),
        (
            another_first_value_in_a_graph,
            "not supported: 'y' begins with 4294967295, and in a graph outputs begin with 0",
        ),
    ],
)
def test_misuse(mistake: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        mistake()


def mistakes(old: str, new: str) -> list[Mistake]:
    text = str(histogram())
    assert old in text
    return verify(parse(text.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("counts at", "x at", "there is no array 'x' with 'out'; there is counts"),
        ("[x0]", "[x0, x0]", "2 subscripts for 1 extents"),
        ("[x0]", "[y0]", "there is no value 'y0'; did you mean 'x0'?"),
        ("[x0]", "[1.0f]", "a subscript is i32 or u32, not f32"),
        ("1u on [i]", "1u on []", "'x0' is used outside of its dimensions [i]"),
        ("by +", "by -", "- does not join values of type u32: +, *, &, |, ^, min, max do"),
        ("of 1u", "of 1i", "i32 where u32 is needed"),
        ("from 0u", "from x0", "elements begin with a constant"),
    ],
)
def test_rules(old: str, new: str, message: str) -> None:
    assert message in [it.message for it in mistakes(old, new)]


def test_the_line_of_python() -> None:
    nest = Nest("wrong")
    i = nest.dim("n")
    nest.scatter("y", 1.0, [nest.load("x", "f32", [i])], extents=[4])
    with pytest.raises(InputError, match=r"test_scatter.py:\d+: a subscript is i32 or u32, not f32 \[types\]"):
        nest.run({"x": VALUES})


def test_a_text_with_a_mistake() -> None:
    with pytest.raises(InputError, match="expected 'of'"):
        parse_nest(str(histogram()).replace(" of ", " "))


def test_tuned_nests_have_the_right_results() -> None:
    for nest, inputs in ((histogram(), {"x": X}), (sums(), {"x": X, "values": VALUES})):
        made: LoopNest = nest
        best = made.tune(SIZES, seconds=1, reassociate=True, renew=True)
        statuses = {it.status for it in best.attempts}
        assert statuses <= {"measured", "pruned"}, best.report
        expected = nest.run(inputs, sizes=SIZES)
        for name, array in best.run(inputs).items():
            assert np.allclose(array, expected[name], rtol=1e-5)
