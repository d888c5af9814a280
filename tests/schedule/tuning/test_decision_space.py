"""The space of decisions: all of it is legal, and all kinds of decisions are reached."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import replace
from random import Random

import pytest

from tinct import Nest, parse_nest
from tinct.ir.schedule.nodes import Decisions, Execution, Keep, Level, Location
from tinct.ir.schedule.text import parse_decisions, print_decisions, print_nest
from tinct.transforms.schedule.decided import Decided
from tinct.transforms.schedule.legality import illegal
from tinct.transforms.schedule.stages import stages_of
from tinct.tuning.blocks import blocks
from tinct.tuning.choices import CHOICES, MOVES, Facts, sequential
from tinct.tuning.cost import cost_of
from tinct.tuning.decision_space import DecisionSpace, meaning_of
from tinct.tuning.rates import ASSUMED

from ..nests import EVERYTHING, ROW_SUMS, SOFTMAX
from ..random_nests import random_sample
from .test_cost import SIZES, product

WORKGROUP = Execution.WORKGROUP


def space_of(text: str, sizes: Mapping[str, int], *, reassociate: bool = True) -> DecisionSpace:
    facts = Facts(parse_nest(text).ir, sizes, reassociate)
    return DecisionSpace(facts, lambda it: cost_of(it, ASSUMED))


def assert_priced(space: DecisionSpace, point: Decisions) -> None:
    assert space.is_legal(point), print_decisions(point)
    cost = space.cost(point)
    assert 0 < cost.least <= cost.expected < 1e6


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (ROW_SUMS, {"rows": 100, "columns": 64}),
        (SOFTMAX, {"rows": 8, "columns": 1000}),
        (EVERYTHING, {"n": 3, "m": 9}),
        (ROW_SUMS, {"rows": 1, "columns": 1}),
    ],
)
def test_points_are_legal_and_have_a_cost(text: str, sizes: Mapping[str, int]) -> None:
    space, random = space_of(text, sizes), Random(0)
    points = [*space.starts(), *filter(None, (space.sample(random) for _ in range(25)))]
    assert points
    for point in points:
        assert_priced(space, point)
        near = space.neighbour(point, random)
        if near is not None:
            assert near != point
            assert_priced(space, near)
        child = space.child(point, points[0], random)
        if child is not None:
            assert_priced(space, child)


@pytest.mark.parametrize("seed", range(6))
def test_points_of_random_nests(seed: int) -> None:
    sample, random = random_sample(seed), Random(seed)
    facts = Facts(sample.nest.ir, sample.sizes, reassociate=True)
    space = DecisionSpace(facts, lambda it: cost_of(it, ASSUMED))
    points = [*space.starts(), *filter(None, (space.sample(random) for _ in range(8)))]
    for point in points:
        assert_priced(space, point)


def test_rows_that_are_reduced_and_read_again_are_shared_by_a_workgroup() -> None:
    """Otherwise each workgroup would reduce the whole row for 64 of its elements."""
    space = space_of(SOFTMAX, {"rows": 8, "columns": 1000})
    rows, simple = space.by_rows(), space.simple()
    levels = space.facts.levels(rows)
    (start,) = (it for it in space.starts() if space.facts.levels(it) == levels)
    assert set(start.peeled) == {"j", "k", "l"}  # 1000 columns are no whole turns of 64
    loop = Level(Execution.LOOP, None), Level(Execution.INVOCATION, 64)
    assert levels.pop("i") == (Level(Execution.WORKGROUP, None),)
    assert set(levels.values()) == {loop}
    assert space.cost(rows).expected < space.cost(simple).expected
    assert {space.by_rows(it) for it in (16, 32, 64, 128, 256)} <= set(space.structured())


def test_rows_may_keep_what_is_computed_for_several_loops() -> None:
    space = space_of(SOFTMAX, {"rows": 256, "columns": 1000})
    kept = (Keep("e", Location.WORKGROUP),)
    assert any(it.kept == kept for it in space.starts())
    rows = space.by_rows()
    assert space.cost(replace(rows, kept=kept)).expected < space.cost(rows).expected


def test_rows_that_are_not_read_again_need_no_start_of_their_own() -> None:
    space = space_of(ROW_SUMS, {"rows": 100, "columns": 64})
    assert space.by_rows() == space.simple()


def test_a_small_space_is_found_whole() -> None:
    space = space_of(ROW_SUMS, {"rows": 2, "columns": 2})
    whole = space.whole(2000)
    assert whole is not None
    assert len(set(whole)) == len(whole)
    assert all(map(space.is_legal, whole))
    random = Random(1)
    samples = {it for it in (space.sample(random) for _ in range(200)) if it is not None}
    assert samples <= set(whole)
    assert len(samples) > 50


def test_a_large_space_is_not_whole() -> None:
    assert space_of(ROW_SUMS, {"rows": 4096, "columns": 4096}).whole(512) is None


def test_levels_that_accumulate_in_parts_need_leave() -> None:
    random = Random(0)
    for reassociate in (False, True):
        space = space_of(ROW_SUMS, {"rows": 64, "columns": 64}, reassociate=reassociate)
        points = [it for it in (space.sample(random) for _ in range(60)) if it is not None]
        kinds = {
            level.execution for it in points for its in it.dimensions for level in its.levels if its.dimension == "j"
        }
        assert (Execution.TREE in kinds) is reassociate


@pytest.mark.parametrize("name", MOVES)
def test_each_move_gives_legal_points(name: str) -> None:
    space, random = space_of(ROW_SUMS, {"rows": 64, "columns": 64}), Random(2)
    found = set[Decisions]()
    for _ in range(150):
        point = space.sample(random)
        assert point is not None
        made = MOVES[name](space.facts, point, random)
        if made is not None and made != point and space.is_legal(made):
            found.add(made)
    assert found


def test_each_choice_gives_others_of_its_kind() -> None:
    space = space_of(ROW_SUMS, {"rows": 64, "columns": 64})
    begin = space.simple()
    shared = parse_decisions("i: workgroup\nj: partial * loop(2) * invocation(8)")
    uneven = parse_decisions("i: workgroup * invocation(3)")
    joined = "counts at [x0] from 0u by + of 1u on [i, j]"
    counts = (
        ROW_SUMS.partition("  acc:")[0].replace("f32", "u32").replace("out sums", "out counts") + f"  {joined}\n}}\n"
    )
    scattered = space_of(counts, {"rows": 64, "columns": 64})
    (copied,) = CHOICES["private"](scattered.facts, begin)
    assert copied.private == ("counts",)
    assert scattered.is_legal(copied)
    shares = space_of(SOFTMAX, {"rows": 64, "columns": 64})
    found = list(CHOICES["locations"](shares.facts, shares.simple()))
    assert {it.kept[0].value for it in found} == {"x0", "e"}
    assert all(map(shares.is_legal, (it for it in found if it.kept[0].location is Location.STORAGE)))
    products = DecisionSpace(Facts(product().ir, SIZES), lambda it: cost_of(it, ASSUMED))
    again = [it.kept for it in CHOICES["locations"](products.facts, products.simple())]
    assert again == [(Keep(it, Location.STORAGE),) for it in ("a0", "b0")]
    (less, *others) = CHOICES["locations"](shares.facts, found[0])
    assert less.kept == ()
    assert len(others) == len(found) - 1
    for name, choice in CHOICES.items():
        if name in ("private", "locations"):
            continue
        made = list(choice(space.facts, {"joins": shared, "subgroups": shared, "peel": uneven}.get(name, begin)))
        assert any(space.is_legal(it) for it in made), name
    assert all(it.order == begin.order for it in CHOICES["axes"](space.facts, begin))
    assert not list(CHOICES["peel"](space.facts, begin))


@pytest.mark.parametrize(
    "text",
    [
        "i: workgroup\nj: loop * loop(4) * invocation(8)\nstage x0 at j.1",
        "i: workgroup\nj: partial * loop(2) * invocation(8)\nj_part: loop * invocation(8)\nstage x0",
        "i: workgroup * invocation(3)\nj: loop\nstage x0 at i.1",
    ],
)
def test_copies_of_any_decisions_have_other_paddings(text: str) -> None:
    """Also where decisions are about several dispatches, or break a rule."""
    facts = space_of(ROW_SUMS, {"rows": 64, "columns": 64}).facts
    found = {it.stages[0].padding for it in CHOICES["stages"](facts, parse_decisions(text)) if it.stages}
    assert {0, 1} <= found


def test_the_cost_model_ranks_what_is_known() -> None:
    """Rows are summed by invocations that are neighbours in a row; one that has a row to itself gathers."""
    space = space_of(ROW_SUMS, {"rows": 4096, "columns": 4096})
    costs = [
        space.cost(parse_decisions(text)).expected
        for text in (
            "i: workgroup * loop(8)\nj: loop * tree(2) * invocation(16)",
            "i: workgroup * invocation(64)\nj: loop",
            "i: loop\nj: loop",
        )
    ]
    assert costs == sorted(costs)
    assert costs[2] > 3 * costs[0]


TOTAL = """\
nest total(n) {
  dim j: n
  in x: u32[n]
  out sum: u32[]

  x0: u32 = inst x[j] on [j]
  acc: u32 = 0u fby t on [j]
  t: u32 = inst acc + x0 on [j]
  acc_last: u32 = last acc on [j]
  sum[] = acc_last on []
}
"""
MANY_UNITS = replace(ASSUMED, units=100, lanes=32, operations=1e13, memory=1e12, cached=4e12)


def test_workgroups_share_a_reduction() -> None:
    """A sum of all elements on many units is shared by workgroups, joined in each way; on one unit it is not."""
    text = TOTAL.replace("u32", "f32").replace("0u", "0.0f")
    facts = Facts(parse_nest(text).ir, {"n": 1 << 24}, reassociate=True)
    space = DecisionSpace(facts, lambda it: cost_of(it, MANY_UNITS))
    alone, shared = space.simple(), space.shared()
    assert shared in space.starts()
    assert "partial" in print_decisions(shared)
    assert space.cost(shared).expected < space.cost(alone).expected / 20
    assert not facts.by_atomics
    kinds = {level.execution for it in facts.levels(shared).values() for level in it}
    assert Execution.ATOMIC not in kinds
    few = DecisionSpace(facts, lambda it: cost_of(it, replace(ASSUMED, units=1)))
    simd = parse_decisions("j: loop * tree(4) * invocation(64)")
    parts = parse_decisions("j: partial * loop(4) * tree(4) * invocation(64)\nj_part: loop * invocation(64)")
    assert few.cost(simd).expected < few.cost(parts).expected
    assert not DecisionSpace(replace(facts, reassociate=False), few.price).shared().dimensions


def test_whole_numbers_are_shared_by_atomic_operations_too() -> None:
    facts = Facts(parse_nest(TOTAL).ir, {"n": 1 << 20})
    assert facts.by_atomics == {"j"}
    space, random = DecisionSpace(facts, lambda it: cost_of(it, MANY_UNITS)), Random(0)
    points = [it for it in (space.sample(random) for _ in range(100)) if it is not None]
    kinds = [{level.execution for levels in it.dimensions for level in levels.levels} for it in points]
    for kind in (Execution.PARTIAL, Execution.ATOMIC, Execution.SUBGROUP):
        assert 0 < sum(kind in it for it in kinds) < 50, kind
    assert any(it.dimension == "j_part" for point in points for it in point.dimensions)
    for point in points:
        assert_priced(space, point)


def test_devices_without_subgroups() -> None:
    facts = Facts(parse_nest(TOTAL).ir, {"n": 1 << 20}, has_subgroups=False)
    space, random = DecisionSpace(facts, lambda it: cost_of(it, ASSUMED)), Random(0)
    for _ in range(40):
        point = space.sample(random)
        near = None if point is None else space.neighbour(point, random)
        assert "subgroup" not in print_decisions(near or Decisions((), ()))


def test_what_points_share_does_not_depend_on_decisions() -> None:
    space, random = space_of(SOFTMAX, {"rows": 8, "columns": 100}), Random(3)
    facts = space.facts
    for _ in range(10):
        point = space.sample(random)
        assert point is not None
        alone = Decided(facts.nest, point, facts.sizes, facts.reassociate)
        assert space.cost(point) == cost_of(alone, ASSUMED)
        assert facts.decided(point) == alone
        assert facts.decided(point).tasks is alone.tasks
        assert point.kept or alone.tasks is facts.plain.tasks


def test_tasks_of_stages_are_found_once() -> None:
    """Those of points whose stages differ in how long the arrays between them are, and in nothing else."""
    facts = Facts(product().ir, {"m": 64, "n": 64, "inner": 64})
    text = "i: workgroup\nj: workgroup * unrolled({}) * invocation(8)\norder: k.0, j.1\nkeep b0 in storage"
    one, other = (stages_of(facts.decided(parse_decisions(text.format(it)))).stages for it in (2, 4))
    assert len(one) == len(other) == 2
    assert one[0].nest.arrays != other[0].nest.arrays
    assert all(a.tasks is b.tasks for a, b in zip(one, other, strict=True))


def test_tasks_go_to_other_processes_without_their_hash() -> None:
    """Strings hash differently there."""
    for task in Facts(product().ir, SIZES).plain.tasks:
        assert hash(task) == hash(replace(task))
        sent = pickle.loads(pickle.dumps(task))
        assert sent == task
        assert sent is not task
        assert vars(sent).keys() < vars(task).keys()


def test_no_point_has_more_workgroups_than_a_dispatch_may_have() -> None:
    """Of 2²⁴ elements in workgroups of 256: they go through several each."""
    nest = Nest("squares")
    i = nest.dim("n")
    x = nest.load("x", "f32", [i])
    nest.store("y", x * x, [i])
    facts = Facts(nest.ir, {"n": 1 << 24})
    space, random = DecisionSpace(facts, lambda it: cost_of(it, ASSUMED)), Random(1)
    many = parse_decisions("i: workgroup * invocation(256)")
    assert not illegal(facts.decided(many))
    assert not space.is_legal(many)
    assert print_decisions(facts.within_limits(many)) == "i: workgroup * loop(2) * invocation(256)\n"
    few = parse_decisions("i: workgroup * loop(2) * invocation(256)")
    assert facts.within_limits(few) is few
    points = [*space.starts(), *space.structured(), *filter(None, (space.sample(random) for _ in range(20)))]
    counts = {it.count(name) for point in points for it in [facts.decided(point)] for name in it.axes(WORKGROUP)}
    assert len(counts) > 3
    assert max(it or 0 for it in counts) <= 65_535
    assert "loop(8) * invocation(64)" in print_decisions(space.simple())


def test_what_is_kept_of_loads_is_computed_already() -> None:
    """What a task needs in fewer dimensions than it has: not f32(a) of the second sum."""
    nest = Nest("product")
    i, j, k = nest.dim("m"), nest.dim("n"), nest.dim("inner", name="k")
    a, b = nest.load("a", "f16", [i, k]), nest.load("b", "f16", [k, j])
    factor = nest.call("exp", nest.call("f32", b))
    nest.store("c", nest.reduce("+", nest.call("f32", a) * factor, on=[k]), [i, j])
    nest.store("d", nest.reduce("+", nest.call("f32", a), on=[k]), [i])
    facts = Facts(nest.ir, {"m": 512, "n": 512, "inner": 512})
    assert facts.read_again == ("a0", "b0")
    first, second = sorted(facts.worth_keeping)
    text = print_nest(nest.ir)
    assert f"{first}: f32 = inst exp(" in text
    assert f"{second}: f32 = inst f32(a0)" in text
    kept = {it.value for point in blocks(facts) for it in point.kept}
    assert kept == {"a0", "b0", first, second}


def test_long_computations_are_compared_with_each_other() -> None:
    """Python's own limit of calls inside of each other does not matter, nor does their number."""
    nest = Nest("long")
    i, j, k = nest.dim("n"), nest.dim("m"), nest.dim("p", "k")
    value = nest.reduce("+", nest.load("x", "f32", [i, j, k]), on=[k])
    for _ in range(150):
        value = nest.call("max", value * 1.5, value)
    weights, again = nest.softmax(value, j)
    nest.store("y", weights, [i, again])
    facts = Facts(nest.ir, {"n": 8, "m": 8, "p": 8}, reassociate=True)
    assert facts.needed_again == (value.name,)
    kept = parse_decisions(f"i: workgroup\nkeep {value.name} in storage")
    assert not illegal(facts.decided(kept))
    assert len(facts.decided(kept).scope.values) < len(facts.plain.scope.values) - 300


