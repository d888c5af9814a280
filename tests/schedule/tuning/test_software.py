"""GPUs in software: their rates, what the cost model says of them, and the points that searches for them begin with."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest

from tinct import Nest, parse_nest
from tinct.backend.gpu import GpuDevice
from tinct.ir.schedule.nodes import Execution
from tinct.ir.schedule.text import parse_decisions, print_decisions
from tinct.tuning.choices import Facts
from tinct.tuning.cost import cost_of
from tinct.tuning.decision_space import DecisionSpace
from tinct.tuning.devices import gpu_kind
from tinct.tuning.measured_rates import block_lanes, rates_of
from tinct.tuning.rates import ASSUMED, CacheRate, Rates
from tinct.tuning.software_rates import rates_of_software

from ..nests import ROW_SUMS, SOFTMAX
from .test_cost import product

LLVMPIPE = Rates(
    memory=7e10,
    cached=7e10,
    operations=5.2e10,
    units=2,
    lanes=8,
    registers=16,
    launch=1.3e-4,
    gather=6.4e-8,
    load=6.4e-8,
    barrier=6e-7,
    workgroup=2e-7,
    page=9e-9,
    caches=(CacheRate(1 << 15, 1.7e11), CacheRate(1 << 19, 9e10)),
    is_software=True,
    of_four=3.7,
)
"""Of llvmpipe (Mesa 22.3, LLVM 15) on two cores of an AMD EPYC (Zen 3), as measured there."""
PRODUCTS = {
    "i: workgroup * unrolled(16)\nj: workgroup * unrolled(16) * invocation(8)\norder: k.0, i.1, j.1": 77,
    "i: workgroup * unrolled(16)\nj: workgroup * unrolled(8) * invocation(8)\norder: k.0, i.1, j.1": 107,
    "i: workgroup * unrolled(8)\nj: workgroup * unrolled(2) * invocation(8) * vector(4)\n"
    "order: k.0, i.1, j.1, j.3": 127,
    "i: workgroup * unrolled(8)\nj: workgroup * unrolled(8) * invocation(8)\norder: k.0, i.1, j.1": 139,
    "i: workgroup * unrolled(8)\nj: workgroup * unrolled(4) * invocation(8)\norder: k.0, i.1, j.1": 213,
    "i: workgroup * unrolled(4)\nj: workgroup * unrolled(2) * invocation(32)\norder: k.0, i.1, j.1": 415,
}
"""Milliseconds of products of 512 × 512 there."""
WRITTEN = (Execution.UNROLLED, Execution.VECTOR)
SQUARE = {"m": 512, "n": 512, "inner": 512}


def facts_of(nest: Nest, sizes: dict[str, int]) -> Facts:
    return Facts(nest.ir, sizes, reassociate=True, gpu="software", lanes=8)


def space_of(facts: Facts, rates: Rates = LLVMPIPE) -> DecisionSpace:
    return DecisionSpace(facts, lambda it: cost_of(it, rates))


def stencil() -> Nest:
    """The mean of a point and its neighbours, written as a sum of nine loads."""
    nest = Nest("stencil")
    y, x = nest.dim("h", name="y"), nest.dim("w", name="x")
    places = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
    first, *others = (
        nest.load("u", "f32", [y + dy, x + dx], boundary="clamp", extents=["h", "w"]) for dy, dx in places
    )
    nest.store("v", sum(others, first) * (1 / 9), [y, x])
    return nest


def test_expected_times_are_near_measured_ones() -> None:
    facts = facts_of(product(), SQUARE)
    for text, milliseconds in PRODUCTS.items():
        expected = cost_of(facts.decided(parse_decisions(text)), LLVMPIPE).expected * 1e3
        assert 0.8 < expected / milliseconds < 1.35, (text, expected)


def test_loads_take_as_long_wherever_lanes_are() -> None:
    facts = facts_of(parse_nest(ROW_SUMS), {"rows": 4096, "columns": 4096})
    along, across = "i: workgroup\nj: loop * invocation(8)", "i: workgroup * invocation(8)\nj: loop"
    one, other = (cost_of(facts.decided(parse_decisions(it)), LLVMPIPE).expected for it in (along, across))
    assert 0.8 < one / other < 1.25


@pytest.mark.parametrize("of_four", [1.0, 2.0, 4.0])
def test_vectors_are_worth_what_they_save(of_four: float) -> None:
    facts, rates = facts_of(parse_nest(ROW_SUMS), {"rows": 4096, "columns": 4096}), replace(LLVMPIPE, of_four=of_four)
    texts = "i: workgroup\nj: loop * invocation(8) * vector(4)", "i: workgroup\nj: loop * invocation(8)"
    vectors, scalars = (cost_of(facts.decided(parse_decisions(it)), rates).expected for it in texts)
    assert vectors / scalars == pytest.approx(of_four / 4, abs=0.1)


def test_neighbours_of_a_block_are_loaded_once() -> None:
    """Rows of a stencil's block share loads, also where each neighbour is a load of its own."""
    facts = facts_of(stencil(), {"h": 1024, "w": 1024})
    blocks = ["y: workgroup", *(f"y: workgroup * unrolled({rows})" for rows in (2, 4, 8))]
    found = [cost_of(facts.decided(parse_decisions(f"{it}\nx: workgroup * invocation(64)")), LLVMPIPE) for it in blocks]
    loads = [9, 12 / 2, 18 / 4, 30 / 8]
    assert [it.expected / found[0].expected for it in found] == pytest.approx([it / 9 for it in loads], abs=0.1)


def test_blocks_are_large() -> None:
    """Those of the cheapest points have more outputs than there are registers."""
    for point in space_of(facts_of(product(), SQUARE)).starts()[:2]:
        levels = [it for its in point.dimensions for it in its.levels if it.execution in WRITTEN]
        assert prod(it.factor or 1 for it in levels) > 8 * LLVMPIPE.registers, print_decisions(point)


def test_each_invocation_may_have_a_row() -> None:
    """So that none waits for another."""
    facts = facts_of(parse_nest(SOFTMAX), {"rows": 4096, "columns": 1024})
    assert any("invocation(8)" in it and "vector(4)" in it for it in map(print_decisions, space_of(facts).starts()))


def test_starts_that_cost_least_come_first() -> None:
    space = space_of(facts_of(stencil(), {"h": 4096, "w": 4096}))
    costs = [space.cost(it).expected for it in space.starts()]
    assert len(costs) > 2
    assert costs == sorted(costs)


def test_values_are_counted_in_copies() -> None:
    nest = Nest("histogram")
    i = nest.dim("n")
    nest.scatter("counts", 1, [nest.load("x", "u32", [i]) % 256], extents=[256], type="u32")
    space = space_of(facts_of(nest, {"n": 1 << 22}))
    assert any("private counts" in print_decisions(it) for it in space.starts())


def test_a_device_is_measured() -> None:
    reason = GpuDevice.unavailable_reason()
    if reason is not None:
        pytest.skip(f"no GPU: {reason}")
    if gpu_kind("gpu") != "software":
        pytest.skip("the GPU is in hardware")
    found = rates_of_software("gpu", ASSUMED)
    assert found.is_software
    assert found.lanes in (4, 8, 16, 32)
    assert found.units >= 1
    numbers = (found.operations, found.launch, found.load, found.barrier, found.workgroup, found.of_four)
    assert all(it > 0 for it in numbers)
    assert found.load > found.operation
    assert (found.memory, found.caches) == (ASSUMED.memory, ASSUMED.caches)
    assert block_lanes("gpu") == rates_of("gpu").lanes
