"""The rule by which numbers of any dtype become WGSL's: floats round, all else is exact, and overflow is refused."""

from __future__ import annotations

import decimal
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tinct
from tinct.ir.layout_numbers import NumberType, number, store
from tinct.kernel import Kernel

TYPES = {
    name: NumberType(name, np.dtype(base))
    for name, base in (("i32", "i4"), ("u32", "u4"), ("f32", "f4"), ("f16", "f2"))
}
DTYPES = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u8", "f2", "f4", "f8", ">f4", ">f8", "g")


def kernel(type: str, declarations: str = "") -> Kernel:
    return tinct.load(
        f"enable f16; {declarations} @group(0) @binding(0) var<storage, read_write> x: {type};"
        "@compute @workgroup_size(1) fn main() { _ = &x; }"
    )["main"]


def found(type: str, value: object) -> object:
    return kernel(type).run({"x": value}, workgroups=1, device="interp")["x"].tolist()  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("type", "value", "expected"),
    [
        ("f32", 0.1, float(np.float32(0.1))),
        ("f32", 16777217.0, 16777216.0),
        ("f32", 2**70, 2.0**70),
        ("f32", 3.4028235e38, float(np.finfo(np.float32).max)),
        ("f32", 1e-310, 0.0),
        ("f32", 1e-40, float(np.float32(1e-40))),
        ("f32", math.inf, math.inf),
        ("f32", True, 1.0),
        ("f16", 65519.0, 65504.0),
        ("f16", 2049.0, 2048.0),
        ("f16", 65504, 65504.0),
        ("i32", 3.0, 3),
        ("i32", -(2**31), -(2**31)),
        ("u32", 4294967295.0, 4294967295),
        ("u32", -0.0, 0),
        ("array<f32>", [1e30, 2], [float(np.float32(1e30)), 2]),
        ("array<f32>", np.arange(3, dtype=">i4"), [0, 1, 2]),
        ("array<f32>", np.array([2**63], np.uint64), [2.0**63]),
        ("array<f32>", np.ma.array([1.0, 2.0]), [1, 2]),
        ("array<f32>", range(3), [0, 1, 2]),
        ("array<i32>", np.array([1, 2], object), [1, 2]),
        ("array<vec2u>", np.array([[True, False]]), [[1, 0]]),
    ],
)
def test_what_is_stored(type: str, value: object, expected: object) -> None:
    assert found(type, value) == expected


def test_not_a_number_stays_one() -> None:
    assert math.isnan(found("f32", math.nan))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("type", "value", "message"),
    [
        ("f32", 1e300, r"^x: 1e\+300 is out of range for f32, whose largest number is 3.4028234663852886e\+38$"),
        ("f32", 3.4028236e38, "out of range"),
        ("f32", np.longdouble("1e4000"), r"1e\+4000 is out of range"),
        ("f32", 2**128, "out of range for f32"),
        pytest.param("f32", 10**5000, "a very long int is out of range for f32", id="5001 digits"),
        ("f32", 16777217, "^x: 16777217 is not exactly representable as f32: give 16777217.0, a float"),
        ("f16", 2049, "2049 is not exactly representable as f16"),
        ("f16", 65520.0, "65520.0 is out of range for f16, whose largest number is 65504.0"),
        ("i32", 3.7, "^x: 3.7 is not a whole number, which i32 takes$"),
        ("i32", math.nan, "nan is not a whole number"),
        ("i32", -math.inf, "-inf is not a whole number"),
        ("u32", -1, "^x: -1 is out of range for u32, which holds 0 to 4294967295$"),
        ("u32", 2**40, "1099511627776 is out of range for u32"),
        ("i32", 2147483648.0, "2147483648.0 is out of range for i32"),
        ("u32", "7", "u32 takes a number, not '7'"),
        ("f32", 1j, "f32 takes a number, not 1j"),
        ("f32", decimal.Decimal(1), r"f32 takes a number, not Decimal\('1'\)"),
        ("f32", Fraction(1, 2), "f32 takes a number, not Fraction"),
        ("f32", np.datetime64("2020-01-01"), "f32 takes a number, not datetime.date"),
        ("array<f32>", [1, 2.5, 16777217], r"^x\[2\]: 16777217 is not exactly"),
        ("array<f32>", [[1, 2], [3]], r"x\[0\]: f32 takes a number, not \[1, 2\]"),
        ("array<f32>", np.zeros(2, complex), r"x: f32 takes numbers, not an array of shape \(2,\) of complex128"),
        ("array<f32>", np.array(["1", "2"]), "x: f32 takes numbers, not an array"),
        ("array<f32>", np.zeros(2, "M8[s]"), "x: f32 takes numbers, not an array"),
        ("array<f32>", np.zeros(2, [("a", "f4")]), "x: f32 takes numbers, not an array"),
        ("array<f32>", np.array([1, None]), r"x\[1\]: f32 takes a number, not None"),
        ("array<f32>", np.ma.array([1.0, 2.0], mask=[False, True]), "x has masked elements: give them values first"),
        ("array<vec2u, 2>", np.array([[1, 2], [3, -4]]), r"^x\[1\]\[1\]: -4 is out of range for u32"),
        ("array<array<f32, 2>>", [[1, 2], [3, 1e99]], r"^x\[1\]\[1\]: 1e\+99 is out of range"),
        ("vec3f", [1, 2, 1e99], r"^x\[2\]: 1e\+99"),
        ("atomic<i32>", 2**31, "^x: 2147483648 is out of range for i32"),
    ],
)
def test_what_is_refused(type: str, value: object, message: str) -> None:
    with pytest.raises(tinct.InputError, match=message):
        found(type, value)


