"""A kernel that never ends is stopped in time, on every device that runs in this process, and the next one runs."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tinct.ir.diagnostics import DeviceError, InputError
from tinct.ir.source import Source
from tinct.shader import Kernel, Shader

DEVICES = ["cpu", "interp", "hercules"]
HEAD = """
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
var<workgroup> shared_word: u32;
override forever = true;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {
"""
# The words that a condition reads (0 … 3) are written by no body that would end by it, in whatever order lanes run.
BODIES = {
    "while": "while data[0] == 0 { }",
    "writes": "while data[1] != 9 { data[i + 64 * w.x] += 2; }",
    "step that misses": "for (var k = 0u; k < data[2]; k += 2) { data[i + 8] = k; }",
    "not above": "for (var k = 0u; k <= data[2]; k++) { data[i + 8] = k; }",
    "nested": """for (var a = 0u; a < data[2]; a++) {
        for (var b = 0u; b < data[3]; b++) { data[i + 8] ^= a * b + (data[i + 8] >> 3); } }""",
    "only one lane": "if i == 63 { while data[0] == 0 { data[i] += 1; } }",
    "barriers": """loop {
        if i == 0 { shared_word = data[0]; }
        if workgroupUniformLoad(&shared_word) == 1 { break; }
        if i == 1 { data[1] += 1; } }""",
    "both": "var k = i; loop { k = k * 3 + 1; continuing { break if k == 0 && data[0] == 1; } } data[0] = k;",
}


def kernel(body: str) -> Kernel:
    return Shader(Source.from_text(f"{HEAD}{body}\n}}")).kernel()


def words() -> np.ndarray:
    data = np.zeros(512, np.uint32)
    data[2], data[3] = 0xFFFFFFFF, 1 << 22
    return data


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_stopped(body: str, device: str) -> None:
    endless = kernel(body)
    endless.shader.compilation("main", {}).cpu  # noqa: B018 (compiling does not count, but takes a while)
    start = time.monotonic()
    with pytest.raises(DeviceError, match=r"the kernel did not end within 0\.2 s, and was stopped"):
        endless.run({"data": words()}, workgroups=8, device=device, timeout=0.2)
    assert time.monotonic() - start < 5
    found = kernel("data[i + 64 * w.x] = i;").run({"data": words()}, workgroups=8, device=device, timeout=60)
    assert found["data"].tolist() == [*range(64)] * 8


@pytest.mark.parametrize("device", DEVICES)
def test_no_time_at_all(device: str) -> None:
    with pytest.raises(InputError, match="the time limit must be a positive number of seconds, not 0"):
        kernel("data[0] = 1;").run({"data": words()}, workgroups=1, device=device, timeout=0)


def test_sanitizer_is_stopped() -> None:
    with pytest.raises(DeviceError, match="did not end within"):
        kernel(BODIES["while"]).sanitize({"data": words()}, workgroups=1, timeout=0.2)


def test_loops_that_end_soon_are_not_watched() -> None:
    """A look at the stop flag would keep LLVM from making vector code of them."""
    body = """
      for (var k = 0u; k < data[2]; k++) { data[i] += k; }
      for (var k = 0; k < 30; k += 3) { for (var m = 1u; m < 64; m *= 2) { data[i] += m; } }
      for (var k = data[2]; k > 0; k /= 2) { data[i] -= k; }
    """
    llvm = kernel(body).shader.compilation("main", {}).cpu.llvm(optimised=False)
    forks = 2  # of the lanes, and of the workgroups, which are one loop
    assert llvm.count("ptr %stop unordered") == forks
