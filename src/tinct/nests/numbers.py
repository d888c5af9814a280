"""Numbers of Python as constants of a nest."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Final, cast

import numpy as np

from ..base.errors import InputError
from ..ir.hints import unknown_name
from ..ir.layout_numbers import is_flag, is_number, shown
from ..ir.schedule.interp import DTYPES
from ..ir.schedule.nodes import BoolLiteral, Constant, ElementType, FloatLiteral, IntegerLiteral
from .values import Dim, Sum

FLOATS: Final = (ElementType.F32, ElementType.F16)
_GREATEST: Final = {ElementType.F32: float(np.finfo(np.float32).max), ElementType.F16: float(np.finfo(np.float16).max)}
_INTEGERS: Final = {ElementType.I32: (-(2**31), 2**31 - 1), ElementType.U32: (0, 2**32 - 1)}


def type_of_number(value: object) -> ElementType:
    """The type that a number of Python has by itself: f32, i32 or bool."""
    return ElementType.F32 if isinstance(value, float) else ElementType.BOOL if is_flag(value) else ElementType.I32


def constant_of(value: object, type: ElementType) -> Constant:
    """A number as a constant of a type. Raises InputError for one that the type does not have, and for no number."""
    if type is ElementType.BOOL and is_flag(value):
        return Constant(type, BoolLiteral(bool(value)))
    if not is_number(value) or is_flag(value):
        hint = "; nest.index gives its value" if isinstance(value, (Dim, Sum)) else ""
        raise InputError(f"expected a value of the nest or a number of type {type.value}, not {shown(value)}{hint}")
    return Constant(type, literal_of(cast("float", value), type))


def possible_constants(value: object, known: Iterable[ElementType]) -> list[Constant]:
    """A number as a constant of each type that it may have, those that are known first."""
    found: dict[Constant, None] = {}
    for type in (*known, type_of_number(value), ElementType.U32, ElementType.F32):
        with suppress(InputError):
            found[constant_of(value, type)] = None
    return list(found)


def literal_of(value: float, type: ElementType) -> FloatLiteral | IntegerLiteral:
    """A number as one of a type. Raises InputError for one that the type does not have."""
    if type in FLOATS:
        with np.errstate(over="ignore"):
            rounded = float(np.array(value, DTYPES[type]))
        if np.isfinite(rounded):
            return FloatLiteral(rounded)
    elif type in _INTEGERS and int(value) == value:
        low, high = _INTEGERS[type]
        if low <= value <= high:
            return IntegerLiteral(int(value))
    raise InputError(f"{shown(value)} is no constant of type {type.value}")


def neutral_of(function: str, type: ElementType) -> float:
    """What a reduction begins with. Raises InputError for a function that reduces nothing."""
    if type in FLOATS:
        most = _GREATEST[type]
        least = -most
    elif type in _INTEGERS:
        least, most = _INTEGERS[type]
    else:
        least, most = False, True
    every = -1 if type is ElementType.I32 else most
    found = {"+": 0, "*": 1, "min": most, "max": least, "&": every, "|": 0, "^": 0}
    if type is ElementType.BOOL:
        found |= {"|": False, "^": False}
    if function not in found:
        raise InputError(unknown_name(f"{function!r} reduces nothing", function, found))
    return found[function]
