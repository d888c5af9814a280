"""What results may be off on devices that round where they sample, on devices that are simulated by the interpreter."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinct
from tinct import blending
from tinct.backend.gpu import GpuDevice
from tinct.blending import Blending
from tinct.cases import load_cases
from tinct.compare import Allowance, Comparison, Tolerance, compare
from tinct.compared_dispatch import ComparedDispatch
from tinct.devices import DEVICES, run_interpreted
from tinct.testing import assert_agrees

from .simulated_filters import H200, STEP, Rounding, simulate, simulate_h200, simulate_weights

ROUNDINGS: list[Rounding] = [math.floor, math.ceil, round]


def let_measure(monkeypatch: pytest.MonkeyPatch, found: Blending) -> None:
    """Let every adapter be measured so."""
    monkeypatch.setattr(blending, "_measured", lambda adapter: found)


def allowance(dispatch: ComparedDispatch, output: str) -> Allowance:
    return dispatch._of_samples.on("gpu")[output]


KINDS = """
    @group(0) @binding(0) var flat: texture_2d<f32>;
    @group(0) @binding(1) var cube: texture_cube<f32>;
    @group(0) @binding(2) var depths: texture_depth_2d;
    @group(0) @binding(3) var s: sampler;
    @group(0) @binding(4) var c: sampler_comparison;
    @group(0) @binding(5) var<storage> at: array<vec4f>;
    @group(0) @binding(6) var<storage, read_write> out: array<array<vec4f, 5>>;
    @group(0) @binding(7) var deep: texture_3d<f32>;
    fn sampled(t: texture_2d<f32>, how: sampler, p: vec4f) -> vec4f { return textureSampleLevel(t, how, p.xy, p.w); }
    @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
        let p = at[id.x];
        out[id.x][0] = sampled(flat, s, p);
        out[id.x][1] = textureSampleLevel(cube, s, p.xyz * 2 - 1, p.w);
        out[id.x][2].x = textureSampleCompareLevel(depths, c, p.xy, p.z);
        out[id.x][3] = textureSampleLevel(deep, s, p.xyz, p.w);
        out[id.x][4] = textureSampleGrad(flat, s, p.xy, p.zw * 0.2, p.wx * 0.1);
    }"""


def kinds() -> dict[str, Any]:
    random = np.random.default_rng(5)
    at = random.random((24, 4)).astype(np.float32)
    at[:, 3] = at[:, 3] * 3 - 0.5
    return {
        "flat": [random.random((8 >> it, 8 >> it, 4), np.float32) for it in range(3)],
        "cube": [random.random((6, 4 >> it, 4 >> it, 4), np.float32) for it in range(2)],
        "depths": random.random((8, 8), np.float32),
        "deep": [random.random((4 >> it, 4 >> it, 4 >> it, 4), np.float32) for it in range(2)],
        "at": at,
        "out": np.zeros((24, 5, 4), np.float32),
    }


@pytest.mark.parametrize("product", [0.0, STEP / 2, STEP])
def test_it_covers_every_kind_of_sample(product: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in one element, and it is at most ten times the greatest error of its kind of call where no gradient is."""
    let_measure(monkeypatch, Blending(STEP, product))
    of_products: dict[float, list[Rounding | None]] = {0.0: [None], STEP / 2: [round], STEP: [math.floor, math.ceil]}
    made, textures = tinct.load(KINDS)["main"], kinds()
    filters: tuple[Any, ...] = ("linear", "nearest")
    for filter in filters:
        s = tinct.Sampler(mag_filter=filter, min_filter=filter, mipmap_filter=filter, lod_max_clamp=1.5)
        given = {**textures, "s": s, "c": tinct.Sampler(mag_filter=filter, compare="less-equal")}
        exact = made.run(given, threads=24, device="interp")["out"]
        allowed = allowance(ComparedDispatch(made, given, threads=24), "out")[()]
        worst = np.zeros(5)
        for rounding, products in itertools.product(ROUNDINGS, of_products[product]):
            with monkeypatch.context() as patch:
                simulate(patch, rounding, STEP, products)
                off = np.abs(made.run(given, threads=24, device="interp")["out"] - exact)
            assert (off <= allowed + 1e-6).all(), (filter, rounding, products)
            worst = np.maximum(worst, off.max(axis=(0, 2)))
        if filter == "linear":
            assert (worst > STEP / 4).all()
            assert (np.median(allowed, axis=(0, 2))[:4] < 10 * worst[:4]).all()
        else:
            assert (allowed[:, :4] == 0).mean() > 0.8, "away from the borders of texels, nothing changes"


