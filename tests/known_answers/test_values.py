"""Values that are easily got wrong: matrices, f16, packing, conversions, shifts and divisions, NaN, bit functions."""

from __future__ import annotations

import numpy as np
import pytest

from .support import KnownAnswer, check, named


def kernel(type: str, result: str, body: str, more: str = "") -> str:
    return f"""{more}
        @group(0) @binding(0) var<storage, read_write> out: array<{result}>;
        @group(0) @binding(1) var<storage> given: array<{type}>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {{
          let i = id.x;
          if i < arrayLength(&out) {{ {body} }}
        }}"""


def wrapped(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def halves(*values: float) -> np.ndarray:
    return np.array(values, np.float16)


NAN, INF = float("nan"), float("inf")
LEAST = -(2**31)
INTS = np.array([LEAST, -7, 7, 2**31 - 1, 0, -1], np.int32)
PARTS = floats(0.5, -2.0, 1.0, -0.25)
COUNTS = [30, 31, 0, 1, 2, 3]
A = np.arange(6, dtype=np.float32).reshape(2, 3)  # columns of mat2x3
B = np.array([[1, -2], [3, 0.5], [-4, 2]], np.float32)  # columns of mat3x2

KERNELS = [
    KnownAnswer(
        "division, remainder and negation of the least integer, and by zero",
        kernel(
            "i32",
            "vec4i",
            "let n = given[i]; var m = -1; var zero = 0; out[i] = vec4i(n / m, n % m, n / zero, n % zero);",
        ),
        {
            "out": [
                [LEAST, 0, LEAST, 0],
                [7, 0, -7, 0],
                [-7, 0, 7, 0],
                [-(2**31 - 1), 0, 2**31 - 1, 0],
                [0] * 4,
                [1, 0, -1, 0],
            ]
        },
        {"out": np.zeros((6, 4), np.int32), "given": INTS},
        workgroups=2,
    ),
    KnownAnswer(
        "shifts take the count modulo the width, and right shifts keep the sign",
        kernel(
            "i32",
            "vec4i",
            "let n = given[i]; let k = 30u + i; let u = bitcast<u32>(n);"
            " out[i] = vec4i(n << k, n >> k, bitcast<i32>(u >> k), ~n);",
        ),
        {
            "out": [
                [wrapped(n << k), n >> k, wrapped((n & 0xFFFFFFFF) >> k), ~n]
                for n, k in zip(INTS.tolist(), COUNTS, strict=True)
            ]
        },
        {"out": np.zeros((6, 4), np.int32), "given": INTS},
        workgroups=2,
    ),
    KnownAnswer(
        "floats to integers saturate, and NaN is zero",
        kernel("f32", "vec2i", "let x = given[i]; out[i] = vec2i(i32(x), bitcast<i32>(u32(x)));"),
        {"out": [[0, 0], [2147483520, -256], [LEAST, 0], [-1, 0], [2, 2], [2147483520, 2**31 - 2**32]]},
        {"out": np.zeros((6, 2), np.int32), "given": floats(NAN, INF, -INF, -1.9, 2.9, 2.0**31)},
        workgroups=2,
    ),
    KnownAnswer(
        "comparisons of NaN",
        kernel(
            "f32",
            "vec4u",
            "let x = given[i]; var r = vec4u();"
            " r.x = u32(x == x); r.y = u32(x != x); r.z = u32(!(x < 1)); r.w = u32(x >= 1); out[i] = r;",
        ),
        {"out": [[0, 1, 1, 0], [1, 0, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0]]},
        {"out": np.zeros((4, 4), np.uint32), "given": floats(NAN, INF, -0.0, -INF)},
    ),
    KnownAnswer(
        "products of matrices that are not square",
        kernel(
            "mat2x3f",
            "mat3x3f",
            "let b = mat3x2f(1, -2, 3, 0.5, -4, 2); out[i] = given[i] * b; out[i] = transpose(out[i]);",
        ),
        {"out": [np.pad((A.T @ B.T), ((0, 0), (0, 1)))]},
        {"out": np.zeros((1, 3, 4), np.float32), "given": np.pad(A, ((0, 0), (0, 1)))[None]},
    ),
    KnownAnswer(
        "matrices and vectors from either side, and columns by a computed index",
        kernel(
            "mat2x3f",
            "vec4f",
            "let m = given[0]; let v = vec2f(2, -1); let w = vec3f(1, 0, 3); let k = i & 1;"
            " var c = m; c[k] += w; c[1 - k].y = 9;"
            " out[i] = vec4f((w * m)[k], (m * v)[i % 3], c[k][2], c[1 - k].y + determinant(mat2x2f(v, v.yx)));",
        ),
        {"out": [[(A @ [1, 0, 3])[i & 1], (A.T @ [2, -1])[i % 3], A[i & 1][2] + 3, 9 + 2 * 2 - 1] for i in range(4)]},
        {"out": np.zeros((4, 4), np.float32), "given": np.pad(A, ((0, 0), (0, 1)))[None]},
    ),
    KnownAnswer(
        "f16 rounds after each operation",
        "enable f16;"
        + kernel(
            "f16",
            "vec4h",
            "let h = given[i]; out[i] = vec4h(h + 2048h, (h * 3h) / 3h, h - 0.1h, f16(f32(h) * 1.0009));",
        ),
        {
            "out": [
                [
                    h + np.float16(2048),
                    (h * np.float16(3)) / np.float16(3),
                    h - np.float16(0.1),
                    np.float16(np.float32(h) * np.float32(1.0009)),
                ]
                for h in halves(1, 3, 1000, 0.1)
            ]
        },
        {"out": np.zeros((4, 4), np.float16), "given": halves(1, 3, 1000, 0.1)},
    ),
    KnownAnswer(
        "structs with f16 beside f32, and their padding",
        "enable f16; struct Mixed { a: f16, b: f32, c: vec3h, d: array<f16, 3>, e: mat2x2h }"
        + kernel("Mixed", "f32", "let m = given[i]; out[i] = f32(m.a) + m.b + f32(m.c.z + m.d[2] + m.e[1].y);"),
        {"out": floats(1 + 2 + 5 + 8 + 12, 2 + 4 + 10 + 16 + 24)},
        {
            "out": np.zeros(2, np.float32),
            "given": np.array(
                [
                    (k, 2 * k, [3 * k, 4 * k, 5 * k], [6 * k, 7 * k, 8 * k], [[9 * k, 10 * k], [11 * k, 12 * k]])
                    for k in (1, 2)
                ],
                np.dtype(
                    {
                        "names": ["a", "b", "c", "d", "e"],
                        "formats": ["f2", "f4", ("f2", 3), ("f2", 3), ("f2", (2, 2))],
                        "offsets": [0, 4, 8, 14, 20],
                        "itemsize": 32,
                    }
                ),
            ),
        },
    ),
    KnownAnswer(
        "packing and unpacking",
        kernel(
            "vec4f",
            "vec4u",
            "let v = given[i]; let s = pack4x8snorm(v); let u = pack4x8unorm(v);"
            " out[i] = vec4u(s, u, pack2x16float(v.xy), u32(unpack4x8snorm(s).x * 127 + 0.5));",
        ),
        {
            "out": [
                [0x81_7F_81_40, 0x00_FF_00_80, 0xC000_3800, 64],
                [0x7F_00_00_7F, 0xFF_00_00_FF, 0x0000_3C00, 127],
            ]
        },
        {"out": np.zeros((2, 4), np.uint32), "given": np.array([[0.5, -2, 1, -1], [1, 0, 0, 7]], np.float32)},
    ),
    KnownAnswer(
        "packed bytes: dot products, clamps and wraps",
        kernel(
            "vec4i",
            "vec4u",
            "let v = given[i]; let p = pack4xI8(v); let c = pack4xI8Clamp(v);"
            " out[i] = vec4u(p, c, bitcast<u32>(dot4I8Packed(p, c)), dot4U8Packed(p, c) + pack4xU8Clamp(vec4u(v)));",
        ),
        {
            "out": [
                [
                    0x2C_FF_80_01,
                    0x7F_FF_80_01,
                    1 + 128 * 128 + 1 + 44 * 127,
                    1 + 128 * 128 + 255 * 255 + 44 * 127 + 0xFF_FF_FF_01 - 2**32,
                ],
            ]
        },
        {"out": np.zeros((1, 4), np.uint32), "given": np.array([[1, -128, -1, 300]], np.int32)},
    ),
    KnownAnswer(
        "bits: counts, first ones, fields that reach past the end",
        kernel(
            "u32",
            "array<u32, 8>",
            "let n = given[i]; let s = bitcast<i32>(n); out[i] = array(countOneBits(n), countLeadingZeros(n),"
            " countTrailingZeros(n), firstLeadingBit(n), bitcast<u32>(firstLeadingBit(s)), reverseBits(n),"
            " bitcast<u32>(extractBits(s, i + 28, 9)), insertBits(n, 0x5, 30 - i, 7));",
        ),
        {
            "out": [
                [0, 32, 32, 0xFFFFFFFF, 0xFFFFFFFF, 0, 0, 0x4000_0000],
                [32, 0, 0, 31, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xBFFF_FFFF],
                [3, 0, 2, 31, 29, 0x2000_0003, 0xFFFFFFFF, 0x5000_0004],
            ]
        },
        {"out": np.zeros((3, 8), np.uint32), "given": np.array([0, 0xFFFFFFFF, 0xC000_0004], np.uint32)},
    ),
    KnownAnswer(
        "results of several parts: frexp, modf and how they fit together",
        kernel(
            "f32",
            "vec4f",
            "let f = frexp(given[i]); let m = modf(given[i]); out[i] = vec4f(f.fract, f32(f.exp), m.fract, m.whole);",
        ),
        {"out": [[0.5, 0, 0.5, 0], [-0.5, 2, -0.0, -2], [0.5, 1, 0, 1], [-0.5, -1, -0.25, -0.0]]},
        {"out": np.zeros((4, 4), np.float32), "given": PARTS},
    ),
    KnownAnswer(
        "select, mix and clamp with vectors of conditions",
        kernel(
            "f32",
            "vec4f",
            "let x = vec4f(given[i]); out[i] = select(x, mix(x, vec4f(4), vec4f(0.5)), vec4f(0, 1, 2, 3) > x)"
            " + clamp(x, vec4f(-1), vec4f(0.5));",
        ),
        {"out": [[(0.5 * x + 2 if k > x else x) + min(max(x, -1), 0.5) for k in range(4)] for x in map(float, PARTS)]},
        {"out": np.zeros((4, 4), np.float32), "given": PARTS},
    ),
    KnownAnswer(
        "swizzles on both sides, and compound assignment to a component",
        kernel(
            "vec4f",
            "vec4f",
            "var v = given[i].wzyx; v.y += v.xx.y; let w = v.zxy.zx; v[i] *= 2; out[i] = vec4f(v.xy, w);",
        ),
        {"out": [[8, 7, 7, 2], [8, 30, 15, 6]]},
        {"out": np.zeros((2, 4), np.float32), "given": np.array([[1, 2, 3, 4], [5, 6, 7, 8]], np.float32)},
    ),
]


@pytest.mark.parametrize(("kernel", "device"), named(KERNELS))
def test_values(kernel: KnownAnswer, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(kernel, device, monkeypatch)
