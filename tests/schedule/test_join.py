"""Two nests as one: what it computes, which names stay, and when two nests stay two."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tinct import InputError, Nest
from tinct.ir.schedule.extents import value_of
from tinct.ir.schedule.nodes import Direction
from tinct.nests import Dim, LoopNest, Value

RNG = np.random.default_rng(1)


def row_sums() -> Nest:
    nest = Nest("row_sums")
    i, j = nest.dim("rows"), nest.dim("columns")
    x = nest.load("x", "f32", [i, j])
    nest.store("sums", nest.reduce("+", x, on=[j]), [i])
    return nest


def squares(*sizes: str) -> Nest:
    """Element-wise, with a second input of one extent less and an index."""
    nest = Nest("squares")
    dims = [nest.dim(it) for it in sizes]
    x = nest.load("x", "f32", dims)
    scale = nest.load("scale", "f32", dims[:1])
    nest.store("y", x * x * scale, dims)
    return nest


def halves(size: str = "n") -> Nest:
    nest = Nest("halves")
    i = nest.dim(size)
    nest.store("y", nest.load("x", "f32", [i]) * 0.5, [i])
    return nest


def centred() -> Nest:
    """What a second pass over rows does with a number for each row."""
    nest = Nest("centred")
    r, c = nest.dim("m", "r"), nest.dim("n", "c")
    sums = nest.load("s", "f32", [r])
    nest.store("y", nest.load("x", "f32", [r, c]) - sums, [r, c])
    return nest


def test_a_prologue_in_line() -> None:
    joined = squares("a", "b").then(row_sums(), {"y": "x"})
    assert (
        str(joined)
        == """\
