"""A time limit also holds for what nothing can interrupt: imports, and the start of the GPU's process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tinct.backend.gpu import GpuDevice
from tinct.backend.gpu.device import WorkerProcess
from tinct.base.deadline import compile_time_left, compiling_within
from tinct.base.errors import DeviceError
from tinct.base.in_time import Background, import_in_time

SECONDS_LATE = 0.7
"""What waits is woken late on a busy machine. All that it waits for here takes longer."""


@contextmanager
def stopped(limit: float, message: str) -> Generator[None]:
    start = time.monotonic()
    with pytest.raises(DeviceError, match=message), compiling_within(limit):
        yield
    assert time.monotonic() - start < limit + SECONDS_LATE


def test_an_import_goes_on_when_the_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = "import os, time\nwhile not os.environ['SLOW']:\n    time.sleep(0.01)\nos.environ['SLOW'] = 'done'\n"
    (tmp_path / "slow_to_import.py").write_text(module)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("SLOW", "")
    import_in_time("no_such_module")  # there is no limit, and so nothing to do
    with stopped(0.1, r"not compiled within 0\.1 s: the import of slow_to_import goes on"):
        import_in_time("slow_to_import")
    monkeypatch.setenv("SLOW", "go on")
    with compiling_within(60):
        import_in_time("slow_to_import")
    assert os.environ["SLOW"] == "done"
    with pytest.raises(ModuleNotFoundError), compiling_within(60):
        import_in_time("no_such_module")


def test_the_sooner_limit_holds() -> None:
    with compiling_within(60), compiling_within(None), compiling_within(90):
        left = compile_time_left()
        assert left is not None
        assert 50 < left <= 60
        with stopped(0.05, r"within 0\.05 s: a long sleep goes on"):
            Background(lambda: time.sleep(1), "a long sleep").result()
    assert compile_time_left() is None


def test_the_start_of_the_process_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    if GpuDevice.available() is None:
        pytest.skip("no GPU")
    start, starts = WorkerProcess.start, list[int]()

    def slowly(self: WorkerProcess) -> int:
        time.sleep(1.2)
        starts.append(start(self))
        return starts[-1]

    monkeypatch.setattr(WorkerProcess, "start", slowly)
    device = GpuDevice()
    for _ in range(2):
        with stopped(0.1, r"within 0\.1 s: the start of the GPU's process goes on"):
            device.adapter()
    with compiling_within(60):
        assert device.adapter() == GpuDevice.available()
    assert starts == [1]
    device.close()


FIRST_RUNS = """
import time
import numpy as np
import tinct
kernel = tinct.load('''@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3u) { a[g.x] += 1u; }''')["main"]
graph = tinct.Graph("adds")
node = graph.node(kernel, threads=64)
graph.bind_input("a", node["a"])
graph.bind_output(node["a"], "a")
given = {"a": np.zeros(64, np.uint32)}

def session(device):
    with tinct.Session(device=device) as running:
        buffer = running.buffer(given["a"])
        running.run(kernel, {"a": buffer}, workgroups=1, timeout=0.1)

for device in DEVICES:
    for run in (
        lambda: kernel.run(given, workgroups=1, device=device, timeout=0.1),
        lambda: graph.run(given, device=device, timeout=0.1),
        lambda: session(device),
    ):
        start = time.monotonic()
        try:
            run()
        except tinct.DeviceError as error:
            assert "within 0.1 s" in str(error), error
        late = time.monotonic() - start - 0.1
        assert late < 0.7, (device, late)
for device in DEVICES:
    assert kernel.run(given, workgroups=1, device=device)["a"].tolist() == [1] * 64
"""


def test_first_runs_in_a_new_process_end_in_time(tmp_path: Path) -> None:
    devices = ["gpu", "interp", "cpu"] if GpuDevice.available() is not None else ["interp", "cpu"]
    environment = {**os.environ, "TINCT_CACHE_DIR": str(tmp_path)}
    script = f"DEVICES = {devices}\n{FIRST_RUNS}"
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
