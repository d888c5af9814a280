"""Follows an emitted plan with wgpu-py, as docs/emit.md describes it, and with nothing of tinct."""

from __future__ import annotations

import json
import re
import struct
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

import wgpu


class Follower:
    """A plan in a folder, on the first Vulkan adapter."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plan = json.loads((folder / "plan.json").read_text())
        assert (self.plan["format"], self.plan["version"]) == ("tinct plan", 6)
        adapters = wgpu.gpu.enumerate_adapters_sync()
        adapter = next(it for it in adapters if it.info["backend_type"] == "Vulkan")
        self.device = adapter.request_device_sync(
            required_features=self.plan["features"], required_limits=self.plan["limits"]
        )
        self.buffers = [self.buffer(it) for it in self.plan["buffers"]]
        self.order = list(range(len(self.buffers)))

    def buffer(self, described: dict[str, Any]) -> Any:
        if "sampler" in described:
            given = {snake(name): value for name, value in described["sampler"].items()}
            return self.device.create_sampler(**given)
        if "texture" in described:
            return self.texture(described["texture"], described["usage"])
        usage = reduce(int.__or__, (getattr(wgpu.BufferUsage, name) for name in described["usage"]), 0)
        return self.device.create_buffer(size=described["size"], usage=usage)

    def texture(self, texture: dict[str, Any], usages: list[str]) -> Any:
        view = texture["viewDimension"]
        return self.device.create_texture(
            size=texture["size"],
            mip_level_count=texture["levels"],
            sample_count=texture.get("samples", 1),
            dimension=view if view in ("1d", "3d") else "2d",
            format=texture["format"],
            usage=reduce(int.__or__, (getattr(wgpu.TextureUsage, name) for name in usages), 0),
        )

    @cached_property
    def pipelines(self) -> list[tuple[Any, list[Any]]]:
        return [self.pipeline(it) for it in self.plan["kernels"]]

    def pipeline(self, kernel: dict[str, Any]) -> tuple[Any, list[Any]]:
        groups = max(it["group"] for it in kernel["bindings"]) + 1
        layouts = [
            self.device.create_bind_group_layout(
                entries=[
                    {
                        "binding": it["binding"],
                        "visibility": wgpu.ShaderStage.COMPUTE,
                        **layout_of(it),
                    }
                    for it in kernel["bindings"]
                    if it["group"] == group
                ]
            )
            for group in range(groups)
        ]
        module = self.device.create_shader_module(code=(self.folder / kernel["file"]).read_text())
        layout = self.device.create_pipeline_layout(bind_group_layouts=layouts)
        compute = {"module": module, "entry_point": kernel["entry"]}
        return self.device.create_compute_pipeline(layout=layout, compute=compute), layouts

    def at(self, place: dict[str, int]) -> tuple[Any, int]:
        return self.buffers[self.order[place["buffer"]]], place["offset"]

    def run(self, repeat: int = 1) -> dict[str, bytes]:
        inputs = {it["name"]: self.given(it) for it in self.plan["inputs"]}
        for it in self.plan["inputs"]:
            for place in it["writes"]:
                self.write(place, inputs[it["name"]])
        for it in self.plan["constants"]:
            data = bytearray.fromhex(it["data"])
            for piece in it["pieces"]:
                start, size = piece["start"], piece["size"]
                data[piece["offset"] : piece["offset"] + size] = inputs[piece["input"]][start : start + size]
            self.device.queue.write_buffer(*self.at(it), data)
        encoder = self.device.create_command_encoder()
        for turn in range(repeat):
            if turn:
                self.rotate()
            for step in self.plan["steps"]:
                self.encode(encoder, step)
        self.device.queue.submit([encoder.finish()])
        for it in self.plan["errors"]:
            self.check(self.output({**it, "size": 16}))
        return {it["name"]: self.output(it) for it in self.plan["outputs"]}

    def write(self, place: dict[str, int], data: bytes) -> None:
        texture = self.plan["buffers"][place["buffer"]].get("texture")
        if texture is None:
            self.device.queue.write_buffer(*self.at(place), data)
            return
        start, (width, height, depth) = 0, texture["size"]
        for level in range(texture["levels"]):
            layers = max(1, depth >> level) if texture["viewDimension"] == "3d" else depth
            size = max(1, width >> level), max(1, height >> level), layers
            row = size[0] * texture["texelBytes"]
            end = start + row * size[1] * size[2]
            if "draw" in texture:
                self.draw_level(self.at(place)[0], texture, level, size, data[start:end])
            else:
                target = {"texture": self.at(place)[0], "mip_level": level, "origin": (0, 0, 0)}
                rows = {"offset": 0, "bytes_per_row": row, "rows_per_image": size[1]}
                self.device.queue.write_texture(target, data[start:end], rows, size)
            start = end

    def draw_level(self, target: Any, texture: dict[str, Any], level: int, size: Any, data: bytes) -> None:
        """Draw each layer of a level, into which WebGPU copies no texels."""
        pipeline, length = self.drawing(texture, size[0]), len(data) // size[2]
        for layer in range(size[2]):
            view = target.create_view(
                dimension="2d", base_mip_level=level, mip_level_count=1, base_array_layer=layer, array_layer_count=1
            )
            texels = data[layer * length : (layer + 1) * length]
            source = self.device.create_buffer_with_data(data=texels, usage=wgpu.BufferUsage.STORAGE)
            entries = [{"binding": 0, "resource": {"buffer": source, "offset": 0, "size": source.size}}]
            layout = pipeline.get_bind_group_layout(0)
            encoder = self.device.create_command_encoder()
            depth = {"view": view, "depth_load_op": "clear", "depth_clear_value": 0, "depth_store_op": "store"}
            colour = {"view": view, "load_op": "clear", "store_op": "store"}
            is_depth = texture["format"].startswith("depth")
            drawing = encoder.begin_render_pass(
                color_attachments=[] if is_depth else [colour], depth_stencil_attachment=depth if is_depth else None
            )
            drawing.set_pipeline(pipeline)
            drawing.set_bind_group(0, self.device.create_bind_group(layout=layout, entries=entries))
            drawing.draw(3, texture.get("samples", 1))
            drawing.end()
            self.device.queue.submit([encoder.finish()])

    def drawing(self, texture: dict[str, Any], width: int) -> Any:
        draw, format = texture["draw"], texture["format"]
        module = self.device.create_shader_module(code=(self.folder / draw["file"]).read_text())
        is_depth = format.startswith("depth")
        depth = {"format": format, "depth_write_enabled": True, "depth_compare": "always"}
        targets = [] if is_depth else [{"format": format}]
        fragment = {
            "module": module,
            "entry_point": draw["fragment"],
            "constants": {"width": width},
            "targets": targets,
        }
        return self.device.create_render_pipeline(
            layout="auto",
            vertex={"module": module, "entry_point": draw["vertex"]},
            fragment=fragment,
            depth_stencil=depth if is_depth else None,
            multisample={"count": texture.get("samples", 1)},
        )

    def check(self, error: bytes) -> None:
        number, *extents = struct.unpack("<4I", error)
        if number:
            named = ((it.get("indirect") or it.get("computes") or {}, it) for it in self.plan["steps"])
            raise ValueError(next(it for by, it in named if by.get("number") == number - 1)["node"], extents)

    def given(self, described: dict[str, Any]) -> bytes:
        data = (self.folder / "inputs" / f"{described['name']}.bin").read_bytes()
        assert len(data) == described["size"]
        return data

    def output(self, described: dict[str, Any]) -> bytes:
        buffer, offset = self.at(described)
        texture = self.plan["buffers"][described["buffer"]].get("texture")
        if texture is not None:
            return self.texels(buffer, texture["size"], described)
        return bytes(self.device.queue.read_buffer(buffer, offset, described["size"]))

    def texels(self, texture: Any, size: list[int], described: dict[str, Any]) -> bytes:
        row, rows = described["bytesPerRow"], described["rowsPerImage"] * size[2]
        usage = wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.COPY_SRC
        room = self.device.create_buffer(size=row * rows, usage=usage)
        encoder = self.device.create_command_encoder()
        layout = {"buffer": room, "bytes_per_row": row, "rows_per_image": described["rowsPerImage"]}
        encoder.copy_texture_to_buffer({"texture": texture}, layout, size)
        self.device.queue.submit([encoder.finish()])
        padded, length = bytes(self.device.queue.read_buffer(room)), described["size"] // rows
        return b"".join(padded[row * it : row * it + length] for it in range(rows))

    def rotate(self) -> None:
        before = list(self.order)
        for rotation in self.plan["rotations"]:
            for one, following in zip(rotation, [*rotation[1:], rotation[0]], strict=True):
                self.order[following] = before[one]

    def encode(self, encoder: Any, step: dict[str, Any]) -> None:
        match step["do"]:
            case "clear":
                encoder.clear_buffer(*self.at(step), step["size"])
            case "copy":
                source, target = self.at(step["source"]), self.at(step["target"])
                encoder.copy_buffer_to_buffer(*source, *target, step["size"])
            case "copy-texture":
                places = ({"texture": self.at({**step[it], "offset": 0})[0]} for it in ("source", "target"))
                encoder.copy_texture_to_texture(*places, step["size"])
            case "dispatch":
                self.dispatch(encoder, step)
            case unknown:
                raise AssertionError(unknown)

    def resource(self, bound: dict[str, int]) -> Any:
        described = self.plan["buffers"][bound["buffer"]]
        buffer, offset = self.at(bound)
        if "texture" in described:
            return buffer.create_view(dimension=described["texture"]["viewDimension"])
        return buffer if "sampler" in described else {"buffer": buffer, "offset": offset, "size": bound["size"]}

    def dispatch(self, encoder: Any, step: dict[str, Any]) -> None:
        pipeline, layouts = self.pipelines[step["kernel"]]
        compute_pass = encoder.begin_compute_pass()
        compute_pass.set_pipeline(pipeline)
        for group, layout in enumerate(layouts):
            entries = []
            for it in step["bindings"]:
                if it["group"] == group:
                    entries.append({"binding": it["binding"], "resource": self.resource(it)})
            compute_pass.set_bind_group(group, self.device.create_bind_group(layout=layout, entries=entries))
        if "indirect" in step:
            compute_pass.dispatch_workgroups_indirect(*self.at(step["indirect"]))
        else:
            compute_pass.dispatch_workgroups(*step["workgroups"])
        compute_pass.end()


def snake(name: str) -> str:
    return re.sub("([A-Z])", lambda found: "_" + found[0].lower(), name)


def layout_of(binding: dict[str, Any]) -> dict[str, Any]:
    """An entry of a layout, as wgpu-py spells it."""
    for kind in ("texture", "storageTexture", "sampler"):
        if kind in binding:
            return {snake(kind): {snake(name): value for name, value in binding[kind].items()}}
    return {"buffer": {"type": getattr(wgpu.BufferBindingType, binding["type"].replace("-", "_"))}}
