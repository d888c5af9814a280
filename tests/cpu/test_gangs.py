"""Kernels on the gang tier, the lane tier and the interpreter: masks, tails, divergent control, memory, atomics."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tinct.backend.cpu import CompiledKernel, CpuOptions, compile_entry
from tinct.buffers import pack_buffers
from tinct.cases import Case, load_cases
from tinct.compare import compare
from tinct.ir.source import Source
from tinct.kernel import Kernel
from tinct.reflection import reflect_bindings
from tinct.shader import Shader

Arrays = Mapping[str, npt.NDArray[np.generic]]
KERNELS = load_cases(Path(__file__).parents[2] / "shaders")
CASES = [pytest.param(case, id=f"{case.kernel}-{case.name}") for kernel in KERNELS for case in kernel.cases]
SIZES = ["1", "2", "3", "7", "13", "16", "17", "33", "64", "100", "8, 8", "5, 3", "16, 2", "1, 20", "2, 2, 3"]

HEAD = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage> data: array<u32>;
@group(0) @binding(2) var<uniform> n: u32;
@group(0) @binding(3) var<storage, read_write> counts: array<atomic<u32>, 8>;
@group(0) @binding(4) var<storage, read_write> signed: atomic<i32>;
struct Pair { a: u32, b: vec3f }
@group(0) @binding(5) var<storage, read_write> pairs: array<Pair>;
const table = array<u32, 11>(3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5);
var<workgroup> tile: array<u32, 100>;
var<workgroup> bins: array<atomic<u32>, 5>;
fn first_factor(v: u32) -> u32 {
    for (var k = 2u; k < 12u; k++) { if (v % k == 0u) { return k; } }
    return v;
}
"""

