"""Quotients whose divisors loops do not change are products with reciprocals, where rounding may differ."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.ir.schedule.text import parse_decisions
from tinct.transforms.schedule.decided import Decided
from tinct.tuning.cost import cost_of
from tinct.tuning.measured_rates import rates_of

SHARES = """\
nest shares(rows, columns) {
  dim i: rows
  dim j: columns
  dim k: columns
  in x: TYPE[rows, columns]
  out y: TYPE[rows, columns]

  x0: TYPE = inst x[i, j] on [i, j]
  acc: TYPE = FIRST fby t on [j]
  t: TYPE = inst acc + x0 on [i, j]
  total: TYPE = last acc on [j]
  x1: TYPE = inst x[i, k] on [i, k]
  share: TYPE = inst x1 / total on [i, k]
  y[i, k] = share on [i, k]
}
"""
FLOATS = SHARES.replace("TYPE", "f32").replace("FIRST", "0.0f")
LOOPS = "i: workgroup\nj: loop * invocation(4)\nk: loop * LEVEL"
ONCE = "i: workgroup\nj: loop * invocation(4)\nk: workgroup * invocation(4)"


@pytest.mark.parametrize("level", ["invocation(4)", "unrolled(2)", "invocation(4) * vector(2)"])
def test_a_divisor_of_all_iterations_is_inverted(level: str) -> None:
    x = np.random.default_rng(4).random((3, 40), np.float32) + 0.5
    kernel = tinct.parse_nest(FLOATS).lower(LOOPS.replace("LEVEL", level), reassociate=True)
    assert "1.0 / " in kernel.wgsl
    expected = x / x.sum(axis=1, keepdims=True)
    for device in ("cpu", "interp"):
        np.testing.assert_allclose(kernel.run({"x": x}, device=device)["y"], expected, rtol=3e-7)


def test_other_quotients_stay() -> None:
    nest = tinct.parse_nest(FLOATS)
    assert "1.0 / " not in nest.lower("k: loop * unrolled(4)").wgsl  # rounding may not differ
    assert "1.0 / " not in nest.lower(ONCE, reassociate=True).wgsl  # each invocation divides once
    halves, whole = SHARES.replace("TYPE", "f16").replace("FIRST", "0.0h"), SHARES.replace("TYPE", "u32")
    for text in (halves, whole.replace("FIRST", "0u")):
        assert "/ " in (wgsl := tinct.parse_nest(text).lower("", reassociate=True).wgsl.partition("@compute")[2])
        assert "1.0" not in wgsl


def test_a_quotient_by_a_value_of_the_loop_stays() -> None:
    text = FLOATS.replace("x1 / total", "total / x1")
    assert "1.0 / " not in tinct.parse_nest(text).lower("", reassociate=True).wgsl


def test_products_cost_less() -> None:
    nest, sizes = tinct.parse_nest(FLOATS).ir, {"rows": 64, "columns": 64}
    decisions = parse_decisions("i: workgroup\nj: loop * invocation(16)\nk: loop * invocation(16)")
    exact, inverted = (cost_of(Decided(nest, decisions, sizes, it), rates_of("cpu")) for it in (False, True))
    assert inverted.expected < exact.expected
