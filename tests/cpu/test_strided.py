"""Elements at even distances that are too far apart for whole vectors: by gathers and scatters, or lane by lane."""

from __future__ import annotations

import re
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

SHADER = """
@group(0) @binding(0) var<storage> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    y[id.x * 9u + 2u] = x[id.x * 11u + 1u] * 3u + x[id.x * 11u + 6u];
}
"""


def kernel(tier: Tier) -> CompiledKernel:
    made = translate(build(load_program(Source("test.wgsl", SHADER.encode()))), "main")
    return compile_entry(made, CpuOptions(tier=tier))


def results(compiled: CompiledKernel, elements: int) -> bytes:
    x, y = np.random.default_rng(1).integers(0, 1000, elements, np.uint32), np.zeros(elements, np.uint32)
    compiled.run([x.view(np.uint8), y.view(np.uint8)], (2, 1, 1), workers=1)
    return y.tobytes()


def test_the_cheaper_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is out of range is gathered and scattered in any case."""

    def with_costs(time: float) -> CompiledKernel:
        """The code where a gather and a scatter take this time, and loads and stores of all lanes take 1."""
        access = replace(costs_so_far().access, gather=time, scatter=time, loads=1.0, stores=1.0)
        changed = replace(costs_so_far(), access=access)
        with monkeypatch.context() as patch:
            patch.setattr(llvm, "costs_so_far", lambda: changed)
            found = kernel("gang")
            texts.append(found.llvm(optimised=False))
        return found

    texts: list[str] = []
    by_lane, at_once = with_costs(9.0), with_costs(0.1)
    for name in ("gather", "scatter"):
        slow, fast = (len(re.findall(rf"call .*@llvm.masked.{name}", it)) for it in texts)
        assert slow < fast
    for elements in (1, 5, 700, 1150, 1400, 5000):
        expected = results(kernel("lane"), elements)
        assert results(by_lane, elements) == results(at_once, elements) == expected, elements
