"""Threads that exchange nothing run along the rows of a problem, through all workgroups, and answers stay the same."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import tinct
from tinct.backend.cpu import CpuOptions
from tinct.backend.cpu.device import compile_entry

WIDTH = 150
HEAD = f"""
const WIDTH = {WIDTH}u;
const STEPS = array<vec2i, 5>(vec2i(0, 0), vec2i(1, 0), vec2i(0, 1), vec2i(-1, 0), vec2i(0, -1));
struct Size {{ width: u32, height: u32 }}
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@group(0) @binding(1) var<storage, read> data: array<f32>;
@group(0) @binding(2) var<storage, read> places: array<u32>;
@group(0) @binding(3) var<uniform> size: Size;
@group(0) @binding(4) var<storage, read_write> ticks: array<u32>;
@group(0) @binding(5) var<storage, read_write> clock: atomic<u32>;
var<workgroup> tile: array<f32, 256>;
fn wrapped(at: i32, end: u32) -> u32 {{
    if (at < 0) {{ return end - 1u; }}
    return select(u32(at), 0u, at >= i32(end));
}}
"""
GUARD = "if (id.x >= WIDTH) { return; }"
ALONG_ROWS = {
    "copy": "out[id.y * WIDTH + id.x] = data[id.y * WIDTH + id.x] * 2.0;",
    "volume": "let at = (id.z * 20u + id.y) * WIDTH + id.x; out[at] = data[at] + 1.0;",
    "sizes of a uniform": """if (any(id.xy >= vec2u(size.width, size.height))) { return; }
        let at = id.y * size.width + id.x; out[at] = data[at] - data[at + 1u];""",
    "neighbours that wrap, from a table": """if (id.x >= size.width || id.y >= size.height) { return; }
        var sum = 0.0;
        for (var k = 0u; k < 5u; k++) {
            let x = wrapped(i32(id.x) + STEPS[k].x, size.width);
            let y = wrapped(i32(id.y) + STEPS[k].y, size.height);
            sum += data[y * size.width + x];
        }
        out[id.y * size.width + id.x] = sum;""",
    "planes": """let at = id.y * WIDTH + id.x;
        if (at < 4000u) { for (var k = 0u; k < 3u; k++) { out[k * 4000u + at] = data[at + k]; } }""",
}
OTHERS = {
    "sums of products": """var sum = 0.0;
        for (var k = 0u; k < 80u; k++) { sum += data[id.y * 80u + k] * data[k * 60u + id.x]; }
        out[id.y * WIDTH + id.x] = sum;""",
    "a loop of the data's length": """var sum = 0.0;
        for (var k = 0u; k < size.width; k++) { sum += data[id.y + k]; }
        out[id.y * WIDTH + id.x] = sum;""",
    "columns": "out[id.y * WIDTH + id.x] = data[id.x * 20u + id.y];",
    "where floats say": "out[id.y * WIDTH + id.x] = data[u32(f32(id.x) * 0.7 + f32(id.y) * 10.0)];",
    "where data say": "out[id.y * WIDTH + id.x] = data[places[id.y * WIDTH + id.x]];",
    "a barrier": """tile[local] = data[id.y * WIDTH + id.x]; workgroupBarrier();
        if (id.x < WIDTH) { out[id.y * WIDTH + id.x] = tile[local ^ 1u]; }""",
}


@cache
def kernel(body: str, size: str) -> tinct.Kernel:
    return tinct.load(f"""{HEAD}
@compute @workgroup_size({size})
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {{ {body} }}""")["main"]


def buffers(found: tinct.Kernel) -> dict[str, object]:
    random = np.random.default_rng(5)
    every = {
        "out": np.zeros(12000, np.float32),
        "data": random.random(12001, dtype=np.float32),
        "places": random.integers(0, 12000, 12000, np.uint32),
        "size": {"width": WIDTH - 3, "height": 11},
        "ticks": np.zeros(12000, np.uint32),
        "clock": np.uint32(0),
    }
    return {it.name: every[it.name] for it in found.bindings}


@pytest.mark.parametrize("workgroups", [(1, 1, 1), (5, 3, 1), (7, 2, 2)])
@pytest.mark.parametrize("size", ["8, 8", "16, 4", "32, 2", "4, 4, 2", "3, 5", "64, 2", "16, 16"])
@pytest.mark.parametrize("name", ALONG_ROWS | OTHERS)
def test_answers_are_the_interpreters(name: str, size: str, workgroups: tuple[int, int, int]) -> None:
    found = kernel(f"{'' if name == 'a barrier' else GUARD} {(ALONG_ROWS | OTHERS)[name]}", size)
    used = buffers(found)
    expected = found.run(used, workgroups=workgroups, device="interp")["out"]
    np.testing.assert_array_equal(found.run(used, workgroups=workgroups)["out"], expected)


def ticks(body: str, size: tuple[int, int]) -> NDArray[np.uint32]:
    """When each thread of 4 by 2 workgroups runs on one worker: an element for each, in rows of threads."""
    shape = (2 * size[1], 4 * size[0])
    found = kernel(f"{body} ticks[id.y * {shape[1]}u + id.x] = atomicAdd(&clock, 1u);", f"{size[0]}, {size[1]}")
    compiled = compile_entry(found.shader.compilation("main", {}).hercules, CpuOptions("gang"))
    assert compiled.tier == "gang"
    given = {name: np.asarray(it) for name, it in buffers(found).items() if name != "size"}
    given |= {"size": np.array([WIDTH - 3, 11], np.uint32), "clock": np.zeros(1, np.uint32)}
    compiled.run([given[slot.name].view(np.uint8) for slot in compiled.slots], (4, 2, 1), workers=1)
    return given["ticks"][: shape[0] * shape[1]].reshape(shape)


@pytest.mark.parametrize("name", [it for it in ALONG_ROWS if it != "sizes of a uniform"])
@pytest.mark.parametrize("size", [(8, 8), (16, 4), (32, 2), (3, 5)])
def test_rows_run_one_after_another(name: str, size: tuple[int, int]) -> None:
    rows = ticks(ALONG_ROWS[name].replace("return;", ""), size)  # all threads get a tick
    assert (rows.max(axis=1)[:-1] < rows.min(axis=1)[1:]).all()


@pytest.mark.parametrize("name", OTHERS)
def test_other_threads_keep_to_their_workgroup(name: str) -> None:
    rows = ticks(OTHERS[name], (32, 4))
    assert rows[:4, :32].max() < rows[:4, 32:64].min()


def test_workgroups_of_one_row_stay_as_they_are() -> None:
    rows = ticks(ALONG_ROWS["copy"], (64, 1))
    assert (np.diff(rows.reshape(-1, 16).min(axis=1).astype(np.int64)) > 0).all()
