"""Changes lane by lane, whose old values say where others are stored, are those of single threads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tinct.backend.cpu import CompiledKernel, CpuOptions, compile_entry, llvm
from tinct.backend.cpu.gangs.control.chains import ChainEmitter
from tinct.backend.cpu.gangs.memory.lane_chains import LaneChain
from tinct.backend.cpu.machine import costs_so_far
from tinct.backend.cpu.options import Tier
from tinct.backend.cpu.target import compiling_for
from tinct.frontend import load_program
from tinct.ir.source import Source
from tinct.transforms.from_wgsl import build
from tinct.transforms.hercules import CPU, HERCULES
from tinct.transforms.passes import run_passes
from tinct.transforms.to_hercules import translate

LENGTH = 64 * 12

CHAINS = {
    "what is stored is the place": "let c = v % 8u * 64u + at; y[start + next[c]] = next[c]; next[c]++;",
    "the counter first": """let c = v % 8u * 64u + at; let place = next[c];
        next[c] = place + 1u; y[start + place] = v;""",
    "own lists": "let c = v % 8u * 64u + at; y[start + next[c]] = v; next[c]++;",
    "steps from data": """let c = v % 8u * 64u + at;
        y[start + at * 12u + next[c] % 12u] = v ^ at; next[c] += v % 3u + 1u;""",
    "two stores": """let c = v % 8u * 64u + at; let place = start + next[c];
        y[place] = v; z[place] = f32(at + i); next[c]++;""",
    "down": "let c = v % 8u * 64u + at; y[start + 767u - next[c]] = v; next[c] -= 4294967295u;",
    "beyond the end": "let c = v % 8u * 64u + at; y[start + next[c] * 5u] = 7u; next[c]++;",
    "some lanes": "if v % 5u != 1u { let c = v % 8u * 64u + at; y[start + next[c]] = v; next[c]++; }",
}
OTHERS = {
    "the list is read": "let c = v % 8u * 64u + at; y[start + next[c]] = v + y[start + next[c]]; next[c]++;",
    "the place is used later": "let c = v % 8u * 64u + at; sum += next[c]; y[start + next[c]] = v; next[c]++;",
    "the counter is a product": "let c = v % 8u * 64u + at; y[start + next[c]] = v; next[c] = next[c] * 1u + 1u;",
    "counters only": "let c = v % 8u * 64u + at; next[c]++;",
}


def kernel(body: str, tier: Tier = "gang") -> CompiledKernel:
    text = f"""
@group(0) @binding(0) var<storage> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<storage, read_write> z: array<f32>;
var<workgroup> next: array<u32, 512>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) at: u32, @builtin(workgroup_id) group: vec3u) {{
    let start = group.x * {LENGTH}u;
    let first = start + at * 12u;
    let end = min(first + 12u, arrayLength(&x));
    for (var i = 0u; i < 8u; i++) {{ next[i * 64u + at] = at * 12u; }}
    var sum = 0u;
    for (var i = first; i < end; i++) {{ let v = x[i]; {body} }}
    workgroupBarrier();
    for (var i = 0u; i < 8u; i++) {{ sum = sum * 3u + next[i * 64u + at]; }}
    if group.x == 0u {{ z[arrayLength(&z) - 1u] = 1.0; }}
    if start + at * 12u < arrayLength(&x) {{ y[start + at * 12u + 11u] = sum; }}
}}"""
    made = translate(build(load_program(Source("test.wgsl", text.encode()))), "main")
    run_passes(made.module, CPU.passes, HERCULES)
    return compile_entry(made, CpuOptions(tier))


def results(compiled: CompiledKernel, items: int) -> bytes:
    x = np.random.default_rng(1).integers(0, 1 << 32, items, np.uint32)
    y, z = np.zeros(3 * LENGTH, np.uint32), np.zeros(3 * LENGTH, np.float32)
    compiled.run([it.view(np.uint8) for it in (x, y, z)], (3, 1, 1), workers=1)
    return y.tobytes() + z.tobytes()


@pytest.fixture
def lanes_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """On all machines."""
    access = replace(costs_so_far().access, gather=9.0, scatter=9.0, counters=1.0)
    monkeypatch.setattr(llvm, "costs_so_far", lambda: replace(costs_so_far(), access=access))


@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("name", [*CHAINS, *OTHERS])
def test_answers_are_those_of_single_threads(lanes_pay: None, name: str, target: str) -> None:
    body = (CHAINS | OTHERS)[name]
    expected = [results(kernel(body, "lane"), items) for items in (3 * LENGTH, 2 * LENGTH + 77)]
    with compiling_for(target):
        found = kernel(body)
    assert found.tier == "gang", found.tier_reason
    assert [results(found, items) for items in (3 * LENGTH, 2 * LENGTH + 77)] == expected


@pytest.mark.parametrize("name", [*CHAINS, *OTHERS])
def test_chains_are_found(lanes_pay: None, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[LaneChain] = []
    emit = ChainEmitter.emit

    def noted(emitter: ChainEmitter, chain: LaneChain) -> None:
        written.append(chain)
        emit(emitter, chain)

    monkeypatch.setattr(ChainEmitter, "emit", noted)
    with compiling_for("x86-64-v3"):
        kernel((CHAINS | OTHERS)[name]).llvm(optimised=False)
    assert bool(written) is (name in CHAINS)
