"""How exactly a device blends texels and mip levels: measured, as WebGPU does not say.

A GPU rounds the weights of a linear filter to a number of bits (Vulkan, `subTexelPrecisionBits` and
`mipmapPrecisionBits`), in a direction of its own, and may round the blend. The other devices compute in f32.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from .devices import adapter_named, samples_itself
from .ir.samplers import Sampler
from .ir.source import Source
from .kernel import BufferValue
from .shader import Shader

MOST_BITS: Final = 16
"""A device is taken to have at most these, since so many weights are tried."""

_RAMPS: Final = """
@group(0) @binding(0) var texels: texture_2d<f32>;
@group(0) @binding(1) var levels: texture_2d<f32>;
@group(0) @binding(2) var linear: sampler;
@group(0) @binding(3) var<storage, read_write> ramps: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&ramps) {
        return;
    }
    let weight = f32(id.x) / f32(arrayLength(&ramps) - 1);
    let along = textureSampleLevel(texels, linear, vec2f(0.25 + 0.5 * weight), 0);
    let between = textureSampleLevel(levels, linear, vec2f(0.5), weight);
    ramps[id.x] = vec4f(along.xy, between.x, 0);
}
"""


def blending_error(device: str) -> float:
    """How far a blend of 0 and 1 may be from the exact one on a device; 0 for those that compute it in f32.

    For a GPU with weights of b bits, b at most `MOST_BITS`, this is 2^-b, or the worst error that was measured where
    that is larger. Each adapter is measured once a process. Raises DeviceError.
    """
    adapter = adapter_named(device)
    return _measured(adapter) if adapter is not None and samples_itself(device) else 0.0


@cache
def _measured(adapter: str) -> float:
    return max(map(ramp_error, _ramps(adapter)))


def ramp_error(ramp: npt.NDArray[np.float32]) -> float:
    """The bound on the error of blends, of which these are evenly spaced ones from 0 to 1."""
    bits = int(math.log2(len(np.unique(ramp))))
    exact = np.linspace(0, 1, len(ramp))
    return max(2.0**-bits, float(np.abs(ramp - exact).max()))


def _ramps(adapter: str) -> list[npt.NDArray[np.float32]]:
    """Blends along x, along y, and between mip levels."""
    texels = np.zeros((2, 2, 4), np.float32)
    texels[:, 1, 0] = texels[1, :, 1] = 1
    levels = [np.zeros((2, 2, 4), np.float32), np.ones((1, 1, 4), np.float32)]
    linear = Sampler(mag_filter="linear", min_filter="linear", mipmap_filter="linear")
    count = (1 << MOST_BITS) + 1
    ramps = np.zeros((count, 4), np.float32)
    given: dict[str, BufferValue] = {"texels": texels, "levels": levels, "linear": linear, "ramps": ramps}
    device = f"gpu:{adapter}" if adapter else "gpu"
    found = Shader(Source.from_text(_RAMPS)).kernel().run(given, threads=count, device=device)["ramps"]
    return [found[:, axis] for axis in range(3)]
