"""The memory accesses of gangs: records moved by wide vectors, positions that only likely follow one another, and every
kind of place out of range, on the gang tier and the lane tier.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from tinct.backend.cpu import CompiledKernel, CpuOptions, compile_entry
from tinct.backend.cpu.emit import Tier
from tinct.ir.source import Source
from tinct.shader import Shader

HEAD = """
enable f16;
struct Particle { position: vec2f, velocity: vec2f, kind: u32, age: f32, bounces: u32 }
struct Mixed { half: vec2<f16>, flag: u32, wide: vec3f, small: f16, tail: vec3<f16> }
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read_write> twos: array<vec2f>;
@group(0) @binding(2) var<storage, read_write> threes: array<vec3f>;
@group(0) @binding(3) var<storage, read_write> fours: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> halves: array<vec2<f16>>;
@group(0) @binding(5) var<storage, read_write> triples: array<array<u32, 3>>;
@group(0) @binding(6) var<storage, read_write> sevens: array<array<u32, 7>>;
@group(0) @binding(7) var<storage, read_write> particles: array<Particle>;
@group(0) @binding(8) var<storage, read_write> mixed: array<Mixed>;
@group(0) @binding(9) var<storage, read_write> matrices: array<mat3x2f>;
@group(0) @binding(10) var<storage> data: array<u32>;
@group(0) @binding(11) var<uniform> n: u32;
@group(0) @binding(12) var<storage, read_write> nested: array<array<vec2f, 4>>;
"""

BODIES = {
    "pairs": "twos[g] = twos[g].yx * 2.0 + vec2f(1.0, 0.0);",
    "one of a pair": "twos[g].y = twos[g].x + 1.0;",
    "three of four words": "threes[g] = threes[g].zxy + threes[g];",
    "two of four words": "threes[g].x = 1.0; threes[g].z = threes[g].y;",
    "four words": "fours[g] = fours[g].wzyx * vec4f(1.0, 2.0, 3.0, 4.0);",
    "halves": "halves[g] = halves[g] * halves[g].yx + vec2<f16>(0.5h, 2.0h);",
    "odd periods": """
        let t = triples[g]; triples[g] = array<u32, 3>(t[2], t[0] + 1u, t[1]);
        let s = sevens[g]; sevens[g] = array<u32, 7>(s[6], s[5], s[4], s[3], s[2], s[1], s[0] * 2u);""",
    "structures": """
        var p = particles[g];
        if (p.kind % 3u == 0u) { particles[g] = Particle(); return; }
        p.position += p.velocity * 0.5; p.bounces++; p.age = 2.0; particles[g] = p;""",
    "sizes in one structure": """
        mixed[g].wide += vec3f(f32(mixed[g].half.x), 1.0, f32(mixed[g].tail.z));
        mixed[g].tail = mixed[g].tail.zyx; mixed[g].small = mixed[g].half.y; mixed[g].flag ^= g;""",
    "columns": "matrices[g][1] = matrices[g][0] + matrices[g][2]; matrices[g][2].y = matrices[g][1].x;",
    "guarded records": "if (g < n) { fours[g] = fours[g] + 1.0; twos[g] *= 3.0; }",
    "records behind a mask": """
        if (data[g] % 3u == 1u) { fours[g] += twos[g].xyxy; threes[g] = vec3f(7.0); } else { triples[g][1] = 9u; }""",
    "records in a loop": "for (var k = 0u; k < 4u; k++) { nested[g][k] += nested[g][3u - k] * 0.5; }",
    "constant places in an element": "nested[g][1] = nested[g][2] + nested[g][0].yx;",
    "even and odd elements": "out[2u * g] = data[2u * g + 1u] + data[2u * g]; out[2u * g + 1u] = data[3u * g];",
    "backwards": "out[n - g] = data[n - 1u - g];",
    "old and new values": """
        let before = fours[g]; fours[g].x = before.w; let after = fours[g].x; fours[g].y = after + 1.0;
        fours[g].x = after * 2.0; out[g] = u32(after);""",
    "a swap across elements": """
        if (g % 2u == 0u && g + 1u < arrayLength(&twos)) {
            let a = twos[g]; twos[g] = twos[g + 1u]; twos[g + 1u] = a;
        }""",
    "records out of range": """
        fours[g * 5u] += 1.0; twos[g + 60u] = vec2f(f32(data[g + 70u]), 1.0); threes[g - 5u].y = 2.0;
        particles[g + n].age = 8.0;
        triples[g + 62u] = array<u32, 3>(1u, 2u, 3u); halves[g * 70000000u] = vec2<f16>(1.0h);""",
    "around the edge": """
        let m = i32(n); let x = i32(g);
        out[g] = data[(x + 1) % m] + data[(x + m - 1) % m] * 2u + data[(x - 5) % m] * 3u + data[(g + 7u) % n] * 5u
            + data[(g - 3u) % n] * 7u + data[(x + 2) % (m - 37)] * 11u + data[(x + 3) % -m] * 13u;""",
    "around an edge that is far": """
        let m = i32(n) + 2147483600; let k = n - 38u; let x = i32(g) + 2147483630;
        out[g] = data[x % m] + data[(g + 4294967280u) % k] * 3u + data[(g - 20u) % (n - 37u)] * 5u
            + data[u32(x % (i32(n) - 2147483647)) - 2147483585u] * 7u;""",
    "rows and columns": """
        out[(g % 100u) * 2u] = data[g / n] + data[g % n] * 256u; let row = i32(g) / (i32(n) - 10);
        out[(g % 100u) * 2u + 1u] = data[row * 3] + 7u * data[g >> 4u] + 11u * data[(g >> (n & 7u)) * 2u];""",
    "limits": """
        let x = i32(g); let last = i32(n);
        out[g] = data[clamp(x - 1, 0, last)] + data[min(g + 1u, n)] * 3u + data[max(g, 5u)] * 5u
            + data[max(x - 20, 0)] * 7u + data[clamp(0, x - 4, last)] * 11u + data[clamp(30, 2, x)] * 13u
            + data[clamp(x, last, 3)] * 17u + data[min(g - 4u, n)] * 19u;""",
    "bits of positions": """
        out[g ^ 32u] = data[g & 31u] + data[g ^ (n & 16u)] * 3u + data[g | 64u] * 5u + data[(g + 3u) & 63u] * 7u
            + data[g ^ 5u] * 11u + data[(g + 1u) ^ 16u] * 13u + data[(n - 5u) & g] * 17u + data[(31u ^ n) | g];""",
    "likely places as values": """
        let p = (g + 5u) % n; let q = p * 2u + g / 32u; out[q] = data[p] + p; out[g + 150u] = q;""",
    "likely places used later": """
        let p = (g + 5u) % n; let q = g / (n + 3u); var s = 0u;
        for (var k = 0u; k < data[g] % 7u; k++) { let r = (p + k) % n; s += data[r] * data[q]; if (s > 90u) { break; } }
        if (s % 2u == 0u) { s += data[min(p + 1u, n)]; if (data[p] > 50u) { s += data[p + 1u]; } }
        out[g] = s + data[q + 2u];""",
    "likely places in records": """
        fours[(g + 3u) % 200u] += twos[(g + n) % 150u].xyxy; let r = particles[min(g, n)]; out[g] = r.kind + u32(r.age);
        nested[g / 64u][g % 4u].x = 3.0; threes[g & 127u].z += 1.0;""",
    "the last elements": """
        let last = arrayLength(&fours) - 1u; fours[last - g] = vec4f(f32(g)); twos[last - 20u + g].x = 5.0;
        out[g] = u32(threes[last - 8u + g].z);""",
}


def code(body: str, size: int, tier: Tier) -> CompiledKernel:
    names = re.findall(r"> (\w+): array", HEAD)
    uses = "".join(f" _ = &{name};" for name in names)
    wgsl = f"""{HEAD}
