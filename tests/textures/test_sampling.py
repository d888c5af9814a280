"""Sampling on the devices that need no GPU: all give the same bits, for any sampler, texture and coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tinct
from tinct.buffers import pack_buffers, unpack_buffers
from tinct.ir.builtins.textures import SPREADS
from tinct.ir.core.interp import run
from tinct.ir.core.verifier import verify
from tinct.ir.samplers import ADDRESS_MODES, COMPARISONS, FILTERS
from tinct.ir.source import Source
from tinct.kernel import Kernel
from tinct.origins import core_of
from tinct.shader import Shader
from tinct.transforms.core.lower_samplers import LowerSamplers
from tinct.transforms.core.move_samples import move_samples
from tinct.transforms.specialising import specialise
from tinct.transforms.to_hercules.texels import reciprocal

Floats = npt.NDArray[np.float32]

_HEAD = """
@group(0) @binding(0) var<storage, read> places: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> out: array<vec4f>;
@group(0) @binding(2) var s: sampler;
@group(0) @binding(3) var sc: sampler_comparison;
@group(0) @binding(4) var sn: sampler;
"""
_FLAT = (
    _HEAD
    + """
@group(1) @binding(0) var t1: texture_1d<f32>;
@group(1) @binding(1) var t2: texture_2d<f32>;
@group(1) @binding(2) var ta: texture_2d_array<f32>;
@group(1) @binding(3) var t3: texture_3d<f32>;
@group(1) @binding(4) var da: texture_depth_2d_array;
@group(1) @binding(5) var ui: texture_2d<u32>;

fn passed_on(t: texture_2d<f32>, s: sampler, at: vec2f, level: f32) -> vec4f {
  return textureSampleLevel(t, s, at, level);
}

@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {
  let p = places[id.x];
  let at = p.xy;
  let slot = 9 * id.x;
  out[slot] = passed_on(t2, s, at, p.w);
  out[slot + 1] = textureSampleGrad(t2, s, at, p.zw, p.yx, vec2i(-8, 7));
  out[slot + 2] = textureSampleBaseClampToEdge(t2, s, at) + textureSampleLevel(t1, s, at.x, p.w);
  out[slot + 3] = textureSampleLevel(ta, s, at, i32(p.w), p.z, vec2i(3, -5));
  out[slot + 4] = textureSampleLevel(t3, s, p.xyz, p.w);
  let compared = textureSampleCompareLevel(da, sc, at, id.x, p.z);
  let depth = textureSampleLevel(da, sn, at, 1, id.x % 3);
  out[slot + 5] = vec4f(compared, depth, textureLoad(t2, vec2u(id.x % 5u, 0), 1).xz);
  out[slot + 6] = textureGather(2, t2, s, at, vec2i(1, -3));
  out[slot + 7] = textureGatherCompare(da, sc, at, i32(p.w) - 1, p.z);
  out[slot + 8] = vec4f(textureGather(1, ui, sn, at));
}
"""
)
_CUBES = (
    _HEAD
    + """
@group(1) @binding(0) var c: texture_cube<f32>;
@group(1) @binding(1) var ca: texture_cube_array<f32>;
@group(1) @binding(2) var dc: texture_depth_cube;
@group(1) @binding(3) var ic: texture_cube<i32>;