POINTS = "struct P { at: vec2f, tag: u32 } struct S { n: u32, points: array<P> }"
POINT = {"at": [1, 2], "tag": 3}


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([POINT, {"at": [1, 1e99], "tag": 3}], r"^x.points\[1\].at\[1\]: 1e\+99 is out of range for f32"),
        ([POINT, ([1, 2], 3.5)], r"^x.points\[1\].tag: 3.5 is not a whole number"),
        (
            [POINT, {"at": [1], "tag": 3}],
            r"^x.points\[1\].at: vec2<f32> takes shape \(2,\) of float32, not shape \(1,\)",
        ),
        ([POINT, {"at": [1, 2]}], r"^x.points\[1\]: there is no value for the member 'tag' of P"),
        ([POINT, {**POINT, "tg": 3}], r"^x.points\[1\]: P has no member 'tg'; its members are at, tag"),
        ([POINT, (1,)], r"^x.points\[1\]: P has 2 members, not 1"),
        (
            [POINT, 7],
            r"^x.points\[1\]: P takes a mapping of its members' names to values, or a structured array, not 7",
        ),
        (7, "^x.points: array<P> takes an array or a list, not 7"),
        (np.array([([1, 2], -1)], [("at", "f8", 2), ("tag", "i8")]), r"^x.points\[0\].tag: -1 is out of range for u32"),
        (np.zeros(1, [("at", "f8", 2)]), "^x.points: there is no value for the member 'tag' of P"),
        (np.zeros(1), "^x.points: P takes a mapping"),
    ],
)
def test_places_inside_of_structures(points: object, message: str) -> None:
    with pytest.raises(tinct.InputError, match=message):
        kernel("S", POINTS).run({"x": {"n": 1, "points": points}}, workgroups=1)


def test_structures_in_all_forms() -> None:
    record = np.array(([1, 2], 3), [("at", ">f8", 2), ("tag", "u8")])
    for points in ([POINT, ([1, 2], 3)], [record[()], POINT], np.array([record, record]), np.array([POINT, POINT])):
        cloud = kernel("S", POINTS).run({"x": (1, points)}, workgroups=1, device="interp")["x"]
        assert cloud["points"]["at"].tolist() == [[1, 2], [1, 2]]
        assert cloud["points"]["tag"].tolist() == [3, 3]


def exactly(type: str, value: float | int) -> float | int | None:
    """The number that the rule makes of a value, in exact arithmetic; None for one that it refuses."""
    if not isinstance(value, int) and not math.isfinite(value):
        return value if type[0] == "f" else None
    if type[0] != "f":
        least, most = (-(1 << 31), (1 << 31) - 1) if type == "i32" else (0, (1 << 32) - 1)
        return int(value) if int(value) == value and least <= value <= most else None
    precision, smallest, largest = (24, -149, 127) if type == "f32" else (11, -24, 15)
    exact = Fraction(value)
    exponent = max(smallest, math.frexp(float(exact))[1] - precision) if exact else smallest
    rounded = Fraction(round(exact / Fraction(2) ** exponent)) * Fraction(2) ** exponent
    if abs(rounded) >= Fraction(2) ** (largest + 1) or (isinstance(value, int) and rounded != exact):
        return None
    return float(rounded)


NUMBERS = st.integers(-(2**66), 2**66) | st.floats() | st.integers(-3000, 3000) | st.floats(-70000, 70000)
EDGES = [
    sign * (base + off)
    for base in (0, 2**11, 2**24, 2**31, 2**32, 65504, 65519, 65520)
    for off in (-2, -1, 0, 1, 2)
    for sign in (1, -1)
]


