"""Reads, writes and copies of collections as loads and stores of variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from ...ir import types as w
from ...ir.core.builder import Builder, constant, u32
from ...ir.core.values import Value
from ...ir.diagnostics import ShaderError, not_supported
from ...ir.hercules import nodes as h
from ...ir.hercules.types import is_scalar
from ...ir.hercules.versions import version_of
from ...ir.ops import BinaryOp
from .places import Place, Places
from .types import constant_value, member_of
from .vectors import component_of, key_of

_UNROLLED = 4
"""Most elements of an array that are copied one by one without a loop, where a whole array cannot be copied."""
_ATOMICS: dict[h.AtomicOp, str] = {
    h.AtomicOp.ADD: "atomicAdd",
    h.AtomicOp.SUB: "atomicSub",
    h.AtomicOp.MAX: "atomicMax",
    h.AtomicOp.MIN: "atomicMin",
    h.AtomicOp.AND: "atomicAnd",
    h.AtomicOp.OR: "atomicOr",
    h.AtomicOp.XOR: "atomicXor",
    h.AtomicOp.EXCHANGE: "atomicExchange",
    h.AtomicOp.STORE: "atomicExchange",
}


@dataclass(slots=True)
class Memory:
    """Builds accesses at a builder's insertion point. `value` and `dynamic` give the values of scalars."""

    builder: Builder
    places: Places
    value: Callable[[h.Node], Value]
    dynamic: Callable[[h.DynamicConstant], Value]
    _vectors: dict[tuple[h.Node, tuple[object, ...]], Value] = field(
        default_factory=dict["tuple[h.Node, tuple[object, ...]]", Value]
    )

    def enter_block(self) -> None:
        """Forget the vectors that were loaded in another block."""
        self._vectors.clear()

    # Pointers

    def pointer(self, place: Place, indices: Sequence[h.Index]) -> Value:
        """The pointer to a part of a place."""
        assert place.variable is not None, place.name
        steps = self.steps(place.type, indices[place.skipped :])
        if place.extent is not None and steps:
            last = self.builder.binary(BinaryOp.SUBTRACT, self.dynamic(place.extent), u32(1))
            steps[0] = self.builder.builtin_call("min", [steps[0], last])
        return self.builder.access(place.variable, steps) if steps else place.variable

    def steps(self, type: w.Type, indices: Sequence[h.Index]) -> list[Value]:
        """The values of indices into a value of a type."""
        found: list[Value] = []
        for index in indices:
            found.append(self._step(type, index))
            type = type_at(type, [index])
        return found

    def _step(self, type: w.Type, index: h.Index) -> Value:
        match index:
            case h.FieldIndex(field):
                return u32(member_of(type, field))
            case h.PositionIndex(position):
                number, count = component_of(index), w.element_count(type)
                if number is not None and isinstance(count, int):
                    return u32(min(number, count - 1))  # WGSL refuses a constant past the end
                return self.value(position)
            case h.VariantIndex() | h.ControlIndex():
                raise TypeError("no index of data")
            case _:
                assert_never(index)

    # Accesses

    def read(self, node: h.Read, *, is_uniform: bool = False) -> Value:
        """The scalar, or the whole part, that a node reads. `is_uniform`: see `load`."""
        if isinstance(node.collection, h.ConstantNode):
            return self._read_constant(node, node.collection)
        place = self.places.of(node.collection)
        vector = self._vector_of(place, node.indices)
        if vector is not None and not is_uniform:
            return self._component(node, place)
        return self.load(self.pointer(place, node.indices), is_uniform=is_uniform)

    def load(self, pointer: Value, *, is_uniform: bool = False) -> Value:
        """What a pointer points to. `is_uniform`: by `workgroupUniformLoad`, since control depends on the value."""
        assert isinstance(pointer.type, w.Pointer)
        if is_uniform and pointer.type.space is w.AddressSpace.WORKGROUP:
            return self.builder.builtin_call("workgroupUniformLoad", [pointer])
        if isinstance(pointer.type.store, w.Atomic):
            return self.builder.builtin_call("atomicLoad", [pointer])
        return self.builder.load(pointer)

    def store(self, pointer: Value, value: Value) -> None:
        """Replace what a pointer points to."""
        assert isinstance(pointer.type, w.Pointer)
        if isinstance(pointer.type.store, w.Atomic):
            self.builder.builtin_call("atomicStore", [pointer, value])
        else:
            self.builder.store(pointer, value)

    def write(self, node: h.Write) -> None:
        """A Write, whose storage holds the version before."""
        place = self.places.of(node)
        pointer = self.pointer(place, node.indices)
        if is_scalar(self.places.placed.types[node.value]):
            self.store(pointer, self.value(node.value))
        else:
            self.copy(pointer, node.value)

    def is_vector(self, node: h.Write) -> bool:
        """Whether a Write is of a component of a vector."""
        place = self.places.of(node)
        if len(node.indices) <= place.skipped:
            return False
        return isinstance(type_at(place.type, node.indices[place.skipped : -1]), w.Vector)

    def write_vector(self, nodes: Sequence[h.Write]) -> None:
        """Writes of all components of a vector, in the order of the components."""
        place = self.places.of(nodes[0])
        pointer = self.pointer(place, nodes[0].indices[:-1])
        assert isinstance(pointer.type, w.Pointer)
        self.store(pointer, self.builder.construct(pointer.type.store, [self.value(it.value) for it in nodes]))

    def copy(self, pointer: Value, source: h.Node) -> None:
        """Replace what a pointer points to by a whole collection."""
        assert isinstance(pointer.type, w.Pointer)
        if w.contains_runtime_array(pointer.type.store):
            raise ShaderError([not_supported("a copy of an array of variable size inside of a kernel", source.span)])
        if isinstance(source, h.ConstantNode):
            self._store_constant(pointer, source)
            return
        other = self.places.of(source)
        assert other.variable is not None
        self.transfer(pointer, other.variable)

    def constant(self, value: h.Constant, type: w.Type) -> Value:
        """A constant of a WGSL type."""
        return constant(type, constant_value(value, type).value)

    def copy_part(self, node: h.Read) -> None:
        """A Read of a whole collection in another."""
        target = self.places.of(node).variable
        assert target is not None
        if isinstance(node.collection, h.ConstantNode):
            self._store_whole(target, self._read_constant(node, node.collection))
            return
        self.transfer(target, self.pointer(self.places.of(node.collection), node.indices))

    def begin(self, source: h.Node, place: Place) -> None:
        """Put a version into the place of a chain of versions that continues it elsewhere."""
        assert place.variable is not None
        self.copy(place.variable, source)

    def copy_together(self, moves: Sequence[tuple[Place, h.Node]]) -> None:
        """Put versions into places, all of which are read before any is written."""
        values = [self._whole(source, place) for place, source in moves]
        for (place, _), value in zip(moves, values, strict=True):
            assert place.variable is not None
            self._store_whole(place.variable, value)

    def _whole(self, source: h.Node, place: Place) -> Value:
        if isinstance(source, h.ConstantNode):
            return self.constant(source.value, self._form(place.type, source))
        variable = self.places.of(source).variable
        assert variable is not None
        type = self._form(_stored(variable), source)
        if _stored(variable) is type:
            return self.builder.load(variable)
        between = self._variable(type)
        self.transfer(between, variable)
        return self.builder.load(between)

    # Copies between variables of two forms of one type

    def transfer(self, target: Value, source: Value) -> None:
        """Copy from one variable to another, of which each has some form of a type: its scalars may be atomic, its
        arrays vectors, and an array of one may be its element.
        """
        to, of = _stored(target), _stored(source)
        if to is of and w.is_constructible(to):
            self.builder.store(target, self.builder.load(source))
            return
        match to, of:
            case ((w.Scalar() | w.Atomic()), (w.Scalar() | w.Atomic())):
                self.store(target, self.load(source))
            case w.Struct(members=members), w.Struct():
                for number in range(len(members)):
                    self._transfer_part(target, source, u32(number))
            case ((w.Array() | w.Vector()), (w.Array() | w.Vector())):
                self._transfer_elements(target, source, to)
            case ((w.Array() | w.Vector()), _):
                self.transfer(self.builder.access(target, [u32(0)]), source)
            case _:
                self.transfer(target, self.builder.access(source, [u32(0)]))

    def _transfer_part(self, target: Value, source: Value, number: Value) -> None:
        self.transfer(self.builder.access(target, [number]), self.builder.access(source, [number]))

    def _transfer_elements(self, target: Value, source: Value, type: w.Type) -> None:
        count = w.element_count(type)
        assert isinstance(count, int)
        if count <= _UNROLLED:
            for number in range(count):
                self._transfer_part(target, source, u32(number))
            return
        with self.builder.counting(u32(0), u32(count)) as position:
            self._transfer_part(target, source, position)

    def _variable(self, type: w.Type) -> Value:
        return self.builder.var(w.pointer(w.AddressSpace.FUNCTION, type, w.Access.READ_WRITE), name=None)

    def _store_constant(self, pointer: Value, source: h.ConstantNode) -> None:
        self._store_whole(pointer, self.constant(source.value, self._form(_stored(pointer), source)))

    def _form(self, type: w.Type, source: h.Node) -> w.Type:
        """A form of a collection's type, `type` if there are values of that."""
        return type if w.is_constructible(type) else self.places.structs.store_type(self.places.placed.types[source])

    def _store_whole(self, pointer: Value, value: Value) -> None:
        """Replace what a pointer points to by a value, which may have another form of its type."""
        if _stored(pointer) is value.type:
            self.builder.store(pointer, value)
            return
        between = self._variable(value.type)
        self.builder.store(between, value)
        self.transfer(pointer, between)

    def keep(self, collect: h.Collect, value: h.Node, ids: Sequence[Value]) -> None:
        """Store the value of the thread with these numbers, outermost first."""
        place = self.places.of(collect)
        assert place.variable is not None
        rest = ids[place.skipped :]
        pointer = self.builder.access(place.variable, rest) if rest else place.variable
        if is_scalar(self.places.placed.types[value]):
            self.store(pointer, self.value(value))
        else:
            self.copy(pointer, value)

    def atomic(self, node: h.Atomic) -> Value:
        """The value before an atomic operation."""
        pointer = self.pointer(self.places.of(node), node.indices)
        operands = [self.value(it) for it in node.operands]
        assert isinstance(pointer.type, w.Pointer)
        if not isinstance(pointer.type.store, w.Atomic):
            return self._plain_atomic(node.op, pointer, operands)
        if node.op is h.AtomicOp.LOAD:
            return self.builder.builtin_call("atomicLoad", [pointer])
        if node.op is h.AtomicOp.COMPARE_EXCHANGE:
            return self._compare_exchange(pointer, *operands)
        return self.builder.builtin_call(_ATOMICS[node.op], [pointer, *operands])

    def _plain_atomic(self, op: h.AtomicOp, pointer: Value, operands: Sequence[Value]) -> Value:
        """An atomic operation on memory that no other invocation sees."""
        old = self.builder.load(pointer)
        if op is h.AtomicOp.LOAD:
            return old
        self.builder.store(pointer, self._updated(op, old, operands))
        return old

    def _updated(self, op: h.AtomicOp, old: Value, operands: Sequence[Value]) -> Value:
        builder, value = self.builder, operands[-1]
        match op:
            case h.AtomicOp.STORE | h.AtomicOp.EXCHANGE:
                return value
            case h.AtomicOp.MAX | h.AtomicOp.MIN:
                return builder.builtin_call(op.value, [old, value])
            case h.AtomicOp.COMPARE_EXCHANGE:
                same = builder.binary(BinaryOp.EQUAL, old, operands[0])
                return builder.builtin_call("select", [old, value, same])
            case _:
                return builder.binary(_PLAIN[op], old, value)

    def _compare_exchange(self, pointer: Value, comparand: Value, value: Value) -> Value:
        """Repeated until the exchange either takes place or finds another value: WGSL's may fail without a reason."""
        builder = self.builder
        assert isinstance(comparand.type, w.Scalar)
        found = builder.var(w.pointer(w.AddressSpace.FUNCTION, comparand.type, w.Access.READ_WRITE), name=None)
        loop = builder.enter_loop()
        builder.block = loop.start_target
        result = builder.builtin_call("atomicCompareExchangeWeak", [pointer, comparand, value])
        old = builder.access(result, [u32(0)])
        builder.store(found, old)
        exchanged = builder.access(result, [u32(1)])
        other = builder.binary(BinaryOp.NOT_EQUAL, old, comparand)
        builder.repeat(loop, until=builder.binary(BinaryOp.OR, exchanged, other))
        return builder.load(found)

    # Vectors

    def _vector_of(self, place: Place, indices: Sequence[h.Index]) -> w.Vector | None:
        """The vector of which a path with a constant last index is a component."""
        if not indices or len(indices) <= place.skipped or component_of(indices[-1]) is None:
            return None
        type = type_at(place.type, indices[place.skipped : -1])
        return type if isinstance(type, w.Vector) else None

    def _component(self, node: h.Read, place: Place) -> Value:
        key = (version_of(node.collection), key_of(node.indices[:-1]))
        if key not in self._vectors:
            self._vectors[key] = self.builder.load(self.pointer(place, node.indices[:-1]))
        whole = self._vectors[key]
        return self.builder.access(whole, self.steps(whole.type, node.indices[-1:]))

    def _read_constant(self, node: h.Read, source: h.ConstantNode) -> Value:
        type = self.places.structs.store_type(self.places.placed.types[source])
        whole = self.constant(source.value, type)
        return self.builder.access(whole, self.steps(type, node.indices))


_PLAIN: dict[h.AtomicOp, BinaryOp] = {
    h.AtomicOp.ADD: BinaryOp.ADD,
    h.AtomicOp.SUB: BinaryOp.SUBTRACT,
    h.AtomicOp.AND: BinaryOp.AND,
    h.AtomicOp.OR: BinaryOp.OR,
    h.AtomicOp.XOR: BinaryOp.XOR,
}


def _stored(pointer: Value) -> w.Type:
    assert isinstance(pointer.type, w.Pointer)
    return pointer.type.store


def type_at(type: w.Type, indices: Sequence[h.Index]) -> w.Type:
    """The type of the part of a variable that indices lead to."""
    for index in indices:
        inner = w.element_type(type, member_of(type, index.field) if isinstance(index, h.FieldIndex) else 0)
        assert inner is not None
        type = inner
    return type


def is_zero(node: h.Node) -> bool:
    """Whether a node is a zero value."""
    return isinstance(node, h.ConstantNode) and isinstance(node.value, h.ZeroConstant)
