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
            self._loop(self.index(), type.count, self.size, lambda at: self._element(target, source, at))
        else:
            first = self.builder.binary(BinaryOp.EQUAL, self.index(), u32(0))
            node = self.builder.enter_if(first)
            assert node.merge_target is not None
            with self.builder.at(node.false_target):
                self.builder.branch(node.merge_target)
            self.builder.block = node.true_target
            self._copy(target, source)
            self.builder.branch(node.merge_target)
            self.builder.block = node.merge_target

    def _element(self, target: Value, source: Value | None, at: Value) -> None:
        inner = None if source is None else self.builder.access(source, [at])
        self._copy(self.builder.access(target, [at]), inner)

    def _copy(self, target: Value, source: Value | None) -> None:
        """One invocation replaces what a pointer points to."""
        has_atomics = _has_atomics(target) or (source is not None and _has_atomics(source))
        match _store_type(target):
            case w.Array(count=int() as count) if has_atomics:
                self._loop(u32(0), count, 1, lambda at: self._element(target, source, at))
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

    def _loop(self, first: Value, count: int, step: int, body: Callable[[Value], None]) -> None:
        """For each number from `first` to `count`, by steps."""
        builder = self.builder
        counter = builder.var(w.pointer(w.AddressSpace.FUNCTION, w.U32, w.Access.READ_WRITE), initializer=first)
        node = builder.enter_loop()
        builder.block = node.start_target
        test = builder.enter_if(builder.binary(BinaryOp.LESS, builder.load(counter), u32(count)))
        assert test.merge_target is not None
        with builder.at(test.false_target):
            builder.branch(node.merge_target)
        with builder.at(test.true_target):
            builder.branch(test.merge_target)
        builder.block = test.merge_target
        body(builder.load(counter))
        builder.branch(node.continuing_target)
        with builder.at(node.continuing_target):
            builder.store(counter, builder.binary(BinaryOp.ADD, builder.load(counter), u32(step)))
            builder.branch(node.start_target)
        builder.block = node.merge_target


def _store_type(pointer: Value) -> w.Type:
    assert isinstance(pointer.type, w.Pointer)
    return pointer.type.store


def _has_atomics(pointer: Value) -> bool:
    return w.contains_atomic(_store_type(pointer))
