"""Rounding, wrapping, literals and conversions of scalars."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinct.ir.scalars import (
    EvaluationError,
    Mode,
    bits_of,
    convert_scalar,
    from_bits,
    parse_float_literal,
    round_fraction,
    round_to,
    wrap,
)
from tinct.ir.types import ABSTRACT_FLOAT, ABSTRACT_INT, BOOL, F16, F32, I32, U32, Scalar

ANY_FLOAT = st.floats()


@given(ANY_FLOAT)
def test_rounding_agrees_with_numpy(value: float) -> None:
    with np.errstate(over="ignore"):
        assert round_to(F32, value) == pytest.approx(float(np.float32(value)), rel=0, abs=0, nan_ok=True)
        assert round_to(F16, value) == pytest.approx(float(np.float16(value)), rel=0, abs=0, nan_ok=True)


@given(st.fractions(), st.integers(-200, 200))
def test_fractions_round_once(value: Fraction, power: int) -> None:
    exact = value * Fraction(2) ** power
    assert round_fraction(ABSTRACT_FLOAT, exact) == exact.numerator / exact.denominator
    rounded = round_fraction(F32, exact)
    if math.isfinite(rounded):
        for neighbour in np.nextafter(np.float32(rounded), np.float32([-np.inf, np.inf])):
            if np.isfinite(neighbour):
                assert abs(Fraction(rounded) - exact) <= abs(Fraction(float(neighbour)) - exact)


def test_a_fraction_is_not_rounded_twice() -> None:
    # Rounded to a double first, this would be a tie, and lose its last bit.
    exact = Fraction(1) + Fraction(1, 2**24) + Fraction(1, 2**80)
    assert round_fraction(F32, exact) == 1 + 2**-23
    assert round_to(F32, float(exact)) == 1


@pytest.mark.parametrize(
    ("text", "scalar", "value"),
    [
        ("1.5", F32, 1.5),
        ("0.1", F32, float(np.float32(0.1))),
        ("1e-45", F32, 2.0**-149),
        ("1e-999999999", F32, 0.0),
        ("0x1.8p1", F32, 3.0),
        ("0x.8", F16, 0.5),
        ("65504", F16, 65504.0),
        ("3.4028234663852886e+38", F32, float(np.finfo(np.float32).max)),
    ],
)
def test_literals(text: str, scalar: Scalar, value: float) -> None:
    assert parse_float_literal(text, scalar) == value


@pytest.mark.parametrize(
    ("text", "scalar"),
    [("3.4028235e38", F32), ("65505", F16), ("1e999999999", ABSTRACT_FLOAT), ("0x1.0000001p0", F32), ("0x1p1024", F32)],
)
def test_literals_that_do_not_fit(text: str, scalar: Scalar) -> None:
    with pytest.raises(EvaluationError):
        parse_float_literal(text, scalar)


@given(st.integers(-(2**70), 2**70))
def test_wrapping_keeps_the_low_bits(value: int) -> None:
    assert wrap(U32, value) == value % 2**32
    assert (wrap(I32, value) - value) % 2**32 == 0
    assert -(2**31) <= wrap(I32, value) < 2**31


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        (3.9, F32, U32, 3),
        (-1.0, F32, U32, 0),
        (1e20, F32, U32, 4294967040),
        (-3.9, F32, I32, -3),
        (1e20, F32, I32, 2147483520),
        (-1e20, F32, I32, -2147483648),
        (1e20, ABSTRACT_FLOAT, U32, 4294967295),
        (65504.0, F16, U32, 65504),
        (math.nan, F32, I32, 0),
        (math.inf, F16, I32, 65504),
        (-1, I32, U32, 4294967295),
        (4294967295, U32, I32, -1),
        (True, BOOL, F32, 1.0),
        (-0.0, F32, BOOL, False),
        (16777217, I32, F32, 16777216.0),
        (5, ABSTRACT_INT, F16, 5.0),
    ],
)
def test_conversions(value: float, source: Scalar, target: Scalar, expected: float) -> None:
    converted = convert_scalar(value, source, target, Mode.RUNTIME)
    assert converted == expected
    assert type(converted) is type(expected)


@pytest.mark.parametrize(
    ("value", "source", "target"),
    [
        (-1, ABSTRACT_INT, U32),
        (2**31, ABSTRACT_INT, I32),
        (65505.0, F32, F16),
        (1e39, ABSTRACT_FLOAT, F32),
        (65505, I32, F16),
    ],
)
def test_constants_that_the_target_cannot_hold(value: float, source: Scalar, target: Scalar) -> None:
    with pytest.raises(EvaluationError, match="cannot be represented"):
        convert_scalar(value, source, target)


@given(st.integers(0, 2**32 - 1))
def test_bits_round_trip(bits: int) -> None:
    for scalar in (I32, U32):
        assert bits_of(scalar, from_bits(scalar, bits)) == bits
    value = from_bits(F32, bits)
    assert math.isnan(value) or bits_of(F32, value) == bits
