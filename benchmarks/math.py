"""`python -m benchmarks.math [FUNCTION…]`: nanoseconds an element of each float function, on one thread.

Beside ours stand NumPy on f32, and C loops that gcc vectorises with glibc's libmvec (calls that have a vector variant,
declared as such: no -ffast-math) or leaves to scalar calls. All work on the same arrays, which fit the cache.
"""

from __future__ import annotations

import ctypes
import json
import math
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

import tinct

Floats = npt.NDArray[np.float32]
COUNT = 1 << 14
"""Elements of an array, which then fits the second-level cache."""
REPEATS = 64
"""Passes over the array in one dispatch, which make the start of the dispatch negligible."""
_WGSL = """
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> y: array<f32>;
@group(0) @binding(2) var<storage, read_write> r: array<f32>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u) {{
    let i = id.x;
    {used}
    if (i < arrayLength(&r)) {{ r[i] = {call}; }}
}}
"""
_C = """
#include <stddef.h>
__attribute__((simd("notinbranch"))) float {function}({parameters});
void vectors(const float *restrict x, const float *restrict y, float *restrict r, size_t n)
{{
    for (size_t i = 0; i < n; i++) r[i] = {call};
}}
"""
_C_FLAGS = (
    "-O3",
    "-march=native",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-mprefer-vector-width=512",
)
RANGES: dict[str, tuple[float, float]] = {
    "exp": (-10, 10), "exp2": (-10, 10), "log": (0.01, 100), "log2": (0.01, 100), "sin": (-10, 10), "cos": (-10, 10),
    "tan": (-10, 10), "asin": (-1, 1), "acos": (-1, 1), "atan": (-10, 10), "sinh": (-10, 10), "cosh": (-10, 10),
    "tanh": (-3, 3), "asinh": (-10, 10), "acosh": (1, 10), "atanh": (-0.99, 0.99), "sqrt": (0.01, 100),
    "inverseSqrt": (0.01, 100), "degrees": (-10, 10), "radians": (-10, 10), "pow": (0.01, 10), "atan2": (-10, 10),
    "ldexp": (-10, 10),
}  # fmt: skip
_NUMPY: dict[str, Callable[..., Floats]] = {
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "pow": np.power, "atan2": np.arctan2,
}  # fmt: skip
_TWO = ("pow", "atan2")
_NOT_IN_C = ("inverseSqrt", "degrees", "radians", "ldexp")


def arguments(name: str) -> tuple[Floats, Floats]:
    """Random numbers from the function's range."""
    source = np.random.default_rng(3)
    x, y = (source.uniform(*RANGES[name], COUNT).astype(np.float32) for _ in range(2))
    return x, y


def ours(name: str) -> Callable[[], object]:
    """A dispatch of our kernel on one thread."""
    call = f"{name}(x[i], y[i])" if name in _TWO else f"{name}(x[i])"
    call = "ldexp(x[i], i32(y[i]))" if name == "ldexp" else call
    used = "" if "y[i]" in call else "_ = arrayLength(&y);"
    kernel = tinct.load(_WGSL.format(call=call, used=used)).compilation("main", {}).cpu
    buffers = [it.view(np.uint8) for it in (*arguments(name), np.zeros(COUNT, np.float32))]
    return lambda: kernel.run(buffers, (COUNT // 256, REPEATS, 1), workers=1)


def of_numpy(name: str) -> Callable[[], object] | None:
    """NumPy's function, writing into an existing array."""
    function = _NUMPY.get(name) or getattr(np, name, None)
    if function is None or name == "ldexp":
        return None
    x, y = arguments(name)
    given = (x, y) if name in _TWO else (x,)
    result = np.zeros_like(x)
    return lambda: function(*given, result)


def of_c(name: str, folder: Path) -> Callable[[], object] | None:
    """A loop in C; None where C lacks the function or there is no gcc."""
    if name in _NOT_IN_C or shutil.which("gcc") is None:
        return None
    two = name in _TWO
    function = f"{name}f"
    call = f"{function}(x[i], y[i])" if two else f"{function}(x[i])"
    source, library = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(_C.format(function=function, parameters="float, float" if two else "float", call=call))
    subprocess.run(["gcc", *_C_FLAGS, "-shared", "-fPIC", source, "-o", library, "-lmvec", "-lm"], check=True)
    x, y = arguments(name)
    result = np.zeros_like(x)
    addresses = [ctypes.c_void_p(it.ctypes.data) for it in (x, y, result)]
    loop = ctypes.CDLL(str(library)).vectors
    return lambda: (loop(*addresses, ctypes.c_size_t(COUNT)), x, y, result)


def fastest(run: Callable[[], object] | None, rounds: int, repeats: int = 1) -> float:
    """The least thread time of a call, in nanoseconds an element; NaN for nothing to run."""
    if run is None:
        return math.nan
    times: list[int] = []
    for _ in range(rounds):
        start = time.thread_time_ns()
        run()
        times.append(time.thread_time_ns() - start)
    return min(times) / COUNT / repeats


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1)
@click.option("--rounds", default=60, show_default=True, help="Calls, of which the fastest counts.")
@click.option("--json", "path", type=click.Path(dir_okay=False, path_type=Path), help="Write all numbers there.")
@click.option("--before", type=click.Path(exists=True, path_type=Path), help="Such a file, to compare ours with.")
def main(names: tuple[str, ...], rounds: int, path: Path | None, before: Path | None) -> None:
    """Measure the functions NAMES, or all."""
    earlier: dict[str, dict[str, float]] = json.loads(before.read_text()) if before else {}
    table = Table("function", "tinct ns", "NumPy ns", "C ns", "NumPy / tinct", "C / tinct", "before / tinct")
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names or RANGES:
            runs = {"tinct": ours(name), "numpy": of_numpy(name), "c": of_c(name, Path(folder))}
            found[name] = {peer: fastest(run, rounds, REPEATS if peer == "tinct" else 1) for peer, run in runs.items()}
            own, *others = found[name].values()
            others.append(earlier.get(name, {}).get("tinct", math.nan))
            shown = [own, *others[:2], *(it / own for it in others)]
            table.add_row(name, *("" if math.isnan(it) else f"{it:.2f}" for it in shown))
    Console().print(table)
    if path is not None:
        path.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
