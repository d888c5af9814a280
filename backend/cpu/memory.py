"""Memory of one function: base addresses of storages, addresses of elements, loads, stores, copies and atomics.

Positions are clamped to the last element (see `hercules.asdl`), so that every address is inside its storage; a binding
is never smaller than one element of its runtime-sized array (`device` sees to that).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...base.records import dataclass
from ...ir.hercules import dynamic
from ...ir.hercules import nodes as h
from ...ir.hercules.types import constant_type
from .data import llvm_type, scalar_constant
from .layout import ArrayLayout, Layout, ProductLayout, ScalarLayout, constant_size, natural_layout
from .llvm import FunctionText, Ops
from .storage import Storage

if TYPE_CHECKING:
    from .counter_tables import CounterTables

STACK_LIMIT = 4096
"""Storages up to this many bytes are on the stack, where LLVM may turn them into registers; larger ones are scratch."""
CACHE_LINE = 64
"""The bytes of a line of the caches."""
STORAGE_ALIGN = 64
WINDOW_PADDING = 576
"""Bytes behind a storage that may be loaded, though nothing is there: gangs load whole vectors around elements (see
`gangs.memory.windows`).
"""
_LEAST_PADDED = 64
"""Storages of fewer bytes have no padding."""
_STORED = 2048
"""Up to this many bytes of zeros are stored vector by vector; more by a call of memset."""
_ELEMENTWISE_COPY = 16
"""Arrays up to this length are copied without a loop where their layouts differ."""

_RMW = {
    h.AtomicOp.ADD: "add",
    h.AtomicOp.SUB: "sub",
    h.AtomicOp.AND: "and",
    h.AtomicOp.OR: "or",
    h.AtomicOp.XOR: "xor",
    h.AtomicOp.EXCHANGE: "xchg",
}


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a value, with its layout."""

    pointer: str
    layout: Layout


IS_SHARED = "%is.shared"
"""Whether other workers run other threads of a dispatch meanwhile: the parameter of a function."""


