"""Colours on a terminal, and where they are asked for."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import SAXPY, Tinct
from .test_process import COMMAND, environment

Write = Callable[[str | bytes], Path]

BAD = "fn f() { let a = positon; }"
RED = "\x1b[31m\x1b[1merror[unresolved-identifier]\x1b[0m"


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("command", ["check", "compile", "reflect", "minify", "fmt"])
def test_colour_is_asked_for(run_tinct: Tinct, wgsl: Write, command: str, place: str) -> None:
    option = ("--color", "always")
    file = wgsl("fn f() { let a = ; }" if command == "fmt" else BAD)
    result = run_tinct(*option, command, file) if place == "before" else run_tinct(command, file, *option)
    assert result.exit_code == 1
    assert result.stderr.startswith("\x1b[31m\x1b[1merror[")


def test_a_diagnostic_in_colour(run_tinct: Tinct, wgsl: Write) -> None:
    plain, coloured = (run_tinct("--color", choice, "check", wgsl(BAD)).stderr for choice in ("never", "always"))
    assert RED in coloured
    assert "\x1b[31m\x1b[1m^^^^^^^\x1b[0m" in coloured
    assert "\x1b" not in plain
    for code in (0, 1, 31, 34):
        coloured = coloured.replace(f"\x1b[{code}m", "")
    assert coloured == plain


@pytest.mark.parametrize(
    ("variables", "arguments", "is_coloured"),
    [
        ({}, (), False),
        ({"FORCE_COLOR": "1"}, (), True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, (), False),
        ({"FORCE_COLOR": "1"}, ("--color", "never"), False),
        ({"NO_COLOR": "1"}, ("--color", "always"), True),
        ({"FORCE_COLOR": ""}, (), False),
    ],
)
def test_the_environment_is_heeded(
    run_tinct: Tinct,
    wgsl: Write,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    arguments: tuple[str, ...],
    *,
    is_coloured: bool,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b" in run_tinct(*arguments, "check", wgsl(BAD)).stderr) == is_coloured


def test_a_colour_that_is_none(run_tinct: Tinct) -> None:
    result = run_tinct("--color", "red", "check", SAXPY)
    assert result.exit_code == 2
    assert "'red' is not one of 'auto', 'always', 'never'" in result.output


@pytest.mark.parametrize(
    ("variables", "is_coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_a_terminal_has_colours(wgsl: Write, variables: dict[str, str], *, is_coloured: bool) -> None:
    ours, terminal = pty.openpty()
    kept = {name: value for name, value in environment().items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    try:
        arguments = [*COMMAND, "check", str(wgsl(BAD))]
        settings = {**kept, "TERM": "xterm", **variables}
        result = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=terminal, env=settings, check=False)
        shown = os.read(ours, 1 << 16).decode()
    finally:
        os.close(ours)
        os.close(terminal)
    assert result.returncode == 1
    assert (RED in shown) == is_coloured
    assert ("\x1b" in shown) == is_coloured
    assert b"\x1b" not in result.stdout
