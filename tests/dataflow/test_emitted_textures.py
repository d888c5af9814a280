"""Emitted plans with textures that nodes write, and with those that WebGPU copies no texels into, which are drawn."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinct
from tinct.graphs import emit, zeros

from .support import DEVICES
from .test_arithmetic import recorded
from .test_emit import needs_gpu
from .test_texture_plans import PICTURE, growing, grown

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no node")

SHADER = tinct.load("""
    @group(0) @binding(0) var state: texture_storage_2d<r32uint, read_write>;
    @group(0) @binding(1) var drawn: texture_storage_2d<rgba8unorm, write>;
    @compute @workgroup_size(1) fn draw(@builtin(global_invocation_id) id: vec3u) {
        let value = textureLoad(state, id.xy).r;
        textureStore(state, id.xy, vec4u(value + 1));
        textureStore(drawn, id.xy, vec4f(f32(value) / 255, 0, 0, 1));
    }
    @group(0) @binding(2) var seen: texture_2d<f32>;
    @group(0) @binding(3) var how: sampler;
    @group(0) @binding(4) var<storage, read_write> blurred: array<f32>;
    @compute @workgroup_size(4) fn blur(@builtin(global_invocation_id) id: vec3u) {
        if id.x < arrayLength(&blurred) {
            blurred[id.x] = 255 * textureSampleLevel(seen, how, vec2f((f32(id.x) + 0.5) / 4, 0.5), 0).r;
        }
    }

    @group(1) @binding(0) var levels: texture_depth_2d;
    @group(1) @binding(1) var layers: texture_depth_2d_array;
    @group(1) @binding(2) var colours: texture_multisampled_2d<f32>;
    @group(1) @binding(3) var numbers: texture_multisampled_2d<u32>;
    @group(1) @binding(4) var depths: texture_depth_multisampled_2d;
    @group(1) @binding(5) var<storage, read_write> found: array<vec4f>;
    @compute @workgroup_size(4) fn look(@builtin(global_invocation_id) id: vec3u) {
        let at = vec2u(id.x, 1);
        found[id.x] = vec4f(
            textureLoad(levels, at, 0) + 10 * textureLoad(levels, at / 2, 1), textureLoad(layers, at, 1, 0),
            textureLoad(colours, at, 3).g + f32(textureLoad(numbers, at, 1).b), textureLoad(depths, at, 2));
    }
