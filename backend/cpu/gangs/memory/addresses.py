"""The addresses of a gang's accesses: a pointer, and the positions that differ between lanes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from .....ir.hercules import nodes as h
from ...layout import ArrayLayout, Layout, ProductLayout, ScalarLayout
from ...memory import Address, is_padded
from ...storage import Storage
from ..analysis.bounds import constant_value, greatest
from ..analysis.shapes import UNIFORM, Shape
from ..context import GangContext
from ..values.common_counters import Common
from ..values.vectors import LaneVectors
from .private_memory import PrivateMemory
from .vector_memory import LaneIndices


class ValueQueries(Protocol):
    """What memory accesses need to know about values at the current site."""

    def shape(self, node: h.Node) -> Shape:
        """The shape of a value, within one part."""
        ...

    def likely_arm(self, node: h.Select) -> h.Node | None:
        """The arm of a select between positions that most gangs take in all lanes; None if neither is likelier."""
        ...

    def is_usable(self, node: h.Node) -> bool:
        """Whether the operand of an available value is available too."""
        ...

    def is_almost_affine(self, node: h.Node) -> bool:
        """Whether a value contains the lane number as a summand, clamped or modulo some number."""
        ...

    def scalar(self, node: h.Node) -> str:
        """The scalar of a value; the first lane's for affine and speculated values."""
        ...

    def shared_scalar(self, node: h.Node) -> str | None:
        """The scalar that is the value of all lanes of the part; None if there is none, or it may not be used here, as
        that of an operand which was computed where only some gangs pass.
        """
        ...

    def holds(self, node: h.Node) -> str:
        """An i1: whether a speculated value is affine."""
        ...

    def vector(self, node: h.Node) -> str:
        """The vector of a value."""
        ...

    def is_rare(self) -> bool:
        """Whether the current code is rarely run, and should be short."""
        ...

    def is_brief(self) -> bool:
        """Whether accesses shall have short forms: in rare code, and where the function has much code already."""
        ...

    def are_lanes_of_positions(self) -> bool:
        """Whether only positions decide which lanes pass the current block: then it is mostly all of them, or none."""
        ...

    def moves_on(self, varying: Sequence[VaryingIndex], size: int) -> bool:
        """Whether each iteration of each loop around the current code accesses other bytes, `size` for each gang."""
        ...

    def is_in_divergent_loop(self) -> bool:
        """Whether the current block is in a loop that lanes may leave in different iterations."""
        ...

    def common(self, position: h.Node) -> Common | None:
        """The position in all lanes of the part that are in a loop, if it is computed from counters that lanes which
        enter the loop may have in common.
        """
        ...

    def is_streaming(self) -> bool:
        """Whether the current code is bound by memory, and the next gang likely accesses the bytes that follow."""
        ...

    def has_short_rows(self) -> bool:
        """Whether gangs in the interior and others take turns, so that parts of a cache line are stored in two ways."""
        ...

    def known(self, node: h.Node) -> Sequence[int] | None:
        """The integers of the part's lanes, if they are known before the kernel runs."""
        ...

    def grown_by(self, positions: Sequence[tuple[h.Node, int]]) -> str:
        """The bytes, an i64, from the address of the first one of gangs that have one code to the current one's, of
        elements at known positions with strides in bytes.
        """
        ...

    def live(self) -> Sequence[bool | None] | None:
        """Whether each lane of the part passes the current code, None for lanes of which that is not known; None if
        the threads' numbers are not known.
        """
        ...

    def is_proved(self, position: h.Node, extent: h.DynamicConstant) -> bool:
        """Whether the current code runs only if all lanes' positions are in range."""
        ...


@dataclass(frozen=True, slots=True)
class VaryingIndex:
    """A position that differs between lanes, in an array of `extent` elements, `stride` bytes apart."""

    position: h.Node
    stride: int
    extent: h.DynamicConstant


@dataclass(frozen=True, slots=True)
class Origin:
    """The pointer to the beginning of a storage, and the bytes from there to the pointer of an address."""

    pointer: str
    offset: int


