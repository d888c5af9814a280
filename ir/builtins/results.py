"""Types of the results of certain builtin functions: `frexp`, `modf`, `atomicCompareExchangeWeak`, and the channels of
texels.
"""

from __future__ import annotations

from functools import cache

from ..conversions import register_abstract_struct, result_struct
from ..types import (
    ABSTRACT_INT,
    BOOL,
    F16,
    F32,
    I32,
    U32,
    Scalar,
    Struct,
    Vector,
    with_scalar,
)


@cache
def frexp_result(type: Scalar | Vector) -> Struct:
    """The type of `frexp(e)` for `e` of a floating-point type: members `fract` and `exp`."""
    return _split_result("frexp", "exp", type)


@cache
def modf_result(type: Scalar | Vector) -> Struct:
    """The type of `modf(e)` for `e` of a floating-point type: members `fract` and `whole`."""
    return _split_result("modf", "whole", type)


def _split_result(function: str, second: str, type: Scalar | Vector) -> Struct:
    scalar = type if isinstance(type, Scalar) else type.element
    shape = "" if isinstance(type, Scalar) else f"vec{type.width}_"
    word = "abstract" if scalar.is_abstract else str(scalar)
    other = scalar if function == "modf" else ABSTRACT_INT if scalar.is_abstract else I32
    members = (("fract", type), (second, with_scalar(type, other)))
    made = result_struct(f"__{function}_result_{shape}{word}", members)
    if scalar.is_abstract:  # WGSL, "Conversion Rank": abstract results convert to those of f32, then of f16
        result = frexp_result if function == "frexp" else modf_result
        register_abstract_struct(made, result(with_scalar(type, F32)), result(with_scalar(type, F16)))
    return made


@cache
def compare_exchange_result(scalar: Scalar) -> Struct:
    """The type of `atomicCompareExchangeWeak`: members `old_value` and `exchanged`."""
    return result_struct(f"__atomic_compare_exchange_result_{scalar}", (("old_value", scalar), ("exchanged", BOOL)))


def texel_channel(format: str) -> Scalar:
    """The scalar type of a texel format's channels (WGSL, "Texel Formats")."""
    if format.endswith("uint"):
        return U32
    return I32 if format.endswith("sint") else F32
