"""Forks, loops, branches and collections: machine code against the interpreter of Hercules IR, on seeded inputs."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence

import numpy as np
import pytest

from tinct.backend.cpu import compile_function
from tinct.backend.cpu.layout import ArrayLayout, Layout, ProductLayout, ScalarLayout, natural_layout
from tinct.backend.cpu.memory import constant_bytes
from tinct.ir.hercules import dynamic, interp
from tinct.ir.hercules import nodes as h
from tinct.ir.hercules.text import parse

FUNCTIONS = {
    "saxpy": """
fn f<n>(x: array<f32, n>, y: array<f32, n>) -> array<f32, n> {
  a = constant(f32 2.5)
  f = fork(start, n)
  i = thread_id(f)
  r = reduce(j, y, w)
  p = mul(a, read_x)
  read_x = read(x, position(i))
  read_y = read(r, position(i))
  s = add(p, read_y)
  w = write(r, s, position(i))
  j = join(f)
  end = return(j, r)
}""",
    "scalar reduce inside a fork": """
fn f<n>(x: array<array<i32, 5>, n>, y: array<i32, n>) -> array<i32, n> {
  zero = constant(i32 0)
  f = fork(start, n)
  i = thread_id(f)
  r = reduce(j, y, w)
  g = fork(f, 5)
  k = thread_id(g)
  e = read(x, position(i), position(k))
  s = reduce(h, zero, t)
  t = add(s, e)
  h = join(g)
  w = write(r, s, position(i))
  j = join(h)
  end = return(j, r)
}""",
    "scalar reduce over the outermost fork": """
fn f<n>(x: array<i32, n>, y: array<i32, 2>) -> array<i32, 2> {
  zero = constant(i32 7)
  at = constant(u64 1)
  f = fork(start, n)
  i = thread_id(f)
  e = read(x, position(i))
  s = reduce(j, zero, t)
  t = add(s, e)
  j = join(f)
  w = write(y, s, position(at))
  end = return(j, w)
}""",
    "collect across a barrier": """
fn f<n>(x: array<array<i32, 8>, n>, y: array<array<i32, 8>, n>) -> array<array<i32, 8>, n> {
  seven = constant(u64 7)
  f = fork(start, n)
  i = thread_id(f)
  r = reduce(j, y, r2)
  g = fork(f, 8)
  k = thread_id(g)
  e = read(x, position(i), position(k))
  m = mul(e, e)
  c = collect(gj, m)
  gj = join(g)
  g2 = fork(gj, 8)
  k2 = thread_id(g2)
  back = sub(seven, k2)
  v = read(c, position(back))
  r2 = reduce(gj2, r, w)
  w = write(r2, v, position(i), position(k2))
  gj2 = join(g2)
  j = join(gj2)
  end = return(j, r)
}""",
    "nested collect": """
fn f<n>(x: array<i32, 12>, y: array<array<array<i32, 4>, 3>, n>) -> array<array<array<i32, 4>, 3>, n> {
  four = constant(u64 4)
  f = fork(start, n)
  i = thread_id(f)
  r = reduce(j, y, ra)
  a = fork(f, 3)
  ai = thread_id(a)
  b = fork(a, 4)
  bi = thread_id(b)
  row = mul(ai, four)
  at = add(row, bi)
  e = read(x, position(at))
  inner = collect(bj, e)
  bj = join(b)
  outer = collect(aj, inner)
  aj = join(bj)
  c = fork(aj, 3)
  ci = thread_id(c)
  ra = reduce(cj, r, rb)
  d = fork(c, 4)
  di = thread_id(d)
  rb = reduce(dj, ra, w)
  v = read(outer, position(ci), position(di))
  w = write(rb, v, position(i), position(ci), position(di))
  dj = join(d)
  cj = join(dj)
  j = join(cj)
  end = return(j, r)
}""",
    "a collect carried around a loop": """
fn f<n>(x: array<array<i32, 4>, n>, y: array<array<i32, 4>, n>) -> array<array<i32, 4>, n> {
  zero = constant(array<i32, 4> zero)
  none = constant(u32 0)
  one = constant(u32 1)
  three = constant(u32 3)
  first = constant(u64 1)
  f = fork(start, n)
  i = thread_id(f)
  r = reduce(j, y, r2)
  top = region(f, gj)
  turn = phi(top, none, next)
  acc = phi(top, zero, c)
  going = less(turn, three)
  branch = if(top, going)
  out = read(branch, control(0))
  in = read(branch, control(1))
  next = add(turn, one)
  g = fork(in, 4)
  k = thread_id(g)
  here = read(acc, position(k))
  there = read(acc, position(first))
  e = read(x, position(i), position(k))
  sum1 = add(here, there)
  sum = add(sum1, e)
  c = collect(gj, sum)
  gj = join(g)
  g2 = fork(out, 4)
  k2 = thread_id(g2)
  v = read(acc, position(k2))
  r2 = reduce(gj2, r, w)
  w = write(r2, v, position(i), position(k2))
  gj2 = join(g2)
  j = join(gj2)
  end = return(j, r)
}""",
    "branches around writes": """
