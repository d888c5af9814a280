"""Arithmetic on numbers that nodes write: our kernel against Python, and graphs whose plans compute with it."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinct
from tinct.graphs import emit, zeros
from tinct.graphs.arithmetic import (
    NumberWord,
    ResultForm,
    WordForm,
    arithmetic_kernel,
    failure,
    packed_operation,
)
from tinct.graphs.emitted.plan_file import FORMAT_VERSION
from tinct.graphs.plan import Dispatch
from tinct.ir.dataflow.expressions import OPERATIONS
from tinct.ir.dataflow.nodes import BinaryOp

from .support import DEVICES, count, fill
from .test_examples import FOLDERS, module

EDGES = [0, 1, 2, 7, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1]
RANGES = {ResultForm.U32: (0, 2**32), ResultForm.I32: (-(2**31), 2**31), ResultForm.EXTENT: (0, 2**31)}


def words(number: int) -> list[int]:
    return [abs(number) & 0xFFFFFFFF, abs(number) >> 32, int(number < 0)]


def operand(rng: random.Random) -> tuple[int, int | NumberWord, list[int]]:
    """A number, how the kernel gets it, and its buffer."""
    size = rng.choice(EDGES) if rng.random() < 0.6 else rng.getrandbits(rng.randint(1, 64))
    number = rng.choice((size, -size))
    match rng.randint(0, 3):
        case 0:
            return number, NumberWord(1, WordForm.WIDE), [9, *words(number)]
        case 1:
            number = rng.choice((-(2**31), -1, 5))
            return number, NumberWord(0, WordForm.I32), [number & 0xFFFFFFFF]
        case 2:
            return size & 0xFFFFFFFF, NumberWord(2, WordForm.U32), [0, 0, size & 0xFFFFFFFF]
        case _:
            return number, number, [0]


def expected(op: BinaryOp, lhs: int, rhs: int, form: ResultForm) -> tuple[list[int], str]:
    """The words of the result, and the error."""
    try:
        number = OPERATIONS[op](lhs, rhs)
    except ZeroDivisionError:
        return [0, 0, 0], "it divides by zero"
    if abs(number) >= 2**64:
        return [0, 0, 0], "it has more than 64 bits"
    if form is ResultForm.WIDE:
        return words(number), ""
    least, end = RANGES[form]
    if least <= number < end:
        return [number & 0xFFFFFFFF, 0, 0], ""
    out_of_range = f"it is {number}, out of range for {form.name.lower()}"
    return [0, 0, 0], f"the extent it is {number}" if form is ResultForm.EXTENT else out_of_range


@pytest.mark.parametrize("device", DEVICES)
def test_the_kernel_computes_as_python_does(device: str) -> None:
    rng, kernel = random.Random(5), arithmetic_kernel()
    with tinct.Session(device=device) as session:
        for _ in range({"cpu": 600, "gpu": 40}.get(device, 8)):
            op, form = rng.choice(list(BinaryOp)), rng.choice(list(ResultForm))
            (left, lhs, source), (right, rhs, other) = operand(rng), operand(rng)
            request = packed_operation(op, lhs, rhs, form, 41)
            assert request is not None
            result, error = session.buffer(np.full(3, 9, np.uint32)), session.buffer(np.zeros(4, np.uint32))
            sources = {"lhs_source": np.array(source, np.uint32), "rhs_source": np.array(other, np.uint32)}
            session.run(kernel, {**sources, "request": request, "result": result, "error": error}, workgroups=1)
            number, *reason = error.numpy().tolist()
            found = failure("it", form, (reason[0], reason[1], reason[2])) if number else ""
            assert (result.numpy().tolist(), found) == expected(op, left, right, form), (op, left, right, form)
            assert number in (0, 42)
    assert packed_operation(BinaryOp.ADD, 1 << 64, 0, ResultForm.WIDE, 0) is None


GIVEN = np.array([3, 0, 4, 0, 0, 5, 9, 9], np.uint32)
"""Five numbers that are not zero."""


def computed(extent: str, value: str) -> tinct.Graph:
    graph = tinct.Graph("computed")
    counter = graph.node(count, threads="len(x)", name="count")
    graph.bind_input("x", counter["src"])
    graph.bind_input(zeros(), counter["total"])
    node = graph.node(fill, threads=extent, capacity=100, name="fill")
    graph.bind_input(zeros("len(x)"), node["dst"])
    graph.bind_input(value, node["value"])
    graph.bind_output(node["dst"], "y")
    return graph


@pytest.mark.parametrize(
    ("extent", "value", "y"),
    [
        ("count.total / 2 + 1", "count.total * 3", [15, 15, 15, 0, 0, 0, 0, 0]),
        ("min(count.total * count.total, len(x))", "max(count.total - 9, 4)", [4] * 8),
        ("ceil_div(count.total, 2)", "(count.total - 7) % 4", [2, 2, 2, 0, 0, 0, 0, 0]),
        ("count.total - 5", "count.total % 3", [0] * 8),
        ("count.total - 6", "1", "the extent count.total - 6 is -1"),
        ("1", "8 / (count.total - 5)", "8 / (count.total - 5) divides by zero"),
        ("1", "count.total - 8", "-3"),
        ("count.total * 21", "1", "105 invocations are more than its capacity, 100"),
    ],
)
def test_plans_compute(extent: str, value: str, y: list[int] | str, tmp_path: Path) -> None:
    """On all devices, walked, in plans and in emitted plans."""
    given = {"x": GIVEN}
    graph = computed(extent, value) if extent != "1" else fixed(value)
    plan = graph.plan(given, device="cpu")
    assert any(isinstance(it, Dispatch) and it.computes is not None for it in plan.steps)
    emit(graph, tmp_path, given)
    emitted = tinct.load_plan(tmp_path)
    for device in DEVICES:
        runs = [lambda: graph.run(given, device=device), lambda: emitted.run(given, device=device)]  # noqa: B023
        for run in runs if device == "cpu" else runs[:1]:
            if isinstance(y, list):
                assert run()["y"].tolist() == y
                continue
            with pytest.raises(tinct.InputError) as caught:
                run()
            assert "node 'fill'" in str(caught.value)
            assert y in str(caught.value) or (" are more than 100 invocations" in str(caught.value) and "105" in y)


def fixed(value: str) -> tinct.Graph:
    """A number for an input alone; no extent is computed."""
    graph = tinct.Graph("fixed")
    counter = graph.node(count, threads="len(x)", name="count")
    graph.bind_input("x", counter["src"])
    graph.bind_input(zeros(), counter["total"])
    node = graph.node(fill, threads=1, name="fill")
    graph.bind_input(zeros("len(x)"), node["dst"])
    graph.bind_input(value, node["value"])
    graph.bind_output(node["dst"], "y")
    return graph


def test_a_follower_without_tinct_computes(tmp_path: Path) -> None:
    if "gpu" not in DEVICES:
        pytest.skip("no GPU")
    from .plan_follower import Follower

    emit(computed("count.total / 2", "count.total * 3"), tmp_path, {"x": GIVEN})
    assert list(np.frombuffer(Follower(tmp_path).run()["y"], np.uint32)) == [15, 15, 0, 0, 0, 0, 0, 0]
    emit(fixed("8 / (count.total - 5)"), tmp_path, {"x": GIVEN})
    with pytest.raises(ValueError, match="fill"):
        Follower(tmp_path).run()


SCRIPT = FOLDERS[0].parent / "emit" / "plan.mjs"


def recorded(folder: Path, executions: int = 1, error: list[int] | None = None) -> Any:
    """What the JavaScript example does with a plan, on a WebGPU that records it."""
    stub = Path(__file__).with_name("recorded_plan.mjs")
    more = [] if error is None else [json.dumps(error)]
    command = ["node", str(stub), str(SCRIPT), str(folder), str(executions), *more]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_javascript_follows_plans_of_the_version_that_is_written() -> None:
    assert f"const VERSION = {FORMAT_VERSION};" in SCRIPT.read_text()


@pytest.mark.skipif(shutil.which("node") is None, reason="no node")
def test_javascript_follows_the_steps(tmp_path: Path) -> None:
    """All dispatches in order, with what they are bound to, in two executions between which buffers change places."""
    computing, life = tmp_path / "computing", tmp_path / "life"
    emit(computed("count.total / 2", "count.total * 3"), computing, {"x": GIVEN})
    plan = json.loads((computing / "plan.json").read_text())
    dispatches = [it for it in plan["steps"] if it["do"] == "dispatch"]
    found = recorded(computing)
    assert found["outputs"] == {"y": 32}
    assert found["dispatches"] == [
        {
            "label": it["node"],
            "workgroups": it.get("workgroups", "indirect"),
            "bound": [[part["buffer"], part["offset"], part["size"]] for part in it["bindings"]],
        }
        for it in dispatches
    ]
    number = next(it["computes"]["number"] for it in dispatches if "computes" in it)
    thrown = recorded(computing, error=[number + 1, 3 + 256, 1, 1])["thrown"]
    assert thrown == "node fill: count.total / 2 is -4294967297, which does not fit"
    number = next(it["indirect"]["number"] for it in dispatches if "indirect" in it)
    thrown = recorded(computing, error=[number + 1, 105, 1, 1])["thrown"]
    assert thrown == "node fill: 105 x 1 x 1 invocations are refused; its capacity is 100"

    example = module(FOLDERS[[it.name for it in FOLDERS].index("life")])
    emit(example.GRAPH, life, example.inputs(np.random.default_rng(3)), feed={"cells": "cells"})
    plan = json.loads((life / "plan.json").read_text())
    (one, other), *_ = plan["rotations"]
    turned = {one: other, other: one}
    every = recorded(life, 2)["dispatches"]
    half = len(every) // 2
    assert half == sum(it["do"] == "dispatch" for it in plan["steps"])
    for before, after in zip(every[:half], every[half:], strict=True):
        assert [[turned.get(it[0], it[0]), *it[1:]] for it in before["bound"]] == after["bound"]
