"""The memory accesses of a gang.

An address is a scalar pointer, or one with an index that differs between lanes. Consecutive elements are one vector in
memory where a test once a gang finds them in range; else positions are clamped lane by lane, and the elements gathered
or scattered. A lane-private collection lies with the lanes' copies of each scalar side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ....ir.hercules import nodes as h
from ..data import llvm_type
from ..layout import ArrayLayout, Layout, ProductLayout, ScalarLayout
from ..llvm import Ops
from ..memory import Address, Memory
from ..storage import Storage
from .choose import NotGanged
from .shapes import ROW_UNIFORM, UNIFORM, Kind, Shape, greatest


class Values(Protocol):
    """What memory accesses ask about values at the place where code is written."""

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
        """A value that does not vary; of an affine one that of the first lane."""
        ...

    def vector(self, node: h.Node) -> str:
        """Its lanes."""
        ...


@dataclass(frozen=True, slots=True)
class Part:
    """A position that differs between lanes, in an array of `extent` elements, `stride` bytes apart."""

    position: h.Node
    stride: int
    extent: h.DynamicConstant


@dataclass(frozen=True, slots=True)
class Place:
    """Where the lanes' scalars are: at a pointer, plus what each part adds."""

    pointer: str
    parts: tuple[Part, ...]
    leaf: ScalarLayout
    is_private: bool


@dataclass(frozen=True, slots=True)
class Lanes:
    """Scalars at `pointer` + index of each lane, in units of `unit` bytes; the index is a vector of i32 or i64."""

    pointer: str
    index: str
    index_type: str
    unit: int


