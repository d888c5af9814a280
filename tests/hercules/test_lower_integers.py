"""Integers of 8, 16 and 64 bits in 32 bits: meaning and bytes of buffers stay, and the normal form is reached."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import tinct
from tinct.frontend import load_program
from tinct.ir.diagnostics import ShaderError
from tinct.ir.hercules import arithmetic, dynamic
from tinct.ir.hercules.arithmetic import ScalarValue
from tinct.ir.hercules.inference import infer_types
from tinct.ir.hercules.interp import run
from tinct.ir.hercules.layout import WORD, field_offsets, size_of, stride_of
from tinct.ir.hercules.nodes import (
    Array,
    Atomic,
    AtomicOp,
    BinaryOp,
    Call,
    DynamicOp,
    DynamicParameter,
    Float,
    Function,
    Integer,
    Module,
    Node,
    Phi,
    Product,
    ProductNode,
    Type,
    UnaryOp,
)
from tinct.ir.hercules.storage import Value
from tinct.ir.hercules.text import parse, type_text
from tinct.ir.hercules.types import BOOL, F16, F32, I8, I16, I32, I64, U8, U16, U32, U64, Scalar, array
from tinct.ir.hercules.verify import check, verify
from tinct.ir.source import Source, Span
from tinct.transforms.hercules.lower_integers import LowerIntegers, is_lowered, lower_integers, too_large, unlowered
from tinct.transforms.hercules.packed_arrays import packed_type, widened_type
from tinct.transforms.hercules.wide_integers import narrowed_type

from .builder import FunctionBuilder, position
from .generate_integers import arguments, generate_integers
from .memory import converted
from .support import copy_of, node_of, same_value

N = DynamicParameter(0)
SHADERS = Path(__file__).parents[2] / "shaders"
TYPES: tuple[Scalar, ...] = (BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, F32)
NUMBERS = (0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65503, 65504, 65519, 65520, 65536, (1 << 24) + 1)
POWERS = tuple((1 << bits) + change for bits in (7, 8, 15, 16, 31, 32, 53, 62, 63, 64) for change in (-1, 0, 1))
TIES = tuple((1 << 40) + it for it in (1 << 15, (1 << 15) + 1, 1 << 16, (1 << 16) + (1 << 15), (1 << 17) - 1))
FLOATS = (0.0, -0.0, 0.5, -0.5, 1.5, -1.5, math.nan, math.inf, -math.inf)


def nearest(type: Float, value: float) -> float:
    """The value of the type nearest to a number; infinity if the number is too large."""
    with np.errstate(over="ignore"):
        return float(np.dtype(f"f{type.bits // 8}").type(value))


def samples(type: Scalar) -> list[ScalarValue]:
    """Edge values."""
    if isinstance(type, Integer):
        wrap = arithmetic.wrapper(type)
        return list(dict.fromkeys(wrap(sign * it) for it in (*NUMBERS, *POWERS, *TIES) for sign in (1, -1)))
    if isinstance(type, Float):
        some = [sign * it * scale for it in (*NUMBERS, *POWERS) for sign in (1, -1) for scale in (1, 1 - 2**-24)]
        return [*FLOATS, *dict.fromkeys(nearest(type, it) for it in some)]
    return [False, True]


def lowered(module: Module) -> Module:
    """A copy in normal form; the first function is the one to run."""
    result = copy_of(module)
    LowerIntegers().run(result)
    check(result)
    for function in result.functions:
        assert not [*unlowered(function)]
    return result


def restored(value: Value, before: Type, after: Type, constants: Sequence[int]) -> Value:
    """A result with the types that it had before."""
    match before, after, value:
        case Product(fields), Product(new), list() if after != packed_type(narrowed_type(before)):
            parts = zip(value, fields, new, strict=True)
            return [restored(part, old, now, constants) for part, old, now in parts]
        case Array(element=element), Array(element=now), list() if after == widened_type(narrowed_type(before)):
            return [restored(part, element, now, constants) for part in value]
        case Integer(bits), _, int() if bits < 32:
            return value
        case _:
            return converted(value, after, before, constants)


def run_lowered(before: Function, after: Function, constants: Sequence[int], given: Sequence[Value]) -> Value:
    """What the lowered function returns for the arguments of the function it was."""
    types = zip(given, before.parameter_types, after.parameter_types, strict=True)
    result = run(after, constants, [converted(value, old, new, constants) for value, old, new in types])
    if not isinstance(before.return_type, Product):
        return restored(result, before.return_type, after.return_type, constants)
    assert isinstance(after.return_type, Product)
    assert isinstance(result, list)
    parts = zip(result, before.return_type.fields, after.return_type.fields, strict=True)
    return [restored(part, old, new, constants) for part, old, new in parts]


def finished(b: FunctionBuilder, control: Node, results: Sequence[Node]) -> Module:
    value = b.product(results)
    b.return_(control, value)
    b.function.return_type = infer_types(b.function)[value]
    return Module([b.function])


def operations(type: Scalar) -> Module:
    """All operations on the elements of two arrays, each as an array; those that do not verify are left out."""
    b = FunctionBuilder("operations")
    n = b.dynamic_parameter("n")
    xs, ys = b.parameter("xs", array(type, n)), b.parameter("ys", array(type, n))
    fork = b.fork(b.start, n)
    at = position(b.thread_id(fork))
    x, y = b.read(xs, [at]), b.read(ys, [at])
    values: list[Node] = [b.select(b.binary(BinaryOp.EQUAL, x, y), x, y)]
    values += [b.unary(op, x) for op in UnaryOp]
    values += [b.binary(op, x, y) for op in BinaryOp]
    values += [b.cast(it, x) for it in TYPES] + [b.bitcast(it, x) for it in TYPES]
    join = b.close_join(b.open_join(fork), fork)
    collects = [b.collect(join, it) for it in values]
    module = finished(b, join, collects)
    wrong = {it.node for it in verify(module)}
    kept = [it for value, it in zip(values, collects, strict=True) if value not in wrong]
    done = node_of_result(module)
    done.fields = list[Node](kept)
    b.function.nodes = [it for it in b.function.nodes if it not in wrong and (it in kept or it not in collects)]
    b.function.return_type = infer_types(b.function)[done]
    check(module)
    return module


def node_of_result(module: Module) -> ProductNode:
    return next(it for it in module.functions[0].nodes if isinstance(it, ProductNode))


@pytest.mark.parametrize("type", TYPES, ids=lambda it: type_text(it, ()))
def test_all_operations(type: Scalar) -> None:
    module = operations(type)
    after = lowered(module)
    pairs = [*itertools.product(samples(type), repeat=2)]
    pairs = pairs[:: 1 + len(pairs) // 900]
    given: list[Value] = [[x for x, _ in pairs], [y for _, y in pairs]]
    expected = run(module.functions[0], [len(pairs)], given)
    found = run_lowered(module.functions[0], after.functions[0], [len(pairs)], given)
    assert isinstance(expected, list)
    assert isinstance(found, list)
    for node, good, bad in zip(node_of_result(module).fields, expected, found, strict=True):
        assert isinstance(good, list)
        assert isinstance(bad, list)
        wrong = [(*it[2], *it[:2]) for it in zip(good, bad, pairs, strict=True) if not same_value(it[0], it[1])]
        assert not wrong[:4], node.inputs()[1]


@pytest.mark.parametrize("seed", range(80))
def test_meaning_stays(seed: int) -> None:
    module = generate_integers(seed)
    before = module.functions[0]
    after = lowered(module).functions[0]
    for n in (0, 1, 3):
        given = arguments(before, n, seed)
        assert same_value(run_lowered(before, after, [n], given), run(before, [n], given)), n


def atomics(op: AtomicOp, type: Integer, has_threads: bool) -> Module:
    """An atomic on each of the elements of an array; the old values."""
    b = FunctionBuilder("atomics")
    n = b.dynamic_parameter("n")
    elements = b.parameter("elements", array(type, n))
    operands = [b.parameter(f"x{number}", array(type, n)) for number in range(2)]
    count = arithmetic.ATOMIC_OPERANDS.get(op, 1)
    if not has_threads:
        at = position(b.dynamic(dynamic.sub(n, dynamic.ONE)))
        version, old = b.atomic(op, elements, [at], [b.read(it, [at]) for it in operands][:count])
        return finished(b, b.start, [version, old])
    fork = b.fork(b.start, n)
    join = b.open_join(fork)
    now = b.reduce(join, elements)
    at = position(b.thread_id(fork))
    now.update, old = b.atomic(op, now, [at], [b.read(it, [at]) for it in operands][:count])
    b.close_join(join, fork)
    return finished(b, join, [now, b.collect(join, old)])


@pytest.mark.parametrize("has_threads", [False, True])
@pytest.mark.parametrize("op", AtomicOp, ids=lambda it: it.value)
def test_narrow_atomics(op: AtomicOp, has_threads: bool) -> None:
    for type in (I8, U8, I16, U16):
        module = atomics(op, type, has_threads)
        after = lowered(module)
        values = samples(type)[:23]
        given: list[Value] = [list(values), list(reversed(values)), values[3:] + values[:3]]
        given[1] = [x if number % 3 else y for number, (x, y) in enumerate(zip(given[1], values, strict=True))]
        expected = run(module.functions[0], [len(values)], given)
        assert same_value(run_lowered(module.functions[0], after.functions[0], [len(values)], given), expected)


def test_writes_of_threads_are_atomics() -> None:
    text = """fn f<n>(a: array<u8, n>) -> product<array<u8, n>> {
      threads = fork(start, n)
      i = thread_id(threads)
      now = reduce(joined, a, after)
      value = cast(u8, i)
      after = write(now, value, position(i))
      joined = join(threads)
      all = product(now)
      done = return(joined, all)
    }"""
    module = parse(text)
    after = lowered(module).functions[0]
    assert [it.op for it in after.nodes if isinstance(it, Atomic)] == [AtomicOp.AND, AtomicOp.OR]
    assert after.parameter_types == [array(U32, dynamic.div(dynamic.add(N, dynamic.literal(3)), dynamic.literal(4)))]
    assert run(after, [6], [[0xFFFFFFFF, 0xFFFFFFFF]]) == [[0x03020100, 0xFFFF0504]]


@pytest.mark.parametrize("op", DynamicOp, ids=lambda it: it.value)
def test_expressions_of_dynamic_constants_are_64_bits(op: DynamicOp) -> None:
    b = FunctionBuilder("expressions")
    n, m = b.dynamic_parameter("n"), b.dynamic_parameter("m")
    value = b.dynamic(dynamic.binary(op, dynamic.mul(n, n), dynamic.binary(op, n, m)))
    module = finished(b, b.start, [value, b.binary(BinaryOp.LESS, value, b.dynamic(m))])
    after = lowered(module)
    for constants in itertools.product((0, 1, 5, 1 << 16, (1 << 32) - 1), repeat=2):
        expected = run(module.functions[0], constants, [])
        assert same_value(run_lowered(module.functions[0], after.functions[0], constants, []), expected), constants


def test_64_bit_values_through_loops_and_forks() -> None:
    text = """fn f<n>(a: array<u64, n>, c: bool) -> product<u64, i64, array<u64, n>> {
      zero = constant(u64 0)
      start_at = constant(i64 -7)
      threads = fork(start, n)
      i = thread_id(threads)
      sum = reduce(joined, zero, next)
      x = read(a, position(i))
      next = add(sum, x)
      both = mul(next, x)
      joined = join(threads)
      all = collect(joined, both)
      loop = region(joined, again)
      k = phi(loop, start_at, k3)
      turn = phi(loop, zero, turn2)
      one = constant(u64 1)
      turns = constant(u64 9)
      turn2 = add(turn, one)
      u = bitcast(u64, k)
      smaller = less(u, sum)
      open = less(turn, turns)
      more = or(smaller, open)
      many = constant(u64 40)
      ends = less(turn, many)
      goes = and(more, ends)
      test = if(loop, goes)
      end = read(test, control(0))
      again = read(test, control(1))
      k2 = mul(k, start_at)
      k3 = select(c, k2, zero_signed)
      zero_signed = bitcast(i64, sum)
      result = product(sum, k, all)
      done = return(end, result)
    }"""
    module = parse(text)
    after = lowered(module)
    for a in ([], [5], [1 << 63, (1 << 63) + 5, 77], [(1 << 64) - 1] * 3):
        for c in (False, True):
            expected = run(module.functions[0], [len(a)], [a, c])
            assert same_value(run_lowered(module.functions[0], after.functions[0], [len(a)], [a, c]), expected)


COUNTED = """fn f<n>(a: array<i32, n>) -> i32 {
      zero = constant(i32 0)
      first = constant(u64 0)
      one = constant(u64 1)
      bound = dynamic(n)
      h = region(start, yes)
      i = phi(h, first, next)
      v = phi(h, zero, sum)
      more = less(i, bound)
      test = if(h, more)
      out = read(test, control(0))
      yes = read(test, control(1))
      x = read(a, position(i))
      sum = add(v, x)
      next = add(i, one)
      done = return(out, v)
    }"""


def test_a_counter_that_fits_takes_one_word() -> None:
    module = parse(COUNTED)
    after = lowered(module)
    phis = [it for it in after.functions[0].nodes if isinstance(it, Phi)]
    assert {it.label for it in phis} == {"i", "v"}
    assert len(after.functions[0].nodes) <= len(module.functions[0].nodes) + 3
    assert run(after.functions[0], [4], [[1, 2, 3, 40]]) == 46


@pytest.mark.parametrize("element", ["i32", "u8"])
@pytest.mark.parametrize("type", ["u64", "i64", "i32", "u32", "i8"])
def test_positions_past_the_end(type: str, element: str) -> None:
    converted_to = "cast(u64, k)" if type != "u64" else "add(k, zero)"
    text = f"""fn f<n>(a: array<{element}, n>, k: {type}) -> {element} {{
      zero = constant(u64 0)
      p = {converted_to}
      x = read(a, position(p))
      done = return(start, x)
    }}"""
    module = parse(text)
    after = lowered(module)
    shape = after.functions[0].parameter_types[0]
    integer = infer_types(module.functions[0])[node_of(module.functions[0], "k")]
    assert isinstance(integer, Integer)
    for k in samples(integer):
        for a in ([], [7], [1, 2, 3, 4, 5]):
            given = [
                converted(value, *types, [len(a)])
                for value, types in zip(
                    ([*a], k),
                    zip(
                        module.functions[0].parameter_types, (shape, after.functions[0].parameter_types[1]), strict=True
                    ),
                    strict=True,
                )
            ]
            assert run(after.functions[0], [len(a)], given) == run(module.functions[0], [len(a)], [a, k]), (k, a)


def refusal(text: str) -> str:
    module = parse(text)
    with pytest.raises(ShaderError) as error:
        LowerIntegers().run(module)
    return error.value.diagnostics[0].message


def test_f64_is_refused() -> None:
    text = """fn f(a: array<f64, 2>) -> f32 {
      zero = constant(u64 0)
      x = read(a, position(zero))
      y = cast(f32, x)
      done = return(start, y)
    }"""
    assert refusal(text) == "not supported: f64 on a GPU: the value `a`"
    inside = """fn f(a: f32) -> f32 {
      x = cast(f64, a)
      y = cast(f32, x)
      done = return(start, y)
    }"""
    assert refusal(inside) == "not supported: f64 on a GPU: the value `x`"


def test_atomics_on_64_bits_are_refused() -> None:
    module = atomics(AtomicOp.ADD, U64, True)
    (atomic,) = (it for it in module.functions[0].nodes if isinstance(it, Atomic))
    atomic.label, atomic.span = "both", Span(4, 9)
    with pytest.raises(ShaderError) as error:
        lower_integers(module.functions[0])
    (found,) = error.value.diagnostics
    assert found.message == "not supported: an atomic on a 64-bit integer on a GPU: the value `both`"
    assert found.span == atomic.span


@pytest.mark.parametrize(
    "type",
    [
        "array<product<array<u8, 3>>, 5>",
        "product<array<i8, 2>, f16>",
        "product<u32, u64>",
        "array<product<u64, u32>, 3>",
        "product<f16, u64, f16>",
        "product<f16, f16, array<product<bool, i64, u16>, 2>, bool, product<u8, product<u64, u32>>, u32>",
        "product<array<u8, 5>, u64, array<u16, 3>, i64>",
    ],
)
def test_parts_of_products_keep_their_places(type: str) -> None:
    (function,) = parse(
        f"fn f(a: {type}) -> bool {{\n  b = constant(bool true)\n  done = return(start, b)\n}}"
    ).functions
    lowered = lower_integers(function)
    (before,), (after,) = lowered.before, lowered.after
    assert size_of(before) == size_of(after)
    assert set(word_offsets(before)) <= set(word_offsets(after))


def word_offsets(type: Type, start: int = 0) -> Iterator[int]:
    """The bytes, rounded down to words, at which the scalars of a type of literal extents start."""
    match type:
        case Product(fields=fields):
            for field, offset in zip(fields, field_offsets(type), strict=True):
                yield from word_offsets(field, start + dynamic.evaluate(offset, ()))
        case Array(element=element, extent=extent):
            for number in range(dynamic.evaluate(extent, ())):
                yield from word_offsets(element, start + number * dynamic.evaluate(stride_of(type), ()))
        case _:
            yield start // WORD * WORD


def test_gap_of_unknown_width_is_refused() -> None:
    text = "fn f<n>(a: product<array<u8, n>, u64>) -> bool {\n  b = constant(bool true)\n  done = return(start, b)\n}"
    what = "a 64-bit integer behind an array of variable size in a product on a GPU"
    assert refusal(text) == f"not supported: {what}"


def test_sums_are_refused() -> None:
    text = "fn f(a: sum<u64, bool>) -> bool {\n  b = read(a, variant(1))\n  done = return(start, b)\n}"
    assert refusal(text) == "not supported: a sum on a GPU: the value `a`"


def test_calls() -> None:
    text = """fn wide(x: u64, y: u64) -> u64 {
      z = div(x, y)
      done = return(start, z)
    }
    fn plain(x: u32) -> u32 {
      w = cast(u64, x)
      two = constant(u64 2)
      y = div(w, two)
      v = mul(y, w)
      shifted = shift_right(v, two)
      z = cast(u32, shifted)
      done = return(start, z)
    }
    fn divide_u64(x: u32, y: u64) -> u64 {
      z = call(plain, x)
      w = cast(u64, z)
      q = call(wide, y, w)
      r = call(wide, y, q)
      s = add(q, r)
      done = return(start, s)
    }"""
    module = parse(text)
    after = lowered(module)
    assert [it.name for it in after.functions].count("divide_u64") == 1
    before, function = module.functions[2], after.functions[2]
    assert {it.callee.name for it in function.nodes if isinstance(it, Call)} >= {"plain"}
    for given in ((7, 100), (0xFFFFFFFF, (1 << 64) - 1), (0, 5)):
        assert run_lowered(before, function, [], list(given)) == run(before, [], list(given))


def test_lowering_twice_changes_nothing() -> None:
    module = generate_integers(3)
    assert LowerIntegers().run(module)
    assert not LowerIntegers().run(module)


def test_too_large() -> None:
    module = lowered(
        parse("fn f<n>(a: array<u8, n>) -> bool {\n  b = constant(bool true)\n  done = return(start, b)\n}")
    )
    assert too_large(module.functions[0], [(1 << 32) - 4]) is None
    assert too_large(module.functions[0], [1 << 32]) is not None
    wide = parse("fn f<n>(a: array<f32, (n * n)>) -> bool {\n  b = constant(bool true)\n  done = return(start, b)\n}")
    assert too_large(wide.functions[0], [65535]) is None
    assert too_large(wide.functions[0], [65536]) == dynamic.mul(N, N)


def entry_points() -> list[tuple[Path, str]]:
    programs = {it: load_program(Source.from_text(it.read_text(encoding="utf-8"))) for it in SHADERS.rglob("*.wgsl")}
    return sorted((path, it.name) for path, program in programs.items() for it in program.entry_points)


def test_kernels_need_no_pairs() -> None:
    """Positions are the only 64-bit values of translated kernels: they get no high words and hardly any new nodes."""
    for path, entry in entry_points():
        module = tinct.load(path).compilation(entry, {}).hercules.module
        count = sum(len(it.nodes) for it in module.functions)
        LowerIntegers().run(module)
        check(module)
        assert all(map(is_lowered, module.functions)), (path.name, entry)
        assert not [node for it in module.functions for node in it.nodes if node.label.endswith("_high")]
        assert "divide_u64" not in {it.name for it in module.functions}
        assert sum(len(it.nodes) for it in module.functions) <= count + 8
