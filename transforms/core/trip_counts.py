"""An upper bound for the iterations of all loops of an entry point together.

An iteration is one run of a loop's body, complete or not: a loop `for (i = 0; i < 3; i++)` has four. Invocations that
run in lockstep, as lanes of one vector, run as many iterations as the slowest of them each time they enter the loop;
the bound, a product for nested loops, holds for such a group too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ...ir.builtins import LARGEST_SUBGROUP
from ...ir.core import nodes
from ...ir.core.values import Value
from ...ir.entry_points import entry_point
from ...ir.ops import BinaryOp, UnaryOp
from ...ir.types import I32, U32, Pointer, Type
from .counting import Stores, stores_in
from .range_walk import RangeWalk
from .ranges import MIRRORED, OPPOSITE, Range, Ranges, constant_of, whole
from .regions import blocks_from, branches_to, is_unreachable, nested, region

TripCount: TypeAlias = float
"""A number of iterations, or infinity if no bound is known."""

_HALVINGS: Final = 33
"""Iterations after which a 32-bit number that is halved is zero, or one that is doubled has left its range."""
_SUBGROUP_TURNS: Final = LARGEST_SUBGROUP
"""Iterations of the loop by which a driver may implement a subgroup operation."""


def max_trip_count(module: nodes.Module, entry: str) -> TripCount:
    """The bound for the entry point of that name."""
    found: dict[nodes.Function, TripCount] = {}
    for function in module.functions:  # callees stand before their callers
        found[function] = _Total(trip_counts(function), found).region(function.start_target)
    return found[entry_point(module.functions, entry)]


def trip_counts(function: nodes.Function) -> dict[int, TripCount]:
    """The maximum trip count of each Loop of a function, by its identity, each time the loop is entered."""
    walk = _Walk(function)
    walk.region(function.start_target)
    return walk.counts


@dataclass(frozen=True)
class _Total:
    """Adds up iterations. `loops` are those of each Loop by its identity, `functions` those of the callees."""

    loops: dict[int, TripCount]
    functions: dict[nodes.Function, TripCount]

    def region(self, start: nodes.Block) -> TripCount:
        """The iterations of all loops in a region."""
        return sum(self._block(block) for block in region(start))

    def _block(self, block: nodes.Block) -> TripCount:
        inside = sum(self.region(it) for it in nested(block))
        match None if block.branch is None else block.branch.target:
            case nodes.Loop() as node:
                inside = self.loops[id(node)] * (1 + inside)
            case nodes.Switch():
                inside += 1  # some drivers make a Switch a loop that is left after one turn
            case _:
                pass
        return inside + sum(self._instruction(it) for it in block.instructions)

    def _instruction(self, instruction: nodes.Instruction) -> TripCount:
        match instruction:
            case nodes.Call(callee=callee):
                return self.functions[callee]
            case nodes.BuiltinCall(function=name) if name.startswith(("subgroup", "quad")):
                return _SUBGROUP_TURNS
            case _:
                return 0


@dataclass(frozen=True)
class _Bound:
    """While a loop continues, `counter op limit` holds at one place of each iteration. See `_Facts.counter`."""

    counter: Value
    op: BinaryOp
    limit: Range


@dataclass
class _Facts:
    """Facts about the current Loop: the ranges of its counters before it, and the bounds that hold in it."""

    node: nodes.Loop
    stores: Stores
    entered: dict[Value, Range] = field(default_factory=dict[Value, Range])
    bounds: list[_Bound] = field(default_factory=list[_Bound])

    def __post_init__(self) -> None:
        self.exits = {id(block.branch.target) for block in _regular(self.node) if block.branch is not None}
        inside = [*blocks_from(self.node.start_target), *blocks_from(self.node.continuing_target)]
        self.made = {id(it) for block in inside for it in block.instructions}

    def counter(self, value: Value) -> Value | None:
        """The counter behind a value: the outer variable that it is loaded from in this loop, or the carried value."""
        if isinstance(value, nodes.Load) and id(value) in self.made:
            value = value.pointer
        return value if value in self.entered else None

    def next(self, counter: Value) -> Value | None:
        """The next value of a counter in each iteration that continues; None if it is not unique, or not always set."""
        if isinstance(counter, nodes.BlockArgument):
            position = self.node.start_target.arguments.index(counter)
            back = branches_to(blocks_from(self.node.continuing_target), self.node.start_target)
            return back[0].arguments[position] if len(back) == 1 else None
        store = self.stores[counter][0][0] if len(self.stores[counter]) == 1 else None
        is_regular = any(it is store for block in _regular(self.node) for it in block.instructions)
        return store.value if store is not None and is_regular else None


def _regular(loop: nodes.Loop) -> Iterator[nodes.Block]:
    """The blocks that every iteration runs unless it leaves the loop earlier."""
    for block in region(loop.start_target):
        yield block
        if any(branches_to(blocks_from(inner), loop.continuing_target) for inner in nested(block)):
            break
    yield from region(loop.continuing_target)


class _Walk(RangeWalk):
    def __init__(self, function: nodes.Function) -> None:
        super().__init__(function)
        self.counts: dict[int, TripCount] = {}
        self._around: list[_Facts] = []

    def enter_loop(self, branch: nodes.Branch, node: nodes.Loop) -> set[Value]:
        stores = stores_in(node)
        facts = _Facts(node, stores)
        for variable in stores:
            if variable in self.variables and id(variable) not in facts.made:
                facts.entered[variable] = self.ranges.held(variable) or whole(_type_of(variable))
        for argument, value in zip(node.start_target.arguments, branch.arguments, strict=True):
            if argument.type in (I32, U32):
                facts.entered[argument] = self.ranges.of(value)
        self._around.append(facts)
        stored = super().enter_loop(branch, node)
        self._around.pop()
        self.counts[id(node)] = _trip_count(facts)
        return stored

    def enter_if(self, node: nodes.If) -> set[Value]:
        facts = self._around[-1] if self._around else None
        if facts is not None and id(node) in facts.exits:
            for arm, truth in ((node.true_target, False), (node.false_target, True)):
                if _leaves(arm, facts.node):
                    facts.bounds += _bounds(facts, self.ranges, node.condition, truth)
        return super().enter_if(node)


def _type_of(counter: Value) -> Type:
    return counter.type.store if isinstance(counter.type, Pointer) else counter.type


def _leaves(arm: nodes.Block, loop: nodes.Loop) -> bool:
    """Whether an arm leaves the loop at once, or the function."""
    target = None if arm.branch is None else arm.branch.target
    return target is loop.merge_target or (isinstance(target, nodes.Terminator) and not target.unreachable)


def _bounds(facts: _Facts, ranges: Ranges, condition: Value, truth: bool) -> Iterator[_Bound]:
    """The bounds of the loop's counters that a condition implies when it is true, or false."""
    if isinstance(condition, nodes.Unary) and condition.op is UnaryOp.NOT:
        yield from _bounds(facts, ranges, condition.operand, not truth)
    elif isinstance(condition, nodes.Binary) and condition.op.is_comparison:
        yield from _compared(facts, ranges, condition, truth)
    elif isinstance(condition, nodes.BlockArgument) and condition in ranges.logical:
        logical = ranges.logical[condition]
        if logical.is_and is truth:
            yield from _bounds(facts, ranges, logical.lhs, truth)
            yield from _bounds(facts, ranges, logical.rhs, truth)


