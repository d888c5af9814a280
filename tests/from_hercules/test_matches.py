"""Matches of Hercules functions on a GPU: a switch on the tag, or Ifs where an arm leaves the loop around it."""

from __future__ import annotations

import numpy as np
import pytest

from tinct.backend.gpu import GpuDevice
from tinct.functions import load_hercules
from tinct.ir.hercules.text import parse
from tinct.pipeline import GpuOptions, compile_grid, program_of

THREADS = """  zero = constant(u32 0)
  one = constant(u32 1)
  ten = constant(u32 10)
  length = dynamic(n)
  threads = fork(start, n)
  i = thread_id(threads)"""

MEETING = f"""fn f<n>(items: array<sum<u32, u32, u32>, n>) -> array<u32, n> {{
{THREADS}
  item = read(items, position(i))
  kind = match(threads, item)
  from_third = read(kind, control(2))
  from_second = read(kind, control(1))
  from_first = read(kind, control(0))
  first = read(item, variant(0))
  third = read(item, variant(2))
  added = add(first, ten)
  product = mul(third, third)
  all = region(from_second, from_first, from_third)
  total = phi(all, zero, added, product)
  end = join(all)
  totals = collect(end, total)
  done = return(end, totals)
}}"""

WALK = f"""{THREADS}
  step = phi(header, zero, HEADER_STEPS)
  sum = phi(header, zero, HEADER_SUMS)
  is_left = less(step, ten)
  test = if(header, is_left)
  over = read(test, control(0))
  body = read(test, control(1))
  next = add(step, one)
  wide = cast(u64, step)
  at = add(i, wide)
  place = rem(at, length)
  item = read(items, position(place))
  kind = match(body, item)
  from_first = read(kind, control(0))
  from_second = read(kind, control(1))
  from_third = read(kind, control(2))
  first = read(item, variant(0))
  second = read(item, variant(1))
  third = read(item, variant(2))
  sum_first = add(sum, first)
  sum_second = mul(sum, second)
  sum_third = xor(sum, third)"""

CONTINUING = f"""fn f<n>(items: array<sum<u32, u32, u32>, n>) -> array<u32, n> {{
  header = region(threads, from_first, met)
{WALK.replace("HEADER_STEPS", "next, next").replace("HEADER_SUMS", "sum_first, sum_met")}
  met = region(from_second, from_third)
  chosen = phi(met, sum_second, sum_third)
  sum_met = add(chosen, one)
  end = join(over)
  totals = collect(end, sum)
  done = return(end, totals)
}}"""

LEAVING = f"""fn f<n>(items: array<sum<u32, u32, u32>, n>) -> array<u32, n> {{
  header = region(threads, from_first, from_second)
{WALK.replace("HEADER_STEPS", "next, next").replace("HEADER_SUMS", "sum_first, sum_second")}
  left = region(over, from_third)
  total = phi(left, sum, sum_third)
  end = join(left)
  totals = collect(end, total)
  done = return(end, totals)
}}"""

TWO = f"""fn f<n>(items: array<sum<u32, u32>, n>) -> array<u32, n> {{
{THREADS}
  item = read(items, position(i))
  kind = match(threads, item)
  from_first = read(kind, control(0))
  from_second = read(kind, control(1))
  first = read(item, variant(0))
  all = region(from_first, from_second)
  total = phi(all, first, ten)
  end = join(all)
  totals = collect(end, total)
  done = return(end, totals)
}}"""


def many(variants: int) -> str:
    """A Match with as many arms, which meet in one place."""
    lines: list[str] = []
    for it in range(variants):
        lines += [
            f"from_{it} = read(kind, control({it}))",
            f"held_{it} = read(item, variant({it}))",
            f"factor_{it} = constant(u32 {it + 2})",
            f"value_{it} = mul(held_{it}, factor_{it})",
        ]
    arms = ", ".join(f"from_{it}" for it in range(variants))
    values = ", ".join(f"value_{it}" for it in range(variants))
    body = "\n  ".join(lines)
    return f"""fn f<n>(items: array<sum<{", ".join(["u32"] * variants)}>, n>) -> array<u32, n> {{
{THREADS}
  item = read(items, position(i))
  kind = match(threads, item)
  {body}
  all = region({arms})
  total = phi(all, {values})
  end = join(all)
  totals = collect(end, total)
  done = return(end, totals)
}}"""


def text_for_gpu(source: str) -> str:
    (function,) = parse(source).functions
    (kernel,) = program_of(function, [40]).kernels
    return compile_grid(kernel, GpuOptions()).wgsl


@pytest.mark.parametrize(
    ("source", "cases"),
    [(MEETING, 3), (CONTINUING, 3), (many(12), 12), (LEAVING, 0), (TWO, 0)],
    ids=["meeting", "continuing", "twelve", "leaving", "two"],
)
def test_arms(source: str, cases: int) -> None:
    text = text_for_gpu(source)
    assert text.count("case ") + text.count("default:") == cases
    assert text.count("switch ") == bool(cases)


@pytest.mark.parametrize(
    ("source", "variants"),
    [(MEETING, 3), (CONTINUING, 3), (many(12), 12), (LEAVING, 3), (TWO, 2)],
    ids=["meeting", "continuing", "twelve", "leaving", "two"],
)
def test_answers(source: str, variants: int) -> None:
    if GpuDevice.available() is None:
        pytest.skip(f"no GPU: {GpuDevice.unavailable_reason()}")
    function = load_hercules(source)["f"]
    random = np.random.default_rng(7)
    items = np.zeros(200, function.parameters["items"].dtype)
    items["variant"] = random.integers(0, variants, 200)
    for number in range(variants):
        held = items["variant"] == number
        items[f"v{number}"][held] = random.integers(1, 1000, int(held.sum()))
    expected = function.run({"items": items}, device="interp")["totals"]
    for device in ("cpu", "gpu"):
        np.testing.assert_array_equal(function.run({"items": items}, device=device)["totals"], expected)
