"""Code for 64-bit Arm processors, run in an emulator, gives the interpreter's answers."""

from __future__ import annotations

import shutil
from typing import get_args

import numpy as np
import pytest
from tests.differential.campaign import check_seed

import tinct
from tinct.backend.cpu.emulation import EMULATORS, emulated
from tinct.backend.cpu.options import CpuOptions, Tier
from tinct.base.errors import DeviceError, InputError

ARM = "cpu:aarch64"
EMULATOR = EMULATORS["aarch64"]
needs_emulator = pytest.mark.skipif(
    shutil.which(EMULATOR.compiler) is None or shutil.which(EMULATOR.runner) is None,
    reason=f"needs Debian's packages {EMULATOR.packages}",
)
KERNEL = """
enable f16;
struct Tail { scale: f32, values: array<f32> }
@group(0) @binding(0) var<storage, read> x: Tail;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<storage, read_write> halves: array<f16>;
@group(0) @binding(3) var<storage, read_write> counts: array<atomic<u32>, 4>;
var<workgroup> shared_values: array<f32, 64>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
    var value = x.values[id.x] * x.scale;
    for (var step = 0u; step < id.x % 7u; step++) {
        if value < 1.0 { value = fma(value, value, 2.0) - fract(value); } else { value = sqrt(value) * 0.25; }
    }
    shared_values[lane] = value;
    atomicAdd(&counts[u32(abs(value)) & 3u], 1u);
    workgroupBarrier();
    if id.x < arrayLength(&out) {
        out[id.x] = ldexp(shared_values[lane ^ 5u], i32(id.x % 300u) - 150);
        halves[id.x] = f16(value) * 3.0h + f16(i32(value * 1e5));
    }
}
"""
COUNT = 256


def buffers(count: int) -> dict[str, object]:
    x = np.random.default_rng(5).uniform(-4, 4, count).astype(np.float32)
    return {
        "x": {"scale": 1.5, "values": x},
        "out": np.zeros(count, np.float32),
        "halves": np.zeros(count, np.float16),
        "counts": np.zeros(4, np.uint32),
    }


@needs_emulator
@pytest.mark.parametrize("tier", get_args(Tier))
@pytest.mark.parametrize("count", [COUNT, 2])
def test_tiers_give_the_interpreters_answers(tier: Tier, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", tier)
    kernel = tinct.load(KERNEL)["main"]
    expected = kernel.run(buffers(count), workgroups=4, device="interp")
    found = kernel.run(buffers(count), workgroups=4, device=ARM)
    for name, values in expected.items():
        np.testing.assert_array_equal(values, found[name], err_msg=name)


@needs_emulator
@pytest.mark.parametrize("seed", range(3))
def test_random_kernels(seed: int) -> None:
    problem = check_seed(seed, ("interp", ARM))
    assert problem is None, f"{problem.message}\n{problem.wgsl}"


@needs_emulator
def test_a_limit_on_time() -> None:
    endless = tinct.load("""
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1) fn main() { while out[0] < 1u { out[1] += 1u; } }
""")["main"]
    with pytest.raises(DeviceError, match="did not end within 2 s"):
        endless.run({"out": np.zeros(2, np.uint32)}, workgroups=1, device=ARM, timeout=2)


def test_missing_programs_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DeviceError, match="aarch64-linux-gnu-gcc is not installed; Debian's packages"):
        tinct.load(KERNEL)["main"].run(buffers(8), workgroups=1, device=ARM)


def test_another_processor_has_no_emulator() -> None:
    entry = tinct.load(KERNEL)["main"].shader.compilation("main", {}).hercules
    with pytest.raises(InputError, match="no emulator for 'sparc'"), emulated("sparc", entry, CpuOptions()):
        pass


def test_code_of_another_processor_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TARGET", "aarch64")
    monkeypatch.setenv("TINCT_CACHE", "off")
    with pytest.raises(InputError, match=r"code for aarch64.* does not run in this process"):
        tinct.load(KERNEL)["main"].run(buffers(8), workgroups=1)
