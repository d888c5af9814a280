"""Functions of Hercules IR as machine code: whatever the document allows gives what the interpreter gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from tinct.cli.hercules_values import run_values
from tinct.ir.hercules.interp import run
from tinct.ir.hercules.storage import Value
from tinct.ir.hercules.text import parse
from tinct.ir.hercules.verify import check

from .support import same_value

SIZES = (0, 1, 3)


def agree(text: str, constants: Sequence[int], arguments: Sequence[object]) -> Value:
    """What the last function gives, on both."""
    module = parse(text)
    check(module)
    expected = run(module.functions[-1], constants, arguments)
    found = cast(Value, run_values(module.functions[-1], constants, arguments))
    assert same_value(found, expected), (found, expected)
    return expected


@pytest.mark.parametrize("turns", [0, 1, 2, 5])
def test_arrays_change_places_in_a_loop(turns: int) -> None:
    text = """fn f<n>(a: array<u32, 3>, b: array<u32, 3>, c: array<u32, 3>)
        -> product<array<u32, 3>, array<u32, 3>, array<u32, 3>> {
      zero = constant(u64 0)
      one = constant(u64 1)
      more = constant(u32 10)
      limit = dynamic(n)
      top = region(start, back)
      i = phi(top, zero, next)
      next = add(i, one)
      x = phi(top, a, y)
      y = phi(top, b, z2)
      z = phi(top, c, x)
      z2 = write(z, more, position(i))
      again = less(i, limit)
      test = if(top, again)
      back = read(test, control(1))
      out = read(test, control(0))
      result = product(x, y, z)
      done = return(out, result)
    }"""
    agree(text, [turns], [[1, 2, 3], [4, 5, 6], [7, 8, 9]])


@pytest.mark.parametrize("n", SIZES)
def test_threads_hand_on_each_other_s_arrays(n: int) -> None:
    text = """fn f<n>(a: array<u32, 20>, b: array<u32, 20>) -> product<array<u32, 20>, array<u32, 20>> {
      work = fork(start, n)
      i = thread_id(work)
      narrow = cast(u32, i)
      x = reduce(end, a, y2)
      y = reduce(end, b, x)
      y2 = write(y, narrow, position(i))
      end = join(work)
      result = product(x, y)
      done = return(end, result)
    }"""
    agree(text, [n], [list(range(20)), list(range(20, 40))])
