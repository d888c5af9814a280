"""Random kernels over grids of two and three dimensions, whose threads exchange nothing and may run in any order: the
interpreter's answers on all levels of the processor.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from tests.cpu.levels import available
from tests.machines import machine

import tinct

KERNEL = """
const STEPS = array<vec2i, 5>(vec2i(0, 0), vec2i(1, 0), vec2i(0, -1), vec2i(-1, 2), vec2i(3, 1));
const OTHERS = array<u32, 5>(2, 4, 0, 1, 3);
struct Size { width: u32, height: u32, depth: u32, offset: u32 }
struct Record { a: u32, b: vec2u, c: array<u32, 3> }
@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> data: array<u32>;
@group(0) @binding(2) var<storage, read> points: array<vec2u>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;
@group(0) @binding(4) var<storage, read_write> pairs: array<vec2u>;
@group(0) @binding(5) var<storage, read_write> total: atomic<u32>;
@group(0) @binding(6) var<storage, read_write> records: array<Record>;
@group(0) @binding(7) var<storage, read> fours: array<vec4u>;
fn around(at: i32, end: u32) -> u32 {
    if (at < 0) { return u32(at + i32(end)); }
    if (at >= i32(end)) { return u32(at) - end; }
    return u32(at);
}
fn steps(first: u32, most: u32) -> u32 {
    var value = first;
    for (var k = 0u; k < most; k++) {
        if (value % 5u == 1u) { return value + k; }
        value = select(value / 2u, value * 3u + 1u, value % 2u == 1u);
    }
    return value;
}
fn inside(at: i32, end: u32) -> u32 { return u32(clamp(at, 0, i32(end) - 1)); }
@compute @workgroup_size(SHAPE) fn main(@builtin(global_invocation_id) id: vec3u) {
    _ = &points; _ = &pairs; _ = &total; _ = &records; _ = &fours;
    let x = id.x;
    let y = id.y;
    let z = id.z;
    GUARD
    let at = (z * size.height + y) * size.width + x;
    var sum = at * 3u;
    var seen: array<u32, 5>;
    STATEMENTS
    out[at] = sum;
}
"""
RECORD = [("a", "<u4"), ("b", "<u4", 2), ("c", "<u4", 3)]
SHAPES = (
    (8, 8),
    (16, 4),
    (16, 16),
    (32, 2),
    (64, 2),
    (4, 4, 4),
    (3, 5),
    (1, 16),
    (4, 8, 2),
    (2, 2),
    (16, 2, 2),
    (5, 1, 3),
)
GUARDS = (
    "if (x >= size.width || y >= size.height || z >= size.depth) { return; }",
    "if (any(id >= vec3u(size.width, size.height, size.depth))) { return; }",
    "if (!(x < size.width && y < size.height)) { return; } if (z >= size.depth) { return; }",
)
STATEMENTS = (
    "sum += data[at];",
    "sum ^= data[at + size.offset] + data[(at + 1u) % arrayLength(&data)];",
    "sum += data[inside(i32(y) + DY, size.height) * size.width + inside(i32(x) + DX, size.width)];",
    "sum += data[around(i32(y) + DY, size.height) * size.width + around(i32(x) + DX, size.width)];",
    "sum += data[((y + size.height - 1u) % size.height) * size.width + (x + 1u) % size.width];",
    """for (var k = 0u; k < 5u; k++) {
        let to = vec2u(inside(i32(x) + STEPS[k].x, size.width), inside(i32(y) + STEPS[k].y, size.height));
        sum = sum * 5u + data[to.y * size.width + to.x];
    }""",
    "for (var j = -1; j <= 1; j++) { for (var i = -2; i <= 2; i++) { sum += data[at + u32(j * 5 + i + 9)]; } }",
    "for (var k = 0u; k < 5u; k++) { seen[k] = data[k * size.width + at]; } sum ^= seen[OTHERS[x % 5u]];",
    "for (var k = 0u; k < size.offset; k++) { sum += data[at] >> k; }",
    "let p = points[at]; sum += (p.x * 3u) ^ p.y; pairs[at] = p.yx + vec2u(sum, y);",
    "pairs[at].y = sum + 1u;",
    "if (data[at] % 3u == 0u) { sum += data[x]; } else { sum -= data[y * size.width]; }",
    "if (data[at] % 7u == 0u) { out[at] = sum * 2u; return; }",
    "atomicAdd(&total, sum & 255u);",
    "sum += data[data[at] % arrayLength(&data)];",
    "sum += data[x * size.height + y];",
    "sum += u32(f32(x) * 0.5 + f32(data[at] % 100u));",
    "sum += data[u32(f32(x) * 0.75) + y * size.width];",
    "let v = fours[at % arrayLength(&fours)]; sum += (v.x ^ v.w) + v[x & 3u];",
    "let v = fours[at / 4u]; sum ^= v[at % 4u];",
    "var w = vec4u(sum, x, y, z); w[data[at] & 3u] = at; sum ^= w.x + w.y * 3u + w.z * 5u + w.w * 7u;",
    "switch (data[at] & 3u) { case 0u { sum += 1u; } case 1u, 2u { sum += data[x]; } default { sum ^= y; } }",
    "switch (y % 3u) { case 0u { sum += data[at]; } default { sum ^= y; } }",
    """var k = data[at] % 9u;
    loop { if (k == 0u) { break; } sum += data[(at + k) % arrayLength(&data)]; continuing { k--; sum ^= 1u; } }""",
    "for (var k = 0u; k < y % 5u; k++) { if (data[at + k] % 2u == 0u) { continue; } sum = sum * 3u + k; }",
    "for (var k = x % 3u; k < 7u; k += 2u) { if (data[at + k] % 5u == 0u) { break; } sum ^= data[k] << k; }",
    "for (var k = 0u; k < 4u; k++) { if (data[at] % 11u == k) { out[at] = sum; return; } sum += k * data[x]; }",
    "sum += select(data[x], data[y], data[at] % 2u == 0u);",
    "let r = records[at]; sum += r.a + r.b.y + r.c[x % 3u];",
    "records[at].a = sum; records[at].c[y % 3u] += data[at];",
    "records[at] = Record(sum, vec2u(x, y), array(1u, data[at], z));",
    "if (x + 1u < size.width) { sum ^= data[at + 1u]; } if (x > 0u) { sum += data[at - 1u] * 2u; }",
    "if (y > 0u && x < size.width - 1u) { sum += data[at - size.width + 1u]; }",
    "sum += data[y * size.width + (size.width - 1u - x)];",
    "sum += data[at / 2u] + data[at * 2u] + data[at * 3u % arrayLength(&data)];",
    "sum += data[at ^ 1u] + data[at & ~3u] + data[(at & ~3u) | (3u - (at & 3u))];",
    "sum += steps(data[at] % 100u, 4u);",
    "sum += steps(y, size.offset);",
    "seen[x % 5u] += sum; seen[y % 5u] ^= 3u; sum ^= seen[(x + 1u) % 5u];",
    "sum += countOneBits(data[at]) + firstLeadingBit(sum) + reverseBits(y);",
    "sum = extractBits(sum, x % 32u, y % 32u); sum = insertBits(sum, data[at], y % 20u, 5u);",
    "sum += u32(i32(data[at] % 50u) / (i32(x) - 3)) + data[at] % y;",
    "sum = (sum << (x & 31u)) | (sum >> (y & 31u));",
    "sum += bitcast<u32>(f32(data[at] & 1023u) * 0.125 + f32(y));",
    "let f = f32(data[at]) * 0.25; sum += u32(floor(f) + fract(f) * 4.0) + u32(max(f, f32(x)));",
    "sum += u32(vec2f(points[at]).yx.x) + dot(vec3u(x, y, z), vec3u(points[at], 2u));",
    "let v = vec3u(sum, data[at], y); let w = select(v, v.zxy, v > vec3u(9u)); sum = w.x + w.y * 2u - w.z;",
    "if (any(points[at] < vec2u(1u << 19u))) { sum += 7u; } else if (all(points[at] > vec2u(x, y))) { sum /= 3u; }",
    "sum = pack4x8unorm(unpack4x8unorm(sum)) + pack2x16snorm(unpack2x16snorm(data[at]));",
)


def kernel(random: Random) -> tuple[str, tuple[int, ...]]:
    """A kernel, and the shape of its workgroups."""
    shape = random.choice(SHAPES)
    chosen = random.sample(STATEMENTS, random.randint(1, 5))
    steps = [(str(random.randint(-3, 3)), str(random.randint(-3, 3))) for _ in chosen]
    lines = [f"{{ {it} }}".replace("DX", dx).replace("DY", dy) for it, (dx, dy) in zip(chosen, steps, strict=True)]
    text = KERNEL.replace("STATEMENTS", "\n    ".join(lines))
    return text.replace("GUARD", random.choice(GUARDS)).replace("SHAPE", ", ".join(map(str, shape))), shape


def check(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random, values = Random(seed), np.random.default_rng(seed)
    text, shape = kernel(random)
    main = tinct.load(text)["main"]
    for extents in ((1, 1, 1), (random.randint(2, 40), random.randint(1, 30), random.randint(1, 3)), (130, 20, 1)):
        sizes = zip(extents, (*shape, 1, 1)[:3], strict=True)
        grid = tuple(-(-extent // size) + random.choice((0, 0, 1)) for extent, size in sizes)
        cells = extents[0] * extents[1] * extents[2]
        every = {
            "size": dict(zip(("width", "height", "depth"), extents, strict=True)) | {"offset": random.randint(0, 4)},
            "data": values.integers(0, 1 << 20, cells + random.choice((0, 9, 700)), np.uint32),
            "points": values.integers(0, 1 << 20, (cells, 2), np.uint32),
            "out": np.zeros(cells, np.uint32),
            "pairs": np.zeros((cells, 2), np.uint32),
            "total": np.uint32(0),
            "records": values.integers(0, 99, (cells, 6), np.uint32).view(RECORD)[:, 0],
            "fours": values.integers(0, 99, (cells // 4 + 1, 4), np.uint32),
        }
        buffers = {it.name: every[it.name] for it in main.bindings}
        expected = main.run(buffers, workgroups=grid, device="interp")
        for level in available():
            monkeypatch.setenv("TINCT_CPU_TARGET", level)
            with machine(seed):
                found = main.run(buffers, workgroups=grid, device="cpu")
            for name in expected:
                np.testing.assert_array_equal(found[name], expected[name], f"{name}, {level}, {extents}\n{text}")


@pytest.mark.parametrize("seed", range(40))
def test_answers(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    check(seed, monkeypatch)
