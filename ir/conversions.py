"""Automatic conversions between types (WGSL, "Conversion Rank"), and the conversion of values.

`conversion_rank`, `concretize` and `common_type` are the type rules; `convert` and `converter` convert raw values, for
automatic conversions and for value constructors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TypeAlias, cast

from .constants import RawValue, Repeated
from .scalars import Mode, scalar_converter
from .types import (
    ABSTRACT_FLOAT,
    ABSTRACT_INT,
    F16,
    F32,
    I32,
    U32,
    Access,
    Array,
    Matrix,
    Reference,
    Scalar,
    Struct,
    StructMember,
    Type,
    Vector,
    array,
    matrix,
    vector,
)

Converter: TypeAlias = Callable[[RawValue], RawValue]

_SCALAR_RANKS = {
    (ABSTRACT_FLOAT, F32): 1,
    (ABSTRACT_FLOAT, F16): 2,
    (ABSTRACT_INT, I32): 3,
    (ABSTRACT_INT, U32): 4,
    (ABSTRACT_INT, ABSTRACT_FLOAT): 5,
    (ABSTRACT_INT, F32): 6,
    (ABSTRACT_INT, F16): 7,
}


def conversion_rank(source: Type, target: Type) -> int | None:
    """The rank of the automatic conversion: lower is better, 0 if none is needed, None if there is none."""
    if source is target:
        return 0
    match source, target:
        case Scalar(), Scalar():
            return _SCALAR_RANKS.get((source, target))
        case Vector(), Vector() if source.width == target.width:
            return conversion_rank(source.element, target.element)
        case Matrix(), Matrix() if (source.columns, source.rows) == (target.columns, target.rows):
            return conversion_rank(source.element, target.element)
        case Array(), Array() if source.count == target.count and source.count is not None:
            return conversion_rank(source.element, target.element)
        case Struct(), Struct():
            return _struct_rank(source, target)
        case Reference(store=store, access=access), _ if access is not Access.WRITE and store is target:
            return 0
        case _:
            return None


def _struct_rank(source: Struct, target: Struct) -> int | None:
    """Results of `frexp` and `modf` on abstract arguments convert to their concrete counterparts."""
    concrete = _CONCRETE_STRUCTS.get(source, ())
    return next((rank for rank, candidate in enumerate(concrete, 1) if candidate is target), None)


_CONCRETE_STRUCTS: dict[Struct, tuple[Struct, Struct]] = {}


@cache
def result_struct(name: str, members: tuple[tuple[str, Type], ...]) -> Struct:
    """A structure that only builtin functions return; calls with the same arguments return the same object."""
    return Struct(name, tuple(StructMember(member, type) for member, type in members))


def register_abstract_struct(abstract: Struct, as_f32: Struct, as_f16: Struct) -> None:
    """Makes one builtin result structure convertible to two others, in order of preference."""
    _CONCRETE_STRUCTS[abstract] = (as_f32, as_f16)


def is_abstract(type: Type) -> bool:
    """Whether the type is or contains an abstract numeric type."""
    match type:
        case Scalar():
            return type.is_abstract
        case Vector(element=element) | Matrix(element=element) | Array(element=element):
            return is_abstract(element)
        case Struct():
            return type in _CONCRETE_STRUCTS
        case _:
            return False


def concretize(type: Type) -> Type:
    """The concretization: AbstractInt becomes i32 and AbstractFloat f32, also inside composites; concrete types stay
    unchanged.
    """
    match type:
        case Scalar():
            return _concrete_scalar(type)
        case Vector(width=width, element=element):
            return vector(width, _concrete_scalar(element))
        case Matrix(columns=columns, rows=rows, element=element):
            return matrix(columns, rows, _concrete_scalar(element))
        case Array(element=element, count=count) if is_abstract(element):
            return array(concretize(element), count)
        case Struct() if type in _CONCRETE_STRUCTS:
            return _CONCRETE_STRUCTS[type][0]
        case Reference(store=store):
            return store
        case _:
            return type


def _concrete_scalar(scalar: Scalar) -> Scalar:
    if scalar is ABSTRACT_INT:
        return I32
    return F32 if scalar is ABSTRACT_FLOAT else scalar


def common_type(types: Iterable[Type]) -> Type | None:
    """The most preferred type that all of them convert to: the element type of `array(…)`, the type of a switch; or
    None.
    """
    common: Type | None = None
    for type in types:
        if common is None or conversion_rank(common, type) is not None:
            common = type
        elif conversion_rank(type, common) is None:
            return None
    return common


def convert(value: RawValue, source: Type, target: Type, mode: Mode = Mode.CONST) -> RawValue:
    """The value converted component by component. Raises EvaluationError in CONST mode where the target cannot hold
    it.
    """
    return value if source is target else converter(source, target, mode)(value)


@cache
def converter(source: Type, target: Type, mode: Mode = Mode.CONST) -> Converter:
    """The function that does `convert`. Raises TypeError for types of different shapes."""
    if source is target:
        return _identity
    match source, target:
        case Scalar(), Scalar():
            return _scalar(source, target, mode)
        case Vector(), Vector() if source.width == target.width:
            return _each(_scalar(source.element, target.element, mode))
        case Matrix(), Matrix() if (source.columns, source.rows) == (target.columns, target.rows):
            return _each(converter(source.column, target.column, mode))
        case Array(), Array() if source.count == target.count:
            return _each(converter(source.element, target.element, mode))
        case Struct(), Struct() if len(source.members) == len(target.members):
            pairs = zip(source.members, target.members, strict=True)
            return _members([converter(left.type, right.type, mode) for left, right in pairs])
        case Reference(store=store), _ if store is target:
            return _identity
        case _:
            raise TypeError(f"no conversion from {source} to {target}")


def _identity(value: RawValue) -> RawValue:
    return value


def _scalar(source: Scalar, target: Scalar, mode: Mode) -> Converter:
    # The raw value of a scalar type is always a scalar, so no check is needed in this inner loop of interpreters.
    return cast(Converter, scalar_converter(source, target, mode))


def elements(value: RawValue) -> Sequence[RawValue]:
    """The elements of a composite raw value."""
    assert not isinstance(value, (bool, int, float))
    return value


def _each(change: Converter) -> Converter:
    def convert_all(value: RawValue) -> RawValue:
        if isinstance(value, Repeated):
            return Repeated(change(value.item), value.times) if value.times else value
        return tuple(map(change, elements(value)))

    return convert_all


def _members(changes: Sequence[Converter]) -> Converter:
    def convert_all(value: RawValue) -> RawValue:
        return tuple(change(member) for change, member in zip(changes, elements(value), strict=True))

    return convert_all
