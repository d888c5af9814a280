"""Texels and elements at scattered positions: two neighbours by one load, and whole vectors by one load a lane."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tinct
from tinct.buffers import pack_buffers
from tinct.dispatch import handle_facts
from tinct.ir.source import Source
from tinct.kernel import Kernel
from tinct.shader import Shader

HEAD = """
    @group(0) @binding(0) var t: texture_2d<f32>;
    @group(0) @binding(1) var s: sampler;
    @group(0) @binding(2) var<storage> at: array<vec2f>;
    @group(0) @binding(3) var<storage, read_write> out: array<vec4f>;
"""
SAMPLED = f"""{HEAD}
    @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {{
        out[id.x] = textureSampleLevel(t, s, at[id.x], 0);
    }}"""
HELPED = f"""{HEAD}
    fn shade(from_: texture_2d<f32>, how: sampler, p: vec2f) -> vec4f {{
        return 2.0 * textureSampleLevel(from_, how, p, 0);
    }}
    @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {{
        out[id.x] = shade(t, s, at[id.x]);
    }}"""
LOOPED = f"""{HEAD}
    @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {{
        var sum = vec4f();
        for (var i = 0; i < 3; i++) {{
            if at[id.x].x < 0.9 {{ sum += textureSampleLevel(t, s, at[id.x] + 0.1 * f32(i), 0); }}
        }}
        out[id.x] = sum;
    }}"""
GATHERED = f"""{HEAD}
    @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {{
        let f = fract(at[id.x] * vec2f(textureDimensions(t)) - 0.5);
        let g = textureGather(1, t, s, at[id.x]);
        out[id.x] = vec4f(mix(mix(g.w, g.z, f.x), mix(g.x, g.y, f.x), f.y));
    }}"""
BY_HAND = f"""{HEAD}
    @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {{
        let size = vec2i(textureDimensions(t));
        let x = at[id.x] * vec2f(size) - 0.5;
        let i = vec2i(floor(x));
        let a = clamp(i, vec2i(0), size - 1);
        let b = clamp(i + vec2i(1), vec2i(0), size - 1);
        let f = x - floor(x);
        let low = mix(textureLoad(t, a, 0), textureLoad(t, vec2i(b.x, a.y), 0), f.x);
        out[id.x] = mix(low, mix(textureLoad(t, vec2i(a.x, b.y), 0), textureLoad(t, b, 0), f.x), f.y)
            + 0.0 * textureSampleLevel(t, s, vec2f(), 0);
    }}"""


def values(picture: npt.NDArray[Any], sampler: tinct.Sampler) -> dict[str, Any]:
    random = np.random.default_rng(5)
    places = (random.random((96, 2)) * 1.4 - 0.2).astype(np.float32)
    places[::7] = np.float32(0.4) + np.arange(14, dtype=np.float32)[:, None] / np.float32(90)
    return {"t": picture, "s": sampler, "at": places, "out": np.zeros((96, 4), np.float32)}


def picture(dtype: type) -> npt.NDArray[Any]:
    random: npt.NDArray[Any] = np.random.default_rng(7).integers(0, 256, (9, 11, 4))
    return random.astype(np.uint8) if dtype is np.uint8 else (random / 255).astype(np.float32)


def code_for(kernel: Kernel, given: dict[str, Any]) -> str:
    """The LLVM IR for textures and samplers like these."""
    packed = pack_buffers(kernel.bindings, given, "compact")
    return kernel.compilation().suited_to(handle_facts(kernel.bindings, packed)).cpu.llvm(optimised=False)


@pytest.mark.parametrize("wgsl", [SAMPLED, HELPED, LOOPED, GATHERED, BY_HAND])
def test_texels_of_bytes_are_loaded_in_pairs(wgsl: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    kernel = Shader(Source.from_text(wgsl)).kernel()
    modes: Any = ("clamp-to-edge", "repeat")
    for mode in modes if wgsl is SAMPLED else modes[:1]:
        sampler = tinct.Sampler(address_mode_u=mode, address_mode_v=mode, mag_filter="linear", min_filter="linear")
        given = values(picture(np.uint8), sampler)
        text = code_for(kernel, given)
        assert "x i64> @llvm.masked.gather" in text
        found, expected = (kernel.run(given, threads=96, device=it)["out"] for it in ("cpu", "interp"))
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("wgsl", [SAMPLED, LOOPED, BY_HAND])
def test_texels_of_floats_are_loaded_whole(wgsl: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    kernel = Shader(Source.from_text(wgsl)).kernel()
    given = values(picture(np.float32), tinct.Sampler(mag_filter="linear", min_filter="linear"))
    assert "load <4 x i32>" in code_for(kernel, given)
    found, expected = (kernel.run(given, threads=96, device=it)["out"] for it in ("cpu", "interp"))
    np.testing.assert_array_equal(found, expected)


ELEMENTS = """
    struct Tile { size: vec4u, heights: array<f32> }
    @group(0) @binding(0) var<storage, read_write> tile: Tile;
    @group(0) @binding(1) var<storage> at: array<vec2f>;
    @group(0) @binding(2) var<storage, read_write> out: array<f32>;
    @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {
        let i = u32(at[id.x].x);
        let j = u32(at[id.x].y);
        let row = j * tile.size.x;
        let a = tile.heights[row + i];
        WRITE
        let b = tile.heights[row + min(i + 1, tile.size.x - 1)];
        let c = tile.heights[u32(b) % 7 + row];
        out[id.x] = a + 10 * b + 100 * c + tile.heights[i - 5];
    }"""


@pytest.mark.parametrize(("write", "pairs"), [("", True), ("tile.heights[row + i] = f32(id.x);", False)])
def test_elements_are_paired_where_nothing_is_written_between(
    write: str, pairs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    kernel = Shader(Source.from_text(ELEMENTS.replace("WRITE", write))).kernel()
    numbers = np.random.default_rng(3).permutation(48)
    places = np.stack([numbers % 8, numbers // 8], 1).astype(np.float32)
    size = np.array([8, 6, 0, 0], np.uint32).tobytes()
    given = {
        "tile": size + np.arange(48, dtype=np.float32).tobytes(),
        "at": places[:32],
        "out": np.zeros(32, np.float32),
    }
    text = kernel.compilation().cpu.llvm(optimised=False)
    assert ("x i64> @llvm.masked.gather" in text) == pairs
    if pairs:  # with the write, lanes race
        found, expected = (kernel.run(given, threads=32, device=it)["out"] for it in ("cpu", "interp"))
        np.testing.assert_array_equal(found, expected)
