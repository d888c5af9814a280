"""What functions mean: samples with hand-made results, and the corners of the semantics."""

from __future__ import annotations

import math

import pytest

from tinct.ir.hercules import interp
from tinct.ir.hercules.interp import InterpreterError, backward, forward, run, shuffled
from tinct.ir.hercules.storage import Variant
from tinct.ir.hercules.verify import check

from .support import body, function_of, load, same_value

ORDERS = [forward, backward, shuffled(1), shuffled(2)]


def value_of(text: str, head: str = "fn f() -> i32") -> interp.Value:
    module = body(text, head)
    check(module)
    return run(module.functions[0], [], [])


@pytest.mark.parametrize("order", ORDERS)
def test_matmul(order: interp.ThreadOrder) -> None:
    module = load("matmul")
    check(module)
    a, b = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]
    assert run(module.functions[0], [2, 3, 2], [a, b], order) == [[7.0, 8.0], [16.0, 17.0]]


def test_matmul_with_empty_dimensions() -> None:
    function = load("matmul").functions[0]
    assert run(function, [2, 0, 1], [[[], []], []]) == [[0.0], [0.0]]
    assert run(function, [0, 3, 2], [[], [[1.0, 1.0]] * 3]) == []


@pytest.mark.parametrize("order", ORDERS)
def test_saxpy_leaves_its_argument_alone(order: interp.ThreadOrder) -> None:
    module = load("saxpy")
    check(module)
    x, y = [float(i) for i in range(70)], [1.0] * 70
    result = run(module.functions[0], [2, 70, 70], [2.0, x, y], order)
    assert result == [2.0 * i + 1.0 for i in range(70)]
    assert y == [1.0] * 70


def test_dot_of_nothing_is_its_start() -> None:
    """A fork is not a do-while loop: a factor of 0 runs nothing."""
    function = load("dot").functions[0]
    assert run(function, [0], [[], []]) == 0.0
    assert run(function, [3], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]) == 32.0


def test_numpy_arguments() -> None:
    numpy = pytest.importorskip("numpy")
    ones = numpy.ones(5, dtype=numpy.float32)
    assert run(load("dot").functions[0], [5], [ones, ones * 2]) == 10.0


def test_loop() -> None:
    module = load("loop")
    check(module)
    assert run(module.functions[0], [], [4]) == [10, [1, 3, 6, 10, 0, 0, 0, 0]]
    assert run(module.functions[0], [], [0]) == [0, [0] * 8]


def test_match_and_sums() -> None:
    module = load("match")
    check(module)
    measure, wrap = module.functions
    assert run(measure, [], [Variant(0, 21)]) == 42.0
    assert run(measure, [], [Variant(1, [1.5, 2.0])]) == 3.5
    assert same_value(run(wrap, [], [5]), Variant(0, 5))


def test_calls() -> None:
    module = load("calls")
    check(module)
    assert run(function_of(module, "main"), [2], [[1, 2, 3, 4], 3]) == [[9, 0, 0, 0], 90]


@pytest.mark.parametrize("order", ORDERS)
def test_histogram(order: interp.ThreadOrder) -> None:
    module = load("histogram")
    check(module)
    keys = [0, 1, 1, 3, 7, 1]  # 7 is past the end: the last bin
    counts, olds = run(module.functions[0], [6], [keys], order)
    assert counts == [1, 3, 0, 2]
    assert sorted(olds[i] for i in (1, 2, 5)) == [0, 1, 2]


@pytest.mark.parametrize(("which", "result"), [(True, [[1, 8], [7, 1], 1]), (False, [[5, 8], [1, 1], 8])])
def test_exchange_schedules_each_branch_by_itself(which: bool, result: object) -> None:
    module = load("exchange")
    check(module)
    assert run(module.functions[0], [], [[5, 8], [7, 1], which]) == result


def test_storage_is_made_once_a_thread() -> None:
    module = load("taken_late")
    check(module)
    assert run(module.functions[0], [3], [4]) == [5, 5, 5]


def test_reads_come_before_the_write() -> None:
    text = """
      one = constant(u64 1)
      nine = constant(i32 9)
      new = write(a, nine, position(one))
      old = read(a, position(one))
      now = read(new, position(one))
      all = product(new, old, now)
      done = return(start, all)"""
    module = body(text, "fn f(a: array<i32, 2>) -> product<array<i32, 2>, i32, i32>")
    check(module)
    assert run(module.functions[0], [], [[3, 4]]) == [[3, 9], 4, 9]


def test_parts_of_collections_are_copies() -> None:
    text = """
      zero = constant(u64 0)
      nine = constant(i32 9)
      row = read(a, position(zero))
      changed = write(a, nine, position(zero), position(zero))
      again = write(row, nine, position(zero))
      all = product(changed, again)
      done = return(start, all)"""
    module = body(text, "fn f(a: array<array<i32, 2>, 1>) -> product<array<array<i32, 2>, 1>, array<i32, 2>>")
    check(module)
    a = [[1, 2]]
    assert run(module.functions[0], [], [a]) == [[[9, 2]], [9, 2]]
    assert a == [[1, 2]]


def test_zero_collections_are_storage_of_their_own_each_time() -> None:
    """A local array inside a fork is new for every thread."""
    text = """
      fresh = constant(array<i32, 1> zero)
      zero = constant(u64 0)
      one = constant(i32 1)
      f = fork(start, 3)
      before = read(fresh, position(zero))
      more = add(before, one)
      after = write(fresh, more, position(zero))
      kept = read(after, position(zero))
      j = join(f)
      all = collect(j, kept)
      done = return(j, all)"""
    module = body(text, "fn f() -> array<i32, 3>")
    check(module)
    assert run(module.functions[0], [], []) == [1, 1, 1]


