"""Kernels whose loops end by uniform values, on drivers that would compile them again for those values."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tinct
from tinct.backend.gpu import GpuDevice, shared_device
from tinct.pipeline import GpuOptions

TERMS = [f"state = state * {2 * number + 3} + (state >> {number % 13 + 1});" for number in range(60)]
"""Those of the loop are few enough that the driver unrolls it; all are so many that it looks for uniform values."""

COUNTED = f"""
struct Params {{ count: u32, first: u32, }}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> states: array<u32, 64>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) lane: u32) {{
    var state = lane + params.first;
    for (var i = 0u; i < params.count; i++) {{ state ^= i; {"".join(TERMS[:12])} }}
    {"".join(TERMS)}
    states[lane] = state;
}}
"""

COPIED = COUNTED.replace("var state =", "let copy = params; var state =").replace("i < params", "i < copy")

IN_FUNCTION = COUNTED.replace("@compute", "fn count() -> u32 { return params.count; }\n@compute").replace(
    "i < params.count", "i < count()"
)

BRANCHES = COUNTED.replace("i < params.count; i++", "i < 4; i++").replace(
    "state ^= i", "if params.count > 5 { state ^= i; }"
)


@pytest.fixture(scope="module")
def device() -> GpuDevice:
    if GpuDevice.available() is None:
        pytest.skip(f"no GPU: {GpuDevice.unavailable_reason()}")
    return shared_device()


@pytest.mark.parametrize("via", ["wgsl", "hercules"])
@pytest.mark.parametrize("source", [COUNTED, COPIED, IN_FUNCTION, BRANCHES])
def test_values_are_right(device: GpuDevice, source: str, via: str) -> None:
    del device
    kernel = tinct.load(source)["main"]
    for count in (0, 3, 8, 1000):
        given = {"params": {"count": count, "first": 5}, "states": np.zeros(64, np.uint32)}
        expected = kernel.run(given, workgroups=1)["states"]
        on_gpu = kernel.run(given, workgroups=1, device="gpu", via="hercules" if via == "hercules" else None)["states"]
        np.testing.assert_array_equal(on_gpu, expected)


@pytest.mark.parametrize("source", [COUNTED, IN_FUNCTION])
def test_the_driver_does_not_see_the_bounds_of_loops(source: str) -> None:
    options = GpuOptions(for_naga=True, hides_uniforms=True)
    text = tinct.load(source).compilation("main", {}).for_gpu(options).wgsl
    reads = re.findall(r"(select\()?\bparams\.count", text)
    assert reads and all(it == "select(" for it in reads)
