"""Textures that one node stores and another samples: plans hold them on every device, and between devices."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.graphs import zeros
from tinct.graphs.plan import Dispatch, Plan, Transfer

from .support import DEVICES

WIDTH, HEIGHT = 7, 5


def pictures(format: str, sampled: str, dimension: str = "2d") -> tinct.Graph:
    """A graph that draws a texture and looks at its texels; both are counted from `shift` on."""
    place = {"1d": "id.x", "2d": "id.xy", "2d_array": "id.xy, id.z", "3d": "id"}[dimension]
    scale = " / 255" if sampled == "f32" else ""
    shader = tinct.load(f"""
        @group(0) @binding(0) var made: texture_storage_{dimension}<{format}, write>;
        @group(0) @binding(1) var<uniform> shift: u32;
        @compute @workgroup_size(4, 4) fn draw(@builtin(global_invocation_id) id: vec3u) {{
            textureStore(made, {place}, vec4<{sampled}>(vec4u(id.x + shift, id.y, id.z, 100)){scale});
        }}
        @group(0) @binding(2) var seen: texture_{dimension}<{sampled}>;
        @group(0) @binding(3) var<storage, read_write> found: array<vec4<{sampled}>>;
        @compute @workgroup_size(1) fn look(@builtin(global_invocation_id) id: vec3u) {{
            let at = id.x + {WIDTH}u * (id.y + {HEIGHT}u * id.z);
            if at < arrayLength(&found) {{ found[at] = textureLoad(seen, {place}, 0); }}
        }}
    """)
    size = {"1d": (WIDTH,), "2d": (WIDTH, HEIGHT)}.get(dimension, (WIDTH, HEIGHT, 3))
    graph = tinct.Graph("pictures")
    draw = graph.node(shader["draw"], threads=size, name="draw")
    look = graph.node(shader["look"], threads=size, name="look")
    graph.bind_input("shift", draw["shift"])
    graph.bind_input(zeros(*size), draw["made"])
    graph.edge(draw["made"], look["seen"])
    graph.bind_input(zeros(int(np.prod(size))), look["found"])
    graph.bind_output(look["found"], "found")
    return graph


FORMATS = {
    "rgba8unorm": ("f32", 4, 0.002),
    "rgba8snorm": ("f32", 4, 0.004),
    "rgba16float": ("f32", 4, 0.001),
    "rgba32float": ("f32", 4, 1e-7),
    "r32float": ("f32", 1, 1e-7),
    "rg32uint": ("u32", 2, 0),
    "rgba8sint": ("i32", 4, 0),
}
"""For each format the sampled type, the number of channels, and the largest error of a texel from 0 to 1."""


def texels(shift: int, channels: int, scale: float) -> object:
    found = np.zeros((HEIGHT, WIDTH, 4))
    found[..., 0], found[..., 1] = np.arange(WIDTH) + shift, np.arange(HEIGHT)[:, None]
    found[..., 3] = 100
    found /= scale
    found[..., channels:] = [0, 0, 0, 1][channels:]
    return found.reshape(-1, 4)


@pytest.mark.parametrize("format", FORMATS)
def test_formats(format: str) -> None:
    """What is sampled is what was stored, with the same bits off the GPU, in all rounds of one plan."""
    sampled, channels, error = FORMATS[format]
    graph = pictures(format, sampled)
    for shift in (1, 2):
        by_device = {}
        for device in DEVICES:
            assert graph.plan({"shift": shift}, device=device).steps
            found = by_device[device] = graph.run({"shift": shift}, device=device)["found"]
            np.testing.assert_allclose(found, texels(shift, channels, 255 if sampled == "f32" else 1), atol=error)
        for device in DEVICES:
            if device != "gpu":
                np.testing.assert_array_equal(by_device[device], by_device["interp"])


def leaves(plan: Plan) -> list[str]:
    return [it.leaf for it in plan.steps if isinstance(it, Dispatch)]


def test_which_texels_are_widened() -> None:
    """Off the GPU, texels of rgba8unorm are bytes of a sampled texture; a GPU samples all formats as they are."""
    for device in DEVICES:
        drawn = [] if device != "gpu" else ["texel-zeros-2d-{}"]
        for format, widened in (("rgba8unorm", []), ("rgba32float", []), ("r32float", ["texel-widening-2d-r32float"])):
            found = leaves(pictures(format, "f32").plan({"shift": 1}, device=device))
            first = [it.format(format) for it in drawn]
            assert found == [*first, "draw", *(widened if device != "gpu" else []), "look"]


@pytest.mark.parametrize("dimension", ["1d", "2d_array", "3d"])
@pytest.mark.parametrize("device", DEVICES)
def test_dimensions(device: str, dimension: str) -> None:
    graph = pictures("r32uint", "u32", dimension)
    assert graph.plan({"shift": 3}, device=device).steps
    found = graph.run({"shift": 3}, device=device)["found"]
    np.testing.assert_array_equal(found[:, 0], np.tile(np.arange(WIDTH) + 3, len(found) // WIDTH))


@pytest.mark.skipif("gpu" not in DEVICES, reason="no GPU")
@pytest.mark.parametrize("format", ["rgba8unorm", "r32float"])
@pytest.mark.parametrize("devices", [("cpu", "gpu"), ("gpu", "cpu"), ("gpu", "interp")])
def test_between_devices(devices: tuple[str, str], format: str) -> None:
    """Texels cross once, in the format in which they were stored."""
    graph = pictures(format, "f32")
    where = dict(zip(("draw", "look"), devices, strict=True))
    plan = graph.plan({"shift": 1}, devices=where)
    crossing = [
        it for it in plan.steps if isinstance(it, Transfer) and plan.device(it.source) != plan.device(it.target)
    ]
    assert [plan.buffers[it.source].label for it in crossing] == ["draw.made"]
    found = graph.run({"shift": 1}, devices=where)["found"]
    np.testing.assert_allclose(found, graph.run({"shift": 1}, device="interp")["found"], rtol=1e-6)


@pytest.mark.parametrize("device", DEVICES)
def test_an_input_that_is_stored_to_and_sampled(device: str) -> None:
    """Two nodes sample what a third one then writes; the old texels are kept for them, and the picture for the user."""
    shader = tinct.load("""
        @group(0) @binding(0) var state: texture_storage_2d<r32float, read_write>;
        @compute @workgroup_size(1) fn twice(@builtin(global_invocation_id) id: vec3u) {
            textureStore(state, id.xy, 2 * textureLoad(state, id.xy));
        }
        @group(0) @binding(1) var before: texture_2d<f32>;
        @group(0) @binding(2) var how: sampler;
        @group(0) @binding(3) var<storage, read_write> seen: array<f32>;
        @compute @workgroup_size(1) fn between(@builtin(global_invocation_id) id: vec3u) {
            seen[id.x] = textureSampleLevel(before, how, vec2f((f32(id.x) + 1) / 4, 0.5), 0).r;
        }
    """)

    @tinct.graph
    def doubled(picture, how):
        made = shader["twice"]({"state": picture}, threads=(4, 1))["state"]
        last = shader["twice"]({"state": made}, threads=(4, 1))["state"]
        early = shader["between"]({"before": made, "how": how, "seen": zeros(3)}, threads=3)["seen"]
        late = shader["between"]({"before": last, "how": how, "seen": zeros(3)}, threads=3)["seen"]
        return {"last": last, "early": early, "late": late}

    picture = np.float32([[1, 2, 4, 8]])
    given = {"picture": picture, "how": tinct.Sampler(mag_filter="linear")}
    assert doubled.plan(given, device=device).steps
    found = doubled.run(given, device=device, repeat=2, feed={"last": "picture"})
    np.testing.assert_array_equal(found["last"], 16 * picture)
    np.testing.assert_array_equal(found["early"], [12, 24, 48])
    np.testing.assert_array_equal(found["late"], [24, 48, 96])
    assert picture.tolist() == [[1, 2, 4, 8]]


@pytest.mark.skipif("gpu" not in DEVICES, reason="no GPU")
def test_what_was_saved_is_put_back() -> None:
    """Until a flag is set, on a GPU: executions after the exact one leave no trace in textures."""
    shader = tinct.load("""
        @group(0) @binding(0) var state: texture_storage_2d<r32uint, read_write>;
        @group(0) @binding(1) var<storage, read_write> is_enough: u32;
        @compute @workgroup_size(1) fn count(@builtin(global_invocation_id) id: vec3u) {
            let next = textureLoad(state, id.xy).r + 1;
            textureStore(state, id.xy, vec4u(next));
            is_enough = u32(next == 21);
        }
    """)

    @tinct.graph
    def counting(state):
        made = shader["count"]({"state": state, "is_enough": zeros()}, threads=1)
        return {"state": made["state"], "is_enough": made["is_enough"]}

    for every in (1, 8, 16):
        found = counting.run({"state": np.zeros((1, 1), np.uint32)}, device="gpu", until="is_enough", every=every)
        assert found["state"].tolist() == [[21]]


STEP = tinct.load("""
    @group(0) @binding(0) var before: texture_2d<u32>;
    @group(0) @binding(1) var after: texture_storage_2d<r32uint, write>;
    @group(0) @binding(2) var<storage, read_write> is_large: u32;
    @compute @workgroup_size(1) fn step(@builtin(global_invocation_id) id: vec3u) {
        let value = 2 * textureLoad(before, id.xy, 0).r + 1;
        textureStore(after, id.xy, vec4u(value));
        if id.x == 0 { is_large = u32(value > 100); }
    }