""")


@tinct.graph
def drawing(state, how):
    """Its output `old` holds the state that the second node changes, so that it is copied."""
    first = SHADER["draw"]({"state": state, "drawn": zeros(4, 2)}, threads=(4, 2))
    second = SHADER["draw"]({"state": first["state"], "drawn": zeros(4, 2)}, threads=(3, 2))
    blurred = SHADER["blur"]({"seen": second["drawn"], "how": how, "blurred": zeros(4)}, threads=4)
    return {"old": first["state"], "state": second["state"], "drawn": second["drawn"], "blurred": blurred["blurred"]}


STATE = np.arange(10, 18, dtype=np.uint32).reshape(2, 4)
GIVEN = {"state": STATE, "how": tinct.Sampler(mag_filter="linear")}


def check_drawn(found: Any, state: Any) -> None:
    """The result of one execution; what the second node leaves out is zero."""
    drawn = (state + 1) * [1, 1, 1, 0]
    np.testing.assert_array_equal(found["old"], state + 1)
    np.testing.assert_array_equal(found["state"], state + 1 + np.array([1, 1, 1, 0]))
    np.testing.assert_array_equal(found["drawn"][..., 0], drawn)
    np.testing.assert_array_equal(found["drawn"][..., 3], [[255, 255, 255, 0]] * 2)
    np.testing.assert_allclose(found["blurred"], (drawn[0] + drawn[1]) / 2, rtol=1e-5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("drawing")
    emit(drawing, target, GIVEN, feed={"state": "state"})
    return target


@pytest.mark.parametrize("device", DEVICES)
def test_written_textures(device: str, folder: Path) -> None:
    plan = tinct.load_plan(folder)
    for _ in range(2):
        check_drawn(plan.run(device=device), STATE)
    check_drawn(plan.run({"state": STATE + 5}, device=device), STATE + 5)
    given = {**GIVEN, "state": STATE}
    expected = drawing.run(given, device=device, repeat=3, feed={"state": "state"})
    found = plan.run(device=device, repeat=3)
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)


def arrays(found: dict[str, bytes]) -> dict[str, Any]:
    """The outputs of a program without Python."""
    numbers = {name: np.frombuffer(found[name], np.uint32).reshape(2, 4) for name in ("old", "state")}
    drawn = np.frombuffer(found["drawn"], np.uint8).reshape(2, 4, 4)
    return {**numbers, "drawn": drawn, "blurred": np.frombuffer(found["blurred"], np.float32)}


@needs_gpu
def test_a_follower_writes_textures(folder: Path) -> None:
    from .plan_follower import Follower

    follower = Follower(folder)
    for _ in range(2):
        check_drawn(arrays(follower.run()), STATE)
    expected = drawing.run(GIVEN, device="gpu", repeat=4, feed={"state": "state"})
    for name, array in arrays(follower.run(4)).items():
        np.testing.assert_array_equal(array, expected[name])


@needs_node
def test_javascript_writes_textures(folder: Path) -> None:
    """Dispatches bind views of textures, which change places; outputs have their rows without padding."""
    plan = json.loads((folder / "plan.json").read_text())
    (one, other), *_ = plan["rotations"]
    assert "texture" in plan["buffers"][one]
    assert all(it["bytesPerRow"] == 256 for it in plan["outputs"] if it["name"] != "blurred")
    found = recorded(folder)
    assert bytes(found["bytes"]["old"]) == STATE.tobytes()
    every = recorded(folder, 2)["dispatches"]
    half, turned = len(every) // 2, {one: other, other: one}
    states = [[it[1] for it in step["bound"] if it[0] == "texture"] for step in every]
    assert [[turned.get(it, it) for it in step] for step in states[:half]] == states[half:]
    assert any("sampler" in step["bound"] for step in every)


def looking() -> tuple[tinct.Graph, dict[str, Any]]:
    graph = tinct.Graph("looking")
    node = graph.node(SHADER["look"], threads=4)
    rng = np.random.default_rng(1)
    given: dict[str, Any] = {
        "levels": [rng.random((4, 4), np.float32), rng.random((2, 2), np.float32)],
        "layers": rng.random((2, 2, 4), np.float32),
        "colours": rng.integers(0, 9, (2, 4, 4, 4)).astype(np.float32) / 4,
        "numbers": rng.integers(0, 1 << 16, (2, 4, 4, 4)).astype(np.uint32),
        "depths": rng.random((2, 4, 4), np.float32),
    }
    for name in given:
        graph.bind_input(name, node[name])
    graph.bind_input(zeros(4), node["found"])
    graph.bind_output(node["found"], "found")
    return graph, given


def seen(given: dict[str, Any]) -> Any:
    first = given["levels"][0][1] + 10 * given["levels"][1][0, [0, 0, 1, 1]]
    third = given["colours"][1, :, 3, 1] + given["numbers"][1, :, 1, 2]
    return np.stack([first, given["layers"][1, 1], third, given["depths"][1, :, 2]], 1).astype(np.float32)


def test_drawn_textures(tmp_path: Path) -> None:
    graph, given = looking()
    emit(graph, tmp_path, given)
    assert {it.name for it in tmp_path.glob("draw-*")} == {
        "draw-depths.wgsl",
        "draw-multisampled-depths.wgsl",
        "draw-multisampled-f32.wgsl",
        "draw-multisampled-u32.wgsl",
    }
    plan = tinct.load_plan(tmp_path)
    for device in DEVICES:
        np.testing.assert_allclose(plan.run(device=device)["found"], seen(given), rtol=1e-6)
    other = looking()[1] | {"depths": given["depths"] / 2, "colours": given["colours"] + 1}
    np.testing.assert_allclose(plan.run(other)["found"], seen(other), rtol=1e-6)
    if "gpu" in DEVICES:
        from .plan_follower import Follower

        found = np.frombuffer(Follower(tmp_path).run()["found"], np.float32).reshape(4, 4)
        np.testing.assert_allclose(found, seen(given), rtol=1e-6)


@needs_node
def test_javascript_draws(tmp_path: Path) -> None:
    """Each layer of each level, with its own texels and width."""
    graph, given = looking()
    emit(graph, tmp_path, given)
    plan = json.loads((tmp_path / "plan.json").read_text())
    numbers = {it["name"]: it["writes"][0]["buffer"] for it in plan["inputs"]}
    wanted = [
        *((numbers["levels"], level, 0, given["levels"][level], 1) for level in range(2)),
        *((numbers["layers"], 0, layer, given["layers"][layer], 1) for layer in range(2)),
        *((numbers[name], 0, 0, given[name], 4) for name in ("colours", "numbers", "depths")),
    ]
    draws = [it for it in recorded(tmp_path)["dispatches"] if "draws" in it]
    assert draws == [
        {
            "draws": number,
            "baseMipLevel": level,
            "baseArrayLayer": layer,
            "samples": samples,
            "width": texels.shape[1],
            "bytes": list(texels.tobytes()),
        }
        for number, level, layer, texels, samples in wanted
    ]


REFUSED = (
    ({"levels": np.full((4, 4), 2, np.float32)}, "levels: depths that are not from 0 to 1"),
    ({"colours": np.full((2, 4, 4, 4), 0.1, np.float32)}, "colours: samples that rgba16float does not hold"),
    ({"numbers": np.full((2, 4, 4, 4), 1 << 16, np.uint32)}, "numbers: samples that rgba16uint does not hold"),
    ({"depths": np.zeros((2, 4, 2), np.float32)}, "'depths' has 2 samples a texel, where WebGPU has 4"),
)


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_what_webgpu_has_not(given: dict[str, Any], message: str, tmp_path: Path) -> None:
    graph, others = looking()
    with pytest.raises(tinct.InputError, match=message):
        emit(graph, tmp_path, others | given)
    assert not (tmp_path / "plan.json").exists()


def test_repetitions_of_textures(tmp_path: Path) -> None:
    emit(growing(), tmp_path, {"picture": PICTURE}, feed={"grown": "picture"})
    expected = PICTURE
    for _ in range(3):
        expected, _total = grown(expected)
    np.testing.assert_array_equal(tinct.load_plan(tmp_path).run(repeat=3)["grown"], expected)


BROKEN = (
    (lambda it: it["rotations"].append([0, 1]), "buffer 0 changes places twice"),
    (lambda it: texture_of(it).update(format="rgba9"), "format: rgba9, 2d and 4"),
    (lambda it: texture_of(it).update(samples=3), "samples: a texel has 1 or 4 samples, not 3"),
    (lambda it: copy_of(it)["source"].update(buffer=99), "99 and . are no two textures of one format and size"),
)


def texture_of(plan: dict[str, Any]) -> Any:
    return next(it["texture"] for it in plan["buffers"] if it.get("texture", {}).get("format") == "rgba8unorm")


def copy_of(plan: dict[str, Any]) -> dict[str, Any]:
    return next(it for it in plan["steps"] if it["do"] == "copy-texture")


@pytest.mark.parametrize(("change", "message"), BROKEN)
def test_broken_plans(change: Any, message: str, folder: Path, tmp_path: Path) -> None:
    for it in folder.glob("*.wgsl"):
        (tmp_path / it.name).write_text(it.read_text())
    plan = json.loads((folder / "plan.json").read_text())
    change(plan)
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(tinct.InputError, match=message):
        tinct.load_plan(tmp_path)
