"""Layouts, pipelines and bind groups for wgpu-py."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import tinct
from tinct.backend.gpu import GpuDevice

SHADER = tinct.load("""
struct Point { position: vec3f, mass: f32 }
struct Params { scale: f32, offset: vec2u }
override factor: u32 = 1;
@group(1) @binding(2) var<storage, read> points: array<Point>;
@group(1) @binding(0) var<storage, read_write> out: array<f32>;
@group(3) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var picture: texture_2d<f32>;
@group(0) @binding(3) var written: texture_storage_2d<rgba8unorm, write>;
@group(2) @binding(0) var nearest: sampler;
@group(2) @binding(1) var depths: texture_depth_2d_array;
@compute @workgroup_size(4, 2) fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.y == 0 && id.x < arrayLength(&out) { out[id.x] = points[id.x].mass * params.scale * f32(factor); }
}
@compute @workgroup_size(1) fn draw() { textureStore(written, vec2u(), textureLoad(picture, vec2u(1, 0), 0)); }
@compute @workgroup_size(1) fn deep() { out[0] = textureLoad(depths, vec2u(), 0, 0); }
""")
POINTS = [{"position": [1, 2, 3], "mass": it} for it in range(5)]


def test_layouts_have_the_names_of_wgpu() -> None:
    assert SHADER["main"].bind_group_layouts() == {
        0: [],
        1: [
            {
                "binding": 0,
                "visibility": 4,
                "buffer": {"type": "storage", "has_dynamic_offset": False, "min_binding_size": 4},
            },
            {
                "binding": 2,
                "visibility": 4,
                "buffer": {"type": "read-only-storage", "has_dynamic_offset": False, "min_binding_size": 16},
            },
        ],
        2: [],
        3: [
            {
                "binding": 0,
                "visibility": 4,
                "buffer": {"type": "uniform", "has_dynamic_offset": False, "min_binding_size": 16},
            }
        ],
    }
    sampled = {"sample_type": "unfilterable-float", "view_dimension": "2d", "multisampled": False}
    stored = {"access": "write-only", "format": "rgba8unorm", "view_dimension": "2d"}
    assert SHADER["draw"].bind_group_layouts()[0] == [
        {"binding": 1, "visibility": 4, "texture": sampled},
        {"binding": 3, "visibility": 4, "storage_texture": stored},
    ]
    by_name = SHADER["draw"].layout_entries()
    assert by_name["picture"] == {"binding": 1, "visibility": 4, "texture": sampled}
    assert list(by_name) == ["picture", "written"]
    deep = {"sample_type": "depth", "view_dimension": "2d-array", "multisampled": False}
    assert SHADER["deep"].bind_group_layouts()[2] == [{"binding": 1, "visibility": 4, "texture": deep}]


def test_layouts_that_entry_points_share() -> None:
    shared = SHADER.bind_group_layouts()
    for kernel in (SHADER[name] for name in SHADER):
        for group, entries in kernel.bind_group_layouts().items():
            assert all(it in shared[group] for it in entries)
    assert sum(map(len, shared.values())) == len({it.point for name in SHADER for it in SHADER[name].bindings})
    two = tinct.load("""
