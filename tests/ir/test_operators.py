"""Typing rules and evaluation of operators."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinct.ir.constants import RawValue
from tinct.ir.operators import (
    binary_evaluator,
    binary_result,
    check_right_operand,
    common_type,
    concretize,
    conversion_rank,
    evaluate_binary,
    evaluate_unary,
    unary_result,
)
from tinct.ir.ops import BinaryOp, UnaryOp
from tinct.ir.scalars import EvaluationError, Mode
from tinct.ir.types import ABSTRACT_FLOAT, ABSTRACT_INT, F32, I32, U32, Type, array, matrix, vector

TypeParser = Callable[[str], Type]
I32_VALUES = st.integers(-(2**31), 2**31 - 1)
F32_VALUES = st.floats(width=32)


@pytest.mark.parametrize(
    ("left", "op", "right", "result"),
    [
        ("AI", "+", "AF", "AF"),
        ("AI", "+", "u32", "u32"),
        ("AF", "*", "f16", "f16"),
        ("u32", "+", "AF", None),
        ("i32", "+", "u32", None),
        ("bool", "+", "bool", None),
        ("vec2<f32>", "*", "f32", "vec2<f32>"),
        ("AI", "-", "vec3<f32>", "vec3<f32>"),
        ("vec2<f32>", "+", "vec3<f32>", None),
        ("mat2x3<f32>", "+", "mat2x3<f32>", "mat2x3<f32>"),
        ("mat2x3<f32>", "/", "f32", None),
        ("mat2x3<f32>", "*", "AI", "mat2x3<f32>"),
        ("mat2x3<f32>", "*", "vec2<f32>", "vec3<f32>"),
        ("vec3<f32>", "*", "mat2x3<f32>", "vec2<f32>"),
        ("mat2x3<f32>", "*", "mat4x2<f32>", "mat4x3<f32>"),
        ("mat2x3<f32>", "*", "mat2x3<f32>", None),
        ("AI", "<<", "AI", "AI"),
        ("i32", "<<", "AI", "i32"),
        ("i32", "<<", "i32", None),
        ("vec2<u32>", ">>", "vec2<u32>", "vec2<u32>"),
        ("vec2<u32>", ">>", "u32", None),
        ("bool", "&", "bool", "bool"),
        ("bool", "^", "bool", None),
        ("vec2<bool>", "|", "vec2<bool>", "vec2<bool>"),
        ("f32", "&", "f32", None),
        ("bool", "&&", "bool", "bool"),
        ("vec2<bool>", "&&", "vec2<bool>", None),
        ("vec2<f32>", "<", "vec2<AI>", "vec2<bool>"),
        ("vec2<f32>", "<", "f32", None),
        ("bool", "==", "bool", "bool"),
        ("bool", "<", "bool", None),
        ("mat2x2<f32>", "==", "mat2x2<f32>", None),
    ],
)
def test_binary_rules(left: str, op: str, right: str, result: str | None, type_of: TypeParser) -> None:
    match = binary_result(BinaryOp(op), type_of(left), type_of(right))
    assert (None if match is None else match.result) is (None if result is None else type_of(result))


@pytest.mark.parametrize(
    ("op", "operand", "fits"),
    [("-", "i32", True), ("-", "u32", False), ("-", "vec2<AF>", True), ("-", "mat2x2<f32>", False), ("~", "u32", True),
     ("~", "f32", False), ("!", "vec3<bool>", True), ("!", "i32", False)],
)  # fmt: skip
def test_unary_rules(op: str, operand: str, fits: bool, type_of: TypeParser) -> None:
    assert (unary_result(UnaryOp(op), type_of(operand)) is not None) == fits


def test_nothing_stays_abstract_beside_a_runtime_value() -> None:
    match = binary_result(BinaryOp.SHIFT_LEFT, ABSTRACT_INT, U32, concrete=True)
    assert match is not None
    assert match.operands == (I32, U32)


def test_conversion_ranks() -> None:
    assert conversion_rank(ABSTRACT_FLOAT, F32) == 1
    assert conversion_rank(vector(2, ABSTRACT_INT), vector(2, F32)) == 6
    assert conversion_rank(I32, F32) is None
    assert conversion_rank(array(ABSTRACT_INT, 2), array(U32, 2)) == 4
    assert concretize(matrix(2, 2, ABSTRACT_FLOAT)) is matrix(2, 2, F32)
    assert common_type([ABSTRACT_INT, F32, ABSTRACT_FLOAT]) is F32
    assert common_type([I32, U32]) is None


@pytest.mark.parametrize(
    ("type", "left", "op", "right", "expected"),
    [
        (I32, 2**31 - 1, "+", 1, -(2**31)),
        (U32, 0, "-", 1, 2**32 - 1),
        (I32, 7, "/", 0, 7),
        (I32, 7, "%", 0, 0),
        (I32, -(2**31), "/", -1, -(2**31)),
        (I32, -(2**31), "%", -1, 0),
        (I32, -7, "/", 2, -3),
        (I32, -7, "%", 2, -1),
        (I32, 1, "<<", 33, 2),
        (I32, -8, ">>", 1, -4),
        (U32, 2**31, ">>", 31, 1),
        (F32, 1.0, "/", 0.0, math.inf),
        (F32, -5.5, "%", 2.0, -1.5),
        (F32, 1e38, "*", 10.0, math.inf),
    ],
)
def test_runtime_arithmetic_is_total(type: Type, left: float, op: str, right: float, expected: float) -> None:
    right_type = U32 if op in ("<<", ">>") else type
    assert evaluate_binary(BinaryOp(op), type, right_type, left, right, Mode.RUNTIME) == expected


@pytest.mark.parametrize(
    ("type", "left", "op", "right"),
    [
        (I32, 1, "/", 0),
        (I32, 1, "%", 0),
        (I32, -(2**31), "/", -1),
        (U32, 1, "<<", 32),
        (U32, 2**31, "<<", 1),
        (I32, 2**30, "<<", 1),
        (I32, 1, ">>", 32),
        (ABSTRACT_INT, 2**63 - 1, "+", 1),
        (ABSTRACT_INT, 1, "<<", 63),
        (F32, 1e38, "*", 10.0),
        (F32, 0.0, "/", 0.0),
        (ABSTRACT_FLOAT, 1e308, "*", 10.0),
    ],
)
def test_errors_of_constants(type: Type, left: float, op: str, right: float) -> None:
    right_type = U32 if op in ("<<", ">>") else type
    with pytest.raises(EvaluationError):
        evaluate_binary(BinaryOp(op), type, right_type, left, right, Mode.CONST)


def test_constants_may_wrap_and_shift_out_zeros() -> None:
    assert evaluate_binary(BinaryOp.MULTIPLY, I32, I32, -1, -(2**31), Mode.CONST) == -(2**31)
    assert evaluate_binary(BinaryOp.SHIFT_LEFT, ABSTRACT_INT, U32, 0, 100, Mode.CONST) == 0
    assert evaluate_unary(UnaryOp.NEGATE, ABSTRACT_INT, -(2**63), Mode.CONST) == -(2**63)
    assert evaluate_unary(UnaryOp.COMPLEMENT, U32, 0, Mode.CONST) == 2**32 - 1


def test_a_constant_right_operand_may_be_wrong_alone() -> None:
    vec2u = vector(2, U32)
    with pytest.raises(EvaluationError, match="division by zero"):
        check_right_operand(BinaryOp.DIVIDE, vec2u, vec2u, (1, 0))
    with pytest.raises(EvaluationError, match="shift amount 32"):
        check_right_operand(BinaryOp.SHIFT_LEFT, I32, U32, 32)
    check_right_operand(BinaryOp.DIVIDE, F32, F32, 0.0)


@given(F32_VALUES, F32_VALUES)
def test_f32_agrees_with_numpy(left: float, right: float) -> None:
    pairs = [(BinaryOp.ADD, np.add), (BinaryOp.SUBTRACT, np.subtract), (BinaryOp.MULTIPLY, np.multiply),
             (BinaryOp.DIVIDE, np.divide)]  # fmt: skip
    for op, function in pairs:
        with np.errstate(all="ignore"):
            expected = float(function(np.float32(left), np.float32(right)))
        found = evaluate_binary(op, F32, F32, left, right, Mode.RUNTIME)
        assert found == expected or (found != found and expected != expected)


@given(I32_VALUES, I32_VALUES)
def test_quotient_and_remainder_belong_together(left: int, right: int) -> None:
    quotient = evaluate_binary(BinaryOp.DIVIDE, I32, I32, left, right, Mode.RUNTIME)
    remainder = evaluate_binary(BinaryOp.REMAINDER, I32, I32, left, right, Mode.RUNTIME)
    assert isinstance(quotient, int)
    assert isinstance(remainder, int)
    if right not in (0, -1):
        assert quotient * right + remainder == left
        assert abs(remainder) < abs(right)


@pytest.mark.parametrize(
    ("left_type", "left", "right_type", "right", "expected"),
    [
        ("vec2<f32>", (1.0, 2.0), "f32", 3.0, (3.0, 6.0)),
        ("mat2x2<f32>", ((1.0, 2.0), (3.0, 4.0)), "vec2<f32>", (1.0, 10.0), (31.0, 42.0)),
        ("vec2<f32>", (1.0, 10.0), "mat2x2<f32>", ((1.0, 2.0), (3.0, 4.0)), (21.0, 43.0)),
        (
            "mat2x2<f32>",
            ((1.0, 2.0), (3.0, 4.0)),
            "mat2x2<f32>",
            ((5.0, 6.0), (7.0, 8.0)),
            ((23.0, 34.0), (31.0, 46.0)),
        ),
        ("mat2x2<f32>", ((1.0, 2.0), (3.0, 4.0)), "f32", 2.0, ((2.0, 4.0), (6.0, 8.0))),
    ],
)
def test_products(
    left_type: str, left: RawValue, right_type: str, right: RawValue, expected: RawValue, type_of: TypeParser
) -> None:
    multiply = binary_evaluator(BinaryOp.MULTIPLY, type_of(left_type), type_of(right_type), Mode.CONST)
    assert multiply(left, right) == expected


def test_comparisons_with_nan() -> None:
    def compare(op: BinaryOp) -> RawValue:
        return evaluate_binary(op, F32, F32, math.nan, 1.0, Mode.RUNTIME)

    assert compare(BinaryOp.NOT_EQUAL) is True
    assert [compare(op) for op in (BinaryOp.EQUAL, BinaryOp.LESS, BinaryOp.GREATER_EQUAL)] == [False] * 3
