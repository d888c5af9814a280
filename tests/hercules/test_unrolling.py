"""Loops are unrolled where that makes arrays of an invocation scalars, and where they are those of a stencil, however
they are written, and only there.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import tinct
from tinct.ir.hercules import nodes as h
from tinct.transforms.to_hercules.unrolling import MOST_ITERATIONS

SPELLINGS = """
struct Block { sums: array<f32, 12>, count: u32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;

var<private> kept: array<array<f32, 3>, 9>;
var<workgroup> shared_sums: array<f32, 32>;

fn add(block: ptr<function, Block>, at: u32, value: f32) {
    (*block).sums[at] += value;
    (*block).count++;
}

@compute @workgroup_size(32) fn flat(@builtin(local_invocation_index) t: u32) {
    var acc: array<f32, 16>;
    for (var k = 0u; k < arrayLength(&a) / 20; k++) {
        for (var i = 0u; i < 4u; i++) {
            for (var j = 0u; j < 4u; j++) { acc[i * 4 + j] += a[t + i + k] * a[t + j]; }
        }
    }
    for (var i = 0u; i < 16u; i++) { out[t * 16 + i] = acc[i]; }
}

@compute @workgroup_size(32) fn nested(@builtin(local_invocation_index) t: u32) {
    var acc: array<array<f32, 4>, 4>;
    var k = 0;
    while true {
        if k >= i32(a[0] * 0 + 5) { break; }
        var i = 0;
        loop {
            var j = 3;
            while j >= 0 { acc[i][j] += a[i32(t) + i + k] * a[i32(t) + j]; j -= 1; }
            continuing { i += 1; break if i == 4; }
        }
        k++;
    }
    for (var i = 1u; i <= 8u; i <<= 1u) {
        let row = acc[countTrailingZeros(i)];
        for (var j = 0u; j < 4u; j++) { out[t * 16 + countTrailingZeros(i) * 4 + j] = row[j]; }
    }
}

@compute @workgroup_size(32) fn pointers(@builtin(local_invocation_index) t: u32) {
    var block: Block;
    for (var i = 0u; i < 12u; i += 2u) {
        let at = min(i, 11u);
        add(&block, at, a[t + i]);
        if i == 4u { continue; }
        let p = &block.sums[at + 1u];
        *p = *p - a[t + i + 1];
        switch i {
            case 0u, 8u: { *p *= 2.0; }
            case 6u: { *p += 1.0; }
            default: { if a[t + i] > 0.7 { break; } *p *= 3.0; }
        }
    }
    for (var i = 0u; i < 12u; i++) {
        out[t * 16 + i] = block.sums[i];
        if a[t + i] > 0.8 { break; }
    }
    out[t * 16 + 15] = f32(block.count);
}

@compute @workgroup_size(32) fn vectors(@builtin(local_invocation_index) t: u32) {
    var acc: array<vec4f, 4>;
    for (var i = 0; i < 4; i++) {
        for (var j = i; j < 4; j++) { acc[i][j] = a[i32(t) + j * i]; acc[j].x += 1.0; }
    }
    let copy = acc;
    for (var i = 0; i < 16; i++) { out[i32(t) * 16 + i] = copy[i / 4][i % 4]; }
}

@compute @workgroup_size(32) fn barriers(@builtin(local_invocation_index) t: u32) {
    for (var step = 0u; step < 3u; step++) {
        shared_sums[t] = a[t + step];
        workgroupBarrier();
        for (var i = 0u; i < 27u; i++) { kept[i / 3][i % 3] += shared_sums[(t + i) % 32]; }
        workgroupBarrier();
    }
    for (var i = 0u; i < 16u; i++) { out[t * 16 + i] = kept[i >> 1][i & 1]; }
}

fn sum(values: array<f32, 16>) -> f32 {
    var total = 0.0;
    for (var i = 0; i < 16; i++) { total += values[i]; }
    return total;
}

@compute @workgroup_size(32) fn whole(@builtin(local_invocation_index) t: u32) {
    var acc = array<f32, 16>(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
    for (var i = 0; i < 16; i++) { acc[i] *= a[t]; }
    let before = acc;
    if a[t] > 0.5 { acc = array<f32, 16>(); }
    acc[3] += 1.0;
    out[t] = sum(acc);
    out[t + 32] = sum(before);
}

fn first_above(limit: f32, t: u32) -> array<f32, 9> {
    var acc: array<f32, 9>;
    for (var i = 0u; ; i++) {
        acc[i % 9] = a[t + i];
        if i == 8u || a[t + i] > limit { return acc; }
    }
}

@compute @workgroup_size(32) fn returned(@builtin(local_invocation_index) t: u32) {
    let found = first_above(a[t], t);
    for (var i = 0u; i < 9u; i++) { out[t * 16 + i] = found[i]; }
}

@compute @workgroup_size(32) fn by_data(@builtin(local_invocation_index) t: u32) {
    var acc: array<f32, 16>;
    for (var i = 0u; i < 8u; i++) { acc[u32(a[t + i] * 16)] += 1.0; }
    for (var i = 0u; i < 16u; i++) { out[t * 16 + i] = acc[i]; }
}

@compute @workgroup_size(32) fn too_long(@builtin(local_invocation_index) t: u32) {
    var acc: array<f32, 16>;
    for (var i = 0u; i < 65u; i++) { acc[i % 16] += a[t + i]; }
    for (var i = 0u; i < 16u; i++) { out[t * 16 + i] = acc[i]; }
}

@compute @workgroup_size(32) fn too_large(@builtin(local_invocation_index) t: u32) {
    var acc: array<f32, 16>;
    for (var i = 0u; i < 4u; i++) {
        for (var j = 0u; j < 16u; j++) {
            for (var k = 0u; k < 16u; k++) { acc[i] += a[t + i] * a[t + j + k]; acc[(i + j + k) % 16] -= a[i]; }
        }
    }
    for (var i = 0u; i < 16u; i++) { out[t * 16 + i] = acc[i]; }
}

@compute @workgroup_size(32) fn table(@builtin(local_invocation_index) t: u32) {
    var weights = array(0.25, 0.5, 0.25);
    var total = 0.0;
    for (var i = 0u; i < 3u; i++) { total += weights[i] * a[t + i]; }
    out[t] = total;
}

@compute @workgroup_size(32) fn clamped(@builtin(local_invocation_index) t: u32) {
    var greatest = 0.0;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            if x == y { continue; }
            greatest = max(greatest, a[clamp(i32(t) + 8 * y + x, 0, i32(arrayLength(&a)) - 1)]);
        }
    }
    out[t] = greatest;
}

