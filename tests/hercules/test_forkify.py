"""Forkify: which spellings of a counted loop become forks, and which dependences keep a loop a loop."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from tinct.ir.hercules.cache import Analyses
from tinct.ir.hercules.interp import backward, run, shuffled
from tinct.ir.hercules.nodes import Fork, Module
from tinct.ir.hercules.text import parse
from tinct.ir.hercules.verify import check
from tinct.transforms.hercules import HERCULES
from tinct.transforms.hercules.forks import Forks
from tinct.transforms.passes import parse_pipeline, run_passes

from .support import copy_of, same_value


@dataclass(frozen=True)
class Loop:
    """A loop that squares elements, sums them up in `fold`, and gives its counter back."""

    type: str = "u64"
    first: str = "constant(u64 0)"
    limit: str = "dynamic(n)"
    go: str = "less(i, limit)"
    next: str = "add(i, step)"
    step: int = 1
    leaves_if: int = 0
    fold: str = "add(sum, square)"
    at: str = "cast(u64, i)"
    read: str = "read(all, position(at))"

    @property
    def module(self) -> Module:
        text = f"""fn f<n>(a: array<i32, n>) -> product<array<i32, n>, i32, {self.type}> {{
          zero = constant(i32 0)
          one = constant(u64 1)
          step = constant({self.type} {self.step})
          size = dynamic(n)
          count = cast({self.type}, size)
          first = {self.first}
          limit = {self.limit}
          h = region(start, body)
          i = phi(h, first, next)
          all = phi(h, a, squared)
          sum = phi(h, zero, more)
          ahead = add(i, step)
          less = less(i, limit)
          go = {self.go}
          test = if(h, go)
          out = read(test, control({self.leaves_if}))
          body = read(test, control({1 - self.leaves_if}))
          wide = cast(u64, i)
          at = {self.at}
          after = add(at, one)
          far = mul(at, at)
          x = {self.read}
          square = mul(x, x)
          squared = write(all, square, position(at))
          more = {self.fold}
          next = {self.next}
          result = product(all, sum, i)
          done = return(out, result)
        }}"""
        module = parse(text.replace(" ; ", "\n"))
        check(module)
        return module


UP = Loop()
AFTER = "read(all, position(after))"
UNSIGNED = Loop("u32", "constant(u32 0)", "cast(u32, size)")
SIGNED = Loop("i32", "constant(i32 0)", "cast(i32, size)")
DOWN = Loop("i32", "sub(count, step)", "constant(i32 0)", "greater_equal(i, limit)", "sub(i, step)")

COUNTED = {
    "up": UP,
    "the sides exchanged": replace(UP, go="greater(limit, i)"),
    "left if the opposite holds": replace(UP, go="greater_equal(i, limit)", leaves_if=1),
    "a test that is negated": replace(UP, go="not(less)", leaves_if=1),
    "until the counter is the bound": replace(UP, go="not_equal(i, limit)"),
    "left at the bound": replace(UP, go="equal(limit, i)", leaves_if=1),
    "u32": UNSIGNED,
    "i32": SIGNED,
    "up to the bound": replace(SIGNED, go="less_equal(i, limit)", limit="sub(count, step)"),
    "by three": replace(UP, step=3),
    "by two, from one": replace(UNSIGNED, first="constant(u32 1)", step=2),
    "by four": replace(UNSIGNED, step=4),
    "from one, a step ahead": replace(UP, first="constant(u64 1)", go="less(ahead, limit)"),
    "by minus one, subtracted": replace(SIGNED, next="sub(i, step)", step=-1),
    "down": DOWN,
    "down to below the bound": replace(DOWN, limit="constant(i32 -1)", go="less(limit, i)"),
    "down by two": replace(DOWN, first="cast(i32, size)", limit="constant(i32 1)", step=2, at="sub(wide, one)"),
    "down to one, u64": Loop(
        "u64", "dynamic(n)", "constant(u64 0)", "greater(i, limit)", "sub(i, step)", at="sub(i, step)"
    ),
    "differences": replace(UP, fold="sub(sum, square)"),
    "the greatest": replace(UP, fold="intrinsic(max, i32, sum, square)"),
    "bits": replace(UNSIGNED, fold="xor(square, sum)"),
    "products": replace(UP, fold="mul(sum, square)"),
    "nothing carried": replace(UP, fold="add(sum, zero)"),
}

KEPT = {
    "past the end of a short array": replace(UNSIGNED, limit="constant(u32 5)"),
    "a counter that wraps for the greatest n": replace(SIGNED, step=4),
    "an element that the iteration before made": replace(UP, first="constant(u64 1)", at="sub(i, one)", read=AFTER),
    "an element of a later iteration": replace(UP, read=AFTER),
    "an element of any iteration": replace(UP, read="read(all, position(far))"),
    "a fold of two operations": replace(UP, fold="mul(more1, square) ; more1 = add(sum, x)"),
    "a value used between": replace(UP, read="read(all, position(used)) ; used = cast(u64, sum)"),
    "a division": replace(UP, fold="div(sum, square)"),
    "a number taken from the sum": replace(UP, fold="sub(square, sum)"),
    "a counter that may be below its bound for ever": replace(UNSIGNED, go="less_equal(i, limit)"),
    "a counter that wraps": replace(UNSIGNED, limit="constant(u32 4294967295)", step=2),
    "down to zero, unsigned": replace(
        UNSIGNED, first="constant(u32 3)", limit="constant(u32 0)", go="greater_equal(i, limit)", next="sub(i, step)"
    ),
    "past the bound": replace(UP, go="not_equal(i, limit)", step=2),
    "a step that grows": replace(UP, next="add(i, i)", first="constant(u64 1)"),
    "a clamped position": replace(UP, first="constant(u64 0)", at="add(i, step)"),
}


def forkified(loop: Loop, options: str = "counts=31") -> Module:
    module = copy_of(loop.module)
    run_passes(module, parse_pipeline(f"forkify{{{options}}}", HERCULES), HERCULES, verify_each=True)
    return module


def forks(module: Module) -> int:
    return sum(isinstance(it, Fork) for it in module.functions[0].nodes)


@pytest.mark.parametrize("name", COUNTED)
def test_counted_loops_become_forks_in_any_order_of_threads(name: str) -> None:
    before, after = COUNTED[name].module, forkified(COUNTED[name])
    assert forks(after) == 1
    for n in range(8):
        given = [[3 * it - 7 for it in range(n)]]
        expected = run(before.functions[0], [n], given)
        for order in (backward, shuffled(1)):
            assert same_value(run(after.functions[0], [n], given, order), expected), n


@pytest.mark.parametrize("name", COUNTED)
def test_the_threads_are_shown_to_be_independent_afterwards(name: str) -> None:
    """Without what is known of dynamic constants: the positions are made so that their range shows."""
    (body,) = Forks.of(Analyses(forkified(COUNTED[name]).functions[0])).bodies()
    (table,) = [it for it in body.reduces if it.label == "all"]
    assert body.iterations.has_own_slots(table, table.update, body.threads)


@pytest.mark.parametrize("name", KEPT)
def test_loops_that_stay(name: str) -> None:
    assert forks(forkified(KEPT[name])) == 0


@pytest.mark.parametrize("loop", [SIGNED, DOWN], ids=["up", "down"])
def test_signed_counters_need_dynamic_constants_that_fit(loop: Loop) -> None:
    assert forks(forkified(loop, "counts=32")) == 0
    assert forks(forkified(loop, "counts=31")) == 1


FLOATS = """fn f<n>(a: array<f32, n>) -> f32 {
  zero = constant(f32 0.0)
  none = constant(u64 0)
  one = constant(u64 1)
  limit = dynamic(n)
  h = region(start, body)
  i = phi(h, none, next)
  sum = phi(h, zero, more)
  go = less(i, limit)
  test = if(h, go)
  out = read(test, control(0))
  body = read(test, control(1))
  x = read(a, position(i))
  more = add(sum, x)
  next = add(i, one)
  done = return(out, sum)
}"""


@pytest.mark.parametrize(("options", "expected"), [("counts=31", 0), ("reassociate=true", 1)])
def test_floats_are_folded_in_any_order_only_if_asked(options: str, expected: int) -> None:
    module = parse(FLOATS)
    run_passes(module, parse_pipeline(f"forkify{{{options}}}", HERCULES), HERCULES, verify_each=True)
    assert forks(module) == expected
    assert run(module.functions[0], [3], [[0.5, 0.25, 2.0]]) == 2.75


def test_sums_of_many_shared_terms_are_not_unfolded() -> None:
    """Each of 60 lines doubles the one before: as a tree it would have 2^60 terms."""
    lines = [f"w{number + 1} = add(w{number}, w{number})" for number in range(60)]
    loop = replace(UP, first=" ; ".join(["constant(u64 0)", "w0 = constant(u64 0)", *lines]), limit="add(size, w60)")
    forkified(loop)
    forkified(replace(UP, at=" ; ".join(["add(i, p60)", "p0 = add(i, one)", *(it.replace("w", "p") for it in lines)])))