def test_some_points_are_structured_and_legal() -> None:
    space = space_of(SOFTMAX, {"rows": 8, "columns": 100})
    every, some = list(space.structured()), list(space.some(Random(1), 10))
    assert space.simple() in some
    assert set(some) <= {space.simple(), *every}
    assert 1 < len(some) <= 11 < len(every)


def test_levels_that_mean_the_same_are_one() -> None:
    """Nothing is joined along dimensions that nothing is carried along."""
    facts = space_of(ROW_SUMS, {"rows": 64, "columns": 64}).facts
    begin = Decisions((), ())
    levels = facts.levels(begin)
    points = [
        facts.with_levels(begin, {**levels, "i": (Level(first, None), Level(last, 4))})
        for first in (Execution.WORKGROUP, Execution.ATOMIC, Execution.PARTIAL)
        for last in (Execution.INVOCATION, Execution.SUBGROUP)
    ]
    assert len(set(points)) == 1
    carried = facts.with_levels(begin, {**levels, "j": (Level(Execution.LOOP, None), Level(Execution.SUBGROUP, 4))})
    assert "subgroup" in print_decisions(carried)


def test_parts_go_with_their_level() -> None:
    """Levels of parts are kept while there is a partial level, also in what two points have together."""
    space = space_of(ROW_SUMS, {"rows": 64, "columns": 64})
    shared = parse_decisions("i: workgroup\nj: partial * loop(2) * invocation(8)\nj_part: loop * invocation(2)")
    alone = parse_decisions("i: workgroup * invocation(2)\nj: loop * invocation(8)")
    levels = space.facts.levels(shared)
    assert space.facts.parts(levels) == {"j_part": 4}
    without = space.facts.with_levels(shared, {**levels, "j": (Level(Execution.LOOP, None),)})
    assert "j_part" not in print_decisions(without)
    children = {
        space.child(first, second, Random(seed))
        for seed in range(20)
        for first, second in ((shared, alone), (alone, shared))
    } - {None}
    texts = [print_decisions(it) for it in children if it is not None]
    assert any("j_part" in it for it in texts)
    assert all("partial" in it for it in texts if "j_part" in it)


