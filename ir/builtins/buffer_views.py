"""Views of buffers (WGSL, "Buffer View Built-in Functions"): their rows, and the checks of known arguments.

They have no evaluators. `view_fault` is used twice: for const-expressions when a module is created, and for
override-expressions when a pipeline is created.
"""

from __future__ import annotations

from ...base.records import dataclass
from ..layout_sizes import align_of, minimum_size, runtime_array, stride_of
from ..types import Type
from .registry import Flags, declare

_FORMS_A_POINTER = Flags(accesses_memory=False)
_VARIABLES = "A: storage | uniform | workgroup, M: read | read_write, B: buffer"

declare(
    "bufferLength",
    f"[{_VARIABLES}](p: ptr<A, B, M>) -> u32",
    doc="The number of bytes of a buffer.",
    flags=_FORMS_A_POINTER,
)
declare(
    "bufferView",
    f"<T>[T: any, {_VARIABLES}, I: i32 | u32](p: ptr<A, B, M>, offset: I) -> ptr<A, T, M>",
    doc="The bytes of a buffer from an offset on as another type.",
    flags=_FORMS_A_POINTER,
)
declare(
    "bufferArrayView",
    f"<T>[T: any, {_VARIABLES}, I: i32 | u32, S: i32 | u32](p: ptr<A, B, M>, offset: I, size: S) -> ptr<A, T, M>",
    doc="So many bytes of a buffer from an offset on as another type, whose size is not fixed.",
    flags=_FORMS_A_POINTER,
)

VIEWS = frozenset({"bufferView", "bufferArrayView"})
"""The functions that return a pointer into a buffer."""


@dataclass(frozen=True, slots=True)
class ViewFault:
    """An error in a call, and the index of the wrong argument; 0 stands for the whole call."""

    message: str
    argument: int = 0


def view_fault(type: Type, length: int | None, offset: int | None, size: int | None) -> ViewFault | None:
    """The error in a view as `type`, if any. `length`, `offset` and `size`, in bytes, are None if unknown or absent."""
    return _offset_fault(type, offset) or _size_fault(type, size) or _extent_fault(type, length, offset, size)


def _offset_fault(type: Type, offset: int | None) -> ViewFault | None:
    if offset is None:
        return None
    if offset < 0:
        return ViewFault(f"the offset of a view must not be negative, but this is {offset}", 1)
    if offset % align_of(type):
        return ViewFault(f"the offset of a view as '{type}' must be a multiple of {align_of(type)}, not {offset}", 1)
    return None


def _size_fault(type: Type, size: int | None) -> ViewFault | None:
    """Check that the size is that of a whole number of elements of the runtime-sized array, at least one."""
    if size is None:
        return None
    found = runtime_array(type)
    assert found is not None
    start, array = found
    stride = stride_of(array)
    if size < start + stride:
        return ViewFault(f"a view as '{type}' takes {start + stride} bytes at least, but its size is {size}", 2)
    if (size - start) % stride:
        before = f"{start} bytes and " if start else ""
        return ViewFault(f"the size of a view as '{type}' must be {before}a multiple of {stride}, not {size}", 2)
    return None


def _extent_fault(type: Type, length: int | None, offset: int | None, size: int | None) -> ViewFault | None:
    """Check that the end of the view is in the buffer; an unknown offset or size counts as the smallest possible."""
    if length is None:
        return None
    end = (offset or 0) + (least_size(type) if size is None else size)
    if end <= length:
        return None
    return ViewFault(f"a view as '{type}' that ends at byte {end} does not fit the buffer of {length} bytes")


def least_size(type: Type) -> int:
    """The smallest size of a view in bytes, with one element in a runtime-sized array (WGSL, "MinTypeSize")."""
    found = runtime_array(type)
    if found is None:
        return minimum_size(type)
    start, array = found
    return start + stride_of(array)
