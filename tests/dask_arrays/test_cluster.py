"""Kernels on a Dask cluster of processes: compiled once a worker, and nothing is lost when one is killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import dask.array as da
import distributed
import numpy as np
import pytest

import tinct
import tinct.dask

from .shaders import TEXT

BLOCKS = 24


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def test_a_killed_worker_loses_nothing(client: Any) -> None:
    kernel = tinct.load(TEXT)["long"]
    values = np.linspace(0, 1, BLOCKS * 64, dtype=np.float32)
    expected = kernel.run({"dst": values}, threads=len(values))["dst"]
    result = tinct.dask.map_blocks(kernel, {"dst": da.from_array(values, chunks=64)}).persist()
    victim = next(iter(client.run(os.getpid).values()))
    deadline = time.monotonic() + 60
    while not any(it.status == "finished" for it in distributed.futures_of(result)):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(victim, signal.SIGKILL)
    np.testing.assert_array_equal(result.compute(), expected)
    assert victim not in client.run(os.getpid).values()


def test_tasks_of_a_worker_share_a_shader(client: Any) -> None:
    kernel = tinct.load(TEXT)["long"]

    def run(count: int) -> tuple[int, int]:
        kernel.run({"dst": np.ones(count, np.float32)}, threads=count)
        return os.getpid(), id(kernel.shader)

    found = client.gather([client.submit(run, count, pure=False) for count in range(1, 9)])
    assert len(set(found)) == len({process for process, _ in found})


def summing() -> tinct.Graph:
    """y = a long computation on x, and the sum of all y so far."""
    graph = tinct.Graph("summing")
    node = graph.node(tinct.load(TEXT)["long"], threads="len(x)", name="long")
    total = graph.node(
        lambda y, before: {"sum": y + before},
        inputs={"y": "array<f32>", "before": "array<f32>"},
        outputs={"sum": "array<f32>"},
        name="total",
    )
    graph.bind_input("x", node["dst"])
    first, second = graph.split(node["dst"])
    graph.edge(first, total["y"])
    graph.bind_output(second, "y")
    graph.bind_input("before", total["before"])
    graph.bind_output(total["sum"], "sum")
    return graph


@pytest.mark.parametrize("device", ["cpu"])
def test_a_stream_on_a_cluster_that_loses_a_worker(client: Any, device: str) -> None:
    graph, start = summing(), np.zeros(64, np.float32)
    frames = [np.full(64, number, np.float32) for number in range(BLOCKS)]
    expected = list(graph.map(frames, state={"before": start}, feed={"sum": "before"}))
    taken: list[int] = []

    def counted() -> Iterator[Any]:
        for number, frame in enumerate(frames):
            taken.append(number)
            yield frame

    victim = next(iter(client.run(os.getpid).values()))
    found = tinct.dask.stream(
        client, graph, counted(), depth=6, state={"before": start}, feed={"sum": "before"}, device=device
    )
    for number, outputs in enumerate(found):
        assert len(taken) <= number + 7
        assert outputs.keys() == {"y", "sum"}
        for name, it in expected[number].items():
            np.testing.assert_array_equal(outputs[name], it)
        if number == 3:
            os.kill(victim, signal.SIGKILL)
    assert number == BLOCKS - 1
    assert victim not in client.run(os.getpid).values()


def test_an_error_on_a_cluster_has_the_number_of_its_item(client: Any) -> None:
    frames = [np.zeros(64, np.float32), "x"]
    found = tinct.dask.stream(client, summing(), frames, inputs={"before": np.zeros(64, np.float32)})
    next(found)
    with pytest.raises(tinct.InputError, match="item 1: x: "):
        next(found)
    with pytest.raises(tinct.InputError, match="a stream is of a graph, not 3"):
        tinct.dask.stream(client, 3, [])  # type: ignore[arg-type]
