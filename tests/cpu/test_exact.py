"""What is known of floats and of products saves operations, and changes no bit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tinct.backend.cpu.exact_products import is_exact_product
from tinct.backend.cpu.float_bounds import float_bounds
from tinct.ir.hercules import nodes as h
from tinct.ir.hercules.types import F32, I32, U32
from tinct.ir.source import Source
from tinct.kernel import Kernel
from tinct.shader import Shader

INF = float("inf")


def kernel(body: str) -> Kernel:
    head = (
        "@group(0) @binding(0) var<storage, read_write> x: array<f32>; @group(0) @binding(1) var<storage, read_write>"
    )
    text = f"""{head} out: array<vec4i>;
        @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u) {{
            let v = x[id.x]; let w = x[id.x + 1]; out[id.x] = {body};
        }}"""
    return Shader(Source.from_text(text)).kernel()


ODD = [0.0, -0.0, 0.5, -0.5, 1.0, 1.5, -16.0, 255.4, 2.0**30, 2.0**31, -(2.0**31), 1e30, -1e30, INF, -INF, float("nan")]
CASES = (
    # bounds on both sides, on one, on none; of operands that may be NaN, in both places
    "vec4i(floor(vec4f(clamp(v, 0, 1) * 255 + 0.5, saturate(v) * 3, max(v, -16), min(max(v, -16), w + 4))))",
    "vec4i(vec4f(min(v, 7), max(min(v, w), 3), clamp(v, -2.5, 1e9), clamp(v, -3e9, 3e9)))",
    "vec4i(i32(floor(max(v, 0))), i32(ceil(min(max(v, 2), 9))), i32(trunc(v)), i32(u32(max(v, 1) * -2)))",
    "bitcast<vec4i>(vec4f(max(v, -1), min(v, 1), max(v, 0), min(v, -0.0)))",
    "bitcast<vec4i>(vec4f(max(v, w), min(v, w), clamp(v, -1, 1), max(2, v)))",
)


@pytest.mark.parametrize("body", CASES)
def test_numbers_that_are_bounded_convert_as_all_others(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.array([it for pair in itertools.product(ODD, ODD) for it in pair] + [0.0], np.float32)
    given = {"x": numbers, "out": np.zeros((2 * len(ODD) ** 2, 4), np.int32)}
    tested = kernel(body)
    expected = tested.run(given, threads=2 * len(ODD) ** 2, device="interp")["out"]
    for tier in ("gang", "baseline"):
        monkeypatch.setenv("TINCT_CPU_TIER", tier)
        np.testing.assert_array_equal(tested.run(given, threads=2 * len(ODD) ** 2)["out"], expected, err_msg=tier)


def number(value: float) -> h.ConstantNode:
    return h.ConstantNode(h.FloatConstant(F32, value))


def test_bounds() -> None:
    unknown, signed = h.Parameter(0, label="v"), h.Parameter(1, label="i")
    types: dict[h.Node, h.Type] = {unknown: F32, signed: I32}
    inside = h.Intrinsic("clamp", F32, [unknown, number(0.0), number(1.0)])
    scaled = h.Binary(h.BinaryOp.ADD, h.Binary(h.BinaryOp.MUL, inside, number(-255.0)), number(0.5))
    assert float_bounds(scaled, types) == (-254.5, 0.5)
    assert float_bounds(h.Intrinsic("floor", F32, [scaled]), types) == (-255.0, 0.0)
    assert float_bounds(unknown, types) is None
    assert float_bounds(h.Intrinsic("max", F32, [unknown, number(3.0)]), types) == (3.0, INF)
    assert float_bounds(h.Intrinsic("min", F32, [number(3.0), unknown]), types) == (-INF, 3.0)
    assert float_bounds(h.Cast(F32, signed), types) == (-(2.0**31), 2.0**31)
    unbounded = h.Intrinsic("max", F32, [unknown, number(0.0)])
    assert float_bounds(h.Binary(h.BinaryOp.MUL, unbounded, number(0.0)), types) is None  # infinity times 0


@pytest.mark.parametrize(("mask", "factor", "is_exact"), [(255, 0.5019607543945312, True), (511, 0.1, False)])
def test_products_are_exact_if_their_bits_fit(mask: int, factor: float, is_exact: bool) -> None:
    word = h.Parameter(0, label="word")
    types: dict[h.Node, h.Type] = {word: U32}
    bits = h.Binary(h.BinaryOp.AND, word, h.ConstantNode(h.IntegerConstant(U32, mask)))
    types |= {bits: U32, bits.rhs: U32}
    factor = float(np.float32(factor)) if not is_exact else float(np.float32(int(factor * 2**15)) / 2**15)
    assert is_exact_product(h.Binary(h.BinaryOp.MUL, h.Cast(F32, bits), number(factor)), types) == is_exact
    assert not is_exact_product(h.Binary(h.BinaryOp.MUL, h.Cast(F32, bits), number(1e-38)), types)
