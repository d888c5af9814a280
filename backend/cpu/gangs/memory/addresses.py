"""Where the scalars of a gang's accesses lie: a pointer, plus what positions that differ between lanes add to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from .....ir.hercules import nodes as h
from ...layout import ArrayLayout, Layout, ProductLayout, ScalarLayout
from ...memory import Address
from ...storage import Storage
from ..analysis.bounds import constant_value, greatest
from ..analysis.shapes import UNIFORM, Shape
from ..context import GangContext
from ..values.vectors import LaneVectors
from .vector_memory import LaneIndices


class ValueQueries(Protocol):
    """What memory accesses ask about values at the current site."""

    def shape(self, node: h.Node) -> Shape:
        """Its shape."""
        ...

    def is_usable(self, node: h.Node) -> bool:
        """Whether code here can name the operand of a value that it uses."""
        ...

    def is_almost_affine(self, node: h.Node) -> bool:
        """Whether it is a sum with a lane's number in it that is cut to a range or taken modulo something."""
        ...

    def scalar(self, node: h.Node) -> str:
        """A value that does not vary; of an affine one, and of one that is likely to be, that of the first lane."""
        ...

    def holds(self, node: h.Node) -> str:
        """Of a value that is likely to be affine, whether it is."""
        ...

    def vector(self, node: h.Node) -> str:
        """Its lanes."""
        ...

    def is_rare(self) -> bool:
        """Whether code here should rather be short than fast."""
        ...

    def is_passed_once(self) -> bool:
        """Whether gangs pass the code here once each."""
        ...

    def is_streaming(self) -> bool:
        """Whether code here waits for memory, and the next gang likely accesses what follows."""
        ...

    def private_pointer(self, storage: Storage) -> str | None:
        """Where a lane-private collection is, in the current part; None for one that lanes share."""
        ...

    def is_proved(self, position: h.Node, extent: h.DynamicConstant) -> bool:
        """Whether code here runs only where all lanes have a position in range."""
        ...


@dataclass(frozen=True, slots=True)
class VaryingIndex:
    """A position that differs between lanes, in an array of `extent` elements, `stride` bytes apart."""

    position: h.Node
    stride: int
    extent: h.DynamicConstant


@dataclass(frozen=True, slots=True)
class LaneAddress:
    """Where the lanes' scalars are: at a pointer, plus what each index adds.

    `offset`: how many bytes from the beginning of the last index's element, None if that is not constant. `is_binding`:
    whether it is in a buffer; `is_only_written`, whether nothing there is looked at.
    """

    pointer: str
    varying: tuple[VaryingIndex, ...]
    leaf: ScalarLayout
    is_private: bool
    offset: int | None = None
    is_binding: bool = False
    is_only_written: bool = False


