"""A kernel that never ends is stopped in time, on every device that runs in this process, and the next one runs."""

from __future__ import annotations

import time
from math import inf

import numpy as np
import pytest

from tinct.backend.cpu import CpuOptions, llvm_process
from tinct.backend.cpu.options import tier_asked_for
from tinct.base.errors import DeviceError, InputError
from tinct.ir.source import Source
from tinct.kernel import Kernel
from tinct.shader import Shader

HEAD = """
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> hits: array<atomic<u32>, 4>;
var<private> own: u32;
fn spin(start: u32) -> u32 { var k = start; while k != 1 { k *= 2; } return k; }
fn until(limit: u32) -> u32 { for (var k = 0u; ; k++) { if k % 7 == limit { return k; } } return 0; }
fn deep(a: u32) -> u32 { if a > 3 { return spin(a & 6); } return a; }
var<workgroup> shared_word: u32;
override forever = true;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {
_ = &data;
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
    "no effects": "while forever { }",
    "a variable of its own": "while own == 0 { own = own * 2; } data[0] = own;",
    "only atomics": "while atomicLoad(&hits[1]) == 0 { atomicAdd(&hits[0], 1); }",
    "an atomic that is waited for": "loop { if atomicExchange(&hits[2], 3) == 9 { break; } }",
    "an exchange that fails": "while !atomicCompareExchangeWeak(&hits[3], 5, 6).exchanged { }",
    "in a function": "data[i] = spin(data[i] + 2);",
    "a return that is never reached": "data[i] = until(8);",
    "in a function of a function": "data[i] = deep(i + 4);",
    "in a continuing": "loop { data[i + 8] += 1; continuing { for (var k = 0u; k != 1; k *= 2) { } break if true; } }",
    "inside of one that ends": """for (var a = 0u; a < 3; a++) {
        for (var b = 1u; b != 0; b |= a) { own += b; } } data[i] = own;""",
    "one that ends inside": "for (var a = 0u; a < 2; a = 1 - a) { for (var b = 0u; b < 9; b++) { data[i + 8] += b; } }",
    "in a switch": """loop {
        switch own { case 3: { break; } default: { own &= 2; continue; } }
        if own == 3 { break; } }""",
    "around a barrier": "while forever { data[i + 64 * w.x + 8] += 1; storageBarrier(); }",
    "loops between barriers": """for (var k = 1u; k != 0; k |= 1) {
        workgroupBarrier();
        for (var m = 0u; m < 4; m++) { own += m; } }""",
    "both": "var k = i; loop { k = k * 3 + 1; continuing { break if k == 0 && data[0] == 1; } } data[0] = k;",
}


def kernel(body: str) -> Kernel:
    return Shader(Source.from_text(f"{HEAD}{body}\n}}")).kernel()


def words() -> np.ndarray:
    data = np.zeros(512, np.uint32)
    data[2], data[3] = 0xFFFFFFFF, 1 << 22
    return data


def given(body: str) -> dict[str, np.ndarray]:
    return {"data": words()} | ({"hits": np.zeros(4, np.uint32)} if "hits" in body else {})


@pytest.fixture(params=["gang", "lane", "auto", "interp", "hercules"])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The devices of this process, the CPU with gangs, with single lanes, and with those until it has gangs."""
    name: str = request.param
    if name in ("interp", "hercules"):
        return name
    monkeypatch.setenv("TINCT_CPU_TIER", name)
    return "cpu"


def make_code(endless: Kernel, device: str) -> None:
    """Compile for a device, or for its first runs: the limit is for running."""
    compilation = endless.shader.compilation("main", {})
    if device != "cpu":
        assert compilation.hercules
    elif tier_asked_for() is None:
        assert compilation.machine_code.code(CpuOptions("baseline"))
    else:
        assert compilation.cpu


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_stopped(body: str, device: str) -> None:
    endless = kernel(body)
    make_code(endless, device)
    start = time.monotonic()
    with pytest.raises(DeviceError, match=r"the kernel (did not end|was not compiled) within 0\.2 s"):
        endless.run(given(body), workgroups=8, device=device, timeout=0.2)
    assert time.monotonic() - start < 5
    found = kernel("data[i + 64 * w.x] = i;").run({"data": words()}, workgroups=8, device=device, timeout=60)
    assert found["data"].tolist() == [*range(64)] * 8


def test_no_time_at_all(device: str) -> None:
    with pytest.raises(InputError, match="the time limit must be a positive number of seconds, not 0"):
        kernel("data[0] = 1;").run({"data": words()}, workgroups=1, device=device, timeout=0)


@pytest.mark.parametrize(("factor", "seconds"), [(3, 1e6), (5, 2e6), (7, 1e8), (11, 1e300), (13, inf)])
def test_limits_past_what_the_system_waits_for(
    factor: int, seconds: float, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llvm_process, "_LONG", 0.0)
    of_its_own = kernel(f"data[i + 64 * w.x] = {factor} * i;")
    found = of_its_own.run({"data": words()}, workgroups=8, device=device, timeout=seconds)
    assert found["data"].tolist() == [*range(0, 64 * factor, factor)] * 8


def test_sanitizer_is_stopped() -> None:
    with pytest.raises(DeviceError, match="did not end within"):
        kernel(BODIES["while"]).sanitize({"data": words()}, workgroups=1, timeout=0.2)
