"""Lane-private collections: on the stack, with the lanes' copies of each scalar side by side."""

from __future__ import annotations

from collections.abc import Iterator

from .....ir.hercules import nodes as h
from ...layout import ArrayLayout, Layout, ProductLayout, ScalarLayout, constant_size
from ...memory import STORAGE_ALIGN
from ...storage import Storage
from ..context import GangContext
from .vector_memory import VectorMemory


class PrivateMemory:
    """Allocates, fills and copies the lane-private collections of a gang, for the current part."""

    def __init__(self, context: GangContext, vector_memory: VectorMemory) -> None:
        self._out = context.out
        self._lanes = context.gang.lanes
        self._site = context.site
        self._vector_memory = vector_memory
        self._pointers: dict[tuple[Storage, int], str] = {}

    def pointer(self, storage: Storage) -> str:
        """The pointer to a collection."""
        name = storage, self._site.part
        if name not in self._pointers:
            size = constant_size(storage.layout)
            assert size is not None
            with self._out.at_entry():
                text = f"alloca [{max(size, 1) * self._lanes} x i8], align {STORAGE_ALIGN}"
                self._pointers[name] = self._out.value(text)
        return self._pointers[name]

    def fill_zero(self, storage: Storage, mask: str | None) -> None:
        """Fill a collection with zeros, on the lanes of a mask."""
        for pointer, leaf in self._scalars_at(self.pointer(storage), storage.layout):
            self._vector_memory.store("zeroinitializer", pointer, leaf, mask)

    def copy(self, source: Storage, target: Storage, mask: str | None) -> None:
        """Copy a collection to another of the same layout, on the lanes of a mask."""
        start, end = self.pointer(source), self.pointer(target)
        pairs = zip(self._scalars_at(start, source.layout), self._scalars_at(end, target.layout), strict=True)
        for (from_pointer, leaf), (to_pointer, _) in pairs:
            self._vector_memory.store(self._vector_memory.load(from_pointer, leaf, None), to_pointer, leaf, mask)

    def _scalars_at(self, pointer: str, layout: Layout) -> list[tuple[str, ScalarLayout]]:
        """The scalars of a collection, each with the pointer to the lanes' copies."""
        return [(self._moved(pointer, offset * self._lanes), leaf) for offset, leaf in _scalars(layout)]

    def _moved(self, pointer: str, offset: int) -> str:
        return self._out.pure(f"getelementptr inbounds i8, ptr {pointer}, i64 {offset}") if offset else pointer


def _scalars(layout: Layout, offset: int = 0) -> Iterator[tuple[int, ScalarLayout]]:
    """The scalars of a layout, with their offsets."""
    match layout:
        case ScalarLayout():
            yield offset, layout
        case ArrayLayout(element=element, extent=h.DynamicLiteral(value=count), stride=stride):
            for index in range(count):
                yield from _scalars(element, offset + index * stride)
        case ArrayLayout():
            raise AssertionError(f"a private array of unknown size: {layout}")
        case ProductLayout(fields=fields, offsets=offsets):
            for field, at in zip(fields, offsets, strict=True):
                yield from _scalars(field, offset + at)
