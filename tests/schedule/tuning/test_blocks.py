"""The structured points that a search begins with."""

from __future__ import annotations

from tinct.ir.schedule.nodes import Execution
from tinct.tuning.blocks import blocks
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


def test_the_model_prefers_blocks_to_the_simple_point() -> None:
    space = space_of({"m": 512, "n": 512, "inner": 512})
    best = min(space.structured(), key=lambda it: space.cost(it).expected)
    assert space.cost(best).expected < 0.5 * space.cost(space.simple()).expected
