"""Multisampled textures from bytes: WebGPU copies none into them, so the samples are drawn. Worker process only."""

from __future__ import annotations

from typing import Final

import numpy as np

from . import webgpu
from .binding_headers import SAMPLES, TextureHeader
from .depth_textures import FORMAT as DEPTH_FORMAT
from .model import GpuError
from .shared_bytes import Blob

WIDE_FORMATS: Final = "texture-adapter-specific-format-features"
"""The feature by which adapters may have multisampled textures of 32 bits a channel."""

NARROW: Final = {"f32": ("rgba16float", "<f2"), "i32": ("rgba16sint", "<i2"), "u32": ("rgba16uint", "<u2")}
"""The formats of four channels that WebGPU lets every device multisample, with the numbers that these hold."""
_WIDE: Final = {"f32": "<f4", "i32": "<i4", "u32": "<u4"}
_WGSL: Final = """
struct Corner {{ @builtin(position) at: vec4f, @location(0) @interpolate(flat) sample: u32 }}
struct Drawn {{ @builtin(sample_mask) mask: u32, {result} value: {type} }}

@group(0) @binding(0) var<storage, read> samples: array<{type}>;

// A triangle over the whole target, once for each sample.
@vertex fn corner(@builtin(vertex_index) index: u32, @builtin(instance_index) sample: u32) -> Corner {{
    let at = vec4f(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.0, 1.0);
    return Corner(at, sample);
}}

@fragment fn draw(corner: Corner) -> Drawn {{
    let at = vec2u(corner.at.xy);
    return Drawn(1u << corner.sample, samples[(at.y * {width}u + at.x) * {samples}u + corner.sample]);
}}
"""


def multisampled_format(device: webgpu.Device, texture: TextureHeader) -> str:
    """The format of a multisampled texture on a device: `texture["format"]` where that can be, or one of 16 bits."""
    if texture["format"] == DEPTH_FORMAT or WIDE_FORMATS in device.features:
        return texture["format"]
    return NARROW[texture["sampled"]][0]


def check_samples(texture: TextureHeader, format: str, data: Blob) -> None:
    """Raise GpuError for samples that a format of 16 bits a channel does not hold."""
    sampled = texture["sampled"]
    if format != texture["format"] and not holds(sampled, data):
        what = f"samples of {sampled} that {format} does not hold"
        raise GpuError("invalid", f"not supported: {what}, on an adapter without the feature '{WIDE_FORMATS}'")


def holds(sampled: str, data: Blob) -> bool:
    """Whether the format of 16 bits a channel has all samples, which are numbers of 32 bits."""
    samples = np.frombuffer(data, _WIDE[sampled])
    with np.errstate(over="ignore"):
        stored = samples.astype(NARROW[sampled][1]).astype(samples.dtype)
    return np.array_equal(stored, samples, equal_nan=sampled == "f32")


class SamplePainter:
    """Draws samples into a multisampled texture of a device, a depth from 0 to 1 or a colour each."""

    def __init__(self, wgpu: webgpu.WebGpu, device: webgpu.Device, texture: TextureHeader, format: str) -> None:
        self._wgpu = wgpu
        self._device = device
        self._texture = texture
        self._format = format
        self._is_depth = format == DEPTH_FORMAT
        self._pipeline = self._new_pipeline()

    def _new_pipeline(self) -> webgpu.RenderPipeline:
        format, colours = self._format, [] if self._is_depth else [{"format": self._format}]
        code = _WGSL.format(
            result="@builtin(frag_depth)" if self._is_depth else "@location(0)",
            type="f32" if self._is_depth else f"vec4<{self._texture['sampled']}>",
            width=self._texture["size"][0],
            samples=SAMPLES,
        )
        module = self._device.create_shader_module(code=code)
        depth = {"format": format, "depth_write_enabled": True, "depth_compare": "always"}
        return self._device.create_render_pipeline(
            layout="auto",
            vertex={"module": module, "entry_point": "corner"},
            fragment={"module": module, "entry_point": "draw", "targets": colours},
            depth_stencil=depth if self._is_depth else None,
            multisample={"count": SAMPLES},
        )

    def fill(self, target: webgpu.Texture, data: Blob) -> None:
        """Give all texels these samples, those of a texel side by side. Raises GpuError for samples that are too many,
        or that the format does not hold.
        """
        check_samples(self._texture, self._format, data)
        most = self._device.limits["max-storage-buffer-binding-size"]
        if len(data) > most:
            raise GpuError("limit", f"a multisampled texture of {len(data)} bytes; this adapter allows {most}")
        source = self._device.create_buffer_with_data(data=bytes(data), usage=self._wgpu.BufferUsage.STORAGE)
        entries = [{"binding": 0, "resource": {"buffer": source, "offset": 0, "size": source.size}}]
        group = self._device.create_bind_group(layout=self._pipeline.get_bind_group_layout(0), entries=entries)
        encoder = self._device.create_command_encoder()
        drawing = encoder.begin_render_pass(**self._attachments(target))
        drawing.set_pipeline(self._pipeline)
        drawing.set_bind_group(0, group)
        drawing.draw(3, SAMPLES)
        drawing.end()
        self._device.queue.submit([encoder.finish()])
        source.destroy()

    def _attachments(self, target: webgpu.Texture) -> webgpu.Attachments:
        view = target.create_view(dimension="2d")
        if self._is_depth:
            depth = {"view": view, "depth_load_op": "clear", "depth_clear_value": 0.0, "depth_store_op": "store"}
            return {"color_attachments": [], "depth_stencil_attachment": depth}
        colour = {"view": view, "load_op": "clear", "clear_value": (0, 0, 0, 0), "store_op": "store"}
        return {"color_attachments": [colour], "depth_stencil_attachment": None}
