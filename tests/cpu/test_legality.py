"""Each rule of what gangs cannot run is broken by a small function, which then runs a thread after another."""

from __future__ import annotations

import pytest

from tinct.backend.cpu import compile_function
from tinct.backend.cpu.gangs.legality import NO_LANES, RULES
from tinct.backend.cpu.layout import natural_layout
from tinct.backend.cpu.options import CpuOptions
from tinct.ir.hercules.text import parse
from tinct.transforms.hercules.for_machine import kernel_for

FUNCTIONS = {
    NO_LANES: """
fn f<n>(x: array<i32, n>) -> array<i32, n> {
  f = fork(start, n)
  g = fork(f, 1)
  i = thread_id(f)
  r = reduce(j, x, q)
  q = reduce(h, r, w)
  e = read(q, position(i))
  d = add(e, e)
  w = write(q, d, position(i))
  h = join(g)
  j = join(h)
  end = return(j, r)
}""",
    "a number reduced over lanes": """
fn f(x: array<i32, 16>, y: array<i32, 1>) -> array<i32, 1> {
  zero = constant(i32 0)
  first = constant(u64 0)
  f = fork(start, 16)
  i = thread_id(f)
  s = reduce(j, zero, t)
  e = read(x, position(i))
  t = add(s, e)
  j = join(f)
  w = write(y, s, position(first))
  end = return(j, w)
}""",
    "a collection copied in a fork": """
fn f(x: array<i32, 16>) -> array<i32, 16> {
  zero = constant(array<i32, 16> zero)
  f = fork(start, 16)
  i = thread_id(f)
  r = reduce(j, x, q)
  g = fork(f, 4)
  k = thread_id(g)
  q = reduce(h, zero, w)
  n = cast(i32, k)
  w = write(q, n, position(i))
  h = join(g)
  j = join(h)
  end = return(j, r)
}""",
    "a fork inside that collects": """
fn f(x: array<i32, 16>) -> array<i32, 16> {
  last = constant(u64 3)
  f = fork(start, 16)
  i = thread_id(f)
  r = reduce(j, x, w)
  e = read(r, position(i))
  g = fork(f, 4)
  k = thread_id(g)
  n = cast(i32, k)
  v = mul(n, e)
  c = collect(h, v)
  h = join(g)
  g2 = fork(h, 2)
  h2 = join(g2)
  back = read(c, position(last))
  w = write(r, back, position(i))
  j = join(h2)
  end = return(j, r)
}""",
    "a collection collected over several forks": """
fn f(x: array<i32, 4>) -> array<i32, 4> {
  one = constant(u64 1)
  f = fork(start, 4)
  i = thread_id(f)
  g = fork(f, 4)
  n = cast(i32, i)
  v = add(n, n)
  h = join(g)
  c = collect(j, v)
  j = join(h)
  k = fork(j, 4)
  at = thread_id(k)
  r = reduce(m, x, w)
  e = read(c, position(at))
  w = write(r, e, position(at))
  m = join(k)
  end = return(m, r)
}""",
    "collections that are collected": """
fn f(x: array<i32, 16>) -> array<i32, 16> {
  zero = constant(array<i32, 4> zero)
  one = constant(u64 1)
  f = fork(start, 16)
  i = thread_id(f)
  e = read(x, position(i))
  a = write(zero, e, position(one))
  c = collect(j, a)
  j = join(f)
  k = fork(j, 16)
  at = thread_id(k)
  r = reduce(m, x, w)
  v = read(c, position(at), position(one))
  w = write(r, v, position(at))
  m = join(k)
  end = return(m, r)
}""",
    "a fork inside whose factor is not known": """
fn f<n>(x: array<i32, 16>) -> array<i32, 16> {
  f = fork(start, 16)
  i = thread_id(f)
  r = reduce(j, x, q)
  g = fork(f, n)
  q = reduce(h, r, w)
  e = read(q, position(i))
  d = add(e, e)
  w = write(q, d, position(i))
  h = join(g)
  j = join(h)
  end = return(j, r)
}""",
    "a copy of a collection": """
fn f(x: array<array<i32, 4>, 16>, y: array<i32, 16>) -> array<i32, 16> {
  one = constant(u64 1)
  f = fork(start, 16)
  i = thread_id(f)
  r = reduce(j, y, w)
  row = read(x, position(i))
  e = read(row, position(one))
  w = write(r, e, position(i))
  j = join(f)
  end = return(j, r)
}""",
    "an access to a whole collection": """
fn f(x: array<array<i32, 4>, 16>) -> array<array<i32, 4>, 16> {
  zero = constant(array<i32, 4> zero)
  one = constant(u64 1)
  five = constant(i32 5)
  f = fork(start, 16)
  i = thread_id(f)
  r = reduce(j, x, w)
  row = write(zero, five, position(one))
  w = write(r, row, position(i))
  j = join(f)
  end = return(j, r)
}""",
    "private arrays that change places": """
fn f(x: array<i32, 16>) -> array<i32, 16> {
  zero = constant(array<i32, 4> zero)
  zero2 = constant(array<i32, 4> zero)
  none = constant(u32 0)
  one = constant(u32 1)
  three = constant(u32 3)
  at = constant(u64 1)
  five = constant(i32 5)
  f = fork(start, 16)
  i = thread_id(f)
  r = reduce(j, x, w)
  a0 = write(zero, five, position(at))
  top = region(f, in)
  turn = phi(top, none, next)
  a = phi(top, a0, b)
  b = phi(top, zero2, a)
  going = less(turn, three)
  branch = if(top, going)
  out = read(branch, control(0))
  in = read(branch, control(1))
  next = add(turn, one)
  e = read(a, position(at))
  w = write(r, e, position(i))
  j = join(out)
  end = return(j, r)
}""",
    "a private array that begins with a table": """
fn f(x: array<i32, 16>) -> array<i32, 16> {
  table = constant(array<i32, 4> [i32 1, i32 2, i32 3, i32 4])
  one = constant(u64 1)
  f = fork(start, 16)
  i = thread_id(f)
  r = reduce(j, x, w)
  e = read(r, position(i))
  a = write(table, e, position(i))
  v = read(a, position(one))
  w = write(r, v, position(i))
  j = join(f)
  end = return(j, r)
}""",
    "a private copy of a shared collection": """
fn f(x: array<i32, 16>) -> array<i32, 16> {
  fresh = constant(array<i32, 16> zero)
  zero = constant(i32 0)
  f = fork(start, 16)
  i = thread_id(f)
  r = reduce(j, x, r)
  e = read(r, position(i))
  c = less(e, zero)
  b = if(f, c)
  no = read(b, control(0))
  yes = read(b, control(1))
  top = region(yes, p, q)
  a = phi(top, r, w, w)
  v = read(a, position(i))
  w = write(fresh, v, position(i))
  c2 = less(v, zero)
  b2 = if(top, c2)
  p = read(b2, control(0))
  q = read(b2, control(1))
  j = join(no)
  end = return(j, r)
}""",
    "a private array of unknown size": """
fn f<n>(x: array<i32, 16>) -> array<i32, 16> {
  zero = constant(array<i32, n> zero)
  one = constant(u64 1)
  f = fork(start, 16)
  i = thread_id(f)
  r = reduce(j, x, w)
  e = read(r, position(i))
  a = write(zero, e, position(i))
  v = read(a, position(one))
  w = write(r, v, position(i))
  j = join(f)
  end = return(j, r)
}""",
    "a large private array": """
fn f(x: array<i32, 16>) -> array<i32, 16> {
  zero = constant(array<i32, SIZE> zero)
  one = constant(u64 1)
  f = fork(start, 16)
  i = thread_id(f)
  r = reduce(j, x, w)
  e = read(r, position(i))
  a = write(zero, e, position(i))
  v = read(a, position(one))
  w = write(r, v, position(i))
  j = join(f)
  end = return(j, r)
}""".replace("SIZE", "2000"),
}


def reason(text: str) -> str:
    (parsed,) = parse(text).functions
    function = kernel_for(parsed, [4] * len(parsed.dynamic_constants)).function
    layouts = dict(enumerate(map(natural_layout, function.parameter_types)))
    interface = compile_function(function, layouts, CpuOptions("gang")).interface
    assert interface.tier == ("lane" if interface.tier_reason else "gang")
    return interface.tier_reason


@pytest.mark.parametrize("expected", [NO_LANES, *(rule.reason for rule in RULES)])
@pytest.mark.parametrize("cpu_target", ["x86-64-v3", "x86-64-v4"], indirect=True)
@pytest.mark.usefixtures("cpu_target")
def test_a_broken_rule_is_the_reason(expected: str) -> None:
    assert reason(FUNCTIONS[expected]) == expected


def test_a_smaller_private_array_breaks_no_rule() -> None:
    assert reason(FUNCTIONS["a large private array"].replace("2000", "1024")) == ""


@pytest.mark.parametrize("number", range(len(RULES)))
def test_rules_are_told_apart(number: int) -> None:
    others = [it for at, it in enumerate(RULES) if at != number]
    assert RULES[number].name not in [it.name for it in others]
    assert RULES[number].reason not in [it.reason for it in others]
