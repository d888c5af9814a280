"""How many bytes a binding has, and how many elements a shader finds in it: as in WebGPU, and the same everywhere."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.backend.gpu import GpuDevice

TYPES = """
struct Open { head: vec4f, tail: array<f32> }
struct Point { at: vec3f, mass: f32 }
struct Cloud { n: u32, points: array<Point> }
"""
HALVES = "struct Halves { n: u32, tail: array<f16> }"
LENGTHS = {
    "array<f32>": "&x",
    "array<f16>": "&x",
    "array<vec2u>": "&x",
    "array<vec3f>": "&x",
    "array<array<f32, 3>>": "&x",
    "Open": "&x.tail",
    "Halves": "&x.tail",
    "Cloud": "&x.points",
}


@pytest.fixture(params=list(tinct.DEVICES))
def device(request: pytest.FixtureRequest) -> str:
    if request.param == "gpu" and (reason := GpuDevice.unavailable_reason()) is not None:
        pytest.skip(f"no GPU: {reason}")
    return str(request.param)


def load(type: str, body: str, space: str = "storage, read_write") -> tinct.Kernel:
    has_halves = "f16" in type or type == "Halves"
    declarations = f"enable f16; {TYPES} {HALVES}" if has_halves else TYPES
    return tinct.load(
        f"{declarations} @group(0) @binding(0) var<{space}> x: {type};"
        "@group(0) @binding(1) var<storage, read_write> length: u32;"
        f"@compute @workgroup_size(1) fn main() {{ {body} }}"
    )["main"]


def length(type: str, given: object, device: str) -> tuple[int, tinct.Kernel]:
    """What `arrayLength` gives."""
    kernel = load(type, f"length = arrayLength({LENGTHS[type]});")
    if device == "gpu" and "f16" in kernel.shader.program.enables and "shader-f16" not in features():
        pytest.skip("the GPU has no f16")
    out = kernel.run({"x": given, "length": 0}, workgroups=1, device=device)  # type: ignore[dict-item]
    return int(out["length"]), kernel


def features() -> frozenset[str]:
    adapter = GpuDevice.available()
    return frozenset() if adapter is None else adapter.features


@pytest.mark.parametrize(
    ("type", "size", "elements"),
    [
        ("array<f32>", 4, 1),
        ("array<f32>", 12, 3),
        ("array<f16>", 4, 2),
        ("array<f16>", 12, 6),
        ("array<vec2u>", 20, 2),  # the third is cut short
        ("array<vec3f>", 28, 1),
        ("array<vec3f>", 32, 2),
        ("array<array<f32, 3>>", 20, 1),
        ("Open", 32, 4),
        ("Open", 36, 5),
        ("Halves", 8, 2),
        ("Cloud", 44, 1),
    ],
)
def test_as_many_elements_as_fit_the_bytes(type: str, size: int, elements: int, device: str) -> None:
    assert length(type, bytes(size), device)[0] == elements


@pytest.mark.parametrize(
    ("type", "size", "message"),
    [
        ("array<f32>", 0, "x: array<f32> needs at least 4 bytes, but 0 are given"),
        ("array<f32>", 3, "x: array<f32> needs at least 4 bytes, but 3 are given"),
        ("array<f32>", 5, "x: 5 bytes are given, but a binding's size is a multiple of 4"),
        ("array<f16>", 2, "x: array<f16> needs at least 4 bytes, but 2 are given"),
        ("array<f16>", 6, "x: 6 bytes are given, but a binding's size is a multiple of 4"),
        ("array<vec2u>", 4, "x: array<vec2<u32>> needs at least 8 bytes, but 4 are given"),
        ("array<vec3f>", 12, "x: array<vec3<f32>> needs at least 16 bytes, but 12 are given"),
        ("Open", 28, "x: Open needs at least 32 bytes, but 28 are given"),
        ("Open", 33, "x: 33 bytes are given, but a binding's size is a multiple of 4"),
        ("Cloud", 28, "x: Cloud needs at least 32 bytes, but 28 are given"),
    ],
)
def test_bytes_that_do_not_fit(type: str, size: int, message: str, device: str) -> None:
    with pytest.raises(tinct.InputError, match=message):
        length(type, bytes(size), device)


@pytest.mark.parametrize(
    ("type", "value", "elements"),
    [
        ("array<f16>", [1, 2], 2),
        ("array<vec3f>", np.zeros((2, 3)), 2),
        ("array<vec3f>", np.zeros((2, 4), np.float32), 2),
        ("Open", {"head": [1, 2, 3, 4], "tail": [1, 2, 3, 4]}, 4),
        ("Open", {"head": [1, 2, 3, 4], "tail": [1, 2, 3, 4, 5]}, 5),
        ("Halves", {"n": 1, "tail": [1, 2, 3, 4]}, 4),
        ("Cloud", {"n": 1, "points": [{"at": [1, 2, 3], "mass": 4}] * 3}, 3),
    ],
)
def test_a_shader_finds_as_many_elements_as_are_given(type: str, value: object, elements: int, device: str) -> None:
    assert length(type, value, device)[0] == elements


@pytest.mark.parametrize(
    ("type", "value", "message"),
    [
        (
            "array<f16>",
            [1, 2, 3],
            "x: a binding of array<f16> for 3 elements has 8 bytes, in which a shader finds 4: give 4",
        ),
        ("array<f16>", np.zeros(5, np.float16), "for 5 elements has 12 bytes, in which a shader finds 6"),
        ("Halves", {"n": 1, "tail": [1, 2, 3]}, "x: a binding of Halves for 3 elements has 12 bytes"),
        (
            "Open",
            {"head": [0] * 4, "tail": [1]},
            "x: a binding of Open for 1 element has 32 bytes, in which a shader finds 4",
        ),
        ("Open", {"head": [0] * 4, "tail": []}, "x: Open needs at least 32 bytes, but 16 are given"),
        ("array<f32>", [], "x: array<f32> needs at least 4 bytes, but 0 are given"),
        ("array<vec3f>", np.zeros((0, 3)), "x: array<vec3<f32>> needs at least 16 bytes, but 0 are given"),
        ("Cloud", {"n": 1, "points": []}, "x: Cloud needs at least 32 bytes, but 16 are given"),
    ],
)
def test_elements_that_no_binding_can_tell(type: str, value: object, message: str, device: str) -> None:
    with pytest.raises(tinct.InputError, match=message):
        length(type, value, device)


@pytest.mark.parametrize("space", ["storage, read_write", "storage, read", "uniform"])
@pytest.mark.parametrize(
    ("type", "least", "read"), [("f32", 4, "x"), ("vec3u", 12, "f32(x.z)"), ("Point", 16, "x.mass")]
)
def test_bytes_of_a_fixed_type_may_be_more(type: str, least: int, read: str, space: str, device: str) -> None:
    kernel = load(type, f"length = 1; _ = {read};", space)
    for size in (least, least + 4, least + 64):
        assert kernel.run({"x": bytes(size), "length": 0}, workgroups=1, device=device)["length"] == 1
    for size in (least - 4, least - 1, 0):
        with pytest.raises(tinct.InputError, match=f"x: .* needs at least {least} bytes, but {size} are given"):
            kernel.run({"x": bytes(size), "length": 0}, workgroups=1, device=device)
    with pytest.raises(
        tinct.InputError, match=f"x: {least + 1} bytes are given, but a binding's size is a multiple of 4"
    ):
        kernel.run({"x": bytes(least + 1), "length": 0}, workgroups=1, device=device)


def test_half_words_are_padded(device: str) -> None:
    """A single f16, or three of them, take whole words, which no shader notices."""
    if device == "gpu" and "shader-f16" not in features():
        pytest.skip("the GPU has no f16")
    for type, value in (("f16", 1.5), ("array<f16, 3>", [1, 2, 3])):
        kernel = load(type, "length = 1; _ = &x;")
        out = kernel.run({"x": value, "length": 0}, workgroups=1, device=device)  # type: ignore[dict-item]
        np.testing.assert_array_equal(out["x"], np.float16(value))
        assert kernel.bindings[0].minimum_size in (4, 8)


def test_exact_layouts_have_as_many_elements_as_their_type_says() -> None:
    info = load("Open", "_ = &x;").shader.bindings["x"]
    assert [info.dtype_with(count).itemsize for count in (1, 4, 5, 6)] == [32, 32, 36, 40]
    kernel = load("Open", "length = arrayLength(&x.tail);")
    exact = np.zeros((), info.dtype_with(5))
    exact["tail"] = range(5)
    out = kernel.run({"x": exact, "length": 0}, workgroups=1)
    assert (out["length"], out["x"].dtype) == (5, exact.dtype)
    np.testing.assert_array_equal(out["x"]["tail"], range(5))
    with pytest.raises(tinct.InputError, match="for 1 element has 32 bytes, in which a shader finds 4"):
        kernel.run({"x": np.zeros((), info.dtype_with(1)), "length": 0}, workgroups=1)


@pytest.mark.parametrize("count", [-1, 2.5, "3", None, 1 << 31, 1 << 70])
def test_a_dtype_of_an_impossible_number_of_elements(count: int) -> None:
    bindings = tinct.load(
        f"{TYPES} @group(0) @binding(0) var<storage> x: Open; @group(0) @binding(1) var<storage> y: array<f32>;"
    ).bindings
    for name in ("x", "y"):
        with pytest.raises(tinct.InputError):
            bindings[name].dtype_with(count)


def test_types_that_numpy_has_not() -> None:
    """numpy's types have less than 2 GiB; a shader's may have more."""
    wgsl = """
    struct Large { all: array<f32, 1000000000> }
    @group(0) @binding(0) var<storage, read_write> a: array<f32, 1000000000>;
    @group(0) @binding(1) var<storage, read_write> b: Large;
    @compute @workgroup_size(1) fn main() { _ = &a; }
    @compute @workgroup_size(1) fn other() { _ = &b; }
    """
    shader = tinct.load(wgsl)
    assert [info.dtype for info in shader.bindings.values()] == [None, None]
    assert shader.structs["Large"].dtype is None
    with pytest.raises(tinct.InputError, match=r"a: array<f32, 1000000000> takes shape \(1000000000,\)"):
        shader["main"].run({"a": [1.0]}, workgroups=1)
    with pytest.raises(tinct.InputError, match="b: 4000000000 bytes are too many for a binding of Large"):
        shader["other"].run({"b": {"all": [1.0]}}, workgroups=1)


def test_a_binding_of_4_gib_is_too_large() -> None:
    kernel = load("array<f32>", "length = arrayLength(&x);")
    with pytest.raises(tinct.InputError, match="x: 4294967296 bytes are too many for a binding"):
        kernel.run({"x": np.broadcast_to(np.float32(0), (1 << 30,)), "length": 0}, workgroups=1)
