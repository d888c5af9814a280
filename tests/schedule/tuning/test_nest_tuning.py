"""A real search of a nest, and candidates that are wrong or fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinct
from tinct.ir.schedule.nodes import Decisions
from tinct.ir.schedule.nodes import Nest as NestNode
from tinct.ir.schedule.text import parse_decisions
from tinct.nests import Value
from tinct.nests.tuned import lowered_for
from tinct.sessions.launches import Launch
from tinct.tuning import bench, nest_tuning
from tinct.tuning.allowance import Allowance
from tinct.tuning.measured_rates import rates_of
from tinct.tuning.nest_task import Task, size_class
from tinct.tuning.nest_tuning import NestProblem
from tinct.tuning.rates import ASSUMED
from tinct.tuning.rejected import Rejected
from tinct.tuning.small_checks import structure

from ..nests import ROW_SUMS, SOFTMAX

SIZES = {"rows": 24, "columns": 200}


def test_row_sums(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TINCT_CACHE", "on")
    monkeypatch.setenv("TINCT_CACHE_DIR", str(tmp_path))
    nest = tinct.parse_nest(ROW_SUMS)
    best = nest.tune(SIZES, seconds=1.5, reassociate=True)
    assert best.milliseconds > 0
    assert not best.is_kept
    assert any(it.status == "measured" for it in best.attempts)
    assert not any(it.status == "wrong" for it in best.attempts)
    assert "measured" in best.report
    x = np.random.default_rng(0).random((24, 200), np.float32)
    assert np.allclose(best.run({"x": x})["sums"], x.sum(axis=1), rtol=1e-5)
    assert "only for rows = 24, columns = 200" in best.wgsl
    assert "sizes = { rows = 24, columns = 200 }" in best.toml
    again = tinct.parse_nest(ROW_SUMS).tune(SIZES, seconds=1.0, reassociate=True)
    assert again.is_kept
    assert again.decisions == best.decisions
    assert again.report == "kept from an earlier search\n"


def other_nest(function: str) -> tinct.Nest:
    nest = tinct.Nest("row_sums")
    i, j = nest.dim("rows"), nest.dim("columns")
    x = nest.load("x", "f32", [i, j])
    nest.store("sums", nest.reduce("+", nest.call(function, x), on=[j]), [i])
    return nest


def problem(lower: Any) -> NestProblem:
    return NestProblem(Task(tinct.parse_nest(ROW_SUMS).ir, SIZES, lower))


def test_a_wrong_candidate_is_found_at_small_sizes() -> None:
    nest = other_nest("abs")

    def lower(_: NestNode, decisions: Decisions, sizes: Mapping[str, int]) -> object:
        return nest.lower(decisions, sizes=sizes)

    with pytest.raises(Rejected, match="sums differs from the definition at rows = 5") as found:
        problem(lower).checks.check(Decisions((), ()))
    assert found.value.status == "wrong"


def test_costs_know_whether_products_and_sums_are_fused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a processor with fast caches: on another one, loading may take longer than computing in both ways."""
    rates = replace(ASSUMED, lanes=16, registers=32, memory=2e11, cached=2e12)
    monkeypatch.setattr(nest_tuning, "rates_of", lambda _: rates)
    nest = tinct.Nest("product")
    i, j, k = nest.dim("m", "i"), nest.dim("n", "j"), nest.dim("inner", "k")
    terms = nest.load("a", "f32", [i, k]) * nest.load("b", "f32", [k, j])
    nest.store("c", nest.reduce("+", terms, on=[k]), [i, j])
    task = Task(nest.ir, dict.fromkeys(("m", "n", "inner"), 512), partial(lowered_for, False))
    block = parse_decisions(
        "i: workgroup * unrolled(6)\nj: workgroup * unrolled(4) * invocation(16)\norder: k.0, i.1, j.1"
    )
    apart, fused = (NestProblem(replace(task, contract=it)).space([]).cost(block) for it in (False, True))
    assert fused.least < fused.expected < 0.8 * apart.expected


def test_small_sizes_are_checked_once_for_each_structure() -> None:
    nest = tinct.parse_nest(ROW_SUMS)
    lowered: list[Decisions] = []

    def lower(_: NestNode, decisions: Decisions, sizes: Mapping[str, int]) -> object:
        if sizes != SIZES:
            lowered.append(decisions)
        return nest.lower(decisions, sizes=sizes, reassociate=True)

    its = NestProblem(Task(nest.ir, SIZES, lower, reassociate=True))  # type: ignore[arg-type]
    its.reference = nest.run(its.data.inputs)
    first, alike, other = (
        parse_decisions(f"i: workgroup\nj: loop * {it}") for it in ("invocation(8)", "invocation(16)", "tree(8)")
    )
    assert structure(first) == structure(alike) != structure(other)
    with its.bench:
        for point in (first, alike, other):
            its.measure(point, best=1e-9)
        assert set(lowered) == {first, other}
        its.compare([first, alike])  # what may be chosen is always checked
    assert set(lowered) == {first, other, alike}


