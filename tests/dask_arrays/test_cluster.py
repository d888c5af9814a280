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