@dataclass(frozen=True, slots=True)
class LaneAddress:
    """The addresses of the lanes' scalars: a pointer, plus the offsets of the `varying` indices.

    `offset` is the number of bytes from the beginning of the last index's element, None if it is not constant.
    `is_binding` says whether the addresses are in a buffer, `is_only_written` whether the kernel never reads that, and
    `is_padded` whether `WINDOW_PADDING` bytes of no use follow the storage. Padded storage has an `origin` where all
    positions are known, and storage in registers has one always (see `storage.Storage`).
    """

    pointer: str
    varying: tuple[VaryingIndex, ...]
    leaf: ScalarLayout
    is_private: bool
    offset: int | None = None
    is_binding: bool = False
    is_only_written: bool = False
    is_padded: bool = False
    origin: Origin | None = None
    is_in_registers: bool = False


class LaneAddresses:
    """Computes the addresses of accesses."""

    def __init__(
        self, context: GangContext, vectors: LaneVectors, private: PrivateMemory, values: ValueQueries
    ) -> None:
        self._private_storages, self._private = context.private, private
        self._vectors = vectors
        self._out = context.out
        self._memory = context.nodes.memory
        self._types = context.types
        self._values = values

    def of(self, storage: Storage, indices: Sequence[h.Index]) -> LaneAddress:
        """The address of an element of a storage."""
        if storage in self._private_storages:
            return self._walk(Address(self._private.pointer(storage), storage.layout), indices, is_private=True)
        found = self.beyond(self._memory.address(storage), indices)
        return replace(
            found,
            is_binding=storage.is_binding,
            is_only_written=storage.is_only_written,
            is_padded=is_padded(storage),
            origin=self._origin(storage, indices) if is_padded(storage) or storage.is_in_registers else None,
            is_in_registers=storage.is_in_registers,
        )

    def _origin(self, storage: Storage, indices: Sequence[h.Index]) -> Origin | None:
        """Where the pointer of an address points; None if that is not known."""
        layout, offset, steps = storage.layout, 0, list[tuple[h.Node, int]]()
        for index in indices:
            match index, layout:
                case h.FieldIndex(field=field), ProductLayout(fields=fields, offsets=offsets):
                    offset, layout = offset + offsets[field], fields[field]
                case (
                    h.PositionIndex(position=position),
                    ArrayLayout(element=layout, extent=h.DynamicLiteral(value=count), stride=stride),
                ):
                    known = self._values.known(position)
                    if known is None:
                        return None
                    is_uniform = self._values.shape(position) == UNIFORM
                    offset += stride * min(known[0], count - 1) if is_uniform else 0
                    steps.append((position, stride))
                case _:
                    return None
        pointer, grown = self._memory.address(storage).pointer, self._values.grown_by(steps)
        return Origin(
            pointer if grown == "0" else self._out.pure(f"getelementptr i8, ptr {pointer}, i64 {grown}"), offset
        )

    def beyond(self, address: Address, indices: Sequence[h.Index]) -> LaneAddress:
        """The address of an element of a shared collection at an address."""
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
        """A pointer plus an offset, in the same storage."""
        return self._out.pure(f"getelementptr inbounds i8, ptr {pointer}, i64 {offset}") if offset else pointer

    def _at(self, pointer: str, position: h.Node, extent: h.DynamicConstant, stride: int) -> str:
        value = self.clamped(self._values.scalar(position), VaryingIndex(position, stride, extent))
        if value == "0":
            return pointer
        return self._out.pure(f"getelementptr inbounds [{stride} x i8], ptr {pointer}, i64 {value}")

    def pointer_at(self, address: LaneAddress, position: str) -> str:
        """The pointer to the element of a lane, of which this is the only position."""
        (varying,) = address.varying
        value = self.clamped(position, varying)
        return self._out.pure(f"getelementptr [{varying.stride} x i8], ptr {address.pointer}, i64 {value}")

    def clamped(self, value: str, index: VaryingIndex) -> str:
        """A lane's position, an i64, limited to the last element unless it is known to be in range."""
        if self.is_in_range(index.position, index.extent):
            return value
        return self._vectors.one.intrinsic("llvm.umin", "i64", value, self._memory.last_position(index.extent))

    def is_in_range(self, position: h.Node, extent: h.DynamicConstant) -> bool:
        """Whether a position is known to be in range."""
        if self._values.is_proved(position, extent):
            return True
        if isinstance(extent, h.DynamicLiteral):
            bound = greatest(position, self._types)
            return bound is not None and bound < extent.value
        fork = position.fork if isinstance(position, h.ThreadID) else None
        return isinstance(fork, h.Fork) and fork.factor == extent

    def lanes_of(self, address: LaneAddress) -> LaneIndices:
        """The addresses with clamped positions, as a vector of indices."""
        size = address.leaf.size
        is_whole = all(index.stride % size == 0 for index in address.varying)
        return self.lanes_by(address, size, "i32") if is_whole else self.lanes_by(address, 1, "i64")

    def lanes_by(self, address: LaneAddress, unit: int, type: str) -> LaneIndices:
        """The same, in units that divide the strides, as integers of a type that is wide enough."""
        vec = self._vectors.vec
        index = self._vectors.lane_numbers(type) if address.is_private else None
        for varying in address.varying:
            value, factor = self._clamped(varying, type), varying.stride // unit
            if factor != 1:
                value = vec.binary("mul", type, value, vec.constant(type, factor))
            index = value if index is None else vec.binary("add", type, index, value)
        assert index is not None
        return LaneIndices(address.pointer, index, type, unit)

    def elements_of(self, address: LaneAddress) -> LaneIndices:
        """The addresses with clamped positions, where one index varies, in the largest unit that an instruction of
        x86-64 multiplies an index by.
        """
        (varying,) = address.varying
        vec, unit = self._vectors.vec, 8 if varying.stride % 8 == 0 else 4
        scaled = vec.binary("mul", "i32", self._clamped(varying, "i32"), vec.constant("i32", varying.stride // unit))
        return LaneIndices(address.pointer, scaled, "i32", unit)

    def _clamped(self, index: VaryingIndex, type: str) -> str:
        """A position as a vector of i32 or i64 (arrays have less than 2^31 elements)."""
        vec, values, position = self._vectors.vec, self._values, index.position
        width = "i64"
        is_widened = isinstance(position, h.Cast) and self._types[position.operand] == h.Integer(32, signed=False)
        if isinstance(position, h.Cast) and is_widened and values.is_usable(position.operand):
            position, width = position.operand, "i32"
        value = values.vector(position)
        if not self.is_in_range(index.position, index.extent):
            value = vec.intrinsic("llvm.umin", width, value, self.last(index.extent, width))
        if width == type:
            return value
        return vec.convert("zext" if type == "i64" else "trunc", width, value, type)

    def last(self, extent: h.DynamicConstant, width: str) -> str:
        """The last position of an array in all lanes, as integers of a type."""
        last = self._memory.last_position(extent)
        if width == "i32" and not last.isdigit():
            last = self._vectors.one.convert("trunc", "i64", last, width)
        return self._vectors.splat(last, width)


def words_of(addresses: Sequence[LaneAddress]) -> tuple[LaneAddress, list[int]]:
    """The first scalar of a record, and the number of each scalar, counted from the first."""
    offsets = [address.offset or 0 for address in addresses]
    start = min(offsets)
    return addresses[offsets.index(start)], [(it - start) // addresses[0].leaf.size for it in offsets]


def array_steps(layout: Layout, indices: Sequence[h.Index]) -> Iterator[tuple[h.Node, h.DynamicConstant, int]]:
    """The positions among indices, with the extents of their arrays and the strides of elements."""
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
    """The offset and the layout of the scalar that constant indices select in an element; None if the indices are not
    constant, out of range, or do not select a scalar.
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