BODIES = {
    "consecutive": "out[g] = data[g] + g;",
    "guarded": "if (g < n) { out[g] = data[g] * 2u; }",
    "early return": "if (g >= n) { return; } out[g] = data[g] + 1u;",
    "both arms": "var v = data[g]; if (v % 2u == 0u) { v = v / 2u; } else { v = 3u * v + 1u; } out[g] = v;",
    "nested ifs": """
        var v = g;
        if (v % 3u == 0u) { if (v % 2u == 0u) { v += 10u; if (data[g] > 50u) { v = 7u; } } else { v *= 2u; } v += 1u; }
        else if (n > 4u) { v += 100u; }
        out[g] = v;""",
    "uniform if inside a divergent one": """
        var v = 1u;
        if (g % 3u == 1u) { if (n > 10u) { v = 5u; } else { v = data[n]; } v += n; }
        out[g] = v;""",
    "divergent loop": """
        var v = data[g]; var s = 0u; while (v > 1u && s < 90u) {
            v = select(3u * v + 1u, v / 2u, v % 2u == 0u); s++; } out[g] = s;""",
    "counter seen after a divergent loop": """
        var k = 0u; loop { if (k * k >= data[g]) { break; } k++; } out[g] = k * 2u;""",
    "break and continue": """
        var s = 0u;
        for (var k = 0u; k < 20u; k++) {
            if (k == data[g] % 7u) { continue; }
            if (k > data[g] % 13u) { break; }
            s += k * data[(g + k) % 90u];
        }
        out[g] = s;""",
    "return from nested loops": """
        for (var i = 0u; i < 5u; i++) {
            for (var j = 0u; j < data[g] % 6u; j++) {
                if (i * j == data[g + 1u] % 9u) { out[g] = i * 10u + j; return; }
                if (i + j == 7u) { break; }
            }
        }
        out[g] = 99u;""",
    "divergent loop in a uniform one": """
        var s = 0u;
        for (var i = 0u; i < n % 5u; i++) { var v = data[g] + i; while (v > 3u) { v /= 3u; s += v; } s ^= i; }
        out[g] = s;""",
    "uniform loop in a divergent one": """
        var s = 0u; var v = data[g];
        while (v > 0u) { for (var i = 0u; i < n % 4u; i++) { s += v * i + data[i]; } v /= 5u; }
        out[g] = s;""",
    "function with an early return": "out[g] = first_factor(data[g]) + 100u * first_factor(g + 2u);",
    "switch": """
        var v = 0u;
        switch data[g] % 6u {
            case 0u, 3u: { v = 1u; }
            case 1u: { v = data[g]; if (g % 2u == 0u) { break; } v += 5u; }
            case 5u, default: { v = g; }
        }
        out[g] = v;""",
    "uniform switch": """
        var v = g; switch n % 3u { case 0u: { v += 1u; } case 1u: { v *= 3u; } default: { v = 0u; } } out[g] = v;""",
    "out of bounds": "out[g] = data[g * 3u] + data[g + 500u] * 2u + table[g] + table[data[g]];",
    "before the beginning": "out[g] = data[g - 3u] + data[5u - g];",
    "stores out of bounds": "if (g == 3u) { out[g + 100000u] = 5u; } else { out[g] = data[g]; }",
    "scatter": "out[data[g] * 1000u + g] = 1u; out[(g * 7u) % 100u + 100u * (g / 100u)] = g;",
    "uniform address": "if (g == 5u) { out[0] = data[g]; } if (g != 0u) { out[g] = data[0] + data[n]; }",
    "private array": """
        var a: array<u32, 9>;
        for (var k = 0u; k < 9u; k++) { a[k] = data[g] + k; }
        if (g % 2u == 0u) { a[data[g] % 9u] = 77u; a[3] = 1u; }
        out[g] = a[g % 9u] * 1000u + a[3] + a[data[g]];""",
    "private array made in a loop": """
        var t = 0u;
        for (var k = 0u; k < data[g] % 5u; k++) {
            var b: array<u32, 10>; b[k] += 2u; b[g % 10u] += k; t += b[k] + b[3];
        }
        out[g] = t;""",
    "structures": """
        pairs[g].a = data[g]; pairs[g].b.y = f32(g) + 0.5;
        if (g > 4u) { pairs[g].b = vec3f(1.0, pairs[g].b.y, f32(data[g])); }
        out[g] = pairs[g].a + u32(pairs[g].b.y);""",
    "bools": """
        var f = array<bool, 9>(); f[data[g] % 9u] = true; f[2] = g > 3u;
        out[g] = select(1u, 2u, f[g % 9u]) + u32(f[2]);""",
    "signed indices": """
        let j = i32(g) - 2; out[g] = data[u32(abs(j))] + u32(max(j, 0)) + u32(j >> 1u) + u32(-j / 3) + u32(-j % 3);""",
    "division": """
        out[g] = (data[g] * 977u) / (g % 5u) + (g * 31337u) % (data[g] % 3u)
            + u32(i32(g - 40u) / i32(data[g] - 40u));""",
    "division by one number for all": """
        out[g] = (data[g] * 977u) / n + (g * 31337u) % n + u32(i32(g - 40u) % i32(n - 40u));""",
    "clamped neighbours": "out[g] = data[clamp(i32(g) - 1, 0, i32(n))] + data[(g + 1u) % n] + data[min(g + 2u, n)];",
    "wrap-around": "let j = g + 4294967290u; out[g] = data[j] + data[j * 2u] + u32(j > 50u);",
    "atomics with results": "out[g] = min(atomicAdd(&counts[g % 7u], 0u), 1000u) + atomicMax(&counts[7], 5u) * 0u + g;",
    "atomics without results": """
        atomicAdd(&counts[0], data[g]); atomicMax(&counts[1], data[g]); atomicOr(&counts[2], 1u << (g % 32u));
        atomicMin(&signed, i32(g) - 20); atomicSub(&counts[3], 2u); atomicXor(&counts[4], data[g]);
        if (data[g] > 40u) { atomicAdd(&counts[5], 3u); atomicAdd(&counts[data[g] % 3u + 5u], g); }
        for (var k = 0u; k < data[g] % 4u; k++) { atomicAdd(&counts[k % 3u + 5u], 1u); }""",
    "compare and exchange": """
        if (g < 9u) { loop {
            let old = atomicLoad(&counts[6]);
            if (atomicCompareExchangeWeak(&counts[6], old, old + g).exchanged) { break; }
        } }""",
    "workgroup memory": """
        tile[i] = data[g];
        workgroupBarrier();
        let v = tile[(i * 3u + 1u) % 100u] + tile[99u - i];
        workgroupBarrier();
        if (i < 5u) { atomicStore(&bins[i], 0u); }
        workgroupBarrier();
        atomicAdd(&bins[data[g] % 5u], i);
        workgroupBarrier();
        out[g] = v + atomicLoad(&bins[i % 5u]) * 1000u;""",
    "value across a barrier": """
        var s = data[g] * 3u;
        for (var k = 1u; k < 64u; k *= 2u) {
            tile[i] = s;
            workgroupBarrier();
            if (i >= k) { s += tile[i - k]; }
            workgroupBarrier();
        }
        out[g] = s;""",
    "floats": """
        let x = f32(data[g]) * 0.37 - 9.0;
        var y = floor(x) + abs(x) + sqrt(f32(g)) + fma(x, x, 1.0) + clamp(x, -1.0, 1.0) + f32(i32(x)) + sign(x);
        if (x < 0.0) { y = trunc(y) - x; }
        out[g] = bitcast<u32>(y) ^ countOneBits(g) ^ firstLeadingBit(data[g]) ^ reverseBits(g)
            ^ extractBits(g, 1u, 3u);""",
}


