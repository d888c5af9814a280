"""Joins what the invocations of a workgroup carry: by a tree in workgroup memory, or by subgroup operations.

Subgroups may have any size. Each of them joins the values of its invocations, and workgroup memory joins those of the
subgroups, so a subgroup must have no invocations but those that are joined: all of the workgroup. There are a power of
two of them, as there are in a subgroup, so that either all subgroups are full, or one holds all invocations, which are
then its first ones. Drivers disagree on the number of subgroups that are not full.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

from ...ir import types as w
from ...ir.core import nodes as c
from ...ir.core.builder import Builder, u32
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.schedule.nodes import Execution, LevelName
from ...ir.schedule.reductions import Reduction
from .decided import Decided
from .frame import Frame
from .tasks import Carry
from .vectors import by_components

LARGEST_SUBGROUP: Final = 128
_OPERATIONS: Final = {
    "+": "subgroupAdd",
    "*": "subgroupMul",
    "min": "subgroupMin",
    "max": "subgroupMax",
    "&": "subgroupAnd",
    "|": "subgroupOr",
    "^": "subgroupXor",
}
_OF_CONDITIONS: Final = {"&": "subgroupAll", "|": "subgroupAny"}
Totals = list[list[Value]]
"""For each reduction the value of each of its carried values."""


class Lowering(Protocol):
    """What joining needs of the lowering of a nest."""

    decided: Decided
    frame: Frame

    def merged(self, reduction: Reduction, left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
        """The values of two parts, joined."""
        ...

    def numbered(self, names: Iterable[LevelName]) -> tuple[int, Value]:
        """The number of invocations along axes, and the number of this one among them."""
        ...


def across_invocations(lowering: Lowering, carry: Carry, reductions: Sequence[Reduction], totals: Totals) -> Totals:
    """The values of all invocations along the carrying levels, joined; each invocation has the results."""
    if not lowering.decided.waits(carry):
        return totals
    if lowering.decided.by_subgroups(carry):
        return _by_subgroups(lowering, reductions, totals)
    return _by_tree(lowering, carry, reductions, totals)


def _by_tree(lowering: Lowering, carry: Carry, reductions: Sequence[Reduction], totals: Totals) -> Totals:
    frame, builder = lowering.frame, lowering.frame.builder
    axes = lowering.decided.axes(Execution.INVOCATION)
    along = {axis: it for it, axis in axes.items() if it.dimension in carry.on}
    count, lane = lowering.numbered(along.values())
    _, row = lowering.numbered({axis: it for it, axis in axes.items() if axis not in along}.values())
    start = frame.binary(BinaryOp.MULTIPLY, row, u32(count))
    memory = _memory(lowering, totals)
    place = frame.binary(BinaryOp.ADD, start, lane)
    own = [_elements(lowering, it, place) for it in memory]
    frame.barrier()
    _store(lowering, own, totals)
    while count > 1:
        half = (count + 1) // 2
        frame.barrier()
        with builder.when(builder.binary(BinaryOp.LESS, lane, u32(count - half))):
            other = frame.binary(BinaryOp.ADD, place, u32(half))
            for reduction, pointers, arrays in zip(reductions, own, memory, strict=True):
                left = [builder.load(it) for it in pointers]
                right = [builder.load(it) for it in _elements(lowering, arrays, other)]
                _store(lowering, [pointers], [lowering.merged(reduction, left, right)])
        count = half
    frame.barrier()
    return [[builder.load(it) for it in _elements(lowering, arrays, start)] for arrays in memory]


def _by_subgroups(lowering: Lowering, reductions: Sequence[Reduction], totals: Totals) -> Totals:
    frame, builder = lowering.frame, lowering.frame.builder
    totals = [_in_subgroup(lowering, it, values) for it, values in zip(reductions, totals, strict=True)]
    memory = _memory(lowering, totals)
    frame.barrier()
    with builder.when(builder.binary(BinaryOp.EQUAL, frame.subgroups["subgroup_invocation_id"], u32(0))):
        _store(lowering, [_elements(lowering, it, frame.subgroups["subgroup_id"]) for it in memory], totals)
    frame.barrier()
    first = [[builder.load(it) for it in _elements(lowering, arrays, u32(0))] for arrays in memory]
    joined = [
        [frame.variable(f"{fby.name}_all", value.type, value) for fby, value in zip(it.fbys, values, strict=True)]
        for it, values in zip(reductions, first, strict=True)
    ]
    with builder.counting(u32(1), frame.subgroups["num_subgroups"], name=frame.name("subgroup")) as number:
        for reduction, variables, arrays in zip(reductions, joined, memory, strict=True):
            left = [builder.load(it) for it in variables]
            right = [builder.load(it) for it in _elements(lowering, arrays, number)]
            _store(lowering, [variables], [lowering.merged(reduction, left, right)])
    return [[builder.load(it) for it in variables] for variables in joined]


def _in_subgroup(lowering: Lowering, reduction: Reduction, values: Sequence[Value]) -> list[Value]:
    """The values of a subgroup, joined; the first of its invocations has them."""
    if isinstance(reduction.join, str):
        return [_operation(lowering, reduction.join, values[0])]
    builder = lowering.frame.builder
    active = builder.builtin_call("subgroupAdd", [u32(1)])
    here = lowering.frame.subgroups["subgroup_invocation_id"]
    totals: list[Value] = list(values)
    delta = 1
    while delta < min(lowering.decided.invocations, LARGEST_SUBGROUP):
        others = [_shuffled_down(lowering, it, delta) for it in totals]
        is_active = builder.binary(BinaryOp.LESS, builder.binary(BinaryOp.ADD, here, u32(delta)), active)
        joined = lowering.merged(reduction, totals, others)
        pairs = zip(totals, joined, strict=True)
        totals = list[Value](builder.builtin_call("select", [old, new, is_active]) for old, new in pairs)
        delta *= 2
    return totals


def _operation(lowering: Lowering, function: str, value: Value) -> Value:
    builder = lowering.frame.builder
    if value.type is w.BOOL:
        return builder.builtin_call(_OF_CONDITIONS[function], [value])
    if isinstance(value.type, w.Vector) and value.type.element is w.BOOL:
        return by_components(builder, [value], lambda it: _operation(lowering, function, it[0]))
    return builder.builtin_call(_OPERATIONS[function], [value])


def _shuffled_down(lowering: Lowering, value: Value, delta: int) -> Value:
    """The value of an invocation that is further in the subgroup."""
    builder = lowering.frame.builder
    return _moved(builder, value, lambda it: builder.builtin_call("subgroupShuffleDown", [it, u32(delta)]))


def broadcast_first(builder: Builder, value: Value) -> Value:
    """The value of the first invocation of a subgroup."""
    return _moved(builder, value, lambda it: builder.builtin_call("subgroupBroadcastFirst", [it]))


def _moved(builder: Builder, value: Value, move: Callable[[Value], Value]) -> Value:
    """A value of another invocation; conditions travel as numbers."""
    if isinstance(value.type, w.Vector) and value.type.element is w.BOOL:
        return by_components(builder, [value], lambda it: _moved(builder, it[0], move))
    if value.type is not w.BOOL:
        return move(value)
    return builder.convert(w.BOOL, move(builder.convert(w.U32, value)))


def _memory(lowering: Lowering, totals: Totals) -> list[list[c.Var]]:
    """An array for each value, with an element for each invocation. Other joins use the same arrays."""
    used: dict[w.Type, int] = {}
    made: list[list[c.Var]] = []
    for values in totals:
        arrays: list[c.Var] = []
        for value in values:
            number = used[value.type] = used.get(value.type, 0) + 1
            arrays.append(lowering.frame.joining(value.type, number))
        made.append(arrays)
    return made


def _elements(lowering: Lowering, arrays: Iterable[c.Var], place: Value) -> list[Value]:
    return [lowering.frame.builder.access(it, [place]) for it in arrays]


def _store(lowering: Lowering, pointers: Sequence[Sequence[Value]], totals: Totals) -> None:
    for targets, values in zip(pointers, totals, strict=True):
        for target, value in zip(targets, values, strict=True):
            lowering.frame.builder.store(target, value)
