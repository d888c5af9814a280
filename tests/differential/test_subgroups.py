"""Subgroup and quad operations on all tiers: lanes join at each, as at a barrier."""

from __future__ import annotations

import numpy as np
import pytest

from tinct.ir.core.verifier import findings
from tinct.ir.source import Source
from tinct.shader import Shader
from tinct.transforms.core.mask_divergence import mask_divergence

from .support import assert_agree

HEAD = """
enable subgroups;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage> data: array<u32>;
@group(0) @binding(2) var<uniform> n: u32;
"""
SIZES = ["16", "5", "1", "11", "3, 5", "2, 3, 4", "1, 3, 3"]

OPERATIONS = {
    "arithmetic": "subgroupAdd(v) ^ (subgroupMul(v | 1u) << 3u)",
    "scans": "subgroupInclusiveAdd(v) ^ (subgroupExclusiveAdd(v) * 3u) ^ subgroupInclusiveMul(v | 1u) "
    "^ (subgroupExclusiveMul(v | 3u) << 1u)",
    "order": "subgroupMin(v) + subgroupMax(v) * 5u + u32(subgroupMin(i32(v) - 2000)) + u32(subgroupMax(-f32(v)) + 9e4)",
    "bits": "subgroupAnd(v | 8u) ^ subgroupOr(v) ^ (subgroupXor(v) << 7u)",
    "votes": "u32(subgroupAll(v > 20u)) + 2u * u32(subgroupAny(v > 200u)) + 4u * subgroupBallot(v % 3u == 0u).x "
    "+ 4096u * u32(subgroupElect())",
    "broadcasts": "subgroupBroadcast(v, 2u) + 7u * subgroupBroadcast(v, 9i) + 3u * subgroupBroadcastFirst(v)",
    "shuffles": "subgroupShuffle(v, n) + 3u * subgroupShuffleUp(v, n) + 5u * subgroupShuffleDown(v, n) "
    "+ 7u * subgroupShuffleXor(v, n)",
    "far shuffles": "subgroupShuffle(v, n + 90u) + 3u * subgroupShuffleUp(v, 0u - n) "
    "+ 5u * subgroupShuffleDown(v, 0u - n)",
    "shuffles by lane": "subgroupShuffle(v, (lane * 5u) % 8u) + 3u * subgroupShuffle(v, i32(lane) - 2)",
    "quads": "quadBroadcast(v, 3u) + 3u * quadSwapX(v) + 5u * quadSwapY(v) + 7u * quadSwapDiagonal(v)",
    "vectors": "dot(subgroupAdd(vec3u(v, 1u, i)), vec3u(1u, 100u, 10000u)) + quadSwapX(vec2u(v, i)).y",
    "floats": "bitcast<u32>(subgroupAdd(f32(v) * 0.1)) ^ bitcast<u32>(subgroupExclusiveMul(1.0 + f32(v)))",
    "inputs": "size + 16u * lane + 256u * which + 4096u * many",
}


def kernel(body: str, size: str, head: str = HEAD) -> str:
    return f"""{head}
    @compute @workgroup_size({size})
    fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3u,
            @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_size) size: u32,
            @builtin(subgroup_id) which: u32, @builtin(num_subgroups) many: u32) {{
        let g = group.x * 24u + i;
        _ = n; _ = data[0];
        {body}
    }}"""


def inputs() -> dict[str, np.ndarray]:
    data = np.random.default_rng(7).integers(0, 300, 48, dtype=np.uint32)
    return {"out": np.zeros(48 * len(OPERATIONS), np.uint32), "data": data, "n": np.uint32(3)}


@pytest.mark.parametrize("size", SIZES)
def test_operations(size: str) -> None:
    stores = [f"out[{48 * number}u + g] = {value};" for number, value in enumerate(OPERATIONS.values())]
    assert_agree(kernel("let v = data[g];" + "\n".join(stores), size), inputs(), 2)


