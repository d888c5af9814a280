"""Memory layout: the specification's examples, raw values in buffers, and numpy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinct.base.errors import InputError
from tinct.ir.constants import RawValue, same_bits
from tinct.ir.layout import (
    align_of,
    member_offsets,
    minimum_size,
    offset_of,
    read,
    runtime_array,
    runtime_count,
    size_of,
    stride_of,
    write,
)
from tinct.ir.layout_numpy import numpy_dtype
from tinct.ir.layout_packing import pack, unpack
from tinct.ir.types import (
    BOOL,
    F16,
    F32,
    I32,
    U32,
    Array,
    Matrix,
    OverrideCount,
    Scalar,
    Struct,
    StructMember,
    Type,
    Vector,
    array,
    atomic,
    matrix,
    vector,
)

TypeParser = Callable[[str], Type]
VEC2F, VEC3F = vector(2, F32), vector(3, F32)


def struct(name: str, **members: Type) -> Struct:
    return Struct(name, tuple(StructMember(member, type) for member, type in members.items()))


def padded_a(size: int | None) -> Struct:
    return Struct("A", (*struct("", u=F32, v=F32, w=VEC2F).members, StructMember("x", F32, size=size)))


def nested_b(a: Struct, align: int | None) -> Struct:
    first, last = struct("", a=VEC2F, b=VEC3F, c=F32, d=F32), struct("", f=VEC3F, g=array(a, 3), h=I32)
    return Struct("B", (*first.members, StructMember("e", a, align=align), *last.members))


def test_structures_with_implicit_layout() -> None:
    a = padded_a(None)
    b = nested_b(a, None)
    assert (align_of(a), size_of(a), member_offsets(a)) == (8, 24, (0, 4, 8, 16))
    assert (align_of(b), size_of(b), member_offsets(b)) == (16, 160, (0, 16, 28, 32, 40, 64, 80, 152))


def test_structures_with_explicit_layout() -> None:
    a = padded_a(16)
    b = nested_b(a, 16)
    assert (align_of(a), size_of(a), member_offsets(a)) == (8, 32, (0, 4, 8, 16))
    assert (align_of(b), size_of(b), member_offsets(b)) == (16, 208, (0, 16, 28, 32, 48, 80, 96, 192))


@pytest.mark.parametrize(
    ("text", "align", "size"),
    [
        ("bool", 4, 4),
        ("f16", 2, 2),
        ("atomic<u32>", 4, 4),
        ("vec2<f16>", 4, 4),
        ("vec3<f16>", 8, 6),
        ("vec3<bool>", 16, 12),
        ("vec4<f32>", 16, 16),
        ("mat2x2<f32>", 8, 16),
        ("mat3x2<f16>", 4, 12),
        ("mat2x3<f32>", 16, 32),
        ("mat3x3<f32>", 16, 48),
        ("mat3x3<f16>", 8, 24),
        ("mat4x3<f16>", 8, 32),
        ("mat4x4<f32>", 16, 64),
    ],
)
def test_alignment_and_size(text: str, align: int, size: int, type_of: TypeParser) -> None:
    assert (align_of(type_of(text)), size_of(type_of(text))) == (align, size)


def test_arrays() -> None:
    assert (stride_of(array(F32, 8)), size_of(array(F32, 8))) == (4, 32)
    assert (stride_of(array(VEC3F, 8)), size_of(array(VEC3F, 8))) == (16, 128)
    assert offset_of(matrix(3, 3, F32), 2) == 32
    count = OverrideCount("n")
    assert size_of(array(VEC3F, count), {count: 5}) == 80
    with pytest.raises(TypeError):
        size_of(array(F32, None))


def test_runtime_sized_arrays() -> None:
    lights = struct("Lights", count=U32, points=array(VEC3F, None))
    assert runtime_array(lights) == (16, array(VEC3F, None))
    assert [runtime_count(lights, size) for size in (8, 16, 47, 48)] == [0, 0, 1, 2]
    assert minimum_size(lights) == 32
    assert runtime_array(array(F32, 4)) is None


# Raw values


def raw_values(type: Type) -> st.SearchStrategy[RawValue]:
    """Values of a type."""
    match type:
        case Scalar():
            return _SCALAR_VALUES[type]
        case Vector(width=width, element=element):
            return st.tuples(*[raw_values(element)] * width)
        case Matrix(columns=columns):
            return st.tuples(*[raw_values(type.column)] * columns)
        case Array(element=element, count=int() as count):
            return st.tuples(*[raw_values(element)] * count)
        case Struct(members=members):
            return st.tuples(*(raw_values(member.type) for member in members))
        case _:
            raise TypeError(type)


_SCALAR_VALUES: dict[Scalar, st.SearchStrategy[RawValue]] = {
    BOOL: st.booleans(),
    I32: st.integers(-(2**31), 2**31 - 1),
    U32: st.integers(0, 2**32 - 1),
    F32: st.floats(width=32),
    F16: st.floats(width=16),
}

EVERYTHING = struct(
    "Everything",
    flag=BOOL,
    half=F16,
    halves=vector(3, F16),
    flags=vector(2, BOOL),
    turned=matrix(2, 3, F32),
    nested=array(struct("Inner", a=VEC3F, b=U32), 2),
    numbers=array(I32, 3),
    rows=array(VEC3F, 2),
)


@given(raw_values(EVERYTHING))
def test_what_is_written_is_read(value: RawValue) -> None:
    buffer = bytearray(size_of(EVERYTHING) + 16)
    write(EVERYTHING, buffer, 16, value)
    assert same_bits(read(EVERYTHING, buffer, 16), value)


def test_padding_is_not_written() -> None:
    buffer = bytearray(b"\xff" * 48)
    write(matrix(3, 3, F32), buffer, 0, ((1.0, 2.0, 3.0),) * 3)
    assert [buffer[i : i + 4] for i in (12, 28, 44)] == [b"\xff" * 4] * 3


# Numpy


@pytest.mark.parametrize(
    ("type", "itemsize", "shape"),
    [
        (U32, 4, ()),
        (VEC3F, 12, (3,)),
        (matrix(2, 2, F16), 8, (2, 2)),
        (matrix(3, 3, F32), 48, (3, 4)),
        (array(VEC3F, 5), 80, (5, 4)),
        (array(VEC3F, None), 16, (4,)),
        (atomic(I32), 4, ()),
        (EVERYTHING.members[5].type, 32, (2,)),
    ],
)
def test_dtypes(type: Type, itemsize: int, shape: tuple[int, ...]) -> None:
    dtype = numpy_dtype(type)
    assert (dtype.itemsize, np.zeros((), dtype).shape) == (itemsize, shape)


def test_structured_dtypes_have_exact_offsets() -> None:
    b = nested_b(padded_a(16), 16)
    dtype = numpy_dtype(b)
    assert dtype.fields is not None
    assert dtype.itemsize == 208
    assert tuple(dtype.fields[member.name][1] for member in b.members) == member_offsets(b)
    lights = struct("Lights", count=U32, points=array(VEC3F, None))
    assert numpy_dtype(lights, elements=3).itemsize == 64
    with pytest.raises(InputError, match="number of elements"):
        numpy_dtype(lights)


def test_padding_is_the_librarys_matter() -> None:
    rows = np.arange(12).reshape(4, 3)
    data = pack(array(VEC3F, None), rows)
    assert len(data) == 64
    assert np.array_equal(unpack(array(VEC3F, None), data), rows)
    matrices = np.arange(18.0).reshape(2, 3, 3)
    assert np.array_equal(
        unpack(array(matrix(3, 3, F32), None), pack(array(matrix(3, 3, F32), None), matrices)), matrices
    )
    assert read(VEC3F, pack(array(VEC3F, None), rows), 16) == (3.0, 4.0, 5.0)


def test_structures_from_mappings_tuples_and_arrays() -> None:
    a = padded_a(None)
    expected = pack(a, (1, 2, (3, 4), 5))
    assert pack(a, {"u": 1, "v": 2, "w": (3, 4), "x": 5}) == expected
    exact = np.zeros((), numpy_dtype(a))
    exact["u"], exact["v"], exact["w"], exact["x"] = 1, 2, (3, 4), 5
    assert pack(a, exact) == exact.tobytes() == expected
    assert unpack(a, expected)["w"].tolist() == [3, 4]
    many = pack(array(a, None), [(1, 2, (3, 4), 5), {"u": 6, "v": 7, "w": (8, 9), "x": 10}])
    assert unpack(array(a, None), many)["x"].tolist() == [5, 10]


def test_arrays_of_the_exact_dtype() -> None:
    type = array(nested_b(padded_a(16), 16), None)
    exact = np.zeros(2, numpy_dtype(type))
    exact["h"] = [1, 2]
    exact["b"] = [[1, 2, 3], [4, 5, 6]]
    exact["g"]["w"][1] = [[1, 2], [3, 4], [5, 6]]
    assert pack(type, exact) == exact.tobytes()
    value = unpack(type, exact.tobytes())
    assert value["g"]["w"][1, 2].tolist() == [5, 6]
    assert pack(type, value) == exact.tobytes()


def test_structures_that_end_in_a_runtime_sized_array() -> None:
    lights = struct("Lights", count=U32, points=array(VEC3F, None))
    data = pack(lights, {"count": 2, "points": [[1, 2, 3], [4, 5, 6]]})
    assert len(data) == 48
    value = unpack(lights, data)
    assert (int(value["count"]), value["points"].tolist()) == (2, [[1, 2, 3], [4, 5, 6]])


@pytest.mark.parametrize(
    ("type", "value", "message"),
    [
        (array(VEC3F, None), np.zeros((4, 2)), r"takes shape \(4, 3\) of float32, not shape \(4, 2\) of float64"),
        (array(U32, None), np.full(3, 0.5), r"the value\[0\]: 0.5 is not a whole number, which u32 takes"),
        (U32, -1, "-1 is out of range for u32, which holds 0 to 4294967295"),
        (array(F32, 4), np.zeros(3), r"takes shape \(4,\)"),
        (array(F32, None), 1.0, "array<f32> takes an array or a list, not 1.0"),
        (padded_a(None), 5, "A takes a mapping of its members' names to values"),
        (padded_a(None), {"u": 1}, "no value for the member 'v'"),
        (BOOL, True, "not host-shareable"),
    ],
)
def test_what_does_not_fit_is_explained(type: Type, value: float | Mapping[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        pack(type, value)


def test_a_short_buffer_is_refused() -> None:
    with pytest.raises(InputError, match="takes 16 bytes, not 12"):
        unpack(vector(4, F32), bytes(12))


@pytest.mark.parametrize(
    ("type", "value"),
    [
        (array(F32, None), np.arange(5, dtype=np.float32)),
        (array(F32, None), np.arange(6, dtype=np.float32).reshape(2, 3)),
        (array(F16, None), np.arange(6, dtype=np.float16)),
        (array(U32, 4), np.arange(4, dtype=np.uint32)),
        (array(Vector(4, F32), None), np.arange(8, dtype=np.float32).reshape(2, 4)),
        (array(matrix(4, 4, F32), None), np.arange(32, dtype=np.float32).reshape(2, 4, 4)),
        (Vector(2, I32), np.array([1, -2], np.int32)),
        (U32, np.uint32(7)),
        (struct("One", only=array(U32, None)), np.array([([1, 2],)], [("only", "u4", 2)])[0]),
    ],
)
def test_arrays_with_the_bytes_of_a_binding_are_lent(type: Type, value: object) -> None:
    lent = pack(type, value)
    assert isinstance(lent, memoryview)
    assert lent.readonly
    assert lent == np.asarray(value).tobytes()


@pytest.mark.parametrize(
    ("type", "value", "numbers"),
    [
        (array(F32, None), np.arange(3), [0, 1, 2]),
        (array(F32, None), np.arange(3, dtype=">f4"), [0, 1, 2]),
        (array(F32, None), np.arange(6, dtype=np.float32)[::2], [0, 2, 4]),
        (array(F32, None), np.zeros(0, np.float32), []),
        (array(F32, None), [1.0, 2.0], [1, 2]),
        (array(F16, 3), np.arange(3, dtype=np.float16), [0, 1, 2]),
        (array(VEC3F, None), np.arange(6, dtype=np.float32).reshape(2, 3), [[0, 1, 2], [3, 4, 5]]),
        (array(VEC3F, None), np.arange(8, dtype=np.float32).reshape(2, 4), [[0, 1, 2], [4, 5, 6]]),
        (array(VEC3F, None), np.arange(12, dtype=np.float32).reshape(4, 3), np.arange(12).reshape(4, 3).tolist()),
        (struct("Two", a=U32, b=F32), np.array((1, 2), [("a", "u4"), ("b", "f4")]), (1, 2)),
    ],
)
def test_what_has_other_bytes_is_packed(type: Type, value: object, numbers: object) -> None:
    packed = pack(type, value)
    assert isinstance(packed, bytearray)
    assert unpack(type, packed).tolist() == numbers
