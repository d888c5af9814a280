"""The forms in which products and sums may be given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard, cast

import numpy as np

from ..ir.hercules import nodes as h
from ..ir.hercules.storage import Value, Variant
from ..ir.layout_numbers import Array, is_flag
from .dtypes import field_names


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether a value maps names to values."""
    return isinstance(value, Mapping)


def is_structured(array: Array, type: h.Product | h.Summation) -> bool:
    """Whether the elements of an array are structures with the names of the type's fields."""
    return array.dtype.names == field_names(type)


def variant_of(value: object) -> Variant | None:
    """The variant that `{"variant": number, "value": …}` or a `Variant` says; None for anything else."""
    if isinstance(value, Variant):
        return value
    if not is_mapping(value) or set(value) != {"variant", "value"}:
        return None
    index = value["variant"]
    if is_flag(index) or not isinstance(index, (int, np.integer)):
        return None
    return Variant(int(cast("int", index)), cast(Value, value["value"]))
