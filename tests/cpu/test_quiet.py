"""Compiling for the CPU writes nothing to the standard error stream, where LLVM puts its own warnings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tinct.backend.cpu.quiet import without_unroll_warnings

_SHADERS = sorted((Path(__file__).parents[2] / "shaders").rglob("*.wgsl"))
_WARNED_OF = [path for path in _SHADERS if path.stem == "life"]
"""Its loop skips a turn, which LLVM does not unroll."""
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


def test_all_shaders() -> None:
    assert _stderr(_SHADERS) == ""


@pytest.mark.parametrize(
    ("cpu_target", "number"), [("x86-64-v2", 0), ("x86-64-v3", 1), ("x86-64-v4", 2)], indirect=["cpu_target"]
)
@pytest.mark.usefixtures("cpu_target")
def test_a_third_of_the_shaders_for_each_level(number: int) -> None:
    assert _stderr([*_WARNED_OF, *_SHADERS[number::3]]) == ""


def test_only_warnings_about_unrolling_are_dropped(capfd: pytest.CaptureFixture[str]) -> None:
    with without_unroll_warnings():
        os.write(2, b"one\n<unknown>:0:0: loop not unrolled: the optimizer was unable\ntwo\n")
    os.write(2, b"three\n")
    assert capfd.readouterr().err == "one\ntwo\nthree\n"
