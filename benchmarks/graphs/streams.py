"""The throughput of a stream of three stages on the CPU.

The CPU seconds of an item are those of the process for a plain loop of `Graph.run`, all threads together. If all
processors were busy with items all the time, a stream would do as many items a second as there are processors, divided
by these seconds; the share of that is shown. It is a product: the CPU seconds of an item in the loop relative to the
stream, and the share of time in which the stream keeps the processors busy, which is less where other programs run.
Frames are read-only, as are those of a file in memory, so that the stream does not copy them; the share with frames
that are copied is shown, too. Rounds of the loop and of the streams are interleaved. At the end, many small items show
how memory grows.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

import tinct
from tinct.backend.cpu.threads import available_processors
from tinct.graphs.operands import Value, zeros

from .measuring import Bar, Comparison, Effort, Part

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
def stages(frame: Value) -> dict[str, Value]:
    for _ in range(3):
        frame = SHADER["work"]({"src": frame, "dst": zeros(frame.length)}, threads=frame.length)["dst"]
    return {"out": frame}


def streams(rounds: int, items: int, elements: int, many: int) -> dict[str, Any]:
    """Seconds and shares of each round, and the bytes by which memory grows over `many` small items."""
    frame = np.random.default_rng(1).random(elements, dtype=np.float32)
    fixed = frame.copy()
    fixed.flags.writeable = False
    expected = stages.run({"frame": frame})["out"]
    shares: list[float] = []
    copied_shares: list[float] = []
    seconds: dict[str, list[float]] = {"CPU seconds an item": [], "seconds an item in the stream": []}
    seconds["CPU seconds an item in the stream"] = []
    for number in range(rounds + 1):
        start = time.process_time()
        for _ in range(items):
            stages.run({"frame": frame})
        busy = (time.process_time() - start) / items
        copied, _ = streamed(frame, items, expected)
        taken, busy_in_stream = streamed(fixed, items, expected)
        if number:  # the first round compiles
            seconds["CPU seconds an item"].append(busy)
            seconds["seconds an item in the stream"].append(taken)
            seconds["CPU seconds an item in the stream"].append(busy_in_stream)
            shares.append(busy / available_processors() / taken)
            copied_shares.append(busy / available_processors() / copied)
    return {"seconds": seconds, "share": shares, "share of copied": copied_shares, "growth": growth(many)}


def streamed(frame: np.ndarray, items: int, expected: np.ndarray) -> tuple[float, float]:
    """Seconds of an item in a stream, by the clock and of processors."""
    begin, start = time.perf_counter(), time.process_time()
    for outputs in stages.map(frame for _ in range(items)):
        last = outputs["out"]
    taken, busy = time.perf_counter() - begin, time.process_time() - start
    np.testing.assert_array_equal(last, expected)
    return taken / items, busy / items


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


def throughput(effort: Effort) -> Iterator[Comparison]:
    """A stream of three stages beside a loop of runs, and memory over many small items."""
    rounds, many = min(effort.rounds, 5), effort.pick(100_000, 20)
    found = streams(rounds, effort.pick(24, 4), effort.pick(1_000_000, 1000), many)
    seconds = {name: statistics.median(samples) for name, samples in found["seconds"].items()}
    early, late = found["growth"]["after a tenth"], found["growth"]["after all"]
    bar = Bar("share of processors that work on items", statistics.median(found["share"]), "at least", 0.9)
    rounds_of = found["seconds"]
    pairs = zip(rounds_of["CPU seconds an item"], rounds_of["CPU seconds an item in the stream"], strict=True)
    cost = statistics.median(loop / stream for loop, stream in pairs)
    notes = (
        f"an item of the loop costs {cost:.2f} of the CPU seconds of one in the stream, which keeps "
        f"processors busy for {bar.figure / cost:.2f} of the time",
        f"share of processors with frames that are copied: {statistics.median(found['share of copied']):.2f}",
        f"peak memory: {early:,.0f} kB after a tenth of {many:,} items, {late:,.0f} kB after all",
    )
    yield Comparison("a stream of three stages", seconds, "seconds an item in the stream", (bar,), notes)


STREAMS: Final = Part("streams", "a stream of three stages", throughput)