""")


@tinct.graph
def stepping(cells):
    """An input that is sampled, and an output of its name that is stored: the type is that of the storage texture."""
    made = STEP["step"]({"before": cells, "after": zeros(3, 1), "is_large": zeros()}, threads=(3, 1))
    return {"cells": made["after"], "is_large": made["is_large"]}


@pytest.mark.parametrize("device", DEVICES)
def test_a_sampled_input_that_changes_places_with_what_is_stored(device: str) -> None:
    cells = np.array([[1, 2, 3]], np.uint32)
    assert str(stepping.inputs["cells"].type) == "texture_storage_2d<r32uint, write>"
    assert stepping.plan({"cells": cells}, device=device, feed={"cells": "cells"}).rotations
    assert stepping.run({"cells": cells}, device=device, repeat=3)["cells"].tolist() == [[15, 23, 31]]
    assert stepping.run({"cells": cells}, device=device, until="is_large")["cells"].tolist() == [[127, 191, 255]]
    frames = stepping.map([{}] * 3, state={"cells": cells}, device=device)
    assert [it["cells"].tolist() for it in frames] == [[[3, 5, 7]], [[7, 11, 15]], [[15, 23, 31]]]


@pytest.mark.parametrize("device", DEVICES)
def test_outputs_are_not_overwritten(device: str) -> None:
    """By later runs of the graph, and by later dispatches of a session."""
    one, other = ({"cells": np.full((1, 3), value, np.uint32)} for value in (1, 2))
    first = stepping.run(one, device=device)["cells"]
    stepping.run(other, device=device)
    assert first.tolist() == [[3, 3, 3]]
    with tinct.Session(device) as session:
        made = session.empty(STEP.bindings["after"], (1, 3))
        seen = [made.numpy()]
        for given in (one, other):
            session.run(STEP["step"], {"before": given["cells"], "after": made, "is_large": None}, threads=(3, 1))
            seen.append(made.numpy())
        assert [it[0, 0] for it in seen] == [0, 3, 5]


def test_names_of_two_types() -> None:
    graph = tinct.Graph("other")
    node = graph.node(STEP["step"], threads=(3, 1))
    graph.bind_input("flag", node["before"])
    graph.bind_input(zeros(3, 1), node["after"])
    graph.bind_input(zeros(), node["is_large"])
    graph.bind_output(node["is_large"], "flag")
    message = r"'flag' is an input and an output of graph 'other', but of two types: texture_2d<u32> and u32"
    with pytest.raises(tinct.InputError, match=message):
        graph.program.inputs  # noqa: B018
