"""Out-of-bounds indices, found before the interpreter clamps them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ... import layout
from ...types import Array, Matrix, Pointer, Struct, Type, Vector, element_type
from .. import nodes
from ..interp_frame import Frame, PointerValue
from ..values import Value

_NOWHERE: PointerValue = (bytearray(), 0)
Report: TypeAlias = Callable[[nodes.Access, Frame, "Outside"], None]


@dataclass(frozen=True, slots=True)
class Outside:
    """An index past the last of `count` elements. `level` counts the indices before it; `pointer` points to the indexed
    composite.
    """

    index: int
    count: int
    whole: Type
    level: int
    pointer: PointerValue | None


@dataclass(frozen=True, slots=True)
class _Level:
    """One index of an access. Without a `slot` the index selects a structure member, at offset `stride`."""

    whole: Type
    slot: int | None
    count: int | None
    stride: int


def bounds_check(
    node: nodes.Access, arguments: tuple[int, ...], counts: layout.Counts, report: Report
) -> Callable[[Frame], None] | None:
    """The check of an access's indices before it runs; None if all of them are known to be in bounds."""
    levels = _levels(node, arguments, counts)
    if not any(_may_miss(level, index) for level, index in zip(levels, node.indices, strict=True)):
        return None
    base = arguments[0] if isinstance(node.object.type, Pointer) else None

    def check(frame: Frame) -> None:
        pointer: PointerValue = _NOWHERE if base is None else frame[base]
        memory, offset = pointer
        for number, level in enumerate(levels):
            if level.slot is None:
                offset += level.stride
                continue
            count = level.count if level.count is not None else max(0, len(memory) - offset) // level.stride
            index = frame[level.slot]
            if not 0 <= index < count:
                whole = None if base is None else (memory, offset)
                report(node, frame, Outside(index, count, level.whole, number, whole))
                return
            offset += index * level.stride

    return check


def _levels(node: nodes.Access, arguments: tuple[int, ...], counts: layout.Counts) -> list[_Level]:
    type = node.object.type
    part: Type = type.store if isinstance(type, Pointer) else type
    levels: list[_Level] = []
    for index, slot in zip(node.indices, arguments[1:], strict=True):
        part = layout.resolve_counts(part, counts)
        position = index.value.value if isinstance(index, nodes.Constant) else 0
        assert isinstance(position, int)
        levels.append(_level(part, position, slot))
        inner = element_type(part, position)
        assert inner is not None
        part = inner
    return levels


def _level(whole: Type, position: int, slot: int) -> _Level:
    match whole:
        case Struct():
            return _Level(whole, None, None, layout.member_offsets(whole)[position])
        case Vector(width=width, element=element):
            return _Level(whole, slot, width, layout.size_of(element))
        case Matrix(columns=columns):
            return _Level(whole, slot, columns, layout.stride_of(whole))
        case Array(count=count):
            return _Level(whole, slot, count if isinstance(count, int) else None, layout.stride_of(whole))
        case _:
            raise AssertionError(f"{whole} has no parts")


def _may_miss(level: _Level, index: Value) -> bool:
    if level.slot is None:
        return False
    if isinstance(index, nodes.Constant) and level.count is not None:
        return not (isinstance(index.value.value, int) and 0 <= index.value.value < level.count)
    return True
