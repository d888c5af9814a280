"""`python -m benchmarks.first_call`: what the first call in a new process takes, with nothing cached and with a cache.

Each row is a program that a Python process of its own runs. Programs take turns for some rounds; times are medians: of
the processor time until the program has its result, and of the whole process, which ends by forgetting all that it
imported; and by the clock. Python has its own cache of bytecode in all of them, as after an installation by pip. With
nothing cached, the interpreter runs the call, unless machine code is asked for by `TINCT_CPU_TIER`. numba's function is
that of `cmul`, compiled on its first call, and kept on disk by `cache=True`.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from importlib.util import find_spec
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table

from tinct.first_calls import INTERPRETING_PROCESSES

WGSL = """
fn cmul(a: vec2f, b: vec2f) -> vec2f { return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { out[id.x] += 1; }
"""
LOAD = f"import numpy as np, tinct\nshader = tinct.load({WGSL!r})\n"
FUNCTION = LOAD + "ones = np.ones((8, 2), np.float32)\nshader.functions['cmul'](ones, ones)"
KERNEL = LOAD + "shader['main'].run({'out': np.ones(64, np.float32)}, threads=64)"
NUMBA = """
import numba, numpy as np
@numba.njit(cache=True)
def cmul(a, b, out):
    for i in range(a.shape[0]):
        out[i, 0] = a[i, 0] * b[i, 0] - a[i, 1] * b[i, 1]
        out[i, 1] = a[i, 0] * b[i, 1] + a[i, 1] * b[i, 0]
ones = np.ones((8, 2), np.float32)
cmul(ones, ones, np.empty_like(ones))
"""


_ROUNDS_BEFORE = INTERPRETING_PROCESSES + 1
"""Rounds that write bytecode and caches: the first processes that run a kernel interpret it, the next one compiles."""


@dataclass(frozen=True)
class Program:
    """What a process runs. `keeps`: it finds what its last run left on disk. `tier` is TINCT_CPU_TIER."""

    name: str
    text: str
    keeps: bool = True
    tier: str = "auto"


@dataclass(frozen=True)
class Sample:
    """Seconds of processor time until the result is there and until the process has ended, and by the clock."""

    result: float
    processor: float
    clock: float


def programs() -> list[Program]:
    """The rows of the table."""
    found = [
        Program("import numpy", "import numpy"),
        Program("import numpy, llvmlite.binding", "import numpy, llvmlite.binding"),
        Program("import tinct", "import tinct"),
        Program("function, nothing cached", FUNCTION, keeps=False),
        Program("function, machine code, nothing cached", FUNCTION, keeps=False, tier="baseline"),
        Program("function, cached", FUNCTION),
        Program("kernel, nothing cached", KERNEL, keeps=False),
        Program("kernel, machine code, nothing cached", KERNEL, keeps=False, tier="baseline"),
        Program("kernel, cached", KERNEL),
    ]
    if find_spec("numba") is not None:
        found += [Program("numba, nothing cached", NUMBA, keeps=False), Program("numba, cached", NUMBA)]
    return found


def sample(program: Program, folder: Path) -> Sample:
    """One run."""
    with tempfile.TemporaryDirectory(dir=folder) as empty:
        home = folder / "kept" if program.keeps else Path(empty)
        script = home / f"first_call_{program.name.replace(', ', '_').replace(' ', '_')}.py"
        if not script.exists():  # numba keeps code for a file that did not change
            home.mkdir(exist_ok=True)
            script.write_text(f"{program.text}\nimport time\nprint(time.process_time())", encoding="utf-8")
        environment = _environment(folder, home, program.tier)
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run([sys.executable, script], env=environment, check=True, stdout=subprocess.PIPE)
        taken, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Sample(float(done.stdout), processor, taken)


def _environment(folder: Path, cache: Path, tier: str) -> Mapping[str, str]:
    given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    given |= {"PYTHONPYCACHEPREFIX": str(folder / "bytecode"), "NUMBA_CACHE_DIR": str(cache)}
    given |= {"OPENBLAS_NUM_THREADS": "1"}  # numpy's threads would spin for some of the time, and be counted
    return given | {"TINCT_CACHE": "on", "TINCT_CACHE_DIR": str(cache), "TINCT_CPU_TIER": tier}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rounds", type=click.IntRange(1), default=15, show_default=True)
def main(*, rounds: int) -> None:
    """Time first calls in new processes."""
    rows = programs()
    samples: dict[str, list[Sample]] = {it.name: [] for it in rows}
    with tempfile.TemporaryDirectory(prefix="tinct-first-call-") as name:
        for number in range(rounds + _ROUNDS_BEFORE):
            for program in rows:
                found = sample(program, Path(name))
                if number >= _ROUNDS_BEFORE:
                    samples[program.name].append(found)
    medians = {name: _median(found) for name, found in samples.items()}
    table = Table("program", box=box.SIMPLE_HEAD, title="a new process, in ms", title_justify="left")
    for column in ("until the result", "beyond numpy", "until the end", "beyond numpy", "clock"):
        table.add_column(column, justify="right")
    base = medians["import numpy"]
    for name, it in medians.items():
        values = (it.result, it.result - base.result, it.processor, it.processor - base.processor, it.clock)
        table.add_row(name, *(f"{1e3 * value:.0f}" for value in values))
    Console(width=110).print(table)


def _median(found: list[Sample]) -> Sample:
    parts = (statistics.median(part) for part in zip(*map(astuple, found), strict=True))
    return Sample(*parts)


if __name__ == "__main__":
    main()
