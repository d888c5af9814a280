"""Joins values to elements of outputs that computed subscripts name: in the output, or in a workgroup's own copy of it.

Where several invocations may join values to one element, atomic operations do it. WGSL has those of whole numbers only:
an f32 lies in memory as the bits of it, and is exchanged for its sum with a value until no other invocation has changed
it in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from ...ir import types as w
from ...ir.core import nodes as c
from ...ir.core.builder import constant, u32, variable_type
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.schedule.functions import scalar_type
from ...ir.schedule.nodes import Affine, LevelName, Operand, Scatter
from .addresses import Indices
from .decided import Decided
from .frame import Frame
from .outputs import ATOMICS, copied_type, known_length, neutral_of
from .vectors import component


class Lowering(Protocol):
    """What scattering needs of the lowering of a nest."""

    decided: Decided
    frame: Frame

    def operand(self, operand: Operand, indices: Indices) -> Value:
        """A value at the current iterations."""
        ...

    def apply(self, function: str, operands: Sequence[Value]) -> Value:
        """The result of a function."""
        ...

    def affine(self, affine: Affine, indices: Indices) -> Value:
        """A sum."""
        ...

    def offset(self, subscripts: Sequence[Value], extents: Sequence[Affine]) -> Value:
        """The number of an element, row by row."""
        ...

    def active_vector(self, dimensions: Sequence[str]) -> LevelName | None:
        """The level of vectors among those of dimensions."""
        ...

    def lane(self) -> tuple[int, Value]:
        """The number of invocations of the workgroup, and that of this one."""
        ...

    def guarded(self, conditions: Sequence[Value]) -> AbstractContextManager[None]:
        """What is built inside of the `with` is executed where all conditions hold."""
        ...


@dataclass(slots=True)
class Scattering:
    """The scatters of a kernel. `copies` are the copies of outputs that each workgroup has."""

    lowering: Lowering
    copies: dict[str, c.Var] = field(default_factory=dict[str, c.Var])

    def begin(self) -> None:
        """Fill the copies with what changes nothing."""
        decided, frame = self.lowering.decided, self.lowering.frame
        for scatter in decided.private:
            count, type = self._length(scatter), copied_type(scatter, decided)
            self.copies[scatter.array] = frame.shared(f"{scatter.array}_copy", type, count)
            self._for_each(count, partial(self._fill, scatter))
        if self.copies:
            frame.barrier()

    def finish(self) -> None:
        """Join the copies to the outputs."""
        decided = self.lowering.decided
        if self.copies:
            self.lowering.frame.barrier()
        for scatter in decided.private:
            self._for_each(self._length(scatter), partial(self._flush, scatter))

    def write(self, scatter: Scatter, conditions: Sequence[Value], masks: Sequence[Value]) -> None:
        """Join the values of the current iterations, where the conditions hold, and each mask for its component."""
        lowering, builder = self.lowering, self.lowering.frame.builder
        with lowering.guarded(conditions):
            subscripts = [lowering.operand(it, {}) for it in scatter.subscripts]
            value = lowering.operand(scatter.value, {})
            level = lowering.active_vector(scatter.dimensions)
            for lane in range(1 if level is None else lowering.decided.count(level) or 1):
                place = [self._unsigned(component(builder, it, lane)) for it in subscripts]
                chosen = [component(builder, it, lane) for it in masks]
                self._write_one(scatter, place, component(builder, value, lane), chosen)

    def _write_one(self, scatter: Scatter, subscripts: Sequence[Value], value: Value, masks: Sequence[Value]) -> None:
        lowering, builder = self.lowering, self.lowering.frame.builder
        extents = lowering.decided.scope.arrays[scatter.array].extents
        pairs = zip(subscripts, extents, strict=True)
        inside = [builder.binary(BinaryOp.LESS, it, lowering.affine(extent, {})) for it, extent in pairs]
        with lowering.guarded([*masks, *inside]):
            offset = lowering.offset(subscripts, extents)
            copy = self.copies.get(scatter.array)
            if copy is None:
                self._join_output(scatter, offset, value)
            else:
                self._join(builder.access(copy, [offset]), scatter.function, value)

    def _unsigned(self, value: Value) -> Value:
        """A subscript as u32; a negative one is past the end of every array."""
        return value if value.type is w.U32 else self.lowering.frame.builder.convert(w.U32, value)

    def _join_output(self, scatter: Scatter, offset: Value, value: Value) -> None:
        frame = self.lowering.frame
        self._join(frame.builder.access(frame.arrays[scatter.array], [offset]), scatter.function, value)

    def _join(self, place: Value, function: str, value: Value) -> None:
        join_in_memory(self.lowering, place, function, value)

    # Copies

    def _length(self, scatter: Scatter) -> int:
        found = known_length(scatter.array, self.lowering.decided)
        assert found is not None, "decisions with copies of unknown sizes are illegal"
        return found

    def _for_each(self, count: int, build: Callable[[Value], None]) -> None:
        """Something for each element of a copy, by the invocations of the workgroup by turns."""
        frame = self.lowering.frame
        invocations, lane = self.lowering.lane()
        with frame.builder.counting(u32(0), u32(-(-count // invocations)), name=frame.name("step")) as turn:
            ahead = frame.binary(BinaryOp.MULTIPLY, turn, u32(invocations))
            place = frame.binary(BinaryOp.ADD, ahead, lane)
            within = frame.builder.binary(BinaryOp.LESS, place, u32(count))
            with self.lowering.guarded([within] if count % invocations else []):
                build(place)

    def _fill(self, scatter: Scatter, place: Value) -> None:
        builder = self.lowering.frame.builder
        pointer = builder.access(self.copies[scatter.array], [place])
        neutral = self._neutral(scatter)
        if _is_atomic(pointer):
            builder.builtin_call("atomicStore", [pointer, self._as_stored(neutral, pointer)])
        else:
            builder.store(pointer, neutral)

    def _flush(self, scatter: Scatter, place: Value) -> None:
        """Join an element of a copy to the output, if the workgroup has changed it."""
        builder = self.lowering.frame.builder
        pointer = builder.access(self.copies[scatter.array], [place])
        loaded = builder.builtin_call("atomicLoad", [pointer]) if _is_atomic(pointer) else builder.load(pointer)
        neutral = self._neutral(scatter)
        changed = builder.binary(BinaryOp.NOT_EQUAL, loaded, self._as_stored(neutral, pointer))
        with self.lowering.guarded([changed]):
            value = loaded if loaded.type is neutral.type else _bits_as(self.lowering, loaded, neutral.type)
            self._join_output(scatter, place, value)

    def _neutral(self, scatter: Scatter) -> Value:
        type = self.lowering.decided.scope.arrays[scatter.array].type
        return constant(scalar_type(type), neutral_of(scatter))

    def _as_stored(self, value: Value, pointer: Value) -> Value:
        """A value as it lies in memory: atomic floats as bits."""
        is_bits = _is_atomic(pointer) and value.type is w.F32
        return _bits_as(self.lowering, value, w.U32) if is_bits else value


def join_in_memory(lowering: Lowering, place: Value, function: str, value: Value) -> None:
    """Join a value to an element in memory: by an atomic operation, if the element is atomic."""
    builder = lowering.frame.builder
    if not _is_atomic(place):
        builder.store(place, lowering.apply(function, [builder.load(place), value]))
    elif value.type is w.F32:
        _exchange(lowering, place, function, value)
    else:
        builder.builtin_call(ATOMICS[function], [place, value])


def _is_atomic(pointer: Value) -> bool:
    return isinstance(pointer.type, w.Pointer) and isinstance(pointer.type.store, w.Atomic)


def _bits_as(lowering: Lowering, value: Value, type: w.Type) -> Value:
    return lowering.frame.builder.builtin_call("bitcast", [value], template_arguments=[type])


def _exchange(lowering: Lowering, place: Value, function: str, value: Value) -> None:
    """Exchange the bits of a float for those of the joined value, until nothing else has changed them in between."""
    frame, builder = lowering.frame, lowering.frame.builder
    first = builder.builtin_call("atomicLoad", [place])
    seen = builder.var(variable_type(w.AddressSpace.FUNCTION, w.U32), name=frame.name("seen"), initializer=first)
    loop = builder.enter_loop()
    builder.block = loop.start_target
    old = builder.load(seen)
    joined = lowering.apply(function, [_bits_as(lowering, old, w.F32), value])
    result = builder.builtin_call("atomicCompareExchangeWeak", [place, old, _bits_as(lowering, joined, w.U32)])
    builder.store(seen, builder.access(result, [u32(0)]))
    builder.repeat(loop, until=builder.access(result, [u32(1)]))