@compute @workgroup_size(32) fn branching(@builtin(local_invocation_index) t: u32) {
    var total = 0.0;
    for (var i = 0u; i < 3u; i++) {
        if a[t + i] > 0.5 { total += a[t + i]; }
    }
    out[t] = total;
}

@compute @workgroup_size(32) fn writing(@builtin(local_invocation_index) t: u32) {
    for (var i = 0u; i < 3u; i++) { out[t * 3 + i] = a[t + i]; }
}

@compute @workgroup_size(32) fn partly_long(@builtin(local_invocation_index) t: u32) {
    var total = 0.0;
    for (var i = 0u; i < 3u; i++) { total += a[t + i]; }
    for (var i = 0u; i < arrayLength(&a) - 40u; i++) { total += a[i]; }
    out[t] = total;
}

@compute @workgroup_size(32) fn channels(@builtin(local_invocation_index) t: u32) {
    let word = bitcast<u32>(a[t]);
    var sum = 0u;
    for (var shift = 0u; shift < 24u; shift += 8u) { sum += (((word >> shift) & 0xffu) / 3u) << shift; }
    out[t] = f32(sum);
}

@compute @workgroup_size(32) fn rounds(@builtin(local_invocation_index) t: u32) {
    var x = bitcast<u32>(a[t]);
    for (var i = 0u; i < 60u; i++) { x = (x ^ (x >> 7u)) * 747796405u + i; }
    out[t] = f32(x);
}

@compute @workgroup_size(32) fn unreached(@builtin(local_invocation_index) t: u32) {
    var acc: array<f32, 16>;
    for (var i = 0u; i < 16u; i++) {
        acc[i] = a[t];
        if a[t] > 2.0 { loop { if i == 16u { break; } acc[i] += 1.0; } }
    }
    out[t] = acc[5];
}
"""

SHADER = tinct.load(SPELLINGS)
IN_REGISTERS = {"flat": 1, "nested": 1, "pointers": 0, "vectors": 0, "barriers": 1}
"""The entry points whose arrays become scalars, each with the number of loops that it still has."""
STRAIGHTENED = ("table", "clamped", "channels")
"""The entry points whose loops are those of stencils, or small."""
OTHERS = {"by_data": 2, "too_long": 2, "too_large": 4, "branching": 1, "writing": 1, "partly_long": 2, "rounds": 1}
"""The others, with the number of their loops."""


def run(entry: str, device: str) -> NDArray[np.float32]:
    """The output of an entry point."""
    a = np.random.default_rng(0).uniform(0, 1, 128).astype(np.float32)
    out = np.zeros(512, np.float32)
    return SHADER[entry].run({"a": a, "out": out}, workgroups=1, device=device)["out"]


def graph_of(entry: str) -> list[h.Node]:
    """The nodes of an entry point as it is translated."""
    return SHADER[entry].compilation().hercules_unoptimised.function.nodes


def loops_in(nodes: list[h.Node]) -> int:
    """The number of loops: regions that a Phi leads back to, by a later control node."""
    order = {node: number for number, node in enumerate(nodes)}
    return sum(
        isinstance(node, h.Region) and any(order[it] > order[node] for it in node.predecessors) for node in nodes
    )


def has_private_array(nodes: list[h.Node]) -> bool:
    """Whether an array other than workgroup memory is made."""
    types = [it.value.type for it in nodes if isinstance(it, h.ConstantNode) and isinstance(it.value, h.ZeroConstant)]
    return any(isinstance(it, h.Array) and it.extent != h.DynamicLiteral(32) for it in types)


@pytest.mark.parametrize("entry", [it for it in SHADER.entry_points if it != "too_large"])
def test_results_are_the_interpreters(entry: str) -> None:
    np.testing.assert_array_equal(run(entry, "hercules"), run(entry, "interp"))


@pytest.mark.parametrize(("entry", "loops"), IN_REGISTERS.items())
def test_arrays_become_scalars(entry: str, loops: int) -> None:
    nodes = graph_of(entry)
    assert not has_private_array(nodes)
    assert not any(isinstance(it, h.Select) for it in nodes)
    assert loops_in(nodes) == loops


@pytest.mark.parametrize("entry", STRAIGHTENED)
def test_stencils_have_no_loops(entry: str) -> None:
    assert loops_in(graph_of(entry)) == 0


@pytest.mark.parametrize(("entry", "loops"), OTHERS.items())
def test_other_loops_stay(entry: str, loops: int) -> None:
    assert loops_in(graph_of(entry)) == loops


@pytest.mark.parametrize("entry", ["barriers", "whole", *STRAIGHTENED])
def test_machine_code_agrees(entry: str) -> None:
    np.testing.assert_array_equal(run(entry, "cpu"), run(entry, "interp"))


def test_the_limit_of_iterations_is_the_tests() -> None:
    assert MOST_ITERATIONS == 64, "too_long has one iteration more"
