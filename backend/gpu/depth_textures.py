"""Depth textures from bytes: WebGPU copies none into them, so each layer of a level is drawn. Worker process only."""

from __future__ import annotations

from typing import Final

from . import webgpu
from .shared_bytes import Blob

FORMAT: Final = "depth32float"
_SOURCE_FORMAT: Final = "r32float"
_TEXEL_BYTES: Final = 4
_WGSL: Final = """
@group(0) @binding(0) var source: texture_2d<f32>;

// A triangle over the whole target.
@vertex fn corner(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    return vec4f(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment fn depth(@builtin(position) at: vec4f) -> @builtin(frag_depth) f32 {
    return textureLoad(source, vec2u(at.xy), 0).x;
}
"""


class DepthPainter:
    """Draws depths, which must be from 0 to 1, into textures of a device."""

    def __init__(self, wgpu: webgpu.WebGpu, device: webgpu.Device) -> None:
        self._wgpu = wgpu
        self._device = device
        module = device.create_shader_module(code=_WGSL)
        self._pipeline = device.create_render_pipeline(
            layout="auto",
            vertex={"module": module, "entry_point": "corner"},
            fragment={"module": module, "entry_point": "depth", "targets": []},
            depth_stencil={"format": FORMAT, "depth_write_enabled": True, "depth_compare": "always"},
        )

    def fill(self, target: webgpu.Texture, level: int, size: tuple[int, int, int], data: Blob) -> None:
        """Give all layers of a level these depths."""
        width, height, layers = size
        step = width * height * _TEXEL_BYTES
        for layer in range(layers):
            self._draw(target, level, layer, (width, height), memoryview(data)[layer * step : (layer + 1) * step])

    def _draw(self, target: webgpu.Texture, level: int, layer: int, size: tuple[int, int], data: memoryview) -> None:
        width, height = size
        usage = self._wgpu.TextureUsage
        source = self._device.create_texture(
            size=(width, height, 1),
            mip_level_count=1,
            dimension="2d",
            format=_SOURCE_FORMAT,
            usage=usage.TEXTURE_BINDING | usage.COPY_DST,
        )
        rows = {"offset": 0, "bytes_per_row": width * _TEXEL_BYTES, "rows_per_image": height}
        self._device.queue.write_texture({"texture": source, "mip_level": 0}, data, rows, (width, height, 1))
        view = target.create_view(
            dimension="2d", base_mip_level=level, mip_level_count=1, base_array_layer=layer, array_layer_count=1
        )
        entries = [{"binding": 0, "resource": source.create_view(dimension="2d")}]
        group = self._device.create_bind_group(layout=self._pipeline.get_bind_group_layout(0), entries=entries)
        attachment = {"view": view, "depth_load_op": "clear", "depth_clear_value": 0.0, "depth_store_op": "store"}
        encoder = self._device.create_command_encoder()
        drawing = encoder.begin_render_pass(color_attachments=[], depth_stencil_attachment=attachment)
        drawing.set_pipeline(self._pipeline)
        drawing.set_bind_group(0, group)
        drawing.draw(3)
        drawing.end()
        self._device.queue.submit([encoder.finish()])
        source.destroy()
