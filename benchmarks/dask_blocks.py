"""`python -m benchmarks.dask_blocks`: a kernel over the blocks of a Dask array, numpy over them, and numpy at once.

All compute the same element-wise function of f32 numbers, which takes numpy several arrays in between. The rounds are
interleaved; a ratio above 1 says that the kernel is faster.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import dask.array as da
import numpy as np
import numpy.typing as npt
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

import tinct
import tinct.dask

from . import machine

WGSL = """
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(256)
fn curve(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let i = id.y * groups.x * 256u + id.x;
    if i < arrayLength(&x) { y[i] = sqrt(x[i] * x[i] + 1.0) * 0.5 + x[i] * 0.25; }
}
"""
WIDTH = 65_535

Array = npt.NDArray[np.float32]


def with_numpy(x: Any) -> Any:
    """The same function of arrays."""
    return np.sqrt(x * x + np.float32(1)) * np.float32(0.5) + x * np.float32(0.25)


def workgroups(block: tinct.dask.Block) -> tuple[int, int]:
    """Workgroups for the elements of a block, in rows."""
    needed = -(-int(np.prod(block.shape)) // 256)
    return min(needed, WIDTH), -(-needed // WIDTH)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--extent", default=16_384, show_default=True, help="Rows and columns of the array.")
@click.option("--block", default=2_048, show_default=True, help="Rows and columns of a block.")
@click.option("--rounds", default=5, show_default=True)
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write all numbers there.")
def main(extent: int, block: int, rounds: int, json_path: Path | None) -> None:
    """Measure an element-wise kernel over a square array."""
    console, about = Console(), machine.describe()
    console.print(f"{about['processor']}, {about['threads']} threads", highlight=False)
    whole: Array = np.random.default_rng(1).random((extent, extent), dtype=np.float32)
    blocks = da.from_array(whole, chunks=block, name=False)
    kernel = tinct.load(WGSL)["curve"]
    mapped = tinct.dask.map_blocks(kernel, {"x": blocks, "y": None}, workgroups=workgroups)
    ways: dict[str, Callable[[], Array]] = {
        "tinct.dask": lambda: _stored(mapped, whole),
        "numpy in Dask": lambda: _stored(blocks.map_blocks(with_numpy, dtype=np.float32), whole),
        "numpy": lambda: with_numpy(whole),
    }
    expected = with_numpy(whole[:block])
    np.testing.assert_allclose(ways["tinct.dask"]()[:block], expected, rtol=1e-6)
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in track(range(rounds), "measuring", console=console):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            seconds[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(them) for name, them in seconds.items()}
    table = Table("way", "median s", "over tinct.dask", box=box.SIMPLE)
    for name, median in medians.items():
        table.add_row(name, f"{median:.3f}", f"{median / medians['tinct.dask']:.2f}")
    console.print(table)
    if json_path is not None:
        json_path.write_text(json.dumps({"machine": about, "extent": extent, "seconds": seconds}, indent=2), "utf-8")


def _stored(array: Any, like: Array) -> Array:
    """The result in one array, as numpy has it."""
    target = np.empty_like(like)
    da.store(array, target, lock=False)
    return target


if __name__ == "__main__":
    main()
