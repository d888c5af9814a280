"""The structured points that a search begins with."""

from __future__ import annotations

from tinct import Nest
from tinct.ir.schedule.nodes import Execution
from tinct.ir.schedule.text import parse_decisions, print_decisions
from tinct.transforms.schedule.decided import Decided
from tinct.tuning.blocks import blocks, windows
from tinct.tuning.choices import Facts
from tinct.tuning.cost import cost_of
from tinct.tuning.decision_space import DecisionSpace
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
    assert all("peel y, x\n" in it for it in found)
    assert set(space.windowed()) <= set(space.starts())
    kinds = [space.kind(it) for it in space.windowed()]
    assert len(set(kinds[:2])) == len(set(kinds)) == 2 < len(kinds)
    costs = [space.cost(it).expected for it in space.windowed()]
    assert max(costs) <= 1.5 * min(costs)


def test_only_short_windows_are_written_out() -> None:
    for nest, sizes in ((stencil(4), {"h": 64, "w": 64}), (product(), {"m": 64, "n": 64, "inner": 4})):
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
