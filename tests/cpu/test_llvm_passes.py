"""LLVM's passes keep what code means, and what LLVM holds is dropped where an interrupt is not lost."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import llvmlite.binding
import numpy as np
import pytest

import tinct
from tinct.backend.cpu import jit

LOOPS = """
override n: u32;
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> y0: array<f32>;
@group(0) @binding(3) var<storage, read_write> y1: array<f32>;
@compute @workgroup_size(1)
fn sample(@builtin(workgroup_id) id: vec3u) {
    let w = id.x * 4u;
    var firsts: array<f32, 2>;
    var seconds: array<f32, 2>;
    var sums: array<f32, 2>;
    var first: f32;
    var second: f32;
    var third: f32;
    var sum: f32;

    for (var i = 0u; i < 2u; i++) {
        for (var j = 0u; j < 3u; j++) {
            for (var k = 0u; k < 2u; k++) {
                let row = i + k - 1u;
                let x = select(0.0, a[row * 3u + (j - 1u)], (row < 3u) & (j - 1u < 3u));
                first = first * 3.0 + (x + x * b[j * 8u + (w + 1u)] + f32(i32(j)));
                firsts[k] = first;
            }
            for (var k = 0u; k < 2u; k++) {
                let row = i + k - 1u;
                let x = select(0.0, a[row * 3u + (j - 1u)], (row < 3u) & (j - 1u < 3u));
                second = second * 3.0 + (x + x * b[j * 8u + (w + 2u)] + f32(i32(j)));
                seconds[k] = second;
            }
            for (var k = 0u; k < 2u; k++) {
                let row = i + k - 1u;
                let x = select(0.0, a[row * 3u + (j - 1u)], (row < 3u) & (j - 1u < 3u));
                let before = sum + third;
                third = third * 3.0 + (x + x * b[j * 8u + (w + 3u)] + f32(i32(j)));
                sum = before;
                sums[k] = sum;
            }
        }
        y0[i * 8u + w + 1u] = firsts[0];
        y0[i * 8u + w + 2u] = seconds[0];
        if i < n { y1[i * 8u + w + 3u] = sums[0]; }
    }
}
"""


def test_values_of_other_iterations_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """NewGVN took loads of one iteration for those of the next, where it moved operations into phis."""
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    random = np.random.default_rng(1)
    arrays = {
        "a": random.integers(-4, 5, 9).astype(np.float32),
        "b": random.integers(-4, 5, 24).astype(np.float32),
        "y0": np.zeros(24, np.float32),
        "y1": np.zeros(24, np.float32),
    }
    kernel = tinct.load(LOOPS)["sample"]
    found, expected = (kernel.run(arrays, workgroups=2, constants={"n": 3}, device=it) for it in ("cpu", "interp"))
    for name, array in expected.items():
        assert np.array_equal(found[name], array), name


@pytest.mark.parametrize("make", [lambda it: jit.make_object(it, "quick"), lambda it: jit.optimised_text(it, "scalar")])
@pytest.mark.parametrize(
    "kind",
    [
        llvmlite.binding.module.ModuleRef,
        llvmlite.binding.context.ContextRef,
        llvmlite.binding.newpassmanagers.PassBuilder,
    ],
)
def test_an_interrupt_while_llvm_drops_what_it_holds_is_raised(
    make: Callable[[str], object], kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python would ignore it in `__del__`, and a kernel would run on. LLVM takes milliseconds for large modules."""
    text = "define void @kernel() { ret void }"
    make(text)
    dispose = kind._dispose

    def dispose_meanwhile(it: object) -> None:
        signal.raise_signal(signal.SIGINT)
        dispose(it)

    with monkeypatch.context() as patch:
        patch.setattr(kind, "_dispose", dispose_meanwhile)
        with pytest.raises(KeyboardInterrupt):
            make(text)
    make(text)
