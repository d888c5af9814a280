"""The structured points that a search begins with."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest

from tinct import Nest
from tinct.backend.cpu.target import current_target
from tinct.ir.schedule.nodes import Compute, Execution, Level, LevelName
from tinct.ir.schedule.text import parse_decisions, print_decisions
from tinct.transforms.schedule.decided import Decided
from tinct.transforms.schedule.tasks import Carry
from tinct.tuning.blocks import blocks, parts_at_once, passes, whole_rows, windows
from tinct.tuning.choices import Facts
from tinct.tuning.cost import cost_of
from tinct.tuning.decision_space import DecisionSpace
from tinct.tuning.measured_rates import block_lanes
from tinct.tuning.rates import ASSUMED

from .test_cost import product


def space_of(sizes: dict[str, int]) -> DecisionSpace:
    return DecisionSpace(Facts(product().ir, sizes, reassociate=True), lambda it: cost_of(it, ASSUMED))


def test_they_are_legal_and_few_are_left_out() -> None:
    space = space_of({"m": 1000, "n": 777, "inner": 333})
    found = list(space.structured())
    assert all(map(space.is_legal, found))
    assert len(found) > 0.8 * len(list(blocks(space.facts)))
    assert len(set(found)) == len(found)


def test_blocks_have_rows_and_columns_that_are_no_powers_of_two() -> None:
    facts = space_of({"m": 1000, "n": 777, "inner": 333}).facts
    factors = set[tuple[int, int]]()
    for point in blocks(facts):
        levels = facts.levels(point)
        rows, columns = (
            [it.factor or 1 for it in levels[name] if it.execution is Execution.UNROLLED] or [1] for name in ("i", "j")
        )
        factors.add((rows[0], columns[0]))
    assert {(1, 1), (8, 2), (6, 4), (8, 3), (12, 2)} <= factors


@pytest.mark.parametrize(("lanes", "expected"), [(4, {4, 8, 16, 256}), (8, {8, 16, 32, 256}), (16, {16, 32, 64, 256})])
def test_blocks_fill_the_vectors_of_the_processor(lanes: int, expected: set[int]) -> None:
    facts = replace(space_of({"m": 1000, "n": 777, "inner": 333}).facts, lanes=lanes)
    levels = [it for point in blocks(facts) for it in facts.levels(point)["j"]]
    squares = {16}
    assert {it.factor for it in levels if it.execution is Execution.INVOCATION} == expected | squares


def test_lanes_of_blocks_are_those_of_the_processor() -> None:
    assert block_lanes("cpu") == current_target().vector_bytes // 4


def stencil(reach: int) -> Nest:
    nest = Nest("stencil")
    y, x = nest.dim("h", "y"), nest.dim("w", "x")
    dy, dx = nest.dim(2 * reach + 1, "dy"), nest.dim(2 * reach + 1, "dx")
    near = nest.load("u", "f32", [y + dy - reach, x + dx - reach], boundary="clamp", extents=["h", "w"])
    weighted = near * nest.load("weights", "f32", [dy, dx])
    nest.store("v", nest.reduce("+", weighted, on=[dy, dx]), [y, x])
    return nest


def test_windows_are_written_out_along_rows() -> None:
    facts = Facts(stencil(3).ir, {"h": 512, "w": 512}, reassociate=True)
    space = DecisionSpace(facts, lambda it: cost_of(it, ASSUMED, contract=True))
    found = [print_decisions(it) for it in windows(facts) if space.is_legal(it)]
    assert any(
        "dy: unrolled\n" in it and "y: workgroup * unrolled(6)\nx: workgroup * unrolled(2) * invocation(16)\n" in it
        for it in found
    )
    assert all(("peel y, x\n" in it) is not ("stage u0" in it) for it in found)
    for turns in (8, 16):
        rows = (  # 9 steps of 16 invocations, or 17
            f"y: workgroup * unrolled(6)\nx: workgroup * loop({turns}) * invocation(16)\n"
            "order: x.1, dx.0, dy.0, y.1\nstage u0 pad(10)\n"
        )
        assert any(rows in it for it in found)
    sliding = (
        "y: workgroup * loop(29) * unrolled(6)\nx: workgroup * loop(8) * invocation(16)\n"  # 3 workgroups of 174 rows
        "order: y.1, x.1, dx.0, dy.0, y.2\nstage u0 at y.1 pad(10) sliding\n"
    )
    assert any(sliding in it for it in found)
    assert set(space.windowed()) <= set(space.starts())
    kinds = [space.kind(it) for it in space.windowed()]
    assert len(set(kinds[:4])) == 3  # the cheapest ones are not all of one kind
    assert len(set(kinds)) == 8 < len(kinds)
    assert any("sliding" in print_decisions(it) for it in space.windowed())
    costs = [space.cost(it).expected for it in space.windowed()]
    assert costs[:4] == sorted(costs)[:4]
    assert max(costs) <= 1.5 * min(costs)


def test_small_blocks_of_long_windows_are_computed_by_turns() -> None:
    """Seventeen elements leave room for few rows: one workgroup for each block would take as long as the block."""
    nest = Nest("weighted")
    y, x, k = nest.dim("h", "y"), nest.dim("w", "x"), nest.dim(17, "k")
    near = nest.load("u", "f32", [y + k, x], extents=[nest.size("h") + 16, "w"])
    nest.store("v", nest.reduce("+", near * nest.load("weights", "f32", [k]), on=[k]), [y, x])
    facts = Facts(nest.ir, {"h": 512, "w": 512}, reassociate=True)
    space = DecisionSpace(facts, lambda it: cost_of(it, ASSUMED, contract=True))
    found = [print_decisions(it) for it in windows(facts) if space.is_legal(it)]
    block = "k: unrolled\ny: workgroup * unrolled(6)\nx: workgroup * loop(4) * unrolled(2) * invocation(16)\n"
    assert any("order: x.1, k.0, y.1, x.2" in it and block.splitlines() == it.splitlines()[:3] for it in found)
    assert not any("unrolled(12)\nx: workgroup * unrolled(2)" in it for it in found)  # 408 points written out


def convolution() -> Nest:
    nest = Nest("convolution")
    o, y, x = nest.dim("outputs", "o"), nest.dim("h", "y"), nest.dim("w", "x")
    c, dy, dx = nest.dim("inputs", "c"), nest.dim(3, "dy"), nest.dim(3, "dx")
    extents = [nest.size("inputs"), nest.size("h") + 2, nest.size("w") + 2]
    pixels = nest.load("image", "f32", [c, y + dy, x + dx], extents=extents)
    weighted = pixels * nest.load("weights", "f32", [o, c, dy, dx])
    nest.store("result", nest.reduce("+", weighted, on=[c, dy, dx]), [o, y, x])
    return nest


def space_of_convolution(channels: int, size: int, lanes: int = 16) -> DecisionSpace:
    """As many channels of the output, whose extents are this size."""
    sizes = {"outputs": channels, "inputs": channels, "h": size, "w": size}
    facts = replace(Facts(convolution().ir, sizes, reassociate=True), lanes=lanes)
    return DecisionSpace(facts, lambda it: cost_of(it, ASSUMED, contract=True))


def test_what_a_window_reads_serves_several_outputs() -> None:
    """Blocks of outputs across the image, too; all outputs in one workgroup, which goes through blocks of them."""
    space = space_of_convolution(16, 62)
    block = """
        c: loop
        dy: unrolled
        dx: loop
        o: workgroup * loop(2) * unrolled(8)
        y: workgroup * unrolled(2)
        x: workgroup * invocation(16)
        order: o.1, c.0, dx.0, dy.0, o.2, y.1
    """
    assert parse_decisions(block) in set(filter(space.is_legal, windows(space.facts)))
    best, *others = space.windowed()
    assert any(it.execution is Execution.UNROLLED for it in space.facts.levels(best)["o"])
    assert space.cost(best).expected == min(space.cost(it).expected for it in (best, *others))


def test_details_are_turns_of_loops_that_are_written_out() -> None:
    """Few iterations, those of an odd number only where it divides the size; none of a nest that carries nothing."""
    space = space_of({"m": 512, "n": 512, "inner": 333})
    block = "i: workgroup * unrolled(8)\nj: workgroup * invocation(16)\n"
    found = [print_decisions(it) for it in space.refined(parse_decisions(block + "order: k.0, i.1"))]
    assert [line for it in found for line in it.splitlines() if line.startswith("k:")] == [
        f"k: loop * unrolled({count})" for count in (2, 4, 3)
    ]
    assert all("order: k.0, k.1, i.1\n" in it for it in found)
    again = next(iter(space.refined(parse_decisions(found[0]))))
    assert print_decisions(again) == print_decisions(parse_decisions("k: loop\n" + block + "order: k.0, i.1"))

    shared = "i: workgroup\nj: workgroup * invocation(16)\nk: loop * unrolled(4) * tree(2)\norder: k.0, k.1, k.2"
    others = [print_decisions(it) for it in space.refined(parse_decisions(shared)) if not it.peeled]
    assert [it.splitlines()[0] for it in others] == [
        "k: loop * tree(2)",
        "k: loop * unrolled(2) * tree(2)",
        "k: loop * unrolled(3) * tree(2)",
    ]
    assert "order: k.0, k.1, k.2\n" in others[1]
    written = parse_decisions("i: workgroup\nj: workgroup\nk: unrolled")
    space = space_of({"m": 512, "n": 512, "inner": 8})
    assert space.is_legal(written)
    assert not list(space.refined(written))


def test_details_are_iterations_that_are_peeled() -> None:
    """Where blocks go beyond the end of a dimension, or what is peeled is not."""
    space = space_of({"m": 512, "n": 512, "inner": 333})
    block = "k: loop * tree(2)\ni: workgroup * unrolled(6)\nj: workgroup * invocation(16)\norder: k.0, i.1, k.1\n"

    def peeled(text: str) -> list[str]:
        found = (print_decisions(it).removeprefix(block) for it in space.refined(parse_decisions(text)))
        return [it.strip() for it in found if "unrolled" not in it]

    assert peeled(block) == ["peel i", "peel k"]
    assert peeled(block + "peel k") == ["peel k, i", ""]


def test_only_short_windows_are_written_out() -> None:
    for nest, sizes in ((stencil(16), {"h": 64, "w": 64}), (product(), {"m": 64, "n": 64, "inner": 4})):
        assert not list(windows(Facts(nest.ir, sizes, reassociate=True)))


def test_a_window_loads_each_element_once() -> None:
    """Six rows of outputs and seven of a window have twelve rows of elements."""
    sizes = {"h": 512, "w": 512}
    block = "y: workgroup * unrolled(6)\nx: workgroup * unrolled(2) * invocation(16)\n"
    looped = parse_decisions(block + "order: dy.0, dx.0, y.1, x.1\npeel y, x")
    written = parse_decisions(block + "dy: unrolled\norder: dx.0, dy.0, y.1, x.1\npeel y, x")
    clamped = parse_decisions(block + "dy: unrolled\norder: dx.0, dy.0, y.1, x.1")
    costs = [
        cost_of(Decided(stencil(3).ir, it, sizes, reassociate=True), ASSUMED, contract=True).expected
        for it in (written, looped, clamped)
    ]
    assert costs[0] < min(costs[1:])


def test_the_model_prefers_blocks_to_the_simple_point() -> None:
    space = space_of({"m": 512, "n": 512, "inner": 512})
    best = min(space.structured(), key=lambda it: space.cost(it).expected)
    assert space.cost(best).expected < 0.5 * space.cost(space.simple()).expected


def test_a_search_begins_with_the_best_block() -> None:
    """So that one that is short, or of a nest whose simple points take long, has something good at once."""
    space = space_of({"m": 512, "n": 512, "inner": 512})
    best = min(space.cost(it).expected for it in space.structured())
    assert space.cost(space.starts()[0]).expected == best
    kept = space.simple()
    assert DecisionSpace(space.facts, space.price, [kept]).starts()[0] == kept


def attention() -> Nest:
    """Scores are needed for the greatest one and for the weights, and the weights for their sum and for the result."""
    nest = Nest("attention")
    i, e = nest.dim("queries", "i"), nest.dim("width", "e")
    j, d = nest.dim("keys", "j"), nest.dim("depth", "d")
    query, key = nest.load("query", "f32", [i, d]), nest.load("key", "f32", [j, d])
    scores = nest.reduce("+", query * key, on=[d])
    greatest = nest.reduce("max", scores, on=[j])
    again, last = nest.dim("keys", "l"), nest.dim("keys", "m")
    weights = nest.call("exp", nest.map(scores, [(j, again)]) - greatest)
    total = nest.reduce("+", weights, on=[again])
    values = nest.load("value", "f32", [last, e])
    mixed = nest.reduce("+", nest.map(weights, [(again, last)]) * values, on=[last])
    nest.store("o", mixed / total, [i, e])
    return nest


def test_passes_keep_what_other_loops_need() -> None:
    """Each pass has blocks of rows by vectors along the dimension of what it makes."""
    facts = Facts(attention().ir, {"queries": 256, "width": 64, "keys": 256, "depth": 64}, reassociate=True)
    space = DecisionSpace(facts, lambda it: cost_of(it, ASSUMED, contract=True))
    found = [it for it in passes(facts) if space.is_legal(it)]
    assert found
    needed = set(facts.needed_again)
    for point in found:
        assert needed <= {it.value for it in point.kept}
        levels = facts.levels(point)
        vectors = {name for name, its in levels.items() if any(it.execution is Execution.INVOCATION for it in its)}
        assert vectors == {"j", "e", "l"}
        assert Execution.WORKGROUP in {it.execution for it in levels["i"]}
    assert set(found) <= set(space.structured())


def causal_attention(nest: Nest) -> Nest:
    """As a user would write it: `softmax` has two loops over the keys, and a query does not see later ones."""
    i, e = nest.dim("tokens", "i"), nest.dim("width", "e")
    j, d = nest.dim("tokens", "j"), nest.dim("depth", "d")
    query, key = nest.load("query", "f32", [i, d]), nest.load("key", "f32", [j, d])
    score = nest.reduce("+", query * key, on=[d])
    weights, last = nest.softmax(nest.call("select", -1e30, score, nest.index(j) <= nest.index(i)), j)
    nest.store("o", nest.reduce("+", weights * nest.load("value", "f32", [last, e]), on=[last]), [i, e])
    return nest


def test_passes_keep_what_a_loop_would_compute_again_and_again() -> None:
    """The masked scores, which two loops need, and the weights, which each element of a row of the output needs; not
    the masks, whose indices are known.
    """
    nest = causal_attention(Nest("attention"))
    facts = Facts(nest.ir, {"tokens": 256, "width": 64, "depth": 64}, reassociate=True)
    space = DecisionSpace(facts, lambda it: cost_of(it, ASSUMED, contract=True))
    found = [it for it in passes(facts) if space.is_legal(it)]
    assert found
    values = facts.plain.scope.values
    for point in found:
        kept = [values[it.value] for it in point.kept]
        assert sorted(it.function for it in kept if isinstance(it, Compute)) == ["/", "select"]
        assert Execution.UNROLLED not in {it.execution for it in facts.levels(point)["k"]}
    on_gpu = passes(replace(facts, gpu="software"))
    assert {facts.levels(it)["k"] for it in on_gpu} == {(Level(Execution.LOOP, None),)}


def test_a_nest_without_loops_inside_of_what_is_needed_again_has_no_passes() -> None:
    assert not list(passes(Facts(product().ir, {"m": 64, "n": 64, "inner": 64}, reassociate=True)))


def test_long_sums_of_few_outputs_are_computed_in_chunks() -> None:
    """As the product of two tall matrices: each workgroup has the sums of many blocks in arrays, and goes through all
    of these for each chunk. Only CPUs, and where other blocks cost more.
    """
    facts = Facts(product().ir, {"m": 128, "n": 128, "inner": 8192}, reassociate=True, lanes=8)
    space = DecisionSpace(facts, lambda it: cost_of(it, ASSUMED, contract=True))
    structured = sorted(space.structured(), key=lambda it: space.cost(it).expected)
    found = space.in_chunks(structured)
    assert set(found) <= set(space.starts())
    assert 1 < len({space.shape(it) for it in found}) == len(found)
    for point in found:
        assert space.cost(point).expected < space.cost(structured[0]).expected
        assert point.order[0] == LevelName("k", 0)
        assert LevelName("k", 1) not in point.order[:2]
        arrays = [it.factor for name in "ij" for it in facts.levels(point)[name] if it.execution is Execution.LOOP]
        assert prod(it or 1 for it in arrays) > 8
    short = DecisionSpace(replace(facts, sizes={"m": 128, "n": 128, "inner": 512}), space.price)
    assert not short.in_chunks(list(short.structured()))
    assert not DecisionSpace(replace(facts, gpu="software"), space.price).in_chunks(structured)


def test_searches_of_products_begin_with_blocks_by_turns() -> None:
    """Two shapes of those that read in storage, along the vectors, each also with several blocks across rows in each
    turn; not on GPUs in hardware. For CPUs, both inputs are also read in storage, by turns or not.
    """
    space = space_of({"m": 1000, "n": 1024, "inner": 1024})
    found = space.by_turns(sorted(space.structured(), key=lambda it: space.cost(it).expected))
    assert set(found) <= set(space.starts())
    assert len({space.shape(it) for it in found}) == len(found) == 10
    software = DecisionSpace(replace(space.facts, gpu="software"), space.price)
    assert {len(it.kept) for it in software.by_turns(space.structured())} == {1}
    turned = [it for it in found if LevelName("j", 1) in it.order[:1]]
    assert [len(it.kept) for it in found] == [1, 1, 2, 2, 2] * 2
    assert [it.order[:2] for it in turned] == [(LevelName("j", 1), LevelName(*it)) for it in (("k", 0), ("i", 1))] * 4
    for point in turned:
        levels = space.facts.levels(point)
        (vectors,) = (it for it in levels.values() if it[-1].execution is Execution.INVOCATION)
        assert [it.execution for it in vectors[:2]] == [Execution.WORKGROUP, Execution.LOOP]
        assert prod(it.factor or 1 for it in vectors) <= 128
        assert any("0 in storage" in line for line in print_decisions(point).splitlines())
    assert not DecisionSpace(replace(space.facts, gpu="hardware"), space.price).by_turns(space.structured())


def test_searches_begin_with_blocks_that_fit() -> None:
    """49 vectors of 16 columns, 7 of them in a turn, have but 7 columns more than 777, and blocks of rows have at most
    8 rows more than 1000.
    """
    space = space_of({"m": 1000, "n": 777, "inner": 333})
    space = DecisionSpace(replace(space.facts, lanes=16), space.price)
    points = sorted(space.structured(), key=lambda it: space.cost(it).expected)
    _, turned, with_rows = found = space.fitting(points)
    for point in found:
        rows, columns = (prod(it.factor or 1 for it in space.facts.levels(point)[name]) for name in "ij")
        assert -777 % columns == 7
        assert -1000 % rows <= 8
        assert not point.kept
    loops = [["loop(" in line for line in print_decisions(it).splitlines()[1:3]] for it in found]
    assert loops == [[False, False], [False, True], [True, True]]
    assert any(it.factor == 7 for it in space.facts.levels(turned)["j"])
    assert with_rows.order[:2] == (LevelName("j", 1), LevelName("i", 1))
    assert set(found) <= set(space.starts())
    assert not DecisionSpace(replace(space.facts, gpu="hardware"), space.price).fitting(list(space.structured()))


def test_blocks_of_a_convolution_by_turns_along_a_row() -> None:
    """Each block as a whole, or all of a row for each channel."""
    space = space_of_convolution(16, 254)
    block = """
        c: loop
        dy: unrolled
        dx: loop
        o: workgroup * loop(4) * unrolled(4)
        y: workgroup * unrolled(2)
        x: workgroup * loop(8) * invocation(16)
        order: o.1, {}, dx.0, dy.0, o.2, y.1
    """
    found = set(filter(space.is_legal, windows(space.facts)))
    assert {parse_decisions(block.format(it)) for it in ("x.1, c.0", "c.0, x.1")} <= found


def test_blocks_of_a_convolution_with_copies_of_all_channels() -> None:
    """Workgroups go through all outputs of what they copy; searches begin with some of these, too, but on GPUs in
    software.
    """
    space = space_of_convolution(16, 254, lanes=8)
    block = """
        c: loop
        dy: unrolled
        dx: loop
        o: workgroup * loop(4) * unrolled(4)
        y: workgroup * unrolled(3)
        x: workgroup * loop(4) * invocation(8)
        order: o.1, x.1, c.0, dx.0, dy.0, o.2, y.1
        stage image0 pad(6)
    """
    assert parse_decisions(block) in set(filter(space.is_legal, windows(space.facts)))
    assert any(it.stages for it in space.windowed())
    assert not any(it.stages for it in windows(replace(space.facts, gpu="software")))


def test_blocks_of_a_convolution_with_copies_of_some_of_many_channels() -> None:
    """Not all of 64 channels fit in the memory of a workgroup, which goes through parts of them: sums lie in arrays."""
    space = space_of_convolution(64, 254, lanes=8)
    block = """
        c: loop * loop(16)
        dy: unrolled
        dx: loop
        o: workgroup * loop(16) * unrolled(4)
        y: workgroup * unrolled(3)
        x: workgroup * loop(4) * invocation(8)
        order: c.0, o.1, x.1, c.1, dx.0, dy.0, o.2, y.1
        stage image0 at c.0 pad(6)
    """
    assert parse_decisions(block) in set(filter(space.is_legal, windows(space.facts)))
    few = replace(space.facts, sizes={**space.facts.sizes, "inputs": 16})
    assert not any(stage.at for it in windows(few) for stage in it.stages)


def column_sums() -> Nest:
    nest = Nest("column_sums")
    i, j = nest.dim("rows"), nest.dim("columns")
    nest.store("y", nest.reduce("+", nest.load("x", "f32", [i, j]), on=[i]), [j])
    return nest


def test_reductions_across_rows_begin_with_whole_rows() -> None:
    """With values in arrays for each element of a row; where floats may be reassociated, workgroups share the rows."""
    sizes = {"rows": 4096, "columns": 3000}
    for reassociate in (False, True):
        facts = Facts(column_sums().ir, sizes, reassociate, lanes=8)
        space = DecisionSpace(facts, lambda it: cost_of(it, ASSUMED))
        points = [it for it in whole_rows(facts) if space.is_legal(it)]
        alone = [it for it in points if "partial" not in print_decisions(it)]
        assert len(points) > len(alone) > 0 if reassociate else points == alone
        for point in alone:
            (carry,) = (it for it in facts.decided(point).tasks if isinstance(it, Carry))
            assert facts.decided(point).looped(carry)
        assert space.across_rows()
        assert set(space.across_rows()) <= set(space.starts())


def test_long_reductions_begin_with_parts_that_are_read_at_the_same_time() -> None:
    """Parts lie apart: the loop is inside of the tree. A search begins with one point for each number of parts."""
    nest = Nest("sum")
    i = nest.dim("n", name="i")
    nest.store("y", nest.reduce("+", nest.load("x", "f32", [i]), on=[i]), [])
    facts = Facts(nest.ir, {"n": 1 << 24}, reassociate=True, lanes=8)
    space = DecisionSpace(facts, lambda it: cost_of(it, ASSUMED))
    points = [it for it in parts_at_once(facts) if space.is_legal(it)]
    assert points
    for point in points:
        strides = facts.decided(point).strides("i")
        kinds = {it.execution: strides[LevelName("i", at)] for at, it in enumerate(facts.levels(point)["i"]) if at}
        assert kinds[Execution.TREE] > kinds[Execution.LOOP] > kinds[Execution.INVOCATION] == 1
    chosen = space.by_parts()
    trees = [it.factor for at in chosen for it in facts.levels(at)["i"] if it.execution is Execution.TREE]
    assert sorted(map(int, trees)) == [2, 4, 8]
    assert set(chosen) <= set(space.starts())
    others = (
        replace(facts, sizes={"n": 4096}),
        replace(facts, reassociate=False),
        space_of({"m": 99, "n": 77, "inner": 1 << 20}).facts,
    )
    assert not any(list(parts_at_once(it)) for it in others)
    assert DecisionSpace(replace(facts, gpu="software"), lambda it: cost_of(it, ASSUMED)).by_parts() == []


def test_sums_of_rows_begin_with_rows_that_are_read_at_the_same_time() -> None:
    nest = Nest("row_sums")
    i, j = nest.dim("rows", name="i"), nest.dim("columns", name="j")
    nest.store("y", nest.reduce("+", nest.load("x", "f32", [i, j]), on=[j]), [i])
    facts = Facts(nest.ir, {"rows": 4096, "columns": 4096}, reassociate=True, lanes=8)
    space = DecisionSpace(facts, lambda it: cost_of(it, ASSUMED))
    chosen = space.by_parts()
    assert len(chosen) == 3
    for point in chosen:
        first, rows, turns = facts.levels(point)["i"]
        kinds = first.execution, rows.execution, turns.execution
        assert kinds == (Execution.WORKGROUP, Execution.UNROLLED, Execution.LOOP)
        assert [str(it.dimension) for it in point.order] == ["i", "j", "i"]
        assert point.order[-1] == LevelName("i", 1)
    few = replace(facts, sizes={"rows": 7, "columns": 4096})
    assert not list(parts_at_once(few))


def test_what_is_read_again_or_along_rows_has_no_such_points() -> None:
    rows = Nest("row_sums")
    i, j = rows.dim("rows"), rows.dim("columns")
    rows.store("y", rows.reduce("+", rows.load("x", "f32", [i, j]), on=[j]), [i])
    assert not list(whole_rows(Facts(rows.ir, {"rows": 4096, "columns": 4096}, reassociate=True)))
    assert not list(whole_rows(space_of({"m": 1000, "n": 777, "inner": 333}).facts))
