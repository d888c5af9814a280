"""The values that a pipeline may set for overrides (WGSL, "override Declarations"; WebGPU, "GPUProgrammableStage")."""

from __future__ import annotations

import math
from typing import TypeAlias

from .scalars import EvaluationError, ScalarValue, fits, round_to
from .types import BOOL, Scalar

Number: TypeAlias = bool | int | float


def override_value(name: str | None, type: Scalar, value: Number) -> ScalarValue:
    """A number as a value of an override's type: rounded for a float type, true for a bool if it is not 0.

    Raises EvaluationError for infinities and NaN, for an integer type also for numbers that are not whole or out of
    range, and for a float type also for numbers that would be rounded to infinity.
    """
    fault = _fault(type, value)
    if fault is not None:
        raise EvaluationError(f"override '{name}' cannot be {value}: {fault}")
    if type is BOOL:
        return value != 0
    return _rounded(type, value) if type.is_float else int(value)


def _fault(type: Scalar, value: Number) -> str | None:
    """The reason why a number cannot be a value of the type; None if it can."""
    if isinstance(value, float) and not math.isfinite(value):
        return "it is not finite"
    if type.is_integer and value != int(value):
        return "it is not a whole number"
    is_in_range = fits(type, int(value)) if type.is_integer else type is BOOL or math.isfinite(_rounded(type, value))
    return None if is_in_range else f"it does not fit '{type}'"


def _rounded(type: Scalar, value: Number) -> float:
    """The nearest value of a float type; an infinity beyond the range."""
    try:
        return round_to(type, float(value))
    except OverflowError:  # an integer beyond the range of doubles
        return math.inf


def unknown_override(name: str) -> str:
    """The message for a name or an `@id` that no override has."""
    return f"no override is named '{name}'"


def override_given_twice(name: str | None) -> str:
    """The message for an override that is given two values."""
    return f"override '{name}' is given twice, by name and by id"


def missing_override(name: str | None) -> str:
    """The message for an override that has neither a default nor a given value."""
    return f"override '{name}' needs a value"
