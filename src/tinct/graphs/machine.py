"""Runs leaves in a session, on values that are its buffers: the machine of the graph interpreter.

A value is held by one port or several. A node that writes a binding works in the buffer of its value where nobody else
holds that, and in a copy of it otherwise. Transient buffers are new zeros for each node.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from ..buffers import is_output, pack_binding
from ..ir import types as wgsl
from ..ir.dataflow.nodes import Access, Element, Host, Leaf, Malloc, Selector
from ..ir.dataflow.text import type_text
from ..ir.layout import runtime_array, runtime_count, sized, whole_words
from ..ir.layout_leaves import leaf as leaf_of
from ..ir.layout_packing import unpack
from ..ir.textures import format_of
from ..kernel import BufferValue, Kernel
from ..print_lines import run_by
from ..reflection import BindingInfo, Place, describe_binding
from ..sessions import Buffer, Session
from ..sessions.memory import HOST
from ..textures import texel_dtype
from .devices import NodeDevices
from .linking import Links
from .time_limit import node_named, seconds_left

Array: TypeAlias = "np.ndarray[Any, Any]"
HostValue: TypeAlias = "npt.ArrayLike | Mapping[str, Any] | bytes | bytearray | memoryview"

_LARGEST = 1 << 32
"""The size in bytes that every binding stays below."""
_SMALL = 1 << 12
"""Inputs of at most so many bytes stay on the host, and go with each dispatch."""


@dataclass(frozen=True, slots=True)
class Zeros:
    """The contents of a transient buffer with these extents."""

    extents: tuple[int, ...]


@dataclass(eq=False, slots=True)
class Content:
    """What values share: a buffer, zeros, or something that the host has. `type` is None for a number, which takes the
    type of the port that it goes to. `holders` is the number of values.
    """

    data: HostValue | Buffer | Zeros
    type: wgsl.Type | None
    holders: int = 1


@dataclass(eq=False, slots=True)
class Value:
    """What one port holds."""

    content: Content
    is_dropped: bool = False


@dataclass(slots=True)
class NodeTiming:
    """The seconds that all dispatches of a node took, and how many there were."""

    compile: float = 0.0
    run: float = 0.0
    dispatches: int = 0


@dataclass(slots=True)
class SessionMachine:
    """A machine in a session. `deadline` is a value of `time.monotonic`, or None. If it `waits`, a node's time on a GPU
    is that of its dispatch; otherwise a GPU works while the next nodes are prepared. `step` is the number of the
    execution, counted from 1, if the graph is repeated.
    """

    links: Links
    session: Session
    devices: NodeDevices
    deadline: float | None = None
    waits: bool = False
    timings: dict[tuple[str, ...], NodeTiming] = field(default_factory=dict[tuple[str, ...], NodeTiming])
    step: int | None = None

    # Values

    def given(self, info: BindingInfo, data: BufferValue) -> Value:
        """An input of the graph: what is large is uploaded now, once. Raises InputError."""
        on_host = host_value(info, data)
        if isinstance(info.type, wgsl.Sampler) or (info.size is not None and info.size <= _SMALL):
            pack_binding(info, on_host)
            return Value(Content(on_host, info.type))
        return Value(Content(self.session.buffer(on_host, info, label=info.name), info.type))

    def share(self, value: Value) -> Value:
        """One more holder of the same content."""
        value.content.holders += 1
        return Value(value.content)

    def drop(self, value: Value) -> None:
        """One holder less."""
        if not value.is_dropped:
            value.is_dropped = True
            value.content.holders -= 1

    def zeros(self, graph: str, malloc: Malloc, extents: tuple[int, ...]) -> Value:
        """Zeros of the type of a transient buffer."""
        type = self.links.types[graph, malloc.name]
        if isinstance(type, wgsl.Texture):
            return Value(Content(Zeros(extents), type))
        check_zeros(type, malloc, extents)
        return Value(Content(Zeros(extents), type))

    def number(self, value: float) -> Value:
        """A number."""
        return Value(Content(value, None))

    def length(self, value: Value) -> int:
        """The number of elements of an array, or of the one that a structure ends in."""
        content = value.content
        type = content.type
        if isinstance(type, wgsl.Array) and isinstance(type.count, int):
            return type.count
        if type is None or isinstance(type, (wgsl.Texture, wgsl.Sampler)) or runtime_array(type) is None:
            raise InputError("the value has no runtime-sized array")
        if isinstance(content.data, Zeros):
            return content.data.extents[0]
        assert isinstance(content.data, Buffer)
        return runtime_count(type, content.data.nbytes)

    def is_runtime_sized(self, value: Value) -> bool:
        """Whether it is, or ends in, a runtime-sized array."""
        type = value.content.type
        return isinstance(type, (wgsl.Array, wgsl.Struct)) and runtime_array(type) is not None

    def element(self, value: Value, selectors: tuple[Selector, ...]) -> int:
        """The whole number in a value that selectors lead to."""
        found: Any = value.content.data
        if selectors or not isinstance(found, (int, np.integer)):
            found = _canonical(value.content, "an expression reads it")
        for selector in selectors:
            found = selected(found, selector)
        number = np.asarray(found)
        if number.shape or number.dtype.kind not in "iu":
            raise InputError("that is no whole number")
        return int(number)

    def array(self, value: Value) -> Array:
        """A value as an array of the caller's own."""
        data = value.content.data
        return data.numpy() if isinstance(data, Buffer) else _canonical(value.content, "the program reads it")

    # Running

    def run(
        self,
        leaf: Leaf | Host,
        extents: tuple[int, ...],
        inputs: Mapping[str, Value],
        path: tuple[str, ...],
        *,
        capacity: int | None,
    ) -> dict[str, Value]:
        """One dispatch, or a call of a Python function."""
        self.check_time()
        if isinstance(leaf, Host):
            return self._call(leaf, inputs, path)
        kernel = self.links.kernels[leaf.name]
        with node_named(path, self.deadline), run_by("/".join(path), self.step):
            bindings = self._bindings(kernel, inputs, "/".join(path))
            self._dispatch(leaf, extents, bindings, path)
        for value in inputs.values():
            self.drop(value)
        written = [it for it in kernel.bindings if it.is_written]
        return {it.name: Value(Content(bindings[it.name], it.type)) for it in written}

    def _dispatch(self, leaf: Leaf, extents: tuple[int, ...], bindings: dict[str, Any], path: tuple[str, ...]) -> None:
        kernel, constants = self.links.kernels[leaf.name], self.links.constants[leaf.name]
        compilation = kernel.compilation(constants)
        start, compiled = time.perf_counter(), compilation.total_seconds
        timeout = seconds_left(self.deadline)
        device = self.devices.of(path)
        self.session.run(kernel, bindings, threads=extents or 1, constants=constants, device=device, timeout=timeout)
        if self.waits:
            self.session.wait()
        seconds = time.perf_counter() - start
        self._time(path, seconds, min(compilation.total_seconds - compiled, seconds))

    def _time(self, path: tuple[str, ...], seconds: float, compiling: float) -> None:
        timing = self.timings.setdefault(path, NodeTiming())
        timing.compile += compiling
        timing.run += seconds - compiling
        timing.dispatches += 1

    def _call(self, leaf: Host, inputs: Mapping[str, Value], path: tuple[str, ...]) -> dict[str, Value]:
        """The outputs of a Python function, which are new values."""
        function = self.links.hosts.get(leaf.name)
        if function is None:
            raise InputError(f"it needs a Python function: load_graph(…, functions={{{leaf.name!r}: …}})")
        types = {it.name: self.links.types[leaf.name, it.name] for it in leaf.ports}
        node = repr("/".join(path))
        start = time.perf_counter()
        seen = {port: _seen(it.content, types[port], f"{node} needs it as {port}") for port, it in inputs.items()}
        try:
            found = function.results(seen)
        except Exception as error:  # whatever the user's function raises
            if not isinstance(error, InputError):
                error.add_note(f"raised by the function of node {node}, {leaf.name!r}")
            raise
        made = {it.name: it for it in leaf.ports if it.access is not Access.IN}
        values = {name: self.given(described(name, types[name]), found[name]) for name in made}
        for value in inputs.values():
            self.drop(value)
        self._time(path, time.perf_counter() - start, 0.0)
        return values

    def check_time(self) -> None:
        """Raise DeviceError when the deadline has passed."""
        seconds_left(self.deadline)

    # What a node is bound to

    def _bindings(self, kernel: Kernel, inputs: Mapping[str, Value], node: str) -> dict[str, Any]:
        """The values of a dispatch, members of uniforms together."""
        infos = {it.name: it for it in kernel.bindings}
        bindings: dict[str, Any] = {}
        for port, value in inputs.items():
            name, _, member = port.partition(".")
            if member:
                bindings.setdefault(name, {})[member] = _on_host(value.content, f"{node!r} needs it as {port}")
            elif infos[name].is_written:
                bindings[name] = self._own(value, infos[name], node)
            else:
                bindings[name] = self._readable(value.content, infos[name])
        return bindings

    def _readable(self, content: Content, info: BindingInfo) -> BufferValue:
        """What a binding that is only read gets."""
        return self._zeroed(content, info.name) if isinstance(content.data, Zeros) else content.data

    def _own(self, value: Value, info: BindingInfo, node: str) -> Buffer:
        """A buffer that a node may write: that of the value, if nobody else holds it, or a copy."""
        content, label = value.content, f"{node}.{info.name}"
        if isinstance(content.data, Zeros):
            return self._zeroed(content, label)
        if not isinstance(content.data, Buffer):
            return self.session.buffer(content.data, info, label=label)
        if content.holders == 1:
            return content.data
        why = f"{node!r} writes it, and its old value is still needed"
        copy = self.session.copy(content.data, label=label, why=why)
        self.drop(value)
        return copy

    def _zeroed(self, content: Content, label: str) -> Buffer:
        """New zeros."""
        assert isinstance(content.data, Zeros)
        assert content.type is not None
        extents, info = content.data.extents, described(label, content.type)
        if isinstance(content.type, wgsl.Texture):
            return self.session.buffer(empty_texture(content.type, extents), info, label=label)
        return self.session.empty(info, extents[0] if extents else None, label=label)