def test_phis_latch_all_at_once() -> None:
    text = """
      zero = constant(i32 0)
      one = constant(i32 1)
      three = constant(i32 3)
      h = region(start, body)
      i = phi(h, zero, next)
      a = phi(h, zero, b)
      b = phi(h, one, a)
      next = add(i, one)
      more = less(i, three)
      test = if(h, more)
      out = read(test, control(0))
      body = read(test, control(1))
      ten = constant(i32 10)
      tens = mul(a, ten)
      both = add(tens, b)
      done = return(out, both)"""
    assert value_of(text) == 10


def test_reduces_move_all_at_once() -> None:
    text = """
      zero = constant(i32 0)
      one = constant(i32 1)
      f = fork(start, 3)
      a = reduce(j, zero, b)
      b = reduce(j, one, a)
      j = join(f)
      ten = constant(i32 10)
      tens = mul(a, ten)
      both = add(tens, b)
      done = return(j, both)"""
    assert value_of(text) == 10


def test_a_reduce_is_two_values() -> None:
    """Inside the fork it is the value so far, after the join the last one."""
    text = """
      zero = constant(i32 0)
      one = constant(i32 1)
      f = fork(start, 3)
      sum = reduce(j, zero, inside)
      inside = add(sum, one)
      outside = add(sum, one)
      j = join(f)
      done = return(j, outside)"""
    assert value_of(text) == 4


def test_unequal_is_true_on_nan() -> None:
    text = """
      nan = constant(f32 nan)
      unequal = not_equal(nan, nan)
      equal = equal(nan, nan)
      less = less_equal(nan, nan)
      all = product(unequal, equal, less)
      done = return(start, all)"""
    assert value_of(text, "fn f() -> product<bool, bool, bool>") == [True, False, False]


@pytest.mark.parametrize(
    ("operation", "type", "left", "right", "result"),
    [
        ("div", "i32", "-2147483648", "-1", -2147483648),
        ("rem", "i32", "-2147483648", "-1", 0),
        ("div", "i32", "7", "0", 7),
        ("rem", "i32", "7", "0", 0),
        ("div", "i32", "-7", "2", -3),
        ("rem", "i32", "-7", "2", -1),
        ("add", "i32", "2147483647", "1", -2147483648),
        ("sub", "u32", "0", "1", 4294967295),
        ("mul", "u64", "18446744073709551615", "3", 18446744073709551613),
        ("shift_left", "u32", "1", "33", 2),
        ("shift_right", "i32", "-8", "1", -4),
        ("add", "i8", "127", "1", -128),
        ("div", "f32", "1.0", "0.0", math.inf),
        ("rem", "f32", "-5.5", "2.0", -1.5),
        ("mul", "f16", "300.0", "300.0", math.inf),
    ],
)
def test_arithmetic_is_total(operation: str, type: str, left: str, right: str, result: float) -> None:
    text = f"""
      l = constant({type} {left})
      r = constant({type} {right})
      x = {operation}(l, r)
      done = return(start, x)"""
    assert value_of(text, f"fn f() -> {type}") == result


@pytest.mark.parametrize(
    ("source", "value", "target", "result"),
    [
        ("f32", "nan", "i32", 0),
        ("f32", "-inf", "i32", -2147483648),
        ("f32", "-1.5", "u32", 0),
        ("f64", "1e300", "u8", 255),
        ("i32", "-1", "u64", 18446744073709551615),
        ("u64", "4294967296", "u32", 0),
        ("i32", "16777217", "f32", 16777216.0),
        ("bool", "true", "f32", 1.0),
        ("f32", "0.5", "bool", True),
        ("u64", "18446744073709551615", "f32", 18446744073709551616.0),
    ],
)
def test_casts(source: str, value: str, target: str, result: object) -> None:
    text = f"""
      v = constant({source} {value})
      x = cast({target}, v)
      done = return(start, x)"""
    found = value_of(text, f"fn f() -> {target}")
    assert found == result
    assert isinstance(found, bool) == isinstance(result, bool)


def test_bitcast_and_intrinsics() -> None:
    text = """
      v = constant(f32 -1.0)
      bits = bitcast(u32, v)
      four = constant(f32 4.0)
      root = intrinsic(sqrt, f32, four)
      low = intrinsic(min, f32, v, root)
      all = product(bits, root, low)
      done = return(start, all)"""
    assert value_of(text, "fn f() -> product<u32, f32, f32>") == [0xBF800000, 2.0, -1.0]


def test_empty_arrays_read_zero_and_ignore_writes() -> None:
    text = """
      five = constant(u64 5)
      seven = constant(i32 7)
      w = write(a, seven, position(five))
      pair = atomic(exchange, w, position(five), seven)
      after = read(pair, field(0))
      old = read(pair, field(1))
      x = read(after, position(five))
      sum = add(x, old)
      both = product(after, sum)
      done = return(start, both)"""
    module = body(text, "fn f<n>(a: array<i32, n>) -> product<array<i32, n>, i32>")
    check(module)
    assert run(module.functions[0], [0], [[]]) == [[], 0]
    assert run(module.functions[0], [2], [[1, 2]]) == [[1, 7], 14]


@pytest.mark.parametrize(
    ("constants", "arguments", "message"),
    [
        ([], [[], []], "dynamic constants"),
        ([1], [[1.0]], "2 arguments"),
        ([2], [[1.0], [1.0, 2.0]], "1 elements instead of 2"),
        ([1], [[1], [1.0]], "no value of its type"),
    ],
)
def test_arguments_must_fit(constants: list[int], arguments: list[object], message: str) -> None:
    with pytest.raises(InterpreterError, match=message):
        run(load("dot").functions[0], constants, arguments)
