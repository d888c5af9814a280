"""Builtin functions on whole vectors and matrices, and those that split numbers (WGSL, "Numeric Built-in Functions").

They follow WGSL's formulas step by step, in the order of the components, and round each step to the type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

from ..arithmetic import FloatArithmetic, FloatBinary, float_arithmetic
from ..constants import RawValue
from ..conversions import elements
from ..operators import dot_product, transposed
from ..types import Scalar, Vector
from .registry import Evaluator, Signature, evaluated, numbers

Numbers: TypeAlias = Sequence[float]
Dot: TypeAlias = Callable[[Numbers, Numbers], float]


def _kernels(signature: Signature) -> tuple[FloatArithmetic, Dot]:
    arithmetic = float_arithmetic(signature.scalar, signature.mode)
    return arithmetic, cast(Dot, dot_product(signature.scalar, signature.mode))


@evaluated("dot", "[S: number](e1: vecN<S>, e2: vecN<S>) -> S")
def _dot(signature: Signature) -> Evaluator:
    """The sum of the products of the components."""
    dot = dot_product(signature.scalar, signature.mode)
    return lambda args: dot(args[0], args[1])


@evaluated("cross", "[S: float](e1: vec3<S>, e2: vec3<S>) -> vec3<S>")
def _cross(signature: Signature) -> Evaluator:
    """The cross product."""
    arithmetic, _ = _kernels(signature)

    def cross(args: Sequence[RawValue]) -> RawValue:
        a, b = numbers(args[0]), numbers(args[1])
        return tuple(_minor(arithmetic, a[i], b[i], a[j], b[j]) for i, j in ((1, 2), (2, 0), (0, 1)))

    return cross


def _minor(arithmetic: FloatArithmetic, a: float, b: float, c: float, d: float) -> float:
    """The determinant a · d - b · c."""
    return arithmetic.subtract(arithmetic.multiply(a, d), arithmetic.multiply(c, b))


@evaluated("length", "[S: float, T: S | vecN<S>](e: T) -> S")
def _length(signature: Signature) -> Evaluator:
    """The absolute value of a scalar, the Euclidean length of a vector."""
    if isinstance(signature.param_types[0], Scalar):
        return lambda args: abs(cast(float, args[0]))
    length = _length_of(signature)
    return lambda args: length(numbers(args[0]))


def _length_of(signature: Signature) -> Callable[[Numbers], float]:
    arithmetic, dot = _kernels(signature)
    square_root = arithmetic.square_root
    return lambda vector: square_root(dot(vector, vector))


@evaluated("distance", "[S: float, T: S | vecN<S>](e1: T, e2: T) -> S")
def _distance(signature: Signature) -> Evaluator:
    """The length of the difference."""
    subtract = _kernels(signature)[0].subtract
    if isinstance(signature.param_types[0], Scalar):
        return lambda args: abs(subtract(cast(float, args[0]), cast(float, args[1])))
    length = _length_of(signature)
    return lambda args: length(tuple(map(subtract, numbers(args[0]), numbers(args[1]))))


@evaluated("normalize", "[S: float](e: vecN<S>) -> vecN<S>")
def _normalize(signature: Signature) -> Evaluator:
    """The vector of length 1 in the same direction."""
    divide = _kernels(signature)[0].divide
    length = _length_of(signature)

    def normalize(args: Sequence[RawValue]) -> RawValue:
        vector = numbers(args[0])
        size = length(vector)
        return tuple([divide(component, size) for component in vector])

    return normalize


@evaluated("faceForward", "[S: float](e1: vecN<S>, e2: vecN<S>, e3: vecN<S>) -> vecN<S>")
def _face_forward(signature: Signature) -> Evaluator:
    """The first argument if the dot product of the two others is negative, else its negation."""
    _, dot = _kernels(signature)

    def turn(args: Sequence[RawValue]) -> RawValue:
        is_away = dot(numbers(args[1]), numbers(args[2])) < 0
        return args[0] if is_away else tuple([-component for component in numbers(args[0])])

    return turn


@evaluated("reflect", "[S: float](e1: vecN<S>, e2: vecN<S>) -> vecN<S>")
def _reflect(signature: Signature) -> Evaluator:
    """The direction of an incident vector after reflection on a surface: e1 - 2 * dot(e2, e1) * e2."""
    arithmetic, dot = _kernels(signature)
    subtract, multiply = arithmetic.subtract, arithmetic.multiply

    def reflect(args: Sequence[RawValue]) -> RawValue:
        incident, normal = numbers(args[0]), numbers(args[1])
        factor = multiply(2.0, dot(normal, incident))
        return tuple([subtract(i, multiply(factor, n)) for i, n in zip(incident, normal, strict=True)])

    return reflect


@evaluated("refract", "[S: float](e1: vecN<S>, e2: vecN<S>, e3: S) -> vecN<S>")
def _refract(signature: Signature) -> Evaluator:
    """The direction of an incident vector after refraction; zero for total reflection."""
    arithmetic, dot = _kernels(signature)
    add, subtract, multiply = arithmetic.add, arithmetic.subtract, arithmetic.multiply

    def refract(args: Sequence[RawValue]) -> RawValue:
        incident, normal, ratio = numbers(args[0]), numbers(args[1]), cast(float, args[2])
        cosine = dot(normal, incident)
        k = subtract(1.0, multiply(multiply(ratio, ratio), subtract(1.0, multiply(cosine, cosine))))
        if k < 0:
            return (0.0,) * len(incident)
        factor = add(multiply(ratio, cosine), arithmetic.square_root(k))
        pairs = zip(incident, normal, strict=True)
        return tuple([subtract(multiply(ratio, i), multiply(factor, n)) for i, n in pairs])

    return refract


@evaluated("transpose", "[S: float](e: matCxR<S>) -> matRxC<S>")
def _transpose(signature: Signature) -> Evaluator:
    """The matrix whose columns are the rows of the argument."""
    del signature
    return lambda args: tuple(transposed(args[0]))


@evaluated("determinant", "[S: float](e: matCxC<S>) -> S")
def _determinant(signature: Signature) -> Evaluator:
    """The determinant, expanded along the first column."""
    arithmetic, _ = _kernels(signature)
    return lambda args: _expand(arithmetic, [numbers(column) for column in elements(args[0])])


def _expand(arithmetic: FloatArithmetic, columns: Sequence[Numbers]) -> float:
    (first, *others) = columns
    if len(columns) == 2:
        return _minor(arithmetic, first[0], others[0][0], first[1], others[0][1])
    total = 0.0
    for row, factor in enumerate(first):
        minor = _expand(arithmetic, [[*column[:row], *column[row + 1 :]] for column in others])
        combine: FloatBinary = arithmetic.subtract if row % 2 else arithmetic.add
        total = combine(total, arithmetic.multiply(factor, minor))
    return total


# Functions that split a number in two


def _splitting(signature: Signature, split: Callable[[float], tuple[float, float]]) -> Evaluator:
    """An evaluator that returns both results in a structure, of scalars or of vectors."""
    if not isinstance(signature.param_types[0], Vector):
        return lambda args: split(cast(float, args[0]))
    return lambda args: tuple(zip(*map(split, numbers(args[0])), strict=True))


@evaluated("frexp", "[T: floats](e: T) -> frexp<T>")
def _frexp(signature: Signature) -> Evaluator:
    """A fraction with a magnitude in [0.5, 1), or 0, and the exponent of the power of two that it is multiplied by."""
    return _splitting(signature, math.frexp)


@evaluated("modf", "[T: floats](e: T) -> modf<T>")
def _modf(signature: Signature) -> Evaluator:
    """The fractional and the whole part of a number."""
    return _splitting(signature, _fraction_and_whole)


def _fraction_and_whole(value: float) -> tuple[float, float]:
    """The fraction and the whole part. The fraction is a difference, so a zero has no sign."""
    fraction, whole = math.modf(value)
    return fraction + 0.0, whole