fn f<n>(x: array<i32, n>, y: array<i32, n>) -> array<i32, n> {
  zero = constant(i32 0)
  hundred = constant(i32 100)
  f = fork(start, n)
  i = thread_id(f)
  r = reduce(j, y, p)
  e = read(x, position(i))
  c = less(e, zero)
  b = if(f, c)
  no = read(b, control(0))
  yes = read(b, control(1))
  old = read(r, position(i))
  d = div(old, e)
  w = write(r, d, position(i))
  c2 = less(e, hundred)
  b2 = if(no, c2)
  no2 = read(b2, control(0))
  yes2 = read(b2, control(1))
  w2 = write(r, e, position(i))
  merge = region(yes, yes2, no2)
  p = phi(merge, w, w2, r)
  j = join(merge)
  end = return(j, r)
}""",
    "a private array, fresh for each thread": """
fn f<n>(x: array<u32, n>, y: array<u32, n>) -> array<u32, n> {
  fresh = constant(array<u32, 20> zero)
  none = constant(u32 0)
  one = constant(u32 1)
  five = constant(u32 5)
  twenty = constant(u32 20)
  f = fork(start, n)
  i = thread_id(f)
  r = reduce(j, y, wy)
  e = read(x, position(i))
  top = region(f, in)
  turn = phi(top, none, next)
  mine = phi(top, fresh, w)
  going = less(turn, five)
  branch = if(top, going)
  out = read(branch, control(0))
  in = read(branch, control(1))
  next = add(turn, one)
  at1 = add(e, turn)
  at2 = rem(at1, twenty)
  at = cast(u64, at2)
  old = read(mine, position(at))
  new1 = add(old, turn)
  new = add(new1, one)
  w = write(mine, new, position(at))
  at3 = cast(u64, turn)
  v0 = read(mine, position(at3))
  first = constant(u64 3)
  v1 = read(mine, position(first))
  v = add(v0, v1)
  wy = write(r, v, position(i))
  j = join(out)
  end = return(j, r)
}""",
    "an atomic whose result is used": """
fn f<n>(x: array<u32, n>, y: array<u32, n>, count: array<u32, 1>) -> product<array<u32, n>, array<u32, 1>> {
  zero = constant(u64 0)
  one = constant(u32 1)
  limit = constant(u32 2147483648)
  f = fork(start, n)
  i = thread_id(f)
  ry = reduce(j, y, py)
  rc = reduce(j, count, pc)
  e = read(x, position(i))
  c = less(e, limit)
  b = if(f, c)
  no = read(b, control(0))
  yes = read(b, control(1))
  a = atomic(add, rc, position(zero), one)
  after = read(a, field(0))
  slot = read(a, field(1))
  at = cast(u64, slot)
  w = write(ry, e, position(at))
  merge = region(yes, no)
  py = phi(merge, w, ry)
  pc = phi(merge, after, rc)
  j = join(merge)
  all = product(ry, rc)
  end = return(j, all)
}""",
    "positions out of range": """
fn f<n>(x: array<u64, n>, y: array<u64, n>) -> array<u64, n> {
  f = fork(start, n)
  i = thread_id(f)
  r = reduce(j, y, w)
  at = read(x, position(i))
  e = read(x, position(at))
  w = write(r, e, position(at))
  j = join(f)
  end = return(j, r)
}""",
    "whole parts": """
fn f<n>(x: array<product<bool, array<u32, 3>>, n>, y: array<product<u32, product<bool, array<u32, 3>>>, n>)
    -> array<product<u32, product<bool, array<u32, 3>>>, n> {
  f = fork(start, n)
  i = thread_id(f)
  two = constant(u64 2)
  r = reduce(j, y, w2)
  part = read(x, position(i))
  old = read(r, position(i), field(1), field(1), position(two))
  w = write(r, part, position(i), field(1))
  w2 = write(w, old, position(i), field(0))
  j = join(f)
  end = return(j, r)
}""",
    "a table of constants": """
fn f<n>(x: array<u32, n>, y: array<u32, n>) -> array<u32, n> {
  table = constant(array<u32, 4> [u32 10, u32 20, u32 30, u32 40])
  f = fork(start, n)
  i = thread_id(f)
  r = reduce(j, y, w)
  e = read(x, position(i))
  three = constant(u32 3)
  low = and(e, three)
  at = cast(u64, low)
  v = read(table, position(at))
  w = write(r, v, position(i))
  j = join(f)
  end = return(j, r)
}""",
    "workgroup memory": """
