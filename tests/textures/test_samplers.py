"""Samplers among the values of a dispatch: what fits, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinct
from tinct.cases import load_cases
from tinct.cli.buffer_specs import make_buffers
from tinct.ir.source import Source
from tinct.kernel import Kernel
from tinct.shader import Shader

LINEAR = tinct.Sampler(mag_filter="linear")
COMPARING = tinct.Sampler(compare="less")
IMAGE = np.zeros((2, 2, 4), np.float32)
OUT = np.zeros(4, np.float32)

PLAIN = """
    @group(0) @binding(0) var t: texture_2d<f32>;
    @group(0) @binding(1) var s: sampler;
    @group(0) @binding(2) var<storage, read_write> out: vec4f;
    @compute @workgroup_size(1) fn main() { out = textureSampleLevel(t, s, vec2f(0.5), 0); }"""
DEPTH = """
    @group(0) @binding(0) var t: texture_depth_2d;
    @group(0) @binding(1) var s: sampler;
    @group(0) @binding(2) var c: sampler_comparison;
    @group(0) @binding(3) var<storage, read_write> out: vec4f;
    @group(0) @binding(4) var other: texture_2d<f32>;
    fn depth(d: texture_depth_2d, how: sampler) -> f32 { return textureSampleLevel(d, how, vec2f(0.5), 0); }
    @compute @workgroup_size(1) fn main() {
        out = depth(t, s) + textureGatherCompare(t, c, vec2f(0.5), 0.5) + textureGather(0, other, s, vec2f(0.5));
    }"""
DEPTHS = {"t": np.zeros((2, 2), np.float32), "s": tinct.Sampler(), "c": COMPARING, "other": IMAGE, "out": OUT}


def kernel(wgsl: str) -> Kernel:
    return Shader(Source.from_text(wgsl)).kernel()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"s": None}, "s: sampler takes a tinct.Sampler, not None"),
        ({"s": {"mag_filter": "linear"}}, r"s: sampler takes a tinct.Sampler, not \{'mag_filter': 'linear'\}"),
        ({"s": b"\0" * 40}, "s: sampler takes a tinct.Sampler, not b'"),
        ({"s": COMPARING}, "s: sampler takes no sampler with compare"),
        ({"t": LINEAR}, r"t: texture_2d<f32> takes an array, not a sampler"),
        ({"out": LINEAR}, r"out: vec4<f32> takes an array, not a sampler"),
    ],
)
def test_what_does_not_fit(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(tinct.InputError, match=message):
        kernel(PLAIN).run({"t": IMAGE, "s": LINEAR, "out": OUT, **changes}, workgroups=1, device="interp")


def test_a_missing_sampler_is_named() -> None:
    with pytest.raises(tinct.InputError, match=r"no sampler is given for s: sampler$"):
        kernel(PLAIN).run({"t": IMAGE, "out": OUT}, workgroups=1, device="interp")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"c": tinct.Sampler()}, "c: sampler_comparison needs a sampler with compare"),
        ({"s": LINEAR}, "s: a sampler with linear filters is not for t: texture_depth_2d"),
    ],
)
def test_depths_are_not_filtered_without_a_comparison(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(tinct.InputError, match=message):
        kernel(DEPTH).run({**DEPTHS, **changes}, workgroups=1, device="interp")


def test_integers_are_not_filtered() -> None:
    wgsl = PLAIN.replace("2d<f32>", "2d<u32>").replace("textureSampleLevel(t, s, vec2f(0.5), 0)", "vec4f(gathered())")
    wgsl += "fn gathered() -> vec4u { return textureGather(0, t, s, vec2f(0.5)); }"
    given = {"t": IMAGE.astype(np.uint32), "s": tinct.Sampler(), "out": OUT}
    with pytest.raises(tinct.InputError, match="linear filters is not for t"):
        kernel(wgsl).run({**given, "s": LINEAR}, workgroups=1, device="interp")


def test_sessions_take_samplers_as_values_only() -> None:
    made = kernel(PLAIN)
    info = made.bindings[1]
    with tinct.Session() as session:
        for refused in (lambda: session.buffer(LINEAR, info), lambda: session.empty(info)):
            with pytest.raises(tinct.InputError, match=r"s: sampler takes a tinct.Sampler, not a buffer"):
                refused()
        given = {"t": IMAGE, "s": session.buffer(np.zeros(40, np.uint8)), "out": None}
        with pytest.raises(tinct.InputError, match=r"s: sampler takes a tinct.Sampler, not a buffer"):
            session.run(made, given, workgroups=1, device="interp")
        depths = {**DEPTHS, "s": LINEAR, "out": None}
        with pytest.raises(tinct.InputError, match="s: a sampler with linear filters is not for t"):
            session.run(kernel(DEPTH), depths, workgroups=1, device="interp")


def test_case_files_and_the_command_line_state_samplers(tmp_path: Path) -> None:
    (tmp_path / "k.wgsl").write_text(PLAIN)
    case = '[[case]]\nname = "a"\nworkgroups = 1\n[case.samplers]\ns = {mag_filter = "linear", FIELD}\n'
    (tmp_path / "k.toml").write_text(case.replace("FIELD", "lod_max_clamp = 2.0"))
    ((loaded,),) = (it.cases for it in load_cases(tmp_path))
    assert loaded.samplers == {"s": tinct.Sampler(mag_filter="linear", lod_max_clamp=2.0)}
    (tmp_path / "k.toml").write_text(case.replace("FIELD", "wrap = 1"))
    with pytest.raises(tinct.InputError, match=r"case 'a', samplers.s: a sampler has no 'wrap'"):
        load_cases(tmp_path)
    specs = ("t=zeros:2x2x4", "out=zeros", 's={"min_filter": "linear"}')
    assert make_buffers(kernel(PLAIN), specs, 0)["s"] == tinct.Sampler(min_filter="linear")
    for text, message in (("zeros", "a sampler is JSON"), ('{"min_filter": 3}', "min_filter is one of")):
        with pytest.raises(tinct.InputError, match=message):
            make_buffers(kernel(PLAIN), (f"s={text}",), 0)


def test_layouts_for_wgpu_py_filter_where_all_textures_may_be() -> None:
    entries = kernel(PLAIN).bind_group_layouts()[0]
    assert [entries[0]["texture"], entries[1]["sampler"]] == [
        {"sample_type": "float", "view_dimension": "2d", "multisampled": False},
        {"type": "filtering"},
    ]
    assert [it["sampler"] for it in kernel(DEPTH).bind_group_layouts()[0][1:3]] == [
        {"type": "non-filtering"},
        {"type": "comparison"},
    ]


@pytest.mark.parametrize("device", ["interp", "hercules", "cpu"])
@pytest.mark.parametrize("dimension", ["texture_2d", "texture_cube"])
def test_calls_that_no_invocation_reaches_leave_their_sampler_unused(device: str, dimension: str) -> None:
    place, faces = ("vec3f(0.5)", (6,)) if "cube" in dimension else ("vec2f(0.5)", ())
    text = PLAIN.replace("texture_2d", dimension).replace("vec2f(0.5)", place)
    given = {"t": np.zeros((*faces, 2, 2, 4), np.float32), "s": LINEAR, "out": OUT + 3}
    out = kernel(text.replace("{", "{ out += 1.0; return;")).run(given, workgroups=1, device=device)["out"]
    assert out.tolist() == [4, 4, 4, 4]