@compute @workgroup_size({size})
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {{
    let g = w.x * {size}u + i;
   {uses} _ = n;
    {body}
}}
"""
    kernel = Shader(Source.from_text(wgsl)).kernel()
    return compile_entry(kernel.shader.compilation(kernel.info.name, {}).hercules, CpuOptions(tier))


def contents(kernel: CompiledKernel, elements: int) -> list[np.ndarray]:
    """A buffer for each binding, of so many elements, whose floats are small numbers."""
    random = np.random.default_rng(5)
    made: list[np.ndarray] = []
    for slot in kernel.slots:
        name = slot.name
        if name == "n":
            made.append(np.array([37], np.uint32).view(np.uint8))
            continue
        size = slot.stride * elements
        if name in ("out", "data", "triples", "sevens"):
            words = random.integers(0, 100, size // 4).astype(np.uint32)
        elif name in ("halves", "mixed"):
            words = random.integers(0, 64, size // 2).astype(np.float16)
        else:
            words = random.integers(0, 64, size // 4).astype(np.float32)
        made.append(words.view(np.uint8))
    return made


def results(kernel: CompiledKernel, elements: int) -> list[bytes]:
    """All but the last element of each buffer: that is where several invocations write if they are out of range."""
    buffers = contents(kernel, elements)
    kernel.run(buffers, (3, 1, 1), workers=1)
    return [it[: -slot.stride].tobytes() for it, slot in zip(buffers, kernel.slots, strict=True) if slot.stride]


@pytest.mark.parametrize("size", [16, 24])
@pytest.mark.parametrize("name", BODIES)
def test_gangs_agree_with_lanes(name: str, size: int) -> None:
    gang, lane = code(BODIES[name], size, "gang"), code(BODIES[name], size, "lane")
    assert gang.tier == "gang", gang.tier_reason
    for elements in (200, 64, 41, 7):
        assert results(gang, elements) == results(lane, elements), elements