fn f<n>(x: array<array<i32, 16>, n>, y: array<array<i32, 16>, n>) -> array<array<i32, 16>, n> {
  shared = constant(array<i32, 16> zero)
  fifteen = constant(u64 15)
  f = fork(start, n)
  i = thread_id(f)
  r = reduce(j, y, r2)
  g = fork(f, 8)
  k = thread_id(g)
  tile = reduce(gj, shared, tw)
  e = read(x, position(i), position(k))
  tw = write(tile, e, position(k))
  gj = join(g)
  g2 = fork(gj, 16)
  k2 = thread_id(g2)
  back = sub(fifteen, k2)
  v = read(tile, position(back))
  r2 = reduce(gj2, r, w)
  w = write(r2, v, position(i), position(k2))
  gj2 = join(g2)
  j = join(gj2)
  end = return(j, r)
}""",
    "a loop inside a loop, left early": """
fn f<n>(x: array<u32, n>, y: array<u32, n>) -> array<u32, n> {
  none = constant(u32 0)
  one = constant(u32 1)
  two = constant(u32 2)
  three = constant(u32 3)
  limit = constant(u32 60)
  mask = constant(u32 1023)
  f = fork(start, n)
  i = thread_id(f)
  r = reduce(j, y, w)
  e0 = read(x, position(i))
  e = and(e0, mask)
  top = region(f, odd, even)
  turn = phi(top, none, next, next)
  value = phi(top, e, tripled, halved)
  going = less(turn, limit)
  branch = if(top, going)
  out = read(branch, control(0))
  in = read(branch, control(1))
  big = less(one, value)
  stop = if(in, big)
  found = read(stop, control(0))
  on = read(stop, control(1))
  next = add(turn, one)
  low = and(value, one)
  is_odd = equal(low, one)
  parity = if(on, is_odd)
  even = read(parity, control(0))
  odd = read(parity, control(1))
  triple = mul(value, three)
  tripled = add(triple, one)
  halved = div(value, two)
  done = region(out, found)
  result = phi(done, limit, turn)
  w = write(r, result, position(i))
  j = join(done)
  end = return(j, r)
}""",
}


FUNCTIONS["an array that follows another around a loop"] = """
fn f<n>(x: array<array<i32, 4>, n>, y: array<array<i32, 4>, n>) -> array<array<i32, 4>, n> {
  zero = constant(array<i32, 4> zero)
  zero2 = constant(array<i32, 4> zero)
  none = constant(u32 0)
  one = constant(u32 1)
  three = constant(u32 3)
  f = fork(start, n)
  i = thread_id(f)
  r = reduce(j, y, r2)
  top = region(f, gj)
  turn = phi(top, none, next)
  new = phi(top, zero, c)
  old = phi(top, zero2, new)
  going = less(turn, three)
  branch = if(top, going)
  out = read(branch, control(0))
  in = read(branch, control(1))
  next = add(turn, one)
  g = fork(in, 4)
  k = thread_id(g)
  here = read(new, position(k))
  there = read(old, position(k))
  e = read(x, position(i), position(k))
  sum1 = add(here, there)
  sum = add(sum1, e)
  c = collect(gj, sum)
  gj = join(g)
  g2 = fork(out, 4)
  k2 = thread_id(g2)
  v = read(old, position(k2))
  r2 = reduce(gj2, r, w)
  w = write(r2, v, position(i), position(k2))
  gj2 = join(g2)
  j = join(gj2)
  end = return(j, r)
}"""


def values(type: h.Type, constants: Sequence[int], source: random.Random) -> object:
    match type:
        case h.Bool():
            return source.random() < 0.5
        case h.Integer(bits=bits, signed=signed):
            size = source.choice((3, 8, bits - 1))
            return source.getrandbits(size) - ((1 << size) >> 1 if signed else 0)
        case h.Float():
            return struct.unpack("<f", struct.pack("<f", source.uniform(-4, 4)))[0]
        case h.Array(element=element, extent=extent):
            return [values(element, constants, source) for _ in range(dynamic.evaluate(extent, constants))]
        case h.Product(fields=fields):
            return [values(field, constants, source) for field in fields]
    raise TypeError(type)


def to_bytes(value: object, layout: Layout) -> bytes:
    match layout:
        case ScalarLayout(type=h.Bool()):
            return constant_bytes(h.BoolConstant(bool(value)), layout)
        case ScalarLayout(type=h.Float() as type):
            return constant_bytes(h.FloatConstant(type, value), layout)
        case ScalarLayout(type=type):
            return constant_bytes(h.IntegerConstant(type, value), layout)
        case ArrayLayout(element=element, stride=stride):
            return b"".join(to_bytes(it, element).ljust(stride, b"\0") for it in value)
        case ProductLayout(fields=fields, offsets=offsets, size=size):
            data = bytearray(size)
            for it, field, offset in zip(value, fields, offsets, strict=True):
                part = to_bytes(it, field)
                data[offset : offset + len(part)] = part
            return bytes(data)


def run_both(
    text: str, constants: Sequence[int], seed: int, workers: int | None = None
) -> tuple[list[bytes], list[bytes]]:
    """The parameters that come back, as bytes: (from the CPU, from the interpreter)."""
    (function,) = parse(text).functions
    source = random.Random(seed)
    arguments = [values(it, constants, source) for it in function.parameter_types]
    layouts = [natural_layout(it) for it in function.parameter_types]
    buffers = [
        np.frombuffer(bytearray(to_bytes(*it).ljust(16, b"\0")), np.uint8)
        for it in zip(arguments, layouts, strict=True)
    ]
    compiled = compile_function(function, dict(enumerate(layouts)))
    compiled.bind([it.ctypes.data for it in buffers], constants).run(workers=workers)
    result = interp.run(function, constants, arguments)
    count = len(function.return_type.fields) if isinstance(function.return_type, h.Product) else 1
    results = [result] if count == 1 else list(result)
    back = [to_bytes(value, layout) for value, layout in zip(results, layouts[-count:], strict=True)]
    found = [it.tobytes()[: len(want)] for it, want in zip(buffers[-count:], back, strict=True)]
    return found, back


@pytest.mark.parametrize("threads", [0, 1, 2, 7, 33])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_agrees_with_interpreter(name: str, threads: int) -> None:
    if name == "positions out of range":
        threads = min(threads, 1)  # several threads would write one element, and any may be the last
    found, expected = run_both(FUNCTIONS[name], [threads], seed=threads, workers=1)
    assert found == expected


@pytest.mark.parametrize(
    "name", [it for it in FUNCTIONS if it not in ("an atomic whose result is used", "positions out of range")]
)
def test_workers_share_the_threads(name: str) -> None:
    found, expected = run_both(FUNCTIONS[name], [500], seed=3, workers=4)
    assert found == expected


def test_atomics_of_several_workers() -> None:
    text = FUNCTIONS["an atomic whose result is used"]
    (function,) = parse(text).functions
    count = 4_000_000
    x = np.random.default_rng(1).integers(0, 1 << 32, count, np.uint32)
    y, total = np.zeros(count, np.uint32), np.zeros(4, np.uint32)
    layouts = {index: natural_layout(it) for index, it in enumerate(function.parameter_types)}
    compiled = compile_function(function, layouts)
    compiled.bind([x.ctypes.data, y.ctypes.data, total.ctypes.data], [count]).run(workers=4)
    kept = x[x < 1 << 31]
    assert total[0] == len(kept)
    assert np.array_equal(np.sort(y[: len(kept)]), np.sort(kept))


@pytest.mark.parametrize("sizes", [(0, 2, 2), (2, 0, 2), (2, 2, 0), (1, 1, 1), (3, 1, 5), (5, 4, 3)])
def test_dispatch_in_three_dimensions(sizes: tuple[int, int, int]) -> None:
    text = """
