"""Values in memory: each is computed once, wherever it is needed."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import tinct
from tinct import InputError, Nest, parse_nest
from tinct.ir.schedule.text import parse, parse_decisions
from tinct.nests import LoweredNest
from tinct.transforms.schedule.decided import Decided
from tinct.transforms.schedule.memory import workgroup_bytes

from .nests import SOFTMAX

X = np.random.default_rng(0).random((5, 22), np.float32)
SIZES = {"rows": 5, "columns": 22}
PLAIN = "i: workgroup\nj: loop * invocation(4)\nk: loop * invocation(4)\nl: loop * invocation(4)\n"
POINTS = {
    "loops": "",
    "invocations": PLAIN,
    "written out": PLAIN.replace("loop * ", "loop * unrolled(2) * "),
    "some written out": PLAIN.replace("k: loop * ", "k: loop * tree(3) * ").replace(
        "loop * inv", "loop * loop(3) * inv"
    ),
    "vectors": PLAIN.replace("(4)", "(4) * vector(2)"),
    "a loop around": PLAIN.replace("i: workgroup", "i: workgroup * loop(3)"),
    "rows at once": PLAIN.replace("i: workgroup", "i: workgroup * invocation(2)"),
    "rows inside": PLAIN.replace("i: workgroup", "i: workgroup * unrolled(2)") + "order: j.0, k.0, l.0, i.1\n",
    "subgroups": PLAIN.replace("invocation", "subgroup"),
    "peeled": PLAIN.replace("i: workgroup", "i: workgroup * invocation(2)") + "peel i, j, k, l\n",
}
OTHERS = {
    "other levels": "i: workgroup\nj: loop * invocation(4)\nk: loop * invocation(8)\nl: loop * unrolled(2)\n",
    "in one loop": "i: workgroup * loop(3)\nj: loop * invocation(4)\nl: loop * vector(2)\n",
    "workgroups share rows": "i: workgroup\nk: loop * invocation(4)\nl: loop * invocation(8)\n",
}


def softmax(point: str, kept: str, sizes: dict[str, int] | None = None) -> LoweredNest:
    return parse_nest(SOFTMAX).lower(point + kept, sizes=SIZES if sizes is None else sizes, reassociate=True)


def agrees(kernel: LoweredNest, device: str) -> bool:
    expected = parse_nest(SOFTMAX).run({"x": X})["y"]
    return bool(np.allclose(kernel.run({"x": X}, device=device)["y"], expected, rtol=1e-5))


@pytest.mark.parametrize("kept", ["keep e in {}", "keep x0 in {}\nkeep e in {}"])
@pytest.mark.parametrize("point", POINTS.values(), ids=POINTS.keys())
def test_kept_values(point: str, kept: str) -> None:
    for location in ("registers", "workgroup"):
        assert agrees(softmax(point, kept.format(location, location)), "cpu"), location


@pytest.mark.parametrize("point", OTHERS.values(), ids=OTHERS.keys())
def test_values_that_other_invocations_read(point: str) -> None:
    assert agrees(softmax(point, "keep e in workgroup"), "cpu")
    with pytest.raises(InputError, match=r"'e' is in registers, and the levels of 'k' and 'l' differ \[locations\]"):
        softmax(point, "keep e in registers")


@pytest.mark.parametrize("device", ["interp", "gpu"])
def test_devices(device: str) -> None:
    for point in (PLAIN, OTHERS["other levels"]):
        assert agrees(softmax(point, "keep x0 in workgroup\nkeep e in workgroup"), device)
    assert agrees(softmax(PLAIN, "keep x0 in registers\nkeep e in registers"), device)


def body(kernel: LoweredNest) -> str:
    """The code, without the comment."""
    return kernel.wgsl.partition("@compute")[2]


def test_a_kept_value_is_computed_once() -> None:
    assert body(softmax(PLAIN, "")).count("exp(") == 2
    for location in ("registers", "workgroup"):
        assert body(softmax(PLAIN, f"keep e in {location}")).count("exp(") == 1
        both = softmax(PLAIN, f"keep x0 in {location}\nkeep e in {location}")
        assert body(both).count("x[") == 1


def test_memory_is_as_large_as_levels_that_the_loops_do_not_share() -> None:
    kept = "keep e in {}"
    assert "var e_kept: array<f32, 6>;" in softmax(PLAIN, kept.format("registers")).wgsl
    assert "var<workgroup> e_kept: array<f32, 24>;" in softmax(PLAIN, kept.format("workgroup")).wgsl
    around = softmax(POINTS["a loop around"], kept.format("workgroup"))
    assert "var<workgroup> e_kept: array<f32, 24>;" in around.wgsl
    rows = softmax(POINTS["rows at once"], kept.format("workgroup"))
    assert "var<workgroup> e_kept: array<f32, 48>;" in rows.wgsl
    written = PLAIN.replace("k: loop", "k: unrolled").replace("l: loop", "l: unrolled")
    wgsl = softmax(written, kept.format("registers")).wgsl
    assert re.findall(r"var e_kept\w*: (\w+)", wgsl) == ["f32"] * 6


def barriers(point: str, kept: str) -> int:
    return softmax(point, kept).wgsl.count("workgroupBarrier()")


def test_invocations_wait_only_for_what_others_wrote() -> None:
    """A sum that is joined has barriers of its own."""
    assert barriers(PLAIN, "keep e in workgroup") == barriers(PLAIN, "") == barriers(PLAIN, "keep e in registers")
    alone = "i: workgroup\nk: loop\nl: loop * invocation(4)\n"
    assert barriers(alone, "") == barriers(alone, "keep e in storage") == 0
    # One invocation computes each exponential: barriers before and after that, and before the other loop.
    assert barriers(alone, "keep e in workgroup") == 3


def test_joins_share_memory() -> None:
    """The greatest element and the sum are joined one after the other."""
    decided = Decided(parse(SOFTMAX), parse_decisions(PLAIN), {}, reassociate=True)
    assert workgroup_bytes(decided) == 4 * 4
    assert softmax(PLAIN, "").wgsl.count("var<workgroup>") == 1
    both = Decided(parse(SOFTMAX), parse_decisions(PLAIN + "keep e in workgroup"), SIZES, reassociate=True)
    assert workgroup_bytes(both) == 4 * 4 + 4 * 24


def in_turns() -> Nest:
    """Values of rows, of which each is computed of the one before it."""
    nest = Nest("in_turns")
    i, *loops = (nest.dim(size, name) for size, name in zip(["n", *["m"] * 4], "iabcd", strict=True))
    value = nest.load("x", "i32", [i, loops[0]])
    for before, after in pairwise(loops):
        value = nest.map(value, [(before, after)]) * 3
    nest.store("y", value, [i, loops[-1]])
    return nest


@pytest.mark.parametrize(("rows", "barriers"), [("workgroup", 3), ("loop", 4), ("workgroup * unrolled(2)", 8)])
def test_values_share_memory_that_live_one_after_the_other(rows: str, barriers: int) -> None:
    """The third value has the memory of the first, which in the next row waits for those that read the third."""
    x = np.random.default_rng(3).integers(-9, 9, (6, 20)).astype(np.int32)
    levels = "".join(f"{it}: loop * invocation(4){'' if it in 'ac' else ' * loop(2)'}\n" for it in "abcd")
    kept = "keep x0 in workgroup\nkeep t in workgroup\nkeep t0 in workgroup"
    kernel = in_turns().lower(f"i: {rows}\n{levels}{kept}", sizes={"n": 6, "m": 20})
    memory = re.findall(r"var<workgroup> (\w+): array<i32, (\d+)>", kernel.wgsl)
    assert memory == [("x0_kept", "20"), ("t_kept", "24")]
    assert body(kernel).count("workgroupBarrier()") == barriers
    for device in ("interp", "cpu"):
        assert kernel.run({"x": x}, device=device)["y"].tolist() == (x * 27).tolist()


def attention() -> Nest:
    """With three loops over keys, each of which needs the scores, by way of two maps."""
    nest = Nest("attention")
    i, e, j, d = nest.dim("queries"), nest.dim("width", "e"), nest.dim("keys", "j"), nest.dim("depth", "d")
    k, m = nest.dim("keys", "k"), nest.dim("keys", "m")
    score = nest.reduce("+", nest.load("q", "f32", [i, d]) * nest.load("k0", "f32", [j, d]), on=[d])
    most = nest.reduce("max", score, on=[j])
    weight = nest.call("exp", nest.map(score, [(j, k)]) - most)
    total = nest.reduce("+", weight, on=[k])
    weighted = nest.map(weight, [(k, m)]) * nest.load("v", "f32", [m, e])
    nest.store("o", nest.reduce("+", weighted, on=[m]) / total, [i, e])
    return nest


@pytest.mark.parametrize("device", ["interp", "cpu"])
def test_equal_values_share_memory(device: str) -> None:
    """Scores are sums, which the nest computes again for each loop; one that is kept is computed in one loop only."""
    nest, random = attention(), np.random.default_rng(1)
    arrays = {name: random.random(shape, np.float32) for name, shape in (("q", (5, 6)), ("k0", (9, 6)), ("v", (9, 4)))}
    sizes = {"queries": 5, "keys": 9, "width": 4, "depth": 6}
    point = "i: workgroup\nj: loop * invocation(4)\nk: loop * invocation(4)\ne: invocation\n"
    expected = nest.run(arrays)["o"]
    for kept, sums in (("", 3), ("keep acc_last in workgroup", 1), ("keep t2 in workgroup", 2)):
        kernel = nest.lower(point + kept, sizes=sizes, reassociate=True)
        assert body(kernel).count("q[") == sums, kept
        assert np.allclose(kernel.run(arrays, device=device)["o"], expected, rtol=1e-5)


def test_what_is_carried_is_kept() -> None:
    """A running sum, all of which a second loop needs, in the other direction of time: no second computation can be."""
    nest = Nest("scan")
    i, j, k = nest.dim("n"), nest.dim("m"), nest.dim("m")
    acc = nest.fby(0, [j], "i32")
    acc.next = acc + nest.load("x", "i32", [i, j])
    nest.store("y", nest.last(acc, [j]) - nest.map(acc, [(j, k)]), [i, k])
    x = np.arange(35, dtype=np.int32).reshape(5, 7)
    with pytest.raises(InputError, match=r"which is not kept in memory \[maps\]"):
        nest.lower("", sizes={"m": 7})
    for kept in ("keep acc in registers", "keep acc in workgroup"):
        for point in ("", "i: workgroup\n", "i: workgroup * invocation(4)\n", "i: loop * unrolled(2)\n"):
            kernel = nest.lower(point + kept, sizes={"m": 7})
            assert kernel.run({"x": x})["y"].tolist() == nest.run({"x": x})["y"].tolist() == sums_from(x)


def sums_from(x: np.ndarray) -> list[list[int]]:  # type: ignore[type-arg]
    """For each element the sum of it and of all after it."""
    found: list[list[int]] = np.flip(np.cumsum(np.flip(x, 1), 1), 1).tolist()
    return found


def test_a_value_at_the_end_is_kept_for_a_loop_of_its_own() -> None:
    """Without memory, sums of rows are not known in a second loop over rows."""
    text = SOFTMAX.replace("y[i, l] = share on [i, l]", "y[i, l] = most2 on [i, l]").replace(
        "  share:", "  most2: f32 = inst most + 1.0f on [i, l]\n  share:"
    )
    point, sizes = "order: l.0, i.0, j.0, k.0\n", {"rows": 5}
    with pytest.raises(InputError, match=r"\[kept\]"):
        parse_nest(text).lower(point, sizes=sizes)
    kernel = parse_nest(text).lower(point + "keep most in registers", sizes=sizes)
    assert np.allclose(kernel.run({"x": X})["y"], np.broadcast_to(X.max(1)[:, None] + 1, X.shape))


def scaled() -> Nest:
    """A value of each row, which all invocations along the row need."""
    nest = Nest("scaled")
    i, j = nest.dim("rows"), nest.dim("columns")
    scale = nest.call("exp", nest.load("s", "f32", [i]))
    nest.store("y", nest.load("x", "f32", [i, j]) * scale, [i, j])
    return nest


BROADCASTS = (
    "i: workgroup\nj: loop * invocation(8)\n",
    "i: loop\nj: invocation\n",
    "i: workgroup * unrolled(2)\nj: loop * invocation(8)\norder: j.0, i.1\n",
    "i: loop * vector(2)\nj: loop * invocation(8)\n",
)


@pytest.mark.parametrize("device", ["interp", "cpu", "gpu"])
def test_broadcasts(device: str) -> None:
    arrays = {"x": X, "s": np.random.default_rng(2).random(5, np.float32)}
    for location in ("registers", "subgroup", "workgroup", "storage"):
        for point in BROADCASTS if device == "cpu" else BROADCASTS[:1]:
            kernel = scaled().lower(f"{point}keep t in {location}", sizes=SIZES)
            expected = X * np.exp(arrays["s"])[:, None]
            assert np.allclose(kernel.run(arrays, device=device)["y"], expected, rtol=1e-5), (location, point)


def test_how_broadcasts_are_made() -> None:
    def code(location: str) -> str:
        return body(scaled().lower(f"{BROADCASTS[0]}keep t in {location}", sizes=SIZES))

    assert "t_kept" not in code("registers")  # what is in a variable needs no memory
    assert "if subgroupElect()" in code("subgroup")
    assert "subgroupBroadcastFirst(t_first)" in code("subgroup")
    assert re.search(r"== 0u \{\s+t_kept\[0u\] = exp", code("workgroup"))
    assert code("workgroup").count("workgroupBarrier()") == 1
    spread = "i: invocation\nkeep t in subgroup"
    message = "'t' differs between the invocations of a workgroup, so that no subgroup can broadcast it"
    with pytest.raises(InputError, match=message):
        scaled().lower(spread, sizes=SIZES)


def test_values_in_storage_are_between_two_dispatches() -> None:
    for point, kept in ((PLAIN, "keep e in storage"), ("l: workgroup\n", "keep less in storage")):
        kernel = softmax(point, kept, {})
        assert [it.entry for it in kernel.stages] == ["softmax_1", "softmax_2"]
        assert agrees(kernel, "cpu")
        assert agrees(kernel, "interp")
    both = softmax("j: partial\n" + PLAIN.replace("j: loop * invocation(4)\n", ""), "keep e in storage", {})
    assert len(both.stages) == 3
    assert agrees(both, "cpu")


PACKED = {
    "columns": "i: workgroup * unrolled(3)\nj: workgroup * unrolled(2) * invocation(4)\norder: k.0, i.1, j.1\n",
    "whole rows": "i: workgroup * unrolled(4)\nj: workgroup * invocation(8)\norder: k.0, i.1\n",
    "loops in parts": "i: workgroup\nj: workgroup * invocation(4)\nk: loop * loop(5)\norder: k.0, k.1\n",
    "loops inside": "i: workgroup * loop(2)\nj: loop * loop(3) * invocation(4)\nk: loop * unrolled(2)\n"
    "order: j.0, i.1, j.1, k.0, k.1\n",
    "peeled": "i: workgroup\nj: workgroup * unrolled(2) * invocation(4)\nk: loop * unrolled(4)\n"
    "order: k.0, k.1, j.1\npeel j, k\n",
    "loops alone": "",
}


def product() -> Nest:
    nest = Nest("product")
    i, j, k = nest.dim("m"), nest.dim("n"), nest.dim("inner", "k")
    terms = nest.load("a", "f32", [i, k]) * nest.load("b", "f32", [k, j])
    nest.store("c", nest.reduce("+", terms, on=[k]), [i, j])
    return nest


@pytest.mark.parametrize("device", ["interp", "cpu", "gpu"])
@pytest.mark.parametrize("point", PACKED.values(), ids=PACKED.keys())
def test_loads_in_storage_are_in_the_order_in_which_they_are_read(point: str, device: str) -> None:
    a, b = (
        np.random.default_rng(it).integers(-4, 5, shape).astype(np.float32) for it, shape in ((0, (7, 9)), (1, (9, 11)))
    )
    sizes = {"m": 7, "n": 11, "inner": 9}
    for kept in ("keep b0 in storage", "keep a0 in storage", "keep a0 in storage\nkeep b0 in storage"):
        kernel = product().lower(point + kept, sizes=sizes)
        assert kernel.run({"a": a, "b": b}, device=device)["c"].tolist() == (a @ b).tolist(), kept


@pytest.mark.parametrize(
    ("rows", "grids"), [(4, [(16, 1, 1), (8, 1, 1), (8, 16, 1)]), (8, [(8, 1, 1), (8, 8, 1)])], ids=["apart", "equal"]
)
def test_values_with_other_workgroups_are_stored_by_a_dispatch_of_their_own(
    rows: int, grids: list[tuple[int, int, int]]
) -> None:
    """One for both would have workgroups for each pair of them, which go through the loop and do nothing. As many
    workgroups share an axis.
    """
    sizes = {"m": 64, "n": 64, "inner": 9}
    point = f"i: workgroup * unrolled({rows})\nj: workgroup * unrolled(2) * invocation(4)\norder: k.0, i.1, j.1\n"
    lowered = product().lower(point + "keep a0 in storage\nkeep b0 in storage", sizes=sizes)
    assert [workgroups for _, workgroups in lowered.dispatches(sizes)] == grids
    a, b = (
        np.random.default_rng(it).integers(-4, 5, shape).astype(np.float32)
        for it, shape in ((0, (64, 9)), (1, (9, 64)))
    )
    assert lowered.run({"a": a, "b": b})["c"].tolist() == (a @ b).tolist()


def test_how_loads_in_storage_lie() -> None:
    sizes = {"m": 7, "n": 11, "inner": 9}
    lowered = product().lower(PACKED["columns"] + "keep b0 in storage", sizes=sizes)
    assert lowered.buffers(sizes)["b0_kept"].size == 2 * 9 * 2 * 4  # workgroups, inner, vectors, invocations
    place = "b0_kept[((workgroup_id_x * 9u + t) * 2u + 1u) * 4u + local_invocation_id_x]"
    assert lowered.wgsl.count(place) == 2  # stored once, and loaded once


@pytest.mark.parametrize(
    ("point", "sizes"),
    [
        pytest.param("i: workgroup\nj: workgroup * invocation(4)\n", {}, id="sizes are not known"),
        pytest.param("i: workgroup\nj: workgroup * vector(4)\n", {"m": 7, "n": 12, "inner": 9}, id="vectors"),
        pytest.param(
            "i: workgroup\nj: workgroup * invocation(4)\nk: loop * loop(3)\nstage b0 at k.0\n",
            {"m": 7, "n": 12, "inner": 9},
            id="copied to workgroup memory",
        ),
    ],
)
def test_loads_in_storage_that_lie_row_by_row(point: str, sizes: dict[str, int]) -> None:
    a, b = (
        np.random.default_rng(it).integers(-4, 5, shape).astype(np.float32) for it, shape in ((0, (7, 9)), (1, (9, 12)))
    )
    lowered = product().lower(point + "keep b0 in storage", sizes=sizes)
    assert lowered.buffers({"m": 7, "n": 12, "inner": 9})["b0_kept"].size == 12 * 9
    assert lowered.run({"a": a, "b": b})["c"].tolist() == (a @ b).tolist()


def test_what_is_read_by_way_of_a_map_lies_row_by_row() -> None:
    """`x` is also read at the indices of the loop that `near` is mapped to."""
    nest = Nest("differences")
    i, j, k = nest.dim("rows"), nest.dim("columns"), nest.dim("columns", "k")
    near = nest.load("x", "f32", [i, j]) * 2.0
    nest.store("y", nest.map(near, [(j, k)]) - nest.reduce("max", near, on=[j]), [i, k])
    lowered = nest.lower(
        "i: workgroup * invocation(2)\nj: loop * loop(4)\nk: loop * loop(3)\nkeep x0 in storage", sizes=SIZES
    )
    assert lowered.buffers(SIZES)["x0_kept"].size == X.size
    assert lowered.run({"x": X})["y"].tolist() == (2 * X - 2 * X.max(1, keepdims=True)).tolist()


@pytest.mark.parametrize("sizes", [{}, SIZES], ids=["any sizes", "known sizes"])
def test_what_atomic_operations_join_is_an_output(sizes: dict[str, int]) -> None:
    nest = Nest("sums")
    i, j = nest.dim("rows"), nest.dim("columns")
    total = nest.reduce("+", nest.load("x", "i32", [i, j]), on=[j])
    nest.store("y", total * 2, [i])
    levels = f"i: workgroup * invocation(2)\nj: atomic * loop(4)\nkeep {total.name} in storage"
    with pytest.raises(InputError, match=r"atomic operations join 'acc_last' in an output, .* \[keep\]"):
        nest.lower(levels, sizes=sizes)


def test_arrays_between_dispatches_have_at_most_two_gibibytes() -> None:
    """With sizes, such decisions are illegal; without, it is found before memory is taken."""
    nest = Nest("products")
    i, j = nest.dim("n"), nest.dim("n", "j")
    product = nest.load("x", "f32", [i]) * nest.load("x", "f32", [j])
    nest.store("sums", nest.reduce("+", product, on=[j]), [i])
    kept, parts = "i: workgroup\nkeep t in storage", "i: workgroup\nj: partial\nj_part: loop"
    x = np.ones(23171, np.float32)
    for point, array in ((kept, "t_kept"), (parts, "acc_partials")):
        message = rf"'{array}' has 2147580964 bytes; an array has at most 2147483648"
        with pytest.raises(InputError, match=rf"^decisions: {message} \[memory\]$"):
            nest.lower(point, sizes={"n": x.size}, reassociate=True)
        nest.lower(point, sizes={"n": x.size - 1}, reassociate=True)
        lowered = nest.lower(point, reassociate=True)
        with pytest.raises(InputError, match=rf"^nest 'products': {message}$"):
            lowered.run({"x": x})
        with pytest.raises(InputError, match=rf"^nest 'products': {message}$"):
            lowered.toml({"n": x.size})


def test_conditions_in_storage_are_numbers() -> None:
    nest = Nest("above")
    i, j, k = nest.dim("rows"), nest.dim("columns"), nest.dim("columns")
    x = nest.load("x", "f32", [i, j])
    is_large = nest.call(">", x, 0.5)
    count = nest.reduce("+", nest.call("u32", is_large), on=[j])
    nest.store("y", nest.call("select", 0, count, nest.map(is_large, [(j, k)])), [i, k])
    expected = np.where(X > 0.5, (X > 0.5).sum(1, dtype=np.uint32)[:, None], 0)
    for location in ("registers", "workgroup", "storage"):
        kernel = nest.lower(f"i: workgroup\nkeep {is_large.name} in {location}", sizes=SIZES)
        assert kernel.run({"x": X})["y"].tolist() == expected.tolist(), location


def test_a_nest_with_values_in_storage_in_a_graph() -> None:
    kernel = softmax(PLAIN, "keep e in storage", {})

    @tinct.graph
    def shares(x: Any) -> Any:
        return kernel({"x": x}, sizes=SIZES)

    found = shares.run({"x": X})["y"].reshape(X.shape)
    assert np.allclose(found, parse_nest(SOFTMAX).run({"x": X})["y"], rtol=1e-5)


TWICE = """nest twice(n, m, p) {
  dim i: n
  dim j: m
  dim k: p
  dim l: m
  in a: i32[n, m]
  out y: i32[n, m]

  a0: i32 = inst a[i, j] on [i, j]
  at: i32 = inst index k on [k]
  t: i32 = inst a0 + at on [i, j, k]
  acc: i32 = 0i fby t0 on [j, k]
  t0: i32 = inst acc + t on [i, j, k]
  total: i32 = last acc on [j, k]
  more: i32 = inst a0 + 1i on [i, j]
  again: i32 = map more on [j -> l]
  t1: i32 = inst again * total on [i, l]
  y[i, l] = t1 on [i, l]
}
"""


@pytest.mark.parametrize("inner", ["loop(2)", "unrolled(2)"])
def test_a_value_that_a_later_dispatch_computes_again_has_the_levels_of_its_dimensions(inner: str) -> None:
    """Only the kept value needs `j` in the second dispatch, where its input lies in the order of the levels of `j`."""
    nest, sizes = parse_nest(TWICE), {"n": 2, "m": 5, "p": 3}
    point = f"j: loop * {inner}\nk: partial\nkeep a0 in storage\nkeep more in workgroup\n"
    lowered = nest.lower(point, sizes=sizes, reassociate=True)
    a = np.arange(10, dtype=np.int32).reshape(2, 5)
    expected = (a + 1) * (a.sum(1) * 3 + 5 * 3)[:, None]
    for device in ("interp", "cpu"):
        assert lowered.run({"a": a}, sizes=sizes, device=device)["y"].tolist() == expected.tolist()
