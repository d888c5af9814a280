"""Copies that slide: rows that the next iteration of a loop needs too stay in workgroup memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest
from tests.cpu.levels import available

from tinct import Nest
from tinct.ir.schedule.text import parse_decisions
from tinct.transforms.schedule.decided import Decided
from tinct.transforms.schedule.legality import illegal

RANDOM = np.random.default_rng(7)


def whole(*shape: int) -> npt.NDArray[np.float32]:
    return RANDOM.integers(-9, 9, shape).astype(np.float32)


def window(boundary: Literal["clamp", "zero"] = "clamp", step: int = 1) -> Nest:
    """Sums of 5 × 3 neighbours, of each row or of every other one of 38."""
    nest = Nest("window")
    y, x, dy, dx = nest.dim("h", "y"), nest.dim("w", "x"), nest.dim(5, "dy"), nest.dim(3, "dx")
    u = nest.load(
        "u", "f32", [y * step + dy - 2, x + dx - 1], boundary=boundary, extents=["h" if step == 1 else 38, "w"]
    )
    weights = nest.load("weights", "f32", [dy, dx])
    nest.store("sums", nest.reduce("+", u * weights, on=[dy, dx]), [y, x])
    return nest


def channels() -> Nest:
    """A window over the middle one of three subscripts, which stays inside of the array."""
    nest = Nest("channels")
    y, x, c, dy = nest.dim("h", "y"), nest.dim("w", "x"), nest.dim("depth", "c"), nest.dim(4, "dy")
    u = nest.load("u", "f32", [c, y + dy, x], extents=["depth", nest.size("h") + 3, "w"])
    nest.store("sums", nest.reduce("+", u, on=[dy]), [c, y, x])
    return nest


def neighbours() -> Nest:
    """Several loads that share a copy, without a reduction."""
    nest = Nest("neighbours")
    y, x = nest.dim("h", "y"), nest.dim("w", "x")
    near = [nest.load("u", "f32", [y + at, x], boundary="zero", extents=["h", "w"]) for at in (-1, 0, 2)]
    nest.store("sums", near[0] * 2.0 + near[1] + near[2] * 3.0, [y, x])
    return nest


PLANE = {"u": whole(23, 37), "weights": whole(5, 3)}
CASES: dict[str, tuple[Callable[[], Nest], dict[str, npt.NDArray[Any]], str]] = {
    "fewer new rows than old ones": (
        window,
        PLANE,
        "dy: unrolled\nx: workgroup * loop(2) * invocation(8)\ny: workgroup * loop(4) * unrolled(2)\n"
        "order: y.1, x.1, dx.0, dy.0, y.2\nstage u0 at y.1 sliding\n",
    ),
    "more new rows than old ones": (
        window,
        PLANE,
        "x: workgroup * invocation(8)\ny: workgroup * loop(2) * loop(6)\norder: y.1, y.2, dy.0, dx.0\n"
        "stage u0 at y.1 pad(6) sliding\n",
    ),
    "one row after the other, and zeros around": (
        lambda: window("zero"),
        PLANE,
        "x: workgroup * invocation(16)\ny: loop\norder: y.0, dy.0, dx.0\nstage u0 at y.0 pad(3) sliding\n",
    ),
    "every other row": (
        lambda: window(step=2),
        {"u": whole(38, 21), "weights": whole(5, 3)},
        "x: workgroup * invocation(4)\ny: workgroup * loop(5)\norder: y.1, dy.0, dx.0\nstage u0 at y.1 sliding\n",
    ),
    "from the first row in each turn of a loop around it": (
        window,
        PLANE,
        "x: loop * invocation(8)\ny: workgroup * loop(7) * invocation(2)\norder: x.0, y.1, dy.0, dx.0\n"
        "stage u0 at y.1 sliding\n",
    ),
    "rows of vectors": (
        window,
        PLANE,
        "x: workgroup * invocation(4) * unrolled(4)\ny: workgroup * loop(5)\norder: y.1, dy.0, dx.0, x.2\n"
        "stage u0 at y.1 pad(2) sliding\n",
    ),
    "the last iteration apart": (
        window,
        PLANE,
        "x: workgroup * invocation(8)\ny: loop * unrolled(3)\norder: y.0, dy.0, dx.0, y.1\n"
        "stage u0 at y.0 sliding\npeel y\n",
    ),
    "a middle subscript": (
        channels,
        {"u": whole(3, 20, 9)},
        "x: workgroup * invocation(16)\nc: workgroup * loop(2)\ny: workgroup * loop(4) * loop(3)\n"
        "order: y.1, y.2, c.1, dy.0\nstage u0 at y.1 sliding\n",
    ),
    "loads that share a copy": (
        neighbours,
        {"u": whole(11, 19)},
        "x: workgroup * loop(3) * invocation(4)\ny: workgroup * loop(4)\norder: y.1, x.1\nstage u at y.1 sliding\n",
    ),
}


def problem(name: str) -> tuple[Nest, dict[str, npt.NDArray[Any]], dict[str, int], str]:
    """A case: its nest, arrays, sizes and decisions."""
    make, arrays, point = CASES[name]
    nest = make()
    return nest, *nest.prepared(arrays, {"h": 19} if name == "every other row" else None), point


@pytest.mark.parametrize("device", ["interp", "cpu", "gpu"])
@pytest.mark.parametrize("name", CASES)
def test_results_are_the_same(name: str, device: str) -> None:
    nest, arrays, sizes, point = problem(name)
    kernel = nest.lower(point, reassociate=True)
    expected = nest.run(arrays, sizes=sizes, device="interp")["sums"]
    np.testing.assert_array_equal(kernel.run(arrays, sizes=sizes, device=device)["sums"], expected)


@pytest.mark.parametrize("name", CASES)
def test_gangs_of_all_widths_answer_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    nest, arrays, sizes, point = problem(name)
    expected = nest.run(arrays, sizes=sizes, device="interp")["sums"]
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    for level in available():
        monkeypatch.setenv("TINCT_CPU_TARGET", level)
        found = nest.lower(point, reassociate=True).run(arrays, sizes=sizes, device="cpu")["sums"]
        np.testing.assert_array_equal(found, expected, err_msg=level)


@pytest.mark.parametrize("name", CASES)
def test_invocations_wait_for_each_other(name: str) -> None:
    """There are no races, and nothing is read that was not written."""
    nest, arrays, sizes, point = problem(name)
    kernel = nest.lower(point, sizes=sizes, reassociate=True)
    outputs = nest.run(arrays, sizes=sizes, device="interp")
    buffers = {name: it.ravel() for name, it in {**arrays, **outputs}.items()}
    found = kernel.kernel.sanitize(buffers, workgroups=kernel.workgroups(sizes)).findings
    assert not {"data-race", "uninitialized-workgroup-read"} & {it.code for it in found}


def test_no_rows_at_all() -> None:
    """The first rows are copied before the loop, of which there is no iteration then."""
    make, arrays, point = CASES["one row after the other, and zeros around"]
    found = make().lower(point, reassociate=True).run({**arrays, "u": whole(0, 37)})["sums"]
    assert found.shape == (0, 37)


def test_rows_that_stay_are_read_from_the_array_once() -> None:
    """Of 4 + 2 rows, the first 4 before the loop, and then 2 in each iteration, with two barriers. The rows of an
    iteration are at three places, since 2 of 6 are new; no division finds them for a row that is known.
    """
    make, _, point = CASES["fewer new rows than old ones"]
    wgsl = make().lower(point, reassociate=True).wgsl
    before, _, loop = wgsl.partition("for (var y_1")
    assert "row < 4u" in before
    assert before.count("workgroupBarrier()") == 1
    assert "row_1 < 2u" in loop
    assert loop.count("workgroupBarrier()") == 2
    copying, _, computing = loop.rpartition("workgroupBarrier()")
    assert copying.count("% 3u") == 3
    assert "%" not in computing


@pytest.mark.parametrize(
    ("point", "place"),
    [
        ("stage u0 sliding", "the kernel"),
        ("x: workgroup * loop(2) * invocation(4)\norder: y.0, x.1, dy.0, dx.0\nstage u0 at x.1 sliding", "x.1"),
        ("y: loop * loop(5)\norder: x.0, y.0, dx.0, y.1, dy.0\nstage u0 at dx.0 sliding", "dx.0"),
        ("y: loop * loop(5)\nx: loop * loop(4)\norder: y.0, x.0, dy.0, y.1, x.1, dx.0\nstage u0 at x.0 sliding", "x.0"),
        ("y: loop * loop(3)\norder: x.0, dy.0, y.0, dx.0, y.1\nstage u0 at y.0 sliding", "y.0"),
    ],
)
def test_what_does_not_slide(point: str, place: str) -> None:
    """A copy of the whole kernel; one along the elements of a row; one of rows that no two iterations share."""
    decided = Decided(window().ir, parse_decisions(point), {"h": 20, "w": 24}, reassociate=True)
    assert list(illegal(decided)) == [("stages", f"the copy for 'u0' does not slide along its rows in {place}")]
