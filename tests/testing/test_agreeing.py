"""`assert_agrees`, and the strategies for buffers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import tinct
from tinct.testing import Tolerance, assert_agrees, buffers

SHADER = tinct.load("""
struct Item { position: vec3f, flags: array<u32, 2> }
struct Params { scale: f32, count: atomic<u32> }
@group(0) @binding(0) var<storage, read> items: array<Item>;
@group(0) @binding(1) var<storage, read_write> lengths: array<f32>;
@group(0) @binding(2) var<storage, read_write> params: Params;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&items) || id.x >= arrayLength(&lengths) { return; }
    lengths[id.x] = items[id.x].position.x * params.scale;
    atomicAdd(&params.count, items[id.x].flags[1]);
}
@compute @workgroup_size(4) fn wrong_here(@builtin(global_invocation_id) id: vec3u) {
    lengths[id.x] = f32(id.x);
}
""")
GIVEN: dict[str, Any] = {
    "items": [{"position": [1, 2, 3], "flags": [1, 2]}, {"position": [4, 5, 6], "flags": [3, 4]}],
    "lengths": np.zeros(2, np.float32),
    "params": {"scale": 2, "count": 0},
}


def test_devices_that_agree() -> None:
    out = assert_agrees(SHADER["main"], GIVEN, threads=2, devices=["cpu", "interp"], expected={"lengths": [2, 8]})
    assert out["params"]["count"] == 6
    assert_agrees(SHADER["main"], GIVEN, threads=2)


def test_all_that_differs_is_listed() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_agrees(SHADER["main"], GIVEN, threads=2, devices=["cpu", "interp"], expected={"lengths": [2, 9]})
    difference = "(ulp 16, absolute 1e-06): 1 of 2 differ, first [1]: expected 9, got 8.0 (1.05e+06 ulp)"
    assert str(caught.value).splitlines() == [
        "main of <text>:",
        f"  lengths, cpu against expected {difference}",
        f"  lengths, interp against expected {difference}",
    ]
    loose = {"lengths": Tolerance(absolute=1)}
    assert_agrees(SHADER["main"], GIVEN, threads=2, devices=["cpu"], expected={"lengths": [2, 9]}, tolerance=loose)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"devices": []}, "devices names one or more devices"),
        ({"devices": ["abacus"]}, "no device is named 'abacus'"),
        ({"expected": {"length": [1]}}, "expected: the kernel writes no 'length'; did you mean 'lengths'"),
        ({"tolerance": {"items": Tolerance()}}, "tolerance: the kernel writes no 'items'"),
    ],
)
def test_arguments_that_do_not_fit(options: dict[str, Any], message: str) -> None:
    with pytest.raises(tinct.InputError, match=message):
        assert_agrees(SHADER["main"], GIVEN, threads=2, **options)


def test_a_failing_device_is_named() -> None:
    with pytest.raises(tinct.InputError) as caught:
        assert_agrees(SHADER["main"], {}, threads=2, devices=["interp"])
    assert caught.value.__notes__ == ["on the device 'interp'"]


@settings(max_examples=30, deadline=None)
@given(given=buffers(SHADER["main"], {"params": {"scale": 0.5, "count": 0}}))
def test_strategies_make_buffers_of_each_type(given: dict[str, Any]) -> None:
    lengths = np.asarray(given["lengths"])
    out = assert_agrees(SHADER["main"], given, threads=lengths.size, devices=["cpu", "interp"])
    items: list[dict[str, Any]] = given["items"]
    assert len(items) == lengths.size
    expected = np.array([it["position"][0] for it in items], np.float32) * np.float32(0.5)
    np.testing.assert_array_equal(out["lengths"], expected)


@settings(max_examples=20, deadline=None)
@given(given=buffers(SHADER["wrong_here"], lengths=7))
def test_lengths_are_fixed_on_demand(given: dict[str, Any]) -> None:
    assert np.shape(given["lengths"]) == (7,)


def test_what_no_strategy_makes() -> None:
    with pytest.raises(tinct.InputError, match="the entry point uses no buffer named 'item'"):
        buffers(SHADER["main"], {"item": 1})


HANDLES = tinct.load("""
enable f16;
struct Inner { direction: vec3f, half: f16, turn: mat2x3f }
struct Outer { count: u32, grid: array<array<Inner, 2>, 3>, tail: array<Inner> }
@group(0) @binding(0) var<storage, read_write> outer: Outer;
@group(0) @binding(1) var line: texture_1d<i32>;
@group(0) @binding(2) var layers: texture_2d_array<u32>;
@group(0) @binding(3) var volume: texture_3d<f32>;
@group(0) @binding(4) var cube: texture_cube<f32>;
@group(0) @binding(5) var cubes: texture_depth_cube_array;
@group(0) @binding(6) var depth: texture_depth_2d;
@group(0) @binding(7) var samples: texture_multisampled_2d<f32>;
@group(0) @binding(8) var film: texture_external;
@group(0) @binding(9) var packed: texture_storage_2d<rgb10a2uint, write>;
@group(0) @binding(10) var plain: sampler;
@group(0) @binding(11) var comparing: sampler_comparison;
@group(0) @binding(12) var colour: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(1) fn main() {
    outer.tail[0].turn[1] = vec3f(1);
    outer.count = textureNumLayers(layers) + textureNumLayers(cubes) + textureNumSamples(samples);
    outer.count += u32(textureLoad(line, 0, 0).x) + textureDimensions(film).x + textureDimensions(volume).x;
    let lit = textureSampleLevel(cube, plain, vec3f(1), 0) * textureSampleCompareLevel(depth, comparing, vec2f(), 0.5);
    textureStore(packed, vec2u(), vec4u(abs(lit)));
    textureStore(colour, vec2u(), lit);
}
@compute @workgroup_size(1) fn half_steps() { textureStore(colour, vec2u(), vec4f(0.5, 1.5, 2.5, 254.5) / 255); }
""")


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])  # for so many textures
@given(given=buffers(HANDLES["main"], lengths=3))
def test_strategies_make_textures_samplers_and_nested_structures(given: dict[str, Any]) -> None:
    out = HANDLES["main"].run(given, threads=1, device="interp")["outer"]
    tail: np.ndarray[Any, Any] = given["outer"]["tail"]
    assert given["outer"]["grid"].shape == (3, 2) and tail.shape == out["tail"].shape
    assert np.all(out["tail"]["turn"][0][1][:3] == 1)
    np.testing.assert_array_equal(out["tail"]["direction"], tail["direction"])


def test_normalised_texels_may_be_one_step_apart() -> None:
    given = {"colour": np.zeros((1, 1, 4), np.uint8)}
    stored = assert_agrees(HANDLES["half_steps"], given, threads=1)["colour"]
    one_off = {"colour": stored - np.array([1, 0, 1, 0], np.uint8)}
    assert_agrees(HANDLES["half_steps"], given, threads=1, devices=["cpu"], expected=one_off)
    two_off = {"colour": stored - np.array([0, 2, 0, 0], np.uint8)}
    with pytest.raises(AssertionError, match="1 of 4 differ"):
        assert_agrees(HANDLES["half_steps"], given, threads=1, devices=["cpu"], expected=two_off)
