"""The range of an integer at a place, from its definition, the guards around it, and the loop that counts it.

An interval is in the numbers of the value's own type, u32 or i32. `below` are values that a value is known to be less
than, where their size is not known before the shader runs: lengths of runtime-sized arrays, overrides, uniforms.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from ...ir.core import nodes
from ...ir.core.values import Value
from ...ir.ops import BinaryOp, UnaryOp
from ...ir.scalars import fits, int_range
from ...ir.types import I32, U32, AddressSpace, Pointer, Type

_DEEPEST = 12
"""Maximum depth of operations that are analysed, which bounds the time per value."""


@dataclass(frozen=True, slots=True)
class Range:
    """The smallest and the largest value; and keys of values that are larger than it."""

    low: int
    high: int
    below: frozenset[Hashable] = frozenset()

    def join(self, other: Range) -> Range:
        """One of the two."""
        return Range(min(self.low, other.low), max(self.high, other.high), self.below & other.below)

    def meet(self, other: Range) -> Range:
        """Both at once."""
        return Range(max(self.low, other.low), min(self.high, other.high), self.below | other.below)


def whole(type: Type) -> Range:
    """All values of i32, or of u32."""
    return Range(*int_range(I32 if type is I32 else U32))


def tracked(variable: Value) -> bool:
    """Whether what a variable holds is known from its stores: an integer in a function, only loaded and stored."""
    if not isinstance(variable, nodes.Var) or not isinstance(variable.type, Pointer):
        return False
    is_integer = variable.type.space is AddressSpace.FUNCTION and variable.type.store in (I32, U32)
    return is_integer and all(
        isinstance(use.user, nodes.Load) or (isinstance(use.user, nodes.Store) and use.index == 0)
        for use in variable.uses
    )


class Ranges:
    """The facts at one place of a function. `assume` and `set` add to it, `mark` and `undo` take it back."""

    def __init__(self, function: nodes.Function) -> None:
        sizes = [constant_of(size) for size in function.workgroup_size]
        self._sizes = [*sizes, *[1] * (3 - len(sizes))] if sizes else []
        self._known: dict[Hashable, Range] = {}
        self._versions: dict[Value, int] = {}
        self._loaded: dict[Value, int] = {}
        self._changes: list[tuple[Hashable, Range | None]] = []
        self._stores: list[tuple[Value, int | None]] = []
        self._clock = 0
        self.logical: dict[Value, Logical] = {}

    # Knowledge.

    def mark(self) -> tuple[int, int]:
        """The present state, for `undo`."""
        return len(self._changes), len(self._stores)

    def undo(self, mark: tuple[int, int]) -> None:
        """Go back to a state."""
        changes, stores = mark
        while len(self._changes) > changes:
            key, known = self._changes.pop()
            if known is None:
                del self._known[key]
            else:
                self._known[key] = known
        while len(self._stores) > stores:
            variable, version = self._stores.pop()
            if version is None:
                del self._versions[variable]
            else:
                self._versions[variable] = version

    def learn(self, key: Hashable, range: Range) -> None:
        """Take a range to be that of what a key stands for."""
        self._changes.append((key, self._known.get(key)))
        self._known[key] = range

    def stored(self, variable: Value, range: Range | None) -> None:
        """Forget what a variable held, and take it to be in a range."""
        self._stores.append((variable, self._versions.get(variable)))
        self._clock += 1
        self._versions[variable] = self._clock
        if range is not None:
            self.learn((variable, self._clock), range)

    def loaded(self, load: nodes.Load) -> None:
        """A load happens now: its value is what the variable holds."""
        self._loaded[load] = self._versions.get(load.pointer, 0)

    def held(self, variable: Value) -> Range | None:
        """What a variable holds now."""
        return self._known.get((variable, self._versions.get(variable, 0)))

    def key(self, value: Value) -> Hashable:
        """The same for values that are equal for a plain reason."""
        if isinstance(value, nodes.Load) and value in self._loaded:
            return value.pointer, self._loaded[value]
        if isinstance(value, nodes.Access):
            numbers = tuple(constant_of(index) for index in value.indices)
            return value if None in numbers else ("part", self.key(value.object), numbers)
        if isinstance(value, nodes.BuiltinCall) and value.function == "arrayLength":
            (pointer,) = value.arguments
            part = (pointer.object, pointer.indices) if isinstance(pointer, nodes.Access) else (pointer, ())
            return _or(length_key(*part), value)
        return value

    # Conditions.

    def assume(self, condition: Value, truth: bool, depth: int = 0) -> None:
        """Take a condition to be true, or false."""
        if isinstance(condition, nodes.Unary) and condition.op is UnaryOp.NOT:
            self.assume(condition.operand, not truth, depth)
        elif isinstance(condition, nodes.Binary) and condition.op.is_comparison:
            if condition.lhs.type in (I32, U32):
                self._compare(condition.op if truth else OPPOSITE[condition.op], condition.lhs, condition.rhs)
        elif isinstance(condition, nodes.BlockArgument) and condition in self.logical and depth < _DEEPEST:
            logical = self.logical[condition]
            if logical.is_and is truth:
                self.assume(logical.lhs, truth, depth + 1)
                self.assume(logical.rhs, truth, depth + 1)

    def _compare(self, op: BinaryOp, lhs: Value, rhs: Value) -> None:
        if op in (BinaryOp.GREATER, BinaryOp.GREATER_EQUAL):
            op, lhs, rhs = MIRRORED[op], rhs, lhs
        left, right = self.of(lhs), self.of(rhs)
        match op:
            case BinaryOp.LESS:
                bounded = Range(left.low, right.high - 1, right.below | {self.key(rhs)})
                self._refine(lhs, bounded)
                self._refine(rhs, Range(left.low + 1, right.high))
            case BinaryOp.LESS_EQUAL:
                self._refine(lhs, Range(left.low, right.high, right.below))
                self._refine(rhs, Range(left.low, right.high))
            case BinaryOp.EQUAL:
                self._refine(lhs, right)
                self._refine(rhs, left)
            case _:
                pass

    def _refine(self, value: Value, range: Range) -> None:
        self.learn(self.key(value), self.of(value).meet(range))

    # Values.

    def of(self, value: Value, depth: int = 0) -> Range:
        """The range of an i32 or u32 value."""
        made = whole(value.type) if depth > _DEEPEST else self._made(value, depth + 1)
        known = self._known.get(self.key(value))
        return made if known is None else made.meet(known)

    def _made(self, value: Value, depth: int) -> Range:
        """The range that follows from the operation that defines a value."""
        if isinstance(value, nodes.Constant):
            number = constant_of(value)
            return whole(value.type) if number is None else Range(number, number)
        if isinstance(value, nodes.FunctionParameter) and value.io.builtin == "local_invocation_index":
            return self._up_to(self._last_invocation())
        if not isinstance(value, nodes.Instruction):
            return whole(value.type)
        match value:
            case nodes.Access(object=nodes.FunctionParameter(io=io), indices=(component,)) if (
                io.builtin == "local_invocation_id"
            ):
                return self._up_to(self._last_of(constant_of(component)))
            case nodes.BuiltinCall(function=name, arguments=arguments) if value.type in (I32, U32):
                return self._call(name, arguments, value.type, depth)
            case nodes.Convert(operand=operand) if operand.type in (I32, U32):
                range = self.of(operand, depth)
                is_same = range.low >= 0 and fits(I32, range.high)
                return range if is_same or operand.type is value.type else whole(value.type)
            case nodes.Binary(op=op, lhs=lhs, rhs=rhs) if value.type in (I32, U32):
                return self._binary(op, lhs, rhs, depth)
            case nodes.PureInstruction() | nodes.ReadingInstruction() | nodes.WritingInstruction():
                return whole(value.type)
            case nodes.BuiltinCall() | nodes.Var() | nodes.Override() | nodes.Discard():
                return whole(value.type)
            case _:
                assert_never(value)

    def _up_to(self, last: int | None) -> Range:
        return whole(U32) if last is None else Range(0, last)

    def _last_invocation(self) -> int | None:
        known = [size for size in self._sizes if size is not None]
        return math.prod(known) - 1 if self._sizes and len(known) == len(self._sizes) else None

    def _last_of(self, position: int | None) -> int | None:
        size = self._sizes[position] if self._sizes and position is not None else None
        return None if size is None else size - 1

    def _call(self, name: str, arguments: Sequence[Value], type: Type, depth: int) -> Range:
        if name == "arrayLength":  # every array has an element
            return Range(1, whole(U32).high)
        if name not in ("min", "max", "clamp", "select", "abs"):
            return whole(type)
        first, *rest = (self.of(it, depth) if it.type in (I32, U32) else whole(type) for it in arguments)
        match name, rest:
            case "min", [other]:
                return Range(min(first.low, other.low), min(first.high, other.high), first.below | other.below)
            case "max", [other]:
                return Range(max(first.low, other.low), max(first.high, other.high), first.below & other.below)
            case "clamp", [low, high]:
                below = high.below  # min(max(e, low), high)
                return Range(min(max(first.low, low.low), high.low), min(max(first.high, low.high), high.high), below)
            case "select", [other, _]:
                return first.join(other)
            case _:
                return first if first.low >= 0 else whole(type)

    def _binary(self, op: BinaryOp, lhs: Value, rhs: Value, depth: int) -> Range:
        left, right = self.of(lhs, depth), self.of(rhs, depth)
        is_natural = left.low >= 0 and right.low >= 0
        match op:
            case BinaryOp.ADD:
                found = Range(left.low + right.low, left.high + right.high)
            case BinaryOp.SUBTRACT:
                keys = frozenset({self.key(lhs)}) if right.low >= 1 else frozenset[Hashable]()
                found = Range(left.low - right.high, left.high - right.low, left.below | keys)
            case BinaryOp.MULTIPLY:
                ends = [one * other for one in (left.low, left.high) for other in (right.low, right.high)]
                found = Range(min(ends), max(ends))
            case BinaryOp.AND if left.low >= 0 or right.low >= 0:
                naturals = [it for it in (left, right) if it.low >= 0]
                below = frozenset[Hashable]().union(*(it.below for it in naturals))
                found = Range(0, min(it.high for it in naturals), below)
            case BinaryOp.REMAINDER if is_natural:  # `e % 0` is 0 at run time
                keys = frozenset({self.key(rhs)}) if right.low > 0 else frozenset[Hashable]()
                found = Range(0, min(left.high, max(right.high - 1, 0)), left.below | keys)
            case BinaryOp.DIVIDE if is_natural:  # `e / 0` is e
                found = Range(left.low // max(right.high, 1), left.high // max(right.low, 1), left.below)
            case BinaryOp.SHIFT_RIGHT if left.low >= 0:
                shift = right.low if right.low == right.high and right.low < 32 else 0
                found = Range(0, left.high >> shift, left.below)
            case _:
                return whole(lhs.type)
        limits = whole(lhs.type)
        return found if limits.low <= found.low and found.high <= limits.high else limits


@dataclass(frozen=True, slots=True)
class Logical:
    """What a block argument is that stands for `lhs && rhs`, or else `lhs || rhs`."""

    is_and: bool
    lhs: Value
    rhs: Value


def _or(key: Hashable | None, otherwise: Value) -> Hashable:
    return otherwise if key is None else key


def constant_of(value: Value) -> int | None:
    """The integer that a constant is."""
    raw = value.value.value if isinstance(value, nodes.Constant) else None
    return raw if isinstance(raw, int) and not isinstance(raw, bool) else None


def length_key(object: Value, indices: Sequence[Value]) -> Hashable:
    """What stands for the length of a runtime-sized array in a variable; None where a pointer may be into any."""
    numbers = [constant_of(index) for index in indices]
    while isinstance(object, nodes.Access):
        numbers[:0] = [constant_of(index) for index in object.indices]
        object = object.object
    return None if None in numbers else ("length", object, tuple(numbers))


OPPOSITE: Final = {
    BinaryOp.EQUAL: BinaryOp.NOT_EQUAL,
    BinaryOp.NOT_EQUAL: BinaryOp.EQUAL,
    BinaryOp.LESS: BinaryOp.GREATER_EQUAL,
    BinaryOp.LESS_EQUAL: BinaryOp.GREATER,
    BinaryOp.GREATER: BinaryOp.LESS_EQUAL,
    BinaryOp.GREATER_EQUAL: BinaryOp.LESS,
}
MIRRORED: Final = {
    BinaryOp.LESS: BinaryOp.GREATER,
    BinaryOp.LESS_EQUAL: BinaryOp.GREATER_EQUAL,
    BinaryOp.GREATER: BinaryOp.LESS,
    BinaryOp.GREATER_EQUAL: BinaryOp.LESS_EQUAL,
    BinaryOp.EQUAL: BinaryOp.EQUAL,
    BinaryOp.NOT_EQUAL: BinaryOp.NOT_EQUAL,
}