@given(st.sampled_from(list(TYPES)), NUMBERS | st.sampled_from(EDGES) | st.sampled_from(EDGES).map(float))
def test_one_number_by_exact_arithmetic(type: str, value: float | int) -> None:
    expected = exactly(type, value)
    try:
        stored = number(value, TYPES[type], "x")
    except tinct.InputError:
        assert expected is None
    else:
        assert expected is not None
        assert stored == expected or (math.isnan(expected) and math.isnan(stored))


@given(
    st.sampled_from(list(TYPES)),
    st.sampled_from(DTYPES),
    st.lists(NUMBERS | st.sampled_from(EDGES), min_size=1, max_size=9),
    st.integers(1, 2),
)
def test_arrays_of_every_dtype_are_as_their_numbers(type: str, base: str, values: list[float], step: int) -> None:
    """Whatever its byte order and strides, an array is stored as its numbers are, one by one."""
    dtype = np.dtype(base)
    with np.errstate(all="ignore"):
        array = np.array([np.float64(value) for value in values]).astype(dtype)[::step]
    items = [float(value) if dtype.kind == "f" else int(value) for value in array]
    expected = [exactly(type, item) for item in items]
    target = np.zeros(array.shape, TYPES[type].dtype)
    if None in expected:
        with pytest.raises(tinct.InputError, match=rf"^x\[{expected.index(None)}\]: "):
            store(array, target, TYPES[type], lambda index: f"x{list(index)}")
    else:
        store(array, target, TYPES[type], lambda index: f"x{list(index)}")
        np.testing.assert_array_equal(target, np.array(expected, TYPES[type].dtype))


def test_a_misfit_far_inside_of_a_large_array_is_found() -> None:
    array = np.zeros((300, 500), np.int64)
    array[299, 498] = -1
    with pytest.raises(tinct.InputError, match=r"^x\[149998\]: -1 is out of range for u32"):
        kernel("array<u32>").run({"x": array}, workgroups=1)
    floats = np.zeros((300, 500)).T
    floats[498, 299] = 1e39
    with pytest.raises(tinct.InputError, match=r"^x\[149699\]: 1e\+39 is out of range for f32"):
        kernel("array<f32>").run({"x": floats}, workgroups=1)


OVERRIDES = """
override n: u32 = 1; override i: i32 = 1; override f: f32 = 1; override h: f16 = 1; override b: bool = true;
@group(0) @binding(0) var<storage, read_write> x: array<f32, 5>;
@compute @workgroup_size(1) fn main() { x = array(f32(n), f32(i), f, f32(h), f32(b)); }
"""


@pytest.mark.parametrize("device", ["cpu", "interp", "hercules"])
def test_overrides_follow_the_rule(device: str) -> None:
    constants = {"n": 7.0, "i": np.int8(-3), "f": 16777217.0, "h": 2049.0, "b": 0}
    wgsl = f"enable f16; {OVERRIDES}"
    out = tinct.load(wgsl)["main"].run({"x": [0] * 5}, workgroups=1, constants=constants, device=device)
    assert out["x"].tolist() == [7, -3, 16777216, 2048, 0]


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        ({"n": -1}, "override 'n': -1 is out of range for u32"),
        ({"n": 2.5}, "override 'n': 2.5 is not a whole number"),
        ({"i": math.inf}, "override 'i': inf is not a whole number"),
        ({"f": 1e300}, r"override 'f': 1e\+300 is out of range for f32"),
        ({"f": 16777217}, "override 'f': 16777217 is not exactly representable as f32"),
        ({"f": math.nan}, "cannot be nan: it is not finite"),
        ({"h": 65520.0}, "override 'h': 65520.0 is out of range for f16"),
        ({"b": 2}, "override 'b': 2 is out of range for bool, which holds 0 to 1"),
        ({"b": "true"}, "override 'b': bool takes a number, not 'true'"),
        ({"n": [1]}, r"override 'n' takes one number, not \[1\]"),
        ({"n": None}, "override 'n': u32 takes a number, not None"),
    ],
)
def test_overrides_that_do_not_fit(constants: dict[str, float], message: str) -> None:
    with pytest.raises(tinct.InputError, match=message):
        tinct.load(f"enable f16; {OVERRIDES}")["main"].run({"x": [0] * 5}, workgroups=1, constants=constants)


def test_arrays_without_dimensions_are_numbers_in_lists_of_mappings() -> None:
    """Integers that a float may not hold are looked at one by one."""
    given = [{"y": np.array(2.0, np.float32)}, {"y": np.array(1e30)}, {"y": np.array(1 << 24)}]
    out = kernel("array<S>", "struct S { y: f32 }").run({"x": given}, workgroups=1, device="interp")  # type: ignore[dict-item]
    assert out["x"]["y"].tolist() == [2.0, float(np.float32(1e30)), 16777216.0]