@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {
  let p = places[id.x];
  let slot = 4 * id.x;
  out[slot] = textureSampleLevel(c, s, p.xyz, p.w);
  out[slot + 1] = textureSampleGrad(ca, s, p.xyz, i32(p.w), p.yzx, p.zyw);
  out[slot + 2] = vec4f(vec2f(textureSampleCompareLevel(dc, sc, p.xyz, p.w), f32(textureNumLayers(ca))),
    vec2f(textureDimensions(ca)));
  out[slot + 3] = vec4f(textureGather(3, ic, sn, p.xyz));
}
"""
)


def _places(count: int, random: np.random.Generator) -> Floats:
    """Random places, some at the borders of texels and of textures, and numbers that are no places."""
    places = random.uniform(-0.5, 1.5, (count, 4)).astype(np.float32)
    places[::4] = random.integers(-8, 9, places[::4].shape) / np.float32(4)
    places[1::4, 3] = random.uniform(0, 3, places[1::4, 3].shape)
    odd = [np.nan, np.inf, -np.inf, 1e30, -1e30, 1e-40, -0.0, 16777216.0]
    mask = random.random(places.shape) < 0.08
    places[mask] = random.choice(np.array(odd, np.float32), mask.sum())
    return places


def _sampler(random: np.random.Generator, *, filters: Sequence[str] = FILTERS, **fields: Any) -> tinct.Sampler:
    least = float(random.choice([0.0, 0.0, 0.6]))
    for axis in "uvw":
        fields[f"address_mode_{axis}"] = _pick(random, ADDRESS_MODES)
    for use in ("mag", "min", "mipmap"):
        fields[f"{use}_filter"] = _pick(random, filters)
    return tinct.Sampler(lod_min_clamp=least, lod_max_clamp=least + 1.5, **fields)


def _pick(random: np.random.Generator, choices: Sequence[str]) -> str:
    return choices[int(random.integers(len(choices)))]


def _levels(random: np.random.Generator, shapes: list[tuple[int, ...]], kind: str) -> list[npt.NDArray[Any]]:
    if kind == "float":
        return [random.normal(size=shape).astype(np.float32) for shape in shapes]
    return [random.integers(0, 256, shape).astype(kind) for shape in shapes]


def _flat(random: np.random.Generator, kind: str) -> dict[str, Any]:
    return {
        "t1": _levels(random, [(7, 4)], kind)[0],
        "t2": _levels(random, [(6, 5, 4), (3, 2, 4), (1, 1, 4)], kind),
        "ta": _levels(random, [(3, 4, 9, 4), (3, 2, 4, 4)], kind),
        "t3": _levels(random, [(3, 4, 5, 4), (1, 2, 2, 4)], kind),
        "da": _levels(random, [(2, 8, 8), (2, 4, 4)], "float"),
        "ui": random.integers(0, 1 << 20, (3, 3, 4)).astype(np.uint32),
    }


def _cubes(random: np.random.Generator, kind: str) -> dict[str, Any]:
    size = int(random.integers(1, 5)) * 2
    return {
        "c": _levels(random, [(6, size, size, 4), (6, size // 2, size // 2, 4)], kind),
        "ca": _levels(random, [(12, 2, 2, 4), (12, 1, 1, 4)], kind),
        "dc": _levels(random, [(6, 3, 3)], "float"),
        "ic": random.integers(-99, 99, (6, size, size, 4)).astype(np.int32),
    }


def _as_lowered(kernel: Kernel, values: dict[str, Any]) -> Floats:
    """What the interpreter of core IR makes of the kernel without samplers."""
    module = specialise(core_of(str(kernel.shader.source.data, "utf-8")), "main", {})
    assert LowerSamplers(core_of).run(module)
    verify(module)
    packed = pack_buffers(kernel.bindings, values, "compact")
    run(module, "main", packed, (1, 1, 1))
    return unpack_buffers(kernel.bindings, packed, values)["out"]


@pytest.mark.parametrize(("wgsl", "textures"), [(_FLAT, _flat), (_CUBES, _cubes)], ids=["flat", "cubes"])
def test_all_devices_give_the_same_bits(wgsl: str, textures: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(17)
    kernels: dict[str, Kernel] = {}
    for tier in ("gang", "lane"):
        monkeypatch.setenv("TINCT_CPU_TIER", tier)
        kernels[tier] = Shader(Source.from_text(wgsl)).kernel()
        assert kernels[tier].shader.compilation("main", {}).cpu
    for turn in range(6):
        values = {"places": _places(32, random), "s": _sampler(random)} | textures(random, ("float", "uint8")[turn % 2])
        values["sc"] = _sampler(random, compare=_pick(random, [it for it in COMPARISONS if it]))
        values["sn"] = _sampler(random, filters=("nearest",))
        values["out"] = np.zeros((32 * 9, 4), np.float32)
        expected = _as_lowered(kernels["gang"], values)
        for tier, device in (("gang", "interp"), ("gang", "hercules"), ("gang", "cpu"), ("lane", "cpu")):
            monkeypatch.setenv("TINCT_CPU_TIER", tier)
            found = kernels[tier].run(values, workgroups=1, device=device)["out"]
            np.testing.assert_array_equal(found, expected, err_msg=f"{values} on {device}, {tier}")


@pytest.mark.parametrize("wgsl", [_FLAT, _CUBES], ids=["flat", "cubes"])
def test_samples_of_every_kind_can_be_moved(wgsl: str) -> None:
    module = core_of(wgsl)
    facts = move_samples(module, core_of)
    assert facts is not None
    assert (facts.axes, facts.components) == (3, 4)
    verify(module)
    specialised = specialise(module, "main", {})
    assert LowerSamplers(core_of).run(specialised)
    verify(specialised)


def test_no_shader_can_ask_for_a_spread() -> None:
    for function, spread in SPREADS.items():
        assert function in _FLAT
        with pytest.raises(tinct.ShaderError):
            tinct.load(_FLAT.replace(function, spread))


def test_coordinates_may_be_constants_of_equal_parts() -> None:
    tested = tinct.load("""
        @group(0) @binding(0) var<storage, read_write> out: array<f32>;
        @group(0) @binding(1) var t: texture_2d<f32>;
        @group(0) @binding(2) var s: sampler;
        @compute @workgroup_size(1) fn main() {
            out[0] = textureSampleLevel(t, s, vec2f(), 0).x + textureSampleGrad(t, s, vec2f(0.9), vec2f(), vec2f()).x;
        }
    """)["main"]
    picture = np.arange(4, dtype=np.float32).reshape(2, 2)
    out = tested.run({"out": [0], "t": picture, "s": tinct.Sampler()}, threads=1, device="interp")["out"]
    assert out.tolist() == [3]


def test_a_linear_filter_weighs_four_texels() -> None:
    shader = Shader(
        Source.from_text("""
            @group(0) @binding(0) var t: texture_2d<f32>;
            @group(0) @binding(1) var s: sampler;
            @group(0) @binding(2) var<storage, read_write> out: array<vec4f, 2>;
            @compute @workgroup_size(1) fn main() {
                out[0] = textureSampleLevel(t, s, vec2f(0.375, 0.625), 0);
                out[1] = textureSampleLevel(t, s, vec2f(1.125, -0.25), 0);
            }""")
    )
    texels = np.array([[[0], [8]], [[16], [64]]], np.float32)
    for modes, outside in ((("clamp-to-edge", "clamp-to-edge"), 8.0), (("repeat", "mirror-repeat"), 2.0)):
        fields: dict[str, Any] = {"address_mode_u": modes[0], "address_mode_v": modes[1]}
        s = tinct.Sampler(mag_filter="linear", **fields)
        out = shader.kernel().run({"t": texels, "s": s, "out": np.zeros((2, 4), np.float32)}, workgroups=1)["out"]
        expected = 0.75 * (0.25 * 0 + 0.75 * 16) + 0.25 * (0.25 * 8 + 0.75 * 64)
        np.testing.assert_array_equal(out[0], [expected, 0, 0, 1])
        assert out[1, 0] == outside


@pytest.mark.parametrize(("largest", "bits"), [(3, 2), (127, 8), (255, 8), (1023, 10), (32767, 16), (65535, 16)])
def test_normalised_channels_are_quotients_correctly_rounded(largest: int, bits: int) -> None:
    values = np.arange(-largest - 1, (1 << bits) if largest >> (bits - 1) else largest + 1).astype(np.float32)
    values = values[values >= 0] if largest >> (bits - 1) else values
    high, low = map(np.float32, reciprocal(largest, bits))
    np.testing.assert_array_equal(values * high + values * low, values / np.float32(largest))
