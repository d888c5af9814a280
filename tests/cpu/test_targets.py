"""Code for lesser levels of the processor's architecture gives the same answers: gangs of 8 and of 4 lanes, no FMA."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import tinct
from tinct.backend.cpu.target import current_target
from tinct.base.errors import InputError

from .levels import available

DIVERGENT = """
enable f16;
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<storage, read_write> halves: array<f16>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var value = x[id.x];
    for (var step = 0u; step < id.x % 7u; step++) {
        if (value < 1.0) { value = fma(value, value, 2.0) - fract(value); } else { value = sqrt(value) * 0.25; }
    }
    out[id.x] = ldexp(value, i32(id.x % 300u) - 150);
    halves[id.x] = f16(value) * 3.0h + f16(i32(value * 1e5));
}
"""
MATH = """
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let v = x[id.x];
    switch id.x & 7u {
        case 0u: { out[id.x] = sin(v * 1e6); }
        case 1u: { out[id.x] = pow(abs(v), 3.7); }
        case 2u: { out[id.x] = exp(v * 20.0); }
        case 3u: { out[id.x] = log2(abs(v) * 1e-40); }
        case 4u: { out[id.x] = inverseSqrt(abs(v) * 1e-39); }
        case 5u: { out[id.x] = tan(v); }
        case 6u: { out[id.x] = asinh(v * 1e30); }
        default: { out[id.x] = acos(v * 0.2); }
    }
}
"""
COUNT = 1024


@pytest.fixture(params=["gang", "lane"])
def tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TINCT_CPU_TIER", request.param)
    return request.param


@pytest.fixture
def x() -> np.ndarray:
    source = random.Random(4)
    return np.array([source.uniform(-4, 4) for _ in range(COUNT)], np.float32)


@pytest.mark.parametrize("level", available())
def test_correctly_rounded_operations(level: str, tier: str, x: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    buffers = {"x": x, "out": np.zeros(COUNT, np.float32), "halves": np.zeros(COUNT, np.float16)}
    kernel = tinct.load(DIVERGENT)["main"]
    expected = kernel.run(buffers, threads=COUNT, device="interp")
    monkeypatch.setenv("TINCT_CPU_TARGET", level)
    found = tinct.load(DIVERGENT)["main"].run(buffers, threads=COUNT, device="cpu")
    for name in ("out", "halves"):
        np.testing.assert_array_equal(found[name], expected[name])


@pytest.mark.parametrize("level", available())
def test_other_functions(level: str, tier: str, x: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within 3 units in the last place, as test_operations says."""
    buffers = {"x": x, "out": np.zeros(COUNT, np.float32)}
    expected = tinct.load(MATH)["main"].run(buffers, threads=COUNT, device="interp")["out"]
    monkeypatch.setenv("TINCT_CPU_TARGET", level)
    found = tinct.load(MATH)["main"].run(buffers, threads=COUNT, device="cpu")["out"]
    np.testing.assert_array_max_ulp(found, expected, 3)


@pytest.mark.parametrize("level", available())
def test_every_half(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """F16 to f32 and back, with roundings, ties, subnormal numbers, infinities and NaN between them."""
    text = """
enable f16;
@group(0) @binding(0) var<storage, read> halves: array<f16>;
@group(0) @binding(1) var<storage, read> floats: array<f32>;
@group(0) @binding(2) var<storage, read_write> wide: array<f32>;
@group(0) @binding(3) var<storage, read_write> narrow: array<f16>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    wide[id.x] = f32(halves[id.x]);
    narrow[id.x] = f16(floats[id.x]);
}
"""
    monkeypatch.setenv("TINCT_CPU_TARGET", level)
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    with np.errstate(all="ignore"):
        exact = halves.astype(np.float32)
        next_up = np.nextafter(exact, np.float32(math.inf))
        floats = np.where(np.arange(len(exact)) % 3 == 0, exact, (exact + exact[::-1]) / 2)
        floats = np.where(np.arange(len(exact)) % 5 == 0, next_up, floats).astype(np.float32)
        expected = floats.astype(np.float16)
    buffers = {"halves": halves, "floats": floats, "wide": np.zeros_like(exact), "narrow": np.zeros_like(halves)}
    found = tinct.load(text)["main"].run(buffers, threads=len(halves), device="cpu")
    np.testing.assert_array_equal(found["wide"], exact)
    np.testing.assert_array_equal(found["narrow"], expected)


def test_unknown_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TARGET", "x86-64-v9")
    with pytest.raises(InputError, match="TINCT_CPU_TARGET must be one of native"):
        current_target()