fn f<nx, ny, nz>(y: array<array<array<u32, 3>, 64>, 64>) -> array<array<array<u32, 3>, 64>, 64> {
  hundred = constant(u32 100)
  two = constant(u32 2)
  fz = fork(start, nz)
  z = thread_id(fz)
  fy = fork(fz, ny)
  y_index = thread_id(fy)
  fx = fork(fy, nx)
  x = thread_id(fx)
  g = fork(fx, 3)
  k = thread_id(g)
  rz = reduce(jz, y, ry)
  ry = reduce(jy, rz, rx)
  rx = reduce(jx, ry, rg)
  rg = reduce(jg, rx, w)
  old = read(rg, position(y_index), position(x), position(k))
  high = cast(u32, z)
  step = mul(high, hundred)
  one = add(step, two)
  new = add(old, one)
  w = write(rg, new, position(y_index), position(x), position(k))
  jg = join(g)
  jx = join(jg)
  jy = join(jx)
  jz = join(jy)
  end = return(jz, rz)
}"""
    found, expected = run_both(text, list(sizes), seed=8, workers=1)
    assert found == expected


@pytest.mark.parametrize(("name", "is_shared"), [("saxpy", True), ("scalar reduce over the outermost fork", False)])
def test_which_forks_are_shared(name: str, is_shared: bool) -> None:
    (function,) = parse(FUNCTIONS[name]).functions
    layouts = {index: natural_layout(it) for index, it in enumerate(function.parameter_types)}
    assert bool(compile_function(function, layouts).interface.parallel) is is_shared