def test_a_point_that_is_wrong_at_small_sizes_only_is_never_chosen() -> None:
    right, wrong = other_nest("copy"), other_nest("abs")
    first, alike = (parse_decisions(f"i: workgroup * invocation({it})") for it in (2, 4))

    def lower(_: NestNode, decisions: Decisions, sizes: Mapping[str, int]) -> object:
        return (wrong if decisions == alike and sizes != SIZES else right).lower(decisions, sizes=sizes)

    its = problem(lower)
    its.reference = right.run(its.data.inputs, sizes=SIZES, device="cpu")
    with its.bench:
        its.measure(first, float("inf"))
        assert its.measure(alike, best=1e-9) > 0
        assert its.compare([first, alike])[1] == float("inf")
        with pytest.raises(Rejected, match="differs from the definition"):
            its.measure(alike, float("inf"))


def test_a_candidate_that_is_wrong_at_the_tuned_sizes_only() -> None:
    right, wrong = other_nest("copy"), other_nest("abs")

    def lower(_: NestNode, decisions: Decisions, sizes: Mapping[str, int]) -> object:
        is_measured = sizes == SIZES and bool(decisions.dimensions)
        return (wrong if is_measured else right).lower(decisions, sizes=sizes)

    its = problem(lower)
    point = its.facts.with_levels(Decisions((), ()), its.facts.levels(Decisions((), ())))
    assert point.dimensions
    its.reference = right.run(its.data.inputs, sizes=SIZES, device="cpu")
    with its.bench, pytest.raises(Rejected, match="sums differs from the CPU at rows = 24") as found:
        its.measure(point, float("inf"))
    assert found.value.status == "wrong"


@pytest.mark.parametrize(
    ("device", "function", "right", "wrong"),
    [
        ("cpu", lambda x: x * 0.1 + 1000.0 - 1000.0, 1e-4, 1e-3),
        ("gpu", lambda x: x.nest.call("asin", x), 6e-5, 1e-2),
    ],
)
def test_results_may_be_off_by_what_operations_may(
    device: str, function: Callable[[Value], Value], right: float, wrong: float
) -> None:
    """Of what cancels, and of functions that some devices approximate worse than the CPU does."""
    nest = tinct.Nest("mapped")
    i = nest.dim("n")
    nest.store("y", function(nest.load("x", "f32", [i])), [i])
    its = NestProblem(Task(nest.ir, {"n": 1000}, partial(lowered_for, False), device))
    expected = nest.run(its.data.inputs)["y"]
    point = parse_decisions("i: workgroup * invocation(64)")
    with its.bench:
        its.reference = {"y": expected + np.float32(right)}
        assert its.measure(point, inf) > 0
        its.reference = {"y": expected + np.float32(wrong)}
        with pytest.raises(Rejected, match="y differs from the CPU at n = 1000"):
            its.measure(point, inf)


def test_no_bounds_allow_nothing() -> None:
    """Where nothing computes them."""

    def fails(_: NestNode) -> dict[str, Any]:
        raise Rejected("failed", "no decisions work")

    assert Allowance(tinct.parse_nest(SOFTMAX).ir, "cpu", fails).of("y") is None


def test_a_candidate_that_fails() -> None:
    def lower(_: NestNode, decisions: Decisions, sizes: Mapping[str, int]) -> object:
        raise AssertionError("a bug of the compiler")

    its = problem(lower)
    with its.bench, pytest.raises(Rejected, match="AssertionError: a bug of the compiler") as found:
        its.measure(Decisions((), ()), float("inf"))
    assert found.value.status == "failed"


def test_a_candidate_that_is_compiled_too_slowly_may_get_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nest_tuning, "_PATIENT", 1e6)
    monkeypatch.setattr(bench, "_LATER", 0.0)
    nest = tinct.parse_nest(ROW_SUMS)
    tuned = problem(lambda _, point, sizes: nest.lower(point, sizes=sizes))
    assert not isinstance(tuned.reference, Rejected)
    tuned.patience = tuned.checks.patience = 1e-4
    point = parse_decisions("i: workgroup\nj: loop * unrolled(8)")
    with tuned.bench:
        with pytest.raises(Rejected, match=r"not compiled within 0\.0001 s") as rejected:
            tuned.measure(point, inf)
        assert rejected.value.is_late
        assert tuned.measure_patiently(point, inf) > 0
        assert tuned.bench.patience == 1e-4


