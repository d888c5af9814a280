"""Elements of three and four words at scattered positions: a load for each lane or gathers, whichever is faster."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tinct
from tinct.backend.cpu.gangs.memory import quads
from tinct.backend.cpu.machine import costs_so_far

KERNEL = """
struct Body { place: vec3f, mass: f32, speed: vec3f, kind: u32 }
@group(0) @binding(0) var<storage, read> at: array<u32>;
@group(0) @binding(1) var<storage, read> texels: array<vec4f>;
@group(0) @binding(2) var<storage, read> bodies: array<Body>;
@group(0) @binding(3) var<storage, read> colours: array<vec3i>;
@group(0) @binding(4) var<storage, read_write> out: array<vec4f>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    let i = at[id.x];
    var sum = texels[i];
    if (i % 3u != 0u) { sum += vec4f(bodies[i].place, bodies[i].mass).wzyx; }
    sum += vec4f(bodies[i].speed * 2.0, f32(bodies[i].kind));
    out[id.x] = sum + vec4f(vec4i(colours[i], 1));
}
"""


@pytest.mark.parametrize("cpu_target", ["x86-64-v2", "x86-64-v3", "native"], indirect=True)
@pytest.mark.parametrize("pays", [False, True])
@pytest.mark.usefixtures("cpu_target")
def test_both_ways_give_the_interpreters_answers(pays: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quads, "quads_pay", lambda *_: pays)
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    monkeypatch.setenv("TINCT_CACHE", "off")
    random = np.random.default_rng(4)
    used = {
        "at": random.integers(0, 700, 250, np.uint32),  # some are past the end
        "texels": random.random((500, 4), dtype=np.float32),
        "bodies": random.random((500, 8), dtype=np.float32).tobytes(),
        "colours": random.integers(-99, 99, (500, 3)).astype(np.int32),
        "out": np.zeros((250, 4), np.float32),
    }
    kernel = tinct.load(KERNEL)["main"]
    text = kernel.shader.compilation("main", {}).cpu.llvm(optimised=False)
    assert ("load volatile" in text) == pays
    expected = kernel.run(used, workgroups=4, device="interp")["out"]
    np.testing.assert_array_equal(kernel.run(used, workgroups=4)["out"], expected)


def test_quads_pay_where_gathers_are_slow() -> None:
    costs = replace(costs_so_far().access, loads=4.0, shuffle=0.3)
    assert quads.quads_pay(replace(costs, gather=6.4), 16, 3)
    assert not quads.quads_pay(replace(costs, gather=2.4), 16, 4)
    assert quads.quads_pay(replace(costs, gather=2.4, loads=2.0), 8, 4)
