"""`assert_agrees`, and the strategies for buffers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import tinct
from tinct.testing import Tolerance, assert_agrees, buffers

SHADER = tinct.load("""
struct Item { position: vec3f, flags: array<u32, 2> }
struct Params { scale: f32, count: atomic<u32> }
@group(0) @binding(0) var<storage, read> items: array<Item>;
@group(0) @binding(1) var<storage, read_write> lengths: array<f32>;
@group(0) @binding(2) var<storage, read_write> params: Params;
@group(0) @binding(3) var picture: texture_2d<f32>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&items) || id.x >= arrayLength(&lengths) { return; }
    lengths[id.x] = items[id.x].position.x * params.scale;
    atomicAdd(&params.count, items[id.x].flags[1]);
}
@compute @workgroup_size(1) fn fetch() { lengths[0] = textureLoad(picture, vec2u(), 0).x; }
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
    with pytest.raises(tinct.InputError, match="picture: give a value or a strategy for texture_2d<f32>"):
        buffers(SHADER["fetch"])