def described(name: str, type: wgsl.Type) -> BindingInfo:
    """A value as a binding, which is read only; the numbers of group and binding are 0."""
    is_handle = isinstance(type, (wgsl.Texture, wgsl.Sampler))
    space = wgsl.AddressSpace.HANDLE if is_handle else wgsl.AddressSpace.STORAGE
    return describe_binding(name, type, Place(wgsl.BindingPoint(0, 0), space, wgsl.Access.READ))


def check_zeros(type: wgsl.Type, malloc: Malloc, extents: tuple[int, ...]) -> None:
    """Raise InputError for extents that a transient buffer, which is no texture, cannot have."""
    if isinstance(type, wgsl.Sampler):
        raise InputError(f"{malloc.name!r} is a sampler, which is no memory: give it as an input")
    if extents and runtime_array(type) is None:
        raise InputError(f"{type_text(malloc.type)} has a fixed size, and takes no extent")
    if not extents and runtime_array(type) is not None:
        raise InputError(f"{type_text(malloc.type)} ends in a runtime-sized array: an extent is needed")
    _check_size(type, extents[0] if extents else 0)


def _check_size(type: wgsl.Type, count: int) -> None:
    """Raise InputError for a number of elements that no binding can have."""
    size = whole_words(sized(type, count))
    if size >= _LARGEST:
        raise InputError(f"{size} bytes are more than a binding can have")
    if runtime_array(type) is not None and runtime_count(type, size) != count:
        raise InputError(f"a binding of {count} elements has room for {runtime_count(type, size)}: give that number")