@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@group(0) @binding(0) var<storage, read_write> b: array<f32>;
@compute @workgroup_size(1) fn first() { a[0] = 1; }
@compute @workgroup_size(1) fn second() { b[0] = 1; }
""")
    with pytest.raises(tinct.InputError, match=r"different variables at @group\(0\) @binding\(0\): 'a' and 'b'"):
        two.bind_group_layouts()


def test_sizes_of_dispatches() -> None:
    assert SHADER["main"].dispatch_size(threads=(9, 3)) == (3, 2, 1)
    with pytest.raises(tinct.InputError):
        SHADER["main"].dispatch_size()


@pytest.fixture(scope="module")
def device() -> Any:
    """A device of wgpu-py, in this process."""
    reason = GpuDevice.unavailable_reason()
    if reason is not None:
        pytest.skip(f"no GPU: {reason}")
    wgpu: Any = importlib.import_module("wgpu")
    return wgpu.gpu.request_adapter_sync().request_device_sync()


def dispatch(device: Any, kernel: tinct.Kernel, groups: dict[int, Any], **options: Any) -> None:
    """What a program with wgpu-py does."""
    encoder = device.create_command_encoder()
    compute_pass = encoder.begin_compute_pass()
    compute_pass.set_pipeline(kernel.pipeline(device, **options))
    for number, group in groups.items():
        compute_pass.set_bind_group(number, group)
    compute_pass.dispatch_workgroups(*kernel.dispatch_size(threads=8))
    compute_pass.end()
    device.queue.submit([encoder.finish()])


def test_buffers_and_values(device: Any) -> None:
    kernel = SHADER["main"]
    out = device.create_buffer(size=512, usage=128 | 4)
    given = {
        "points": POINTS,
        "out": {"buffer": out, "offset": 256, "size": 16},
        (3, 0): {"scale": 2, "offset": [0, 0]},
    }
    groups = kernel.bind(device, given)
    assert list(groups) == [0, 1, 2, 3]
    dispatch(device, kernel, groups, constants={"factor": 3})
    found = np.frombuffer(device.queue.read_buffer(out), np.float32)
    assert found[64:68].tolist() == [0, 6, 12, 18]
    assert not found[:64].any()
    dispatch(device, kernel, kernel.bind(device, {**given, "out": out}))
    assert np.frombuffer(device.queue.read_buffer(out), np.float32)[:5].tolist() == [0, 2, 4, 6, 8]


def test_uniform_views_are_whole_rows(device: Any) -> None:
    kernel = tinct.load("""
        requires buffer_view;
        @group(0) @binding(0) var<uniform> u: buffer<20>;
        @group(0) @binding(1) var<storage, read_write> out: u32;
        @compute @workgroup_size(8) fn main() { out = *bufferView<u32>(&u, 16) + bufferLength(&u); }""")["main"]
    out, short = (device.create_buffer(size=size, usage=usage) for size, usage in ((4, 128 | 4), (20, 64)))
    dispatch(device, kernel, kernel.bind(device, {"u": np.arange(5, dtype=np.uint32), "out": out}))
    assert np.frombuffer(device.queue.read_buffer(out), np.uint32).tolist() == [24]
    with pytest.raises(tinct.InputError, match="needs at least 32 bytes; the buffer has 20"):
        kernel.bind(device, {"u": short, "out": out})


def test_uniforms_in_the_layout_of_storage(device: Any) -> None:
    kernel = tinct.load("""
        @group(0) @binding(0) var<uniform> u: array<f32, 3>;
        @group(0) @binding(1) var<uniform> m: mat2x2f;
        @group(0) @binding(2) var<storage, read_write> out: f32;
        @compute @workgroup_size(8) fn main() { let all = m; out = u[2] + all[1].y; }""")["main"]
    assert [it["buffer"]["type"] for it in kernel.bind_group_layouts()[0]] == [
        "read-only-storage",
        "uniform",
        "storage",
    ]
    out = device.create_buffer(size=4, usage=128 | 4)
    dispatch(device, kernel, kernel.bind(device, {"u": [1, 2, 3], "m": [[1, 2], [3, 4]], "out": out}))
    assert np.frombuffer(device.queue.read_buffer(out), np.float32).tolist() == [7]


def test_textures(device: Any) -> None:
    kernel = SHADER["draw"]
    picture = device.create_texture(size=(2, 1), format="rgba8unorm", usage=4 | 2)
    texels = np.arange(8, dtype=np.uint8)
    device.queue.write_texture({"texture": picture}, texels, {"bytes_per_row": 8}, (2, 1))
    written = device.create_texture(size=(1, 1), format="rgba8unorm", usage=8 | 1)
    dispatch(device, kernel, kernel.bind(device, {"picture": picture, "written": written.create_view()}))
    found = device.queue.read_texture({"texture": written}, {"bytes_per_row": 4}, (1, 1))
    assert bytes(found) == bytes([4, 5, 6, 7])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"points": None}, "points: array<Point> takes"),
        ({"pionts": 1}, "the entry point uses no buffer named 'pionts'"),
        ({"params": {"scale": 1}}, "params: there is no value for the member 'offset'"),
    ],
)
def test_values_that_do_not_fit(device: Any, change: dict[str, Any], message: str) -> None:
    given = {"points": POINTS, "out": np.zeros(5, np.float32), "params": {"scale": 2, "offset": [0, 0]}}
    with pytest.raises(tinct.InputError) as caught:
        SHADER["main"].bind(device, {**given, **change})
    assert message in str(caught.value)


def test_small_buffers_and_numbers_for_textures(device: Any) -> None:
    small = device.create_buffer(size=8, usage=64)
    given = {"points": POINTS, "out": np.zeros(5, np.float32), "params": small}
    with pytest.raises(tinct.InputError, match="params: Params needs at least 16 bytes; the buffer has 8"):
        SHADER["main"].bind(device, given)
    with pytest.raises(tinct.InputError, match="picture: texture_2d<f32> takes a texture, a view or a sampler"):
        SHADER["draw"].bind(device, {"picture": np.zeros((1, 1, 4)), "written": small})


def test_a_sampler_is_made_on_the_device(device: Any) -> None:
    kernel = tinct.load("""
        @group(0) @binding(0) var s: sampler;
        @group(0) @binding(1) var c: sampler_comparison;
        @compute @workgroup_size(1) fn main() { _ = s; _ = c; }""")["main"]
    values = {"s": tinct.Sampler(address_mode_u="repeat"), "c": tinct.Sampler(compare="less")}
    assert list(kernel.bind(device, values)) == [0]
    with pytest.raises(tinct.InputError, match="c: sampler_comparison needs a sampler with compare"):
        kernel.bind(device, {**values, "c": tinct.Sampler()})
