"""Whatever a program passes to the public functions, what comes back is an answer or one of tinct's own exceptions."""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
import os
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import tinct
from tinct.shader import Shader

SHADER = tinct.load("""
struct Point { at: vec3f, mass: f32 }
struct Cloud { count: u32, points: array<Point> }
override width: u32 = 1;
@group(0) @binding(0) var<storage, read_write> cloud: Cloud;
@group(0) @binding(1) var<storage, read_write> numbers: array<f32>;
@group(0) @binding(2) var<uniform> row: array<vec4u, 2>;
@group(0) @binding(3) var<storage, read> rows: array<mat2x3f>;
@group(0) @binding(4) var picture: texture_2d<f32>;
@group(0) @binding(5) var drawn: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(width) fn main() { _ = &cloud; _ = &numbers; _ = &row; _ = &rows; _ = picture; _ = drawn; }
""")
POINT = {"at": [1, 2, 3], "mass": 4}
FITTING = {
    "cloud": {"count": 1, "points": [POINT]},
    "numbers": [1.5],
    "row": [[0, 1, 2, 3]] * 2,
    "rows": [[[0.0] * 3] * 2],
    "picture": np.zeros((2, 2, 4), np.uint8),
    "drawn": np.zeros((2, 2, 4), np.uint8),
}


class Hostile:
    """Pretends to be much, and fails at all of it."""

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise RuntimeError("no array")

    def __len__(self) -> int:
        raise RuntimeError("no length")

    def __getitem__(self, _: object) -> object:
        raise RuntimeError("no items")

    def __float__(self) -> float:
        raise RuntimeError("no float")

    def __index__(self) -> int:
        raise TypeError("no index")


class Empty(Mapping[str, object]):
    """A mapping that has a name but no value for it."""

    def __getitem__(self, name: str) -> object:
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(["numbers"])

    def __len__(self) -> int:
        return 1


def _endless() -> list[object]:
    inner: list[object] = []
    inner.append(inner)
    return inner


ODD = (
    None,
    "hello",
    "",
    "\ud800",
    b"",
    b"1234567",
    bytearray(32),
    memoryview(np.arange(6.0)),
    object(),
    object,
    Hostile(),
    Empty(),
    _endless(),
    10**400,
    10**5000,
    -(2**63),
    2**64,
    1e300,
    math.nan,
    -math.inf,
    1j,
    decimal.Decimal("1.5"),
    fractions.Fraction(1, 3),
    datetime.datetime(2020, 1, 1),
    {1, 2},
    frozenset(),
    range(3),
    iter([1.0]),
    slice(3),
    len,
    Path("x"),
    np.ma.array([1.0, 2.0], mask=[True, False]),
    np.ma.masked,
    np.datetime64("2020-01-01"),
    np.float128(1) if hasattr(np, "float128") else np.longdouble(1),
    np.zeros((), object),
    np.zeros(3, [("at", "f4", 3), ("mass", "f8")]),
    np.zeros((0, 3)),
    np.zeros((1, 0, 4), np.uint8),
    np.array([[1, "a"]], object),
    np.array([{"at": [1, 2, 3], "mass": "x"}], object),
    [np.zeros((2, 2, 4), np.uint8), np.zeros((1, 1, 4), np.uint8)],
    [np.zeros(3), np.zeros(2)],
    {"count": 1, "points": [{}]},
    {"count": 1, "points": Hostile()},
    {"count": None, "points": {}},
    {Hostile(): 1},
    ([], {}),
)
KEYS = st.sampled_from(
    ["cloud", "numbers", "row", "rows", "picture", "drawn", "count", "points", "at", "mass", "", "é"]
)
LEAVES = st.integers(0, len(ODD) - 1).map(ODD.__getitem__)
LEAVES |= st.integers() | st.floats() | st.text(max_size=3) | st.booleans()
ARRAYS = npst.arrays(
    npst.scalar_dtypes() | npst.array_dtypes() | npst.unicode_string_dtypes(),
    npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
)
THINGS = st.recursive(
    LEAVES | ARRAYS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(KEYS, inner, max_size=3)
        | st.builds(lambda at, mass: {"count": 1, "points": [{"at": at, "mass": mass}]}, inner, inner)
    ),
    max_leaves=8,
)
BOUNDED = settings(
    deadline=None,
    derandomize="TINCT_FUZZ_EXAMPLES" not in os.environ,
    max_examples=int(os.environ.get("TINCT_FUZZ_EXAMPLES", "200")),
    suppress_health_check=list(HealthCheck),
)
OWN = (tinct.InputError, tinct.ShaderError, tinct.DeviceError)


@contextmanager
def naming(binding: str) -> Generator[None]:
    """What is refused inside is said with the name of the binding."""
    found = ""
    try:
        yield
    except OWN as error:
        found = str(error)
    assert found.startswith(binding if found else "")


@BOUNDED
@given(st.sampled_from(sorted(FITTING)), THINGS)
def test_a_buffer_of_anything(name: str, value: object) -> None:
    with naming(name):
        out = SHADER["main"].run({**FITTING, name: value}, workgroups=0, device="interp")  # type: ignore[dict-item]
        assert out.keys() == {"cloud", "numbers", "drawn"}