def host_value(info: BindingInfo, data: BufferValue) -> HostValue:
    """An input as something that the host has: the values of a buffer of another session, or zeros for None."""
    if isinstance(data, Buffer):
        return data.numpy()
    return pack_binding(info, data) if is_output(data) else cast("HostValue", data)


def _on_host(content: Content, why: str) -> HostValue:
    """A value that is a member of a uniform."""
    if isinstance(content.data, (Buffer, Zeros)):
        return _canonical(content, why)
    return content.data


def _canonical(content: Content, why: str) -> Array:
    """A value as a new array of the shape that its type has. Raises InputError, and DeviceError."""
    data, type = content.data, content.type
    if type is None:
        return np.array(data)
    if isinstance(type, (wgsl.Texture, wgsl.Sampler)):
        if isinstance(data, Zeros) and isinstance(type, wgsl.Texture):
            return empty_texture(type, data.extents)
        raise InputError(f"{type} has no elements that an expression could read")
    if isinstance(data, Zeros):
        return unpack(type, bytes(whole_words(sized(type, data.extents[0] if data.extents else 0))))
    if not isinstance(data, Buffer):
        return unpack(type, pack_binding(described("the value", type), data))
    with data.session.entered():
        data.memory.need(HOST, why)
        return unpack(type, bytes(data.memory.host()))


def _seen(content: Content, type: wgsl.Type, why: str) -> Any:
    """A value as a Python function gets it: an array that cannot be written, in the memory of the value if that is
    where it lies, or a scalar of numpy.
    """
    data = content.data
    if isinstance(data, Buffer):
        with data.session.entered():
            data.memory.need(HOST, why)
            room = data.memory.host().data
            array = leaf_of(type, runtime_count(type, len(room))).view(room)
    elif isinstance(data, Zeros):
        array = unpack(type, bytes(whole_words(sized(type, data.extents[0] if data.extents else 0))))
    else:
        array = unpack(type, pack_binding(described("the value", type), data))
    array.flags.writeable = False
    return array if array.shape else array[()]


def empty_texture(type: wgsl.Texture, extents: tuple[int, ...]) -> Array:
    """Zeros for a texture with these extents, the width first."""
    form = format_of(type)
    channels = () if form.is_packed or len(form.channels) == 1 else (len(form.channels),)
    return np.zeros((*reversed(extents), *channels), texel_dtype(type))


def selected(array: Any, selector: Selector) -> Any:
    """The element or member of an array that a selector names. Raises InputError."""
    if isinstance(selector, Element):
        shape = cast("Array", array).shape
        if not shape or not 0 <= selector.index < shape[0]:
            raise InputError(f"there is no element {selector.index}, but {shape[0] if shape else 0} elements")
        return array[selector.index]
    names = np.asarray(array).dtype.names or ()
    if selector.name not in names:
        raise InputError(f"there is no member {selector.name!r}")
    return array[selector.name]
