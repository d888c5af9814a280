"""For each rule a function that keeps it, and the edit of its text that breaks it."""

from __future__ import annotations

import pytest

from tinct.ir.hercules.nodes import Module, Parameter, Start
from tinct.ir.hercules.text import parse
from tinct.ir.hercules.verify import CONTROL, STRUCTURE, TYPING, VerifyError, check, verify

from .support import SAMPLES, inputs, load, node_of

SCALARS = """fn f<n>(a: i32, x: f32, c: bool, s: sum<i32, f32>, v: array<i32, n>, p: u64) -> i32 {
  zero = constant(i32 0)
  d = dynamic(n)
  sum = add(a, zero)
  not_c = not(c)
  chosen = select(c, a, zero)
  whole = cast(i32, x)
  bits = bitcast(i32, x)
  low = intrinsic(min, i32, a, zero)
  root = intrinsic(sqrt, f32, x)
  helped = call(helper<n>, v, a)
  element = read(v, position(p))
  changed = write(v, element, position(p))
  done_atomic = atomic(add, changed, position(p), a)
  old = read(done_atomic, field(1))
  both = product(old, root)
  result = read(both, field(0))
  done = return(start, result)
}
fn helper<m>(w: array<i32, m>, y: i32) -> i32 {
  done = return(start, y)
}
"""
LOOP = """fn f<n>(a: i32, c: bool, s: sum<i32, f32>, v: array<i32, n>) -> product<i32, array<i32, n>> {
  zero = constant(i32 0)
  table = constant(array<i32, 2> [i32 1, i32 2])
  fk = fork(start, n)
  t = thread_id(fk)
  test = if(fk, c)
  no = read(test, control(0))
  yes = read(test, control(1))
  r = region(no, yes)
  one = phi(r, a, zero)
  m = match(r, s)
  first = read(m, control(0))
  second = read(m, control(1))
  r2 = region(first, second)
  so_far = reduce(j, zero, next)
  next = add(so_far, one)
  kept = reduce(j, v, w)
  w = write(kept, next, position(t))
  j = join(r2)
  all = collect(j, one)
  h = region(j, back)
  x = phi(h, so_far, x)
  again = if(h, c)
  back = read(again, control(1))
  out = read(again, control(0))
  both = product(x, kept)
  done = return(out, both)
}
"""
PLACED = (SAMPLES / "placed_calls.hir").read_text(encoding="utf-8")
BROKEN = [
    ("parameters", SCALARS, "s: sum<i32, f32>", "c: sum<i32, f32>"),
    ("parameters", SCALARS, "x: f32", "x: control<>"),
    ("parameters", SCALARS, "x: f32", "x: f80"),
    ("dynamic", SCALARS, "dynamic(n)", "dynamic($1)"),
    ("pins", LOOP, "phi(r,", "phi(fk,"),
    ("pins", LOOP, "thread_id(fk)", "thread_id(start)"),
    ("pins", LOOP, "collect(j,", "collect(fk,"),
    ("typed", SCALARS, "read(v, position(p))", "read(v, field(0))"),
    ("control-input", LOOP, "fork(start, n)", "fork(a, n)"),
    ("control-input", PLACED, "at(yes), n", "at(n), n"),
    ("region", LOOP, "region(no, yes)", "region(no, yes, start)"),
    ("region", LOOP, "region(no, yes)", "region(no, no)"),
    ("if", LOOP, "if(fk, c)", "if(fk, a)"),
    ("typed", LOOP, "match(r, s)", "match(r, a)"),
    ("typed", LOOP, "join(r2)", "join(start)"),
    ("phi", LOOP, "phi(r, a, zero)", "phi(r, a, c)"),
    ("phi", LOOP, "phi(r, a, zero)", "phi(r, a)"),
    ("phi", LOOP, "phi(r, a, zero)", "phi(r, fk, fk)"),
    ("reduce", LOOP, "reduce(j, zero, next)", "reduce(j, zero, c)"),
    ("collect", LOOP, "collect(j, one)", "collect(j, fk)"),
    ("return", LOOP, "return(out, both)", "return(fk, both)"),
    ("return", LOOP, "return(out, both)", "return(out, c)"),
    ("constant", LOOP, "[i32 1, i32 2]", "[i32 1]"),
    ("constant", LOOP, "[i32 1, i32 2]", "[i32 1, i32 4294967296]"),
    ("constant", SCALARS, "constant(i32 0)", "constant(f32 0.1)"),
    ("unary", SCALARS, "not(c)", "not(x)"),
    ("unary", SCALARS, "not(c)", "negate(c)"),
    ("binary", SCALARS, "add(a, zero)", "add(a, x)"),
    ("binary", SCALARS, "add(a, zero)", "add(c, c)"),
    ("binary", SCALARS, "add(a, zero)", "and(x, x)"),
    ("binary", SCALARS, "add(a, zero)", "equal(v, v)"),
    ("select", SCALARS, "select(c, a, zero)", "select(a, a, zero)"),
    ("select", SCALARS, "select(c, a, zero)", "select(c, a, x)"),
    ("select", SCALARS, "select(c, a, zero)", "select(c, v, v)"),
    ("conversion", SCALARS, "cast(i32, x)", "cast(i32, v)"),
    ("conversion", SCALARS, "bitcast(i32, x)", "bitcast(i64, x)"),
    ("conversion", SCALARS, "bitcast(i32, x)", "bitcast(bool, c)"),
    ("intrinsic", SCALARS, "intrinsic(min, i32, a, zero)", "intrinsic(min, i32, a)"),
    ("intrinsic", SCALARS, "intrinsic(min, i32, a, zero)", "intrinsic(min, f32, a, zero)"),
    ("intrinsic", SCALARS, "intrinsic(min, i32, a, zero)", "intrinsic(atan3, i32, a, zero)"),
    ("intrinsic", SCALARS, "intrinsic(min, i32, a, zero)", "intrinsic(min, i32, v, zero)"),
    ("call", SCALARS, "call(helper<n>, v, a)", "call(helper, v, a)"),
    ("call", SCALARS, "call(helper<n>, v, a)", "call(helper<n>, v)"),
    ("call", SCALARS, "call(helper<n>, v, a)", "call(helper<4>, v, a)"),
    ("access", SCALARS, "write(v, element, position(p))", "write(v, element, position(a))"),
    ("access", SCALARS, "write(v, element, position(p))", "write(v, element, field(0))"),
    ("access", SCALARS, "write(v, element, position(p))", "write(v, v)"),
    ("typed", SCALARS, "read(both, field(0))", "read(both, control(0))"),
    ("projection", LOOP, "read(test, control(0))", "read(test, field(0))"),
    ("write", SCALARS, "write(v, element, position(p))", "write(v, x, position(p))"),
    ("atomic", SCALARS, "atomic(add, changed, position(p), a)", "atomic(add, changed, position(p))"),
    ("atomic", SCALARS, "atomic(add, changed, position(p), a)", "atomic(add, changed, position(p), x)"),
    ("atomic", SCALARS, "v: array<i32, n>", "v: array<f32, n>"),
    ("product", SCALARS, "product(old, root)", "product(old, start)"),
    ("data", SCALARS, "write(v, element, position(p))", "write(v, start, position(p))"),
    ("data", SCALARS, "add(a, zero)", "cast(i32, done)"),
    ("data", PLACED, "at(back), i", "at(back), h"),
    ("successors", LOOP, "  back = read(again, control(1))\n", "  back = read(again, control(0))\n"),
    ("successors", LOOP, "return(out, both)", "return(j, both)"),
    ("schedule", PLACED, "at(yes), a", "at(no), a"),
    ("schedule", PLACED, "at(back), i", "at(out), i"),
    ("schedule", LOOP, "product(x, kept)", "product(one, kept)"),
    ("schedule", LOOP, "add(so_far, one)", "add(one, next)"),
    ("schedule", LOOP, "write(kept, next, position(t))", "write(v, next, position(t))"),
]
"""Rule, a text that keeps it, and what to replace by what."""
ELSEWHERE = {"start", "members", "parameter", "callee", "match", "join", "fork-join", "returns", "reducible"}


