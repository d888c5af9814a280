"""GPUs in hardware: points of forms that suit them, and what the cost model says of times that were measured on one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tinct import Nest, parse_nest
from tinct.backend.gpu import GpuDevice
from tinct.ir.schedule.nodes import Decisions
from tinct.ir.schedule.nodes import Nest as NestNode
from tinct.ir.schedule.text import parse_decisions, print_decisions
from tinct.transforms.schedule.legality import illegal
from tinct.tuning.choices import Facts, GpuKind
from tinct.tuning.cost import cost_of
from tinct.tuning.decision_space import DecisionSpace
from tinct.tuning.hardware_blocks import streams, tiles
from tinct.tuning.hardware_rates import rates_of_hardware
from tinct.tuning.rates import CacheRate, Rates

from ..nests import ROW_SUMS
from .test_cost import product

H200 = Rates(
    memory=4.25e12,
    cached=6.47e12,
    operations=5.37e13,
    units=735,
    lanes=32,
    registers=128,
    launch=1.63e-6,
    gather=0.0,
    load=4.38e-10,
    barrier=2.22e-8,
    workgroup=2.03e-6,
    page=0.0,
    caches=(CacheRate(1 << 15, 2.92e11), CacheRate(1 << 25, 8.8e9)),
    spreads=True,
    latency=3.34e-7,
)
"""What `rates_of_hardware` measured on an NVIDIA H200."""
SQUARE = {"m": 1024, "n": 1024, "inner": 1024}
STAGED = "order: k.0, k.1, i.2, j.2\nstage a0 at k.0 pad(4)\nstage b0 at k.0"
BLOCK = "order: k.0, i.1, j.1"
PRODUCTS = {
    f"i: workgroup * {rows}\nj: workgroup * {columns}\nk: {inner}\n{rest}": microseconds
    for microseconds, rows, columns, inner, rest in (
        (82, "invocation(16) * unrolled(4)", "invocation(16) * vector(4)", "loop * unrolled(16)", STAGED),
        (109, "invocation(8) * unrolled(8)", "invocation(8) * vector(4)", "loop * loop(16)", STAGED),
        (118, "invocation(16) * unrolled(8)", "invocation(16) * vector(4)", "loop * loop(16)", STAGED),
        (235, "unrolled(4)", "unrolled(3) * invocation(32)", "loop", BLOCK),
        (265, "unrolled(6)", "unrolled(4) * invocation(32)", "loop", f"{BLOCK}\ngrid j, i"),
        (391, "unrolled(6)", "unrolled(4) * invocation(16)", "loop", f"{BLOCK}\ngrid j, i"),
        (672, "unrolled(2) * invocation(64)", "unrolled(8)", "loop", BLOCK),
        (1005, "loop(1)", "invocation(64)", "loop", ""),
        (6771, "loop(1)", "loop(16)", "loop * tree(2) * invocation(64)", ""),
    )
}
"""Microseconds of products of 1024 × 1024 on the H200."""
COLUMNS = {
    "i: loop * tree(8) * invocation(128)\nj: workgroup * unrolled(4) * invocation(2) * vector(2)\n"
    "order: i.0, j.1, j.3, i.1": 29,
    "i: loop * unrolled(16) * invocation(64)\nj: workgroup * unrolled(2) * invocation(2)\norder: i.0, j.1, i.1": 44,
    "i: loop * invocation(8) * vector(4)\nj: workgroup * unrolled(2) * invocation(4)\norder: i.0, j.1, i.2": 84,
    "i: loop * invocation(32)\nj: workgroup": 91,
    "i: loop * invocation(256)\nj: workgroup": 117,
    "j: workgroup * invocation(16)": 1551,
    "j: workgroup * invocation(256)": 1577,
}
"""Those of the sums of columns of 4096 × 4096 numbers."""


def facts_of(nest: NestNode, sizes: Mapping[str, int], gpu: GpuKind | None = "hardware") -> Facts:
    return Facts(nest, sizes, reassociate=True, gpu=gpu)


def space_of(facts: Facts) -> DecisionSpace:
    return DecisionSpace(facts, lambda it: cost_of(it, H200))


def legal(facts: Facts, points: list[Decisions]) -> list[str]:
    return [print_decisions(it) for it in points if not illegal(facts.decided(it))]


def column_sums() -> Nest:
    nest = Nest("column_sums")
    i, j = nest.dim("rows"), nest.dim("columns")
    nest.store("y", nest.reduce("+", nest.load("x", "f32", [i, j]), on=[i]), [j])
    return nest


def test_products_have_tiles_of_both_inputs() -> None:
    """The copy of the input whose rows are read across is padded."""
    facts = facts_of(product().ir, SQUARE)
    found = legal(facts, list(tiles(facts)))
    assert len(found) > 20
    assert all("stage a0 at k.0 pad(4)\nstage b0 at k.0\n" in it for it in found)
    assert any("unrolled(8)\nj: workgroup * unrolled(2) * invocation(16) * vector(4)" in it for it in found)


def test_nothing_is_copied_that_is_read_once() -> None:
    for nest in (parse_nest(ROW_SUMS).ir, column_sums().ir):
        assert not list(tiles(facts_of(nest, {"rows": 4096, "columns": 4096})))


def test_reductions_load_several_vectors_before_they_add_them() -> None:
    sizes = {"rows": 16384, "columns": 16384}
    facts = facts_of(column_sums().ir, sizes)
    found = legal(facts, list(streams(facts)))
    partial = [it for it in found if "i: partial * loop(32) * unrolled(8)\n" in it and "vector(4)" in it]
    assert any("i_part: loop * invocation(4)" in it for it in partial)
    facts = facts_of(parse_nest(ROW_SUMS).ir, sizes)
    found = legal(facts, list(streams(facts)))
    assert any("j: loop * unrolled(4) * invocation(256) * vector(4)" in it for it in found)


@pytest.mark.parametrize("gpu", [None, "software", "hardware"])
def test_only_searches_for_hardware_begin_with_them(gpu: GpuKind | None) -> None:
    facts = facts_of(product().ir, SQUARE, gpu)
    found = list(space_of(facts).structured())
    assert any(it.stages for it in found) == (gpu == "hardware")
    assert all(not illegal(facts.decided(it)) for it in found)


@pytest.mark.parametrize(
    ("nest", "sizes", "measured"),
    [(product(), SQUARE, PRODUCTS), (column_sums(), {"rows": 4096, "columns": 4096}, COLUMNS)],
    ids=["product", "column sums"],
)
def test_the_order_of_measured_times(nest: Nest, sizes: Mapping[str, int], measured: Mapping[str, int]) -> None:
    """Of two points, one of which takes at least twice as long, that one costs more, and the one that costs least takes
    less than twice as long as the fastest.
    """
    facts = facts_of(nest.ir, sizes)
    costs = {text: cost_of(facts.decided(parse_decisions(text)), H200).expected for text in measured}
    pairs = [(one, other) for one in measured for other in measured if measured[other] >= 2 * measured[one]]
    assert [(one, other) for one, other in pairs if costs[one] >= costs[other]] == []
    assert measured[min(costs, key=costs.__getitem__)] < 2 * min(measured.values())


def test_few_vectors_wait_for_each_load() -> None:
    """Twice as many workgroups of few invocations take no longer; where many wait at a time, they do."""
    nest, few = column_sums().ir, parse_decisions("j: workgroup * invocation(32)")

    def cost(columns: int, rates: Rates = H200) -> float:
        return cost_of(facts_of(nest, {"rows": 4096, "columns": columns}).decided(few), rates).expected

    assert cost(2048) < 1.2 * cost(1024)
    assert cost(1 << 20) > 1.8 * cost(1 << 19)
    assert cost(1024, replace(H200, latency=2 * H200.latency)) > 1.5 * cost(1024)


def test_a_device_is_measured() -> None:
    """On any GPU: a software one stands for hardware."""
    reason = GpuDevice.unavailable_reason()
    if reason is not None:
        pytest.skip(f"no GPU: {reason}")
    found = rates_of_hardware("gpu")
    assert found.spreads
    assert found.units >= 1
    numbers = (found.memory, found.cached, found.operations, found.launch, found.load, found.barrier, found.workgroup)
    assert all(it > 0 for it in (*numbers, found.latency))
    near, shared = found.caches
    assert near.size < shared.size
    assert found.cached >= found.memory
