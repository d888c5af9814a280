"""Logical builtin functions, `select`, and `bitcast`."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from ..constants import RawValue
from ..conversions import converter, elements
from ..scalars import EvaluationError, Mode, ScalarValue, fits, wrap_u32
from ..types import ABSTRACT_INT, F16, F32, I32, U32, Type, Vector, scalar_of
from .registry import Evaluator, Signature, evaluated


@evaluated("all", "(e: vecN<bool>) -> bool", "(e: bool) -> bool")
def _all(signature: Signature) -> Evaluator:
    """Whether every component is true."""
    if isinstance(signature.param_types[0], Vector):
        return lambda args: all(elements(args[0]))
    return lambda args: args[0]


@evaluated("any", "(e: vecN<bool>) -> bool", "(e: bool) -> bool")
def _any(signature: Signature) -> Evaluator:
    """Whether at least one component is true."""
    if isinstance(signature.param_types[0], Vector):
        return lambda args: any(elements(args[0]))
    return lambda args: args[0]


@evaluated(
    "select",
    "[T: scalars](f: T, t: T, cond: bool) -> T",
    "[S: scalar](f: vecN<S>, t: vecN<S>, cond: vecN<bool>) -> vecN<S>",
    is_componentwise=True,
)
def _select(signature: Signature) -> Evaluator:
    """The second argument if the condition is true, else the first; for each component if it is a vector."""
    if not isinstance(signature.param_types[2], Vector):
        return lambda args: args[1] if args[2] else args[0]

    def choose(args: Sequence[RawValue]) -> RawValue:
        return tuple([t if condition else f for f, t, condition in zip(*map(elements, args), strict=True)])

    return choose


@evaluated(
    "bitcast",
    "<T>[T: concrete_numbers](e: T) -> T",
    "<D>[D: word, S: word](e: S) -> D",
    "<vecN<D>>[D: word, S: word](e: vecN<S>) -> vecN<D>",
    "<u32>[S: abstract_int](e: S) -> u32",
    "<vecN<u32>>[S: abstract_int](e: vecN<S>) -> vecN<u32>",
    "<D>[D: word](e: vec2<f16>) -> D",
    "<vec2<D>>[D: word](e: vec4<f16>) -> vec2<D>",
    "<vec2<f16>>[S: word](e: S) -> vec2<f16>",
    "<vec4<f16>>[S: word](e: vec2<S>) -> vec4<f16>",
)
def _bitcast(signature: Signature) -> Evaluator:
    """The argument's bits as a value of another type of the same size. A negative abstract integer counts as i32."""
    source, target = signature.param_types[0], signature.result_type
    if source is target:
        return lambda args: args[0]
    if signature.scalar is ABSTRACT_INT:
        change = converter(source, target, signature.mode)
        if not isinstance(source, Vector):
            return lambda args: change(_word(args[0]))
        return lambda args: change(tuple(map(_word, elements(args[0]))))
    encode, decode = _layout(source), _layout(target)
    finish = _finite if signature.mode is Mode.CONST else tuple[ScalarValue, ...]
    source_is_vector, target_is_vector = isinstance(source, Vector), isinstance(target, Vector)

    def reinterpret(args: Sequence[RawValue]) -> RawValue:
        parts = elements(args[0]) if source_is_vector else args
        values = finish(decode.unpack(encode.pack(*parts)))
        return values if target_is_vector else values[0]

    return reinterpret


def _word(value: RawValue) -> RawValue:
    return wrap_u32(value) if isinstance(value, int) and value < 0 and fits(I32, value) else value


_CODES = {I32: "i", U32: "I", F32: "f", F16: "e"}


def _layout(type: Type) -> struct.Struct:
    scalar = scalar_of(type)
    assert scalar is not None
    return struct.Struct(f"<{type.width if isinstance(type, Vector) else 1}{_CODES[scalar]}")


def _finite(values: tuple[ScalarValue, ...]) -> tuple[ScalarValue, ...]:
    if not all(map(math.isfinite, values)):
        raise EvaluationError("the bits are those of an infinity or of no number")
    return values
