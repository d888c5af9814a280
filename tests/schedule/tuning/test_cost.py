"""What the cost model says is monotone in what it is about: more of the same is never cheaper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tinct import Nest, parse_nest
from tinct.ir.schedule.nodes import Boundary, Load
from tinct.ir.schedule.text import parse_decisions
from tinct.transforms.schedule.decided import Decided
from tinct.transforms.schedule.tasks import Carry
from tinct.tuning.cache_traffic import Access, Box, Traffic, joined_accesses
from tinct.tuning.cost import cost_of
from tinct.tuning.lanes import Lanes
from tinct.tuning.rates import ASSUMED, Rates

from ..nests import ROW_SUMS

BLOCK = "i: workgroup * unrolled(4)\nj: workgroup * unrolled(2) * invocation(16)\norder: k.0, i.1, j.1"
SIZES = {"m": 512, "n": 512, "inner": 512}


def product() -> Nest:
    nest = Nest("product")
    i, j, k = nest.dim("m"), nest.dim("n"), nest.dim("inner", name="k")
    terms = nest.load("a", "f32", [i, k]) * nest.load("b", "f32", [k, j])
    nest.store("c", nest.reduce("+", terms, on=[k]), [i, j])
    return nest


def decided(text: str, sizes: Mapping[str, int] = SIZES) -> Decided:
    return Decided(product().ir, parse_decisions(text), sizes, reassociate=True)


def expected(text: str, rates: Rates = ASSUMED, sizes: Mapping[str, int] = SIZES) -> float:
    return cost_of(decided(text, sizes), rates).expected


def traffic(text: str, sizes: Mapping[str, int] = SIZES, passes: int = 1) -> Traffic:
    it = decided(text, sizes)
    task = next(task for task in it.tasks if isinstance(task, Carry))
    loads = [Access(load.array, load.subscripts) for load in it.nest.body if isinstance(load, Load)]
    return Traffic(it, Lanes(it, ASSUMED), task, joined_accesses(loads), passes)


def test_what_fusing_saves_depends_on_the_units() -> None:
    """Where products and sums have units of their own, both together take as long as one operation that does both, but
    for the registers of products.
    """
    rates = replace(ASSUMED, load=0.0, memory=1e15, cached=1e15, caches=(), page=0.0)
    exact = cost_of(decided(BLOCK), rates)
    apart, common = (
        cost_of(decided(BLOCK), replace(rates, fused=rates.operations * share), contract=True) for share in (0.5, 1.0)
    )
    assert apart.least == pytest.approx(exact.least)
    assert apart.expected == pytest.approx(exact.expected, rel=0.15)
    assert common.least < 0.6 * exact.least
    assert common.expected < 0.7 * exact.expected


@pytest.mark.parametrize("has_sets", [False, True])
def test_a_larger_cache_gets_no_more(has_sets: bool) -> None:
    found = [traffic(BLOCK).into(1 << size, has_sets=has_sets) for size in range(8, 26)]
    assert found == sorted(found, reverse=True)
    assert found[0] > 10 * found[-2]
    assert found[-1] == 0  # all of it stays there


def test_what_is_used_again_comes_once() -> None:
    """With workgroups along rows one after another, and room for the columns of one, columns come once."""
    along_rows, along_columns = traffic(f"{BLOCK}\ngrid j, i"), traffic(f"{BLOCK}\ngrid i, j")
    columns, rows = 512 * 32 * 4, 4 * 512 * 4
    size = 2 * (columns + rows)
    whole = 512 * 512 * 4
    assert along_rows.into(size, has_sets=False) == whole + whole * 16
    assert along_columns.into(size, has_sets=False) == whole + whole * 128


def test_rows_that_are_a_power_of_two_apart_share_sets() -> None:
    box = Box((64, 16), (512, 1024), 4)
    assert box.covered(64) == 64 * 64
    assert box.occupied(0) == box.covered(64)
    assert box.occupied(4096) == 64 * 4096
    assert box.occupied(1024) == 64 * 1024
    assert Box((64, 16), (512, 1040), 4).occupied(4096) == box.covered(64)


def test_units_that_boxes_cover() -> None:
    assert Box((4, 8), (4, 8), 4).covered(64) == 128
    assert Box((4, 1), (4, 8), 4).covered(64) == 128  # rows are half a line apart
    assert Box((4, 1), (4, 1024), 4).covered(64) == 256
    assert Box((4, 1), (4, 1024), 4).covered(4096) == 4 * 4096


def test_rows_in_pages_of_their_own() -> None:
    columns = "i: loop\nj: workgroup * invocation(16)"
    sizes = {"m": 1, "n": 4096, "inner": 4096}
    near, far = traffic(columns, {**sizes, "inner": 1024}).pages(), traffic(columns, sizes).pages()
    assert far > 100 * near


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param(BLOCK, "i: workgroup\nj: workgroup * invocation(16)", id="a block uses what it loads again"),
        pytest.param(BLOCK, BLOCK.replace("(4)", "(64)"), id="registers are spilled"),
        pytest.param(
            "i: workgroup\nj: workgroup * invocation(16)",
            "j: workgroup\ni: workgroup * invocation(16)",
            id="neighbouring lanes have neighbouring elements",
        ),
        pytest.param(
            "i: workgroup\nj: workgroup * unrolled(4) * invocation(16)\norder: k.0, j.1",
            "i: workgroup\nj: workgroup * invocation(16) * unrolled(4)\norder: k.0, j.2",
            id="vectors are not interleaved",
        ),
        pytest.param(BLOCK, BLOCK.replace("invocation(16)", "invocation(4)"), id="vectors are full"),
        pytest.param("i: workgroup\nj: workgroup", "i: loop\nj: loop", id="units are busy"),
        pytest.param(
            "i: workgroup\nj: workgroup * invocation(16)",
            "i: workgroup\nj: workgroup * invocation(16)\nk: loop * unrolled(16)\norder: k.0, k.1",
            id="code is small",
        ),
        pytest.param(
            "i: workgroup * unrolled(6)\nj: workgroup * unrolled(4) * invocation(16)\norder: k.0, i.1, j.1\n"
            "keep b0 in storage",
            "i: workgroup * unrolled(6)\nj: workgroup * unrolled(4) * invocation(16)\norder: k.0, i.1, j.1",
            id="what is read lies side by side",
        ),
    ],
)
def test_what_is_cheaper(better: str, worse: str) -> None:
    assert expected(better) < expected(worse)


@pytest.mark.parametrize(
    ("rows", "columns", "contract", "spilled"),
    [
        pytest.param(6, 2, False, 0, id="sums, two vectors, a scalar and a product"),
        pytest.param(4, 3, False, 1, id="one register is missing for the product"),
        pytest.param(4, 3, True, 0, id="products need no register"),
        pytest.param(8, 2, True, 3, id="many sums"),
    ],
)
def test_registers_of_a_block(rows: int, columns: int, contract: bool, spilled: int) -> None:
    """A processor with 16 registers keeps the sums of a block, what its loads give for several of them, and a product
    that is not added in the same operation. More registers make only what is spilled cheaper.
    """
    text = f"i: workgroup * unrolled({rows})\nj: workgroup * unrolled({columns}) * invocation(8)\norder: k.0, i.1, j.1"
    costs = [
        cost_of(decided(text), replace(ASSUMED, registers=it), contract=contract).expected
        for it in range(16, 16 + spilled + 2)
    ]
    assert sorted(costs, reverse=True) == costs
    assert len(set(costs)) == 1 + spilled


def test_products_that_are_added_are_no_operations_of_their_own() -> None:
    point = decided(BLOCK)
    assert cost_of(point, ASSUMED, contract=True).expected < cost_of(point, ASSUMED).expected
    nest = Nest("squares")
    i = nest.dim("n")
    x = nest.load("x", "f32", [i])
    nest.store("y", x * x, [i])
    alone = Decided(nest.ir, parse_decisions(""), {"n": 512})
    assert cost_of(alone, ASSUMED, contract=True) == cost_of(alone, ASSUMED)


def test_what_is_read_once_is_not_copied() -> None:
    sizes = {"m": 1, "n": 512, "inner": 512}
    point = "i: workgroup\nj: workgroup * invocation(16)"
    assert expected(point, sizes=sizes) < expected(point + "\nkeep b0 in storage", sizes=sizes)


def test_slower_machines_take_longer() -> None:
    text = "i: workgroup * invocation(4)\nj: workgroup * invocation(16)\nk: loop * invocation(4)"
    before = expected(text)
    slower = [
        replace(ASSUMED, **{name: getattr(ASSUMED, name) * factor})
        for name, factor in {
            "memory": 0.1,
            "operations": 0.1,
            "launch": 10,
            "load": 10,
            "gather": 10,
            "barrier": 10,
            "workgroup": 10,
        }.items()
    ]
    assert all(expected(text, it) >= before for it in slower)
    assert sum(expected(text, it) > before for it in slower) >= 5


def test_loads_of_a_vector() -> None:
    """One element for all lanes, neighbours, interleaved vectors, and lanes that lie apart."""
    nest = parse_nest(ROW_SUMS).ir
    costs: list[float] = []
    for text in (
        "i: workgroup\nj: loop",
        "i: workgroup\nj: loop * invocation(16)",
        "i: workgroup\nj: loop * invocation(16) * unrolled(2)\norder: j.0, j.2",
        "i: workgroup\nj: loop * invocation(16) * unrolled(4)\norder: j.0, j.2",
        "i: workgroup * invocation(16)\nj: loop",
    ):
        it = Decided(nest, parse_decisions(text), {"rows": 1, "columns": 1024}, reassociate=True)
        load = next(load for load in it.nest.body if isinstance(load, Load))
        costs.append(Lanes(it, ASSUMED).access("x", load.subscripts))
    assert costs == sorted(costs)
    assert len(set(costs)) == len(costs)


def test_a_copy_costs_the_same_by_the_name_of_its_array() -> None:
    staged = "i: workgroup * invocation(16)\nj: workgroup * invocation(16)\nk: loop * loop(16)\n"
    assert expected(f"{staged}stage a at k.0") == expected(f"{staged}stage a0 at k.0") > expected(staged)


def test_few_workgroups_of_one_invocation_share_no_vector() -> None:
    """Two rows are each a unit's, as on a CPU: their elements are not gathered into a vector."""
    nest, alone = parse_nest(ROW_SUMS).ir, parse_decisions("i: workgroup\nj: loop * unrolled(4)")
    rates = replace(ASSUMED, launch=0.0)
    one, two = (cost_of(Decided(nest, alone, {"rows": it, "columns": 1 << 10}), rates).expected for it in (1, 2))
    assert one <= two < 1.1 * one


