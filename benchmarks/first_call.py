"""`python -m benchmarks.first_call`: what the first call in a new process takes, with nothing cached and with a cache.

Each row is a program that a Python process of its own runs. Programs take turns for some rounds; times are medians, of
the processor time of the process, and by the clock. Python has its own cache of bytecode in all of them, as after an
installation by pip. numba's function is that of `cmul`, compiled on its first call, and kept on disk by `cache=True`.
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
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table

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


@dataclass(frozen=True)
class Program:
    """What a process runs. `keeps`: it finds what its last run left on disk."""

    name: str
    text: str
    keeps: bool = True


def programs() -> list[Program]:
    """The rows of the table."""
    found = [
        Program("import numpy", "import numpy"),
        Program("import numpy, llvmlite.binding", "import numpy, llvmlite.binding"),
        Program("import tinct", "import tinct"),
        Program("function, nothing cached", FUNCTION, keeps=False),
        Program("function, cached", FUNCTION),
        Program("kernel, nothing cached", KERNEL, keeps=False),
        Program("kernel, cached", KERNEL),
    ]
    if find_spec("numba") is not None:
        found += [Program("numba, nothing cached", NUMBA, keeps=False), Program("numba, cached", NUMBA)]
    return found


def seconds(program: Program, folder: Path) -> tuple[float, float]:
    """Seconds of processor time, and by the clock."""
    with tempfile.TemporaryDirectory(dir=folder) as empty:
        home = folder / "kept" if program.keeps else Path(empty)
        script = home / f"first_call_{program.name.replace(', ', '_').replace(' ', '_')}.py"
        if not script.exists():  # numba keeps code for a file that did not change
            home.mkdir(exist_ok=True)
            script.write_text(program.text, encoding="utf-8")
        environment = _environment(folder, home)
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([sys.executable, script], env=environment, check=True)
        taken, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, taken


def _environment(folder: Path, cache: Path) -> Mapping[str, str]:
    given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    given |= {"PYTHONPYCACHEPREFIX": str(folder / "bytecode"), "NUMBA_CACHE_DIR": str(cache)}
    return given | {"TINCT_CACHE": "on", "TINCT_CACHE_DIR": str(cache), "TINCT_CPU_TIER": "auto"}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rounds", type=click.IntRange(1), default=15, show_default=True)
def main(*, rounds: int) -> None:
    """Time first calls in new processes."""
    rows = programs()
    samples: dict[str, list[tuple[float, float]]] = {it.name: [] for it in rows}
    with tempfile.TemporaryDirectory(prefix="tinct-first-call-") as name:
        for number in range(rounds + 1):
            for program in rows:
                found = seconds(program, Path(name))
                if number > 0:  # the first round writes bytecode and caches
                    samples[program.name].append(found)
    medians = {it.name: [statistics.median(part) * 1e3 for part in zip(*samples[it.name], strict=True)] for it in rows}
    table = Table("program", box=box.SIMPLE_HEAD, title="a new process, in ms", title_justify="left")
    for column in ("processor time", "beyond numpy", "clock"):
        table.add_column(column, justify="right")
    for name, (processor, clock) in medians.items():
        table.add_row(name, f"{processor:.0f}", f"{processor - medians['import numpy'][0]:.0f}", f"{clock:.0f}")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