class GangMemory:
    """Writes the accesses of a gang. `mask` arguments are vectors of i1, None for all lanes."""

    def __init__(
        self,
        ops: Ops,
        memory: Memory,
        types: Mapping[h.Node, h.Type],
        values: Values,
        private: Callable[[Storage], str | None],
        row: int,
    ) -> None:
        """`row`: how many lanes may follow one another."""
        self._row = row
        self.vec = ops
        self.one = Ops(ops.out)
        self._out = ops.out
        self._memory = memory
        self._types = types
        self._values = values
        self._private = private
        self.lanes = ops.lanes

    # Places

    def place(self, storage: Storage, indices: Sequence[h.Index]) -> Place:
        """Where indices lead to in a storage."""
        private = self._private(storage)
        if private is not None:
            return self._walk(Address(private, storage.layout), indices, is_private=True)
        return self.place_from(self._memory.address(storage), indices)

    def place_from(self, address: Address, indices: Sequence[h.Index]) -> Place:
        """Where indices lead to from the address of a collection that the lanes share."""
        return self._walk(address, indices, is_private=False)

    def _walk(self, address: Address, indices: Sequence[h.Index], *, is_private: bool) -> Place:
        pointer, layout, parts = address.pointer, address.layout, list[Part]()
        scale = self.lanes if is_private else 1
        for index in indices:
            match index, layout:
                case h.FieldIndex(field=field), ProductLayout(fields=fields, offsets=offsets):
                    pointer, layout = self._moved(pointer, str(offsets[field] * scale)), fields[field]
                case h.PositionIndex(position=position), ArrayLayout(element=element, extent=extent, stride=stride):
                    if self._values.shape(position) == UNIFORM:
                        pointer = self._at(pointer, position, extent, stride * scale)
                    else:
                        parts.append(Part(position, stride * scale, extent))
                    layout = element
                case _:
                    raise TypeError(f"the index {index} does not fit {layout}")
        if not isinstance(layout, ScalarLayout):
            raise NotGanged("an access to a whole collection")
        return Place(pointer, tuple(parts), layout, is_private)

    def _moved(self, pointer: str, offset: str) -> str:
        return pointer if offset == "0" else self._out.value(f"getelementptr inbounds i8, ptr {pointer}, i64 {offset}")

    def _at(self, pointer: str, position: h.Node, extent: h.DynamicConstant, stride: int) -> str:
        value = self._values.scalar(position)
        if not self.is_in_range(position, extent):
            value = self.one.intrinsic("llvm.umin", "i64", value, self._memory.last_position(extent))
        if value == "0":
            return pointer
        return self._out.value(f"getelementptr inbounds [{stride} x i8], ptr {pointer}, i64 {value}")

    def is_in_range(self, position: h.Node, extent: h.DynamicConstant) -> bool:
        """Whether a position is surely inside an array."""
        if isinstance(extent, h.DynamicLiteral):
            bound = greatest(position, self._types)
            return bound is not None and bound < extent.value
        fork = position.fork if isinstance(position, h.ThreadID) else None
        return isinstance(fork, h.Fork) and fork.factor == extent

    def lanes_of(self, place: Place) -> Lanes:
        """The clamped index of each lane."""
        size = place.leaf.size
        unit = size if all(part.stride % size == 0 for part in place.parts) else 1
        type = "i32" if unit == size else "i64"
        index = self.lane_numbers(type) if place.is_private else None
        for part in place.parts:
            value = self._scaled(self._clamped(part, type), part.stride // unit, type)
            index = value if index is None else self.vec.binary("add", type, index, value)
        assert index is not None
        return Lanes(place.pointer, index, type, unit)

    def _scaled(self, value: str, factor: int, type: str) -> str:
        return value if factor == 1 else self.vec.binary("mul", type, value, self.vec.constant(type, factor))

    def _clamped(self, part: Part, type: str) -> str:
        """A position as a vector of i32 or i64 (arrays have less than 2^31 elements)."""
        narrow = part.position.operand if isinstance(part.position, h.Cast) else None
        is_narrow = narrow is not None and self._types[narrow] == h.Integer(32, signed=False)
        if narrow is not None and is_narrow and self._values.is_usable(narrow):
            value, width = self._values.vector(narrow), "i32"
        else:
            value, width = self._values.vector(part.position), "i64"
        if not self.is_in_range(part.position, part.extent):
            last = self._memory.last_position(part.extent)
            if not last.isdigit():
                last = (
                    self.splat(self.one.convert("trunc", "i64", last, width), width)
                    if width == "i32"
                    else self.splat(last, width)
                )
            else:
                last = self.vec.constant(width, int(last))
            value = self.vec.intrinsic("llvm.umin", width, value, last)
        if width == type:
            return value
        return self.vec.convert("zext" if type == "i64" else "trunc", width, value, type)

    # Vectors

    def splat(self, value: str, scalar: str) -> str:
        """One value in all lanes."""
        if _is_literal(value):
            return f"splat ({scalar} {value})"
        type = self.vec.type(scalar)
        first = self._out.value(f"insertelement {type} poison, {scalar} {value}, i64 0")
        return self._out.value(f"shufflevector {type} {first}, {type} poison, <{self.lanes} x i32> zeroinitializer")

    def lane_numbers(self, scalar: str, stride: int = 1) -> str:
        """The constant of the lanes' numbers times a stride."""
        bits = int(scalar[1:])
        wrapped = [(lane * stride) & ((1 << bits) - 1) for lane in range(self.lanes)]
        return f"<{', '.join(f'{scalar} {it}' for it in wrapped)}>"

    def any(self, mask: str) -> str:
        """Whether a mask has a lane."""
        return self.one.binary("icmp ne", f"i{self.lanes}", self.bits(mask), "0")

    def bits(self, mask: str) -> str:
        """A mask as an integer, lane 0 lowest."""
        return self._out.value(f"bitcast {self.vec.type('i1')} {mask} to i{self.lanes}")

    def lane(self, scalar: str, vector: str, number: str) -> str:
        """One lane of a vector."""
        return self._out.value(f"extractelement {self.vec.type(scalar)} {vector}, i64 {number}")

    def a_lane(self, scalar: str, vector: str, mask: str | None) -> str:
        """The value of the last lane that is in the mask, which is not empty."""
        if mask is None:
            return self.lane(scalar, vector, str(self.lanes - 1))
        bits = self.bits(mask)
        zeros = self.one.intrinsic("llvm.ctlz", f"i{self.lanes}", bits, flags=("true",))
        last = self.one.binary("sub", f"i{self.lanes}", str(self.lanes - 1), zeros)
        wide = "zext" if self.lanes < 64 else "bitcast"
        return self.lane(scalar, vector, self.one.convert(wide, f"i{self.lanes}", last, "i64"))

    # Loads and stores

    def load(self, place: Place, mask: str | None) -> tuple[str, bool]:
        """The lanes' values, or one for all; and whether it is a vector."""
        if not place.parts:
            if place.is_private:
                return self._from_memory(place.leaf, self._load_vector(place.pointer, place.leaf, None)), True
            return self._memory.load(Address(place.pointer, place.leaf)), False
        if not self._is_consecutive(place):
            lanes = self.lanes_of(place)
            if self._is_row_uniform(place):
                return self._from_memory(place.leaf, self._load_for_rows(lanes, place.leaf)), True
            if self._is_in_rows(place):
                return self._from_memory(place.leaf, self._load_rows(lanes, place.leaf, mask)), True
            if self._may_follow(place):
                return self._from_memory(place.leaf, self._load_tested(lanes, place.leaf, mask)), True
            return self._from_memory(place.leaf, self._gather(lanes, place.leaf, mask)), True
        results: list[tuple[str, str]] = []
        for pointer in self._ways(place):
            value = (
                self._gather(self.lanes_of(place), place.leaf, mask)
                if pointer is None
                else self._load_vector(pointer, place.leaf, mask)
                if place.parts[0].stride == place.leaf.size
                else self._load_strided(pointer, place, mask)
            )
            results.append((value, self._out.current))
        value = results[0][0]
        if len(results) > 1:
            value = self._out.phi(self.vec.type(_memory_type(place.leaf)), lambda: results)
        return self._from_memory(place.leaf, value), True

    def store(self, value: h.Node, place: Place, mask: str | None) -> None:
        """Put a value into its place, on the lanes of a mask that is not empty."""
        scalar = llvm_type(place.leaf.type)
        if not place.parts and not place.is_private:
            shape = self._values.shape(value)
            one = (
                self._values.scalar(value)
                if shape == UNIFORM
                else self.a_lane(scalar, self._values.vector(value), mask)
            )
            self._memory.store(one, Address(place.pointer, place.leaf))
            return
        self.store_lanes(self._values.vector(value), place, mask)

    def store_lanes(self, lanes: str, place: Place, mask: str | None) -> None:
        """Put lanes into places that differ."""
        data = self._to_memory(place.leaf, lanes)
        if not place.parts:
            self._store_vector(data, place.pointer, place.leaf, mask)
        elif not self._is_consecutive(place):
            indices = self.lanes_of(place)
            if self._is_in_rows(place):
                self._store_rows(data, indices, place.leaf, mask)
            elif self._may_follow(place):
                self._store_tested(data, indices, place.leaf, mask)
            else:
                self._scatter(data, indices, place.leaf, mask)
        else:
            for pointer in self._ways(place):
                if pointer is None:
                    self._scatter(data, self.lanes_of(place), place.leaf, mask)
                elif place.parts[0].stride == place.leaf.size:
                    self._store_vector(data, pointer, place.leaf, mask)
                else:
                    self._scatter(data, self._strided(pointer, place), place.leaf, mask)

    def _is_consecutive(self, place: Place) -> bool:
        if place.is_private or len(place.parts) != 1:
            return False
        shape = self._values.shape(place.parts[0].position)
        return shape.kind in (Kind.AFFINE, Kind.WIDENED) and shape.stride == 1

    def _may_follow(self, place: Place) -> bool:
        """Whether it is likely that lanes access elements that follow one another, though that is not sure."""
        return (
            not place.is_private
            and len(place.parts) == 1
            and place.parts[0].stride == place.leaf.size
            and self._values.is_almost_affine(place.parts[0].position)
        )

    def _is_row_uniform(self, place: Place) -> bool:
        """Whether each row of lanes accesses one element."""
        return not place.is_private and all(self._values.shape(part.position) == ROW_UNIFORM for part in place.parts)

    def _is_in_rows(self, place: Place) -> bool:
        """Whether the lanes of a row are sure to access elements that follow one another."""
        shapes = [self._values.shape(part.position) for part in place.parts]
        if place.is_private or any(it.kind not in (Kind.ROWS, Kind.WIDENED_ROWS) for it in shapes):
            return False
        moving = [part for part, shape in zip(place.parts, shapes, strict=True) if shape != ROW_UNIFORM]
        return (
            len(moving) == 1
            and self._values.shape(moving[0].position).stride == 1
            and moving[0].stride == place.leaf.size
            and self.is_in_range(moving[0].position, moving[0].extent)
        )

    def _row_pointers(self, lanes: Lanes) -> list[str]:
        """The address of the first lane of each row."""
        pointers: list[str] = []
        for first in range(0, self.lanes, self._row):
            index = self.lane(lanes.index_type, lanes.index, str(first))
            pointers.append(
                self._out.value(f"getelementptr [{lanes.unit} x i8], ptr {lanes.pointer}, {lanes.index_type} {index}")
            )
        return pointers

    def _load_for_rows(self, lanes: Lanes, leaf: ScalarLayout) -> str:
        """One element for each row of lanes; all indices are in range, so that it need not be asked who wants it."""
        scalar = _memory_type(leaf)
        type, vector = self.vec.type(scalar), "poison"
        for row, pointer in enumerate(self._row_pointers(lanes)):
            element = self._out.value(f"load {scalar}, ptr {pointer}, align {leaf.align}")
            vector = self._out.value(f"insertelement {type} {vector}, {scalar} {element}, i64 {row}")
        numbers = ", ".join(f"i32 {lane // self._row}" for lane in range(self.lanes))
        return self._out.value(f"shufflevector {type} {vector}, {type} poison, <{self.lanes} x i32> <{numbers}>")

    def _row_mask(self, mask: str | None, row: int) -> str | None:
        return None if mask is None else self._row_of("i1", mask, row)

    def _row_of(self, scalar: str, vector: str, row: int) -> str:
        """The lanes of a row."""
        type, first = self.vec.type(scalar), row * self._row
        numbers = ", ".join(f"i32 {lane}" for lane in range(first, first + self._row))
        return self._out.value(f"shufflevector {type} {vector}, {type} poison, <{self._row} x i32> <{numbers}>")

    def _load_rows(self, lanes: Lanes, leaf: ScalarLayout, mask: str | None) -> str:
        """A vector for each row of lanes, put together."""
        pointers, scalar = self._row_pointers(lanes), _memory_type(leaf)
        if len(pointers) == 1:
            return self._load_vector(pointers[0], leaf, mask)
        part = Ops(self._out, self._row)
        rows = [
            self._load_vector(pointer, leaf, self._row_mask(mask, row), part) for row, pointer in enumerate(pointers)
        ]
        while len(rows) > 1:
            numbers = ", ".join(f"i32 {lane}" for lane in range(2 * part.lanes))
            type = part.type(scalar)
            rows = [
                self._out.value(f"shufflevector {type} {left}, {type} {right}, <{2 * part.lanes} x i32> <{numbers}>")
                for left, right in zip(rows[::2], rows[1::2], strict=True)
            ]
            part = Ops(self._out, 2 * part.lanes)
        return rows[0]

    def _store_rows(self, data: str, lanes: Lanes, leaf: ScalarLayout, mask: str | None) -> None:
        """Each row of lanes as a vector."""
        part = Ops(self._out, self._row)
        for row, pointer in enumerate(self._row_pointers(lanes)):
            piece = self._row_of(_memory_type(leaf), data, row)
            self._store_vector(piece, pointer, leaf, self._row_mask(mask, row), part)

    def _store_tested(self, data: str, lanes: Lanes, leaf: ScalarLayout, mask: str | None) -> None:
        """Rows of vectors if the lanes' elements turn out to follow one another, else a scatter."""
        out = self._out
        fast, slow, done = (out.fresh_block(name) for name in ("follows", "strewn", "stored"))
        out.do(f"br i1 {self._follows(lanes)}, label %{fast}, label %{slow}, !prof !1")
        out.open(fast)
        self._store_rows(data, lanes, leaf, mask)
        out.do(f"br label %{done}")
        out.open(slow)
        self._scatter(data, lanes, leaf, mask)
        out.do(f"br label %{done}")
        out.open(done)

    def _follows(self, lanes: Lanes) -> str:
        """Whether the lanes of each row access elements that follow one another."""
        out, type = self._out, lanes.index_type
        rows = ", ".join(f"i32 {lane // self._row * self._row}" for lane in range(self.lanes))
        vector = self.vec.type(type)
        first = out.value(f"shufflevector {vector} {lanes.index}, {vector} poison, <{self.lanes} x i32> <{rows}>")
        numbers = ", ".join(f"{type} {lane % self._row}" for lane in range(self.lanes))
        expected = self.vec.binary("add", type, first, f"<{numbers}>")
        same = self.vec.binary("icmp eq", type, lanes.index, expected)
        return self.one.binary("icmp eq", f"i{self.lanes}", self.bits(same), "-1")

    def _load_tested(self, lanes: Lanes, leaf: ScalarLayout, mask: str | None) -> str:
        """Rows of vectors if the lanes' elements turn out to follow one another, else a gather."""
        out, follows = self._out, self._follows(lanes)
        fast, slow, done = (out.fresh_block(name) for name in ("follows", "strewn", "loaded"))
        out.do(f"br i1 {follows}, label %{fast}, label %{slow}, !prof !1")
        out.open(fast)
        results = [(self._load_rows(lanes, leaf, mask), fast)]
        out.do(f"br label %{done}")
        out.open(slow)
        results.append((self._gather(lanes, leaf, mask), slow))
        out.do(f"br label %{done}")
        out.open(done)
        return out.phi(self.vec.type(_memory_type(leaf)), lambda: results)

    def _ways(self, place: Place) -> Generator[str | None]:
        """The pointer to the first of consecutive elements that are all in range; if that is not sure, also None, for
        a way round where they are not. What is written between runs on that way.
        """
        (part,) = place.parts
        first = self._values.scalar(part.position)
        element = f"getelementptr inbounds [{part.stride} x i8], ptr {place.pointer}, i64 {first}"
        if self.is_in_range(part.position, part.extent):
            yield self._out.value(element)
            return
        out = self._out
        fast, slow, done = (out.fresh_block(name) for name in ("inside", "outside", "accessed"))
        last = self.one.binary("add", "i64", first, str(self.lanes - 1))
        extent = self._memory.dynamic(part.extent)
        inside = self.one.binary("icmp ult", "i64", last, extent)
        inside = self.one.binary("and", "i1", inside, self.one.binary("icmp ult", "i64", first, str(1 << 32)))
        out.do(f"br i1 {inside}, label %{fast}, label %{slow}, !prof !1")
        out.open(fast)
        yield out.value(element)
        out.do(f"br label %{done}")
        out.open(slow)
        yield None
        out.do(f"br label %{done}")
        out.open(done)

    def _strided(self, pointer: str, place: Place) -> Lanes:
        """Elements that follow one another, but farther apart than they are long."""
        stride, size = place.parts[0].stride, place.leaf.size
        unit = size if stride % size == 0 else 1
        return Lanes(pointer, self.lane_numbers("i32", stride // unit), "i32", unit)

    def _load_strided(self, pointer: str, place: Place, mask: str | None) -> str:
        return self._gather(self._strided(pointer, place), place.leaf, mask)

    def _load_vector(self, pointer: str, leaf: ScalarLayout, mask: str | None, part: Ops | None = None) -> str:
        scalar, vec = _memory_type(leaf), self.vec if part is None else part
        type = vec.type(scalar)
        if mask is None:
            return self._out.value(f"load {type}, ptr {pointer}, align {leaf.align}")
        name = f"llvm.masked.load.{vec.suffix(scalar)}.p0"
        masks = vec.type("i1")
        self._out.module.declare(f"{type} @{name}(ptr, {masks}, {type})")
        return self._out.value(
            f"call {type} @{name}(ptr align {leaf.align} {pointer}, {masks} {mask}, {type} zeroinitializer)"
        )

    def _store_vector(
        self, data: str, pointer: str, leaf: ScalarLayout, mask: str | None, part: Ops | None = None
    ) -> None:
        scalar, vec = _memory_type(leaf), self.vec if part is None else part
        type = vec.type(scalar)
        if mask is None:
            self._out.do(f"store {type} {data}, ptr {pointer}, align {leaf.align}")
            return
        name = f"llvm.masked.store.{vec.suffix(scalar)}.p0"
        masks = vec.type("i1")
        self._out.module.declare(f"void @{name}({type}, ptr, {masks})")
        self._out.do(f"call void @{name}({type} {data}, ptr align {leaf.align} {pointer}, {masks} {mask})")

    def _pointers(self, lanes: Lanes) -> str:
        return self._out.value(
            f"getelementptr [{lanes.unit} x i8], ptr {lanes.pointer}, {self.vec.type(lanes.index_type)} {lanes.index}"
        )

    def _gather(self, lanes: Lanes, leaf: ScalarLayout, mask: str | None) -> str:
        scalar = _memory_type(leaf)
        type, masks, pointers = (self.vec.type(it) for it in (scalar, "i1", "ptr"))
        name = f"llvm.masked.gather.{self.vec.suffix(scalar)}.v{self.lanes}p0"
        self._out.module.declare(f"{type} @{name}({pointers}, {masks}, {type})")
        all_lanes = "splat (i1 true)"
        return self._out.value(
            f"call {type} @{name}({pointers} align {leaf.align} {self._pointers(lanes)}, {masks} {mask or all_lanes}, "
            f"{type} zeroinitializer)"
        )

    def _scatter(self, data: str, lanes: Lanes, leaf: ScalarLayout, mask: str | None) -> None:
        scalar = _memory_type(leaf)
        type, masks, pointers = (self.vec.type(it) for it in (scalar, "i1", "ptr"))
        name = f"llvm.masked.scatter.{self.vec.suffix(scalar)}.v{self.lanes}p0"
        self._out.module.declare(f"void @{name}({type}, {pointers}, {masks})")
        all_lanes = "splat (i1 true)"
        self._out.do(
            f"call void @{name}({type} {data}, {pointers} align {leaf.align} {self._pointers(lanes)}, "
            f"{masks} {mask or all_lanes})"
        )

    def _from_memory(self, leaf: ScalarLayout, data: str) -> str:
        if isinstance(leaf.type, h.Bool):
            return self.vec.binary("icmp ne", "i8", data, self.vec.constant("i8", 0))
        return data

    def _to_memory(self, leaf: ScalarLayout, value: str) -> str:
        return self.vec.convert("zext", "i1", value, "i8") if isinstance(leaf.type, h.Bool) else value

    # Whole collections, private to the lanes

    def fill_zero(self, storage: Storage, mask: str | None) -> None:
        """Zeros in a lane-private collection."""
        pointer = self._private(storage)
        assert pointer is not None
        for leaf_pointer, leaf in self._leaves(pointer, storage.layout):
            self._store_vector("zeroinitializer", leaf_pointer, leaf, mask)

    def copy(self, source: Storage, target: Storage, mask: str | None) -> None:
        """Copy between lane-private collections of one layout."""
        start, end = self._private(source), self._private(target)
        assert start is not None
        assert end is not None
        pairs = zip(self._leaves(start, source.layout), self._leaves(end, target.layout), strict=True)
        for (from_pointer, leaf), (to_pointer, _) in pairs:
            self._store_vector(self._load_vector(from_pointer, leaf, None), to_pointer, leaf, mask)

    def _leaves(self, pointer: str, layout: Layout) -> list[tuple[str, ScalarLayout]]:
        found: list[tuple[int, ScalarLayout]] = []
        _find_leaves(layout, 0, found)
        if len(found) > _MOST_LEAVES:
            raise NotGanged("a large private array")
        return [(self._moved(pointer, str(offset * self.lanes)), leaf) for offset, leaf in found]


_MOST_LEAVES = 1024


def _find_leaves(layout: Layout, offset: int, found: list[tuple[int, ScalarLayout]]) -> None:
    match layout:
        case ScalarLayout():
            found.append((offset, layout))
        case ArrayLayout(element=element, extent=h.DynamicLiteral(value=count), stride=stride):
            for index in range(count):
                _find_leaves(element, offset + index * stride, found)
        case ProductLayout(fields=fields, offsets=offsets):
            for field, at in zip(fields, offsets, strict=True):
                _find_leaves(field, offset + at, found)
        case _:
            raise NotGanged("a private array of unknown size")


def _memory_type(leaf: ScalarLayout) -> str:
    return "i8" if isinstance(leaf.type, h.Bool) else llvm_type(leaf.type)


def _is_literal(value: str) -> bool:
    return not value.startswith("%")
