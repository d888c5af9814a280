"""The command line as a process: exit codes that only the system sees."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .conftest import SAXPY

COMMAND = [sys.executable, "-c", "from tinct.cli import main; main()"]
ENDLESS = """
@group(0) @binding(0) var<storage, read_write> y: array<u32, 4>;
@compute @workgroup_size(1) fn main() {
    loop {
        y[0] += 1;
        if y[1] == 5 { break; }
    }
}
"""


def environment() -> dict[str, str]:
    source = str(Path(__file__).parents[2] / "src")
    return {**os.environ, "PYTHONPATH": source, "PYTHONUNBUFFERED": "1"}


def test_a_reader_that_goes_away() -> None:
    with subprocess.Popen(
        [*COMMAND, "reflect", str(SAXPY)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait(60) == 141
        assert errors == b""


@pytest.mark.parametrize("device", ["cpu", "interp"])
def test_an_interrupt_ends_even_machine_code(device: str, tmp_path: Path) -> None:
    shader = tmp_path / "endless.wgsl"
    shader.write_text(ENDLESS)
    arguments = ["run", str(shader), "-b", "y=zeros", "--workgroups", "1", "--device", device]
    with subprocess.Popen([*COMMAND, *arguments], stderr=subprocess.PIPE, env=environment()) as process:
        try:
            time.sleep(3)
            assert process.poll() is None, "it should loop for ever"
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 130
            assert process.stderr is not None
            assert process.stderr.read().strip() == b"interrupted"
        finally:
            process.kill()


def test_output_that_cannot_be_encoded() -> None:
    result = subprocess.run(
        [*COMMAND, "run", "--help"],
        capture_output=True,
        check=False,
        env={**environment(), "PYTHONIOENCODING": "ascii"},
    )
    assert result.returncode == 0
    assert b"NAME=arange:1024" in result.stdout