class Memory:
    """Writes one function's memory accesses into `ops.out`; addresses of storages are computed in the block `entry`."""

    def __init__(
        self,
        ops: Ops,
        scratch_offsets: Mapping[Storage, h.DynamicConstant],
        thread_index: Callable[[h.Node], str],
        position: Callable[[h.Node], str],
        in_range: Callable[[h.Node, h.DynamicConstant], bool],
    ) -> None:
        self.ops = ops
        self._out: FunctionText = ops.out
        self._scratch_offsets = scratch_offsets
        self._thread_index = thread_index
        self._position = position
        self._in_range = in_range
        self.tables: dict[int, CounterTables] = {}
        """The tables of counters of bindings that have several, by parameter."""
        self.is_shared = IS_SHARED
        """Whether other workers run other threads of the dispatch meanwhile, an i1."""
        self._bases: dict[Storage, str] = {}
        self._dynamic: dict[h.DynamicConstant, str] = {}
        self._last: dict[h.DynamicConstant, str] = {}

    # Dynamic constants

    def dynamic(self, constant: h.DynamicConstant) -> str:
        """The value of a dynamic constant, an i64."""
        if isinstance(constant, h.DynamicLiteral):
            return str(constant.value)
        if constant not in self._dynamic:
            with self._out.at_entry():
                self._dynamic[constant] = self._evaluate(constant)
        return self._dynamic[constant]

    def _evaluate(self, constant: h.DynamicParameter | h.DynamicBinary) -> str:
        if isinstance(constant, h.DynamicParameter):
            pointer = self._out.pure(f"getelementptr inbounds i64, ptr %dynamic, i64 {constant.index}")
            return self._out.value(f"load i64, ptr {pointer}, align 8, !invariant.load !0")
        lhs, rhs = self.dynamic(constant.lhs), self.dynamic(constant.rhs)
        match constant.op:
            case h.DynamicOp.ADD | h.DynamicOp.SUB | h.DynamicOp.MUL:
                return self.ops.binary(constant.op.value, "i64", lhs, rhs)
            case h.DynamicOp.MIN | h.DynamicOp.MAX:
                return self.ops.intrinsic(f"llvm.u{constant.op.value}", "i64", lhs, rhs)
            case h.DynamicOp.DIV | h.DynamicOp.REM:
                is_zero = self.ops.binary("icmp eq", "i64", rhs, "0")
                divisor = self.ops.select(is_zero, "i64", "1", rhs)
                result = self.ops.binary(f"u{constant.op.value}", "i64", lhs, divisor)
                return self.ops.select(is_zero, "i64", "0", result)

    def last_position(self, extent: h.DynamicConstant) -> str:
        """The last position of an array, 0 if it is empty; an i64."""
        if isinstance(extent, h.DynamicLiteral):
            return str(max(extent.value - 1, 0))
        if extent not in self._last:
            count = self.dynamic(extent)
            with self._out.at_entry():
                self._last[extent] = self.ops.intrinsic("llvm.usub.sat", "i64", count, "1")
        return self._last[extent]

    # Addresses

    def address(self, storage: Storage, indices: Sequence[h.Index] = ()) -> Address:
        """The address of the element that the indices select in a storage."""
        return self.element(Address(self._base(storage), storage.layout), indices)

    def element(self, address: Address, indices: Sequence[h.Index]) -> Address:
        """The address of the element that the indices select in the collection at an address."""
        for index in indices:
            match index, address.layout:
                case h.FieldIndex(field=field), ProductLayout(fields=fields, offsets=offsets):
                    address = Address(self._offset(address.pointer, offsets[field]), fields[field])
                case h.PositionIndex(position=position), ArrayLayout(extent=extent) as layout:
                    address = self._at(address.pointer, layout, self._clamped(position, extent))
                case _:
                    raise TypeError(f"the index {index} does not fit {address.layout}")
        return address

    def _base(self, storage: Storage) -> str:
        if storage.parent is not None:
            assert storage.parent_fork is not None
            return self.slot(self.address(storage.parent), self._thread_index(storage.parent_fork)).pointer
        if storage not in self._bases:
            with self._out.at_entry():
                self._bases[storage] = self._root(storage)
        return self._bases[storage]

    def _root(self, storage: Storage) -> str:
        if storage.parameter is not None:
            return f"%p{storage.parameter}"
        if storage in self._scratch_offsets:
            offset = self.dynamic(self._scratch_offsets[storage])
            return self._out.pure(f"getelementptr inbounds i8, ptr %scratch, i64 {offset}")
        size = max(storage.constant_size or 0, 1) + (WINDOW_PADDING if is_padded(storage) else 0)
        return self._out.value(f"alloca [{size} x i8], align {STORAGE_ALIGN}")

    def table(self, tables: CounterTables, number: int) -> str:
        """The pointer to a table of counters."""
        offset = tables.offset + number % tables.count * tables.stride
        with self._out.at_entry():
            return self._out.pure(f"getelementptr inbounds i8, ptr %scratch, i64 {offset}")

    def slot(self, array: Address, index: str) -> Address:
        """The element of an array at an i64 index that is in range."""
        assert isinstance(array.layout, ArrayLayout)
        return self._at(array.pointer, array.layout, index)

    def _at(self, pointer: str, layout: ArrayLayout, index: str) -> Address:
        if index == "0":
            return Address(pointer, layout.element)
        element = self._out.pure(f"getelementptr inbounds [{layout.stride} x i8], ptr {pointer}, i64 {index}")
        return Address(element, layout.element)

    def _offset(self, pointer: str, offset: int) -> str:
        return pointer if offset == 0 else self._out.pure(f"getelementptr inbounds i8, ptr {pointer}, i64 {offset}")

    def _clamped(self, position: h.Node, extent: h.DynamicConstant) -> str:
        value = self._position(position)
        if self._in_range(position, extent):
            return value
        return self.ops.intrinsic("llvm.umin", "i64", value, self.last_position(extent))

    # Scalars

    def load(self, address: Address) -> str:
        """The scalar at an address."""
        scalar = _scalar(address)
        if isinstance(scalar.type, h.Bool):
            byte = self._out.value(f"load i8, ptr {address.pointer}, align 1")
            return self.ops.binary("icmp ne", "i8", byte, "0")
        return self._out.value(f"load {llvm_type(scalar.type)}, ptr {address.pointer}, align {scalar.align}")

    def store(self, value: str, address: Address) -> None:
        """Put a scalar at an address."""
        scalar = _scalar(address)
        type = llvm_type(scalar.type)
        if isinstance(scalar.type, h.Bool):
            value, type = self.ops.convert("zext", "i1", value, "i8"), "i8"
        self._out.do(f"store {type} {value}, ptr {address.pointer}, align {scalar.align}")

    def atomic(self, op: h.AtomicOp, address: Address, operands: Sequence[str], *, is_shared: bool) -> str:
        """An atomic operation; the old value. Plain loads and stores if no other thread can see the memory."""
        if is_shared:
            return self._shared_atomic(op, address, operands)
        old = self.load(address)
        if op is not h.AtomicOp.LOAD:
            self.store(updated(self.ops, op, _scalar(address), old, operands), address)
        return old

    def _shared_atomic(self, op: h.AtomicOp, address: Address, operands: Sequence[str]) -> str:
        scalar, pointer = _scalar(address), address.pointer
        type, end = llvm_type(scalar.type), f"monotonic, align {scalar.align}"
        match op:
            case h.AtomicOp.LOAD:
                return self._out.value(f"load atomic {type}, ptr {pointer} {end}")
            case h.AtomicOp.STORE:
                return self._out.value(f"atomicrmw xchg ptr {pointer}, {type} {operands[0]} {end}")
            case h.AtomicOp.COMPARE_EXCHANGE:
                expected, new = operands
                pair = self._out.value(
                    f"cmpxchg ptr {pointer}, {type} {expected}, {type} {new} monotonic monotonic, align {scalar.align}"
                )
                return self._out.value(f"extractvalue {{ {type}, i1 }} {pair}, 0")
            case h.AtomicOp.MIN | h.AtomicOp.MAX:
                name = ("" if _is_signed(scalar) else "u") + op.value
            case _:
                name = _RMW[op]
        return self._out.value(f"atomicrmw {name} ptr {pointer}, {type} {operands[0]} {end}")

    # Whole collections

    def fill(self, constant: h.Constant, target: Address) -> None:
        """Put a constant at an address."""
        if isinstance(target.layout, ScalarLayout):
            self.store(scalar_constant(constant), target)
        elif isinstance(constant, h.ZeroConstant):
            self._clear(target)
        else:
            self.copy(self.constant(constant), target)

    def _clear(self, target: Address) -> None:
        """Store zeros; only many are a call of the library's function."""
        size, align = constant_size(target.layout), target.layout.align
        is_short = size is not None and size <= _STORED
        name, count = ("memset.inline", "i64 immarg") if is_short else ("memset", "i64")
        self._out.module.declare(f"void @llvm.{name}.p0.i64(ptr writeonly, i8, {count}, i1 immarg)")
        length = self._size(target.layout)
        self._out.do(f"call void @llvm.{name}.p0.i64(ptr align {align} {target.pointer}, i8 0, i64 {length}, i1 false)")

    def constant(self, constant: h.Constant) -> Address:
        """A constant collection in read-only memory."""
        layout = natural_layout(constant_type(constant))
        data = constant_bytes(constant, layout)
        text = "".join(f"\\{byte:02X}" for byte in data)
        name = self._out.module.constant(f'[{len(data)} x i8] c"{text}"', layout.align)
        return Address(name, layout)

    def copy(self, source: Address, target: Address) -> None:
        """Copy a collection (or scalar) between addresses that do not overlap; the layouts may differ."""
        if isinstance(target.layout, ScalarLayout):
            self.store(self.load(source), target)
        elif source.layout == target.layout:
            self._out.module.declare(
                "void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly, ptr noalias readonly, i64, i1 immarg)"
            )
            align, size = target.layout.align, self._size(target.layout)
            self._out.do(
                f"call void @llvm.memcpy.p0.p0.i64(ptr align {align} {target.pointer}, "
                f"ptr align {align} {source.pointer}, i64 {size}, i1 false)"
            )
        elif isinstance(target.layout, ProductLayout):
            for field in range(len(target.layout.fields)):
                index = (h.FieldIndex(field),)
                self.copy(self.element(source, index), self.element(target, index))
        else:
            self._copy_array(source, target, target.layout)

    def _copy_array(self, source: Address, target: Address, layout: ArrayLayout) -> None:
        extent = layout.extent
        if isinstance(extent, h.DynamicLiteral) and extent.value <= _ELEMENTWISE_COPY:
            for number in range(extent.value):
                self.copy(self.slot(source, str(number)), self.slot(target, str(number)))
            return
        with self.counted_loop(self.dynamic(extent)) as index:
            self.copy(self.slot(source, index), self.slot(target, index))

    def swap(self, left: Address, right: Address) -> None:
        """Swap two collections (or scalars) of one type."""
        match left.layout:
            case ScalarLayout():
                values = self.load(left), self.load(right)
                self.store(values[1], left)
                self.store(values[0], right)
            case ProductLayout(fields=fields):
                for number in range(len(fields)):
                    field = (h.FieldIndex(number),)
                    self.swap(self.element(left, field), self.element(right, field))
            case ArrayLayout(extent=extent):
                with self.counted_loop(self.dynamic(extent)) as index:
                    self.swap(self.slot(left, index), self.slot(right, index))

    @contextmanager
    def counted_loop(self, count: str) -> Generator[str]:
        """A loop of `count` iterations around the code written in the `with` statement; yields the index."""
        out = self._out
        before = out.current
        head, body, done = (out.fresh_block(name) for name in ("copy.head", "copy.body", "copy.done"))
        out.do(f"br label %{head}")
        out.open_arm(head, before)
        incoming = [("0", before)]
        index = out.phi("i64", lambda: incoming)
        going = self.ops.binary("icmp ult", "i64", index, count)
        out.do(f"br i1 {going}, label %{body}, label %{done}")
        out.open_arm(body, head)
        yield index
        following = out.value(f"add nuw i64 {index}, 1")
        incoming.append((following, out.current))
        out.do(f"br label %{head}")
        out.open_merge(done, before)

    def _size(self, layout: Layout) -> str:
        size = constant_size(layout)
        if size is not None:
            return str(size)
        assert isinstance(layout, ArrayLayout), "only whole arrays have a dynamic size"
        return self.dynamic(dynamic.mul(layout.extent, dynamic.literal(layout.stride)))


