"""Subgroups on drivers with faults."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.backend.gpu import GpuDevice
from tinct.pipeline import GpuOptions

BROADCASTS = """
enable subgroups;
@group(0) @binding(0) var<storage, read_write> sums: array<TYPE>;
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) lane: u32) {
    var sum = sums[lane];
    for (var i = 0u; i < 3u; i++) { sum = subgroupBroadcastFirst(sum + TYPE(f32(i))); }
    sums[lane] = sum + sums[lane];
}
"""


@pytest.mark.parametrize("type", ["f32", "u32", "vec4f"])
def test_a_broadcast_on_which_the_next_iteration_depends(type: str) -> None:
    """Mesa 22.3 aborts when it compiles one."""
    adapter = GpuDevice.available()
    if adapter is None or "subgroup" not in adapter.features:
        pytest.skip("no GPU with subgroups")
    shape, dtype = ((4, 4), np.float32) if type == "vec4f" else ((4,), np.uint32 if type == "u32" else np.float32)
    given = (np.arange(np.prod(shape)).reshape(shape) + 5).astype(dtype)
    kernel = tinct.load(BROADCASTS.replace("TYPE", type))["main"]
    expected = kernel.run({"sums": given}, workgroups=1)["sums"]
    assert expected.tolist() == (given[0] + 3 + given).tolist()
    for via in (None, "hercules"):
        assert kernel.run({"sums": given}, workgroups=1, device="gpu", via=via)["sums"].tolist() == expected.tolist()


def test_lanes_of_signed_numbers() -> None:
    adapter = GpuDevice.available()
    if adapter is None or "subgroup" not in adapter.features:
        pytest.skip("no GPU with subgroups")
    kernel = tinct.load("""
        enable subgroups;
        @group(0) @binding(0) var<storage, read_write> out: array<i32, 4>;
        @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {
            var lane = 1;
            out[i] = subgroupShuffle(i32(i) * 10, lane) + subgroupShuffle(1, 1) + subgroupBroadcast(i32(i) * 100, 2);
        }""")["main"]
    found = kernel.run({"out": np.zeros(4, np.int32)}, workgroups=1, device="gpu")["out"]
    assert found.tolist() == [211] * 4


@pytest.mark.parametrize("size", ["8, 4", "1, 8, 2", "2, 2, 4"])
def test_subgroups_in_workgroups_of_several_dimensions(size: str) -> None:
    adapter = GpuDevice.available()
    if adapter is None or "subgroup" not in adapter.features:
        pytest.skip("no GPU with subgroups")
    kernel = tinct.load(f"""
        enable subgroups;
        struct Place {{ @builtin(local_invocation_id) local: vec3u, @builtin(subgroup_invocation_id) lane: u32 }}
        @group(0) @binding(0) var<storage, read_write> out: array<vec4u, 128>;
        @compute @workgroup_size({size}) fn main(
            place: Place,
            @builtin(global_invocation_id) id: vec3u,
            @builtin(local_invocation_index) i: u32,
            @builtin(workgroup_id) group: vec3u,
        ) {{
            let lanes = subgroupBallot(place.lane == 0).x;
            out[(group.y * 2 + group.x) * 32 + i] = vec4u(id, dot(place.local, vec3u(1, 10, 100)) + 1000 * lanes);
        }}""")["main"]
    given = {"out": np.zeros((128, 4), np.uint32)}
    expected = kernel.run(given, workgroups=(2, 2), device="interp")["out"]
    np.testing.assert_array_equal(kernel.run(given, workgroups=(2, 2), device="gpu")["out"], expected)


@pytest.mark.parametrize("shuffles", [True, False])
def test_only_drivers_with_the_fault_get_shuffles(shuffles: bool) -> None:
    options = GpuOptions(for_naga=True, shuffles_first=shuffles)
    text = tinct.load(BROADCASTS.replace("TYPE", "f32")).compilation("main", {}).for_gpu(options).wgsl
    assert ("subgroupShuffle" in text, "subgroupBroadcastFirst" in text) == (shuffles, not shuffles)
