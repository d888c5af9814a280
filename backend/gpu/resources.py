"""The bindings of a dispatch: buffers and textures on the device, filled, read back, destroyed. Worker process only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from . import webgpu
from .binding_headers import FILTERABLE, SAMPLE_TYPES, BindingHeader, SamplerHeader, TextureHeader
from .depth_textures import FORMAT as DEPTH_FORMAT
from .depth_textures import DepthPainter
from .model import GpuError
from .multisampled_textures import SamplePainter, multisampled_format
from .shared_bytes import Blob

_UNIFORM_ROUNDING = 16


class Resource(Protocol):
    """A binding on the device."""

    @property
    def header(self) -> BindingHeader:
        """The header from the parent."""
        ...

    def descriptor(self) -> object:
        """The entry of a bind group."""
        ...

    def restore(self, encoder: webgpu.CommandEncoder) -> None:
        """Copy the input again into a writable binding before a repeated dispatch."""
        ...

    def read_back(self) -> memoryview:
        """The bytes after the dispatch, as many as the input had."""
        ...

    def destroy(self) -> None:
        """Free its memory."""
        ...


def upload(wgpu: webgpu.WebGpu, device: webgpu.Device, header: BindingHeader, blob: Blob, repeat: int) -> Resource:
    """The binding with its input; `repeat` dispatches will follow."""
    texture, sampler = header.get("texture"), header.get("sampler")
    if sampler is not None:
        return DeviceSampler(device, header, sampler)
    if texture is None:
        return _Buffer(wgpu, device, header, blob, keeps_input=header["kind"] == "storage" and repeat > 1)
    if header["kind"] == "storage-texture" and texture["access"] != "read-only" and repeat > 1:
        raise GpuError("invalid", "not supported: repeated dispatches that write a texture")
    return DeviceTexture(wgpu, device, header, texture, blob)


def layout_entry(wgpu: webgpu.WebGpu, device: webgpu.Device, header: BindingHeader) -> webgpu.Descriptor:
    """The binding in a bind group's layout."""
    entry: dict[str, object] = {"binding": header["binding"], "visibility": wgpu.ShaderStage.COMPUTE}
    texture, sampler = header.get("texture"), header.get("sampler")
    if sampler is not None:
        return {**entry, "sampler": {"type": sampler["type"]}}
    if texture is None:
        return {**entry, "buffer": {"type": header["kind"]}}
    if header["kind"] == "storage-texture":
        storage = {"access": texture["access"], "format": texture["format"], "view_dimension": texture["view"]}
        return {**entry, "storage_texture": storage}
    sample_type = SAMPLE_TYPES[texture["sampled"]]
    is_multisampled = texture["samples"] > 1
    if sample_type == "unfilterable-float" and FILTERABLE in device.features and not is_multisampled:
        sample_type = "float"
    described = {"sample_type": sample_type, "view_dimension": texture["view"], "multisampled": is_multisampled}
    return {**entry, "texture": described}


def new_buffer(wgpu: webgpu.WebGpu, device: webgpu.Device, size: int, data: Blob | None) -> webgpu.Buffer:
    """A buffer of at least `size` bytes for any use, with these bytes or with zeros. Uniforms are whole rows of 16."""
    usage = wgpu.BufferUsage
    wanted = usage.STORAGE | usage.UNIFORM | usage.INDIRECT | usage.COPY_SRC | usage.COPY_DST
    size = rounded(size, _UNIFORM_ROUNDING)
    if data is None:
        return device.create_buffer(size=size, usage=wanted)
    return device.create_buffer_with_data(data=padded(data, size), usage=wanted)


