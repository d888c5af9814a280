"""Collections of functions on a GPU, where one type has several forms in WGSL: found by random functions."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tinct.backend.gpu import GpuDevice
from tinct.functions import HerculesFunction
from tinct.ir.hercules.storage import Value
from tinct.ir.hercules.text import parse
from tinct.ir.hercules.verify import check

from ..hercules.support import same_value


@pytest.fixture(autouse=True, scope="module")
def _device() -> None:
    reason = GpuDevice.unavailable_reason()
    if reason is not None:
        pytest.skip(f"no GPU: {reason}")


def agree(text: str, arguments: Mapping[str, object], constants: Mapping[str, int] | None = None) -> Value:
    """What the last function gives, on the interpreter and a GPU."""
    module = parse(text)
    check(module)
    function = HerculesFunction(module.functions[-1])
    expected, found = (
        function.value_of(function.run(arguments, constants=constants, device=it)) for it in ("interp", "gpu")
    )
    assert same_value(found, expected), (found, expected)
    return expected


@pytest.mark.parametrize("count", [1, 3, 9])
def test_a_copy_of_what_atomics_change(count: int) -> None:
    text = f"""fn f(a: product<array<u32, {count}>, u32>) -> product<product<array<u32, {count}>, u32>, u32> {{
      first = constant(u64 0)
      nine = constant(u32 9)
      part = read(a, field(0))
      swapped = atomic(exchange, a, field(0), position(first), nine)
      after = read(swapped, field(0))
      old = read(swapped, field(1))
      changed = atomic(add, part, position(first), old)
      again = read(changed, field(0))
      found = read(again, position(first))
      both = product(after, found)
      done = return(start, both)
    }}"""
    numbers = list(range(7, 7 + count))
    assert agree(text, {"a": [numbers, 5]}) == [[[9, *numbers[1:]], 5], 14]


@pytest.mark.parametrize("count", [1, 2, 6])
def test_arrays_of_which_one_has_atomics_change_places(count: int) -> None:
    type = f"array<u32, {count}>"
    text = f"""fn f<n>(a: {type}, b: {type}) -> product<{type}, {type}> {{
      zero = constant(u64 0)
      one = constant(u64 1)
      ten = constant(u32 10)
      limit = dynamic(n)
      top = region(start, back)
      i = phi(top, zero, next)
      next = add(i, one)
      x = phi(top, a, y)
      y = phi(top, b, after)
      added = atomic(add, x, position(i), ten)
      after = read(added, field(0))
      more = less(i, limit)
      test = if(top, more)
      back = read(test, control(1))
      out = read(test, control(0))
      result = product(after, y)
      done = return(out, result)
    }}"""
    agree(text, {"a": list(range(count)), "b": list(range(20, 20 + count))}, {"n": 3})


def test_collections_without_data() -> None:
    text = """fn f<n>(a: product<>, b: array<product<>, n>, c: product<array<u32, 0>, u32>, at: u64)
        -> product<product<>, array<product<>, n>, product<array<u32, 0>, u32>, u32> {
      seven = constant(u32 7)
      changed = write(c, seven, field(0), position(at))
      read_back = read(changed, field(0), position(at))
      more = write(changed, seven, field(1))
      result = product(a, b, more, read_back)
      done = return(start, result)
    }"""
    assert agree(text, {"a": [], "b": [[], [], []], "c": [[], 1], "at": 0}) == [[], [[], [], []], [[], 7], 0]


def test_members_after_an_empty_array() -> None:
    text = """fn f(a: product<array<u64, 0>, product<array<f32, 0>, u32>>, b: array<product<u32, array<f32, 0>>, 2>)
        -> product<product<array<u64, 0>, product<array<f32, 0>, u32>>, array<product<u32, array<f32, 0>>, 2>> {
      one = constant(u64 1)
      seven = constant(u32 7)
      changed = write(a, seven, field(1), field(1))
      other = write(b, seven, position(one), field(0))
      result = product(changed, other)
      done = return(start, result)
    }"""
    given = {"a": [[], [[], 1]], "b": [[2, []], [3, []]]}
    assert agree(text, given) == [[[], [[], 7]], [[2, []], [7, []]]]


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_the_last_of_an_odd_number_of_f16(count: int) -> None:
    text = """fn f<n>(a: array<f16, n>, at: u64) -> product<array<f16, n>, f16> {
      half = constant(f16 0.5)
      one = constant(f16 1.0)
      last = read(a, position(at))
      sum = add(last, half)
      changed = write(a, sum, position(at))
      result = product(changed, last)
      done = return(start, result)
    }"""
    numbers = [it + 1.0 for it in range(count)]
    expected = [[*numbers[:-1], count + 0.5], float(count)]
    assert agree(text, {"a": numbers, "at": 100}) == expected


def test_an_empty_array_that_a_program_copies() -> None:
    """The copy is a fork of factor 0 over the array."""
    text = """fn f<n>(a: product<u32, array<f32, n>>) -> product<u32, array<f32, n>> {
      zero = constant(u64 0)
      one = constant(u64 1)
      fresh = constant(product<u32, array<f32, n>> zero)
      limit = dynamic(n)
      top = region(start, back)
      i = phi(top, zero, next)
      next = add(i, one)
      x = phi(top, a, fresh)
      more = less(i, one)
      test = if(top, more)
      back = read(test, control(1))
      out = read(test, control(0))
      done = return(out, x)
    }"""
    assert agree(text, {"a": [3, []]}, {"n": 0}) == [0, []]


def test_a_position_that_is_another_inside_of_a_fork_and_after_it() -> None:
    """A Reduce of 64 bits: the position is computed from its two words, on both sides."""
    text = """fn f<n>(a: array<i32, n>) -> array<i32, n> {
      two = constant(u64 2)
      three = constant(i32 3)
      nine = constant(i32 9)
      threads = fork(start, n)
      i = thread_id(threads)
      before = reduce(threads_end, two, i)
      now = reduce(threads_end, a, after)
      after = write(now, three, position(before))
      threads_end = join(threads)
      result = write(now, nine, position(before))
      done = return(threads_end, result)
    }"""
    assert agree(text, {"a": [1, 1, 1, 1]}) == [3, 3, 3, 9]


def test_accesses_to_f16_in_two_branches() -> None:
    """The extent that clamps both is computed before them."""
    text = """fn f<n>(a: array<f16, n>, at: u64, c: bool) -> array<f16, n> {
      one = constant(f16 1.0)
      two = constant(f16 2.0)
      branch = if(start, c)
      else = read(branch, control(0))
      then = read(branch, control(1))
      left = write(a, one, position(at))
      right = write(a, two, position(at))
      end = region(else, then)
      result = phi(end, left, right)
      done = return(end, result)
    }"""
    assert agree(text, {"a": [0.0, 0.0, 0.0], "at": 100, "c": True}) == [0.0, 0.0, 2.0]


@pytest.mark.parametrize("count", [1, 3, 5, 6])
def test_parts_behind_gaps(count: int) -> None:
    text = """fn f<n>(a: array<product<u32, u64, product<f16, i64>>, n>, b: product<array<u8, n>, u64, f16, u64>)
      -> array<product<u32, u64, product<f16, i64>>, n> {
      fork = fork(start, n)
      t = thread_id(fork)
      join = join(fork)
      version = reduce(join, a, last)
      x = read(version, position(t), field(1))
      y = read(version, position(t), field(2), field(1))
      z = read(b, field(3))
      u = bitcast(u64, y)
      total = add(x, u)
      first = write(version, total, position(t), field(1))
      more = add(total, z)
      signed = bitcast(i64, more)
      last = write(first, signed, position(t), field(2), field(1))
      done = return(join, version)
    }"""
    elements = [(i, (1 << 40) + i, (0.5 * i, -7 - i)) for i in range(count)]
    far = (1 << 33) + 1
    found = agree(text, {"a": elements, "b": ([1] * count, 5, 2.0, far)})
    sums = [(1 << 40) - 7] * count
    assert found == [[i, it, [0.5 * i, it + far]] for i, it in enumerate(sums)]
