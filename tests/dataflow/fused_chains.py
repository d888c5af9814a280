"""Chains of kernels joined by one-to-one edges, which run fused and as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

import tinct
from tinct.compare import EXACT, compare
from tinct.devices import adapter_named
from tinct.graphs import zeros
from tinct.graphs.fusing import FusedProgram
from tinct.testing.agreeing import GPU_TOLERANCE

_HEAD = """
struct Size { width: u32, count: u32 }
@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> src: array<f32>;
@group(0) @binding(2) var<storage, read_write> dst: array<f32>;
"""


def kernel(body: str, *, size: str = "64", head: str = "") -> tinct.Kernel:
    names = "@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32, "
    names += "@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u"
    uses = "_ = size.width; _ = &src;"
    text = f"{_HEAD}{head}\n@compute @workgroup_size({size})\nfn main({names}) {{ {uses} {body} }}\n"
    return tinct.load(text)["main"]


def chain(
    *kernels: tinct.Kernel, threads: Any = ("len(x)",), each: list[str] | None = None, way: str = "one-to-one"
) -> tinct.Graph:
    """Kernels from `src` to `dst`, one after another, on `x`; the result is `y`."""
    graph = tinct.Graph("chain")
    last = None
    for number, kernel in enumerate(kernels):
        extents: Any = each[number] if each is not None else threads
        node = graph.node(kernel, threads=extents, name=f"n{number}")
        graph.bind_input("width", node["size.width"])
        graph.bind_input("count", node["size.count"])
        if last is None:
            graph.bind_input("x", node["src"])
        else:
            graph.edge(last["dst"], node["src"], way)
        graph.bind_input(zeros("len(x)"), node["dst"])
        last = node
    assert last is not None
    graph.bind_output(last["dst"], "y")
    return graph


def inputs_of(count: int = 100, width: int = 10) -> dict[str, Any]:
    return {"x": np.linspace(-3, 5, count).astype(np.float32), "width": width, "count": count}


def check(graph: tinct.Graph, inputs: Mapping[str, Any], devices: list[str] | None = None) -> FusedProgram:
    """The fused graph, which gives what the graph gives."""
    fused = graph.fused()
    for device in ["interp", "cpu"] if devices is None else devices:
        wanted, found = graph.run(inputs, device=device), fused.run(inputs, device=device)
        for name, array in wanted.items():
            check_array(found[name], array, device)
    return fused


def check_array(found: npt.NDArray[Any], wanted: npt.NDArray[Any], device: str) -> None:
    """What a fused graph gives is what the graph gives: bit for bit, but on a GPU.

    There a product in one kernel and a sum in the next may become one operation, which rounds once, in the kernel that
    has both (WGSL, "Reassociation and Fusion").
    """
    verdict = compare(wanted, found, EXACT if adapter_named(device) is None else GPU_TOLERANCE)
    assert verdict.agrees, f"{device}: {verdict}"


def nodes_of(fused: FusedProgram, inputs: Mapping[str, Any]) -> int:
    """The number of nodes that a run executes."""
    return len(fused.run_timed(inputs).timings)


def rule_of(message: str) -> str:
    return message.rpartition("[")[2].rstrip("]")
