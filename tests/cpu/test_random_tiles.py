"""Random tiles that workgroups fill from a picture: the interpreter's answers on all levels of the processor."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from tests.cpu.levels import available
from tests.cpu.test_pieces import costs

import tinct
from tinct.backend.cpu import llvm

KERNEL = """
@group(0) @binding(0) var<uniform> size: vec2u;
@group(0) @binding(1) var<storage, read> picture: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
var<workgroup> tile: array<u32, WORDS>;
@compute @workgroup_size(SHAPE) fn main(
    @builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) t: u32, @builtin(num_workgroups) groups: vec3u
) {
    let most = vec2i(size) - 1;
    let corner = vec2i(group.xy * vec2u(SHAPE)) + vec2i(OFFSET);
    for (var k = t; k < WORDSu; k += THREADSu) {
        let x = corner.x + ACROSS;
        let y = corner.y + DOWN;
        let z = i32(k / (COLUMNSu * ROWSu));
        var word = 5u;
        LOAD
        tile[k] = word;
    }
    workgroupBarrier();
    for (var k = t; k < WORDSu; k += THREADSu) {
        out[(group.y * groups.x + group.x) * WORDSu + k] = tile[k] * 3u + tile[(k + 1u) % WORDSu];
    }
}
"""
SHAPES = ((8, 8), (16, 4), (16, 16), (32, 2), (64, 1), (32, 4), (4, 4), (128, 1))
COLUMNS = ("i32(k % COLUMNSu)", "i32(k - k / COLUMNSu * COLUMNSu)", "2 * i32(k % COLUMNSu)", "-i32(k % COLUMNSu)")
ROWS = ("i32(k / COLUMNSu % ROWSu)", "i32(k % (COLUMNSu * ROWSu) / COLUMNSu)", "3 * i32(k / COLUMNSu % ROWSu)")
PLACES = (
    "(u32(z) * size.y + u32(Y)) * size.x + u32(X)",
    "(z * i32(size.y) + i32(Y)) * i32(size.x) + i32(X)",
    "u32(X) + (u32(Y) << 5u) + u32(z) * 37u",
)
CLAMPS = (
    ("clamp(x, 0, most.x)", "clamp(y, 0, most.y)"),
    ("max(min(x, most.x), 0)", "min(max(y, 0), most.y)"),
    ("select(select(x, most.x, x > most.x), 0, x < 0)", "select(clamp(y, 0, most.y), 1, y == -3)"),
    ("u32(clamp(x, 0, most.x))", "min(u32(max(y, 0)), size.y - 1u)"),
    ("x", "y"),
)
GUARDS = (
    "x >= 0 && y >= 0 && x <= most.x && y <= most.y",
    "all(vec2i(x, y) >= vec2i(0)) && all(vec2i(x, y) <= most)",
    "u32(x) < size.x && u32(y) < size.y",
)


def kernel(random: Random) -> tuple[str, tuple[int, int], int]:
    """A kernel, the shape of its workgroups, and the words of their tiles."""
    shape = random.choice(SHAPES)
    columns, rows = shape[0] + random.choice((0, 1, 2, 4, 6)), shape[1] + random.choice((1, 2, 3, 4))
    words = columns * rows * random.choice((1, 1, 1, 2, 3))
    x, y = random.choice(CLAMPS)
    load = f"word = picture[{random.choice(PLACES).replace('X', x).replace('Y', y)}];"
    if random.random() < 0.3:
        load = f"if {random.choice(GUARDS)} {{ {load} }}"
    text = KERNEL.replace("LOAD", load)
    text = text.replace("ACROSS", random.choice(COLUMNS)).replace("DOWN", random.choice(ROWS))
    text = text.replace("OFFSET", f"{random.randint(-3, 1)}, {random.randint(-3, 3)}")
    for name, value in {"COLUMNS": columns, "ROWS": rows, "WORDS": words, "THREADS": shape[0] * shape[1]}.items():
        text = text.replace(name, str(value))
    return text.replace("SHAPE", f"{shape[0]}, {shape[1]}"), shape, words


@pytest.mark.parametrize("seed", range(24))
def test_answers(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random, cheap = Random(seed), costs(9.0)
    monkeypatch.setattr(llvm, "costs_so_far", lambda: cheap)
    monkeypatch.setenv("TINCT_CPU_TIER", "gang")
    text, shape, words = kernel(random)
    main = tinct.load(text)["main"]
    for width, height in ((1, 1), (random.randint(2, 20), random.randint(1, 30)), (random.randint(30, 80), 40)):
        grid = [min(3, -(-extent // size)) for extent, size in zip((width, height), shape, strict=True)]
        picture = np.random.default_rng(seed).integers(0, 1 << 20, width * height * random.choice((1, 2)), np.uint32)
        out = np.zeros(words * grid[0] * grid[1], np.uint32)
        buffers = {"size": [width, height], "picture": picture, "out": out}
        expected = main.run(buffers, workgroups=(grid[0], grid[1], 1), device="interp")["out"]
        for level in available():
            monkeypatch.setenv("TINCT_CPU_TARGET", level)
            found = main.run(buffers, workgroups=(grid[0], grid[1], 1), device="cpu")["out"]
            np.testing.assert_array_equal(found, expected, err_msg=f"{level}, {width} by {height}\n{text}")
