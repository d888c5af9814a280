"""`python -m benchmarks.graph_fusion`: a chain of 8 cheap element-wise kernels on 16,000,000 f32, one after another,
fused, and as one kernel by hand.

The arrays stay in a session. A round is one chain, waited for; rounds are interleaved, and what is shown are medians
and ratios of medians. `fused` is at least 4.5 times as fast as `unfused`, and takes at most 1.05 times as long as
`hand`: the bars.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click
import numpy as np

import tinct
from tinct.backend.gpu import GpuDevice
from tinct.graphs import zeros

from . import machine

COUNT: Final = 16_000_000
OPERATIONS: Final = (
    "x * 1.5",
    "x + 0.25",
    "max(x, 0.1)",
    "x * x",
    "x - 0.5",
    "abs(x)",
    "x * 0.75 + 1.0",
    "min(x, 10.0)",
)
_KERNEL: Final = """
@group(0) @binding(0) var<storage, read> src: array<f32>;
@group(0) @binding(1) var<storage, read_write> dst: array<f32>;
@compute @workgroup_size(256) fn main(@builtin(global_invocation_id) id: vec3u) {{
    if id.x >= arrayLength(&dst) {{ return; }}
    var x = src[id.x];
    {body}
    dst[id.x] = x;
}}
"""


def kernel(operations: tuple[str, ...]) -> tinct.Kernel:
    """A kernel that applies operations to each element."""
    return tinct.load(_KERNEL.format(body=" ".join(f"x = {it};" for it in operations)))["main"]


def fused_kernel() -> tinct.Kernel:
    """The kernel that fusion makes of the chain."""
    graph, last = tinct.Graph("chain"), None
    for operation in OPERATIONS:
        node = graph.node(kernel((operation,)), threads="len(x)")
        if last is None:
            graph.bind_input("x", node["src"])
        else:
            graph.edge(last["dst"], node["src"], "one-to-one")
        graph.bind_input(zeros("len(x)"), node["dst"])
        last = node
    assert last is not None
    graph.bind_output(last["dst"], "y")
    (found,) = graph.fused().kernels.values()
    return found


def measure(device: str, rounds: int, count: int = COUNT) -> dict[str, float]:
    """The median seconds of a chain on `count` numbers, by name."""
    fused = fused_kernel()
    source, target = (it.name for it in fused.bindings)
    with tinct.Session() as session:
        given = session.buffer(np.random.default_rng(0).uniform(0, 2, count).astype(np.float32))
        rooms = [session.buffer(np.zeros(count, np.float32)) for _ in range(3)]
        steps = [kernel((it,)) for it in OPERATIONS]

        def unfused() -> None:
            before = given
            for number, step in enumerate(steps):
                session.run(step, {"src": before, "dst": rooms[number % 2]}, threads=count, device=device)
                before = rooms[number % 2]

        hand = kernel(OPERATIONS)
        calls: dict[str, Callable[[], object]] = {
            "unfused": unfused,
            "fused": lambda: session.run(fused, {source: given, target: rooms[2]}, threads=count, device=device),
            "hand": lambda: session.run(hand, {"src": given, "dst": rooms[2]}, threads=count, device=device),
        }
        unfused()
        calls["fused"]()
        np.testing.assert_array_equal(rooms[2].numpy(), rooms[1].numpy())
        samples: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(rounds):
            for name in random.sample(list(calls), len(calls)):
                start = time.perf_counter()
                calls[name]()
                session.wait()
                samples[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) for name, found in samples.items()}


@click.command()
@click.option("--rounds", type=click.IntRange(1), default=9, show_default=True)
@click.option("--json", "file", type=click.Path(dir_okay=False, path_type=Path), help="Write the numbers to a file.")
def command(rounds: int, file: Path | None) -> None:
    """Measure a chain of kernels: one after another, fused, and as one kernel by hand."""
    devices = ["cpu"] + (["gpu"] if GpuDevice.available() is not None else [])
    results = {device: measure(device, rounds) for device in devices}
    for device, found in results.items():
        faster, against_hand = found["unfused"] / found["fused"], found["fused"] / found["hand"]
        times = ", ".join(f"{name} {seconds * 1e3:.2f} ms" for name, seconds in found.items())
        click.echo(f"{device}: {times}; unfused / fused {faster:.2f}, fused / hand {against_hand:.3f}")
    if file is not None:
        file.write_text(json.dumps({"machine": machine.describe(), "seconds": results}, indent=2) + "\n")


if __name__ == "__main__":
    command()
