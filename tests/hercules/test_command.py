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
from tinct.ir.hercules.storage import Value
from tinct.ir.hercules.verify import check
from tinct.transforms.hercules.as_kernel import as_kernel

from .generate import generate
from .support import SAMPLES, copy_of, load, same_value

GOLDENS = Path(__file__).parents[1] / "goldens" / "hercules" / "dot"
PASSES = Path(__file__).parent / "passes"


def call(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(tinct, ["hercules", *arguments])
    return result.exit_code, result.output


RUNS = [
    (SAMPLES / "dot.hir", [[1, 2, 3], [4, 5, 6]], [], 32.0),
    (SAMPLES / "dot.hir", [[], []], [], 0.0),
    (SAMPLES / "dot.hir", [[0.5], [8]], [], 4.0),
    (SAMPLES / "saxpy.hir", [2.0, [1, 2], [3, 4]], ["wg_x=1"], [5.0, 8.0]),
    (SAMPLES / "saxpy.hir", [2.0, [1, 2], [3, 4]], ["wg_x=0"], [3.0, 4.0]),
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
        (["--run", "--device", "cpu", "--args", "[[1], [1, 2]]"], "'b' has the shape (2,) instead of (1,)"),
    ],
)
def test_what_cannot_run(arguments: list[str], message: str) -> None:
    code, output = call(str(SAMPLES / "dot.hir"), *[it for it in arguments if it])
    assert code == 2
    assert message in output


def test_draws_forks_as_boxes(golden: Callable[[Path, str], None]) -> None:
    code, output = call(str(SAMPLES / "matmul.hir"), "--format", "dot")
    assert code == 0
    golden(GOLDENS / "matmul.dot", output)


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


def test_a_kernel_verifies() -> None:
    for name in ("dot", "saxpy", "matmul"):
        module = load(name)
        as_kernel(module.functions[-1])
        check(module)
