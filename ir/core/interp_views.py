"""Views of buffers in the interpreter: pointers into the same bytes.

An offset is taken as unsigned, rounded down to the alignment of the type, and lowered so that the view fits; a size is
lowered to what follows in the buffer. In a buffer that is too small for the type, loads give zeros, what is stored is
dropped, and a runtime-sized array has one element. WGSL leaves a view that does not fit open ("Buffer View Built-in
Functions").
"""

from __future__ import annotations

from .. import layout
from ..builtins.buffer_views import least_size
from ..types import Buffer, Pointer, Type
from . import nodes
from .interp_frame import Frame, Operation


def view_operation(
    node: nodes.BuiltinCall, arguments: tuple[int, ...], target: int, counts: layout.Counts
) -> Operation:
    """The closure of a call of `bufferView`, `bufferArrayView` or `bufferLength`."""
    if node.function == "bufferLength":
        return _length(node, arguments[0], target, counts)
    assert isinstance(node.type, Pointer)
    return _view(layout.resolve_counts(node.type.store, counts), arguments, target)


def _length(node: nodes.BuiltinCall, slot: int, target: int, counts: layout.Counts) -> Operation:
    pointer = node.arguments[0].type
    assert isinstance(pointer, Pointer)
    store = layout.resolve_counts(pointer.store, counts)
    assert isinstance(store, Buffer)
    fixed = store.size

    def run(frame: Frame) -> None:
        memory, offset = frame[slot]
        frame[target] = len(memory) - offset if fixed is None else fixed

    return run


def _view(type: Type, arguments: tuple[int, ...], target: int) -> Operation:
    align, least = layout.align_of(type), least_size(type)
    nothing = memoryview(bytes(least))
    buffer, offset, *size = arguments

    def run(frame: Frame) -> None:
        memory, start = frame[buffer]
        room = len(memory) - start - least
        if room < 0:
            frame[target] = nothing, 0
            return
        begin = min(frame[offset] & 0xFFFFFFFF, room) // align * align
        rest = len(memory) - start - begin
        end = rest if not size else max(least, min(frame[size[0]] & 0xFFFFFFFF, rest))
        frame[target] = memoryview(memory)[: start + begin + end], start + begin

    return run