def test_what_is_compared_with_has_more_time_where_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []
    start = Launch.start

    def noted(launch: Launch, timeout: float | None) -> None:
        assert timeout is not None
        limits.append(timeout)
        start(launch, timeout)

    rates_of("cpu")  # measured before, since that launches kernels, too
    monkeypatch.setattr(Launch, "start", noted)
    nest = tinct.parse_nest(ROW_SUMS)
    its = problem(lambda _, point, sizes: nest.lower(point, sizes=sizes))
    large = replace(its.task, sizes={"rows": 1024, "columns": 4096})
    for problem_of in (its, NestProblem(large)):
        assert not isinstance(problem_of.reference, Rejected)
    small, long = limits[0], limits[-1]
    assert small > 6 * its.patience
    assert long > small


def test_where_nothing_can_be_compared_with_the_cpu_all_candidates_fail() -> None:
    """Each says why; it is found out once."""
    nest = other_nest("copy")
    lowered: list[Decisions] = []

    def lower(_: NestNode, decisions: Decisions, sizes: Mapping[str, int]) -> object:
        if sizes == SIZES:
            lowered.append(decisions)
            if len(lowered) > 1:
                raise AssertionError("a bug of the compiler")
        return nest.lower(decisions, sizes=sizes)

    its, counts = problem(lower), list[int]()
    with its.bench:
        for _ in range(2):
            with pytest.raises(Rejected, match="nothing computes 'row_sums' on the CPU to compare with: Assertion"):
                its.measure(Decisions((), ()), float("inf"))
            counts.append(len(lowered))
    assert counts[0] == counts[1] > 1


def test_points_of_several_dispatches_and_of_atomic_operations() -> None:
    """They are checked, and timed by turns, on buffers of their own, which begin with the first value."""
    nest = tinct.Nest("total")
    j = nest.dim("n", "j")
    nest.store("sum", nest.reduce("+", nest.load("x", "i32", [j]), on=[j], first=5), [])
    sizes = {"n": 3000}

    def lower(_: NestNode, decisions: Decisions, known: Mapping[str, int]) -> Any:
        return nest.lower(decisions, sizes=known)

    its = NestProblem(Task(nest.ir, sizes, lower))
    its.reference = nest.run(its.data.inputs)
    texts = (
        "",
        "j: partial * loop(64) * invocation(8)",
        "j: partial * loop(256)\nj_part: tree",
        "j: atomic * loop(64)",
    )
    points = [parse_decisions(it) for it in texts]
    with its.bench:
        assert all(its.measure(it, float("inf")) > 0 for it in (*points, *points[1:]))
        assert min(its.compare(points)) > 0
        its.reference = {"sum": its.reference["sum"] + 1}
        for point in points:
            with pytest.raises(Rejected, match="sum differs from the CPU at n = 3000"):
                its.measure(point, float("inf"))


@pytest.mark.parametrize(
    ("sizes", "options", "message"),
    [
        ({"rows": 4}, {}, "size 'columns' is missing"),
        ({"rows": 4, "column": 4}, {}, "did you mean 'columns'"),
        ({"rows": 4, "columns": 0}, {}, "a size is 0"),
        ({"rows": 4, "columns": -1}, {}, "whole number"),
        (SIZES, {"device": "interp"}, "tuning is for 'cpu' and 'gpu'"),
        (SIZES, {"device": "gpu", "contract": True}, "contract is for the device 'cpu', not 'gpu'"),
        (SIZES, {"device": "gpuu"}, "did you mean"),
        (SIZES, {"seconds": 0}, "seconds"),
        (SIZES, {"seconds": float("inf")}, "seconds is a number above 0"),
        (SIZES, {"seconds": None}, "seconds is a number above 0"),
        (SIZES, {"seed": 1.5}, "seed must be a whole number"),
        (SIZES, {"reassociate": 2}, "reassociate is True or False"),
    ],
)
def test_bad_input(sizes: dict[str, int], options: dict[str, Any], message: str) -> None:
    with pytest.raises(tinct.InputError, match=message):
        tinct.parse_nest(ROW_SUMS).tune(sizes, **options)


def test_a_nest_that_is_not_whole() -> None:
    nest = tinct.Nest("half")
    nest.fby(0.0, on=[nest.dim("n")])
    with pytest.raises(tinct.InputError):
        nest.tune({"n": 4})


def test_sizes_of_one_class() -> None:
    assert size_class({"n": 1024}) == size_class({"n": 1040})
    assert size_class({"n": 1024}) != size_class({"n": 1023}) != size_class({"n": 1025})
