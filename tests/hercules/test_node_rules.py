"""Every node of the Hercules IR document, used as its typing rule says, and once as the rule forbids."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tinct.ir.hercules.inference import infer_types
from tinct.ir.hercules.nodes import SCHEMA, Control, Parameter, Start
from tinct.ir.hercules.text import parse
from tinct.ir.hercules.verify import check, verify

from .support import node_of


@dataclass(frozen=True)
class Sample:
    """A text that verifies, its node kinds, and edits that break rules: (what, by what, the rule)."""

    text: str
    kinds: str
    broken: tuple[tuple[str, str, str], ...]


NEST = Sample(
    """fn f<n, m>(x: u64) -> product<array<array<u64, m>, n>, u64> {
      zero = constant(u64 0)
      extent = dynamic(n)
      rows = fork(start, n)
      columns = fork(rows, m)
      i = thread_id(rows)
      j = thread_id(columns)
      both = mul(i, j)
      columns_end = join(columns)
      row = collect(columns_end, both)
      rows_end = join(columns_end)
      table = collect(rows_end, row)
      last = reduce(rows_end, zero, next)
      next = add(last, extent)
      result = product(table, last)
      done = return(rows_end, result)
    }""",
    "Start Parameter ConstantNode DynamicConstantNode Fork Join ThreadID Collect Reduce Binary ProductNode Return",
    (
        ("thread_id(columns)", "thread_id(columns_end)", "pins"),
        ("join(columns_end)", "join(rows)", "fork-join"),
        ("return(rows_end, result)", "return(columns_end, result)", "return"),
        ("collect(columns_end, both)", "collect(rows_end, both)", "return"),
        ("dynamic(n)", "dynamic($7)", "dynamic"),
        ("fork(rows, m)", "fork(rows, $7)", "dynamic"),
        ("array<array<u64, m>, n>", "array<array<u64, n>, m>", "return"),
        ("reduce(rows_end, zero, next)", "reduce(rows, zero, next)", "pins"),
        ("mul(i, j)", "mul(i, rows)", "binary"),
        ("product(table, last)", "product(table, rows)", "product"),
        ("product(table, last)", "product(table, i)", "schedule"),
        ("constant(u64 0)", "constant(u64 -1)", "constant"),
        ("(x: u64)", "(x: u7)", "parameters"),
        ("join(columns)", "join(rows_end)", "typed"),
    ),
)
SUMS = Sample(
    """fn f(s: sum<i32, product<f32, bool>>, c: bool) -> sum<i32, product<f32, bool>> {
      m = match(start, s)
      whole = read(m, control(0))
      pair = read(m, control(1))
      number = read(s, variant(0))
      part = read(s, variant(1), field(0))
      flag = intrinsic(round, f32, part)
      less = less_equal(part, flag)
      minus = negate(number)
      bits = bitcast(i32, part)
      cut = cast(i32, part)
      chosen = select(less, bits, cut)
      test = if(pair, c)
      no = read(test, control(0))
      yes = read(test, control(1))
      merge = region(no, yes)
      meet = region(whole, merge)
      value = phi(meet, minus, chosen)
      fresh = constant(sum<i32, product<f32, bool>> zero)
      first = write(fresh, value, variant(0))
      done = return(meet, first)
    }""",
    "Match Read Write Intrinsic Unary Bitcast Cast Select If Region Phi",
    (
        ("match(start, s)", "match(start, c)", "match"),
        ("pair = read(m, control(1))", "pair = read(m, control(0))", "successors"),
        ("pair = read(m, control(1))", "pair = read(m, control(2))", "typed"),
        ("read(s, variant(0))", "read(s, variant(2))", "typed"),
        ("read(s, variant(0))", "read(s, field(0))", "typed"),
        ("variant(1), field(0)", "variant(1), field(2)", "typed"),
        ("write(fresh, value, variant(0))", "write(fresh, part, variant(0))", "write"),
        ("write(fresh, value, variant(0))", "write(fresh, value, variant(1))", "write"),
        ("write(fresh, value, variant(0))", "write(fresh, value, field(0))", "access"),
        ("read(test, control(1))", "read(test, field(1))", "projection"),
        ("read(test, control(0))", "read(test, control(1))", "successors"),
        ("if(pair, c)", "if(pair, value)", "if"),
        ("if(pair, c)", "if(number, c)", "control-input"),
        ("region(no, yes)", "region(no, yes, yes)", "region"),
        ("phi(meet, minus, chosen)", "phi(meet, minus)", "phi"),
        ("phi(meet, minus, chosen)", "phi(test, minus, chosen)", "pins"),
        ("phi(meet, minus, chosen)", "phi(meet, minus, part)", "phi"),
        ("negate(number)", "negate(s)", "unary"),
        ("bitcast(i32, part)", "bitcast(i64, part)", "conversion"),
        ("cast(i32, part)", "cast(i32, s)", "conversion"),
        ("select(less, bits, cut)", "select(less, bits, part)", "select"),
        ("intrinsic(round, f32, part)", "intrinsic(round, f32, number)", "intrinsic"),
    ),
)
CALLS = Sample(
    """fn f<n>(v: array<u32, (n * 2)>, p: u64) -> product<array<u32, (n * 2)>, u32> {
      changed = call(g<(n * 2)>, v, p)
      count = atomic(add, changed, position(p), seven)
      seven = constant(u32 7)
      after = read(count, field(0))
      old = read(count, field(1))
      result = product(after, old)
      done = return(start, result)
    }
    fn g<m>(w: array<u32, m>, at: u64) -> array<u32, m> {
      one = constant(u32 1)
      x = write(w, one, position(at))
      done = return(start, x)
    }""",
    "Call Atomic",
    (
        ("call(g<(n * 2)>, v, p)", "call(g<n>, v, p)", "call"),
        ("call(g<(n * 2)>, v, p)", "call(g<(n * 2), 3>, v, p)", "call"),
        ("call(g<(n * 2)>, v, p)", "call(g<(n * 2)>, p, v)", "call"),
        ("call(g<(n * 2)>, v, p)", "call(g<(n * 2)>, v)", "call"),
        ("call(g<(n * 2)>, v, p)", "call(g<($1 * 2)>, v, p)", "dynamic"),
        ("product(after, old)", "product(v, old)", "schedule"),
        ("atomic(add, changed, position(p), seven)", "atomic(add, changed, position(p))", "atomic"),
        ("atomic(add, changed, position(p), seven)", "atomic(add, changed, position(seven), seven)", "access"),
    ),
)
SAMPLES = (NEST, SUMS, CALLS)
BROKEN = [(sample, *edit) for sample in SAMPLES for edit in sample.broken]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda it: it.kinds)
def test_accepts(sample: Sample) -> None:
    module = parse(sample.text)
    check(module)
    used = {type(node).__name__ for function in module.functions for node in function.nodes}
    assert set(sample.kinds.split()) <= used


@pytest.mark.parametrize(("sample", "old", "new", "rule"), BROKEN, ids=lambda it: it if isinstance(it, str) else "")
def test_refuses(sample: Sample, old: str, new: str, rule: str) -> None:
    assert old in sample.text
    assert rule in {it.rule for it in verify(parse(sample.text.replace(old, new)))}


def test_every_kind_of_node_is_here() -> None:
    named = {kind for sample in SAMPLES for kind in sample.kinds.split()}
    assert named == {kind.__name__ for kind in SCHEMA.sums["node"]}


IN_TEXT = {kind.__name__ for kind in SCHEMA.sums["node"]} - {"Start", "Parameter"}
"""What the text form cannot get wrong: it has one start, and names its parameters."""


def test_every_kind_of_node_is_refused_once() -> None:
    """The mistake is the node's own, by the rule that the edit is said to break."""
    refused = {
        type(it.node).__name__
        for sample, old, new, rule in BROKEN
        for it in verify(parse(sample.text.replace(old, new)))
        if it.rule == rule
    }
    assert refused >= IN_TEXT


def test_a_second_start_and_a_parameter_that_is_none_are_refused() -> None:
    module = parse(CALLS.text)
    module.functions[0].nodes += [Start(), Parameter(2)]
    assert {(it.rule, type(it.node).__name__) for it in verify(module)} == {
        ("start", "Start"),
        ("parameter", "Parameter"),
    }


def test_control_types_list_the_factors_of_the_forks_around() -> None:
    function = parse(NEST.text).functions[0]
    types = infer_types(function)

    def factors(label: str) -> int:
        type = types[node_of(function, label)]
        assert isinstance(type, Control)
        return len(type.factors)

    assert [factors(it) for it in ("rows", "columns", "columns_end", "rows_end")] == [1, 2, 1, 0]
    assert types[function.nodes[0]] == Control(())
