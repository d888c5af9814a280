"""`tinct hercules`: files of Hercules IR through the interpreter and through LLVM alike."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from click.testing import CliRunner

from tinct.cli import tinct
from tinct.frontend import check as check_wgsl
from tinct.functions import DEVICES
from tinct.ir.hercules.interp import run
from tinct.ir.hercules.nodes import Call, Match, Module
from tinct.ir.hercules.storage import Value
from tinct.ir.hercules.verify import check
from tinct.ir.source import Source
from tinct.transforms.hercules.as_kernel import as_kernel
from tinct.transforms.hercules.fold_zeros import fold_zeros
from tinct.transforms.hercules.inline_calls import inline_calls
from tinct.transforms.hercules.lower_products import lower_products
from tinct.transforms.hercules.lower_sums import lower_sums
from tinct.transforms.hercules.merge_returns import with_one_return

from .generate import generate
from .support import SAMPLES, copy_of, load, run_values, same_value

PROGRAMS = Path(__file__).parents[2] / "programs"

GOLDENS = Path(__file__).parents[1] / "goldens" / "hercules" / "dot"
PASSES = GOLDENS.parent / "passes"


def call(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(tinct, ["hercules", *arguments])
    return result.exit_code, result.output


def variant(index: int, value: object) -> dict[str, object]:
    return {"variant": index, "value": value}


SHAPES = [variant(0, 2), variant(1, [3, 4]), variant(2, True)]
RUNS = [
    (SAMPLES / "matmul.hir", [[[1, 2], [3, 4]], [[5, 6], [7, 8]]], [], [[19, 22], [43, 50]]),
    (SAMPLES / "matmul.hir", [[[1, 2, 3]], [[5], [7], [8]]], [], [[43]]),
    (SAMPLES / "matmul.hir", [[], []], ["k=0", "n=0"], []),
    (SAMPLES / "matmul.hir", [[[], []], []], ["k=0", "n=3"], [[0, 0, 0], [0, 0, 0]]),
    (SAMPLES / "match.hir", [3], [], variant(0, 3)),
    (SAMPLES / "calls.hir", [[1, 2, 3, 4], 3], [], [[9, 0, 0, 0], 90]),
    (SAMPLES / "calls.hir", [[], 3], [], [[], 81]),
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
    (SAMPLES / "dot.hir", [["Infinity"], [0.5]], [], "Infinity"),
    (SAMPLES / "boxes.hir", [variant(1, [[1, 2], 7])], [], [[[1, 2], 7], [2, 1], variant(1, [[1, 2], 9])]),
    (SAMPLES / "boxes.hir", [variant(0, 5)], ["n=2"], [[[0, 0], 0], [0, 0], variant(0, 5)]),
    (SAMPLES / "boxes.hir", [variant(1, [[], 7])], [], [[[], 7], [], variant(1, [[], 9])]),
    (SAMPLES / "boxes.hir", [variant(1, [[4], 7])], [], [[[4], 7], [4], variant(1, [[4], 9])]),
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
        (["--run"], "no value is given for a: array<f32, n>, b: array<f32, n>"),
        (["--run", "--args", "[[1], [2]]", "--set", "m=1"], "no dynamic constant is named 'm'; there is n"),
        (["--run", "--fn", "other"], "no function is named 'other'; there is dot"),
        (["--run", "--args", "[[1]]"], "dot takes 2 arguments, a, b, not 1"),
        (["--run", "--args", "[[1], [1, 2]]"], "axis 0 of b has 2 elements, but n is 1 by axis 0 of a"),
        (["--run", "--args", "[[1], [1e300]]"], "b[0]: 1e+300 is out of range for f32"),
        (["--run", "--args", "[[1], [null]]"], "b[0]: f32 takes a number, not None"),
        (["--run", "--args", '[["one"], [1]]'], "'one' is no number"),
        (["--run", "--args", "[[1], [[1]]]"], "b: array<f32, 1> takes shape (1,), not an array of shape (1, 1)"),
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
    assert (code, "nothing determines the dynamic constant 'k': it must be given" in output) == (2, True)
    code, output = call(str(SAMPLES / "matmul.hir"), "--format", "program", "--set=q=2")
    assert (code, "no dynamic constant is named 'q'" in output) == (2, True)


@pytest.mark.parametrize(
    ("given", "head", "size"),
    [
        (["--set=m=20", "--set=n=10"], "(b, a, c: written): 200 threads in 4 workgroups of 64", 64),
        (["--set=m=1", "--set=n=1", "--workgroup-size=3"], "(b, a, c: written): 1 thread in 1 workgroup of 3", 3),
        (["--set=m=65536", "--set=n=65"], "(b, a, c: written): 4259840 threads in 65535 x 2 workgroups of 64", 64),
    ],
)
def test_workgroups_are_shown(given: list[str], head: str, size: int) -> None:
    matmul = str(PROGRAMS / "matmul" / "matmul.hir")
    code, output = call(matmul, "--emit", "wgsl", "--set=k=3", *given)
    assert (code, output.count("// "), output.count(f"@workgroup_size({size}u, 1u, 1u)")) == (0, 1, 1)
    assert head in output
    code, output = call(matmul, "--format", "program", "--set=k=3", *given)
    assert (code, head.rsplit(": ", maxsplit=1)[-1] in output) == (0, True)


def test_the_listing_says_why_an_invocation_runs_a_thread_alone() -> None:
    softmax = str(PROGRAMS / "softmax" / "softmax.hir")
    given = ("--format", "program", "--set=n=3000")
    code, output = call(softmax, *given, "--set=m=8")
    assert code == 0
    assert "in 1 workgroup of 64, one invocation each: floats are added or multiplied, whose order shows" in output
    code, output = call(softmax, *given, "--set=m=8", "--reassociate")
    assert (code, "8 threads in 8 workgroups of 256\n" in output) == (0, True)
    code, output = call(softmax, *given, "--set=m=100000", "--reassociate")
    assert (code, "one invocation each: there are enough threads, or they are short" in output) == (0, True)


def test_each_kernel_of_a_program_is_printed() -> None:
    kmeans = str(PROGRAMS / "kmeans" / "kmeans.hir")
    code, output = call(kmeans, "--emit", "wgsl", "--set=n=100", "--set=k=5")
    assert code == 0
    kernels = output.split("// kmeans_")[1:]
    assert [it.count("@compute") for it in kernels] == [1] * len(kernels)
    assert len(kernels) >= 2
    for text in kernels:
        check_wgsl(Source.from_text(text.partition("\n")[2]))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--run", "--device", "cpu", "--workgroup-size=8"], "a workgroup size is for a GPU, not for cpu"),
        (["--run", "--emit", "wgsl"], "--run prints the result"),
        (["--workgroup-size=8"], "--workgroup-size is for --run, --format program and --emit wgsl"),
        (["--emit", "wgsl", "--workgroup-size=0"], "0 is not in the range"),
        (["--reassociate"], "--reassociate is for --run, --format program and --emit wgsl"),
        (["--run", "--device", "interp", "--reassociate"], "reassociate is for a GPU, not for interp"),
        (["--emit", "wgsl"], "nothing determines the dynamic constant 'm'"),
    ],
)
def test_workgroup_sizes_that_do_not_fit(given: list[str], message: str) -> None:
    code, output = call(str(PROGRAMS / "matmul" / "matmul.hir"), "--args", "[[[1]], [[2]]]", *given)
    assert (code, message in output) == (2, True), output


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


@pytest.mark.usefixtures("needs_device")
@pytest.mark.parametrize("device", DEVICES)
def test_arguments_by_name(device: str, tmp_path: Path) -> None:
    matmul = str(PROGRAMS / "matmul" / "matmul.hir")
    np.save(tmp_path / "a.npy", np.array([[1.0, 2.0]]))
    given = ["--arg", f"a={tmp_path / 'a.npy'}", "--arg", "b=arange:2x3", "--device", device]
    assert call(matmul, "--run", *given) == (0, "[[6.0, 9.0, 12.0]]\n")
    assert call(matmul, "--run", "--args", '{"a": [[1, 2]]}', *given[2:]) == (0, "[[6.0, 9.0, 12.0]]\n")
    heat = str(PROGRAMS / "heat" / "heat.hir")
    code, output = call(heat, "--run", "--arg", "initial=uniform:4", "--arg", "rate=zeros", "--set", "steps=1")
    assert (code, len(json.loads(output))) == (0, 4)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--arg", "a"], 2, "--arg takes NAME=SPEC"),
        (["--arg", "c=1"], 2, "matmul has no parameter named 'c'"),
        (["--arg", "a=[[1]]", "--arg", "a=[[1]]"], 2, "--arg a is given twice"),
        (["--arg", "a=[[1]]", "--args", '{"a": [[1]]}'], 2, "a is given by --args and by --arg"),
        (["--arg", "a=zeros:3"], 2, "array<array<f32, k>, m> takes a shape of 2 numbers"),
        (["--arg", "a=zeros:2x3", "--arg", "b=zeros:2x3"], 2, "axis 0 of b has 2 elements, but k is 3 by axis 1 of a"),
        (["--arg", "a=zeros:2x3", "--arg", "b=zeros:3x2", "--device", "hercules"], 2, "no device is named 'hercules'"),
    ],
)
def test_arguments_by_name_that_do_not_fit(arguments: list[str], code: int, message: str) -> None:
    found, output = call(str(PROGRAMS / "matmul" / "matmul.hir"), "--run", *arguments)
    assert (found, message in output) == (code, True), output


def test_an_invalid_file_is_the_shaders_fault(tmp_path: Path) -> None:
    file = tmp_path / "loop.hir"
    file.write_text("fn f(x: i32) -> i32 {\n  y = call(f, x)\n  done = return(start, y)\n}\n")
    for command in (["hercules"], ["reflect"]):
        result = CliRunner().invoke(tinct, [*command, str(file)])
        assert result.exit_code == 1
        assert "error[no-recursion]: f: calls itself, however indirectly" in result.output
        assert "loop.hir:1:4" in result.output


def test_reflection_as_json() -> None:
    result = CliRunner().invoke(tinct, ["reflect", str(PROGRAMS / "bfs" / "bfs.hir"), "--format", "json"])
    (function,) = json.loads(result.output)["functions"]
    assert [it["name"] for it in function["parameters"]] == ["offsets", "sources", "states", "level"]
    assert [it["name"] for it in function["results"]] == ["states_after", "found"]
    assert function["parameters"][0]["shape"] == ["(n + 1)"]
    assert function["dynamicConstants"][1] == {"name": "e", "extents": [{"of": "axis 0 of sources", "extent": "e"}]}
    assert [it["offset"] for it in function["structures"][0]["fields"]] == [0, 4, 4]


@pytest.mark.usefixtures("needs_device")
@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_comparison_of_functions(device: str) -> None:
    dot = str(PROGRAMS / "dot")
    result = CliRunner().invoke(tinct, ["compare", dot, "--device", "interp", "--device", device, "--format", "json"])
    found = json.loads(result.output)
    assert result.exit_code == 0
    assert [(it["case"], it["device"]) for it in found][:2] == [("nothing", "interp"), ("nothing", device)]
    assert {it["status"] for it in found if it["device"] == device} == {"agrees"}
    assert {it["status"] for it in found} == {"agrees", "skipped"}
    result = CliRunner().invoke(tinct, ["compare", dot, "--device", "hercules", "--format", "json"])
    assert {it["detail"] for it in json.loads(result.output)} == {"functions of Hercules IR run on interp"}
    result = CliRunner().invoke(tinct, ["bisect", f"{dot}/dot.toml", "--passes", "dce"])
    assert (result.exit_code, "tinct bisect takes shaders" in result.output) == (2, True)
