"""Immediate data, index inputs, external textures and demanded subgroup sizes agree on all devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinct
from tinct.backend.gpu import shared_device
from tinct.devices import DEVICES
from tinct.ir.diagnostics import ShaderError

OUT = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n"

INPUTS = (
    OUT
    + """
struct S { a: vec3f, b: u32 }
struct I { @builtin(workgroup_index) w: u32, @builtin(global_invocation_index) g: u32 }
var<immediate> s: S;
@group(0) @binding(1) var t: texture_external;
fn given(p: ptr<immediate, S>) -> u32 { return u32(p.a.y) * 10 + p.b; }
fn index(i: I) -> u32 { return i.w; }
@compute @workgroup_size(4, 2)
fn main(i: I, @builtin(local_invocation_index) l: u32) {
    let size = textureDimensions(t);
    let texel = textureLoad(t, vec2u(l, 9));
    out[i.g] = index(i) * 11000 + given(&s) + size.x * 100000 + size.y * 1000000 + u32(texel.b);
}
"""
)


@pytest.mark.parametrize("device", [*DEVICES, "gpu via hercules"])
@pytest.mark.usefixtures("needs_device")
def test_inputs(device: str) -> None:
    picture = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)
    given: dict[str, Any] = {"out": (None, 48), "s": (np.array([1, 2, 3], np.float32), 7), "t": picture}
    kernel = tinct.load(INPUTS)["main"]
    name, _, way = device.partition(" via ")
    found = kernel.run(given, workgroups=(1, 3, 2), device=name, via=way or None)["out"]
    workgroup, lane = np.arange(48) // 8, np.arange(48) % 8
    expected = workgroup * 11000 + 27 + 300000 + 2000000 + picture[1, np.minimum(lane, 2), 2].astype(int)
    assert found.tolist() == expected.tolist()


def test_immediate_data_is_listed() -> None:
    kernel = tinct.load(INPUTS)["main"]
    immediate = next(it for it in kernel.bindings if it.name == "s")
    assert (immediate.space, immediate.group, immediate.binding, immediate.is_written) == ("immediate", 0, 2, False)
    with pytest.raises(tinct.InputError, match="s: S"):
        kernel.run({"out": (None, 1), "t": np.zeros((1, 1, 4), np.float32)}, workgroups=1)


SIZES = (
    "enable subgroups, subgroup_size_control;\n"
    + OUT
    + """
override size = 4;
@compute @workgroup_size(128) @subgroup_size(size)
fn main(@builtin(subgroup_id) id: u32, @builtin(subgroup_size) n: u32, @builtin(subgroup_invocation_id) lane: u32,
        @builtin(local_invocation_index) i: u32) {
    let votes = subgroupBallot(i % 3 == 0);
    let word = (votes[lane / 32] >> (lane % 32)) & 1;
    let sums = subgroupAdd(i) + subgroupExclusiveAdd(1u) + subgroupShuffleDown(i, n - 1) + quadBroadcast(i, 1);
    out[i] = sums * 1000 + word * 500 + id * 3 + n;
}
"""
)


def _expected_of_sizes(size: int) -> list[int]:
    index = np.arange(128)
    lane, first = index % size, index // size * size
    down = np.where(lane == 0, index + size - 1, index)
    sums = first * size + size * (size - 1) // 2 + lane + down + index // 4 * 4 + 1
    return (sums * 1000 + (index % 3 == 0) * 500 + index // size * 3 + size).tolist()


@pytest.mark.parametrize("device", ["interp", "hercules", "cpu", "gpu via hercules"])
@pytest.mark.usefixtures("needs_device")
def test_subgroup_sizes(device: str) -> None:
    kernel = tinct.load(SIZES)["main"]
    name, _, way = device.partition(" via ")
    for size in (4, 16, 128) if device == "cpu" else (16,):
        given: dict[str, Any] = {"out": (None, 128)}
        found = kernel.run(given, workgroups=1, device=name, via=way or None, constants={"size": size})["out"]
        assert found.tolist() == _expected_of_sizes(size)


@pytest.mark.usefixtures("needs_gpu")
def test_subgroup_size_of_another_device() -> None:
    with pytest.raises(tinct.DeviceError, match="64 invocations, which 'main' demands"):
        tinct.load(SIZES)["main"].run({"out": (None, 128)}, workgroups=1, device="gpu", constants={"size": 64})


def test_subgroup_size_of_no_device() -> None:
    with pytest.raises(ShaderError, match="subgroups of 2 invocations: they have 4 to 128"):
        tinct.load(SIZES)["main"].run({"out": (None, 1)}, workgroups=1, constants={"size": 2})


@pytest.mark.usefixtures("needs_gpu")
def test_subgroup_size_of_the_gpu() -> None:
    size = shared_device().subgroup_size
    source = f"""enable subgroups, subgroup_size_control;
{OUT}@compute @workgroup_size(128) @subgroup_size({size})
fn main(@builtin(local_invocation_index) i: u32) {{ out[i] = subgroupAdd(1u); }}"""
    found = tinct.load(source)["main"].run({"out": (None, 128)}, workgroups=1, device="gpu")["out"]
    assert found.tolist() == [size] * 128
