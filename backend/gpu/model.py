"""The inputs and results of the GPU device: bindings, results, the adapter, errors. Plain data, no wgpu."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ...base.errors import DeviceError
from ...ir import textures
from ...ir.samplers import Sampler
from ...ir.types import Texture

BufferKind: TypeAlias = Literal["uniform", "storage", "read-only-storage"]
BindingKind: TypeAlias = Literal["uniform", "storage", "read-only-storage", "texture", "storage-texture", "sampler"]
GpuErrorKind: TypeAlias = Literal["unavailable", "invalid", "limit", "crash", "timeout", "device"]
BufferData: TypeAlias = "npt.NDArray[Any] | bytes | bytearray | memoryview"
BindingPoint: TypeAlias = tuple[int, int]


WEBGPU_BACKENDS: Final = ("Vulkan", "Metal", "D3D12")
"""Backends on which wgpu implements all of WebGPU, as wgpu spells them."""


class GpuError(DeviceError):
    """The GPU gave no result. `kind` classifies the cause.

    unavailable: no adapter answers. invalid: wgpu rejects the shader, the entry point, or the bindings that go with it.
    limit: the adapter allows less than was asked. crash: the child process died. timeout: it did not answer in time.
    device: the driver failed (out of memory, device lost).
    """

    def __init__(self, kind: GpuErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind: GpuErrorKind = kind
        self.message = message


@dataclass(frozen=True)
class BufferBinding:
    """One buffer bound at `@group(group) @binding(binding)`; `data` holds its bytes in WGSL's memory layout."""

    group: int
    binding: int
    kind: BufferKind
    data: BufferData

    @property
    def point(self) -> BindingPoint:
        """`(group, binding)`, the key in the result's outputs."""
        return self.group, self.binding

    @property
    def writable(self) -> bool:
        """Whether the shader may write it, so that it is read back."""
        return self.kind == "storage"

    def raw(self) -> bytes | bytearray | memoryview:
        """The bytes of `data`, not copied where it is contiguous already."""
        if isinstance(self.data, np.ndarray):
            return np.ascontiguousarray(self.data).reshape(-1).view(np.uint8).data
        return self.data

    def restored(self, raw: bytearray) -> bytearray:
        """The bytes that came back, which are those of `data`."""
        return raw


@dataclass(frozen=True)
class TextureBinding:
    """A texture bound at `@group(group) @binding(binding)`; `data` holds its bytes as `ir.textures` describes them."""

    group: int
    binding: int
    type: Texture
    data: bytes

    @property
    def point(self) -> BindingPoint:
        """`(group, binding)`, the key in the result's outputs."""
        return self.group, self.binding

    @property
    def writable(self) -> bool:
        """Whether the shader may write it, so that it is read back."""
        return textures.is_written(self.type)

    def raw(self) -> bytes:
        """The texels as WebGPU has them."""
        form, extent = textures.format_of(self.type), textures.read_extent(self.data)
        size = textures.level_starts(self.type, extent)[-1] * form.words * 4
        words = np.frombuffer(self.data, np.uint8, offset=textures.HEADER_BYTES)[:size]
        return words.reshape(-1, form.words * 4)[:, : form.bytes].tobytes()

    def restored(self, raw: bytes | bytearray) -> bytearray:
        """`data` with other texels, as WebGPU has them."""
        form = textures.format_of(self.type)
        texels = np.frombuffer(raw, np.uint8).reshape(-1, form.bytes)
        words = np.zeros((len(texels), form.words * 4), np.uint8)
        words[:, : form.bytes] = texels
        size = textures.HEADER_BYTES + textures.whole_texels(words.size, self.type, form)
        return bytearray(self.data[: textures.HEADER_BYTES] + words.tobytes()).ljust(size, b"\0")


@dataclass(frozen=True)
class SamplerBinding:
    """A sampler bound at `@group(group) @binding(binding)`."""

    group: int
    binding: int
    sampler: Sampler

    @property
    def point(self) -> BindingPoint:
        """`(group, binding)`, the key in the result's outputs."""
        return self.group, self.binding

    @property
    def writable(self) -> bool:
        """False: a sampler is no memory."""
        return False

    def raw(self) -> bytes:
        """Nothing: the header has all of it."""
        return b""

    def restored(self, raw: bytes | bytearray) -> bytearray:
        """The bytes that came back."""
        return bytearray(raw)


Binding: TypeAlias = BufferBinding | TextureBinding | SamplerBinding


@dataclass(frozen=True)
class GpuResult:
    """The bytes of every writable binding after the dispatch, as long as they went in, and what it took.

    `compile_seconds` is 0 when the pipeline was in the child's cache. `samples` holds the seconds of each repeat,
    measured by timestamp queries on the device (`timed_by == "timestamp"`) or by the child's clock (`"wall"`).
    """

    outputs: Mapping[BindingPoint, bytearray]
    compile_seconds: float
    samples: tuple[float, ...]
    timed_by: Literal["timestamp", "wall"]

    @property
    def run_seconds(self) -> float:
        """The fastest repeat; 0 when the dispatch was empty."""
        return min(self.samples, default=0.0)


@dataclass(frozen=True)
class AdapterInfo:
    """The adapter that runs shaders, with what it allows. Names of features and limits are WebGPU's, in kebab case.

    `name` is the device's, `vendor` the driver's where Vulkan tells it, `description` the driver's version.
    """

    name: str
    description: str
    vendor: str
    backend: str
    kind: str
    features: frozenset[str]
    limits: Mapping[str, int]

    @property
    def is_software(self) -> bool:
        """Whether it is a driver that computes on the CPU."""
        return self.kind == "CPU"

    @property
    def is_webgpu(self) -> bool:
        """Whether wgpu implements all of WebGPU on its backend."""
        return self.backend in WEBGPU_BACKENDS
