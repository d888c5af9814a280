"""`assert_agrees` allows what WGSL lets the results of each float function be off, and what follows from that."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.accuracy.functions import FUNCTIONS

import tinct
from tinct.backend.cpu.math import is_transcendental
from tinct.compare import EXACT, Comparison, Tolerance
from tinct.compared_dispatch import ComparedDispatch
from tinct.testing import assert_agrees
from tinct.transforms.core.accuracy_bounds import BOUNDED, bound, steps

Array = npt.NDArray[Any]

DIRECT = ("exp", "exp2", "log", "log2", "sin", "cos", "atan", "atan2", "inverseSqrt")
"""The functions whose rule is a number, not inherited from an expression."""
KINDS = [(name, type, FUNCTIONS[name].arity) for name in sorted(BOUNDED) for type in ("f32", "f16")]
BOUNDS = tinct.load(steps("f32") + steps("f16") + "".join(bound(*it) for it in KINDS)).functions


def test_the_bounds_are_the_rules_by_which_the_cpu_is_judged() -> None:
    """Those of tests/accuracy, where inherited ones leave steps out (and are those of f32)."""
    x = np.concatenate([np.linspace(-1, 1, 33), np.linspace(1, 11, 16)[1:], -np.linspace(1, 3, 8)]).astype(np.float16)
    for name, type, arity in KINDS:
        dtype = np.dtype(np.float32 if type == "f32" else np.float16)
        arguments = [x.astype(np.float64), np.full(len(x), 1.5)][:arity]
        with np.errstate(all="ignore"):
            want = FUNCTIONS[name].exact(*arguments)
            unit = np.spacing(np.abs(want).astype(dtype)).astype(np.float64)
            rule = FUNCTIONS[name].rule(dtype).allowed(arguments[-1], want, unit)
        known = np.isfinite(want) & np.isfinite(rule) & (np.abs(want) >= 2.0**-14)
        allowed = BOUNDS[f"off_{name}_{type}"](*arguments, want, device="interp")[known]
        assert known.sum() > 10 and np.isfinite(allowed).all()
        if name in DIRECT:
            assert (np.abs(allowed / rule[known] - 1) <= 0.01).all(), (name, type)
        elif type == "f32":
            assert (allowed >= 0.99 * rule[known]).all(), (name, type)


HALVES = tinct.load("""
enable f16;
@group(0) @binding(0) var<storage, read_write> halves: array<vec2h, 8>;
@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) { halves[i] = exp2(halves[i] + 1); }
""")["main"]


def test_components_of_vectors_move_together() -> None:
    given = {"halves": np.append(np.linspace(-2, 0, 15), 14.99).astype(np.float16).reshape(8, 2)}
    allowed = ComparedDispatch(HALVES, given, threads=8)._of_results.changes["halves"][()]
    argument = given["halves"].astype(np.float64) + 1
    unit = np.spacing(np.exp2(argument).astype(np.float16)).astype(np.float64)
    off = np.maximum(1 + 2 * np.abs(argument), 4) * unit
    np.testing.assert_allclose(allowed[:7], off[:7], atol=float(unit[:7].max()))
    assert np.isfinite(allowed).all(), "the last result is the greatest below infinity but a few"


def test_all_functions_that_the_cpu_approximates_have_a_bound() -> None:
    assert set(BOUNDED) == {it for it in FUNCTIONS if is_transcendental(it)} | {"degrees", "radians"}


SHADER = tinct.load("""
@group(0) @binding(0) var<storage> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage, read_write> steps: array<u32>;
fn wave(t: f32) -> f32 { return sin(t); }
@compute @workgroup_size(64) fn waves(@builtin(global_invocation_id) id: vec3u) {
    var sum = 0.0;
    for (var k = 1u; k <= 3u; k++) { sum += 100 * wave(x[id.x] / f32(k)); }
    y[id.x] = sum;
}
@compute @workgroup_size(64) fn decay(@builtin(global_invocation_id) id: vec3u) { y[id.x] = exp(-x[id.x]) * 3; }
@compute @workgroup_size(64) fn rounded(@builtin(global_invocation_id) id: vec3u) {
    steps[id.x] = u32(1000 + 900 * sin(x[id.x]));
}
@compute @workgroup_size(64) fn scaled(@builtin(global_invocation_id) id: vec3u) { y[id.x] = x[id.x] * 3; }
""")
X = np.linspace(0, 3, 256, dtype=np.float32)


def compared(entry: str, output: str, actual: Array) -> Comparison:
    """The verdict on what another device is said to have written, without any tolerance."""
    kernel = SHADER[entry]
    given = {it.name: X if it.name == "x" else (None, len(X)) for it in kernel.bindings}
    expected = kernel.run(given, threads=len(X))[output]
    return ComparedDispatch(kernel, given, threads=len(X)).compare_by_rules(output, expected, actual, EXACT, "interp")


def test_errors_are_followed_through_the_kernel() -> None:
    """Three sines of a sum, each times 100: the errors of a device with the worst sine agree, larger ones not."""
    off = 300 * 2.0**-11
    exact = sum(100 * np.sin(X.astype(np.float64) / k) for k in (1, 2, 3))
    assert compared("waves", "y", (exact + 0.99 * off).astype(np.float32)).agrees
    assert compared("waves", "y", (exact - 0.99 * off).astype(np.float32)).agrees
    assert compared("waves", "y", (exact + 1.01 * off).astype(np.float32)).mismatches == len(X)


def test_a_relative_bound_grows_and_shrinks_with_the_result() -> None:
    exact = 3 * np.exp(-X.astype(np.float64))
    assert compared("decay", "y", (exact * (1 + 2.0**-23)).astype(np.float32)).agrees
    assert not compared("decay", "y", (exact * (1 + 2.0**-18)).astype(np.float32)).agrees


def test_integers_may_change_where_an_error_tips_them() -> None:
    exact = 1000 + 900 * np.sin(X.astype(np.float64))
    assert compared("rounded", "steps", (exact + 0.4).astype(np.uint32)).agrees
    assert not compared("rounded", "steps", (exact + 2).astype(np.uint32)).agrees


def test_kernels_without_such_functions_are_exact() -> None:
    tripled = X * 3
    assert compared("scaled", "y", tripled).agrees
    assert not compared("scaled", "y", np.nextafter(tripled, np.float32(9))).agrees


def test_devices_agree_without_a_tolerance_and_exactness_can_be_demanded() -> None:
    """Seeds for which the results of the CPU and of the interpreter differ in the last place."""
    given = {"x": X, "y": np.zeros(256, np.float32)}
    assert_agrees(SHADER["waves"], given, threads=256)
    with pytest.raises(AssertionError, match=r"y, interp against cpu \(exact\)"):
        assert_agrees(SHADER["waves"], given, threads=256, devices=["cpu", "interp"], tolerance=Tolerance())
    wrong = {"y": np.zeros(256, np.float32)}
    with pytest.raises(AssertionError, match=r"\(ulp 16, absolute 1e-06, and what WGSL allows sin\): 25. of 256"):
        assert_agrees(SHADER["waves"], given, threads=256, devices=["cpu"], expected=wrong)