nest squares_row_sums(rows, columns) {
  dim i: rows
  dim j: columns
  out sums: f32[rows]
  in x: f32[rows, columns]
  in scale: f32[rows]

  x0_2: f32 = inst x[i, j] on [i, j]
  scale0: f32 = inst scale[i] on [i]
  t_2: f32 = inst x0_2 * x0_2 on [i, j]
  t0: f32 = inst t_2 * scale0 on [i, j]
  acc: f32 = 0.0f fby t on [j]
  t: f32 = inst acc + t0 on [i, j]
  acc_last: f32 = last acc on [j]
  sums[i] = acc_last on [i]
}
"""
    )
    x, scale = RNG.random((5, 7), np.float32), RNG.random(5, np.float32)
    decisions = "i: workgroup * invocation(2)\nj: loop * invocation(4)"
    found = joined.lower(decisions, reassociate=True).run({"x": x, "scale": scale})["sums"]
    assert np.allclose(found, (x * x).sum(1) * scale)


def test_an_epilogue_and_a_second_pass() -> None:
    x = RNG.random((4, 6), np.float32)
    once = row_sums().then(halves(), {"sums": "x"})
    assert np.allclose(once.run({"x": x})["y"], x.sum(1) / 2)
    assert "x_2" not in str(once)
    twice = once.then(centred(), {"y": "s"})
    found = twice.lower("i: workgroup * invocation(4)").run({"x": x, "x_2": x}, sizes={"n": 6})["y"]
    assert np.allclose(found, x - x.sum(1, keepdims=True) / 2)


def test_stencils_compute_elements_again() -> None:
    for boundary, ends in (("clamp", "edge"), ("inside", None)):
        nest = Nest("blur")
        i = nest.dim(nest.size("n") - (0 if ends else 2))
        first = -1 if ends else 0
        a, b, c = (nest.load("x", "f32", [i + first + it], boundary=boundary, extents=["n"]) for it in range(3))
        nest.store("y", a + b + c, [i])
        joined = halves("m").then(nest, {"y": "x"})
        x = np.arange(7, dtype=np.float32)
        wide = np.pad(x, 1, ends) if ends else x
        assert joined.run({"x": x})["y"].tolist() == ((wide[:-2] + wide[1:-1] + wide[2:]) / 2).tolist()


def reversed_halves() -> Nest:
    nest = Nest("halves")
    i = nest.dim("n")
    at = nest.index(2 * i + 1, "i32")
    nest.store("y", nest.load("x", "f32", [nest.size("n") - 1 - i], extents=["n"]) * nest.call("f32", at), [i])
    return nest


def windows(boundary: str) -> Nest:
    nest = Nest("windows")
    i = nest.dim("n")
    nest.store("y", nest.load("x", "f32", [i - 1], boundary=boundary, extents=["n"]), [i])
    return nest


def part() -> Nest:
    nest = Nest("part")
    i = nest.dim(nest.size("n") - 1)
    nest.store("y", nest.load("x", "f32", [i], extents=["n"]), [i], extents=["n"])
    return nest


def pairs() -> Nest:
    nest = Nest("pairs")
    i, j = nest.dim("n"), nest.dim("n", "j")
    nest.store("y", nest.load("x", "f32", [i]) * nest.load("x", "f32", [j]), [i, j])
    return nest


def looked_up() -> Nest:
    nest = Nest("looked_up")
    at = nest.load("at", "u32", [nest.dim("m")])
    nest.store("z", nest.gather("x", "f32", [at], extents=["n"]), [nest.dimensions[0]])
    return nest


def counts() -> Nest:
    nest = Nest("counts")
    i = nest.dim("n")
    nest.store("y", nest.load("x", "u32", [i]), [i])
    return nest


def test_elements_computed_at_other_places() -> None:
    x = RNG.random(5, np.float32)
    joined = reversed_halves().then(pairs(), {"y": "x"})
    y = x[::-1] * (2 * np.arange(5, dtype=np.float32) + 1)
    assert np.allclose(joined.run({"x": x})["y"], y[:, None] * y)


def test_elements_at_computed_places_come_into_the_next_nest() -> None:
    """They are computed where that nest loads them."""
    x, at = RNG.random(5, np.float32), np.uint32([4, 0, 9])
    y = x[[4, 0, 4]]
    joined = looked_up().then(pairs(), {"z": "x"})
    assert joined.run({"x": x, "at": at})["y"].tolist() == (y[:, None] * y).tolist()
    assert joined.lower().run({"x": x, "at": at})["y"].tolist() == (y[:, None] * y).tolist()


@pytest.mark.parametrize(
    ("first", "second", "arrays", "reason"),
    [
        (row_sums(), pairs(), {"sums": "x"}, "elements of 'sums -> x' are loaded at several indices"),
        (row_sums(), windows("clamp"), {"sums": "x"}, "in 'windows', not each subscript of 'sums -> x' is a dimension"),
        (halves(), windows("zero"), {"y": "x"}, "'y -> x' is 0 outside, which 'halves' does not compute"),
        (reversed_halves(), windows("clamp"), {"y": "x"}, "'halves' does not compute clamped elements of 'y -> x'"),
        (part(), pairs(), {"y": "x"}, "'part' stores n - 1 of n elements"),
        (row_sums(), row_sums(), {"sums": "x"}, r"'sums' is f32.rows., but 'x' is f32.rows, columns."),
        (halves(), looked_up(), {"y": "x"}, "'looked_up' loads elements of 'x' at computed places"),
        (halves(), counts(), {"y": "x"}, "'y' is f32.n., but 'x' is u32.n."),
        (halves(), pairs(), {"z": "x"}, "nest 'halves' has no output 'z'"),
        (halves(), pairs(), {"y": "z"}, "nest 'pairs' has no input 'z'"),
        (halves("n"), part(), {"y": "y"}, "nest 'part' has no input 'y'"),
    ],
)
def test_nests_that_stay_two(first: LoopNest, second: LoopNest, arrays: dict[str, str], reason: str) -> None:
    with pytest.raises(InputError, match=f"{first.name!r} and {second.name!r} stay two nests: .*{reason}"):
        first.then(second, arrays)


def test_a_second_nest_of_something_odd() -> None:
    with pytest.raises(InputError, match="expected a nest, not 3"):
        halves().then(3, {"y": "x"})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="arrays maps names to values"):
        halves().then(pairs(), "y")  # type: ignore[arg-type]


# Random pairs


def _combined(nest: Nest, random: Random, values: list[Value]) -> Value:
    function = random.choice(("+", "-", "*", "min", "max"))
    return nest.call(function, random.choice(values), random.choice((*values, 3)))


def _body(nest: Nest, random: Random, values: list[Value], dims: list[Dim]) -> tuple[Value, list[Dim]]:
    """Operations on values, and at times a sum or a scan along the last dimension."""
    found = _combined(nest, random, values)
    form = random.choice(("each", "each", "sum", "scan")) if len(dims) > 1 else "each"
    if form == "each":
        return found, dims
    whole = nest.call("+", found, nest.index(dims[-1] * 2, "i32"))
    if form == "sum":
        return nest.reduce("+", whole, on=dims[-1:]), dims[:-1]
    carried = nest.fby(1, dims[-1:], "i32")
    carried.next = carried + whole
    return carried, dims


def random_pair(seed: int) -> tuple[Nest, Nest]:
    """A nest over one to two dimensions, and one that loads what it stores, in one or several places."""
    random = Random(seed)
    first = Nest("first")
    dims = [first.dim(it) for it in ("n", "m")[: random.randint(1, 2)]]
    loads = [first.load("x", "i32", dims), first.load("z", "i32", dims[:1])]
    value, on = _body(first, random, loads, dims)
    first.store("y", first.call("+", value, first.index(dims[0], "i32")) if on is dims else value, on)
    second = Nest("second")
    rank = len(on)
    ours = [second.dim(it, letter) for it, letter in zip(("n", "p", "q")[: rank + 1], "abc", strict=False)]
    places = ours[:rank] if random.random() < 0.7 else ours[:rank][::-1]
    extents = [it.size for it in places]
    values = [second.load("y", "i32", places, extents=extents)]
    if random.random() < 0.3:
        shifted = [it - random.randint(0, 2) for it in places]
        values.append(second.load("y", "i32", shifted, extents=extents, boundary="clamp"))
    values.append(second.load("w", "i32", ours))
    result, on = _body(second, random, values, ours)
    second.store("r", second.call("+", result, values[0]) if len(on) == len(ours) else result, on)
    return first, second


def _inputs(nest: Nest, sizes: dict[str, int], rng: np.random.Generator) -> dict[str, np.ndarray]:
    inputs = [it for it in nest.ir.arrays if it.direction is Direction.IN]
    shapes = {it.name: tuple(value_of(extent, sizes) for extent in it.extents) for it in inputs}
    return {name: rng.integers(-9, 9, shape).astype(np.int32) for name, shape in shapes.items()}


def test_random_pairs() -> None:
    counts = {"one": 0, "two": 0}
    for seed in range(150):
        first, second = random_pair(seed)
        rng = np.random.default_rng(seed)
        given = _inputs(first, {"n": 4, "m": 3}, rng)
        between = first.run(given)["y"]
        y = next(it for it in second.ir.arrays if it.name == "y")
        sizes = {"n": 2, "p": 3, "q": 3}
        sizes |= {it.terms[0].name: length for it, length in zip(y.extents, between.shape, strict=True)}
        more = {**_inputs(second, sizes, rng), "y": between}
        expected = second.run(more)["r"]
        try:
            joined = first.then(second, {"y": "y"})
        except InputError:
            counts["two"] += 1
            continue
        counts["one"] += 1
        names = [it.name for it in joined.ir.arrays if it.direction is Direction.IN]
        found = joined.run({it: {**more, **given}[it] for it in names})["r"]
        assert found.tolist() == expected.tolist(), f"{seed}\n{first}\n{second}\n{joined}"
    assert counts["two"] > 10
    assert counts["one"] > 80