@pytest.mark.parametrize("text", [SCALARS, LOOP])
def test_accepts(text: str) -> None:
    check(parse(text))


@pytest.mark.parametrize("name", inputs(SAMPLES))
def test_accepts_sample(name: str) -> None:
    check(load(name))


@pytest.mark.parametrize(("rule", "text", "old", "new"), BROKEN)
def test_refuses(rule: str, text: str, old: str, new: str) -> None:
    assert old in text
    found = {it.rule for it in verify(parse(text.replace(old, new)))}
    assert rule in found


def test_every_rule_is_tested() -> None:
    names = {rule.name for group in (STRUCTURE, TYPING, CONTROL) for rule in group}
    assert names - {rule for rule, *_ in BROKEN} <= ELSEWHERE
    assert names >= ELSEWHERE


def rules_of(module: Module) -> set[str]:
    return {it.rule for it in verify(module)}


def test_start_is_first_and_only() -> None:
    module = parse(SCALARS)
    module.functions[0].nodes.append(Start())
    assert rules_of(module) == {"start"}
    module = parse(SCALARS)
    module.functions[0].nodes.reverse()
    assert "start" in rules_of(module)


def test_nodes_are_members_once() -> None:
    module = parse(SCALARS)
    function = module.functions[0]
    function.nodes.remove(node_of(function, "zero"))
    assert rules_of(module) == {"members"}
    module = parse(SCALARS)
    function = module.functions[0]
    function.nodes.append(node_of(function, "zero"))
    assert rules_of(module) == {"members"}


def test_parameters_exist() -> None:
    module = parse(SCALARS)
    function = module.functions[0]
    parameter = node_of(function, "a")
    assert isinstance(parameter, Parameter)
    parameter.index = 9
    assert rules_of(module) == {"parameter"}


def test_callees_are_members() -> None:
    module = parse(SCALARS)
    del module.functions[1]
    assert rules_of(module) == {"callee"}


def test_function_names_are_unique() -> None:
    module = parse(SCALARS)
    module.functions.append(module.functions[1])
    assert "function-names" in rules_of(module)


