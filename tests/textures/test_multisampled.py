"""Multisampled textures on a GPU, where their samples are drawn."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import tinct
from tinct.backend.gpu import GpuDevice
from tinct.backend.gpu.binding_headers import TextureHeader
from tinct.backend.gpu.model import GpuError
from tinct.backend.gpu.multisampled_textures import WIDE_FORMATS, check_samples, multisampled_format
from tinct.base.errors import DeviceError
from tinct.compare import EXACT
from tinct.testing import assert_agrees

needs_gpu = pytest.mark.skipif(not GpuDevice.available(), reason="no GPU")

WGSL = """
    @group(0) @binding(0) var<storage, read_write> floats: array<vec4f>;
    @group(0) @binding(1) var<storage, read_write> whole: array<vec4u>;
    @group(0) @binding(2) var colours: texture_multisampled_2d<f32>;
    @group(0) @binding(3) var depths: texture_depth_multisampled_2d;
    @group(0) @binding(4) var signed: texture_multisampled_2d<i32>;
    @group(0) @binding(5) var unsigned: texture_multisampled_2d<u32>;
    fn depth_of(t: texture_depth_multisampled_2d, at: vec2i, number: i32) -> vec4f {
        return vec4f(textureLoad(t, at, number));
    }
    @compute @workgroup_size(4, 2, 2) fn main(@builtin(global_invocation_id) id: vec3u) {
        let size = textureDimensions(colours);
        if any(id.xy >= size) { return; }
        let i = (id.y * size.x + id.x) * textureNumSamples(colours) + id.z;
        // Out of bounds: the nearest texel, the last sample.
        let last = textureLoad(colours, id.xy + size, id.z + 4);
        floats[i] = last + textureLoad(colours, id.xy, id.z) + depth_of(depths, vec2i(id.xy), i32(id.z));
        whole[i] = bitcast<vec4u>(textureLoad(signed, id.xy, id.z)) ^ textureLoad(unsigned, id.xy, id.z);
    }"""


def values() -> dict[str, Any]:
    """Samples of which no two are alike, with all bits in use."""
    random, shape = np.random.default_rng(4), (3, 5, 4)
    return {
        "floats": np.zeros((60, 4), np.float32),
        "whole": np.zeros((60, 4), np.uint32),
        "colours": (1000 * random.normal(size=(*shape, 4))).astype(np.float32),
        "depths": random.random(shape, np.float32),
        "signed": random.integers(-(2**31), 2**31, (*shape, 4)).astype(np.int32),
        "unsigned": random.integers(0, 2**32, (*shape, 4)).astype(np.uint32),
    }


@needs_gpu
def test_each_sample_of_each_kind_has_its_own_value() -> None:
    given = values()
    devices = ["interp", "cpu", "gpu"]
    found = assert_agrees(tinct.load(WGSL)["main"], given, threads=(5, 3, 4), devices=devices, tolerance=EXACT)
    expected = given["signed"].view(np.uint32) ^ given["unsigned"]
    np.testing.assert_array_equal(found["whole"].reshape(expected.shape), expected)


@needs_gpu
def test_a_session_draws_them_once_and_takes_other_samples() -> None:
    kernel, given = tinct.load(WGSL)["main"], values()
    infos = {it.name: it for it in kernel.bindings}
    with tinct.Session(device="gpu") as session:
        buffers = {name: session.buffer(value, infos[name]) for name, value in given.items()}
        for factor in (1, -1):
            buffers["signed"].write(given["signed"] * factor)
            session.run(kernel, buffers, threads=(5, 3, 4))
            expected = (given["signed"] * factor).view(np.uint32) ^ given["unsigned"]
            np.testing.assert_array_equal(buffers["whole"].numpy().reshape(expected.shape), expected)


@needs_gpu
def test_a_gpu_has_four_samples_and_depths_from_0_to_1() -> None:
    kernel = tinct.load(WGSL)["main"]
    two = {**values(), "colours": np.zeros((3, 5, 2, 4), np.float32)}
    with pytest.raises(DeviceError, match=r"not supported: a texture_multisampled_2d<f32> with 2 samples a texel"):
        kernel.run(two, threads=(5, 3, 4), device="gpu")
    deep = {**values(), "depths": np.full((3, 5, 4), 2, np.float32)}
    with pytest.raises(DeviceError, match="depths that are not from 0 to 1"):
        kernel.run(deep, threads=(5, 3, 4), device="gpu")


@pytest.mark.parametrize(("sampled", "narrow", "fits", "too_wide"), [
    ("f32", "rgba16float", [1.5, -2048, np.nan], [1 + 2.0**-20]),
    ("i32", "rgba16sint", [-32768, 32767], [32768]),
    ("u32", "rgba16uint", [0, 65535], [65536]),
])  # fmt: skip
def test_an_adapter_without_wide_formats_takes_what_16_bits_hold(
    sampled: str, narrow: str, fits: list[float], too_wide: list[float]
) -> None:
    header = cast("TextureHeader", {"sampled": sampled, "format": "wide"})
    wide, narrow_only = (cast("Any", SimpleNamespace(features=it)) for it in ({WIDE_FORMATS}, set[str]()))
    assert multisampled_format(wide, header) == "wide"
    assert multisampled_format(narrow_only, header) == narrow
    dtype = {"f32": np.float32, "i32": np.int32, "u32": np.uint32}[sampled]
    check_samples(header, narrow, np.array(fits, dtype).tobytes())
    check_samples(header, "wide", np.array(too_wide, dtype).tobytes())
    with pytest.raises(GpuError, match=f"not supported: samples of {sampled} that {narrow} does not hold"):
        check_samples(header, narrow, np.array(too_wide, dtype).tobytes())