def test_rows_are_also_reduced_in_parts() -> None:
    """Of each reduction of a softmax alone, and of both: parts do not wait for each other."""
    space = space_of(SOFTMAX, {"rows": 512, "columns": 1024})
    found = set(space.structured())
    first, second = sorted(space.facts.in_parts)
    for parts in ({}, {first: 4}, {second: 2}, {first: 2, second: 2}):
        point = space.by_rows(32, parts)
        levels = space.facts.levels(point)
        trees = {name: [it.factor for it in its if it.execution is Execution.TREE] for name, its in levels.items()}
        assert {name: its[0] for name, its in trees.items() if its} == parts
        assert point in found


def test_an_order_of_loops_that_no_task_has_both_of_means_nothing() -> None:
    """The loops of softmax follow each other, so that it does not matter which is first in the order."""
    space = space_of(SOFTMAX, {"rows": 8, "columns": 64})
    rows, *loops = space.facts.extents
    assert len(loops) == 3
    levels = f"{rows}: workgroup\n{loops[0]}: loop * tree(4)\n{loops[1]}: loop * tree(2)\n"
    orders = (
        f"{loops[2]}.0, {loops[0]}.0, {loops[1]}.0, {loops[0]}.1, {loops[1]}.1",
        f"{loops[0]}.0, {loops[0]}.1, {loops[2]}.0, {loops[1]}.0, {loops[1]}.1",
        f"{loops[0]}.1, {loops[0]}.0, {loops[2]}.0, {loops[1]}.0, {loops[1]}.1",
    )
    first, alike, other = (space.facts.decided(parse_decisions(f"{levels}order: {it}")) for it in orders)
    assert meaning_of(first) == meaning_of(alike) != meaning_of(other)


