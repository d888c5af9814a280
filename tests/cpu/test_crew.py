"""The crew of workers, which is plain C: stopped at random moments, with and without sanitizers."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
POOL = HERE.parents[1] / "backend" / "cpu" / "pool"
SOURCES = [HERE / "crew_stress.c", POOL / "crew.c", POOL / "kinds.c", POOL / "stop.c"]
SECONDS = 2
BUILDS = {
    "fast": ["-O3"],
    "threads": ["-O1", "-g", "-fsanitize=thread", "-Wno-tsan", "-Wno-unknown-warning-option"],
    "memory": ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
}


@pytest.mark.parametrize("build", BUILDS)
def test_jobs_that_are_stopped_at_random_moments(build: str, tmp_path: Path) -> None:
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no C compiler")
    program = tmp_path / "stress"
    command = [compiler, "-std=c11", "-pthread", "-Wall", "-Wextra", "-Werror", *BUILDS[build], "-o", str(program)]
    made = subprocess.run([*command, *map(str, SOURCES)], capture_output=True, text=True, check=False)
    if made.returncode != 0 and "fsanitize" in " ".join(command) and "cannot find" in made.stderr:
        pytest.skip("the compiler has no such sanitizer")
    assert made.returncode == 0, made.stderr
    # A thread that left a handler by longjmp may seem to be in the handler still.
    options = {**os.environ, "TSAN_OPTIONS": "report_signal_unsafe=0"}
    result = subprocess.run(
        [str(program), str(SECONDS)], capture_output=True, text=True, check=False, timeout=120, env=options
    )
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