def test_recursion_is_refused() -> None:
    text = "fn f(x: i32) -> i32 {\n y = call(g, x)\n done = return(start, y)\n}\n"
    assert rules_of(parse(text + text.replace("f(", "h(").replace("g,", "f,").replace("h(", "g("))) == {"no-recursion"}


def test_a_join_needs_a_fork_and_a_match_a_sum() -> None:
    """Without them the nodes have no type, and the rules say why."""
    assert {"typed", "join"} <= rules_of(parse(LOOP.replace("join(r2)", "join(start)")))
    assert {"typed", "match"} <= rules_of(parse(LOOP.replace("match(r, s)", "match(r, a)")))


def test_a_return_must_be_reachable() -> None:
    text = """fn f(c: bool) -> bool {
      h = region(start, again)
      test = if(h, c)
      again = read(test, control(0))
      other = read(test, control(1))
      h2 = region(other, h2)
    }"""
    assert "returns" in rules_of(parse(text))


def test_fork_and_join_must_pair() -> None:
    without_join = "fn f(x: i32) -> i32 {\n f1 = fork(start, 2)\n d = return(start, x)\n}"
    assert "fork-join" in rules_of(parse(without_join))
    left_through_a_branch = """fn f(x: i32, c: bool) -> i32 {
      f1 = fork(start, 2)
      test = if(f1, c)
      no = read(test, control(0))
      yes = read(test, control(1))
      j1 = join(no)
      j2 = join(yes)
      r = region(j1, j2)
      d = return(r, x)
    }"""
    assert "fork-join" in rules_of(parse(left_through_a_branch))


def test_a_loop_has_one_entry() -> None:
    text = """fn f(c: bool) -> bool {
      test = if(start, c)
      no = read(test, control(0))
      yes = read(test, control(1))
      r1 = region(no, r2_on)
      r2 = region(yes, r1)
      leave = if(r2, c)
      r2_on = read(leave, control(0))
      out = read(leave, control(1))
      d = return(out, c)
    }"""
    assert rules_of(parse(text)) == {"reducible"}


def test_unreachable_control_has_no_type() -> None:
    text = """fn f(x: u64) -> u64 {
      lost = fork(lost_join, 2)
      lost_join = join(lost)
      d = return(start, x)
    }"""
    assert rules_of(parse(text)) == {"typed"}


LINEAR = """fn f(v: array<i32, 2>, c: bool, p: u64) -> array<i32, 2> {{
  one = constant(i32 1)
  test = if(start, c)
  no = read(test, control(0))
  yes = read(test, control(1))
  w1 = write(v, one, position(p))
  w2 = write(v, one, position(p))
  r = region(no, yes)
  merged = phi(r, {no}, {yes})
  d = return(r, {result})
}}"""


@pytest.mark.parametrize(("no", "yes", "result"), [("w1", "w2", "merged"), ("v", "w2", "merged"), ("v", "v", "merged")])
def test_exclusive_ways_may_each_consume(no: str, yes: str, result: str) -> None:
    check(parse(LINEAR.format(no=no, yes=yes, result=result)))


@pytest.mark.parametrize(("no", "yes", "result"), [("w1", "w1", "w2"), ("w1", "w2", "v"), ("w1", "w2", "w1")])
def test_a_second_consumer_on_one_way_is_refused(no: str, yes: str, result: str) -> None:
    assert rules_of(parse(LINEAR.format(no=no, yes=yes, result=result))) in ({"schedule"}, set())
    both = LINEAR.format(no=no, yes=yes, result=result).replace(
        "-> array<i32, 2>", "-> product<array<i32, 2>, array<i32, 2>>"
    )
    both = both.replace("  d = return", "  two = product(merged, w2)\n  d = return").replace(
        f"(r, {result})", "(r, two)"
    )
    assert rules_of(parse(both)) == {"schedule"}


def test_a_consumer_in_a_loop_is_refused() -> None:
    text = """fn f(v: array<i32, 2>, c: bool, p: u64) -> i32 {
      zero = constant(i32 0)
      h = region(start, again)
      x = phi(h, zero, y)
      xu = cast(u64, x)
      w = write(v, x, position(xu))
      y = read(w, position(p))
      test = if(h, c)
      again = read(test, control(1))
      out = read(test, control(0))
      d = return(out, x)
    }"""
    assert rules_of(parse(text)) == {"schedule"}


def test_a_read_after_the_write_that_it_needs_is_refused() -> None:
    text = """fn f(v: array<u64, 2>, p: u64) -> u64 {
      w = write(v, p, position(p))
      x = read(w, position(p))
      old = read(v, position(x))
      y = read(w, position(old))
      d = return(start, y)
    }"""
    assert rules_of(parse(text)) == {"schedule"}


def test_message_shows_the_line_at_fault() -> None:
    with pytest.raises(VerifyError) as error:
        check(parse(SCALARS.replace("add(a, zero)", "add(a, x)")))
    lines = str(error.value).splitlines()
    place = lines.index("  sum = add(a, x)")
    assert lines[place + 1] == "  ^ sum: the operands have types i32 and f32 [binary]"