def updated(ops: Ops, op: h.AtomicOp, scalar: ScalarLayout, old: str, operands: Sequence[str]) -> str:
    """The value that an atomic operation stores, for one scalar or lane by lane."""
    type = llvm_type(scalar.type)
    match op:
        case h.AtomicOp.STORE | h.AtomicOp.EXCHANGE:
            return operands[0]
        case h.AtomicOp.COMPARE_EXCHANGE:
            return ops.select(ops.binary("icmp eq", type, old, operands[0]), type, operands[1], old)
        case h.AtomicOp.MIN | h.AtomicOp.MAX:
            name = f"llvm.{'s' if _is_signed(scalar) else 'u'}{op.value}"
            return ops.intrinsic(name, type, old, operands[0])
        case _:
            return ops.binary(_RMW[op], type, old, operands[0])


def constant_bytes(constant: h.Constant, layout: Layout) -> bytes:
    """The bytes of a constant in memory."""
    size = constant_size(layout)
    assert size is not None
    match constant, layout:
        case h.ZeroConstant(), _:
            return bytes(size)
        case h.ProductConstant(fields=parts), ProductLayout(fields=layouts, offsets=offsets):
            data = bytearray(size)
            for part, inner, offset in zip(parts, layouts, offsets, strict=True):
                piece = constant_bytes(part, inner)
                data[offset : offset + len(piece)] = piece
            return bytes(data)
        case h.ArrayConstant(elements=elements), ArrayLayout(element=inner, stride=stride):
            return b"".join(constant_bytes(it, inner).ljust(stride, b"\0") for it in elements)
        case h.BoolConstant(value=value), _:
            return bytes((value,))
        case h.IntegerConstant(value=value), _:
            return (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        case h.FloatConstant(value=value), _:
            return struct.pack({2: "<e", 4: "<f", 8: "<d"}[size], value)
        case _:
            raise TypeError(f"the constant {constant} does not fit {layout}")


def _scalar(address: Address) -> ScalarLayout:
    assert isinstance(address.layout, ScalarLayout), f"a scalar was expected at {address}"
    return address.layout


def _is_signed(scalar: ScalarLayout) -> bool:
    return isinstance(scalar.type, h.Integer) and scalar.type.signed


def is_padded(storage: Storage) -> bool:
    """Whether `WINDOW_PADDING` bytes follow a storage."""
    size = storage.constant_size
    return not storage.is_binding and storage.parent is None and (size is None or size >= _LEAST_PADDED)
