"""Zeroes workgroup memory at the start of each compute entry point.

WGSL promises zeros (WGSL, "Initial values of variables"); wgpu's compiler does not write them. All invocations of a
workgroup share the work, and wait for each other before the shader's own code. A buffer, whose zero value is "all zero
bytes", is zeroed through a view of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ...ir.constants import zero_constant
from ...ir.core import nodes
from ...ir.core.builder import Builder, block_argument, empty_block, u32
from ...ir.core.values import Value
from ...ir.layout_sizes import stride_of
from ...ir.ops import BinaryOp
from ...ir.types import (
    F16,
    U32,
    AddressSpace,
    Array,
    Atomic,
    Buffer,
    Extent,
    Pointer,
    Stage,
    Struct,
    Type,
    array,
    contains_atomic,
)
from .editing import as_u32, count_value, entry_builtin

_Body: TypeAlias = Callable[[Value], None]


@dataclass(frozen=True)
class ZeroInitWorkgroupMemory:
    """Adds stores of zero and a barrier; and a `local_invocation_index` input where the entry point has none."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "zero_init_workgroup_memory"

    def run(self, module: nodes.Module) -> bool:
        """Whether an entry point uses workgroup memory."""
        entries = [(it, _workgroup_variables(it)) for it in module.functions if it.stage is Stage.COMPUTE]
        for function, variables in entries:
            if variables:
                _Zeroing(module, function).prepend(variables)
        return any(variables for _, variables in entries)


def _workgroup_variables(function: nodes.Function) -> list[nodes.Var]:
    return [
        it
        for it in function.resources
        if isinstance(it, nodes.Var) and isinstance(it.type, Pointer) and it.type.space is AddressSpace.WORKGROUP
    ]


