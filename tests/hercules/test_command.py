"""`tinct hercules`: files of Hercules IR through the interpreter and through LLVM alike."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from click.testing import CliRunner

from tinct.cli import tinct
from tinct.cli.hercules_values import run_values
from tinct.ir.hercules.interp import run
from tinct.ir.hercules.nodes import Call, Match, Module
from tinct.ir.hercules.storage import Value
from tinct.ir.hercules.verify import check
from tinct.transforms.hercules.as_kernel import as_kernel
from tinct.transforms.hercules.fold_zeros import fold_zeros
from tinct.transforms.hercules.inline_calls import inline_calls
from tinct.transforms.hercules.lower_products import lower_products
from tinct.transforms.hercules.lower_sums import lower_sums
from tinct.transforms.hercules.merge_returns import with_one_return

from .generate import generate
from .support import SAMPLES, copy_of, load, same_value

GOLDENS = Path(__file__).parents[1] / "goldens" / "hercules" / "dot"
PASSES = GOLDENS.parent / "passes"


def call(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(tinct, ["hercules", *arguments])
    return result.exit_code, result.output


def variant(index: int, value: object) -> dict[str, object]:
    return {"variant": index, "value": value}


SHAPES = [variant(0, 2), variant(1, [3, 4]), variant(2, True)]
RUNS = [
    (SAMPLES / "matmul.hir", [[[1, 2], [3, 4]], [[5, 6], [7, 8]]], ["k=2", "n=2"], [[19, 22], [43, 50]]),
    (SAMPLES / "matmul.hir", [[[1, 2, 3]], [[5], [7], [8]]], ["k=3", "n=1"], [[43]]),
    (SAMPLES / "matmul.hir", [[], []], ["k=0", "n=0"], []),
    (SAMPLES / "matmul.hir", [[[], []], []], ["k=0", "n=3"], [[0, 0, 0], [0, 0, 0]]),
    (SAMPLES / "match.hir", [3], [], variant(0, 3)),
    (SAMPLES / "calls.hir", [[1, 2, 3, 4], 3], ["m=2"], [[9, 0, 0, 0], 90]),
    (SAMPLES / "calls.hir", [[], 3], ["m=0"], [[], 81]),
    (SAMPLES / "nested_calls.hir", [[1, 2, 3], 4], [], [1, 7]),
    (SAMPLES / "nested_calls.hir", [[-1, -2, -3], 4], [], [-12, -18]),
    (SAMPLES / "nested_calls.hir", [[], 1], [], [0, 0]),
    (SAMPLES / "placed_calls.hir", [5, True], [], 7),
    (SAMPLES / "placed_calls.hir", [40, False], [], 138),
    (SAMPLES / "areas.hir", [SHAPES], [], [[variant(0, 0), variant(0, 1), variant(0, 2)], [12, 12, 0]]),
    (SAMPLES / "areas.hir", [[]], [], [[], []]),
    (SAMPLES / "third.hir", [variant(0, 5)], [], variant(1, 5)),
    (SAMPLES / "third.hir", [variant(1, 5)], [], variant(1, 7)),
    (SAMPLES / "third.hir", [variant(2, 5)], [], variant(1, 0)),
    (SAMPLES / "histogram.hir", [[0, 1, 1, 2]], [], [[1, 2, 1, 0], [0, 0, 1, 0]]),
    (SAMPLES / "taken_late.hir", [2], ["n=3"], [5, 5, 5]),
    (SAMPLES / "taken_late.hir", [2], ["n=0"], []),
    (SAMPLES / "dot.hir", [[1, 2, 3], [4, 5, 6]], [], 32.0),
    (SAMPLES / "dot.hir", [[], []], [], 0.0),
    (SAMPLES / "dot.hir", [[0.5], [8]], [], 4.0),
    (SAMPLES / "saxpy.hir", [2.0, [1, 2], [3, 4]], ["wg_x=1"], [5.0, 8.0]),
    (SAMPLES / "saxpy.hir", [2.0, [1, 2], [3, 4]], ["wg_x=0"], [3.0, 4.0]),
    (SAMPLES / "dot.hir", [[0.1], [1e300]], [], float("inf")),
    (SAMPLES / "boxes.hir", [variant(1, [[1, 2], 7])], ["n=2"], [[[1, 2], 7], [2, 1], variant(1, [[1, 2], 9])]),
    (SAMPLES / "boxes.hir", [variant(0, 5)], ["n=2"], [[[0, 0], 0], [0, 0], variant(0, 5)]),
    (SAMPLES / "boxes.hir", [variant(1, [[], 7])], ["n=0"], [[[], 7], [], variant(1, [[], 9])]),
    (SAMPLES / "boxes.hir", [variant(1, [[4], 7])], ["n=1"], [[[4], 7], [4], variant(1, [[4], 9])]),
    (SAMPLES / "early.hir", [[3, 4], True], [], [3, [0, 4]]),
    (SAMPLES / "early.hir", [[3, 4], False], [], [7, [3, 4]]),
    (SAMPLES / "early.hir", [[], True], [], [0, []]),
    (PASSES / "forkify.hir", [[1, 2, 3], [0.5, 4, 8]], [], [[1, 4, 9], 14, 3, 16.0]),
]


@pytest.mark.parametrize("device", ["interp", "cpu"])
@pytest.mark.parametrize(("file", "arguments", "settings", "expected"), RUNS)
def test_runs(file: Path, arguments: list[object], settings: list[str], expected: object, device: str) -> None:
    flags = [flag for it in settings for flag in ("--set", it)]
    code, output = call(str(file), "--run", "--args", json.dumps(arguments), "--device", device, *flags)
    assert (code, json.loads(output)) == (0, expected)


@pytest.mark.parametrize("seed", range(25))
def test_random_functions_are_the_same_as_machine_code(seed: int) -> None:
    module = generate(seed)
    for n in (1, 4):  # what is read of an empty array, the CPU leaves open: no binding is empty
        arguments: list[object] = [list(range(10, 10 + n)), 5]
        kernel = copy_of(module)
        assert same_value(
            cast(Value, run_values(kernel.functions[0], [n], arguments)), run(module.functions[0], [n], arguments)
        )
        check(kernel)


def test_prints_after_passes() -> None:
    code, output = call(str(PASSES / "predication.hir"), "--passes", "predication")
    assert code == 0
    assert "select(c, sum, y)" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--run", "--args", "[[1], [2]", ""], "--args is not JSON"),
        (["--run", "--args", "3"], "--args is a list of arguments"),
        (["--run"], "the dynamic constant 'n' is not known"),
        (["--run", "--set", "m=1"], "one of the dynamic constants: n"),
        (["--run", "--fn", "other"], "no function 'other'; there are: dot"),
        (["--run", "--set", "n=1"], "dot takes 2 arguments"),
        (["--run", "--args", "[[1], [1, 2]]"], "the argument 'b' has a part of 2 elements instead of 1"),
        (["--run", "--args", "[[1], [true]]"], "the argument 'b' has an element that is no value of its type: True"),
        (["--run", "--args", "[[1], [null]]"], "null is no value of Hercules IR"),
        (["--run", "--args", '[["one"], [1]]'], '"one" is no value of Hercules IR'),
        (["--run", "--args", "[[1], [[1]]]"], "the argument 'b' has an element that is no value of its type: [1]"),
    ],
)
@pytest.mark.parametrize("device", ["interp", "cpu"])
def test_what_cannot_run(arguments: list[str], message: str, device: str) -> None:
    code, output = call(str(SAMPLES / "dot.hir"), "--device", device, *[it for it in arguments if it])
    assert code == 2
    assert message in output


@pytest.mark.parametrize("name", ["areas", "boxes", "calls", "early", "match", "nested_calls", "third"])
def test_each_step_on_the_way_to_machine_code_verifies(name: str) -> None:
    for number in range(len(load(name).functions)):
        function = load(name).functions[number]
        inline_calls(function)
        module = Module([function])
        check(module)
        function.nodes = with_one_return(function.nodes)
        check(module)
        lower_products(function)
        check(module)
        lower_sums(function)
        check(module)
        as_kernel(function)
        fold_zeros(function)
        check(module)
        assert not any(isinstance(node, (Call, Match)) for node in function.nodes)


def test_draws_forks_as_boxes(golden: Callable[[Path, str], None]) -> None:
    code, output = call(str(SAMPLES / "matmul.hir"), "--format", "dot")
    assert code == 0
    golden(GOLDENS / "matmul.dot", output)


def test_prints_programs() -> None:
    code, output = call(str(SAMPLES / "matmul.hir"), "--format", "program", "--set=m=2", "--set=k=3", "--set=n=4")
    assert code == 0
    assert "dispatch matmul_0[2, 4](" in output
    code, output = call(str(SAMPLES / "matmul.hir"), "--format", "program", "--set=m=2")
    assert (code, "the dynamic constant 'k' is not known: --set k=…" in output) == (2, True)


def test_a_picture_needs_graphviz(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    code, output = call(str(SAMPLES / "dot.hir"), "--format", "svg")
    assert (code, "Graphviz" in output) == (2, True)


def test_stages_are_drawn() -> None:
    saxpy = str(Path(__file__).parents[2] / "shaders" / "saxpy" / "saxpy.wgsl")
    result = CliRunner().invoke(tinct, ["compile", saxpy, "--emit", "hercules", "--format", "dot"])
    assert (result.exit_code, result.output.startswith('digraph "main" {')) == (0, True)
    assert "fork4: 64 threads" in result.output
    result = CliRunner().invoke(tinct, ["compile", saxpy, "--emit", "core", "--format", "svg"])
    assert (result.exit_code, "only hercules is drawn as a graph, not core" in result.output) == (2, True)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("name", ["matmul", "match", "calls"])
def test_graphviz_takes_what_is_drawn(name: str) -> None:
    code, output = call(str(SAMPLES / f"{name}.hir"), "--format", "svg")
    assert (code, output.count("</svg>")) == (0, 1)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_a_kernel_is_drawn_with_its_forks_as_boxes() -> None:
    saxpy = str(Path(__file__).parents[2] / "shaders" / "saxpy" / "saxpy.wgsl")
    result = CliRunner().invoke(tinct, ["compile", saxpy, "--emit", "hercules", "--format", "svg"])
    assert (result.exit_code, result.output.count("</svg>")) == (0, 1)
    assert result.output.count('class="cluster"') >= 4


def test_a_kernel_verifies() -> None:
    for name in ("dot", "saxpy", "matmul"):
        module = load(name)
        as_kernel(module.functions[-1])
        check(module)
