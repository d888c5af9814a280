"""Accumulators that loops carry across barriers are made anew where the old ones lie, and nobody sees it."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.backend.cpu.options import Tier
from tinct.ir.hercules import nodes as h
from tinct.ir.hercules.graph import def_use
from tinct.ir.hercules.loop_collects import collects_in_place
from tinct.ir.hercules.placement import place_nodes

SHADER = tinct.load("""
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
var<workgroup> tile: array<f32, 64>;

@compute @workgroup_size(16, 4) fn swapped(@builtin(local_invocation_index) t: u32) {
    var x = a[t];
    var y = a[t + 1];
    var z = 0.0;
    for (var i = 0u; i < 5u; i++) {
        tile[t] = x;
        workgroupBarrier();
        let old = x;
        x = y + tile[(t * 7 + i) % 64];
        y = old;
        z += x * y;
        workgroupBarrier();
    }
    out[t] = x + y * 2 + z;
}

@compute @workgroup_size(64) fn late(@builtin(local_invocation_index) t: u32) {
    var x = a[t];
    var last = 0.0;
    for (var i = 0u; i < 5u; i++) {
        last = x;
        x = x * 0.5 + a[t + i];
        tile[t] = last + x;
        workgroupBarrier();
        x += tile[63 - t];
        workgroupBarrier();
        if a[i] > 0.6 { continue; }
        if i == 3u { x += last; }
        tile[t] = x;
        workgroupBarrier();
        last = tile[(t + 1) % 64];
        workgroupBarrier();
    }
    out[t] = x + last;
}
""")


def in_place(entry: str) -> tuple[int, int]:
    """The number of Collects that are made in place, and of all."""
    function = SHADER[entry].compilation().hercules.function
    found = collects_in_place(place_nodes(function), def_use(function))
    outer = [it for it in function.nodes if isinstance(it, h.Collect) and not isinstance(it.value, h.Collect)]
    return len(found), len(outer)


def test_which_are_made_in_place() -> None:
    assert in_place("swapped") == (6, 6), "three that the loop carries, and three that it begins with"
    made, collects = in_place("late")
    assert 0 < made < collects


@pytest.mark.parametrize(("entry", "tier"), [("swapped", "gang"), ("swapped", "baseline"), ("late", "gang")])
def test_results_are_the_interpreters(entry: str, tier: Tier, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINCT_CPU_TIER", tier)
    a = np.random.default_rng(0).uniform(0, 1, 128).astype(np.float32)
    buffers = {"a": a, "out": np.zeros(64, np.float32)}
    found = {device: SHADER[entry].run(buffers, workgroups=1, device=device)["out"] for device in ("cpu", "interp")}
    np.testing.assert_array_equal(found["cpu"], found["interp"])