SHARPEN = """
    struct Found { sharp: f32, bright: u32 }
    @group(0) @binding(0) var picture: texture_2d<f32>;
    @group(0) @binding(1) var smooth_sampler: sampler;
    @group(0) @binding(2) var<storage, read_write> found: array<Found>;
    fn at(place: vec2f) -> f32 { return textureSampleLevel(picture, smooth_sampler, place, 0).x; }
    @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3u) {
        let place = fract(vec2f(f32(id.x)) * vec2f(0.754877666, 0.569840291));
        var sum = 0.0;
        for (var k = 0u; k < 4; k++) {
            sum += at(place + 0.05 * vec2f(f32(k & 1), f32(k >> 1)));
        }
        found[id.x].sharp = 5 * at(place) - sum;
        found[id.x].bright = u32(sum * 50);
    }"""


def sharpen() -> tuple[tinct.Kernel, dict[str, Any]]:
    picture = np.random.default_rng(2).integers(0, 256, (16, 16, 4)).astype(np.uint8)
    found = np.zeros(64, [("sharp", "<f4"), ("bright", "<u4")])
    linear = tinct.Sampler(mag_filter="linear", min_filter="linear", max_anisotropy=1)
    return tinct.load(SHARPEN)["main"], {"picture": picture, "smooth_sampler": linear, "found": found}


def test_samples_with_opposite_signs_and_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Moved together, the samples of a sharpened picture nearly cancel out."""
    let_measure(monkeypatch, H200)
    made, given = sharpen()
    exact = made.run(given, threads=64, device="interp")["found"]
    dispatch = ComparedDispatch(made, given, threads=64)
    bound = Tolerance(absolute=1e-5, steps=1)
    for rounding in ROUNDINGS:
        with monkeypatch.context() as patch:
            simulate(patch, rounding, STEP)
            coarse = made.run(given, threads=64, device="interp")["found"]
        assert not compare(exact, coarse, bound).agrees
        assert dispatch.compare("found", exact, coarse, bound, "gpu").agrees
        assert not dispatch.compare("found", exact, coarse, bound, "cpu", "gpu via hercules").agrees
    with monkeypatch.context() as patch:
        simulate(patch, math.floor, STEP * 16)
        coarser = made.run(given, threads=64, device="interp")["found"]
    assert not dispatch.compare("found", exact, coarser, bound, "gpu").agrees


def test_assert_agrees_needs_no_tolerance_for_a_coarse_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device "gpu" is simulated here."""
    made, given = sharpen()
    exact = made.run(given, threads=64, device="interp")["found"]
    simulate_h200(monkeypatch)
    monkeypatch.setitem(DEVICES, "gpu", run_interpreted)
    steps = Tolerance(ulp=16, absolute=1e-6, steps=1)
    arguments: dict[str, Any] = {"threads": 64, "tolerance": steps}
    let_measure(monkeypatch, Blending(2.0**-16))
    with pytest.raises(AssertionError, match="of 128 differ"):
        assert_agrees(made, given, devices=["gpu"], expected={"found": exact}, **arguments)
    let_measure(monkeypatch, H200)
    found = assert_agrees(made, given, devices=["gpu"], expected={"found": exact}, **arguments)["found"]
    with pytest.raises(AssertionError, match="of 128 differ"):
        assert_agrees(made, given, devices=["cpu"], expected={"found": found}, **arguments)


