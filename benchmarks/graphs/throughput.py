"""The benchmarks of fusion and of streams as parts; each is a command of its own too."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Final

from tinct.backend.gpu import GpuDevice

from .. import graph_fusion
from .. import streams as stream_benchmark
from .measuring import Bar, Comparison, Effort, Part


def fusion(effort: Effort) -> Iterator[Comparison]:
    """A chain of 8 kernels: one after another, fused, and as one kernel by hand."""
    count = effort.pick(graph_fusion.COUNT, 1000)
    for device in ["cpu"] + (["gpu"] if GpuDevice.available() is not None else []):
        found = graph_fusion.measure(device, effort.rounds, count)
        bars = (
            Bar(f"{device}: speed of fused relative to unfused", found["unfused"] / found["fused"], "at least", 4.5),
            Bar(f"{device}: time of fused relative to hand", found["fused"] / found["hand"], "at most", 1.05),
        )
        yield Comparison(f"a chain of 8 kernels on {count:,} numbers, {device}", found, "fused", bars)


def streams(effort: Effort) -> Iterator[Comparison]:
    """A stream of three stages beside a loop of runs, and memory over many small items."""
    rounds, many = min(effort.rounds, 5), effort.pick(100_000, 20)
    found = stream_benchmark.streams(rounds, effort.pick(24, 4), effort.pick(1_000_000, 1000), many)
    seconds = {name: statistics.median(samples) for name, samples in found["seconds"].items()}
    early, late = found["growth"]["after a tenth"], found["growth"]["after all"]
    bar = Bar("share of processors that work on items", statistics.median(found["share"]), "at least", 0.9)
    note = f"peak memory: {early:,.0f} kB after a tenth of {many:,} items, {late:,.0f} kB after all"
    yield Comparison("a stream of three stages", seconds, "seconds an item in the stream", (bar,), (note,))


FUSION: Final = Part("fusion", "fusion of a chain of kernels", fusion)
STREAMS: Final = Part("streams", "a stream of three stages", streams)
