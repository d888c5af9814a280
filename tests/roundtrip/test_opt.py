"""`opt`, `bisect`, `minify` and `fmt` from the command line, and bisecting a pass that is wrong on purpose."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from tinct import bisecting
from tinct.backend.gpu import GpuDevice
from tinct.bisecting import Dispatch, Expectation, bisect
from tinct.cli import tinct
from tinct.frontend import check
from tinct.ir.core.builder import Builder, constant, u32
from tinct.ir.core.nodes import Binary, Constant, Instruction, Module
from tinct.ir.core.structure import blocks_of
from tinct.ir.core.values import Value
from tinct.ir.ops import BinaryOp
from tinct.ir.source import Source
from tinct.ir.types import I32
from tinct.shader import Shader
from tinct.transforms.core import strength_reduction
from tinct.transforms.core.dce import DeadCodeElimination
from tinct.transforms.passes import parse_pipeline
from tinct.transforms.pipelines import CORE

SHADERS = Path(__file__).parents[2] / "shaders"
SCAN = SHADERS / "scan" / "scan_blelloch.wgsl"
TEXT = """
@group(0) @binding(0) var<storage, read_write> data: array<i32>;
fn plus(a: i32) -> i32 { return a + 7; }
fn times(a: i32) -> i32 { return a * 3; }
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
    data[id.x] = times(plus(data[id.x]));
}
"""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(tinct, [str(it) for it in arguments])


@dataclass(frozen=True)
class Spoil:
    """Turns products into sums."""

    name: str = "spoil"

    def run(self, module: Module) -> bool:
        for function in module.functions:
            for block in blocks_of(function):
                for instruction in block.instructions:
                    if isinstance(instruction, Binary) and instruction.op is BinaryOp.MULTIPLY:
                        instruction.op = BinaryOp.ADD
        return True


def dispatch() -> Dispatch:
    kernel = Shader(Source.from_text(TEXT)).kernel()
    return Dispatch(kernel, {"data": np.arange(4, dtype=np.int32)}, {}, threads=4)


def test_bisect_names_pass_and_function() -> None:
    job = dispatch()
    finding = bisect(job, (DeadCodeElimination(), Spoil(), DeadCodeElimination()), Expectation(job.on("interp"), {}))
    assert finding is not None
    assert (finding.position, finding.functions) == (2, ("times",))
    assert finding.fault == "4 of 4 differ, first data[0]: expected 21, got 10"


@pytest.mark.parametrize("device", ["cpu", "interp", "hercules"])
def test_bisect_finds_a_bug_in_a_pass(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that takes `x * 3` for `x << 3`, among the passes as they are."""

    def wrong(instruction: Instruction, builder: Builder) -> Value | None:
        is_product = isinstance(instruction, Binary) and instruction.op is BinaryOp.MULTIPLY
        return builder.binary(BinaryOp.SHIFT_LEFT, instruction.lhs, u32(3)) if is_product else None

    monkeypatch.setattr(strength_reduction, "RULES", (wrong, *strength_reduction.RULES))
    job = dispatch()
    passes = parse_pipeline("dce,cse,algebraic,strength_reduction,simplify_control_flow", CORE)
    finding = bisect(job, passes, Expectation(job.on(device), {}))
    assert finding is not None
    assert finding.step is not None
    assert (finding.step.name, finding.functions) == ("strength_reduction", ("times",))


LOOP = """
@group(0) @binding(0) var<storage, read_write> data: array<i32>;
fn sum(n: i32) -> i32 { var s = 0; for (var i = 0; i < n; i++) { s += i; } return s; }
fn half(n: i32) -> i32 { return n / 2; }
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) { data[id.x] = half(sum(data[id.x])); }
"""


def test_bisect_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass that makes a loop endless, by adding 0 where it was 1."""

    @dataclass(frozen=True)
    class Stall:
        name: str = "stall"

        def run(self, module: Module) -> bool:
            (sum_,) = (it for it in module.functions if it.name == "sum")
            for instruction in (it for block in blocks_of(sum_) for it in block.instructions):
                if isinstance(instruction, Binary) and isinstance(instruction.rhs, Constant):
                    instruction.rhs = constant(I32, 0)
            return True

    monkeypatch.setattr(bisecting, "_PATIENCE", 0.2)
    kernel = Shader(Source.from_text(LOOP)).kernel()
    job = Dispatch(kernel, {"data": np.arange(4, dtype=np.int32)}, {}, threads=4)
    finding = bisect(job, (DeadCodeElimination(), Stall()), Expectation(job.on("cpu"), {}))
    assert finding is not None
    assert (finding.position, finding.functions) == (2, ("sum",))
    assert "did not end" in finding.fault


def test_bisect_names_a_pass_that_fails() -> None:
    @dataclass(frozen=True)
    class Fail:
        name: str = "fail"

        def run(self, module: Module) -> bool:
            raise AssertionError("all is lost")

    job = dispatch()
    finding = bisect(job, (DeadCodeElimination(), Fail()), Expectation(job.on("cpu"), {}))
    assert finding is not None
    assert (finding.position, finding.fault) == (2, "the pass fails: AssertionError: all is lost")


@pytest.mark.parametrize("against", ["reference", "cpu", "hercules", "gpu"])
def test_bisect_a_case_file_with_a_bug_in_a_pass(against: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever says what is right: the pass at fault is named, and the function."""
    if against == "gpu" and GpuDevice.available() is None:
        pytest.skip(f"no GPU: {GpuDevice.unavailable_reason()}")

    def wrong(instruction: Instruction, builder: Builder) -> Value | None:
        is_sum = isinstance(instruction, Binary) and instruction.op is BinaryOp.ADD
        return builder.binary(BinaryOp.OR, instruction.lhs, instruction.rhs) if is_sum else None

    monkeypatch.setattr(bisecting, "_PATIENCE", 0.5)
    monkeypatch.setattr(strength_reduction, "RULES", (wrong,))
    passes = "fold_constants,dce,strength_reduction,cse"
    result = run("bisect", SCAN.with_suffix(".toml"), "--case", "150", "--against", against, "--passes", passes)
    assert result.exit_code == 1, result.output
    assert result.output.startswith("150: wrong after pass 3 of 4, strength_reduction: "), result.output
    assert "changed alone, the function 'main' spoils it" in result.output


