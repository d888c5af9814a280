"""A chain of 8 cheap element-wise kernels on 16,000,000 f32, one after another, fused, and as one kernel by hand.

The arrays stay in a session. A round is one chain, waited for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

import tinct
from tinct.backend.gpu import GpuDevice
from tinct.compare import EXACT, compare
from tinct.graphs import zeros
from tinct.testing.agreeing import GPU_TOLERANCE

from .measuring import Bar, Call, Comparison, Effort, Part, medians

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
        calls: dict[str, Call] = {
            "unfused": unfused,
            "fused": lambda: session.run(fused, {source: given, target: rooms[2]}, threads=count, device=device),
            "hand": lambda: session.run(hand, {"src": given, "dst": rooms[2]}, threads=count, device=device),
        }
        unfused()
        calls["fused"]()
        check(rooms[2].numpy(), rooms[1].numpy(), device)
        return medians({name: _waited(session, call) for name, call in calls.items()}, rounds)


def check(found: npt.NDArray[np.float32], expected: npt.NDArray[np.float32], device: str) -> None:
    """Fail if the fused kernel computes something else than the chain.

    A GPU may make one operation, which rounds once, of a product and the sum after it when one kernel has both (WGSL,
    "Reassociation and Fusion").
    """
    verdict = compare(expected, found, GPU_TOLERANCE if device == "gpu" else EXACT)
    assert verdict.agrees, f"{device}: {verdict}"


def _waited(session: tinct.Session, call: Call) -> Call:
    """A call whose dispatches have ended when it returns."""

    def run() -> None:
        call()
        session.wait()

    return run


def fusion(effort: Effort) -> Iterator[Comparison]:
    """A chain of 8 kernels: one after another, fused, and as one kernel by hand."""
    count = effort.pick(COUNT, 1000)
    for device in ("cpu", "gpu") if GpuDevice.available() else ("cpu",):
        found = measure(device, effort.rounds, count)
        bars = (
            Bar(f"{device}: speed of fused relative to unfused", found["unfused"] / found["fused"], "at least", 4.5),
            Bar(f"{device}: time of fused relative to hand", found["fused"] / found["hand"], "at most", 1.05),
        )
        yield Comparison(f"a chain of 8 kernels on {count:,} numbers, {device}", found, "fused", bars)


FUSION: Final = Part("fusion", "fusion of a chain of kernels", fusion)