SOME_SIZES = [
    (name, SIZES[(number + turn) % len(SIZES)]) for number, name in enumerate(BODIES) for turn in (0, 4, 7, 11)
]
"""Each body with four sizes of workgroup, all sizes in turn."""


def kernel_of(body: str, size: str) -> Kernel:
    x, y, z = (*(int(it) for it in size.split(",")), 1, 1)[:3]
    wgsl = f"""{HEAD}
@compute @workgroup_size({size})
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u) {{
    let g = w.x * {x * y * z}u + i;
    _ = &out; _ = &data; _ = n; _ = &counts; _ = &signed; _ = &pairs;
{body}
}}
"""
    return Shader(Source.from_text(wgsl)).kernel()


def buffers() -> Arrays:
    data = np.random.default_rng(3).integers(0, 100, 230).astype(np.uint32)
    return {
        "out": np.zeros(300, np.uint32),
        "data": data,
        "n": np.uint32(67),
        "counts": np.zeros(8, np.uint32),
        "signed": np.int32(9),
        "pairs": np.zeros((300, 32), np.uint8).tobytes(),
    }


def compiled(kernel: Kernel, tier: str) -> CompiledKernel:
    return compile_entry(kernel.shader.compilation(kernel.info.name, {}).hercules, CpuOptions(tier))


def run(kernel: Kernel, code: CompiledKernel, given: Arrays, workgroups: tuple[int, int, int]) -> dict[str, bytes]:
    packed = pack_buffers(kernel.bindings, given)
    code.run([packed[it.point] for it in code.slots], workgroups)
    return {it.name: bytes(packed[it.point]) for it in code.slots}


@pytest.mark.parametrize(("name", "size"), SOME_SIZES)
def test_gangs_agree_with_lanes(name: str, size: str) -> None:
    kernel = kernel_of(BODIES[name], size)
    gang = compiled(kernel, "gang")
    assert size == "1" or gang.tier == "gang", gang.tier_reason
    expected = run(kernel, compiled(kernel, "lane"), buffers(), (2, 1, 1))
    assert run(kernel, gang, buffers(), (2, 1, 1)) == expected


@pytest.mark.parametrize("size", ["8, 8", "4, 5", "2, 2, 3", "8, 2", "4, 8, 3"])
@pytest.mark.parametrize("name", ["divergent loop", "counter seen after a divergent loop"])
def test_gangs_of_several_rows(name: str, size: str) -> None:
    kernel = kernel_of(BODIES[name].replace("data[g]", "(g * g % 97u)"), size)
    expected = run(kernel, compiled(kernel, "lane"), buffers(), (3, 1, 1))
    assert run(kernel, compiled(kernel, "gang"), buffers(), (3, 1, 1)) == expected


@pytest.mark.parametrize("name", BODIES)
def test_gangs_agree_with_the_interpreter(name: str) -> None:
    kernel = kernel_of(BODIES[name], "20")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TINCT_CPU_TIER", "gang")
        found = kernel.run(buffers(), workgroups=3)
    for output, array in kernel.run(buffers(), workgroups=3, device="interp").items():
        assert found[output].tobytes() == array.tobytes(), output


@cache
def shader_of(path: Path, tier: str) -> Shader:
    """The shader, which is compiled once for all cases of that tier."""
    return Shader(Source.from_file(path))


@pytest.mark.parametrize("tier", ["gang", "lane", "baseline"])
@pytest.mark.parametrize("case", CASES)
def test_kernels_agree_with_their_references(case: Case, tier: str) -> None:
    shader = shader_of(case.kernel_path, tier)
    kernel, infos = shader.kernel(case.entry), reflect_bindings(shader.program)
    inputs = case.inputs_of(infos)
    grid = {"workgroups": case.workgroups} if case.workgroups is not None else {"threads": case.threads}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TINCT_CPU_TIER", tier)
        outputs = kernel.run({**inputs, **case.samplers}, constants=dict(case.constants), **grid)
    expected = case.expected(inputs)
    assert expected is not None
    for name, tolerance in case.outputs.items():
        verdict = compare(expected[name], outputs[name], tolerance)
        assert verdict.agrees, f"{name}: {verdict}"


def test_an_unknown_tier_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = kernel_of("out[g] = 1u;", "4")
    monkeypatch.setenv("TINCT_CPU_TIER", "fast")
    with pytest.raises(ValueError, match="TINCT_CPU_TIER"):
        kernel.run(buffers(), workgroups=1)
