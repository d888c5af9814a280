"""A texture that is given as bytes stays bytes in a session, wherever it is used."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.base.errors import InputError
from tinct.ir.source import Source
from tinct.shader import Shader

KERNEL = Shader(
    Source.from_text("""
    @group(0) @binding(0) var t: texture_2d<f32>;
    @group(0) @binding(1) var s: sampler;
    @group(0) @binding(2) var<storage, read_write> out: array<vec4f>;
    @compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3u) {
        out[id.x] = textureSampleLevel(t, s, vec2f(f32(id.x) / 16, 0.4), 0) + textureLoad(t, id.xy, 0);
    }""")
).kernel()
BYTES = np.random.default_rng(2).integers(0, 256, (32, 32, 4), dtype=np.uint8)
SAMPLER = tinct.Sampler(mag_filter="linear", min_filter="linear")


@pytest.mark.usefixtures("needs_gpu")
def test_all_devices_read_it() -> None:
    expected = KERNEL.run({"t": BYTES, "s": SAMPLER, "out": (None, 16)}, threads=16, device="interp")["out"]
    with tinct.Session() as session:
        texture = session.buffer(BYTES, KERNEL.bindings[0])
        assert texture.nbytes < 2 * BYTES.nbytes
        for device in ("cpu", "interp", "hercules", "gpu", "cpu"):
            made = session.run(KERNEL, {"t": texture, "s": SAMPLER, "out": (None, 16)}, threads=16, device=device)
            tolerance = 1 / 128 if device == "gpu" else 0  # of a filter's weights
            np.testing.assert_allclose(made["out"].numpy(), expected, atol=tolerance, err_msg=device)
            given = session.run(KERNEL, {"t": BYTES, "s": SAMPLER, "out": (None, 16)}, threads=16, device=device)
            np.testing.assert_array_equal(given["out"].numpy(), made["out"].numpy())
        texture.write(255 - BYTES)
        for device in ("gpu", "cpu"):
            made = session.run(KERNEL, {"t": texture, "s": SAMPLER, "out": (None, 16)}, threads=16, device=device)
            np.testing.assert_allclose(made["out"].numpy(), 2 - expected, atol=1 / 128, err_msg=device)


def test_its_values_are_those_given() -> None:
    with tinct.Session() as session:
        texture = session.buffer(BYTES, KERNEL.bindings[0])
        np.testing.assert_array_equal(texture.numpy(), BYTES)
        np.testing.assert_array_equal(session.buffer(BYTES[..., :2], KERNEL.bindings[0]).numpy(), BYTES[..., :2])
        np.testing.assert_array_equal(session.buffer(BYTES[..., 0], KERNEL.bindings[0]).numpy(), BYTES[..., 0])
        floats = session.buffer(BYTES[..., 0] / np.float32(255), KERNEL.bindings[0])
        np.testing.assert_array_equal(floats.numpy(), BYTES[..., 0] / np.float32(255))
        floats.write(BYTES[..., 0])
        np.testing.assert_array_equal(floats.numpy(), BYTES[..., 0] / np.float32(255))
        levels = session.buffer([BYTES, BYTES[::2, ::2]], KERNEL.bindings[0])
        assert (levels.dtype, levels.shape) == (np.uint8, BYTES.shape)
        levels.write([BYTES[::-1], BYTES[::2, ::2]])
        np.testing.assert_array_equal(levels.numpy(), BYTES[::-1])
        with pytest.raises(InputError, match=r"made from uint8, has .* bytes of .*, and cannot become"):
            texture.write(BYTES / np.float32(255))


def test_texels_that_are_bytes_are_no_storage_texture() -> None:
    """A texture that is given as bytes keeps them; a storage texture of floats would read them as floats."""
    shader = tinct.load("""
        @group(0) @binding(0) var sampled: texture_2d<f32>;
        @group(0) @binding(1) var stored: texture_storage_2d<rgba32float, read>;
        @group(0) @binding(2) var<storage, read_write> found: f32;
        @compute @workgroup_size(1) fn main() { found = textureLoad(stored, vec2u(1, 0)).r; }
    """)
    with tinct.Session() as session:
        for given in (np.full((2, 2, 4), 7, np.float32), np.full((2, 2, 4), 255, np.uint8)):
            picture, found = session.buffer(given, shader.bindings["sampled"]), session.empty(np.float32, 1)
            values = {"stored": picture, "found": found}
            if given.dtype == np.uint8:
                with pytest.raises(tinct.InputError, match="their texels are bytes and rgba32float"):
                    session.run(shader["main"], values, threads=1)
                continue
            session.run(shader["main"], values, threads=1)
            assert found.numpy() == 7
