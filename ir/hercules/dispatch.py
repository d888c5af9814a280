"""Runs an entry point in the interpreter, on the bytes of its buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from ...base.deadline import Deadline
from .. import layout
from ..constants import RawValue
from ..types import Array, BindingPoint, Matrix, Struct, Type, Vector
from .entry import WORKGROUP_CONSTANTS, Binding, EntryPoint
from .interp import ThreadOrder, forward, run_in_place
from .storage import Value


def run_entry_point(
    entry: EntryPoint,
    buffers: Mapping[BindingPoint, bytearray | memoryview],
    workgroups: tuple[int, int, int],
    order: ThreadOrder = forward,
    *,
    timeout: float | None = None,
) -> None:
    """Dispatch the given number of workgroups of the entry point. Buffers that it writes change in place; the others
    must not overlap them.

    Raises InterpreterError if the function does not verify, KeyError for a buffer that is missing, DeviceError after
    `timeout` seconds.
    """
    deadline = Deadline(timeout)
    constants = [*workgroups, *([0] * (len(entry.function.dynamic_constants) - len(WORKGROUP_CONSTANTS)))]
    for binding in entry.bindings:
        if binding.length is not None:
            constants[binding.length] = layout.runtime_count(binding.type, len(buffers[binding.point]))
    by_parameter = {it.parameter: it for it in entry.bindings}
    count = len(entry.function.parameter_types)
    arguments = [_collection(by_parameter[number], buffers) for number in range(count)]
    run_in_place(entry.function, constants, arguments, order, deadline)


def _collection(binding: Binding, buffers: Mapping[BindingPoint, bytearray | memoryview]) -> BufferCollection:
    return BufferCollection(binding.type, buffers[binding.point])


@dataclass(slots=True)
class BufferCollection:
    """A WGSL variable as a collection (see `storage.Collection`): elements live in the bytes of a buffer, in WGSL's
    layout.
    """

    type: Type
    data: bytearray | memoryview

    def get(self, path: Sequence[int]) -> Value:
        """The element at a path; an aggregate as lists."""
        type, offset = self._find(path)
        return _value(layout.reader(type)(self.data, offset))

    def set(self, path: Sequence[int], value: Value) -> None:
        """Store into the buffer."""
        type, offset = self._find(path)
        layout.writer(type)(self.data, offset, _raw(value))

    def copy(self) -> BufferCollection:
        """A copy in a buffer of its own."""
        return BufferCollection(self.type, bytearray(self.data))

    def _find(self, path: Sequence[int]) -> tuple[Type, int]:
        type, offset = self.type, 0
        for step in path:
            level = _level(type)
            if isinstance(level, _Elements):
                type, offset = level.element, offset + step * level.stride
            else:
                type, offset = level.types[step], offset + level.offsets[step]
        return type, offset


@dataclass(frozen=True, slots=True)
class _Elements:
    element: Type
    stride: int


@dataclass(frozen=True, slots=True)
class _Members:
    types: tuple[Type, ...]
    offsets: tuple[int, ...]


@cache
def _level(type: Type) -> _Elements | _Members:
    match type:
        case Array():
            return _Elements(type.element, layout.stride_of(type))
        case Vector(element=element):
            return _Elements(element, layout.size_of(element))
        case Matrix():
            return _Elements(type.column, layout.offset_of(type, 1))
        case Struct(members=members):
            return _Members(tuple(it.type for it in members), tuple(layout.member_offsets(type)))
        case _:
            raise TypeError(f"{type} has no elements")


def _value(raw: RawValue) -> Value:
    return raw if isinstance(raw, (bool, int, float)) else [_value(it) for it in raw]


def _raw(value: Value) -> RawValue:
    if isinstance(value, (bool, int, float)):
        return value
    assert isinstance(value, list)
    return [_raw(it) for it in value]
