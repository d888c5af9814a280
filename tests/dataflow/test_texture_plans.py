"""Textures in plans: inputs, transients, outputs, and what changes places in a repetition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tinct
from tinct.graphs import zeros
from tinct.graphs.plan import Dispatch

from .support import DEVICES

SHADER = tinct.load(
    """
    @group(0) @binding(0) var before: texture_storage_2d<r32uint, read>;
    @group(0) @binding(1) var after: texture_storage_2d<r32uint, write>;
    @group(0) @binding(2) var<storage, read_write> total: atomic<u32>;
    @group(0) @binding(3) var<storage, read_write> is_large: u32;
    @compute @workgroup_size(1) fn grow(@builtin(global_invocation_id) id: vec3u) {
        let value = textureLoad(before, id.xy).r;
        atomicAdd(&total, value);
        if id.x != 2 { textureStore(after, id.xy, vec4u(2 * value + id.y, 0, 0, 0)); }
    }
    @compute @workgroup_size(1) fn compare() {
        is_large = u32(textureLoad(before, vec2u(1, 1)).r > 20);
    }

    @group(1) @binding(0) var levels: texture_2d<f32>;
    @group(1) @binding(1) var layers: texture_2d_array<i32>;
    @group(1) @binding(2) var depths: texture_depth_2d;
    @group(1) @binding(3) var samples: texture_multisampled_2d<f32>;
    @group(1) @binding(4) var volume: texture_3d<u32>;
    @group(1) @binding(5) var<storage, read_write> sums: array<f32>;
    @compute @workgroup_size(4) fn read_all(@builtin(global_invocation_id) id: vec3u) {
        if id.x >= arrayLength(&sums) { return; }
        let at = vec2u(id.x, 0);
        sums[id.x] = textureLoad(levels, at, 0).r + 10 * textureLoad(levels, at, 1).r
            + f32(textureLoad(layers, at, 1, 0).r) + textureLoad(depths, at, 0)
            + textureLoad(samples, at, 2).g + f32(textureLoad(volume, vec3u(at, 1), 0).b)
            + 1000 * f32(textureDimensions(levels).x);
    }
    """
)


def growing(*, is_long: bool = False) -> tinct.Graph:
    """A graph that writes one texture from another one, and with `is_long` a third one from that."""
    graph = tinct.Graph("growing")
    first = graph.node(SHADER["grow"], threads=(3, 2))
    graph.bind_input("picture", first["before"])
    graph.bind_input(zeros(3, 2), first["after"])
    graph.bind_input(zeros(), first["total"])
    last = first
    if is_long:
        last = graph.node(SHADER["grow"], threads=(3, 2), name="last")
        graph.edge(first["after"], last["before"])
        graph.bind_input(zeros(3, 2), last["after"])
        graph.edge(first["total"], last["total"])
    made, tested = graph.split(last["after"])
    graph.bind_output(made, "grown")
    graph.bind_output(last["total"], "total")
    test = graph.node(SHADER["compare"], threads=1)
    graph.edge(tested, test["before"])
    graph.bind_input(zeros(), test["is_large"])
    graph.bind_output(test["is_large"], "is_large")
    return graph


def grown(picture: Any) -> tuple[Any, int]:
    made = 2 * picture + np.arange(2, dtype=np.uint32)[:, None]
    made[:, 2] = 0
    return made, int(picture.sum())


PICTURE = np.arange(6, dtype=np.uint32).reshape(2, 3)


@pytest.mark.parametrize("device", DEVICES)
def test_written_textures(device: str) -> None:
    """What no node writes is zero; textures are transients, outputs and, in a repetition, inputs again."""
    graph = growing(is_long=True)
    assert graph.plan({"picture": PICTURE}, device=device).steps
    once, total = grown(PICTURE)
    twice, more = grown(once)
    for _ in range(2):
        found = graph.run({"picture": PICTURE}, device=device)
        np.testing.assert_array_equal(found["grown"], twice)
        assert found["total"] == total + more


@pytest.mark.parametrize("device", DEVICES)
def test_textures_that_change_places(device: str) -> None:
    graph, feed = growing(), {"grown": "picture"}
    assert graph.plan({"picture": PICTURE}, device=device, feed=feed).rotations
    wanted = [PICTURE]
    while wanted[-1][1, 1] <= 20:
        wanted.append(grown(wanted[-1])[0])
    for _ in range(2):
        found = graph.run({"picture": PICTURE}, device=device, repeat=3, feed=feed)
        np.testing.assert_array_equal(found["grown"], wanted[3])
        ended = graph.run({"picture": PICTURE}, device=device, until="is_large", feed=feed)
        np.testing.assert_array_equal(ended["grown"], wanted[-1])
        assert ended["total"] == wanted[-2].sum()


@pytest.mark.parametrize("devices", [("gpu", "cpu"), ("cpu", "gpu"), ("interp", "gpu")])
def test_textures_cross_between_devices(devices: tuple[str, str]) -> None:
    graph = growing(is_long=True)
    where = {"grow": devices[0], "last": devices[1]}
    plan = graph.plan({"picture": PICTURE}, devices=where)
    assert {it.device for it in plan.steps if isinstance(it, Dispatch)} >= set(devices)
    found = graph.run({"picture": PICTURE}, devices=where)
    np.testing.assert_array_equal(found["grown"], grown(grown(PICTURE)[0])[0])


@pytest.mark.parametrize("device", DEVICES)
def test_all_kinds_of_textures_that_are_read(device: str) -> None:
    """One plan is for one set of extents; bytes stay bytes, which are sampled as 255ths."""
    graph = tinct.Graph("reader")
    node = graph.node(SHADER["read_all"], threads=4)
    for name in ("levels", "layers", "depths", "samples", "volume"):
        graph.bind_input(name, node[name])
    graph.bind_input(zeros(4), node["sums"])
    graph.bind_output(node["sums"], "sums")
    rng = np.random.default_rng(1)
    for width, kind in ((4, np.float32), (4, np.uint8), (8, np.float32)):
        levels = [rng.integers(0, 255, (it, it, 4)).astype(kind) for it in (width, width // 2)]
        given = {
            "levels": levels,
            "layers": rng.integers(-9, 9, (2, 2, 4, 4)).astype(np.int32),
            "depths": rng.random((2, 4), np.float32),
            "samples": rng.random((2, 4, 4, 4), np.float32),
            "volume": rng.integers(0, 9, (2, 2, 4, 4)).astype(np.uint32),
        }
        scale = np.float32(255 if kind is np.uint8 else 1)
        small = np.minimum(np.arange(4), width // 2 - 1)
        wanted = (
            levels[0][0, :4, 0] / scale
            + 10 * (levels[1][0, small, 0] / scale)
            + given["layers"][1, 0, :, 0]
            + given["depths"][0]
            + given["samples"][0, :, 2, 1]
            + given["volume"][1, 0, :, 2]
            + 1000 * width
        )
        assert graph.plan(given, device=device).steps
        found = graph.run(given, device=device)["sums"]
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
        if device == "gpu":
            with pytest.raises(tinct.DeviceError, match="depths that are not from 0 to 1"):
                graph.run({**given, "depths": np.full((2, 4), 2, np.float32)}, device=device)


@pytest.mark.parametrize("device", DEVICES)
def test_samplers(device: str) -> None:
    """A sampler is an input; a plan is for its filters, too."""
    shader = tinct.load("""
        @group(0) @binding(0) var picture: texture_2d<f32>;
        @group(0) @binding(1) var how: sampler;
        @group(0) @binding(2) var<storage, read_write> found: array<f32>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
            found[id.x] = textureSampleLevel(picture, how, vec2f(f32(id.x) / 4, 0.5), 0).r;
        }
    """)
    graph = tinct.Graph("sampling")
    node = graph.node(shader["main"], threads=4)
    graph.bind_input("picture", node["picture"])
    graph.bind_input("how", node["how"])
    graph.bind_input(zeros(4), node["found"])
    graph.bind_output(node["found"], "found")
    picture = np.zeros((1, 4, 4), np.float32)
    picture[..., 0] = [0, 2, 4, 8]
    for sampler, wanted in ((tinct.Sampler(), [0, 2, 4, 8]), (tinct.Sampler(mag_filter="linear"), [0, 1, 3, 6])):
        given = {"picture": picture, "how": sampler}
        assert graph.plan(given, device=device).steps
        np.testing.assert_array_equal(graph.run(given, device=device)["found"], wanted)
    with pytest.raises(tinct.InputError, match=r"how: sampler takes a tinct.Sampler, not 3"):
        graph.run({"picture": picture, "how": 3}, device=device)
    with pytest.raises(tinct.InputError, match="how: sampler takes no sampler with compare"):
        graph.run({"picture": picture, "how": tinct.Sampler(compare="less")}, device=device)
