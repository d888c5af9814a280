"""Standard streams that are closed, full, or without a reader: a message and an exit code, and never a traceback."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .conftest import SAXPY
from .test_process import COMMAND, environment

RUN = ("run", str(SAXPY), "-b", "x=arange:8", "-b", "y=zeros:8", "-b", 'params={"a": 2, "n": 8}', "--threads", "8")
PRINTING = {
    "check": ("check", str(SAXPY)),
    "reflect": ("reflect", str(SAXPY)),
    "compile": ("compile", str(SAXPY)),
    "run": (*RUN, "--device", "interp"),
    "compare": ("compare", str(SAXPY.parent), "--device", "interp"),
    "help": ("--help",),
}


def run_in_shell(arguments: tuple[str, ...], redirection: str) -> subprocess.CompletedProcess[bytes]:
    command = ["sh", "-c", f'"$@" {redirection}', "sh", *COMMAND, *arguments]
    return subprocess.run(command, capture_output=True, check=False, env=environment(), timeout=120)


@pytest.mark.parametrize("name", PRINTING)
@pytest.mark.parametrize(
    ("redirection", "reason"), [(">&-", b"Bad file descriptor"), (">/dev/full", b"No space left on device")]
)
def test_output_that_cannot_be_written(name: str, redirection: str, reason: bytes) -> None:
    result = run_in_shell(PRINTING[name], redirection)
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1] == b"error: standard output: " + reason
    assert b"Traceback" not in result.stderr


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "<&-"])
def test_streams_that_are_not_needed(redirection: str) -> None:
    result = run_in_shell(PRINTING["run"], redirection)
    assert (result.returncode, result.stdout) == (0, b"y: float32 (8,)\n[ 0.  2.  4.  6.  8. 10. 12. 14.]\n")


def test_closed_streams_do_not_become_files(tmp_path: Path) -> None:
    file = tmp_path / "out.wgsl"
    result = run_in_shell(("compile", str(SAXPY), "--emit", "ast", "-o", str(file)), "<&- >&- 2>&-")
    assert result.returncode == 0
    assert run_in_shell(("check", str(file)), "").returncode == 0


def test_input_that_is_closed() -> None:
    result = run_in_shell(("check", "-"), "<&-")
    assert (result.returncode, result.stderr) == (2, b"error: standard input: Bad file descriptor\n")


def test_nothing_can_be_written_anywhere() -> None:
    assert run_in_shell(PRINTING["reflect"], ">&- 2>&-").returncode == 2