def _compared(facts: _Facts, ranges: Ranges, condition: nodes.Binary, truth: bool) -> Iterator[_Bound]:
    lhs, rhs = condition.lhs, condition.rhs
    if lhs.type not in (I32, U32):
        return
    op = condition.op if truth else OPPOSITE[condition.op]
    for counter, one, other in ((facts.counter(lhs), op, rhs), (facts.counter(rhs), MIRRORED[op], lhs)):
        if counter is not None:
            yield _Bound(counter, one, ranges.of(other))


def _trip_count(facts: _Facts) -> TripCount:
    """The maximum trip count of a loop each time it is entered."""
    if is_unreachable(facts.node.continuing_target):
        return 1
    return min((_trip_count_by(facts, bound) for bound in facts.bounds), default=math.inf)


def _trip_count_by(facts: _Facts, bound: _Bound) -> TripCount:
    """The maximum trip count under one bound on one counter, which must change regularly in each iteration."""
    match facts.next(bound.counter):
        case nodes.Binary(op=op, lhs=lhs, rhs=rhs) if facts.counter(lhs) is bound.counter:
            step = constant_of(rhs)
        case nodes.Binary(op=BinaryOp.ADD | BinaryOp.MULTIPLY as op, lhs=lhs, rhs=rhs) if (
            facts.counter(rhs) is bound.counter
        ):
            step = constant_of(lhs)
        case _:
            return math.inf
    return math.inf if step is None else _stepping(bound, op, step, facts.entered[bound.counter])


