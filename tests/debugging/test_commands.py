"""`tinct run --trace`, `tinct run --who-wrote` and `tinct debug` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tinct.cli import tinct

from .shaders import COLLATZ


@pytest.fixture
def path(tmp_path: Path) -> str:
    made = tmp_path / "collatz.wgsl"
    made.write_text(COLLATZ)
    return str(made)


def test_json_has_rows_and_writes(path: str) -> None:
    run = ["run", path, "-b", "out=zeros:8", "--threads", "8", "--format", "json"]
    trace = json.loads(CliRunner().invoke(tinct, [*run, "--trace", "1,0,0"]).output)
    assert trace["rows"][-1]["values"] == [{"kind": "write", "name": "out[1]", "text": "16", "before": ""}]
    writes = json.loads(CliRunner().invoke(tinct, [*run, "--who-wrote", "out[3]"]).output)
    assert [writes["count"], writes["writes"][0]["invocation"], writes["writes"][0]["after"]] == [1, [3, 0, 0], "19"]


def test_commands_come_from_options_and_from_standard_input(path: str) -> None:
    command = ["debug", path, "-b", "out=zeros:4", "--threads", "4", "-x", "break 12", "-x", "c"]
    result = CliRunner().invoke(tinct, command, input="print steps\nquit\nprint 1\n")
    assert result.output.splitlines()[-1] == "steps = 8"
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--trace", "1", "--sanitize"], "--sanitize and --trace cannot be given together"),
        (["--trace", "1", "--device", "cpu"], "--trace runs on the interpreter, not on --device cpu"),
        (["--who-wrote", "out", "--contract"], "--who-wrote runs on the interpreter, which has no --contract"),
        (["--trace", "x"], "--trace takes numbers"),
        (["--trace", "1,2,3,4"], "--trace takes an invocation's global id"),
        (["--trace", "4"], "there is no invocation (4, 0, 0)"),
        (["--turns", "1,1"], "--turns is for --trace"),
        (["--trace", "1", "--turns", "1"], "--turns takes two numbers"),
    ],
)
def test_options_that_do_not_fit(path: str, options: list[str], words: str) -> None:
    result = CliRunner().invoke(tinct, ["run", path, "-b", "out=zeros:4", "--threads", "4", *options])
    assert result.exit_code == 2
    assert words in result.output


def test_files_that_cannot_be_debugged(tmp_path: Path) -> None:
    assert "Missing argument 'FILE'" in CliRunner().invoke(tinct, ["debug"], standalone_mode=True).output
    other = tmp_path / "f.hir"
    other.write_text("fn f() -> i32")
    assert "only WGSL can be debugged" in CliRunner().invoke(tinct, ["debug", str(other)]).output
