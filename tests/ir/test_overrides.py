"""Which numbers an override may be given, and what they become: one rule for every stage that takes them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tinct.base.errors import InputError
from tinct.frontend import check_pipeline, load_program
from tinct.ir.core.overrides import given_values
from tinct.ir.overrides import Number, override_value
from tinct.ir.scalars import EvaluationError
from tinct.ir.source import Source
from tinct.ir.types import BOOL, F16, F32, I32, U32, Scalar
from tinct.transforms.from_wgsl.build import build

LARGEST_F32 = float(np.finfo(np.float32).max)


@pytest.mark.parametrize(
    ("type", "given", "expected"),
    [
        (BOOL, 2, True),
        (BOOL, -0.0, False),
        (U32, True, 1),
        (U32, 2**32 - 1, 2**32 - 1),
        (I32, -(2.0**31), -(2**31)),
        (F32, 0.1, float(np.float32(0.1))),
        (F32, 3.4028235e38, LARGEST_F32),
        (F16, 65519.99, 65504.0),
    ],
)
def test_numbers_that_fit(type: Scalar, given: Number, expected: Number) -> None:
    found = override_value("o", type, given)
    assert found == expected
    assert isinstance(found, {"bool": bool, "f32": float, "f16": float}.get(str(type), int))


FAULTS: list[tuple[Scalar, Number, str]] = [
    (U32, 1.5, "it is not a whole number"),
    (U32, -1, "it does not fit 'u32'"),
    (U32, 2**32, "it does not fit 'u32'"),
    (I32, 2**31, "it does not fit 'i32'"),
    (F32, 2**128, "it does not fit 'f32'"),
    (F32, 10**400, "it does not fit 'f32'"),
    (F16, 65520, "it does not fit 'f16'"),
    (BOOL, math.nan, "it is not finite"),
    (F32, math.inf, "it is not finite"),
]


@pytest.mark.parametrize(("type", "given", "fault"), FAULTS)
def test_the_front_end_and_core_ir_refuse_numbers_in_the_same_words(type: Scalar, given: Number, fault: str) -> None:
    message = f"override 'o' cannot be {given}: {fault}"
    with pytest.raises(EvaluationError) as error:
        override_value("o", type, given)
    assert error.value.message == message
    program = load_program(
        Source.from_text(f"enable f16; override o: {type}; @compute @workgroup_size(1) fn main() {{ _ = o; }}")
    )
    assert [it.message for it in check_pipeline(program, "main", {"o": given})] == [message]
    with pytest.raises(InputError) as refused:
        given_values(build(program), {"o": given})
    assert str(refused.value) == message
