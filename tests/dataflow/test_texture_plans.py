"""Textures in plans: inputs, transients, outputs, and what changes places in a repetition."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinct
from tinct.graphs import emit, zeros
from tinct.graphs.plan import Dispatch

from .support import DEVICES
from .test_emit import needs_gpu

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
@pytest.mark.usefixtures("needs_gpu")
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
        given: dict[str, Any] = {
            "levels": levels,
            "layers": rng.integers(-9, 9, (2, 2, 4, 4)).astype(np.int32),
            "depths": rng.random((2, 4), np.float32),
            "samples": rng.random((2, 4, 4, 4), np.float32),
            "volume": rng.integers(0, 9, (2, 2, 4, 4)).astype(np.uint32),
        }
        scale = np.float32(255 if kind is np.uint8 else 1)
        small = np.minimum(np.arange(4), width // 2 - 1)
        wanted: Any = (
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


def sampling() -> tinct.Graph:
    shader = tinct.load("""
        @group(0) @binding(0) var picture: texture_2d<f32>;
        @group(0) @binding(1) var how: sampler;
        @group(0) @binding(2) var<storage, read_write> found: array<f32>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
            found[id.x] = textureSampleLevel(picture, how, vec2f(f32(id.x) / 4, 0.5), 0).r
                + f32(textureLoad(offsets, id.x).r) + f32(textureLoad(layers, vec2u(id.x, 0), 1, 1).g);
        }
        @group(0) @binding(3) var offsets: texture_storage_1d<r32sint, read>;
        @group(0) @binding(4) var layers: texture_2d_array<u32>;
    """)
    graph = tinct.Graph("sampling")
    node = graph.node(shader["main"], threads=4)
    graph.bind_input("picture", node["picture"])
    for name in ("how", "offsets", "layers"):
        graph.bind_input(name, node[name])
    graph.bind_input(zeros(4), node["found"])
    graph.bind_output(node["found"], "found")
    return graph


def sampled(sampler: tinct.Sampler) -> dict[str, Any]:
    """Inputs of that graph. Sums of others and of what is sampled differ in each element."""
    picture = np.zeros((1, 4, 4), np.float32)
    picture[..., 0] = [0, 2, 4, 8]
    layers = [np.zeros((2, it, 4 * it, 4), np.uint32) for it in (2, 1)]
    layers[1][1, 0, :, 1] = [100, 200, 300, 400]
    return {"picture": picture, "how": sampler, "offsets": np.array([10, 20, 30, -40], np.int32), "layers": layers}


NEAREST, LINEAR = tinct.Sampler(), tinct.Sampler(mag_filter="linear")
SAMPLED = ((NEAREST, [110, 222, 334, 368]), (LINEAR, [110, 221, 333, 366]))


@pytest.mark.parametrize("device", DEVICES)
def test_samplers(device: str, tmp_path: Path) -> None:
    """A sampler is an input; a plan is for its filters, too, and an emitted one has it."""
    graph = sampling()
    for sampler, wanted in SAMPLED:
        given = sampled(sampler)
        assert graph.plan(given, device=device).steps
        np.testing.assert_array_equal(graph.run(given, device=device)["found"], wanted)
        emit(graph, tmp_path, given)
        plan = tinct.load_plan(tmp_path)
        assert list(plan.inputs) == ["picture", "offsets", "layers"]
        np.testing.assert_array_equal(plan.run(device=device)["found"], wanted)
        other = {"picture": given["picture"] + 1}
        np.testing.assert_array_equal(plan.run(other, device=device)["found"], np.array(wanted) + 1)
        with pytest.raises(tinct.InputError, match="picture: the plan is for 4 x 1 x 1 x 1 texels"):
            plan.run({"picture": np.ones((2, 2, 4), np.float32)}, device=device)
    with pytest.raises(tinct.InputError, match=r"how: sampler takes a tinct.Sampler, not 3"):
        graph.run({**sampled(NEAREST), "how": 3}, device=device)
    with pytest.raises(tinct.InputError, match="how: sampler takes no sampler with compare"):
        graph.run({**sampled(NEAREST), "how": tinct.Sampler(compare="less")}, device=device)


@needs_gpu
def test_a_follower_makes_textures_and_samplers(tmp_path: Path) -> None:
    from .plan_follower import Follower

    for sampler, wanted in SAMPLED:
        emit(sampling(), tmp_path, sampled(sampler))
        found = Follower(tmp_path).run()["found"]
        np.testing.assert_array_equal(np.frombuffer(found, np.float32), wanted)


BROKEN: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "levels": (lambda it: it["texture"].update(levels=0), "size: expected three extents"),
    "many": (lambda it: it["texture"].update(levels=4), "levels: textures of that size have at most 3 levels"),
    "format": (
        lambda it: it["texture"].update(format="rgba8unorm"),
        "format: rgba8unorm, 2d and 16 bytes a texel",
    ),
    "size": (lambda it: it["texture"].update(size=[5, 1, 1]), "size: a texture is bound as a whole"),
    "buffer": (lambda it: it.pop("texture"), "cannot be bound as picture"),
    "sampler": (lambda it: it.update(texture={}), "size: there is no such field"),
}


def test_emitted_textures_are_checked(tmp_path: Path) -> None:
    emit(sampling(), tmp_path, sampled(NEAREST))
    path = tmp_path / "plan.json"
    text = path.read_text()
    for change, message in BROKEN.values():
        plan = json.loads(text)
        change(next(it for it in plan["buffers"] if "texture" in it))
        path.write_text(json.dumps(plan))
        with pytest.raises(tinct.InputError, match=message):
            tinct.load_plan(tmp_path)
    plan = json.loads(text)
    next(it for it in plan["buffers"] if "sampler" in it)["sampler"]["magFilter"] = "cubic"
    path.write_text(json.dumps(plan))
    with pytest.raises(tinct.InputError, match=r"sampler: a sampler's mag_filter is one of 'nearest', 'linear'"):
        tinct.load_plan(tmp_path)
