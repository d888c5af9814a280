"""First runs on the baseline tier: when they end, and that nobody can tell from the results."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import tinct
from tinct.backend.cpu import CompiledKernel, CpuOptions, compile_entry, compiler_files, tiered
from tinct.backend.cpu.tiered import CpuDispatch, TieredKernel
from tinct.base.errors import DeviceError, InputError
from tinct.kernel import Kernel

TEXT = """
override turns: u32 = 1;
@group(0) @binding(0) var<storage> step: u32;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@group(0) @binding(2) var<storage, read_write> count: atomic<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  atomicAdd(&count, 1u);
  for (var k = 0u; k < turns; k++) { sums[id.x] += step; sums[id.x] ^= k; }
}
"""
ENOUGH = 1 << 26
"""Turns that the baseline tier cannot make in the time it is given."""
LONG = 1 << 14
"""Some milliseconds for all invocations together."""


@pytest.fixture(autouse=True)
def _auto(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", "auto")


def dispatch(kernel: Kernel, turns: int = 1, step: int = 3, workgroups: int = 1, timeout: float | None = None) -> None:
    """Run, and compare with what is expected of so many turns."""
    threads = 64 * workgroups
    given = {"step": np.uint32(step), "sums": np.arange(threads, dtype=np.uint32), "count": np.uint32(5)}
    found = kernel.run(given, workgroups=workgroups, constants={"turns": turns}, timeout=timeout)
    assert found["count"] == 5 + threads
    expected = np.arange(threads, dtype=np.uint64)
    for turn in range(turns if step else 0):
        expected = ((expected + step) & 0xFFFFFFFF) ^ turn
    assert step == 0 or found["sums"].tolist() == expected.tolist()


def machine_code(kernel: Kernel, turns: int = 1) -> TieredKernel:
    return kernel.shader.compilation("main", {"turns": turns}).machine_code


def stages(kernel: Kernel, turns: int = 1) -> tuple[bool, bool]:
    """Whether the next run is one of the first, and whether there is code for all others."""
    machine = machine_code(kernel, turns)
    return machine.is_on_trial, machine.has_code(CpuOptions("gang"))


def test_small_dispatches_need_no_gangs() -> None:
    kernel = tinct.load(TEXT)["main"]
    for _ in range(3):
        dispatch(kernel)
    assert stages(kernel) == (True, False)
    assert machine_code(kernel).has_code(CpuOptions("baseline"))
    assert machine_code(kernel).code(CpuOptions("baseline")).tier == "baseline"


def test_many_small_dispatches_do() -> None:
    kernel = tinct.load(TEXT)["main"]
    for _ in range(2000):
        dispatch(kernel, turns=LONG, step=0)
        if stages(kernel, LONG) == (False, True):
            break
    assert stages(kernel, LONG) == (False, True)
    dispatch(kernel, turns=LONG, step=0)


def test_a_long_run_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the trial wrote until it was given up is put back: sums and counts are of one run."""
    monkeypatch.setattr(tiered, "TRIAL_SECONDS", 1e-3)
    kernel = tinct.load(TEXT)["main"]
    dispatch(kernel, turns=2 * LONG, workgroups=16)
    assert stages(kernel, 2 * LONG) == (False, True)


class GangsWanted(Exception):
    """Code of gangs was asked for."""


def test_one_workgroup_is_given_up_in_the_middle() -> None:
    """Its buffers are as they were when gangs take over."""
    kernel = tinct.load(TEXT)["main"]
    compilation = kernel.shader.compilation("main", {"turns": ENOUGH})

    def compile_or_stop(options: CpuOptions) -> CompiledKernel:
        if options.tier == "gang":
            raise GangsWanted
        return compile_entry(compilation.hercules, options)

    machine = TieredKernel(compilation.machine_code.identity, compile_or_stop, lambda: compilation.hercules, {})
    given = {"step": bytes(4), "sums": bytes(range(256)), "count": b"\5\0\0\0"}
    buffers = {it.point: bytearray(given[it.name]) for it in kernel.bindings}
    written = [it.point for it in kernel.bindings if it.is_written]
    started = time.perf_counter()
    with pytest.raises(GangsWanted):
        machine.run(CpuDispatch(buffers, written, (1, 1, 1)))
    assert time.perf_counter() - started < 5
    assert {it.name: bytes(buffers[it.point]) for it in kernel.bindings} == given
    assert not machine.is_on_trial


def test_large_buffers_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiered, "MOST_WRITTEN", 500)
    kernel = tinct.load(TEXT)["main"]
    dispatch(kernel, workgroups=2)
    assert not machine_code(kernel).has_code(CpuOptions("baseline"))
    assert stages(kernel) == (False, True)
    small = tinct.load(TEXT)["main"]
    dispatch(small)
    assert stages(small) == (True, False)


def test_a_limit_is_the_kernels() -> None:
    """The user's limit holds where it is the shorter one, and where it is not."""
    kernel = tinct.load(TEXT.replace("k < turns", "step == 0"))["main"]
    assert stages(kernel) == (True, False)  # compiled, since the limit is also that for compiling
    for limit in (0.01, 1):
        with pytest.raises(DeviceError, match=f"(did not end|was not compiled) within {limit:g} s"):
            dispatch(kernel, step=0, timeout=limit)
    dispatch(tinct.load(TEXT)["main"], turns=4, timeout=60)


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_limits_that_are_none(timeout: float) -> None:
    with pytest.raises(InputError, match="the time limit must be a positive number"):
        dispatch(tinct.load(TEXT)["main"], timeout=timeout)


def test_contracted_code_has_no_first_runs() -> None:
    kernel = tinct.load(
        "@group(0) @binding(0) var<storage, read_write> x: f32; @compute @workgroup_size(1)"
        " fn main() { x = x * 3.0 + 1.0; }"
    )["main"]
    assert kernel.run({"x": np.float32(2)}, workgroups=1, contract=True)["x"] == 7
    assert not kernel.shader.compilation("main", {}).machine_code.has_code(CpuOptions("baseline"))


def test_the_cache_keeps_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CACHE", "on")
    monkeypatch.setenv("TINCT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compiler_files, "_LOADED", 1 << 62)
    kernel = tinct.load(TEXT)["main"]
    dispatch(kernel)
    assert "LLVM passes" in kernel.shader.compilation("main", {"turns": 1}).seconds
    again = tinct.load(TEXT)["main"]
    dispatch(again)
    compilation = again.shader.compilation("main", {"turns": 1})
    assert "LLVM passes" not in compilation.seconds
    assert stages(again) == (True, False)
    assert compilation.cpu.tier == "gang"
    last = tinct.load(TEXT)["main"]
    dispatch(last)
    assert stages(last) == (False, True)
    assert last.shader.compilation("main", {"turns": 1}).cpu.tier == "gang"


def test_a_run_can_do_without() -> None:
    kernel = tinct.load(TEXT)["main"]
    given = {"step": np.uint32(1), "sums": np.zeros(64, np.uint32), "count": np.uint32(0)}
    assert kernel.run_timed(given, workgroups=1, trial=False).outputs["count"] == 64
    machine = kernel.shader.compilation("main", {}).machine_code
    assert machine.has_code(CpuOptions("gang"))
    assert not machine.has_code(CpuOptions("baseline"))
