"""Leaves the bytes between members alone.

Storing a whole structure, matrix or array to a buffer may write the padding in it too, in compilers that copy memory;
stores of the parts do not (WGSL, "Memory Locations": padding is no part of a value).

For engines with such compilers behind them. The pipeline `portable` runs it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...ir import layout
from ...ir.core import nodes
from ...ir.core.builder import Builder, empty_block, u32
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.types import U32, AddressSpace, Array, Matrix, Pointer, Struct, Type, element_type
from .regions import split

_MOST_STORES = 16
"""Longer arrays are stored by a loop."""


@dataclass(frozen=True)
class PreservePadding:
    """Splits stores to storage buffers of types with padding."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "preserve_padding"

    def run(self, module: nodes.Module) -> bool:
        """Whether a store was split."""
        changed = False
        for function in module.functions:
            for block in reversed(blocks_of(function)):
                for store in [it for it in reversed(block.instructions) if isinstance(it, nodes.Store)]:
                    if _is_shared(store.pointer) and has_padding(store.value.type):
                        _split(module, block, store)
                        changed = True
        return changed


def has_padding(type: Type) -> bool:
    """Whether a type has bytes that hold no part of its value."""
    return _bytes_of_value(type) < layout.size_of(type)


def _bytes_of_value(type: Type) -> int:
    match type:
        case Struct(members=members):
            return sum(_bytes_of_value(member.type) for member in members)
        case Array(element=element, count=int() as count):
            return count * _bytes_of_value(element)
        case Matrix(columns=columns, column=column):
            return columns * layout.size_of(column)
        case _:
            return layout.size_of(type)


def _is_shared(pointer: Value) -> bool:
    return isinstance(pointer.type, Pointer) and pointer.type.space is AddressSpace.STORAGE


def _split(module: nodes.Module, block: nodes.Block, store: nodes.Store) -> None:
    """Put stores of the parts in the place of a store."""
    rest = split(block, next(index for index, it in enumerate(block.instructions) if it is store))
    rest.instructions.remove(store)
    builder = Builder(module, block)
    builder.span = store.span
    pointer, value = store.pointer, store.value
    store.drop_operands()
    _store(builder, pointer, value)
    end = builder.block
    assert end is not None
    end.instructions += rest.instructions
    end.branch = rest.branch


def _store(builder: Builder, pointer: Value, value: Value) -> None:
    type = value.type
    if not has_padding(type):
        builder.store(pointer, value)
        return
    match type:
        case Struct(members=members):
            count = len(members)
        case Matrix(columns=count):
            pass
        case Array(count=int() as count):
            pass
        case _:
            raise AssertionError(f"{type} has no padding")
    if count > _MOST_STORES and isinstance(type, Array):
        _loop(builder, pointer, value, count)
        return
    for index in range(count):
        _store(builder, builder.access(pointer, [u32(index)]), _part(builder, value, index))


def _part(builder: Builder, value: Value, index: int) -> Value:
    if not isinstance(value, nodes.Constant):
        return builder.access(value, [u32(index)])
    type = element_type(value.type, index)
    assert type is not None
    found = value.value.element(index, type)
    return nodes.Constant(found, type, None, span=value.span)


def _loop(builder: Builder, pointer: Value, value: Value, count: int) -> None:
    """`for (var i = 0u; i < count; i++) { pointer[i] = value[i] }`"""
    index = nodes.BlockArgument(U32, None)
    loop = builder.enter_loop([index], [u32(0)])
    with builder.at(loop.start_target):
        node = builder.enter_if(builder.binary(BinaryOp.LESS, index, u32(count)))
        node.merge_target = body = empty_block()
        with builder.at(node.true_target):
            builder.branch(body)
        with builder.at(node.false_target):
            builder.branch(loop.merge_target)
        builder.block = body
        _store(builder, builder.access(pointer, [index]), builder.access(value, [index]))
        builder.branch(loop.continuing_target)
    with builder.at(loop.continuing_target):
        builder.branch(loop.start_target, [builder.binary(BinaryOp.ADD, index, u32(1))])
    builder.block = loop.merge_target
