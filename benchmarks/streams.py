"""`python -m benchmarks.streams`: the throughput of a stream of three stages on the CPU.

The CPU seconds of an item are those of the process for a plain loop of `Graph.run`, all threads together. If all
processors were busy with items all the time, a stream would do as many items a second as there are processors, divided
by these seconds; the share of that is shown, and how many CPU seconds an item takes in the stream. Rounds of the loop
and of the stream are interleaved. At the end, many small items show how memory grows.
"""

from __future__ import annotations

import json
import resource
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
from rich.console import Console

import tinct
from tinct.backend.cpu.threads import available_processors
from tinct.graphs import zeros

from . import machine

SHADER: Final = tinct.load("""
@group(0) @binding(0) var<storage, read> src: array<f32>;
@group(0) @binding(1) var<storage, read_write> dst: array<f32>;
override ROUNDS = 64;
@compute @workgroup_size(256)
fn work(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&src) { return; }
    var x = src[id.x];
    for (var i = 0; i < ROUNDS; i++) { x = fract(x * 1.618 + 0.1); }
    dst[id.x] = x;
}
""")


@tinct.graph
def stages(frame):
    for _ in range(3):
        frame = SHADER["work"]({"src": frame, "dst": zeros(frame.length)}, threads=frame.length)["dst"]
    return {"out": frame}


def streams(rounds: int, items: int, elements: int, many: int) -> dict[str, Any]:
    """Seconds and shares of each round, and the bytes by which memory grows over `many` small items."""
    frame = np.random.default_rng(1).random(elements, dtype=np.float32)
    expected = stages.run({"frame": frame})["out"]
    shares: list[float] = []
    seconds: dict[str, list[float]] = {"CPU seconds an item": [], "seconds an item in the stream": []}
    seconds["CPU seconds an item in the stream"] = []
    for number in range(rounds + 1):
        start = time.process_time()
        for _ in range(items):
            stages.run({"frame": frame})
        busy = (time.process_time() - start) / items
        begin, start = time.perf_counter(), time.process_time()
        for outputs in stages.map(frame for _ in range(items)):
            last = outputs["out"]
        taken = (time.perf_counter() - begin) / items
        np.testing.assert_array_equal(last, expected)
        if number:  # the first round compiles
            seconds["CPU seconds an item"].append(busy)
            seconds["seconds an item in the stream"].append(taken)
            seconds["CPU seconds an item in the stream"].append((time.process_time() - start) / items)
            shares.append(busy / available_processors() / taken)
    return {"seconds": seconds, "share": shares, "growth": growth(many)}


def growth(many: int) -> dict[str, float]:
    """The peak of memory in kilobytes after a tenth of the items, and after all."""
    small, peaks = np.zeros(64, np.float32), []

    def frames() -> Iterator[np.ndarray]:
        for number in range(many):
            if number == many // 10:
                peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
            yield small

    for _ in stages.map(frames()):
        pass
    return {"after a tenth": peaks[0], "after all": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
@click.option("--items", type=click.IntRange(1), default=24, show_default=True, help="Items of a round.")
@click.option("--elements", type=click.IntRange(1), default=1_000_000, show_default=True, help="Numbers of an item.")
@click.option("--many", type=click.IntRange(10), default=100_000, show_default=True, help="Small items, for memory.")
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write all numbers there.")
def main(rounds: int, items: int, elements: int, many: int, json_path: Path | None) -> None:
    """Measure a stream of three stages."""
    console, about = Console(), machine.describe()
    console.print(f"{about['processor']}, {about['threads']} threads", highlight=False)
    found = streams(rounds, items, elements, many)
    for name, values in found["seconds"].items():
        console.print(f"{name}: {statistics.median(values):.4f}", highlight=False)
    share = statistics.median(found["share"])
    console.print(f"share of processors ÷ CPU seconds an item: {share:.2f}", highlight=False)
    console.print(f"peak memory, kB: {found['growth']}, {many:,} items", highlight=False)
    if json_path is not None:
        json_path.write_text(json.dumps({"machine": about, **found}, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
