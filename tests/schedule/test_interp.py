"""The meaning of nests, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tinct import DeviceError
from tinct.ir.schedule import interp
from tinct.ir.schedule.extents import size_mistakes
from tinct.ir.schedule.scope import Scope
from tinct.ir.schedule.text import parse

from .nests import EVERYTHING, ROW_SUMS, SOFTMAX


def test_row_sums() -> None:
    x = np.arange(15, dtype=np.float32).reshape(3, 5)
    assert interp.run(parse(ROW_SUMS), {"x": x}, {"rows": 3, "columns": 5})["sums"].tolist() == x.sum(1).tolist()


def test_without_iterations_a_sum_is_its_first_value() -> None:
    text = ROW_SUMS.replace("0.0f", "7.0f")
    result = interp.run(parse(text), {"x": np.zeros((2, 0), np.float32)}, {"rows": 2, "columns": 0})
    assert result["sums"].tolist() == [7, 7]


def test_softmax() -> None:
    x = np.random.default_rng(0).random((4, 7), np.float32)
    expected = np.exp(x - x.max(1, keepdims=True))
    expected /= expected.sum(1, keepdims=True)
    result = interp.run(parse(SOFTMAX), {"x": x}, {"rows": 4, "columns": 7})["y"]
    assert np.allclose(result, expected, rtol=1e-6)


def test_iterations_are_in_the_order_of_on() -> None:
    text = """nest digits(n) {
      dim i: n
      dim j: 3
      out y: i32[]
      at: i32 = inst index 3 * i + j on [i, j]
      acc: i32 = 0i fby next on [ORDER]
      ten: i32 = inst acc * 10i on [i, j]
      next: i32 = inst ten + at on [i, j]
      end: i32 = last acc on [i, j]
      y[] = end on []
    }"""
    for order, expected in (("i, j", 12345), ("j, i", 31425)):
        assert interp.run(parse(text.replace("ORDER", order)), {}, {"n": 2})["y"] == expected


def test_long_loops_do_not_nest_calls() -> None:
    x = np.ones((1, 5_000), np.float32)
    assert interp.run(parse(ROW_SUMS), {"x": x}, {"rows": 1, "columns": 5_000})["sums"] == [5_000]


def test_the_rest_of_the_language() -> None:
    n, m = 3, 4
    rng = np.random.default_rng(1)
    x = rng.integers(-4, 4, (2 * n + 1, m)).astype(np.float16)
    one = np.array(5, np.int32)
    result = interp.run(parse(EVERYTHING), {"x": x, "one": one}, {"n": n, "m": m})
    y, z = np.zeros(n, np.int32), np.zeros((n + 2, 3), np.uint32)
    for i in range(n):
        carry = 5
        for j in range(2 * m - 1):
            half = x[2 * i + 1, min(max(m - j, 0), m - 1)]
            other = x[i, j - 4] if 0 <= j - 4 < m else 0
            low = half <= other
            pick = 2 * i - j - 3 if low else -7
            carry ^= -2 * -pick
        y[i], z[i + 2, 1] = carry, int(low) << 3
    assert result["y"].tolist() == y.tolist()
    assert result["z"].tolist() == z.tolist()


def test_a_time_limit() -> None:
    x = np.ones((1000, 1000), np.float32)
    with pytest.raises(DeviceError, match="did not end within"):
        interp.run(parse(ROW_SUMS), {"x": x}, {"rows": 1000, "columns": 1000}, timeout=0.05)


SIZES = {
    ("x[i, j]", "x[i, j + 1]"): "subscript 1 of 'x' is 1 to 5, and the extent is 5",
    ("x[i, j] on", "x[i - 1, j] on"): "subscript 0 of 'x' is -1 to 1, and the extent is 3",
    ("dim j: columns", "dim j: columns - 9"): "the size of dimension 'j' is -4",
    ("dim j: columns", "dim j: 1000000000 * columns"): "the size of dimension 'j' is 5000000000",
    ("sums: f32[rows]", "sums: f32[rows - 4]"): "the extents of 'sums' are (-1,)",
    (
        "sums: f32[rows]",
        "sums: f32[1000000000 * rows]",
    ): "'sums' has 12000000000 bytes; an array has at most 2147483648",
    (
        "x[i, j] on",
        "x[i - 2000000000, j - 2147483649] zero on",
    ): "subscript 1 of 'x' is -2147483649 to -2147483645, past",
    (
        "last acc on [j]",
        "last acc on [j]\n at: u32 = inst index i - 1 on [i]",
    ): "'at' is -1 to 1, past the range of u32",
}


@pytest.mark.parametrize(("change", "message"), SIZES.items())
def test_what_sizes_rule_out(change: tuple[str, str], message: str) -> None:
    text = ROW_SUMS.replace(*change)
    assert text != ROW_SUMS
    found = list(size_mistakes(Scope(parse(text)), {"rows": 3, "columns": 5}))
    assert any(message in it for it in found), found


def test_the_last_value_of_nothing() -> None:
    text = ROW_SUMS.replace("last acc", "last x0")
    sizes = {"rows": 3, "columns": 0}
    assert list(size_mistakes(Scope(parse(text)), sizes)) == ["'row' is the last of 'x0' on 'j', which is empty"]
    assert not list(size_mistakes(Scope(parse(ROW_SUMS)), sizes))