def rounded(size: int, rounding: int) -> int:
    """A multiple of the rounding that is not 0."""
    return max(rounding, -(-size // rounding) * rounding)


def padded(data: Blob, size: int) -> Blob:
    """So many bytes, of which the last ones are zeros."""
    return data if len(data) == size else bytes(data) + bytes(size - len(data))


class _Buffer:
    """A buffer. `pristine` keeps the input of a writable one, so that each repeat starts from it."""

    def __init__(
        self, wgpu: webgpu.WebGpu, device: webgpu.Device, header: BindingHeader, blob: Blob, *, keeps_input: bool
    ) -> None:
        self.header = header
        self.size = len(blob)
        self.queue = device.queue
        usage, data = wgpu.BufferUsage, _padded(header, blob)
        is_uniform = header["kind"] == "uniform"
        wanted = usage.UNIFORM if is_uniform else usage.STORAGE | usage.COPY_SRC | usage.COPY_DST
        self.buffer = device.create_buffer_with_data(data=data, usage=wanted)
        self.pristine = device.create_buffer_with_data(data=data, usage=usage.COPY_SRC) if keeps_input else None

    def descriptor(self) -> object:
        return {"buffer": self.buffer, "offset": 0, "size": self.buffer.size}

    def restore(self, encoder: webgpu.CommandEncoder) -> None:
        if self.pristine is not None:
            encoder.copy_buffer_to_buffer(self.pristine, 0, self.buffer, 0, self.buffer.size)

    def read_back(self) -> memoryview:
        return self.queue.read_buffer(self.buffer)[: self.size]

    def destroy(self) -> None:
        self.buffer.destroy()
        if self.pristine is not None:
            self.pristine.destroy()


def _padded(header: BindingHeader, blob: Blob) -> Blob:
    """The bytes rounded up to what WebGPU can bind: a multiple of 4 above 0; for uniforms, whole rows of 16."""
    rounding = _UNIFORM_ROUNDING if header["kind"] == "uniform" else 4
    return padded(blob, rounded(len(blob), rounding))


class DeviceSampler:
    """A sampler."""

    def __init__(self, device: webgpu.Device, header: BindingHeader, sampler: SamplerHeader) -> None:
        self.header = header
        self._sampler = device.create_sampler(**sampler["descriptor"])

    def descriptor(self) -> object:
        """The sampler itself."""
        return self._sampler

    def restore(self, encoder: webgpu.CommandEncoder) -> None:
        """Do nothing: nothing writes it."""
        del encoder

    def read_back(self) -> memoryview:
        """Nothing."""
        return memoryview(b"")

    def destroy(self) -> None:
        """Do nothing: it goes with its last user."""


class DeviceTexture:
    """A texture; its levels come one after another, without space between rows. Without a blob all its texels are zero.

    One that `stays` on the device may be bound as a storage texture and as a sampled one.
    """

    def __init__(
        self,
        wgpu: webgpu.WebGpu,
        device: webgpu.Device,
        header: BindingHeader,
        texture: TextureHeader,
        blob: Blob | None,
        *,
        stays: bool = False,
    ) -> None:
        self.header = header
        self.facts = texture
        self.queue = device.queue
        is_multisampled, format = texture["samples"] > 1, texture["format"]
        if is_multisampled:
            format = multisampled_format(device, texture)
        self._samples = SamplePainter(wgpu, device, texture, format) if is_multisampled else None
        is_painted = format == DEPTH_FORMAT and not is_multisampled
        self._painter = DepthPainter(wgpu, device) if is_painted else None
        usage = wgpu.TextureUsage
        bound = usage.STORAGE_BINDING if header["kind"] == "storage-texture" else usage.TEXTURE_BINDING
        if self._painter is not None or is_multisampled:
            bound = usage.TEXTURE_BINDING | usage.RENDER_ATTACHMENT
        elif stays:
            bound = usage.STORAGE_BINDING | usage.TEXTURE_BINDING
        self.texture = device.create_texture(
            size=texture["size"],
            mip_level_count=texture["levels"],
            sample_count=texture["samples"],
            dimension="2d" if texture["view"] not in ("1d", "3d") else texture["view"],
            format=format,
            usage=bound | usage.COPY_SRC | usage.COPY_DST,
        )
        if blob is not None:
            self.fill(blob)

    def fill(self, blob: Blob) -> None:
        """Write all texels."""
        if self._samples is not None:
            self._samples.fill(self.texture, blob)
            return
        for level, size, data in self._levels(blob):
            if self._painter is not None:
                self._painter.fill(self.texture, level, size, data)
            else:
                self.queue.write_texture(self._place(level), data, self._rows(size), size)

    def _levels(self, blob: Blob) -> Iterator[tuple[int, tuple[int, int, int], memoryview]]:
        """Each level with its size and its bytes."""
        start, view = 0, memoryview(blob)
        width, height, depth = self.facts["size"]
        for level in range(self.facts["levels"]):
            layers = max(1, depth >> level) if self.facts["view"] == "3d" else depth
            size = max(1, width >> level), max(1, height >> level), layers
            end = start + size[0] * size[1] * size[2] * self.facts["texel_bytes"]
            yield level, size, view[start:end]
            start = end

    def _place(self, level: int) -> webgpu.Descriptor:
        return {"texture": self.texture, "mip_level": level, "origin": (0, 0, 0)}

    def _rows(self, size: tuple[int, int, int]) -> webgpu.Descriptor:
        return {"offset": 0, "bytes_per_row": size[0] * self.facts["texel_bytes"], "rows_per_image": size[1]}

    def descriptor(self) -> object:
        """A view of all its texels."""
        return self.texture.create_view(dimension=self.facts["view"])

    def restore(self, encoder: webgpu.CommandEncoder) -> None:
        """Do nothing: only textures that are read are bound repeatedly."""
        del encoder

    def read_back(self) -> memoryview:
        """The texels of the first level."""
        size = self.facts["size"]
        return memoryview(self.queue.read_texture(self._place(0), self._rows(size), size)).cast("B")

    def destroy(self) -> None:
        """Free its memory."""
        self.texture.destroy()
