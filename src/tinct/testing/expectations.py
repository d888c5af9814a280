"""What the `expect…` functions of a WGSL test stand for.

They are those of wgsl-test (its API reference, "Assertion Functions"), for all types instead of one: a call becomes a
block that compares two values and, if they do not fit, reports both with the number of the call.

`expectNear`: |a - b| is at most the greater of 1e-6 and 1e-3 times the greater magnitude. `expectWithin` has both
bounds as arguments, the relative one first. `expectUlp`: at most so many floats apart. A vector fits if each component
does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from ..ir.types import BOOL, F16, F32, Array, Matrix, Scalar, Type, Vector
from ..wgsl_functions.signature import number_type_of, own_shape

MOST_NUMBERS: Final = 256
"""The numbers of a value that a report can have."""

_FAMILIES: Final = {"expect": 1, "expectEq": 2, "expectNear": 2, "expectWithin": 4, "expectUlp": 3}
_VECTORS: Final = ("", "Vec2", "Vec3", "Vec4")
NAMES: Final = frozenset(
    family + suffix for family in _FAMILIES for suffix in (_VECTORS if family not in ("expect", "expectEq") else ("",))
)
"""The names of all of them."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A call of one. `type` is that of its values."""

    name: str
    type: Type

    @property
    def family(self) -> str:
        """The name without the type."""
        return family_of(self.name)


def family_of(name: str) -> str:
    """The name of an `expect…` function without the type in it."""
    return name.removesuffix("Vec2").removesuffix("Vec3").removesuffix("Vec4")


def arguments_of(name: str) -> int:
    """The number of arguments that one takes."""
    return _FAMILIES[family_of(name)]


def misfit(family: str, type: Type) -> str | None:
    """Why values of a type cannot be compared so; None if they can."""
    if number_type_of(type) is None:
        return f"{family} compares numbers, vectors, matrices and arrays of these, not {type}"
    if count_of_numbers(type) > MOST_NUMBERS:
        return f"{family} compares values of at most {MOST_NUMBERS} numbers, not {type}"
    if family in ("expectNear", "expectWithin", "expectUlp") and number_type_of(type) not in (F32, F16):
        return f"{family} compares floats, not {type}"
    return None


def count_of_numbers(type: Type) -> int:
    """The numbers in a value."""
    return prod(own_shape(type))


def components(type: Type, value: str) -> Iterator[str]:
    """The expressions of all numbers of a value, in order."""
    match type:
        case Vector(width=width):
            yield from (f"{value}[{it}]" for it in range(width))
        case Matrix(columns=columns):
            for column in range(columns):
                yield from components(type.column, f"{value}[{column}]")
        case Array(element=element, count=int(count)):
            for index in range(count):
                yield from components(element, f"{value}[{index}]")
        case _:
            yield value


def word(scalar: Scalar, value: str) -> str:
    """The expression for a number as a word of the report."""
    if scalar is BOOL:
        return f"u32({value})"
    return f"bitcast<u32>(f32({value}))" if scalar is F16 else f"bitcast<u32>({value})"


def is_fitting(family: str, scalar: Scalar, left: str, right: str, *, bounds: Sequence[str], ulps: str) -> str:
    """The condition for two numbers; `bounds` are f32 or, for expectUlp, u32 expressions. `ulps` is the name of the
    function of `ulps_text`.
    """
    if family == "expect":
        return left
    if family == "expectEq":
        return f"({left} == {right})"
    a, b = (left, right) if scalar is F32 else (f"f32({left})", f"f32({right})")
    if family == "expectUlp":
        return f"({left} == {right} || {ulps}({left}, {right}) <= {bounds[0]})"
    relative, absolute = bounds or ("1e-3f", "1e-6f")
    return f"({left} == {right} || abs({a} - {b}) <= max({absolute}, {relative} * max(abs({a}), abs({b}))))"


def ulps_text(name: str, scalar: Scalar) -> str:
    """A function that counts how many floats two are apart: bits in the order of the numbers, with both zeros at 0. NaN
    is far from all numbers.
    """
    bits, sign = ("bitcast<i32>({})", "0x7fffffff") if scalar is F32 else ("i32(bitcast<u32>(vec2h({}, 0h)))", "0x7fff")
    lines = [f"fn {name}(a: {scalar}, b: {scalar}) -> u32 {{", "  if !(a == a) || !(b == b) { return 0xffffffffu; }"]
    for it in "ab":
        magnitude = f"({bits.format(it)} & {sign})"
        is_negative = f"{bits.format(it)} < 0" if scalar is F32 else f"({bits.format(it)} & 0x8000) != 0"
        lines.append(f"  let {it}_bits = select({magnitude}, -{magnitude}, {is_negative});")
    lines += ["  return bitcast<u32>(max(a_bits, b_bits)) - bitcast<u32>(min(a_bits, b_bits));", "}"]
    return "\n".join(lines)
