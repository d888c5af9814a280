"""Loads, stores and queries of all kinds of textures."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tinct.base.errors import InputError
from tinct.ir.source import Source
from tinct.shader import Shader

from .support import assert_agree

Array = npt.NDArray[Any]


def ramp(*shape: int, dtype: Any = np.float32) -> Array:
    return np.arange(np.prod(shape), dtype=dtype).reshape(shape)


def levels(*shapes: tuple[int, ...]) -> list[Array]:
    return [ramp(*shape) + 1000 * number for number, shape in enumerate(shapes)]


GRID = """
    @group(0) @binding(1) var<storage, read_write> out: array<vec4f>;
    fn put(i: u32, v: vec4f) { out[i] = v; }
"""


def loads(texture: str, call: str) -> str:
    """A kernel of 4 x 4 x 4 invocations, most of them outside of a small texture."""
    return f"""
        @group(0) @binding(0) var t: {texture};
        {GRID}
        @compute @workgroup_size(4, 4, 4)
        fn main(@builtin(local_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32) {{
            let at = vec3i(id) - 1;
            put(i, vec4f({call}));
        }}"""


IMAGE = ramp(3, 2, 4)
LOADS = {
    "1d": ("texture_1d<f32>", "textureLoad(t, at.x, at.y)", ramp(3, 4)),
    "2d": ("texture_2d<f32>", "textureLoad(t, at.xy, 0)", IMAGE),
    "2d, unsigned": ("texture_2d<f32>", "textureLoad(t, vec2u(at.xy), at.z)", IMAGE),
    "2d, u32": ("texture_2d<u32>", "textureLoad(t, vec2u(at.xy), 0)", IMAGE.astype(np.uint32)),
    "2d, i32": ("texture_2d<i32>", "textureLoad(t, vec2u(at.xy), 0)", -IMAGE.astype(np.int16)),
    "levels": ("texture_2d<f32>", "textureLoad(t, at.xy, at.z)", levels((4, 5, 4), (2, 2, 4), (1, 1, 4))),
    "array": ("texture_2d_array<f32>", "textureLoad(t, at.xy, at.z, 0)", ramp(2, 3, 2, 4)),
    "array, levels": (
        "texture_2d_array<f32>",
        "textureLoad(t, at.xy, at.z, at.x)",
        levels((2, 3, 2, 4), (2, 1, 1, 4)),
    ),
    "3d": ("texture_3d<f32>", "textureLoad(t, at, 0)", ramp(2, 3, 3, 4)),
    "3d, levels": ("texture_3d<f32>", "textureLoad(t, at, at.x)", levels((4, 3, 2, 4), (2, 1, 1, 4))),
    "multisampled": ("texture_multisampled_2d<f32>", "textureLoad(t, at.xy, at.z)", ramp(3, 2, 4, 4)),
    "depth": ("texture_depth_2d", "textureLoad(t, at.xy, 0)", ramp(3, 2)),
    "depth array": ("texture_depth_2d_array", "textureLoad(t, at.xy, at.z, 0)", ramp(2, 3, 2)),
    "depth samples": ("texture_depth_multisampled_2d", "textureLoad(t, at.xy, at.z)", ramp(3, 2, 4)),
    "storage 1d": ("texture_storage_1d<rgba32float, read>", "textureLoad(t, at.x)", ramp(3, 4)),
    "storage array": ("texture_storage_2d_array<rg32float, read>", "textureLoad(t, at.xy, at.z)", ramp(2, 3, 2, 2)),
    "storage 3d": ("texture_storage_3d<r32float, read>", "textureLoad(t, vec3u(at))", ramp(2, 3, 2)),
}


@pytest.mark.parametrize("name", LOADS)
def test_loads_are_of_the_nearest_texel(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texture, call, given = LOADS[name]
    found = assert_agree(loads(texture, call), {"t": given, "out": np.zeros((64, 4), np.float32)}, 1, monkeypatch)
    array = given[0] if isinstance(given, list) else given
    first = np.ravel(array)[0]
    assert found["out"][21][0] == first, "invocation (1, 1, 1) is at 0"
    assert np.ptp(found["out"][:, 0]) > 0


def test_negative_coordinates_are_past_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    wgsl = loads("texture_2d<f32>", "textureLoad(t, at.xy, 0)")
    out = assert_agree(wgsl, {"t": IMAGE, "out": np.zeros((64, 4), np.float32)}, 1, monkeypatch)["out"]
    np.testing.assert_array_equal(out[0], IMAGE[2, 1])  # (-1, -1)
    np.testing.assert_array_equal(out[1], IMAGE[2, 0])  # (0, -1)
    np.testing.assert_array_equal(out[15], IMAGE[2, 1])  # (2, 2), where there are two columns


def test_levels_have_their_own_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    given = LOADS["levels"][2]
    wgsl = loads("texture_2d<f32>", "textureLoad(t, at.xy, at.z)")
    out = assert_agree(wgsl, {"t": given, "out": np.zeros((64, 4), np.float32)}, 1, monkeypatch)["out"]
    grid = out.reshape(4, 4, 4, 4)
    np.testing.assert_array_equal(grid[1, 1:, 1:], given[0][:3, :3])
    np.testing.assert_array_equal(grid[2, 1:3, 1:3], given[1])
    np.testing.assert_array_equal(grid[3, 1, 1], given[2][0, 0])
    np.testing.assert_array_equal(grid[0, 1, 1], given[2][0, 0])  # level -1 is the last


DIMENSIONS = {
    "1d": ("texture_1d<f32>", "u32", ramp(7, 4), (7, 0, 0)),
    "2d": ("texture_2d<f32>", "vec2u", ramp(3, 5, 4), (5, 3, 0)),
    "cube": ("texture_cube<f32>", "vec2u", ramp(6, 3, 3, 4), (3, 3, 0)),
    "3d": ("texture_3d<f32>", "vec3u", ramp(2, 3, 5, 4), (5, 3, 2)),
    "depth": ("texture_depth_2d", "vec2u", ramp(3, 5), (5, 3, 0)),
    "samples": ("texture_multisampled_2d<f32>", "vec2u", ramp(3, 5, 4, 1), (5, 3, 0)),
    "storage 1d": ("texture_storage_1d<r32uint, read_write>", "u32", ramp(7, dtype=np.uint32), (7, 0, 0)),
    "storage": ("texture_storage_2d<rgba8unorm, write>", "vec2u", ramp(3, 5, 4, dtype=np.uint8), (5, 3, 0)),
    "storage array": ("texture_storage_2d_array<r32uint, read>", "vec2u", ramp(2, 3, 5, dtype=np.uint32), (5, 3, 0)),
    "storage 3d": ("texture_storage_3d<r32sint, write>", "vec3u", ramp(2, 3, 5, dtype=np.int32), (5, 3, 2)),
}


@pytest.mark.parametrize("name", DIMENSIONS)
def test_dimensions(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texture, type, given, expected = DIMENSIONS[name]
    parts = {"u32": "d, 0, 0", "vec2u": "d, 0", "vec3u": "d"}[type]
    wgsl = f"""
        @group(0) @binding(0) var t: {texture};
        @group(0) @binding(1) var<storage, read_write> out: vec3u;
        @compute @workgroup_size(1) fn main() {{ let d = textureDimensions(t); out = vec3u({parts}); }}"""
    found = assert_agree(wgsl, {"t": given, "out": np.zeros(3, np.uint32)}, 1, monkeypatch)
    assert tuple(found["out"]) == expected


def test_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    wgsl = """
        @group(0) @binding(0) var mips: texture_2d<f32>;
        @group(0) @binding(1) var layers: texture_2d_array<i32>;
        @group(0) @binding(2) var cubes: texture_cube_array<f32>;
        @group(0) @binding(3) var samples: texture_multisampled_2d<u32>;
        @group(0) @binding(4) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main() {
            out[0] = textureNumLevels(mips);
            out[1] = textureNumLayers(layers);
            out[2] = textureNumLayers(cubes);
            out[3] = textureNumSamples(samples);
            out[4] = textureDimensions(mips, out[5]).x;
            out[6] = textureDimensions(mips, 7).y;
        }"""
    buffers = {
        "mips": levels((4, 8, 4), (2, 4, 4), (1, 2, 4), (1, 1, 4)),
        "layers": ramp(3, 1, 1, 4, dtype=np.int32),
        "cubes": ramp(12, 2, 2, 4),
        "samples": ramp(2, 2, 4, 4, dtype=np.uint32),
        "out": np.array([0, 0, 0, 0, 0, 2, 0], np.uint32),
    }
    found = assert_agree(wgsl, buffers, 1, monkeypatch)
    assert found["out"].tolist() == [4, 3, 2, 4, 2, 2, 1]


def test_stores_outside_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    wgsl = """
        @group(0) @binding(0) var t: texture_storage_2d_array<r32uint, write>;
        @compute @workgroup_size(4, 4, 4) fn main(@builtin(local_invocation_id) id: vec3u) {
            textureStore(t, vec2i(id.xy) - 1, i32(id.z) - 1, vec4u(1 + id.x + 10 * id.y + 100 * id.z));
        }"""
    found = assert_agree(wgsl, {"t": np.zeros((2, 1, 2), np.uint32)}, 1, monkeypatch)["t"]
    assert found.tolist() == [[[112, 113]], [[212, 213]]]


def test_divergent_stores_in_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    wgsl = """
        @group(0) @binding(0) var t: texture_storage_2d<rgba16float, write>;
        fn spread(id: vec3u, n: u32) {
            for (var y = 0u; y < n; y++) {
                if (id.x + y) % 3 == 0 { continue; }
                if y > id.x { return; }
                textureStore(t, vec2u(id.x, y), vec4f(f32(id.x), f32(y), 0.5, 65520));
            }
        }
        @compute @workgroup_size(9) fn main(@builtin(local_invocation_id) id: vec3u) { spread(id, id.x); }"""
    found = assert_agree(wgsl, {"t": np.full((9, 9, 4), 7, np.float16)}, 1, monkeypatch)["t"]
    assert found[2, 6].tolist() == [6, 2, 0.5, np.inf]
    assert found[3, 6].tolist() == [7, 7, 7, 7]


def test_read_write_across_a_barrier(monkeypatch: pytest.MonkeyPatch) -> None:
    wgsl = """
        @group(0) @binding(0) var t: texture_storage_1d<r32uint, read_write>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        fn double(u: texture_storage_1d<r32uint, read_write>, i: u32) {
            textureStore(u, i, 2 * textureLoad(u, i));
        }
        @compute @workgroup_size(20) fn main(@builtin(local_invocation_index) i: u32) {
            double(t, i);
            textureBarrier();
            out[i] = textureLoad(t, 19 - i).x + textureDimensions(t);
            textureBarrier();
            if i < 10 { double(t, i * 2); }
        }"""
    given = {"t": ramp(20, dtype=np.uint32), "out": np.zeros(20, np.uint32)}
    found = assert_agree(wgsl, given, 1, monkeypatch)
    assert found["out"].tolist() == [2 * (19 - i) + 20 for i in range(20)]
    assert found["t"].tolist() == [(2 if i % 2 else 4) * i for i in range(20)]


# What a program gives


def kernel(texture: str, body: str = "_ = t;") -> Any:
    wgsl = f"@group(0) @binding(0) var t: {texture}; @compute @workgroup_size(1) fn main() {{ {body} }}"
    return Shader(Source.from_text(wgsl)).kernel()


@pytest.mark.parametrize(
    ("texture", "given", "message"),
    [
        ("texture_2d<f32>", ramp(2, 2, 3), "takes 1, 2 or 4 channels, not 3"),
        ("texture_2d<f32>", ramp(2, 2, 4, dtype=np.int64), "floats or normalised integers of 8 or 16 bits, not int64"),
        ("texture_2d<u32>", ramp(2, 2, 4), "takes integers, not float32"),
        ("texture_2d<u32>", -ramp(2, 2, 4, dtype=np.int32), "-1 is out of range for uint32"),
        ("texture_2d<f32>", ramp(2), r"shape \(height, width, 4\), not \(2,\)"),
        ("texture_2d<f32>", np.zeros((0, 2, 4), np.float32), "at least one texel"),
        ("texture_2d<f32>", [ramp(2, 2, 4), ramp(2, 1, 4)], "mip level 1 .* must have 1 x 1 x 1 texels"),
        ("texture_2d<f32>", [ramp(1, 1, 4)] * 2, "at most 1 mip levels"),
        ("texture_1d<f32>", [ramp(2, 4), ramp(1, 4)], "one mip level, not 2"),
        ("texture_2d<f32>", b"1234", "since bytes do not tell its size"),
        ("texture_cube<f32>", ramp(5, 2, 2, 4), "six square faces"),
        ("texture_depth_2d", ramp(2, 2, 2), "one channel, not 2"),
        ("texture_storage_2d<rgba8unorm, write>", ramp(2, 2, 4), "takes uint8, not float32"),
        ("texture_storage_2d<rgba8unorm, write>", ramp(2, 2, 2, dtype=np.uint8), r"\(height, width, 4\)"),
        ("texture_storage_2d<rgb10a2unorm, write>", ramp(2, 2, 4, dtype=np.uint32), r"\(height, width\)"),
    ],
)
def test_what_does_not_fit(texture: str, given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        kernel(texture).run({"t": given}, workgroups=1)


@pytest.mark.parametrize(
    ("dtype", "scale"), [(np.uint8, 255), (np.int8, 127), (np.uint16, 65535), (np.int16, 32767), (np.float16, 1)]
)
def test_the_array_chooses_the_format(dtype: Any, scale: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given = np.array([[100, 101]], dtype)
    wgsl = loads("texture_2d<f32>", "textureLoad(t, id.xy, 0)")
    out = assert_agree(wgsl, {"t": given, "out": np.zeros((64, 4), np.float32)}, 1, monkeypatch)["out"]
    np.testing.assert_array_equal(out[1], np.array([np.float32(101) / np.float32(scale), 0, 0, 1], np.float32))


def test_reflection() -> None:
    (info,) = kernel("texture_storage_2d<rg16float, write>").bindings
    assert (info.is_written, info.access, info.dtype) == (True, "write", np.dtype(np.float16))
    (info,) = kernel("texture_2d<i32>").bindings
    assert (info.is_written, info.access, info.dtype) == (False, "read", np.dtype(np.int32))
