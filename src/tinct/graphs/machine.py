"""Runs leaves with `Kernel.run`, on values that are arrays: the machine of the graph interpreter.

This is the simple form of an executor: each dispatch gets its buffers and returns new ones.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np

from ..base.errors import DeviceError, InputError
from ..ir import types as wgsl
from ..ir.dataflow.nodes import Element, Leaf, Malloc, Selector
from ..ir.dataflow.text import type_text
from ..ir.layout import runtime_array, runtime_count, sized, whole_words
from ..ir.layout_packing import pack, unpack
from ..ir.textures import format_of
from ..shader import BufferValue
from ..textures import texel_dtype
from .linking import Links

Array: TypeAlias = "np.ndarray[Any, Any]"

_LARGEST = 1 << 32
"""The size in bytes that every binding stays below."""


@dataclass(frozen=True)
class Value:
    """What a port holds. `type` is None for a number, which takes the type of the port that it goes to."""

    data: BufferValue
    type: wgsl.Type | None

    @cached_property
    def size(self) -> int:
        """The number of bytes that it takes in a buffer."""
        return len(packed(self))


@dataclass(slots=True)
class NodeTiming:
    """The seconds that all dispatches of a node took, and how many there were."""

    compile: float = 0.0
    run: float = 0.0
    dispatches: int = 0


@dataclass(slots=True)
class KernelMachine:
    """A machine on one device. `deadline` is a value of `time.monotonic`, or None."""

    links: Links
    device: str
    deadline: float | None = None
    timings: dict[tuple[str, ...], NodeTiming] = field(default_factory=dict[tuple[str, ...], NodeTiming])

    def zeros(self, graph: str, malloc: Malloc, extents: tuple[int, ...]) -> Value:
        """Zeros of the type of a transient buffer."""
        type = self.links.types[graph, malloc.name]
        if isinstance(type, wgsl.Texture):
            return Value(_empty_texture(type, extents), type)
        if extents and runtime_array(type) is None:
            raise InputError(f"{type_text(malloc.type)} has a fixed size, and takes no extent")
        if not extents and runtime_array(type) is not None:
            raise InputError(f"{type_text(malloc.type)} ends in a runtime-sized array: an extent is needed")
        return Value(_zeros(type, extents[0] if extents else 0), type)

    def number(self, value: float) -> Value:
        """A number."""
        return Value(value, None)

    def length(self, value: Value) -> int:
        """The number of elements of an array, or of the one that a structure ends in."""
        type = value.type
        if isinstance(type, wgsl.Array) and isinstance(type.count, int):
            return type.count
        if type is None or isinstance(type, (wgsl.Texture, wgsl.Sampler)) or runtime_array(type) is None:
            raise InputError("the value has no runtime-sized array")
        return runtime_count(type, value.size)

    def element(self, value: Value, selectors: tuple[Selector, ...]) -> int:
        """The whole number in a value that selectors lead to."""
        found: Any = value.data
        if selectors or not isinstance(found, (int, np.integer)):
            found = canonical(value)
        for selector in selectors:
            found = _selected(found, selector)
        number = np.asarray(found)
        if number.shape or number.dtype.kind not in "iu":
            raise InputError("that is no whole number")
        return int(number)

    def run(
        self, leaf: Leaf, extents: tuple[int, ...], inputs: Mapping[str, Value], path: tuple[str, ...]
    ) -> dict[str, Value]:
        """One dispatch."""
        kernel = self.links.kernels[leaf.name]
        node = "/".join(path)
        self.check_time()
        try:
            result = kernel.run_timed(
                _buffers(inputs),
                threads=extents or 1,
                constants=self.links.constants[leaf.name],
                device=self.device,
                timeout=None if self.deadline is None else max(self.deadline - time.monotonic(), 1e-3),
            )
        except DeviceError as error:
            raise DeviceError(f"node {node!r}: {error}") from error
        timing = self.timings.setdefault(path, NodeTiming())
        timing.compile += result.timing.compile
        timing.run += result.timing.run
        timing.dispatches += 1
        return {name: Value(array, kernel.shader.bindings[name].type) for name, array in result.outputs.items()}

    def check_time(self) -> None:
        """Raise DeviceError when the deadline has passed."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise DeviceError("the graph did not end in time")


def _buffers(inputs: Mapping[str, Value]) -> dict[str, BufferValue]:
    """The buffers of a dispatch, members of uniforms together."""
    buffers: dict[str, Any] = {}
    for port, value in inputs.items():
        binding, _, member = port.partition(".")
        if member:
            buffers.setdefault(binding, {})[member] = value.data
        else:
            buffers[binding] = value.data
    return buffers


def _zeros(type: wgsl.Type, count: int) -> Array:
    size = whole_words(sized(type, count))
    if size >= _LARGEST:
        raise InputError(f"{size} bytes are more than a binding can have")
    if runtime_array(type) is not None and runtime_count(type, size) != count:
        raise InputError(f"a binding of {count} elements has room for {runtime_count(type, size)}: give that number")
    return unpack(type, bytes(size))


def _empty_texture(type: wgsl.Texture, extents: tuple[int, ...]) -> Array:
    form = format_of(type)
    channels = () if form.is_packed or len(form.channels) == 1 else (len(form.channels),)
    return np.zeros((*reversed(extents), *channels), texel_dtype(type))


def packed(value: Value, name: str = "the value") -> bytes | bytearray:
    """The bytes of a value in WGSL's memory layout. Raises InputError."""
    assert value.type is not None
    data: object = value.data
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(cast("memoryview[int]", data))
    return pack(value.type, data, name=name)


def canonical(value: Value) -> Array:
    """A value as an array of the shape that its type has. Raises InputError."""
    if value.type is None:
        return np.asarray(value.data)
    if isinstance(value.type, (wgsl.Texture, wgsl.Sampler)):
        raise InputError(f"{value.type} has no elements that an expression could read")
    return unpack(value.type, packed(value))


def _selected(array: Any, selector: Selector) -> Any:
    if isinstance(selector, Element):
        shape = cast("Array", array).shape
        if not shape or not 0 <= selector.index < shape[0]:
            raise InputError(f"there is no element {selector.index}, but {shape[0] if shape else 0} elements")
        return array[selector.index]
    names = np.asarray(array).dtype.names or ()
    if selector.name not in names:
        raise InputError(f"there is no member {selector.name!r}")
    return array[selector.name]