def test_bisect_finds_nothing() -> None:
    job = dispatch()
    assert bisect(job, (DeadCodeElimination(),), Expectation(job.on("cpu"), {})) is None


def test_bisect_when_it_was_wrong_before() -> None:
    finding = bisect(dispatch(), (), Expectation({"data": np.zeros(4, np.int32)}, {}))
    assert finding is not None
    assert finding.position is None


@pytest.mark.parametrize("against", ["reference", "interp", "cpu"])
def test_bisect_a_case_file(against: str) -> None:
    result = run("bisect", SCAN.with_suffix(".toml"), "--against", against, "--passes", "inline,robustness,dce")
    assert result.exit_code == 0, result.output
    assert "the same answer after each of 3 passes" in result.output


def test_opt_writes_wgsl_that_is_valid() -> None:
    result = run("opt", SCAN, "--passes", "inline,mem2reg,cse,licm,dce", "--verify-each")
    assert result.exit_code == 0, result.output
    assert not [it for it in check(Source.from_text(result.stdout)) if it.is_error]


def test_opt_takes_its_own_ir(tmp_path: Path) -> None:
    core = run("opt", SCAN, "--emit", "core").stdout
    path = tmp_path / "scan.core"
    path.write_text(core, encoding="utf-8")
    assert run("opt", path, "--emit", "core").stdout == core


def test_opt_dumps() -> None:
    result = run("opt", SCAN, "--passes", "mem2reg,dce", "--dump-after", "dce")
    assert result.stderr.startswith("// after dce\n")
    assert run("opt", SCAN, "--passes", "mem2reg,dce", "--dump-each").stderr.count("// after ") == 2


def test_opt_lists_passes() -> None:
    lines = run("opt", "--list").stdout.splitlines()
    headings = [line for line in lines if line and not line.startswith(" ")]
    pipelines = [f"{name}, in order:" for name, it in CORE.pipelines.items() if it.passes]
    assert headings == [*(f"{it}:" for it in CORE.groups), "Pipelines:", *pipelines]
    assert any(line.startswith("  dce ") for line in lines)
    assert any(line.startswith("  portable ") for line in lines)
    after = lines[lines.index("portable, in order:") :]
    assert any(line.startswith("  polyfill ") for line in after)


@pytest.mark.parametrize(
    "arguments", [("--passes", "no_such_pass"), ("--dump-after", "mem2rag"), ("--passes", "dce{n=1}")]
)
def test_opt_refuses(arguments: tuple[str, ...]) -> None:
    assert run("opt", SCAN, *arguments).exit_code == 2


def test_minify_table() -> None:
    result = run("minify", SCAN, "--table")
    assert result.exit_code == 0
    assert "scan_blelloch.wgsl" in result.output


def test_the_header_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.wgsl"
    path.write_text(
        "// About all.\n\n/* More. */\n\n// About f.\nfn f() {}\n@compute @workgroup_size(1) fn main() { f(); }"
    )
    for arguments in (("opt", path), ("compile", path, "--emit", "wgsl"), ("compile", path, "--emit", "ast")):
        text = run(*arguments).stdout
        assert text.startswith("// About all.\n\n/* More. */\n\n"), text
        assert "About f" not in text


def test_nothing_but_a_header(tmp_path: Path) -> None:
    path = tmp_path / "a.wgsl"
    path.write_text("// Nothing yet.\n")
    assert run("opt", path).stdout.strip() == "// Nothing yet."


def test_fmt_check_and_write(tmp_path: Path) -> None:
    path = tmp_path / "a.wgsl"
    path.write_text("fn f(){}", encoding="utf-8")
    assert run("fmt", "--check", path).exit_code == 1
    assert run("fmt", "--write", path).exit_code == 0
    assert path.read_text(encoding="utf-8") == "fn f() {}\n"
    assert run("fmt", "--check", path).exit_code == 0
