"""Entry points, bindings, overrides and memory layouts."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.reflection import StructInfo

from .shaders import POINTS, SAXPY


def layout_of(declarations: str, space: str = "storage", struct: str = "B") -> StructInfo:
    access = ", read" if space == "storage" else ""
    wgsl = f"{declarations} @group(0) @binding(0) var<{space}{access}> b: {struct};"
    return tinct.load(wgsl + " @compute @workgroup_size(1) fn main() { _ = &b; }").structs[struct]


def offsets(info: StructInfo) -> list[int]:
    return [member.offset for member in info.members]


# The structures are those of the examples in WGSL, "Structure Member Layout".
INNER = "struct A { u: f32, v: f32, w: vec2<f32>, x: f32 }"
OUTER = "struct B { a: vec2<f32>, b: vec3<f32>, c: f32, d: f32, e: A, f: vec3<f32>, g: array<A, 3>, h: i32 }"
ATTRIBUTED_INNER = "struct A { u: f32, v: f32, w: vec2<f32>, @size(16) x: f32 }"
ATTRIBUTED_OUTER = (
    "struct B { a: vec2<f32>, @align(16) b: vec3<f32>, c: f32, d: f32, @align(16) e: A, f: vec3<f32>, "
    "@align(16) g: array<A, 3>, h: i32 }"
)


def test_the_specifications_example_of_implicit_padding() -> None:
    inner, outer = layout_of(INNER, struct="A"), layout_of(INNER + OUTER)
    assert (inner.align, inner.size, offsets(inner)) == (8, 24, [0, 4, 8, 16])
    assert (outer.align, outer.size, offsets(outer)) == (16, 160, [0, 16, 28, 32, 40, 64, 80, 152])


def test_the_specifications_example_of_explicit_padding() -> None:
    outer = layout_of(ATTRIBUTED_INNER + ATTRIBUTED_OUTER, "uniform")
    inner = layout_of(ATTRIBUTED_INNER, "uniform", "A")
    assert (inner.align, inner.size, offsets(inner)) == (8, 32, [0, 4, 8, 16])
    assert inner.members[3].size == 16
    assert (outer.align, outer.size, offsets(outer)) == (16, 208, [0, 16, 28, 32, 48, 80, 96, 192])


def test_dtypes_of_nested_structures_have_the_layout() -> None:
    outer = layout_of(INNER + OUTER)
    assert outer.dtype.itemsize == outer.size
    assert [outer.dtype.fields[member.name][1] for member in outer.members] == offsets(outer)
    g = outer.dtype["g"]
    assert g.shape == (3,)
    assert g.base.itemsize == 24
    assert [g.base.fields[name][1] for name in "uvwx"] == [0, 4, 8, 16]


@pytest.mark.parametrize(
    ("type", "size", "align", "dtype"),
    [
        ("u32", 4, 4, "<u4"),
        ("atomic<i32>", 4, 4, "<i4"),
        ("vec3<f32>", 12, 16, ("<f4", (3,))),
        ("vec4<f16>", 8, 8, ("<f2", (4,))),
        ("mat3x3<f32>", 48, 16, ("<f4", (3, 4))),
        ("mat2x3<f16>", 16, 8, ("<f2", (2, 4))),
        ("array<vec3<u32>, 5>", 80, 16, ("<u4", (5, 4))),
        ("array<vec2<u32>, 5>", 40, 8, ("<u4", (5, 2))),
    ],
)
def test_types(type: str, size: int, align: int, dtype: object) -> None:
    wgsl = f"enable f16; @group(0) @binding(0) var<storage, read_write> b: {type};"
    info = tinct.load(wgsl).bindings["b"]
    assert (info.size, info.minimum_size, info.align) == (size, size, align)
    assert np.zeros((), info.dtype).nbytes == size
    expected = np.dtype(dtype)  # type: ignore[call-overload]
    assert (info.dtype.base.base, np.zeros((), info.dtype).shape) == (expected.base, expected.shape)


def test_runtime_sized_arrays() -> None:
    shader = tinct.load(POINTS)
    cloud, normals = shader.bindings["cloud"], shader.bindings["normals"]
    assert (cloud.size, cloud.minimum_size, cloud.stride) == (None, 64, 32)
    assert (normals.size, normals.minimum_size, normals.stride) == (None, 16, 16)
    assert cloud.dtype_with(3).itemsize == 32 + 3 * 32
    assert shader.structs["Cloud"].ends_open
    assert shader.structs["Cloud"].members[-1].size is None


def test_entry_points_and_overrides() -> None:
    shader = tinct.load(SAXPY)
    (entry,) = shader.entry_points.values()
    assert (entry.name, entry.stage, entry.workgroup_size) == ("main", "compute", ("width",))
    assert (set(entry.bindings), entry.overrides) == ({"params", "x", "y"}, ("width",))
    (override,) = shader.overrides.values()
    assert (override.name, override.id, override.type, override.required) == ("width", None, "u32", False)
    assert [(info.space, info.access) for info in shader.bindings.values()] == [
        ("uniform", "read"),
        ("storage", "read"),
        ("storage", "read_write"),
    ]
