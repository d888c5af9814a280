"""Functions of Hercules IR as machine code: whatever the document allows gives what the interpreter gives."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tinct.ir.hercules.interp import run
from tinct.ir.hercules.storage import Value, Variant
from tinct.ir.hercules.text import parse
from tinct.ir.hercules.verify import check

from .generate_sums import arguments, generate_sums
from .support import copy_of, load, run_values, same_value

SIZES = (0, 1, 3)


def agree(text: str, constants: Sequence[int], arguments: Sequence[object]) -> Value:
    """What the last function gives, on both."""
    module = parse(text)
    check(module)
    expected = run(module.functions[-1], constants, arguments)
    found = run_values(module.functions[-1], constants, arguments)
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


@pytest.mark.parametrize("n", SIZES)
def test_an_array_is_begun_anew_while_the_old_one_is_wanted(n: int) -> None:
    text = """fn f<n>(a: array<u32, 3>, seed: u32) -> product<array<u32, 3>, u32> {
      zero = constant(u64 0)
      one = constant(u64 1)
      none = constant(u32 0)
      limit = dynamic(n)
      top = region(start, back)
      i = phi(top, zero, next)
      next = add(i, one)
      x = phi(top, a, second)
      sum = phi(top, none, more)
      empty = constant(array<u32, 3> zero)
      first = write(empty, seed, position(one))
      new = read(first, position(one))
      second = write(first, sum, position(i))
      old = read(x, position(one))
      both = add(old, new)
      more = add(sum, both)
      again = less(i, limit)
      test = if(top, again)
      back = read(test, control(1))
      out = read(test, control(0))
      result = product(x, sum)
      done = return(out, result)
    }"""
    agree(text, [n], [[1, 2, 3], 7])


@pytest.mark.parametrize("n", SIZES)
def test_what_is_outside_of_forks_is_done_once(n: int) -> None:
    text = """fn f<n, m>(a: array<u32, 2>, b: array<u32, 3>) -> product<array<u32, 2>, array<u32, 3>, u32> {
      zero = constant(u64 0)
      one = constant(u32 1)
      before = atomic(add, a, position(zero), one)
      now = read(before, field(0))
      outer = fork(start, n)
      i = thread_id(outer)
      x = reduce(outer_end, now, x_inner)
      counted = atomic(add, x, position(i), one)
      y = read(counted, field(0))
      inner = fork(outer, m)
      x_inner = reduce(inner_end, y, x_last)
      z = reduce(inner_end, b_outer, z_next)
      b_outer = reduce(outer_end, b, z)
      old = atomic(add, z, position(i), one)
      z_next = read(old, field(0))
      again = atomic(add, x_inner, position(i), one)
      x_last = read(again, field(0))
      inner_end = join(inner)
      outer_end = join(inner_end)
      result = product(x, b_outer, one)
      done = return(outer_end, result)
    }"""
    for m in SIZES:
        agree(text, [n, m], [[1, 2], [3, 4, 5]])


@pytest.mark.parametrize("held", [Variant(0, 5), Variant(1, 6), Variant(2, [1, [2, 3]])], ids=repr)
def test_atomics_and_writes_in_variants(held: Variant) -> None:
    text = """fn f(s: sum<u32, i32, product<u32, array<u32, 2>>>)
        -> product<u32, i32, u32, sum<u32, i32, product<u32, array<u32, 2>>>, product<u32, array<u32, 2>>> {
      one = constant(u32 1)
      minus = constant(i32 -1)
      at = constant(u64 1)
      pair = read(s, variant(2))
      inside = atomic(add, s, variant(2), field(1), position(at), one)
      s2 = read(inside, field(0))
      seen = atomic(load, s2, variant(1))
      s3 = read(seen, field(0))
      sevens = constant(u32 7)
      s4 = write(s3, sevens, variant(2), field(0))
      turned = atomic(sub, s4, variant(1), minus)
      s5 = read(turned, field(0))
      old_inside = read(inside, field(1))
      old = read(turned, field(1))
      last = atomic(exchange, s5, variant(0), one)
      s6 = read(last, field(0))
      zero = read(last, field(1))
      result = product(old_inside, old, zero, s6, pair)
      done = return(start, result)
    }"""
    agree(text, [], [held])


def test_products_and_atomics_are_values_like_any() -> None:
    text = """fn f<n>(a: array<u32, n>, c: bool) -> product<product<array<u32, n>, u32>, u32, product<>> {
      zero = constant(u64 0)
      one = constant(u32 1)
      both = atomic(add, a, position(zero), one)
      test = if(start, c)
      no = read(test, control(0))
      yes = read(test, control(1))
      merge = region(no, yes)
      nothing = constant(array<u32, n> zero)
      other = product(nothing, one)
      either = phi(merge, both, other)
      taken = read(either, field(0), position(zero))
      none = product()
      result = product(either, taken, none)
      done = return(merge, result)
    }"""
    for n in SIZES:
        for c in (False, True):
            agree(text, [n], [[5] * n, c])


@pytest.mark.parametrize("block", range(4))
def test_random_functions_over_all_kinds_of_collections(block: int) -> None:
    for seed in range(8 * block, 8 * block + 8):
        module = generate_sums(seed)
        check(module)
        for n in SIZES:
            given = arguments(module.functions[-1], n, seed)
            expected = run(module.functions[-1], [n], given)
            found = run_values(copy_of(module).functions[-1], [n], given)
            assert same_value(found, expected), (seed, n)


@pytest.mark.parametrize("n", [0, 1, 5, 40])
@pytest.mark.parametrize("is_backwards", [False, True])
def test_calls_at_places_wait_for_each_other_in_any_order_of_nodes(n: int, is_backwards: bool) -> None:
    module = copy_of(load("placed_calls"))
    start, *nodes = module.functions[-1].nodes
    module.functions[-1].nodes = [start, *(reversed(nodes) if is_backwards else nodes)]
    for condition in (False, True):
        expected = run(module.functions[-1], [], [n, condition])
        assert run_values(copy_of(module).functions[-1], [], [n, condition]) == expected


def test_a_copied_part_is_read_before_its_collection_changes() -> None:
    """The copy is consumed in a later block than the one that changes the collection."""
    text = """fn f(a: product<array<u32, 2>, u32>) -> product<product<array<u32, 2>, u32>, u32> {
      first = constant(u64 0)
      second = constant(u64 1)
      seven = constant(u32 7)
      nine = constant(u32 9)
      part = read(a, field(0))
      swapped = atomic(exchange, a, field(0), position(first), nine)
      after = read(swapped, field(0))
      old = read(swapped, field(1))
      is_seven = equal(old, seven)
      branch = if(start, is_seven)
      else = read(branch, control(0))
      then = read(branch, control(1))
      changed = write(part, nine, position(second))
      found = read(changed, position(first))
      end = region(else, then)
      result = phi(end, nine, found)
      both = product(after, result)
      done = return(end, both)
    }"""
    assert agree(text, [], [[[7, 8], 5]]) == [[[9, 8], 5], 7]


@pytest.mark.parametrize("takes_first", [False, True])
def test_a_dynamic_constant_that_only_a_phi_uses(takes_first: bool) -> None:
    text = """fn f<n>(a: array<u64, 3>, c: bool) -> product<array<u64, 3>, u64> {
      size = dynamic(n)
      branch = if(start, c)
      else = read(branch, control(0))
      then = read(branch, control(1))
      one = product(a, size)
      end = return(else, one)
      other = product(a, size)
      end_too = return(then, other)
    }"""
    assert agree(text, [7], [[1, 2, 3], takes_first]) == [[1, 2, 3], 7]