WRONG = {
    "a sample is off by 1/32 of a texel": ("5 * at(place)", "5 * at(place + 1.0 / 512)"),
    "a sample too much": ("k < 4", "k < 5"),
    "a weight": ("5 * at(place)", "4.95 * at(place)"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_kernel_is_found_on_a_device_that_rounds(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    let_measure(monkeypatch, H200)
    made, given = sharpen()
    exact = made.run(given, threads=64, device="interp")["found"]
    simulate_h200(monkeypatch)
    found = tinct.load(SHARPEN.replace(*WRONG[wrong]))["main"].run(given, threads=64, device="interp")["found"]
    dispatch = ComparedDispatch(made, given, threads=64)
    assert not dispatch.compare("found", exact, found, Tolerance(absolute=1e-5, steps=1), "gpu").agrees


SADDLE = """
    @group(0) @binding(0) var picture: texture_2d<f32>;
    @group(0) @binding(1) var s: sampler;
    @group(0) @binding(2) var<storage, read_write> out: array<f32>;
    @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
        let texels = vec2f(f32(id.x % 16), f32(id.x / 16)) / 256 + 1;
        out[id.x] = textureSampleLevel(picture, s, texels / 2, 0).x;
    }"""


def test_products_of_weights_count_where_no_place_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where two slopes cancel out, and places need no rounding, all that is left is that of products."""
    picture = np.zeros((2, 2, 4), np.float32)
    picture[[0, 1], [0, 1]] = 1
    given = {"picture": picture, "s": tinct.Sampler(mag_filter="linear"), "out": np.zeros(256, np.float32)}
    made, bound = tinct.load(SADDLE)["main"], Tolerance(absolute=2.0**-12)
    exact = made.run(given, threads=256, device="interp")["out"]
    with monkeypatch.context() as patch:
        simulate_weights(patch, round, STEP)
        found = made.run(given, threads=256, device="interp")["out"]
    let_measure(monkeypatch, Blending(H200.place))
    assert not ComparedDispatch(made, given, threads=256).compare("out", exact, found, bound, "gpu").agrees
    let_measure(monkeypatch, H200)
    dispatch = ComparedDispatch(made, given, threads=256)
    assert dispatch.compare("out", exact, found, bound, "gpu").agrees
    assert np.abs(found - exact).max() > 0.9 * STEP
    assert not dispatch.compare("out", exact, exact + np.float32(2.5 * STEP), bound, "gpu").agrees


FOUND_ON_AN_H200 = {
    ("reflection", "65 of 4"): (14, (5, 1), 0.7209252715110779, 0.004030718571387926),
    ("tilt_shift", "9x11 of 5x4"): (3, (2, 5, 0), 0.7564951181411743, 0.003051976487999708),
    ("turn", "9x7 of 5x4"): (3, (2, 2, 2), 0.7012714743614197, 0.0025207913716630004),
}
"""What `tinct compare` said of that device, when only places were taken to be rounded: the number of elements that
differ, the first of them, its value there, and the greatest difference of all elements.
"""


@pytest.mark.parametrize(("kernel", "case"), FOUND_ON_AN_H200)
def test_the_shaders_agree_on_an_h200(kernel: str, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (cases,) = load_cases(Path(__file__).parents[2] / "shaders" / kernel)
    chosen = next(it for it in cases.cases if it.name == case)
    made = tinct.load(chosen.kernel_path)["main"]
    given = {**chosen.inputs_of(list(made.bindings)), **chosen.samplers}
    ((output, tolerance),) = chosen.outputs.items()
    expected = (chosen.expected(given) or {})[output]
    with monkeypatch.context() as patch:
        simulate_h200(patch)
        found = made.run(given, workgroups=chosen.workgroups, threads=chosen.threads, device="interp")[output]

    def compared(measured: Blending) -> Comparison:
        let_measure(monkeypatch, measured)
        dispatch = ComparedDispatch(made, given, chosen.workgroups, chosen.threads)
        return dispatch.compare(output, expected, found, tolerance, "gpu")

    before = compared(Blending(H200.place))
    assert before.first is not None
    assert (before.mismatches, before.first.index) == FOUND_ON_AN_H200[kernel, case][:2]
    assert (before.first.actual, before.worst_absolute) == pytest.approx(FOUND_ON_AN_H200[kernel, case][2:], abs=1e-7)
    assert compared(H200).agrees


@pytest.mark.skipif(not GpuDevice.available(), reason="no GPU")
def test_anisotropy_is_left_out_of_comparisons() -> None:
    wgsl = """
        @group(0) @binding(0) var picture: texture_2d<f32>;
        @group(0) @binding(1) var s: sampler;
        @group(0) @binding(2) var<storage, read_write> out: array<vec4f>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
            let place = fract(vec2f(f32(id.x)) * vec2f(0.754877666, 0.569840291));
            out[id.x] = textureSampleGrad(picture, s, place, vec2f(0.25, 0), vec2f(0, 0.05));
        }"""
    random = np.random.default_rng(0)
    levels = [random.random((32 >> it, 32 >> it, 4), np.float32) for it in range(6)]
    linear = tinct.Sampler(mag_filter="linear", min_filter="linear", mipmap_filter="linear", max_anisotropy=8)
    given = {"picture": levels, "s": linear, "out": np.zeros((50, 4), np.float32)}
    assert_agrees(tinct.load(wgsl)["main"], given, threads=50, devices=["cpu", "gpu"])


def test_a_sampler_that_samples_nothing_allows_nothing() -> None:
    wgsl = """
        @group(0) @binding(0) var s: sampler;
        @group(0) @binding(1) var<storage, read_write> out: f32;
        @compute @workgroup_size(1) fn main() { _ = s; out = 1; }"""
    dispatch = ComparedDispatch(tinct.load(wgsl)["main"], {"s": tinct.Sampler(), "out": 0}, threads=1)
    assert not dispatch.compare("out", np.ones(1), np.zeros(1), Tolerance(), "gpu").agrees


def test_allowances_go_with_their_elements() -> None:
    expected = np.array([(1.0, 3), (0.0, 5)], [("x", "<f4"), ("n", "<i4")])
    actual = np.array([(0.0, 5), (1.5, 5)], expected.dtype)
    allowed: Allowance = {("x",): np.array([0.5, 0.0]), ("n",): np.array([2.0, 0.0])}
    multiset = Tolerance(multiset=True)
    assert compare(expected, actual, multiset, allowed).agrees
    assert not compare(expected, actual, multiset, {("x",): np.array([0.0, 0.5]), ("n",): np.array([2.0, 2.0])}).agrees
    assert not compare(expected, actual, multiset).agrees
    nan, inf = np.array([np.nan]), np.array([np.inf])
    assert compare(nan, np.ones(1), Tolerance(), {(): inf}).agrees
    assert not compare(nan, np.ones(1), Tolerance(), {(): np.array([9.0])}).agrees


def test_external_textures_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    wgsl = """
        @group(0) @binding(0) var video: texture_external;
        @group(0) @binding(1) var s: sampler;
        @group(0) @binding(2) var<storage, read_write> out: array<vec4f>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
            let place = fract(vec2f(f32(id.x)) * vec2f(0.754877666, 0.569840291));
            out[id.x] = textureSampleBaseClampToEdge(video, s, place) + textureLoad(video, vec2u(id.x, 1));
        }"""
    let_measure(monkeypatch, H200)
    made, picture = tinct.load(wgsl)["main"], np.random.default_rng(3).random((4, 5, 4), np.float32)
    plain = tinct.load(wgsl.replace("external", "2d<f32>").replace("(id.x, 1)", "(id.x, 1), 0"))["main"]
    given = {"video": picture, "s": tinct.Sampler(mag_filter="linear"), "out": np.zeros((9, 4), np.float32)}
    gpu = ["gpu"] if GpuDevice.available() else []
    found = assert_agrees(made, given, threads=9, devices=["interp", "hercules", "cpu", *gpu])["out"]
    np.testing.assert_array_equal(found, plain.run(given, threads=9, device="interp")["out"])
    allowed = allowance(ComparedDispatch(made, given, threads=9), "out")[()]
    assert 0 < allowed.max() < 4 * STEP
