"""Copies of workgroup memory, which the invocations of a workgroup share out among themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...ir import types as w
from ...ir.constants import zero
from ...ir.core.builder import Builder, constant, u32
from ...ir.core.values import Value
from ...ir.ops import BinaryOp


@dataclass(frozen=True, slots=True)
class Cooperation:
    """Builds copies at a builder's insertion point, in code that all invocations run in step.

    `index` gives the number of an invocation in its workgroup, which has `size` of them.
    """

    builder: Builder
    index: Callable[[], Value]
    size: int

    def fill(self, target: Value, source: Value | None) -> None:
        """Replace what a pointer points to by what another one does, or by zeros."""
        type = _store_type(target)
        if isinstance(type, w.Array):
            assert isinstance(type.count, int)
            with self.builder.counting(self.index(), u32(type.count), step=self.size) as at:
                self._element(target, source, at)
        else:
            with self.builder.when(self.builder.binary(BinaryOp.EQUAL, self.index(), u32(0))):
                self._copy(target, source)

    def _element(self, target: Value, source: Value | None, at: Value) -> None:
        inner = None if source is None else self.builder.access(source, [at])
        self._copy(self.builder.access(target, [at]), inner)

    def _copy(self, target: Value, source: Value | None) -> None:
        """One invocation replaces what a pointer points to."""
        has_atomics = _has_atomics(target) or (source is not None and _has_atomics(source))
        match _store_type(target):
            case w.Array(count=int() as count) if has_atomics:
                with self.builder.counting(u32(0), u32(count)) as at:
                    self._element(target, source, at)
            case w.Struct(members=members) if has_atomics:
                for number in range(len(members)):
                    self._element(target, source, u32(number))
            case w.Atomic(element=element):
                self.builder.builtin_call("atomicStore", [target, self._loaded(source, element)])
            case type:
                self.builder.store(target, self._loaded(source, type))

    def _loaded(self, source: Value | None, type: w.Type) -> Value:
        """What a pointer points to, a zero without one."""
        if source is None:
            return constant(type, zero(type))
        is_atomic = isinstance(_store_type(source), w.Atomic)
        return self.builder.builtin_call("atomicLoad", [source]) if is_atomic else self.builder.load(source)


def _store_type(pointer: Value) -> w.Type:
    assert isinstance(pointer.type, w.Pointer)
    return pointer.type.store


def _has_atomics(pointer: Value) -> bool:
    return w.contains_atomic(_store_type(pointer))
