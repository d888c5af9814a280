"""Graphs that run in the background."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import tinct

from .support import DEVICES
from .test_repeat import STATE, STEP, advanced, advancing, counting


@pytest.mark.parametrize("device", DEVICES)
def test_several_launches_at_once(device: str) -> None:
    graph = advancing()
    launches = [graph.launch({"state": STATE, "step": STEP}, device=device, repeat=count) for count in range(1, 6)]
    for count, launch in enumerate(launches, 1):
        np.testing.assert_array_equal(launch.wait(timeout=60)["state"], advanced(count))
        assert launch.done
    assert launches[0].wait()["state"] is launches[0].wait()["state"]


def test_two_graphs_at_once_end_both() -> None:
    endless = counting().launch({"state": STATE, "step": STEP * 0, "limit": 9}, until="done", timeout=120)
    found = advancing().launch({"state": STATE, "step": STEP}, repeat=50).wait(timeout=60)
    np.testing.assert_array_equal(found["state"], advanced(50))
    assert not endless.done
    with pytest.raises(tinct.DeviceError, match=r"still runs after 0\.01 seconds"):
        endless.wait(timeout=0.01)


@pytest.mark.parametrize("device", DEVICES)
def test_errors_are_raised_by_wait(device: str) -> None:
    graph = tinct.Graph()
    inner = graph.node(advancing(), name="inner")
    graph.bind_input("state", inner["state"])
    graph.bind_input("step", inner["step"])
    graph.bind_output(inner["state"], "state")
    launch = graph.launch({"state": np.zeros(300_000, np.uint32), "step": STEP}, device=device)
    with pytest.raises(tinct.InputError, match=r"node 'inner/advance': .* 75000 x 1 x 1 workgroups"):
        launch.wait(timeout=60)
    assert launch.done
    with pytest.raises(tinct.InputError, match="nothing is given for the input"):
        graph.launch({"state": STATE}, device=device)


@pytest.mark.parametrize("device", DEVICES)
def test_a_dropped_launch_ends(device: str) -> None:
    graph = counting()
    launch = graph.launch({"state": STATE, "step": STEP * 0, "limit": 9}, device=device, until="done")
    assert any(it.name == "graph counting" for it in threading.enumerate())
    del launch
    end = time.monotonic() + 60
    while any(it.name == "graph counting" for it in threading.enumerate()):
        assert time.monotonic() < end
        time.sleep(0.01)
