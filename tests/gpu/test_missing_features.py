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
