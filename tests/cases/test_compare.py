"""Comparison by WGSL's accuracy rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinct.compare import EXACT, Tolerance, compare, ulp_distance

SUBNORMAL = 1e-40
NEXT_TO_ONE = float(np.nextafter(np.float32(1), np.float32(2)))


def agrees(expected: object, actual: object, tolerance: Tolerance = EXACT, dtype: type = np.float32) -> bool:
    return compare(np.array(expected, dtype), np.array(actual, dtype), tolerance).agrees


def test_exact_means_equal_numbers() -> None:
    assert agrees([1.5, np.nan, np.inf, 0.0], [1.5, np.nan, np.inf, -0.0])
    assert not agrees([1.0], [NEXT_TO_ONE])
    assert not agrees([SUBNORMAL], [0.0])
    assert not agrees([np.nan], [0.0])
    assert not agrees([np.inf], [-np.inf])


@pytest.mark.parametrize(
    "tolerance", [Tolerance(ulp=1), Tolerance(absolute=1.2e-7), Tolerance(relative=1.2e-7)], ids=str
)
def test_any_bound_suffices(tolerance: Tolerance) -> None:
    assert agrees([1.0], [NEXT_TO_ONE], tolerance)
    assert not agrees([1.0], [1.000001], tolerance)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 3.4e38])
def test_no_bound_excuses_infinities_and_nans(bad: float) -> None:
    loose = Tolerance(ulp=1e6, absolute=1e6, relative=0.5)
    assert not agrees([1.0], [bad], loose)
    assert not agrees([bad], [1.0], loose)


def test_subnormal_numbers_may_be_flushed() -> None:
    assert agrees([SUBNORMAL], [0.0], Tolerance(ulp=1))
    assert agrees([SUBNORMAL, 0.0], [0.0, -SUBNORMAL], Tolerance(relative=1e-9))
    assert not agrees([1e-37], [0.0], Tolerance(ulp=1))
    assert agrees([2e-7], [0.0], Tolerance(ulp=1), np.float16)


def test_ulps_are_those_of_the_actual_type_at_the_expected_value() -> None:
    third = np.array([1 / 3])
    assert ulp_distance(third, third.astype(np.float32)) <= 0.5
    assert ulp_distance(third, third.astype(np.float16)) <= 0.5
    assert ulp_distance(np.float32([1, 2, 4]), np.float32([1 + 2**-23, 2 + 2**-22, 4 + 2**-20])).tolist() == [1, 1, 2]
    assert ulp_distance(np.float32([0]), np.float32([2**-149])) == 1


@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.integers(1, 50))
def test_steps_of_nextafter_are_ulps(start: float, steps: int) -> None:
    value = np.float32(start)
    for _ in range(steps):
        value = np.nextafter(value, np.float32(np.copysign(np.inf, start)))
    if np.isfinite(value):
        distance = float(ulp_distance(np.array(start), np.array(value, np.float32)))
        assert steps <= distance <= 2 * steps


def test_integers_must_be_equal_whatever_the_bounds() -> None:
    loose = Tolerance(ulp=10, absolute=10, relative=1)
    assert not agrees([1], [2], loose, np.uint32)
    assert compare(np.uint32([0xFFFFFFFF]), np.uint32([0]), loose).worst_absolute == 0xFFFFFFFF


def test_outliers_are_a_share_of_the_elements() -> None:
    expected, actual = np.zeros(100, np.uint32), np.zeros(100, np.uint32)
    actual[[3, 97]] = 9
    assert compare(expected, actual, Tolerance(outliers=0.02)).agrees
    verdict = compare(expected, actual, Tolerance(outliers=0.01))
    assert verdict.mismatches == 2


def test_the_first_mismatch_is_reported_with_both_values() -> None:
    expected = np.arange(6, dtype=np.float32).reshape(2, 3)
    actual = expected.copy()
    actual[1, 0] += 1
    actual[1, 2] += 4
    verdict = compare(expected, actual, Tolerance(ulp=1))
    assert (verdict.compared, verdict.mismatches) == (6, 2)
    assert verdict.worst_absolute == 4
    assert str(verdict) == "2 of 6 differ, first [1, 0]: expected 3.0, got 4.0 (4.19e+06 ulp)"


PARTICLE = np.dtype([("position", np.float32, (2,)), ("kind", np.uint32), ("part", [("mass", np.float32)])])


def test_structures_are_compared_field_by_field() -> None:
    expected, actual = np.zeros(5, PARTICLE), np.zeros(5, PARTICLE)
    assert compare(expected, actual).agrees
    actual["part"]["mass"][3] = 2
    actual["position"][4, 1] = 1
    verdict = compare(expected, actual)
    assert verdict.first is not None
    assert (verdict.first.field, verdict.first.index) == ("part.mass", (3,))
    assert str(verdict.first) == "[3].part.mass: expected 0.0, got 2.0 (1.43e+45 ulp)"
    assert verdict.mismatches == 2


def test_padding_does_not_count() -> None:
    padded = np.dtype({"names": ["x"], "formats": ["<f4"], "offsets": [0], "itemsize": 16})
    expected, actual = np.zeros(2, padded), np.frombuffer(b"\0\0\0\0" + b"\xff" * 12, padded).repeat(2)
    assert compare(expected, actual).agrees


def test_a_multiset_has_no_order() -> None:
    anyhow = Tolerance(multiset=True)
    assert agrees([3, 1, 2, 1], [1, 1, 2, 3], anyhow, np.uint32)
    assert not agrees([3, 1, 2, 1], [1, 2, 2, 3], anyhow, np.uint32)
    assert agrees([np.nan, 1], [1, np.nan], anyhow)
    rows, turned = [[1, 2], [1, 3], [0, 9]], [[1, 3], [0, 9], [1, 2]]
    assert agrees(rows, turned, anyhow)
    assert not agrees(rows, [[3, 1], [0, 9], [1, 2]], anyhow)
    items = np.zeros(3, PARTICLE)
    items["kind"] = [7, 8, 9]
    items["position"] = rows
    assert compare(items, items[[2, 0, 1]], anyhow).agrees
    swapped = items.copy()
    swapped["kind"] = [8, 7, 9]
    assert not compare(items, swapped, anyhow).agrees


def test_empty_arrays_agree() -> None:
    assert agrees([], [])
    assert agrees([], [], Tolerance(ulp=1, multiset=True))


def test_shapes_must_match() -> None:
    with pytest.raises(ValueError, match=r"expected \(2,\), got \(1, 2\)"):
        agrees([1, 2], [[1, 2]])


def test_a_tolerance_says_what_it_allows() -> None:
    assert str(EXACT) == "exact"
    assert str(Tolerance(ulp=2, absolute=0.5, multiset=True)) == "ulp 2, absolute 0.5, in any order"


def test_steps_are_for_integers() -> None:
    expected, actual = np.array([10, 10, 10], np.uint8), np.array([9, 10, 11], np.uint8)
    assert compare(expected, actual, Tolerance(steps=1)).agrees
    assert not compare(expected, actual, Tolerance(absolute=1)).agrees
    assert compare(expected, actual + np.uint8(1), Tolerance(steps=1)).mismatches == 1