def test_many_workgroups_of_one_invocation_share_vectors() -> None:
    """Their operations take as long as those of one, for each vector and unit."""
    text = "i: workgroup\nj: workgroup\nk: loop"
    lanes, units = ASSUMED.lanes, ASSUMED.units

    def seconds(columns: int) -> float:
        return expected(text, sizes={"m": 1, "n": columns, "inner": 1 << 10})

    assert seconds(8 * lanes * units) < 16 * seconds(units)


def test_clamps_are_those_of_the_copy() -> None:
    """What is loaded from a copy is in range: only copying has tests."""
    nest = Nest("blurred")
    i, d = nest.dim("n"), nest.dim(5, "d")
    near = nest.load("x", "f32", [i + d - 2], boundary="clamp", extents=["n"])
    nest.store("y", nest.reduce("+", near, on=[d]), [i])

    def seconds(boundary: Boundary, stage: str) -> float:
        body = tuple(replace(it, boundary=boundary) if isinstance(it, Load) else it for it in nest.ir.body)
        text = f"i: workgroup * loop(8) * invocation(64)\nd: unrolled\n{stage}"
        made = Decided(replace(nest.ir, body=body), parse_decisions(text), {"n": 1 << 16}, reassociate=True)
        return cost_of(made, ASSUMED).expected

    for stage, has_tests in (("", True), ("stage x0", False)):
        assert (seconds(Boundary.CLAMP, stage) > seconds(Boundary.INSIDE, stage)) is has_tests
