"""Decoding results, and matching them with what the suite expects."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest

from .values import Value, decode, matches

NAN = float("nan")


@pytest.mark.parametrize(
    ("type", "data", "expected"),
    [
        ("i32", struct.pack("<i", -5), -5),
        ("bool", struct.pack("<I", 7), True),
        ("f16", struct.pack("<e", 1.5), 1.5),
        ("abstract-int", struct.pack("<q", -(2**40)), -(2**40)),
        ("abstract-float", struct.pack("<d", 0.1), 0.1),
        ("vec3<u32>", struct.pack("<3I", 1, 2, 3), [1, 2, 3]),
        ("vec3<abstract-int>", struct.pack("<3q", 1, 2, 3), [1, 2, 3]),
        ("mat2x3<f32>", struct.pack("<8f", 1, 2, 3, 0, 4, 5, 6, 0), [[1, 2, 3], [4, 5, 6]]),
        ("mat2x2<f16>", struct.pack("<4e", 1, 2, 3, 4), [[1, 2], [3, 4]]),
        ("array<vec3<i32>, 2>", struct.pack("<8i", 1, 2, 3, 0, 4, 5, 6, 0), [[1, 2, 3], [4, 5, 6]]),
        ("array<f32, 2>", struct.pack("<2f", 1, 2), [1, 2]),
    ],
)
def test_decoding(type: str, data: bytes, expected: Value) -> None:
    assert decode(type, data) == expected


def test_a_type_that_is_not_known() -> None:
    with pytest.raises(ValueError, match="not known"):
        decode("texture_2d<f32>", bytes(64))


@pytest.mark.parametrize(
    ("matcher", "right", "wrong"),
    [
        ({"t": "i32", "s": "i32(-5)"}, -5, 5),
        ({"t": "u32", "s": "u32(4294967295)"}, 4294967295, 0),
        ({"t": "bool", "s": "true"}, True, False),
        ({"t": "f32", "s": "f32(0x1.8p+1)"}, 3.0, 3.5),
        ({"t": "f32", "s": "1.5f"}, 1.5, 1.25),
        ({"t": "vec2<i32>", "s": "vec2(i32(1), i32(2))"}, [1, 2], [2, 1]),
        ({"iv": [1.0, 2.0]}, 1.5, 2.5),
        ({"iv": [1.0, 1.0]}, 1.0, NAN),
        ({"iv": ["NaN", "NaN"]}, NAN, 1.0),
        ({"iv": ["Infinity", "Infinity"]}, math.inf, -math.inf),
        ({"anyOf": [{"t": "i32", "s": "i32(1)"}, {"t": "i32", "s": "i32(2)"}]}, 2, 3),
        ({"skipUndefined": {"t": "i32", "s": "i32(1)"}}, 1, 2),
        ([{"t": "i32", "s": "i32(1)"}, {"iv": [0.0, 1.0]}], [1, 0.5], [1, 2.0]),
    ],
)
def test_matching(matcher: Any, right: Value, wrong: Value) -> None:
    assert matches(matcher, right)
    assert not matches(matcher, wrong)


def test_matchers_that_take_anything() -> None:
    for matcher in ({"alwaysPass": True}, {"skipUndefined": None}, {"iv": ["-Infinity", "Infinity"]}):
        assert matches(matcher, NAN)
        assert matches(matcher, 1.0)


def test_lists_of_different_length_do_not_match() -> None:
    assert not matches([{"t": "i32", "s": "i32(1)"}], [1, 1])
