"""How exactly a device blends texels and mip levels: measured, as WebGPU does not say.

A GPU rounds the place of a sample, and its level of detail, to a number of bits (Vulkan, `subTexelPrecisionBits` and
`mipmapPrecisionBits`; eight by Direct3D 12's `D3D12_SUBTEXEL_FRACTIONAL_BIT_COUNT` and
`D3D12_MIP_LOD_FRACTIONAL_BIT_COUNT`), in a direction of its own. The weight of a texel is a product of factors that
follow from these: one for each axis, and the share of its level. A GPU may round each product, and the blend. The other
devices compute in f32.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .devices import adapter_named, samples_itself
from .ir.samplers import Sampler
from .ir.source import Source
from .kernel import BufferValue
from .shader import Shader

MOST_BITS: Final = 16
"""A device is taken to have at most these, since so many weights are tried."""

_SIZES: Final = (4, 2)
"""The width and the height in texels of the levels of a texture that shows weights."""
_MEASURING: Final = f"""
@group(0) @binding(0) var texels: texture_2d<f32>;
@group(0) @binding(1) var levels: texture_2d<f32>;
@group(0) @binding(2) var corners: texture_2d_array<f32>;
@group(0) @binding(3) var linear: sampler;
@group(0) @binding(4) var<storage, read_write> found: array<vec4f>;

// The weights of a level's texels, of which each blend has one with even x and y, odd x, odd y, and both odd.
fn weights(of_level: u32, at: vec2f, level: f32) -> vec4f {{
    return textureSampleLevel(corners, linear, at, of_level, level);
}}

// The greatest distance of a level's weights from the products of its share and the weights along each axis alone.
fn off_products(of_level: u32, at: vec2f, level: f32) -> f32 {{
    let first = 0.5 / select({_SIZES[0]}.0, {_SIZES[1]}.0, of_level == 1);
    let x = weights(of_level, vec2f(at.x, first), f32(of_level)).xy;
    let y = weights(of_level, vec2f(first, at.y), f32(of_level)).xz;
    let all = weights(of_level, at, level);
    let off = abs(all - dot(all, vec4f(1)) * vec4f(x * y.x, x * y.y));
    return max(max(off.x, off.y), max(off.z, off.w));
}}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {{
    if id.x >= arrayLength(&found) {{
        return;
    }}
    let weight = f32(id.x) / f32(arrayLength(&found) - 1);
    let along = textureSampleLevel(texels, linear, vec2f(0.25 + 0.5 * weight), 0);
    let between = textureSampleLevel(levels, linear, vec2f(0.5), weight);
    // Multiples of the fractions of the R3 sequence, evenly spread over all coordinates and levels.
    let any = vec3f((id.x * vec3u(53685, 43977, 36025)) & vec3u(0xffff)) / 65536;
    let of_two = off_products(0, any.xy, 0);
    let of_three = max(off_products(0, any.xy, any.z), off_products(1, any.xy, any.z));
    found[id.x] = vec4f(along.xy, between.x, max(of_two, of_three / 2));
}}
"""


@dataclass(frozen=True, slots=True)
class Blending:
    """How far a device is off where it blends. All is 0 for those that compute it in f32.

    `place`: maximum error of a place along each axis, in texels, and of a level of detail, in levels; so much may a
    blend of 0 and 1 be off. `product`: maximum error of each product of two weights, so that the weight of a texel, a
    product of n factors, may be off by n - 1 times as much.
    """

    place: float = 0.0
    product: float = 0.0


def blending(device: str) -> Blending:
    """How far a device is off. Each adapter is measured once a process. Raises DeviceError."""
    adapter = adapter_named(device)
    return _measured(adapter) if adapter is not None and samples_itself(device) else Blending()


@cache
def _measured(adapter: str) -> Blending:
    return measured_on(f"gpu:{adapter}" if adapter else "gpu", (1 << MOST_BITS) + 1)


def measured_on(device: str, count: int) -> Blending:
    """What so many samples of each kind show. Raises DeviceError.

    A product that is off by less than half a step of `MOST_BITS` is exact but for the rounding of f32.
    """
    found = _found(device, count)
    product = float(found[:, 3].max())
    return Blending(
        max(ramp_error(found[:, axis]) for axis in range(3)), product if product >= 0.5**MOST_BITS / 2 else 0
    )


def ramp_error(ramp: npt.NDArray[np.float32]) -> float:
    """The bound on the error of blends, of which these are evenly spaced ones from 0 to 1.

    For weights of b bits, b at most `MOST_BITS`, this is 2^-b, or the worst error of them where that is larger.
    """
    bits = int(math.log2(len(np.unique(ramp))))
    exact = np.linspace(0, 1, len(ramp))
    return max(2.0**-bits, float(np.abs(ramp - exact).max()))


def _found(device: str, count: int) -> npt.NDArray[Any]:
    """Blends of 0 and 1 along x, along y, and between mip levels, and errors of products."""
    texels = np.zeros((2, 2, 4), np.float32)
    texels[:, 1, 0] = texels[1, :, 1] = 1
    levels = [np.zeros((2, 2, 4), np.float32), np.ones((1, 1, 4), np.float32)]
    given: dict[str, BufferValue] = {
        "texels": texels,
        "levels": levels,
        "corners": [_corners(size, layer) for layer, size in enumerate(_SIZES)],
        "linear": Sampler(mag_filter="linear", min_filter="linear", mipmap_filter="linear"),
        "found": np.zeros((count, 4), np.float32),
    }
    return Shader(Source.from_text(_MEASURING)).kernel().run(given, threads=count, device=device)["found"]


def _corners(size: int, layer: int) -> npt.NDArray[np.float32]:
    """A level of the texture that shows weights, whose own layer has a 1 in each texel: in the component for its x and
    y.
    """
    level = np.zeros((len(_SIZES), size, size, 4), np.float32)
    y, x = np.indices((size, size))
    np.put_along_axis(level[layer], (x % 2 + 2 * (y % 2))[..., None], 1, axis=-1)
    return level
