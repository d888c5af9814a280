"""`devices="auto"`: measured once, and pinned."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tinct
from tinct.graphs import NodeTiming, choosing, zeros
from tinct.graphs.choosing import Chooser

SHADER = tinct.load("""
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@compute @workgroup_size(64) fn more(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&b) { b[id.x] = a[id.x] + 1; }
}
""")
GIVEN = {"x": np.arange(100, dtype=np.float32)}


def two_steps() -> tinct.GraphProgram:
    """x + 2, in two nodes of one kernel."""
    graph = tinct.Graph("two_steps")
    first = graph.node(SHADER["more"], threads="len(x)", name="first")
    second = graph.node(SHADER["more"], threads="len(x)", name="second")
    graph.bind_input("x", first["a"])
    graph.bind_input(zeros("len(x)"), first["b"])
    graph.edge(first["b"], second["a"])
    graph.bind_input(zeros("len(x)"), second["b"])
    graph.bind_output(second["b"], "y")
    return graph.program


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of the test's own."""
    monkeypatch.setenv("TINCT_CACHE", "on")
    monkeypatch.setenv("TINCT_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.usefixtures("cached")
def test_what_was_measured_is_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = two_steps()
    choice = graph.choose_devices(GIVEN)
    assert set(choice) == {"first", "second"}
    assert set(choice.values()) <= set(choosing.devices())
    np.testing.assert_array_equal(graph.run(GIVEN, devices="auto")["y"], GIVEN["x"] + 2)
    assert set(graph.run_timed(GIVEN, devices="auto").timings) == {("first",), ("second",)}

    def measured(*_: object) -> dict[str, str]:
        raise AssertionError("measured again")

    monkeypatch.setattr(Chooser, "_measured", measured)
    assert graph.choose_devices({"x": np.ones(101, np.float32)}) == choice
    assert two_steps().choose_devices(GIVEN) == choice  # from the disk
    with pytest.raises(AssertionError, match="measured again"):
        two_steps().choose_devices({"x": np.ones(100_000, np.float32)})


@pytest.mark.usefixtures("cached")
@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ({"cpu": (1.0, 1.0), "gpu": (3.0, 3.0)}, {"first": "cpu", "second": "cpu"}),
        ({"cpu": (3.0, 3.0), "gpu": (1.0, 1.0)}, {"first": "gpu", "second": "gpu"}),
        ({"cpu": (1.0, 9.0), "gpu": (9.0, 1.0)}, {"first": "cpu", "second": "gpu"}),
        ({"cpu": (1.0, 9.0), "gpu": (1.1, 9.5)}, {"first": "cpu", "second": "cpu"}),
        ({"cpu": (5.0, 5.1), "gpu": (5.1, 5.0)}, {"first": "cpu", "second": "cpu"}),  # too little gained
    ],
)
def test_the_fastest_as_a_whole(
    monkeypatch: pytest.MonkeyPatch, seconds: dict[str, tuple[float, float]], expected: dict[str, str]
) -> None:
    clock = [0.0]

    class Program:
        """A graph whose nodes take some seconds on a clock of its own."""

        inputs = ("x",)

        def __init__(self) -> None:
            self.shaders: dict[str, tinct.Shader] = {}

        def run(self, _: object, *, device: str = "", devices: dict[str, str] | None = None, timeout: object) -> None:
            places = devices or dict.fromkeys(("first", "second"), device)
            clock[0] += seconds[places["first"]][0] + seconds[places["second"]][1]

        def run_timed(self, _: object, *, device: str, timeout: object) -> object:
            names = zip(("first", "second"), seconds[device], strict=True)
            return SimpleNamespace(timings={(name,): NodeTiming(run=taken, dispatches=1) for name, taken in names})

    monkeypatch.setattr(choosing, "devices", lambda: ["cpu", "gpu"])
    monkeypatch.setattr(choosing.time, "perf_counter", lambda: clock[0])
    assert Chooser(Program()).choose(GIVEN, None) == expected  # type: ignore[arg-type]


def test_devices_that_fail_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    run = tinct.GraphProgram.run

    def failing(self: tinct.GraphProgram, inputs: object, *, device: str = "cpu", **rest: Any) -> object:
        if device == "gpu":
            raise tinct.DeviceError("no memory")
        return run(self, GIVEN, device=device, **rest)

    monkeypatch.setattr(tinct.GraphProgram, "run", failing)
    monkeypatch.setattr(choosing, "devices", lambda: ["gpu", "cpu"])
    assert two_steps().choose_devices(GIVEN) == {"first": "cpu", "second": "cpu"}
    monkeypatch.setattr(choosing, "devices", lambda: ["gpu"])
    with pytest.raises(tinct.DeviceError, match="no memory"):
        two_steps().choose_devices(GIVEN)


@pytest.mark.usefixtures("cached")
def test_a_device_that_is_stopped_is_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    run = tinct.GraphProgram.run

    def late(self: tinct.GraphProgram, inputs: object, *, device: str = "cpu", **rest: Any) -> object:
        if device == "gpu":
            time.sleep(1.5)
            raise tinct.DeviceError("stopped")
        return run(self, GIVEN, device=device, timeout=60)

    graph = two_steps()
    graph.run(GIVEN)
    with monkeypatch.context() as patched:
        patched.setattr(tinct.GraphProgram, "run", late)
        patched.setattr(choosing, "devices", lambda: ["cpu", "gpu"])
        with pytest.raises(tinct.DeviceError, match=r"graph 'two_steps' did not end within 1\.5 s"):
            graph.choose_devices(GIVEN, timeout=1.5)
    monkeypatch.setattr(choosing, "devices", lambda: ["cpu"])
    assert graph.choose_devices(GIVEN) == {"first": "cpu", "second": "cpu"}


def test_words_that_are_no_choice() -> None:
    with pytest.raises(tinct.InputError, match="devices has a device for some nodes, or is 'auto', not 'fast'"):
        two_steps().run(GIVEN, devices="fast")  # type: ignore[arg-type]
    with pytest.raises(tinct.InputError, match="nothing is given for the input x"):
        two_steps().choose_devices({})