@pytest.mark.parametrize("seed", range(8))
def test_points_that_mean_the_same_are_lowered_to_the_same(seed: int) -> None:
    sample, random = random_sample(seed), Random(seed)
    sizes = sample.sizes
    space = DecisionSpace(Facts(sample.nest.ir, sizes, reassociate=True), lambda it: cost_of(it, ASSUMED))
    texts: dict[object, set[tuple[object, ...]]] = {}
    for point in filter(None, (space.sample(random) for _ in range(4))):
        for it in (point, *(shuffled(space, point, random) for _ in range(6))):
            decided = space.facts.decided(it)
            if not illegal(decided):
                lowered = sample.nest.lower(it, sizes=sizes, reassociate=True)
                code = "".join(line for line in lowered.wgsl.splitlines() if not line.startswith("//"))
                counts = [workgroups for _, workgroups in lowered.dispatches(sizes)]
                texts.setdefault(meaning_of(decided), set()).add((code, *counts))
    assert {len(it) for it in texts.values()} <= {1}


def shuffled(space: DecisionSpace, point: Decisions, random: Random) -> Decisions:
    """The point with its dimensions and the order of its loops shuffled."""
    levels = space.facts.levels(point)
    order, dimensions = list(space.facts.declared(sequential(levels))), list(point.dimensions)
    random.shuffle(order)
    random.shuffle(dimensions)
    return replace(point, order=tuple(order), dimensions=tuple(dimensions))


def test_only_one_of_the_points_that_mean_the_same_is_found() -> None:
    space, random = space_of(SOFTMAX, {"rows": 64, "columns": 512}), Random(0)
    point = space.simple()
    found = {point}
    for _ in range(300):
        point = space.neighbour(random.choice(sorted(found, key=str)), random) or point
        found.add(point)
    assert len(found) > 100
    assert len({meaning_of(space.facts.decided(it)) for it in found}) == len(found)
