"""Interrupts where a handler of another library raises the signal again, as those of LLVM do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import ctypes, signal, sys
import tinct
from tests.cpu.test_sequence import TEXT, Range, Sequence, dispatch, run, words
from tests.interrupting import interrupted

signal.signal(signal.SIGINT, signal.default_int_handler)
shader = tinct.load(TEXT)
sequence = Sequence([dispatch(shader, "decrease", {1: Range(0, 0, 8)}, written=1)], sizes=[8])
run(sequence, words(1, 0))
ctypes.CDLL(sys.argv[1]).install()
for _ in range(3):
    memory = words(0, 0)
    with interrupted(lambda: memory[1]):
        run(sequence, memory, executions=1 << 70)
print("ended three times")
"""


def test_an_interrupt_that_another_handler_raises_again(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    library = tmp_path / "rethrow.so"
    source = Path(__file__).with_name("rethrow.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, library],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout == "ended three times\n", (done.returncode, done.stderr[-2000:])