BODIES = {
    "in a uniform loop": """
        var sum = data[g];
        for (var t = 1u; t < n + 2u; t *= 2u) { sum += subgroupShuffleXor(sum, t); }
        out[g] = sum;""",
    "in a uniform branch": """
        var v = data[g];
        if (n > 2u) { v = subgroupAdd(v); } else { v = subgroupMul(v); }
        out[g] = v;""",
    "of values and results that diverge": """
        var v = data[g];
        if (i % 3u == 0u) { v *= 2u; }
        let s = subgroupAdd(v);
        if (lane < 3u) { out[g] = s; } else { out[g] = v; }""",
    "of arrays across": """
        var a: array<u32, 20>;
        for (var k = 0u; k < 20u; k++) { a[k] = data[(k + i) % 48u]; }
        let s = subgroupMax(a[i]);
        out[g] = a[s % 20u] + s;""",
    "of a uniform value": "out[g] = subgroupAdd(n) + subgroupBallot(n == 3u).x;",
    "in a function": "out[g] = total(data[g]) + total(i);",
}


@pytest.mark.parametrize("size", ["16", "4, 5"])
@pytest.mark.parametrize("name", BODIES)
def test_control_flow(name: str, size: str) -> None:
    head = HEAD + "fn total(x: u32) -> u32 { let s = subgroupAdd(x); return s * 2u; }"
    assert_agree(kernel(BODIES[name], size, head), inputs(), 2)


DIVERGENT = {
    "operations of some lanes": "if (v % 3u == 1u) {"
    + "".join(f"out[{48 * number}u + g] = {value};" for number, value in enumerate(OPERATIONS.values()))
    + "bits = bitcast<u32>(subgroupAdd(-0.0 * f32(v))) ^ u32(subgroupMax(vec2i(-5, i32(v))).y); }",
    "loops": """
        for (var j = 0u; j < v % 4u; j++) {
            let p = &list[(v + j) % 3u];
            if (lane == j) { continue; }
            *p += subgroupAdd(j + i);
            for (var k = 0u; ; k++) { if (k > j + i % 2u) { break; } bits += subgroupMax(k) + list[k % 3u]; }
            if (subgroupAny(list[0] % 5u == 1u)) { break; }
            loop { var w = v; w += subgroupMin(w); bits ^= w; continuing { v += 1u; break if v % 3u == 0u; } }
        }
        bits += list[0] + list[1] * 7u + list[2] * 49u;""",
    "returns and barriers": """
        if (n > 2u) { workgroupBarrier(); bits = workgroupUniformLoad(&shared_count); }
        switch (v % 5u) {
            case 1u, 3u: { bits += some(&list, v); }
            case 2u: { out[g] = subgroupBallot(true).x; return; }
            default: { for (var k = 0u; k < i; k++) { if (k == 4u) { out[g] = 5u; return; } bits += k; } }
        }
        bits = bits * 31u + subgroupInclusiveAdd(list[1]);""",
}


@pytest.mark.parametrize("name", DIVERGENT)
def test_divergent_control_flow(name: str) -> None:
    head = "enable subgroups; diagnostic(off, subgroup_uniformity);" + HEAD.replace("enable subgroups;", "")
    head += """
        var<workgroup> shared_count: u32;
        fn some(p: ptr<function, array<u32, 3>>, v: u32) -> u32 {
            for (var k = 0u; k < 3u; k++) { if ((*p)[k] % 4u == 3u) { return k; } (*p)[k] += subgroupAdd(v); }
            return subgroupXor(v);
        }"""
    body = f"var v = data[g]; var bits = 1u; var list = array<u32, 3>(v, i, 3u); {DIVERGENT[name]} out[g] += bits;"
    wgsl = kernel(body, "3, 5", head)
    assert_agree(wgsl, inputs(), 2)
    module = Shader(Source.from_text(wgsl)).compilation("main", {}).core
    mask_divergence(module)
    assert not list(findings(module))