class _Zeroing:
    """Builds the code in front of one entry point."""

    def __init__(self, module: nodes.Module, function: nodes.Function) -> None:
        self.function = function
        self.builder = Builder(module, empty_block())
        self.builder.span = function.span

    def prepend(self, variables: list[nodes.Var]) -> None:
        """Zero the variables, wait, and go on as before."""
        start = self.builder.block
        assert start is not None
        self.index = entry_builtin(self.builder, self.function, "local_invocation_index")
        self.size = self._workgroup_size()
        for variable in variables:
            assert isinstance(variable.type, Pointer)
            self._variable(variable, variable.type.store)
        self.builder.builtin_call("workgroupBarrier", [])
        end, body = self.builder.block, self.function.start_target
        assert end is not None
        end.instructions.extend(body.instructions)
        end.branch = body.branch
        self.function.start_target = start

    def _workgroup_size(self) -> Value:
        """The number of invocations in a workgroup."""
        sizes = [as_u32(self.builder, size) for size in self.function.workgroup_size]
        known = 1
        unknown: list[Value] = []
        for size in sizes:
            if isinstance(size, nodes.Constant) and isinstance(size.value.value, int):
                known *= size.value.value
            else:
                unknown.append(size)
        product: Value = u32(known)
        for size in unknown:
            product = self.builder.binary(BinaryOp.MULTIPLY, product, size)
        return product

    def _variable(self, variable: Value, store: Type) -> None:
        """Distribute the elements of an array over the invocations; anything else is zeroed by the first one."""
        if isinstance(store, Buffer) and store.size is not None:
            self._buffer(variable, store.size)
        elif isinstance(store, Array) and store.count is not None:
            inner, element = _inner_counts(store.element)
            count = count_value(self.builder, store.count)
            count = count if not inner else self._times(count, math.prod(inner))
            self._shared(count, lambda index: self._zero(self._flat(variable, index, inner), element))
        else:
            self._shared(u32(1), lambda index: self._zero(variable, store))

    def _buffer(self, variable: Value, size: Extent) -> None:
        """Distribute the words of a buffer over the invocations: its size is a multiple of 4, or with f16 of 2."""
        has_halves = "f16" in self.builder.module.enables and (not isinstance(size, int) or size % 4 != 0)
        words = array(F16 if has_halves else U32, None)
        count = self._divided(count_value(self.builder, size), stride_of(words))
        view = self.builder.builtin_call("bufferView", [variable, u32(0)], template_arguments=[words])
        self._shared(count, lambda index: self._zero(self.builder.access(view, [index]), words.element))

    def _divided(self, count: Value, divisor: int) -> Value:
        known = _number(count)
        return self.builder.binary(BinaryOp.DIVIDE, count, u32(divisor)) if known is None else u32(known // divisor)

    def _times(self, count: Value, factor: int) -> Value:
        known = _number(count)
        if known is not None:
            return u32(known * factor)
        return self.builder.binary(BinaryOp.MULTIPLY, count, u32(factor))

    def _flat(self, array: Value, index: Value, inner: Sequence[int]) -> Value:
        """The pointer to a scalar position in an array of arrays."""
        indices: list[Value] = []
        for count in reversed(inner):
            indices.append(self.builder.binary(BinaryOp.REMAINDER, index, u32(count)))
            index = self.builder.binary(BinaryOp.DIVIDE, index, u32(count))
        return self.builder.access(array, [index, *reversed(indices)])

    def _shared(self, count: Value, body: _Body) -> None:
        """Run the body for 0 to count - 1, each in one invocation."""
        elements, invocations = _number(count), _number(self.size)
        if elements is None or invocations is None or elements > invocations:
            self._loop(self.index, count, self.size, body)
        elif elements == invocations:
            body(self.index)
        else:
            self._guarded(count, body)

    def _guarded(self, count: Value, body: _Body) -> None:
        is_first = _number(count) == 1
        op = BinaryOp.EQUAL if is_first else BinaryOp.LESS
        node = self.builder.enter_if(self.builder.binary(op, self.index, u32(0) if is_first else count))
        merge = node.merge_target
        assert merge is not None
        with self.builder.at(node.true_target):
            body(self.index)
            self.builder.branch(merge)
        with self.builder.at(node.false_target):
            self.builder.branch(merge)
        self.builder.block = merge

    def _loop(self, first: Value, count: Value, step: Value, body: _Body) -> None:
        """`for (var i = first; i < count; i += step) { body(i) }`"""
        index = block_argument(U32)
        loop = self.builder.enter_loop([index], [first])
        with self.builder.at(loop.start_target):
            node = self.builder.enter_if(self.builder.binary(BinaryOp.LESS, index, count))
            merge = node.merge_target
            assert merge is not None
            with self.builder.at(node.true_target):
                self.builder.branch(merge)
            with self.builder.at(node.false_target):
                self.builder.branch(loop.merge_target)
            self.builder.block = merge
            body(index)
            self.builder.branch(loop.continuing_target)
        with self.builder.at(loop.continuing_target):
            following = self.builder.binary(BinaryOp.ADD, index, step)
            self.builder.branch(loop.start_target, [following])
        self.builder.block = loop.merge_target

    def _element(self, array: Value, element: Type) -> _Body:
        return lambda index: self._zero(self.builder.access(array, [index]), element)

    def _zero(self, pointer: Value, store: Type) -> None:
        """Zero what a pointer points to, all in this invocation."""
        match store:
            case Atomic(element=element):
                self.builder.builtin_call("atomicStore", [pointer, _zero(element)])
            case Struct(members=members) if contains_atomic(store):
                for index, member in enumerate(members):
                    self._zero(self.builder.access(pointer, [u32(index)]), member.type)
            case Array(element=element, count=int() as count) if contains_atomic(store) or isinstance(element, Array):
                self._loop(u32(0), u32(count), u32(1), self._element(pointer, element))
            case _:
                self.builder.store(pointer, _zero(store))


def _inner_counts(type: Type) -> tuple[Sequence[int], Type]:
    """The counts of arrays right inside of an array, and what they hold in the end."""
    counts: list[int] = []
    while isinstance(type, Array) and isinstance(type.count, int):
        counts.append(type.count)
        type = type.element
    return counts, type


def _zero(type: Type) -> nodes.Constant:
    return nodes.Constant(zero_constant(type), type, None)


def _number(value: Value) -> int | None:
    raw = value.value.value if isinstance(value, nodes.Constant) else None
    return raw if isinstance(raw, int) else None
