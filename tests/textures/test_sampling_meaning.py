"""What samplers mean in the interpreter: against formulas written here, and against the GPU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tinct
from tinct.backend.gpu import GpuDevice
from tinct.ir.core.interp_sampling import half_log2
from tinct.ir.source import Source
from tinct.kernel import Kernel
from tinct.shader import Shader

Array = npt.NDArray[Any]
RANDOM = np.random.default_rng(17)
IMAGE = RANDOM.random((3, 5, 4), np.float32)
SPECIAL = np.array([[0, 0], [1, 1], [-0.3, 1.7], [2.3, -5.1], [np.nan, 0.5], [np.inf, -np.inf], [1e30, -1e30]])
PLACES = np.concatenate([SPECIAL, RANDOM.random((20, 2)) * 3 - 1]).astype(np.float32)

ONE = """
    @group(0) @binding(0) var t: texture_2d<f32>;
    @group(0) @binding(1) var s: sampler;
    @group(0) @binding(2) var<storage> at: array<vec2f>;
    @group(0) @binding(3) var<storage, read_write> out: array<vec4f>;
    @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
        out[id.x] = textureSampleLevel(t, s, at[id.x], 0, vec2i(-3, 2));
    }"""


def kernel(wgsl: str) -> Kernel:
    return Shader(Source.from_text(wgsl)).kernel()


def wrapped(index: int, count: int, mode: str) -> int:
    if mode == "clamp-to-edge":
        return min(max(index, 0), count - 1)
    if mode == "repeat":
        return index % count
    return min(index % (2 * count), 2 * count - 1 - index % (2 * count))


def expected(mode: str, filter: str, u: float, v: float) -> Array:
    """The sample of `IMAGE` with the offset (-3, 2), in double precision."""
    height, width, _ = IMAGE.shape
    half = 0.5 if filter == "linear" else 0.0
    x, y = u * width - half - 3, v * height - half + 2
    i, j = math.floor(x), math.floor(y)
    rows: list[Array] = []
    for row in (j, j + 1):
        a, b = (IMAGE[wrapped(row, height, mode), wrapped(it, width, mode)].astype(float) for it in (i, i + 1))
        rows.append(a + (x - i) * (b - a) if half else a)
    return rows[0] + (y - j) * (rows[1] - rows[0]) if half else rows[0]


@pytest.mark.parametrize("filter", ["nearest", "linear"])
@pytest.mark.parametrize("mode", ["clamp-to-edge", "repeat", "mirror-repeat"])
def test_one_level(mode: Any, filter: Any) -> None:
    sampler = tinct.Sampler(address_mode_u=mode, address_mode_v=mode, mag_filter=filter)
    given = {"t": IMAGE, "s": sampler, "at": PLACES, "out": np.zeros((len(PLACES), 4), np.float32)}
    found = kernel(ONE).run(given, threads=len(PLACES), device="interp")["out"]
    assert np.isfinite(found).all()
    for (u, v), texel in zip(PLACES, found, strict=True):
        if abs(u) < 100 and abs(v) < 100:
            np.testing.assert_allclose(texel, expected(mode, filter, float(u), float(v)), atol=2e-6)


def test_half_log2() -> None:
    squares = [float(np.float32(it)) for it in np.exp(RANDOM.random(200) * 40 - 20)]
    np.testing.assert_allclose([half_log2(it) for it in squares], 0.5 * np.log2(squares), atol=2e-6)
    assert [half_log2(it) for it in (0.25, 1.0, 4.0, math.inf)] == [-1, 0, 1, 64]


ALL = """
    @group(0) @binding(0) var flat: texture_2d<f32>;
    @group(0) @binding(1) var layers: texture_2d_array<f32>;
    @group(0) @binding(2) var solid: texture_3d<f32>;
    @group(0) @binding(3) var cube: texture_cube<f32>;
    @group(0) @binding(4) var cubes: texture_cube_array<f32>;
    @group(0) @binding(5) var depths: texture_depth_2d;
    @group(0) @binding(6) var sky: texture_depth_cube;
    @group(0) @binding(7) var whole: texture_2d<u32>;
    @group(1) @binding(0) var s: sampler;
    @group(1) @binding(1) var c: sampler_comparison;
    @group(1) @binding(2) var plain: sampler;
    @group(1) @binding(3) var<storage> at: array<vec4f>;
    @group(1) @binding(4) var<storage, read_write> out: array<array<vec4f, 14>>;
    fn sampled(t: texture_2d<f32>, how: sampler, p: vec4f) -> vec4f { return textureSampleLevel(t, how, p.xy, p.w); }
    @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
        let p = at[id.x];
        let d = p.xyz * 2 - 1;
        let dx = vec3f(0.3 * p.w, 0.1, 0.02);
        let o = &out[id.x];
        o[0] = sampled(flat, s, p);
        o[1] = textureSampleGrad(flat, s, p.xy, dx.xy, dx.yz, vec2i(1, -2));
        o[2] = textureSampleBaseClampToEdge(flat, s, p.xy);
        o[3] = textureSampleLevel(layers, s, p.xy, i32(p.z * 5) - 1, p.w);
        o[4] = textureSampleLevel(solid, s, p.xyz, p.w, vec3i(0, 1, -1));
        o[5] = textureSampleGrad(solid, s, p.xyz, dx, dx.zyx);
        o[6] = textureSampleLevel(cube, s, d, p.w);
        o[7] = textureSampleLevel(cubes, s, d, i32(p.z * 3), 0);
        o[8] = textureGather(2, flat, s, p.xy, vec2i(3, -1));
        o[9] = vec4f(textureGather(1, whole, plain, p.xy));
        o[10] = textureGatherCompare(depths, c, p.xy, p.z);
        o[11].x = textureSampleCompareLevel(depths, c, p.xy, p.z, vec2i(-1, 1));
        o[11].y = textureSampleLevel(depths, plain, p.xy, i32(p.w));
        o[12].x = textureSampleCompareLevel(sky, c, d, p.z);
        o[13] = textureSampleGrad(cube, s, d, dx, dx.yzx);
    }"""

GRADIENTS = {1, 5, 13}


def floats(*shape: int) -> Array:
    return RANDOM.random(shape, np.float32)


def buffers(filter: Any, mode: Any, count: int) -> dict[str, Any]:
    at = RANDOM.random((count, 4)).astype(np.float32)
    at[:, :2] = at[:, :2] * 1.4 - 0.2
    at[:, 3] = at[:, 3] * 3 - 0.5
    modes = {f"address_mode_{it}": mode for it in "uvw"}
    return {
        "flat": [floats(8, 8, 4), floats(4, 4, 4), floats(2, 2, 4)],
        "layers": [floats(3, 4, 8, 4), floats(3, 2, 4, 4)],
        "solid": [floats(4, 4, 4, 4), floats(2, 2, 2, 4)],
        "cube": [floats(6, 4, 4, 4), floats(6, 2, 2, 4)],
        "cubes": floats(12, 4, 4, 4),
        "depths": [floats(8, 8), floats(4, 4)],
        "sky": floats(6, 4, 4),
        "whole": np.arange(8 * 4 * 4, dtype=np.uint32).reshape(8, 4, 4),
        "s": tinct.Sampler(**modes, mag_filter=filter, min_filter=filter, mipmap_filter=filter, lod_max_clamp=1.5),
        "c": tinct.Sampler(**modes, mag_filter=filter, compare="less-equal"),
        "plain": tinct.Sampler(**modes),
        "at": at,
        "out": np.zeros((count, 14, 4), np.float32),
    }


@pytest.mark.skipif(GpuDevice.available() is None, reason="no GPU")
@pytest.mark.parametrize(("filter", "mode"), [("linear", "mirror-repeat"), ("nearest", "repeat")])
def test_a_gpu_agrees(filter: str, mode: str) -> None:
    """Texels are from 0 to 1, and each of at most four fractions of a sample has 8 bits or more.

    Levels of detail from gradients are left out: Vulkan ("Scale Factor Operation, LOD Operation") lets a device
    approximate them, and an NVIDIA H200 takes another level than the reference where two are about as near.
    """
    given = buffers(filter, mode, 40)
    made = kernel(ALL)
    reference = made.run(given, threads=40, device="interp")["out"]
    found = made.run(given, threads=40, device="gpu")["out"]
    allowed = 4 / 256 if filter == "linear" else 0.0
    for number in set(range(14)) - GRADIENTS:
        away = np.abs(found[:, number] - reference[:, number]).max(axis=-1)
        assert (away <= allowed).all(), (number, away.max(), np.flatnonzero(away > allowed))


@pytest.mark.skipif(GpuDevice.available() is None, reason="no GPU")
def test_sessions_sample_on_a_gpu() -> None:
    samplers = [tinct.Sampler(address_mode_u=mode) for mode in ("repeat", "mirror-repeat")]
    with tinct.Session(device="gpu") as session:
        places = {"t": IMAGE, "at": PLACES, "out": (None, len(PLACES))}
        found = [session.run(kernel(ONE), {**places, "s": it}, threads=len(PLACES))["out"].numpy() for it in samplers]
    away = slice(len(SPECIAL), None)
    for sampler, array in zip(samplers, found, strict=True):
        values = {"t": IMAGE, "at": PLACES, "s": sampler, "out": np.zeros((len(PLACES), 4), np.float32)}
        expected = kernel(ONE).run(values, threads=len(PLACES), device="interp")["out"]
        np.testing.assert_array_equal(array[away], expected[away])