class LaneAddresses:
    """Finds places, and what they are for each lane."""

    def __init__(self, context: GangContext, vectors: LaneVectors, values: ValueQueries) -> None:
        self._vectors = vectors
        self._out = context.out
        self._memory = context.nodes.memory
        self._types = context.types
        self._values = values

    def of(self, storage: Storage, indices: Sequence[h.Index]) -> LaneAddress:
        """Where indices lead to in a storage."""
        private = self._values.private_pointer(storage)
        if private is not None:
            return self._walk(Address(private, storage.layout), indices, is_private=True)
        found = self.beyond(self._memory.address(storage), indices)
        return replace(found, is_binding=storage.is_binding, is_only_written=storage.is_only_written)

    def beyond(self, address: Address, indices: Sequence[h.Index]) -> LaneAddress:
        """Where indices lead to from the address of a collection that the lanes share."""
        return self._walk(address, indices, is_private=False)

    def _walk(self, address: Address, indices: Sequence[h.Index], *, is_private: bool) -> LaneAddress:
        pointer, layout, varying = address.pointer, address.layout, list[VaryingIndex]()
        scale = self._vectors.lanes if is_private else 1
        element_layout, rest = layout, list[h.Index]()
        for index in indices:
            rest.append(index)
            match index, layout:
                case h.FieldIndex(field=field), ProductLayout(fields=fields, offsets=offsets):
                    pointer, layout = self.moved(pointer, offsets[field] * scale), fields[field]
                case h.PositionIndex(position=position), ArrayLayout(element=element, extent=extent, stride=stride):
                    layout = element
                    if self._values.shape(position) == UNIFORM:
                        pointer = self._at(pointer, position, extent, stride * scale)
                    else:
                        varying.append(VaryingIndex(position, stride * scale, extent))
                        element_layout, rest = layout, []
                case _:
                    raise TypeError(f"the index {index} does not fit {layout}")
        assert isinstance(layout, ScalarLayout)
        offset = constant_offset(element_layout, rest)
        return LaneAddress(pointer, tuple(varying), layout, is_private, None if offset is None else offset[0])

    def moved(self, pointer: str, offset: int) -> str:
        """A pointer some bytes on, in the same storage."""
        return self._out.pure(f"getelementptr inbounds i8, ptr {pointer}, i64 {offset}") if offset else pointer

    def _at(self, pointer: str, position: h.Node, extent: h.DynamicConstant, stride: int) -> str:
        value = self._values.scalar(position)
        if not self.is_in_range(position, extent):
            value = self._vectors.one.intrinsic("llvm.umin", "i64", value, self._memory.last_position(extent))
        if value == "0":
            return pointer
        return self._out.pure(f"getelementptr inbounds [{stride} x i8], ptr {pointer}, i64 {value}")

    def is_in_range(self, position: h.Node, extent: h.DynamicConstant) -> bool:
        """Whether a position is surely inside an array."""
        if self._values.is_proved(position, extent):
            return True
        if isinstance(extent, h.DynamicLiteral):
            bound = greatest(position, self._types)
            return bound is not None and bound < extent.value
        fork = position.fork if isinstance(position, h.ThreadID) else None
        return isinstance(fork, h.Fork) and fork.factor == extent

    def lanes_of(self, address: LaneAddress) -> LaneIndices:
        """The clamped index of each lane."""
        vec, size = self._vectors.vec, address.leaf.size
        unit = size if all(index.stride % size == 0 for index in address.varying) else 1
        type = "i32" if unit == size else "i64"
        index = self._vectors.lane_numbers(type) if address.is_private else None
        for varying in address.varying:
            value, factor = self._clamped(varying, type), varying.stride // unit
            if factor != 1:
                value = vec.binary("mul", type, value, vec.constant(type, factor))
            index = value if index is None else vec.binary("add", type, index, value)
        assert index is not None
        return LaneIndices(address.pointer, index, type, unit)

    def _clamped(self, index: VaryingIndex, type: str) -> str:
        """A position as a vector of i32 or i64 (arrays have less than 2^31 elements)."""
        vec, values, position = self._vectors.vec, self._values, index.position
        width = "i64"
        is_widened = isinstance(position, h.Cast) and self._types[position.operand] == h.Integer(32, signed=False)
        if isinstance(position, h.Cast) and is_widened and values.is_usable(position.operand):
            position, width = position.operand, "i32"
        value = values.vector(position)
        if not self.is_in_range(index.position, index.extent):
            value = vec.intrinsic("llvm.umin", width, value, self._last(index.extent, width))
        if width == type:
            return value
        return vec.convert("zext" if type == "i64" else "trunc", width, value, type)

    def _last(self, extent: h.DynamicConstant, width: str) -> str:
        last = self._memory.last_position(extent)
        if width == "i32" and not last.isdigit():
            last = self._vectors.one.convert("trunc", "i64", last, width)
        return self._vectors.splat(last, width)


def array_steps(layout: Layout, indices: Sequence[h.Index]) -> Iterator[tuple[h.Node, h.DynamicConstant, int]]:
    """The positions among indices, each with the extent of its array and the stride of its elements."""
    for index in indices:
        match index, layout:
            case h.FieldIndex(field=field), ProductLayout(fields=fields):
                layout = fields[field]
            case h.PositionIndex(position=position), ArrayLayout(element=element, extent=extent, stride=stride):
                yield position, extent, stride
                layout = element
            case _:
                return


def constant_offset(layout: Layout, indices: Sequence[h.Index]) -> tuple[int, ScalarLayout] | None:
    """The bytes from the beginning of an element to the scalar that constant indices lead to, and that scalar; None if
    the indices are not constant, not in range, or do not lead to a scalar.
    """
    offset = 0
    for index in indices:
        match index, layout:
            case h.FieldIndex(field=field), ProductLayout(fields=fields, offsets=offsets):
                offset, layout = offset + offsets[field], fields[field]
            case (
                h.PositionIndex(position=position),
                ArrayLayout(element=element, extent=h.DynamicLiteral(value=count), stride=stride),
            ):
                value = constant_value(position)
                if value is None or not 0 <= value < count:
                    return None
                offset, layout = offset + value * stride, element
            case _:
                return None
    return (offset, layout) if isinstance(layout, ScalarLayout) else None
