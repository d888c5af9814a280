"""Every texel format, stored and loaded, against numpy's idea of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tinct.frontend.resolve.predeclared import TEXEL_FORMATS
from tinct.ir.texels import texel_format
from tinct.ir.types import F32, U32

from .support import assert_agree

Array = npt.NDArray[Any]
FLOATS = [0.0, -0.0, 0.25, 0.5, 1.0, -1.0, -0.3, 0.1, 2.0, 1e-7, 6e-5, 65000.0, 65503.0, 7e4, -9e9, 3.14159]
SPECIAL = [math.inf, -math.inf, 1e-30, 0.49999997, 0.501960813999176, 0.99999994, 65024.0, 64513.0]
INTEGERS = [0, 1, 3, 4, 127, 128, 255, 256, 1023, 1024, 32767, 32768, 65535, 65536, 2**31, 2**32 - 1]
WIDTH = 16


def values(scalar: str) -> Array:
    """A row of vectors, as u32 bits of `scalar`."""
    if scalar != "f32":
        return np.array([INTEGERS[(x + 5 * c) % WIDTH] for x in range(WIDTH) for c in range(4)], np.uint32)
    numbers = FLOATS + SPECIAL
    rows = [numbers[(x + 5 * c) % len(numbers)] for x in range(WIDTH) for c in range(4)]
    return np.array(rows, np.float32).view(np.uint32)


def array_for(name: str, width: int) -> Array:
    form = texel_format(name)
    if form.is_packed:
        return np.zeros((1, width), np.uint32)
    kind, bits = form.channels[0].kind.value, form.channels[0].bits
    letter = {"unorm": "u", "uint": "u", "snorm": "i", "sint": "i", "float": "f"}[kind]
    return np.zeros((1, width, len(form.channels)), f"<{letter}{bits // 8}")


@pytest.mark.parametrize("name", sorted(TEXEL_FORMATS))
def test_stores(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scalar = str(texel_format(name).scalar)
    wgsl = f"""
        @group(0) @binding(0) var target_: texture_storage_2d<{name}, write>;
        @group(0) @binding(1) var<storage> given: array<vec4u>;
        @compute @workgroup_size({WIDTH}) fn main(@builtin(local_invocation_index) i: u32) {{
            textureStore(target_, vec2u(i, 0), bitcast<vec4<{scalar}>>(given[i]));
        }}"""
    given = values(scalar)
    buffers = {"target_": array_for(name, WIDTH), "given": given.reshape(-1, 4)}
    found = assert_agree(wgsl, buffers, 1, monkeypatch)["target_"]
    if texel_format(name).is_packed:
        return
    order = [channel.component for channel in texel_format(name).channels]
    vectors = given.view({"f32": np.float32, "u32": np.uint32, "i32": np.int32}[scalar]).reshape(WIDTH, 4)
    np.testing.assert_array_equal(found[0], stored(name, vectors[:, order]))


def stored(name: str, channels: Array) -> Array:
    """What a format without packed channels keeps of numbers (WGSL, "Texel Formats")."""
    kind, bits = texel_format(name).channels[0].kind.value, texel_format(name).channels[0].bits
    dtype = array_for(name, 1).dtype
    with np.errstate(over="ignore"):
        if kind == "float":
            return channels.astype(dtype)
        if kind in ("uint", "sint"):
            limits = np.iinfo(dtype)
            return np.clip(channels, limits.min, limits.max).astype(dtype)
        lowest = 0.0 if kind == "unorm" else -1.0
        largest = np.float32(2 ** (bits - (kind == "snorm")) - 1)
        return np.floor(np.clip(channels, lowest, 1).astype(np.float32) * largest + np.float32(0.5)).astype(dtype)


@pytest.mark.parametrize("name", sorted(TEXEL_FORMATS))
def test_loads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    form = texel_format(name)
    wgsl = f"""
        @group(0) @binding(0) var source: texture_storage_2d<{name}, read>;
        @group(0) @binding(1) var<storage, read_write> out: array<vec4<{form.scalar}>>;
        @compute @workgroup_size({WIDTH}) fn main(@builtin(local_invocation_index) i: u32) {{
            out[i] = textureLoad(source, vec2u(i, 0));
        }}"""
    random = np.random.default_rng(1)
    blank = array_for(name, WIDTH)
    source = np.frombuffer(random.bytes(blank.nbytes), blank.dtype).reshape(blank.shape)
    out_type = {F32: np.float32, U32: np.uint32}.get(form.scalar, np.int32)
    found = assert_agree(wgsl, {"source": source, "out": np.zeros((WIDTH, 4), out_type)}, 1, monkeypatch)["out"]
    expected = np.zeros((WIDTH, 4), out_type)
    expected[:, 3] = 1
    for channel, numbers in zip(form.channels, loaded(name, source[0]), strict=True):
        expected[:, channel.component] = numbers
    np.testing.assert_array_equal(found, expected)


def loaded(name: str, texels: Array) -> list[Array]:
    """The channels, as a shader sees them."""
    if name == "rg11b10ufloat":
        halves = [(texels & 0x7FF) << 4, (texels >> 11 & 0x7FF) << 4, (texels >> 22) << 5]
        return [half.astype(np.uint16).view(np.float16).astype(np.float32) for half in halves]
    if name.startswith("rgb10a2"):
        bits = [texels >> shift & mask for shift, mask in ((0, 1023), (10, 1023), (20, 1023), (30, 3))]
        if name == "rgb10a2uint":
            return bits
        return [channel.astype(np.float32) / np.float32(m) for channel, m in zip(bits, (1023,) * 3 + (3,), strict=True)]
    kind, bits = texel_format(name).channels[0].kind.value, texel_format(name).channels[0].bits
    channels = list(texels.T)
    if kind == "unorm":
        return [channel.astype(np.float32) / np.float32(2**bits - 1) for channel in channels]
    if kind == "snorm":
        largest = np.float32(2 ** (bits - 1) - 1)
        return [np.maximum(channel.astype(np.float32) / largest, np.float32(-1)) for channel in channels]
    return channels


@pytest.mark.parametrize(
    ("value", "bits"),
    [(1.0, 0x3C0), (0.0, 0), (-5.0, 0), (math.inf, 0x7C0), (-math.inf, 0), (1e9, 0x7BF), (1.0078125, 0x3C0)],
)
def test_small_floats_are_cut(value: float, bits: int) -> None:
    """Eleven bits: five of exponent and six of fraction; towards zero, and never to an infinity."""
    (word,) = texel_format("rg11b10ufloat").encode((value, 0.0, 0.0, 0.0))
    assert word == bits