@pytest.mark.parametrize("name", FITTING)
@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
def test_a_buffer_of_something_odd(name: str, value: object) -> None:
    for given_value in (value, [value], {"count": 1, "points": [value, POINT]}, {"count": value, "points": [POINT]}):
        with naming(name):
            SHADER["main"].run({**FITTING, name: given_value}, workgroups=0, device="interp")  # type: ignore[dict-item]


ARGUMENTS = ("buffers", "workgroups", "threads", "constants", "device", "timeout", "contract")


@BOUNDED
@given(st.dictionaries(st.sampled_from(ARGUMENTS), THINGS, max_size=3))
@example({"buffers": [1, 2]})
@example({"device": None})
@example({"timeout": "2"})
@example({"constants": [1]})
def test_arguments_of_anything(arguments: dict[str, object]) -> None:
    given_arguments = {"buffers": FITTING, "workgroups": 0, "device": "interp", **arguments}
    if "threads" in arguments:
        given_arguments.pop("workgroups")
    for method in (SHADER["main"].run, SHADER["main"].run_timed):
        with suppress(*OWN):
            method(**given_arguments)  # type: ignore[arg-type]


@BOUNDED
@given(THINGS)
def test_other_functions_of_anything(thing: object) -> None:
    cloud = SHADER.bindings["cloud"]
    calls = (
        lambda: SHADER[thing],  # type: ignore[index]
        lambda: SHADER.kernel(thing),  # type: ignore[arg-type]
        lambda: SHADER["main"].workgroup_size(thing),  # type: ignore[arg-type]
        lambda: cloud.dtype_with(thing),  # type: ignore[arg-type]
        lambda: tinct.load(thing),  # type: ignore[arg-type]
    )
    for call in calls:
        with suppress(*OWN, OSError):
            call()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"buffers": [1, 2]}, r"buffers maps names to values, as in {'cloud': …, .*}, but is \[1, 2\]"),
        ({"buffers": None}, "buffers maps names to values, .* but is None"),
        ({"device": None}, "a device is a name, such as 'cpu', not None"),
        ({"device": ["cpu"]}, r"a device is a name, such as 'cpu', not \['cpu'\]"),
        ({"timeout": "2"}, "the time limit must be a positive number of seconds, not '2'"),
        ({"timeout": -1}, "the time limit must be a positive number of seconds, not -1"),
        ({"timeout": 0}, "the time limit must be a positive number of seconds, not 0"),
        ({"timeout": math.nan}, "the time limit must be a positive number of seconds, not nan"),
        ({"timeout": True}, "the time limit must be a positive number of seconds, not True"),
        ({"constants": [1]}, r"constants maps names to values, as in {'width': …}, but is \[1\]"),
        ({"constants": {1: 2}}, "no override is named '1'; there is width"),
        ({"contract": "no"}, "contract is True or False, not 'no'"),
        ({"workgroups": b"1"}, "workgroups must be one to three whole numbers, not b'1'"),
    ],
)
def test_arguments_that_do_not_fit(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(tinct.InputError, match=message):
        SHADER["main"].run(**{"buffers": FITTING, "workgroups": 0, "device": "interp", **arguments})  # type: ignore[arg-type]


@pytest.mark.parametrize("device", ["cpu", "interp", "hercules"])
@pytest.mark.parametrize("seconds", [1e30, math.inf, 10**400, 1e9, np.float32(5), 5])
def test_long_time_limits(device: str, seconds: float) -> None:
    kernel = tinct.load(
        "@group(0) @binding(0) var<storage, read_write> x: u32; @compute @workgroup_size(1) fn main() { x = 1; }"
    )["main"]
    assert kernel.run({"x": 0}, workgroups=1, device=device, timeout=seconds)["x"] == 1


@pytest.mark.parametrize("shader", ["", None, b"fn f() {}", 7, ["x.wgsl"], "a\0b", "\ud800", Hostile()])
def test_what_is_no_shader(shader: str) -> None:
    with pytest.raises(tinct.InputError, match="the path of a file"):
        tinct.load(shader)


def test_files_that_are_no_shaders(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match=f"Is a directory: '{tmp_path}'"):
        tinct.load(tmp_path)
    binary = tmp_path / "kernel.spv"
    binary.write_bytes(b"\x03\x02\x23\x07\x00\x00\x01\x00\xff\xfe")
    with pytest.raises(tinct.ShaderError, match=r"invalid-utf8.*\n --> .*kernel.spv:1:9"):
        tinct.load(binary)
    with pytest.raises(OSError, match="larger than the 64 MiB that a shader may have: '/dev/zero'"):
        tinct.load("/dev/zero")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read all files")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "secret.wgsl"
    path.touch(mode=0)
    with pytest.raises(PermissionError):
        tinct.load(path)


@pytest.mark.parametrize("name", [0, None, b"main", ["main"]])
def test_what_names_no_entry_point(name: str) -> None:
    with pytest.raises(tinct.InputError, match="an entry point is a name, such as 'main', not "):
        SHADER[name]


def test_names_are_unicode() -> None:
    shader: Shader = tinct.load(
        "@group(0) @binding(0) var<storage, read_write> größe: u32; override Ωmega: u32 = 1;"
        "@compute @workgroup_size(1) fn été() { größe = Ωmega; }"
    )
    assert shader["été"].run({"größe": 0}, workgroups=1, constants={"Ωmega": 7})["größe"] == 7
    with pytest.raises(tinct.InputError, match="did you mean 'größe'"):
        shader["été"].run({"grösse": 0}, workgroups=1)
