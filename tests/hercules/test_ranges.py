"""Ranges: what is proved of positions, and that no proof is wrong on random functions."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tinct.ir.hercules import interp
from tinct.ir.hercules.interp import run
from tinct.ir.hercules.nodes import Index, Node
from tinct.ir.hercules.placement import place_nodes
from tinct.ir.hercules.ranges import Ranges, in_range
from tinct.ir.hercules.text import parse

from .generate import generate
from .support import node_of


def proved(text: str) -> set[str]:
    """The labels of the accesses all of whose positions are proved to be inside."""
    function = parse(text).functions[0]
    found = in_range(place_nodes(function))
    return {node.label for node, _ in found}


def accesses(body: str) -> set[str]:
    return proved(f"fn f<n, m>(a: array<i32, n>, t: array<i32, 16>, k: u32, s: i32) -> i32 {{\n{body}\n}}\n")


def guarded(condition: str, position: str) -> set[str]:
    """A read of `a` at `position` where `condition` is true, and one of `t`."""
    return accesses(f"""
      len = dynamic(n)
      len32 = cast(u32, len)
      zero = constant(i32 0)
      one = constant(u32 1)
      sixteen = constant(u32 16)
      {condition}
      test = if(start, c)
      no = read(test, control(0))
      yes = read(test, control(1))
      {position}
      p = cast(u64, q)
      x = read(a, position(p))
      y = read(t, position(p))
      sum = add(x, y)
      r = region(no, yes)
      v = phi(r, zero, sum)
      done = return(r, v)""")


@pytest.mark.parametrize(
    ("condition", "position", "expected"),
    [
        ("c = less(k, len32)", "q = bitcast(u32, k)", {"x"}),
        ("c = less(k, len32)", "q = add(k, one)", set()),
        ("c = less(k, sixteen)", "q = bitcast(u32, k)", {"y"}),
        ("c = less_equal(k, sixteen)", "q = bitcast(u32, k)", set()),
        ("c = greater(len32, k)", "q = bitcast(u32, k)", {"x"}),
        ("d = greater_equal(k, len32)\n c = not(d)", "q = bitcast(u32, k)", {"x"}),
        ("d = less(k, len32)\n e = less(k, sixteen)\n c = and(d, e)", "q = bitcast(u32, k)", {"x", "y"}),
        ("d = less(k, len32)\n e = less(k, sixteen)\n c = or(d, e)", "q = bitcast(u32, k)", set()),
        ("d = add(k, one)\n c = less(d, sixteen)", "q = bitcast(u32, k)", set()),  # k + 1 may wrap
        ("d = less(k, sixteen)\n c = and(d, d)", "q = add(k, one)", set()),
        ("c = less(k, sixteen)", "q = rem(k, sixteen)", {"y"}),
        ("c = less(one, sixteen)", "q = rem(k, sixteen)", {"y"}),
        ("c = less(one, sixteen)", "q = intrinsic(min, u32, k, one)", {"y"}),
        ("c = less(one, sixteen)", "q = sub(one, k)", set()),
        ("c = less(k, len32)", "q = div(k, len32)", {"x"}),
        ("c = less(one, sixteen)", "q = rem(k, len32)", set()),  # x % 0 is 0, and there is no element 0
    ],
)
def test_guards(condition: str, position: str, expected: set[str]) -> None:
    assert guarded(condition, position) == expected


COUNTED = """
      zero = constant(i32 0)
      first = constant({type} {first})
      one = constant({type} 1)
      len = dynamic(n)
      bound = cast({type}, len)
      h = region(start, yes)
      i = phi(h, first, next)
      v = phi(h, zero, sum)
      more = less(i, bound)
      test = if(h, more)
      out = read(test, control(0))
      yes = read(test, control(1))
      u = bitcast(u32, i)
      p = cast(u64, u)
      x = read(a, position(p))
      sum = add(v, x)
      next = add(i, one)
      done = return(out, v)"""


@pytest.mark.parametrize(
    ("type", "first", "expected"), [("u32", 0, {"x"}), ("i32", 0, {"x"}), ("i32", -1, set()), ("u32", 7, {"x"})]
)
def test_counted_loops(type: str, first: int, expected: set[str]) -> None:
    assert accesses(COUNTED.format(type=type, first=first)) == expected


def test_threads() -> None:
    found = accesses("""
      f = fork(start, n)
      g = fork(f, 16)
      i = thread_id(f)
      k2 = thread_id(g)
      zero = constant(i32 0)
      sum = reduce(j2, zero, inner)
      inner = reduce(j1, sum, next)
      x = read(a, position(i))
      y = read(t, position(k2))
      z = read(a, position(k2))
      w = read(t, position(i))
      e = add(x, y)
      e2 = add(z, w)
      e3 = add(e, e2)
      next = add(inner, e3)
      j1 = join(g)
      j2 = join(j1)
      done = return(j2, sum)""")
    assert found == {"x", "y"}


def test_short_circuits() -> None:
    found = accesses("""
      zero = constant(i32 0)
      false = constant(bool false)
      len = dynamic(n)
      len32 = cast(u32, len)
      sixteen = constant(u32 16)
      c1 = less(k, len32)
      t1 = if(start, c1)
      n1 = read(t1, control(0))
      y1 = read(t1, control(1))
      c2 = less(k, sixteen)
      r = region(n1, y1)
      both = phi(r, false, c2)
      t2 = if(r, both)
      n2 = read(t2, control(0))
      y2 = read(t2, control(1))
      p = cast(u64, k)
      x = read(a, position(p))
      y = read(t, position(p))
      sum = add(x, y)
      r2 = region(n2, y2)
      v = phi(r2, zero, sum)
      done = return(r2, v)""")
    assert found == {"x", "y"}


def test_what_a_loop_ends_with() -> None:
    text = COUNTED.format(type="u32", first=3)
    function = parse(f"fn f<n, m>(a: array<i32, n>) -> i32 {{\n{text}\n}}\n").functions[0]
    placed = place_nodes(function)
    found = Ranges(placed).at(node_of(function, "i"), node_of(function, "out"))
    assert found.low == 3


class Checked(interp._Compiler):
    """Positions that are proved to be inside are not clamped: a wrong proof is an IndexError."""

    def _path(self, collection: Node, indices: Sequence[Index]) -> list[tuple[int | None, int]] | None:
        path = super()._path(collection, indices)
        user = next(it for it in self.placed.place if getattr(it, "indices", None) is indices)
        known = in_range(self.placed)
        if path is None:
            return [(None, 0)] if any(node is user for node, _ in known) else None
        return [(slot, 2**64 if (user, number) in known else last) for number, (slot, last) in enumerate(path)]


@pytest.mark.parametrize("seed", range(240))
def test_no_proof_is_wrong(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interp, "_Compiler", Checked)
    function = generate(seed).functions[0]
    for n in (0, 1, 4):
        run(function, [n], [list(range(10, 10 + n)), 5])


def test_random_functions_have_something_to_prove() -> None:
    functions = [generate(seed).functions[0] for seed in range(120)]
    assert sum(len(in_range(place_nodes(it))) for it in functions) > 20
