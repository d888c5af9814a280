"""What an adapter may lack: f16, and timestamp queries."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import tinct
from tinct.backend.gpu import AdapterInfo, GpuDevice
from tinct.functions import load_hercules

SHADER = """enable f16;
@group(0) @binding(0) var<storage, read_write> halves: array<f16>;
@compute @workgroup_size(1) fn main() { halves[0] += 1h; }
"""
PARAMETER = """fn more(half: f16) -> f16 {
  one = constant(f16 1)
  sum = add(half, one)
  done = return(start, sum)
}"""
INSIDE = """fn rounded(number: f32) -> f32 {
  half = cast(f16, number)
  twice = add(half, half)
  back = cast(f32, twice)
  done = return(start, back)
}"""


@pytest.fixture(scope="module")
def adapter() -> AdapterInfo:
    found = GpuDevice.available()
    if found is None:
        pytest.skip(f"no GPU: {GpuDevice.unavailable_reason()}")
    return found


@pytest.fixture
def without_f16(adapter: AdapterInfo, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of an adapter that says that it has no f16."""
    lacking = replace(adapter, features=adapter.features - {"shader-f16"})
    monkeypatch.setattr(GpuDevice, "adapter", lambda _: lacking)
    return lacking.name


@pytest.mark.parametrize("via", [None, "hercules"])
def test_a_shader_without_f16(without_f16: str, via: str | None) -> None:
    del without_f16
    with pytest.raises(tinct.DeviceError, match=r"f16 on .*, which lacks shader-f16: 'main' enables it"):
        tinct.load(SHADER)["main"].run({"halves": np.zeros(2, np.float16)}, workgroups=1, device="gpu", via=via)


@pytest.mark.parametrize(
    ("source", "argument", "user"),
    [
        (PARAMETER, "half", "the parameter 'half' of 'more'"),
        (INSIDE, "number", "the cast 'half' of 'rounded'"),
    ],
)
def test_a_function_without_f16(without_f16: str, source: str, argument: str, user: str) -> None:
    del without_f16
    (function,) = load_hercules(source).functions.values()
    with pytest.raises(tinct.DeviceError, match=f"not supported: f16 on .*, which lacks shader-f16: {user} has it$"):
        function.run({argument: 1.0}, device="gpu")


WITHOUT_TIMESTAMPS = """
import numpy as np
from tinct.backend.gpu.executor import Executor

executor = Executor("")
executor._has_timestamps = False
text = (
    "@group(0) @binding(0) var<storage, read_write> number: u32;"
    "@compute @workgroup_size(1) fn main() { number += 1; }"
)
request = {
    "operation": "run", "seconds": 60.0, "wgsl": text, "entry": "main", "workgroups": (1, 1, 1), "constants": {},
    "bindings": [{"group": 0, "binding": 0, "kind": "storage"}], "repeat": 3,
}
reply, outputs = executor.run(request, [memoryview(np.array([6], np.uint32)).cast("B")])
print(reply["timed_by"], len(reply["samples"]), min(reply["samples"]) > 0, outputs[0].cast("I")[0])
"""


@pytest.mark.usefixtures("adapter")
def test_an_adapter_without_timestamps_is_timed_by_the_clock() -> None:
    found = subprocess.run([sys.executable, "-c", WITHOUT_TIMESTAMPS], capture_output=True, text=True, check=False)
    assert (found.stdout.split(), found.returncode) == (["wall", "3", "True", "7"], 0), found.stderr


LARGE = """var<workgroup> tile: array<u32, 8000>;
@group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
@compute @workgroup_size(512) fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3u) {
    let at = group.x * 512 + i;
    if at < arrayLength(&numbers) { tile[4000 + i] = numbers[at]; }
    workgroupBarrier();
    if at < arrayLength(&numbers) { numbers[at] = tile[4511 - i]; }
}
"""


def test_workgroups_over_the_default_limits(adapter: AdapterInfo) -> None:
    if adapter.limits["max-compute-invocations-per-workgroup"] < 512:
        pytest.skip(f"{adapter.name} has not as many invocations")
    numbers = np.arange(1500, dtype=np.uint32)
    expected = np.concatenate(
        [numbers[:1024].reshape(2, 512)[:, ::-1].ravel(), np.zeros(36, np.uint32), numbers[1024:][::-1]]
    )
    for device in ("gpu", "cpu", "interp"):
        run = tinct.load(LARGE)["main"].run({"numbers": numbers}, threads=1500, device=device)
        assert np.array_equal(run["numbers"], expected[:1500])


@pytest.mark.parametrize("via", [None, "hercules"])
def test_an_adapter_without_large_workgroups(
    adapter: AdapterInfo, via: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = adapter.limits | {"max-compute-invocations-per-workgroup": 256}
    lacking = replace(adapter, limits=small)
    monkeypatch.setattr(GpuDevice, "adapter", lambda _: lacking)
    with pytest.raises(
        tinct.DeviceError, match=r"'main' needs maxComputeInvocationsPerWorkgroup of 512, but .* has 256"
    ):
        tinct.load(LARGE)["main"].run({"numbers": np.zeros(512, np.uint32)}, workgroups=1, device="gpu", via=via)
