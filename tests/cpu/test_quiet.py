"""Compiling for the CPU writes nothing to the standard error stream, where LLVM puts its own warnings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tinct.backend.cpu.quiet import without_unroll_warnings

_SHADERS = Path(__file__).parents[2] / "shaders"
_COMPILE = """
import sys
import tinct

for path in sys.argv[1:]:
    shader = tinct.load(path)
    for name in shader.entry_points:
        assert shader.compilation(name, {}).cpu
"""


def _stderr(paths: list[Path]) -> str:
    command = [sys.executable, "-c", _COMPILE, *map(str, paths)]
    environment = {**os.environ, "TINCT_CACHE": "off"}
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, timeout=300)
    return result.stderr


@pytest.mark.parametrize("cpu_target", ["native", "x86-64-v2", "x86-64-v3", "x86-64-v4"], indirect=True)
@pytest.mark.usefixtures("cpu_target")
def test_all_shaders() -> None:
    """Among them is one, `life`, whose loop skips a turn, which LLVM does not unroll."""
    assert _stderr(sorted(_SHADERS.rglob("*.wgsl"))) == ""


def test_only_warnings_about_unrolling_are_dropped(capfd: pytest.CaptureFixture[str]) -> None:
    with without_unroll_warnings():
        os.write(2, b"one\n<unknown>:0:0: loop not unrolled: the optimizer was unable\ntwo\n")
    os.write(2, b"three\n")
    assert capfd.readouterr().err == "one\ntwo\nthree\n"
