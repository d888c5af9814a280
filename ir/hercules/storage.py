"""Values of Hercules IR at run time, and the storage of collections.

A scalar is a Python bool, int or float. A product or an array is a `list`, a sum a `Variant`; or any of them is a
`Collection`, an object that keeps its elements elsewhere, such as in the bytes of a WGSL buffer. A path is one number
a level: a field, a variant, or a position within bounds.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, assert_never, runtime_checkable

from . import arithmetic, dynamic
from .arithmetic import ScalarValue
from .nodes import (
    Array,
    ArrayConstant,
    Bool,
    BoolConstant,
    Constant,
    Control,
    Float,
    FloatConstant,
    Integer,
    IntegerConstant,
    Product,
    ProductConstant,
    Summation,
    SummationConstant,
    Type,
    ZeroConstant,
)


@runtime_checkable
class Collection(Protocol):
    """Storage that is not a Python list. Paths end at scalars unless a function uses whole parts."""

    def get(self, path: Sequence[int]) -> Value:
        """The element at a path; an aggregate is copied, as lists."""
        ...

    def set(self, path: Sequence[int], value: Value) -> None:
        """Replace the element at a path."""
        ...

    def copy(self) -> Collection:
        """The same elements in storage of its own."""
        ...


@runtime_checkable
class _HasLists(Protocol):
    """A numpy array or scalar, which converts itself to Python's own types."""

    def tolist(self) -> object: ...


@dataclass(slots=True)
class Variant:
    """A value of a sum: which variant, and its value."""

    index: int
    value: Value


Value: TypeAlias = "ScalarValue | list[Value] | Variant | Collection"


def copy(value: Value) -> Value:
    """The value in storage of its own."""
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, list):
        if value and isinstance(value[0], (bool, int, float)) and not any(isinstance(it, list) for it in value[1:]):
            return [it if isinstance(it, (bool, int, float)) else copy(it) for it in value]
        return [copy(it) for it in value]
    if isinstance(value, Variant):
        return Variant(value.index, copy(value.value))
    return value.copy()


def zero(type: Type, constants: Sequence[int]) -> Value:
    """A new zero value, where the dynamic constants have these values. The zero of a sum is that of its first
    variant.
    """
    match type:
        case Product(fields):
            return [zero(it, constants) for it in fields]
        case Array(element, extent):
            count = dynamic.evaluate(extent, constants)
            if isinstance(element, (Product, Array, Summation)):
                return [zero(element, constants) for _ in range(count)]
            return [zero(element, constants)] * count
        case Summation(variants):
            return Variant(0, zero(variants[0], constants))
        case Control():
            raise TypeError("control has no zero value")
        case Bool() | Integer() | Float():
            return arithmetic.zero(type)
        case _:
            assert_never(type)


def constant(value: Constant, constants: Sequence[int]) -> Value:
    """A new value of a constant."""
    match value:
        case BoolConstant(scalar) | IntegerConstant(value=scalar) | FloatConstant(value=scalar):
            return scalar
        case ProductConstant(fields=parts) | ArrayConstant(elements=parts):
            return [constant(it, constants) for it in parts]
        case SummationConstant(variant=variant, value=inner):
            return Variant(variant, constant(inner, constants))
        case ZeroConstant(type):
            return zero(type, constants)
        case _:
            assert_never(value)


def get(value: Value, path: Iterable[int], zero_of: Callable[[], Value]) -> Value:
    """The element at a path, uncopied where it lies in lists; the zero value for a variant that the sum does not
    hold.
    """
    steps = list(path)
    for depth, step in enumerate(steps):
        if isinstance(value, list):
            value = value[step]
        elif isinstance(value, Variant):
            if value.index != step:
                return zero_of()
            value = value.value
        else:
            assert isinstance(value, Collection)
            return value.get(steps[depth:])
    return value


def put(value: Value, path: Sequence[int], new: Value) -> None:
    """Replace the element at a path. Writing a variant at the end of the path makes it the active variant of the
    sum.
    """
    for depth, step in enumerate(path):
        is_last = depth == len(path) - 1
        if isinstance(value, list):
            if is_last:
                value[step] = new
            value = value[step]
        elif isinstance(value, Variant):
            if is_last:
                value.index, value.value = step, new
            elif value.index != step:
                return None
            value = value.value
        else:
            assert isinstance(value, Collection)
            return value.set(path[depth:], new)
    return None


def mismatch(type: Type, value: Value, constants: Sequence[int]) -> str | None:
    """The reason why a value does not fit the type, as a phrase that follows its name; a Collection is trusted."""
    match type, value:
        case ((Bool() | Integer() | Float()), (bool() | int() | float())) if arithmetic.is_exact(type, value):
            return None
        case Array(element, extent), list():
            count = dynamic.evaluate(extent, constants)
            inner: Sequence[Type] = [element] * (len(value) if count == len(value) else 0)
            return _mismatch(inner, value, count, constants)
        case Product(fields), list():
            return _mismatch(fields, value, len(fields), constants)
        case Summation(variants), Variant(number, inside) if 0 <= number < len(variants):
            return mismatch(variants[number], inside, constants)
        case _:
            if isinstance(value, Collection):
                return None
            return f"has an element that is no value of its type: {value!r}"


def _mismatch(types: Sequence[Type], values: Sequence[Value], count: int, constants: Sequence[int]) -> str | None:
    if len(values) != count:
        return f"has a part of {len(values)} elements instead of {count}"
    found = (mismatch(type, value, constants) for type, value in zip(types, values, strict=True))
    return next((it for it in found if it is not None), None)


def from_python(value: object) -> Value:
    """A value in storage of its own from scalars, nested sequences, numpy arrays, or a Collection, which is copied."""
    if isinstance(value, _HasLists):
        value = value.tolist()
    if isinstance(value, (bool, int, float, Variant)):
        return copy(value)
    if isinstance(value, (list, tuple)):
        return [from_python(it) for it in typing.cast(Sequence[object], value)]
    if isinstance(value, Collection):
        return value.copy()
    raise TypeError(f"no value of Hercules IR: {value!r}")
