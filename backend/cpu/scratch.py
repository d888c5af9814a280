"""The layout of a worker's scratch memory, which holds the storages that are too large for the stack."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.hercules import dynamic
from ...ir.hercules import nodes as h
from .layout import dynamic_size
from .memory import STACK_LIMIT, STORAGE_ALIGN, WINDOW_PADDING, is_padded
from .storage import Storage


def assign_scratch(
    storages: Sequence[Storage], end: h.DynamicConstant
) -> tuple[dict[Storage, h.DynamicConstant], h.DynamicConstant]:
    """Assign offsets in the scratch memory from `end` on. Returns the new end."""
    offsets: dict[Storage, h.DynamicConstant] = {}
    known_first = sorted(storages, key=lambda it: it.constant_size is None)
    for storage in known_first:
        size = storage.constant_size
        if storage.is_binding or storage.parent is not None or (size is not None and size <= STACK_LIMIT):
            continue
        offsets[storage] = end
        end = dynamic.add(end, _rounded_size(storage, size))
    return offsets, end


def _rounded_size(storage: Storage, size: int | None) -> h.DynamicConstant:
    """The size in whole cache lines, with room for one element if an array is empty."""
    padding = WINDOW_PADDING if is_padded(storage) else 0
    if size is not None:
        return dynamic.literal(-(-(size + padding) // STORAGE_ALIGN) * STORAGE_ALIGN)
    exact, more = dynamic_size(storage.layout), dynamic.literal(padding + 2 * STORAGE_ALIGN - 1)
    lines = dynamic.div(dynamic.add(exact, more), dynamic.literal(STORAGE_ALIGN))
    return dynamic.mul(lines, dynamic.literal(STORAGE_ALIGN))