def _stepping(bound: _Bound, op: BinaryOp, step: int, first: Range) -> TripCount:
    """The maximum trip count for a counter that starts in the range `first`, changed by `op step` in each iteration."""
    limits = whole(_type_of(bound.counter))
    if op is BinaryOp.SUBTRACT:
        op, step = BinaryOp.ADD, -step
    match op:
        case BinaryOp.ADD if step > 0:
            return _rising(bound, step, first, limits)
        case BinaryOp.ADD if step < 0:
            return _falling(bound, -step, first, limits)
        case BinaryOp.SHIFT_RIGHT if 0 < step < 32:
            return _shrinking(bound, first)
        case BinaryOp.DIVIDE if step > 1:
            return _shrinking(bound, first)
        case BinaryOp.SHIFT_LEFT if 0 < step < 32:
            return _growing(bound, 1 << step, first, limits)
        case BinaryOp.MULTIPLY if step > 1:
            return _growing(bound, step, first, limits)
        case _:
            return math.inf


def _rising(bound: _Bound, step: int, first: Range, limits: Range) -> TripCount:
    match bound.op:
        case BinaryOp.LESS | BinaryOp.LESS_EQUAL:
            last = bound.limit.high - (bound.op is BinaryOp.LESS)
        case BinaryOp.NOT_EQUAL if step == 1 and first.high <= bound.limit.low == bound.limit.high:
            last = bound.limit.high
        case _:
            return math.inf
    return math.inf if last + step > limits.high else _count(last - first.low, step)


def _falling(bound: _Bound, step: int, first: Range, limits: Range) -> TripCount:
    match bound.op:
        case BinaryOp.GREATER | BinaryOp.GREATER_EQUAL:
            last = bound.limit.low + (bound.op is BinaryOp.GREATER)
        case BinaryOp.NOT_EQUAL if step == 1 and first.low >= bound.limit.high == bound.limit.low:
            last = bound.limit.low
        case _:
            return math.inf
    return math.inf if last - step < limits.low else _count(first.high - last, step)


def _count(distance: int, step: int) -> TripCount:
    """Iterations to cover a distance: the last one leaves, and the test may be before or after the step."""
    return max(0, distance) // step + 3


def _shrinking(bound: _Bound, first: Range) -> TripCount:
    """The trip count for a number that shrinks to zero, which must end the loop."""
    match bound.op:
        case BinaryOp.GREATER:
            ends_at_zero = bound.limit.low >= 0
        case BinaryOp.GREATER_EQUAL:
            ends_at_zero = bound.limit.low >= 1
        case BinaryOp.NOT_EQUAL:
            ends_at_zero = bound.limit.low == bound.limit.high == 0
        case _:
            return math.inf
    return _HALVINGS + 1 if ends_at_zero and first.low >= 0 else math.inf


def _growing(bound: _Bound, factor: int, first: Range, limits: Range) -> TripCount:
    """The trip count for a number that passes its limit before it wraps."""
    if bound.op not in (BinaryOp.LESS, BinaryOp.LESS_EQUAL) or first.low < 1:
        return math.inf
    last = bound.limit.high - (bound.op is BinaryOp.LESS)
    return math.inf if last * factor > limits.high else _HALVINGS + 1
