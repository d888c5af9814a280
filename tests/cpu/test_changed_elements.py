"""Elements that are changed where they are, lane by lane or by a gather and a scatter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tinct.backend.cpu import CompiledKernel, CpuOptions, compile_entry, llvm
from tinct.backend.cpu.emit import Tier
from tinct.backend.cpu.machine import costs_so_far
from tinct.frontend import load_program
from tinct.ir.source import Source
from tinct.transforms.from_wgsl import build
from tinct.transforms.to_hercules import translate

CHANGES = ["+= 1u", "-= v", "&= v", "*= v"]
DECLARED = {"by each": "var own: array<u32, 24>;", "of the workgroup": "let own = &shared_ones[at];"}


def kernel(change: str, declared: str, tier: Tier = "gang") -> CompiledKernel:
    text = f"""
@group(0) @binding(0) var<storage> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
var<workgroup> shared_ones: array<array<u32, 24>, 64>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) at: u32) {{
    {declared}
    for (var i = 0u; i < arrayLength(&x) / 64u; i++) {{
        let v = x[i * 64u + at];
        own[v >> 27u] {change};
        if v % 3u == 1u {{ own[(v >> 7u) % 24u] {change}; }}
    }}
    workgroupBarrier();
    for (var i = 0u; i < arrayLength(&y) / 64u; i++) {{ y[at * 24u + i] = own[i]; }}
}}"""
    made = translate(build(load_program(Source("test.wgsl", text.encode()))), "main")
    return compile_entry(made, CpuOptions(tier))


def results(compiled: CompiledKernel) -> list[int]:
    x, y = np.random.default_rng(1).integers(0, 1 << 32, 64 * 40, np.uint32), np.zeros(64 * 24, np.uint32)
    compiled.run([x.view(np.uint8), y.view(np.uint8)], (1, 1, 1), workers=1)
    return y.tolist()


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("declared", DECLARED.values(), ids=DECLARED)
def test_the_cheaper_way_is_taken(change: str, declared: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def with_counters(time: float) -> CompiledKernel:
        """The code where changes of all lanes take this time, and a gather and a scatter take 2."""
        costs = costs_so_far()
        changed = replace(costs, access=replace(costs.access, counters=time, gather=1.0, scatter=1.0))
        with monkeypatch.context() as patch:
            patch.setattr(llvm, "costs_so_far", lambda: changed)
            found = kernel(change, declared)
            texts.append(found.llvm(optimised=False))
        return found

    texts: list[str] = []
    by_lane, at_once = with_counters(1.0), with_counters(9.0)
    assert (texts[0].count("masked.scatter") < texts[1].count("masked.scatter")) == (change != "*= v")
    assert results(by_lane) == results(at_once) == results(kernel(change, declared, "lane"))
