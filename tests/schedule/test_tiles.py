"""Vectors, copies in workgroup memory and peeled iterations: the same results, and the code that they are for."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest

import tinct
from tinct import Nest
from tinct.backend.gpu import GpuDevice

RANDOM = np.random.default_rng(0)
A = RANDOM.integers(-9, 9, (14, 12)).astype(np.float32)
B = RANDOM.integers(-9, 9, (12, 20)).astype(np.float32)


def product() -> Nest:
    nest = Nest("product")
    i, j, k = nest.dim("m"), nest.dim("n"), nest.dim("l", "k")
    terms = nest.load("a", "f32", [i, k]) * nest.load("b", "f32", [k, j])
    nest.store("c", nest.reduce("+", terms, on=[k]), [i, j])
    return nest


TILE = "i: workgroup * unrolled(2) * invocation(4)\nj: workgroup * invocation(4) * vector(4)\n"
STAGED = f"{TILE}k: loop * loop(5)\norder: k.0, k.1, i.1, j.2\nstage a0 at k.0 pad(1) double\nstage b0 at k.0\n"


@pytest.mark.parametrize("device", ["interp", "cpu", "gpu"])
def test_tiles_of_a_product(device: str) -> None:
    """Neither the tiles nor the vectors fit in the sizes, in their main part they do."""
    points = (STAGED + "peel k", STAGED + "peel i, j") if device == "cpu" else (STAGED + "peel j, k",)
    for point in points:
        results = product().lower(point, reassociate=True).run({"a": A, "b": B}, device=device)
        assert results["c"].tolist() == (A @ B).tolist(), point


def test_copies_have_barriers_padding_and_two_places() -> None:
    wgsl = product().lower(STAGED).wgsl
    assert "var<workgroup> a_tile: array<f32, 96>;" in wgsl  # 2 places of 8 rows of 5 and 1
    assert "var<workgroup> b_tile: array<vec4f, 20>;" in wgsl
    single = STAGED.replace(" double", "")
    loops = [it[it.index("for (var k_0") :] for it in (product().lower(single).wgsl, wgsl.replace("stage b0", ""))]
    assert [it.count("workgroupBarrier()") for it in loops] == [2, 2]
    both = product().lower(STAGED.replace("b0 at k.0", "b0 at k.0 double")).wgsl
    assert both[both.index("for (var k_0") :].count("workgroupBarrier()") == 1


def near(boundary: Literal["clamp", "zero"]) -> Nest:
    nest = Nest("near")
    y, x, dx = nest.dim("h", "y"), nest.dim("w", "x"), nest.dim(7, "dx")
    u = nest.load("u", "f32", [y, x + dx - 3], boundary=boundary, extents=["h", "w"])
    nest.store("sums", nest.reduce("+", u, on=[dx]), [y, x])
    return nest


@pytest.mark.parametrize("boundary", ["clamp", "zero"])
@pytest.mark.parametrize("padding", [0, 9, 10, 11])
def test_padding_that_makes_rows_whole_is_copied_too(boundary: Literal["clamp", "zero"], padding: int) -> None:
    """Rows have 70 elements, which is 10 less than 5 steps of 16 invocations."""
    nest, u = near(boundary), RANDOM.integers(-9, 9, (24, 100)).astype(np.float32)
    kernel = nest.lower(
        f"y: workgroup * loop(12)\nx: workgroup * loop(4) * invocation(16)\nstage u0 pad({padding})", reassociate=True
    )
    assert ("< 70u" in kernel.wgsl) == (padding < 10)
    expected = nest.run({"u": u}, device="interp")["sums"]
    for device in ("interp", "cpu"):
        np.testing.assert_array_equal(kernel.run({"u": u}, device=device)["sums"], expected)


def test_workgroups_and_invocations_have_axes_of_their_own() -> None:
    point = "i: workgroup * invocation(2)\nj: workgroup * invocation(8)\ngrid j, i"
    lowered = product().lower(point)
    assert "@workgroup_size(8u, 2u, 1u)" in lowered.wgsl
    assert lowered.workgroups({"m": 14, "n": 20, "l": 12}) == (7, 3, 1)
    assert lowered.run({"a": A, "b": B})["c"].tolist() == (A @ B).tolist()


def test_arrays_are_bound_as_vectors_where_all_accesses_are_aligned() -> None:
    point, sizes = TILE + "order: k.0, i.1, j.2", {"m": 14, "n": 20, "l": 12}
    known = product().lower(point, sizes=sizes)
    assert "b: array<vec4f>;" in known.wgsl
    assert "c: array<vec4f>;" in known.wgsl
    assert "a: array<f32>;" in known.wgsl
    assert known.run({"a": A, "b": B})["c"].tolist() == (A @ B).tolist()
    assert 'b = { shape = ["max(1, l)", "(n) / 4", 4]' in known.toml(sizes)
    for other in (product().lower(point), product().lower(point, sizes={**sizes, "n": 19})):
        assert "array<vec" not in other.wgsl


def test_nodes_of_graphs_have_arrays_of_scalars() -> None:
    nest = Nest("twice")
    i = nest.dim("n")
    nest.store("y", nest.load("x", "f32", [i]) * 2.0, [i])
    lowered = nest.lower("i: workgroup * vector(4)", sizes={"n": 16})
    assert "array<vec4f>" in lowered.wgsl
    graph = tinct.Graph("four_times")
    first, second = (graph.node(lowered, sizes={"n": 16}, name=name) for name in ("first", "second"))
    graph.bind_input("x", first["x"])
    graph.edge(first["y"], second["x"])
    graph.bind_output(second["y"], "y")
    assert graph.run({"x": A[0, :4].repeat(4)})["y"].tolist() == (4 * A[0, :4].repeat(4)).tolist()


def stencil(boundary: str) -> tuple[Nest, npt.NDArray[Any]]:
    """The sum of a point with its neighbours above, below, left and right, and the sum by definition."""
    nest = Nest("stencil")
    i, j = nest.dim("h"), nest.dim("w")
    extents = [nest.size("h"), nest.size("w")]
    places = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))
    loads = [nest.load("x", "f32", [i + a, j + b], boundary=boundary, extents=extents) for a, b in places]
    total = loads[0]
    for it in loads[1:]:
        total = total + it
    nest.store("y", total, [i, j])
    wide = np.pad(B, 1, mode="edge") if boundary == "clamp" else np.pad(B, 1)
    h, w = B.shape
    return nest, np.sum([wide[1 + a : 1 + a + h, 1 + b : 1 + b + w] for a, b in places], axis=0)


def test_stencils_without_tests_in_their_interior() -> None:
    for boundary, tests in (("clamp", ("min(", "max(")), ("zero", ("select(",))):
        nest, expected = stencil(boundary)
        point = "i: workgroup * unrolled(2)\nj: workgroup * invocation(4)\npeel i, j"
        lowered = nest.lower(point)
        main, _, border = lowered.wgsl.partition("} else {")
        for test in tests:
            assert test not in main
            assert test in border
        loops = nest.lower("i: loop\nj: loop * unrolled(3)\npeel j, i")
        assert loops.wgsl.count("for (") == 3  # one over i, with two versions in it
        for it in (lowered, loops):
            assert it.run({"x": B})["y"].tolist() == expected.tolist(), it.wgsl


def window(boundary: str) -> Nest:
    """Each element with those beside it, and that below it."""
    nest = Nest("window")
    i, j = nest.dim("h", "i"), nest.dim("w", "j")
    extents = [nest.size("h"), nest.size("w")]
    places = ((0, -1), (0, 0), (0, 1), (1, 0))
    loads = [nest.load("x", "f32", [i + a, j + b], boundary=boundary, extents=extents) for a, b in places]
    nest.store("y", (loads[0] + loads[1]) + (loads[2] + loads[3]), [i, j])
    return nest


@pytest.mark.parametrize("point", ["unrolled(2)|unrolled(4)", "unrolled(2)|vector(4)", "invocation(2)|unrolled(2)"])
@pytest.mark.parametrize("boundary", ["clamp", "zero"])
@pytest.mark.parametrize("shape", [(4, 8), (5, 7), (1, 1)])
def test_no_element_is_loaded_twice(point: str, boundary: str, shape: tuple[int, int]) -> None:
    """Neighbours among what is written out share what they load, and test only what may be outside of the array."""
    h, w = shape
    first, second = point.split("|")
    array = np.arange(h * w, dtype=np.float32).reshape(shape) + 1
    wide = np.pad(array, 1, mode="edge") if boundary == "clamp" else np.pad(array, 1)
    expected = wide[1:-1, :-2] + wide[1:-1, 1:-1] + wide[1:-1, 2:] + wide[2:, 1:-1]
    text = f"i: workgroup * {first}\nj: workgroup * {second}"
    for sizes in (None, {"h": h, "w": w}):
        lowered = window(boundary).lower(text, sizes=sizes)
        assert lowered.run({"x": array})["y"].tolist() == expected.tolist(), lowered.wgsl
    _, _, whole = window(boundary).lower(text, sizes={"h": 4, "w": 8}).wgsl.partition("@compute")
    rows, columns = (int(it.partition("(")[2].rstrip(")")) for it in (first, second))
    rows = 1 if first.startswith("invocation") else rows
    assert whole.count("x[") == rows * (columns + 2) + columns
    if boundary == "clamp":
        assert "clamp(" not in whole


def test_subscripts_that_are_always_inside_are_not_clamped() -> None:
    nest, expected = stencil("clamp")
    lowered = nest.lower()
    assert "clamp(" not in lowered.wgsl
    assert lowered.wgsl.count("max(") == lowered.wgsl.count("min(") == 2  # one end of one subscript of each neighbour
    assert lowered.run({"x": B})["y"].tolist() == expected.tolist()
    whole = Nest("even")
    i, n = whole.dim(whole.size("n") * 1 - 1, "i"), whole.size("n")
    whole.store("y", whole.load("x", "f32", [2 * i + 2], boundary="clamp", extents=[2 * n]), [i])
    assert "x[min(" in whole.lower().wgsl
    assert "clamp(" not in whole.lower(sizes={"n": 7}).wgsl
    x = np.arange(14, dtype=np.float32)
    assert whole.lower(sizes={"n": 7}).run({"x": x})["y"].tolist() == [*range(2, 14, 2)]


def test_a_stencil_with_its_halo_in_workgroup_memory() -> None:
    nest, expected = stencil("clamp")
    point = "i: workgroup * unrolled(2) * invocation(4)\nj: workgroup * invocation(8)\nstage x pad(1)"
    lowered = nest.lower(point)
    assert "var<workgroup> x_tile: array<f32, 110>;" in lowered.wgsl  # 10 rows of 10 and 1
    assert lowered.wgsl.count("clamp(") == 2 * 4  # 100 elements, by 32 invocations
    assert lowered.run({"x": B}, device="cpu")["y"].tolist() == expected.tolist()


@pytest.mark.parametrize("boundary", ["clamp", "zero"])
@pytest.mark.parametrize("padding", ["", " pad(3)"])
def test_few_invocations_copy_rows_one_after_another(boundary: str, padding: str) -> None:
    """No element's row has to be found by a division, unless rows are so short that invocations would have no work, of
    many already those that would be idle in the last step of a row.
    """
    nest, expected = stencil(boundary)
    by_rows = f"i: workgroup * unrolled(8)\nj: workgroup * loop(2) * invocation(4)\norder: j.1, i.1\nstage x{padding}"
    with_idle = f"i: workgroup * unrolled(8)\nj: workgroup * invocation(8)\nstage x{padding}"
    of_many = f"i: workgroup * unrolled(8)\nj: workgroup * invocation(64)\nstage x{padding}"
    short = f"i: workgroup * invocation(32)\nj: workgroup * unrolled(8)\nstage x{padding}"
    texts: list[str] = []
    for point in (by_rows, with_idle, of_many, short):
        lowered = nest.lower(point)
        texts.append(lowered.wgsl)
        for device in ("interp", "cpu"):
            assert lowered.run({"x": B}, device=device)["y"].tolist() == expected.tolist(), lowered.wgsl
    assert ["for (var row" in it for it in texts] == [True, True, False, False]
    assert [f"% {row}u" in it for it, row in zip(texts, (10, 10, 66, 10), strict=True)] == [False, False, True, True]


def test_vectors_of_columns_are_copied_row_by_row() -> None:
    """Vectors are across the rows of the array, of which there are three dimensions."""
    nest = Nest("sums")
    g, i, k = nest.dim("groups", "g"), nest.dim("h", "i"), nest.dim(6, "k")
    nest.store("y", nest.reduce("+", nest.load("x", "f32", [g, i, k]), on=[k]), [g, i])
    x = RANDOM.integers(-9, 9, (5, 11, 6)).astype(np.float32)
    lowered = nest.lower(
        "g: workgroup * loop(3)\ni: workgroup * invocation(2) * unrolled(4)\nk: loop\norder: g.1, k.0, i.2\nstage x"
    )
    assert "var<workgroup> x_tile: array<vec4f" in lowered.wgsl
    assert "for (var row" in lowered.wgsl
    for device in ("interp", "cpu"):
        assert lowered.run({"x": x}, device=device)["y"].tolist() == x.sum(axis=2).tolist(), lowered.wgsl


def test_the_last_iterations_of_a_loop_are_a_part_of_their_own() -> None:
    nest = Nest("sums")
    i, j = nest.dim("rows"), nest.dim("columns")
    nest.store("y", nest.reduce("+", nest.load("x", "f32", [i, j]), on=[j]), [i])
    lowered = nest.lower("j: loop * unrolled(4)\npeel j")
    loop, _, rest = lowered.wgsl[lowered.wgsl.index("for (var j_0") :].partition("if columns % 4u > 0u")
    assert "if" not in loop
    assert rest.count("if ") == 4
    for columns in (0, 3, 8, 13):
        x = np.ones((2, columns), np.float32)
        assert lowered.run({"x": x})["y"].tolist() == [columns] * 2
    vectors = nest.lower("j: loop * vector(4)", reassociate=True)
    assert "select(" in vectors.wgsl
    assert vectors.run({"x": A[:, :11]})["y"].tolist() == A[:, :11].sum(1).tolist()


def test_functions_that_take_no_vectors_are_applied_to_components() -> None:
    nest = Nest("functions")
    i = nest.dim("n")
    x, place = nest.load("x", "i32", [i]), nest.index(2 * i)
    fields = nest.call("insertBits", place, nest.call("u32", x), 3, 2)
    picked = nest.call("select", fields, place, nest.call("<", x, 0) | nest.call("==", x, 5))
    nest.store("y", picked, [i])
    x_array = np.arange(-3, 8, dtype=np.int32)
    for device in ("interp", "cpu"):
        results = nest.lower("i: workgroup * vector(4)").run({"x": x_array}, device=device)
        assert results["y"].tolist() == nest.run({"x": x_array})["y"].tolist()


def copied_product(point: str) -> str:
    """The WGSL of a product whose inputs are copied, after its results were compared."""
    a, sizes = RANDOM.integers(-9, 9, (16, 12)).astype(np.float32), {"m": 16, "n": 20, "l": 12}
    lowered = product().lower(point, sizes=sizes)
    for device in ("interp", "cpu", "gpu"):
        if device != "gpu" or GpuDevice.available():
            assert lowered.run({"a": a, "b": B}, device=device)["c"].tolist() == (a @ B).tolist()
    return lowered.wgsl


BLOCKS = "i: workgroup * invocation(2) * unrolled(4)\nj: workgroup * invocation(4) * vector(4)\n"


def test_copies_are_of_vectors_where_vectors_are_read() -> None:
    """Those along rows are loaded as vectors from the array, too; others are put together: the copy is transposed."""
    point = BLOCKS + "k: loop * loop(4)\norder: k.0, k.1, i.2, j.2\nstage a0 at k.0 pad(4)\nstage b0 at k.0\n"
    wgsl = copied_product(point)
    assert "var<workgroup> a_tile: array<vec4f, 12>;" in wgsl  # 4 columns of 8 rows and 4
    assert "var<workgroup> b_tile: array<vec4f, 16>;" in wgsl
    assert "= vec4f(a[" in wgsl
    assert "@group(0) @binding(1) var<storage, read> b: array<vec4f>;" in wgsl
    assert wgsl.count(" = a_tile[") == wgsl.count(" = b_tile[") == 1


def test_which_level_decides_what_vectors_a_copy_has() -> None:
    """What is written out along k outside of the rows reads elements of four rows; inside of them, four of one row.
    What is read as vectors anyway stays so.
    """
    point = BLOCKS + "k: loop * unrolled(4)\norder: k.0, {}, j.2\nstage a0 at k.0\nstage b0 at k.0\n"
    outside, inside = (copied_product(point.format(it)) for it in ("k.1, i.2", "i.2, k.1"))
    bound = "@group(0) @binding(0) var<storage, read> a: array<{}>;"
    assert bound.format("f32") in outside
    assert bound.format("vec4f") in inside
    assert all("a_tile: array<vec4f" in it for it in (outside, inside))
    last = copied_product(point.format("i.2").replace("j.2", "j.2, k.1"))
    assert all("b: array<vec4f>;" in it for it in (outside, inside, last))


def test_copies_of_narrow_vectors_and_of_scalars() -> None:
    """Two rows are a vector of two; what levels outside of the copy have written out is no vector."""
    narrow = BLOCKS.replace("invocation(2) * unrolled(4)", "invocation(4) * unrolled(2)")
    wgsl = copied_product(narrow + "k: loop * loop(4)\norder: k.0, k.1, i.2, j.2\nstage a0 at k.0 double\n")
    assert "var<workgroup> a_tile: array<vec2f, 32>;" in wgsl  # two places of 4 columns of 8 rows
    outside = "i: loop * unrolled(4)\nj: workgroup\nk: loop * loop(4)\norder: i.0, i.1, k.0, k.1\nstage a0 at k.0\n"
    assert "a_tile: array<f32, 4>;" in copied_product(outside)


@pytest.mark.parametrize("boundary", ["clamp", "zero"])
def test_a_window_in_workgroup_memory_is_read_as_vectors_where_it_moves_by_whole_ones(boundary: str) -> None:
    nest = Nest("shifted")
    i, j = nest.dim("h"), nest.dim("w")
    places = [
        nest.load("x", "f32", [i + a, j + b], boundary=boundary, extents=["h", "w"])
        for a in (-1, 1)
        for b in (-4, 0, 4)
    ]
    nest.store("y", sum(places[1:], places[0]), [i, j])
    point = "i: workgroup * invocation(4)\nj: workgroup * invocation(2) * vector(4)\nstage x\n"
    lowered = nest.lower(point)
    assert "var<workgroup> x_tile: array<vec4f, 24>;" in lowered.wgsl  # 6 rows of 16 elements
    x = RANDOM.integers(-9, 9, (7, 18)).astype(np.float32)
    expected = nest.run({"x": x})["y"].tolist()
    for device in ("interp", "cpu"):
        assert lowered.run({"x": x}, device=device)["y"].tolist() == expected
    odd = nest.lower(point.replace("vector(4)", "vector(2)"))
    assert "array<vec2f, " in odd.wgsl
    assert odd.run({"x": x})["y"].tolist() == expected
