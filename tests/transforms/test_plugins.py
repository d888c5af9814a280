"""Passes of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

import tinct
from tinct.cli import tinct as main
from tinct.passes import BinaryOp, Module, instructions_of, nodes, optimised, passes_in, with_passes
from tinct.transforms.passes import BrokenPassError

WGSL = """
@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(1) fn main() { x[0] = x[1] * 2; }
"""
PLUGIN = '''
from dataclasses import dataclass
from tinct.passes import BinaryOp, Module, instructions_of, nodes

@dataclass(frozen=True)
class MultiplyBy:
    """Multiplies by another number of times."""
    times: int = 1
    name = "add_times"
    def run(self, module: Module) -> bool:
        found = [it for it in instructions_of(module) if isinstance(it, nodes.Binary) and it.op is BinaryOp.MULTIPLY]
        for it in found:
            it.op = BinaryOp.ADD if self.times == 1 else BinaryOp.SUBTRACT
        return bool(found)
'''


@dataclass(frozen=True)
class Breaks:
    """Leaves a module that is not valid."""

    name = "breaks"

    def run(self, module: Module) -> bool:
        for it in instructions_of(module):
            if isinstance(it, nodes.Binary):
                it.op = BinaryOp.EQUAL
        return True


def test_a_plugin_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "plugin.py").write_text(PLUGIN)
    (tmp_path / "k.wgsl").write_text(WGSL)
    given = ["opt", str(tmp_path / "k.wgsl"), "--plugin", str(tmp_path / "plugin.py"), "--passes"]
    done = CliRunner().invoke(main, [*given, "add_times,dce"])
    assert "x[1i] + 2u" in done.stdout or "x[1] + 2" in done.stdout, done.output
    done = CliRunner().invoke(main, [*given, "add_times{times=2}", "--verify-each", "--dump-after", "add_times"])
    assert "// after add_times" in done.stderr
    assert "- 2" in done.stdout
    done = CliRunner().invoke(main, [*given, "ad_times"])
    assert "no pass on core is named 'ad_times'; did you mean 'add_times'" in done.stderr
    assert done.exit_code


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / 0", "cannot be run: ZeroDivisionError: division by zero"),
        ("import nothing_of_that_name", "cannot be run: ModuleNotFoundError"),
        ("x = (", "cannot be run: SyntaxError"),
        ("x = 1", "has no pass: a frozen dataclass with a name"),
    ],
)
def test_files_without_passes(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "plugin.py").write_text(text)
    with pytest.raises(tinct.InputError, match=message):
        passes_in(tmp_path / "plugin.py")


def test_names_that_are_taken_and_passes_that_break() -> None:
    @dataclass(frozen=True)
    class Taken:
        name = "dce"

        def run(self, module: Module) -> bool:
            return False

    with pytest.raises(tinct.InputError, match="there is a pass or a pipeline named 'dce' already"):
        with_passes([Taken])
    with pytest.raises(BrokenPassError, match="the pass breaks breaks the module"):
        optimised(WGSL, "breaks", plugins=[Breaks])
    with pytest.raises(tinct.ShaderError):
        optimised("fn", "dce")


def test_core_ir_runs(tmp_path: Path) -> None:
    (tmp_path / "k.wgsl").write_text(WGSL)
    text = CliRunner().invoke(main, ["opt", str(tmp_path / "k.wgsl"), "--passes", "mem2reg", "--emit", "core"]).stdout
    (tmp_path / "k.core").write_text(text)
    done = CliRunner().invoke(main, ["run", str(tmp_path / "k.core"), "-b", "x=[1, 21]", "--workgroups", "1"])
    assert done.stdout.splitlines()[-1] == "[42 21]", done.output
    (tmp_path / "wrong.txt").write_text("nonsense")
    done = CliRunner().invoke(main, ["run", str(tmp_path / "wrong.txt"), "--from", "core", "--workgroups", "1"])
    assert done.exit_code == 1
    assert "wrong.txt:1:1" in done.stderr
