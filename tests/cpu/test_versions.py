"""Blocks with a version for when all lanes of a gang pass and all positions are in range: around every edge, the gangs
do what single lanes do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from tests.cpu.levels import available

import tinct
from tinct.backend.cpu import CompiledKernel, CpuOptions, compile_entry
from tinct.backend.cpu.emit import Tier
from tinct.backend.cpu.target import current_target
from tinct.ir.source import Source
from tinct.shader import Shader

HEAD = """
struct Sizes { n: u32, width: u32, height: u32, shift: i32 }
@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage> data: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@group(0) @binding(3) var<storage, read_write> more: array<u32>;
"""
ROW = {
    "guarded": "if (g < sizes.n) { out[g] = data[g] * 3u + out[g]; }",
    "returns early": "if (g >= sizes.n) { return; } out[g] = data[g]; more[g] = out[g] + data[g + 1u];",
    "two guards": "if (g < sizes.n) { if (sizes.width < 30u && g <= sizes.height) { out[g] = data[g] + more[g]; } }",
    "a uniform guard between": """
        if (sizes.shift < 0) { if (g < sizes.n) { out[g] = data[g] + more[g]; } }
        else { out[g] += 1u; more[g] = 2u; }""",
    "both sides": """
        var x = 5u;
        if (g + 3u < sizes.n) { x = data[g] + data[g + 3u]; out[g] = x; } else { more[g] = data[g] * 2u; out[g] = 9u; }
        more[g] += x;""",
    "what a guard makes is used later": """
        var x = 1u; var y = 2u;
        if (!(g >= sizes.n)) { x = data[g]; y = data[g + 1u] * x; more[g] = x + y; }
        if (x > 50u) { y += x; }
        out[g] = x ^ y;""",
    "not guarded": "out[g] = data[g] + data[g + 2u]; more[g] = out[g] * data[g];",
    "wraps round": "if (g - 20u < sizes.n) { out[g - 20u] = data[g - 20u] + more[g]; }",
    "far products": "if (g * 67108864u < 4000000000u) { out[g] = data[g * 67108864u] + data[g * 3u]; more[g] = 1u; }",
    "signed": """
        let x = i32(g) + sizes.shift;
        if (x >= 0 && x < i32(sizes.n)) { out[x] = data[x] + data[x + 1]; more[u32(x)] = u32(x - 1); }""",
    "limits": """
        let x = i32(g);
        if (g < sizes.n) { out[g] = data[max(x - 1, 0)] + data[min(g + 1u, sizes.n - 1u)] * 3u
            + data[clamp(x + sizes.shift, 0, i32(sizes.n) - 1)] * 5u; }""",
    "steps": """
        if (g < sizes.n) { out[g] = data[g % 40u] + data[g / 3u] + data[g >> 2u] + data[g & 31u] + data[g << 1u]; }""",
    "either of two": "let p = select(g, g + 2u, sizes.shift < 0); if (g < sizes.n) { out[p] = data[p] + more[p]; }",
    "a guard from memory": "if (g < sizes.n && data[g] > 40u) { out[g] = data[g] + more[g] + data[g + 1u]; }",
    "a loop between": """
        if (g >= sizes.n) { return; }
        var sum = 0u;
        for (var k = 0u; k < sizes.width; k++) { sum += data[g + k]; }
        out[g] = sum + data[g]; more[g] = sum ^ out[g];""",
}
GRID = {
    "rows and columns": """
        if (all(id.xy < vec2u(sizes.width, sizes.height))) {
            let at = id.y * sizes.width + id.x; out[at] = data[at] * 2u + more[at]; }""",
    "neighbours": """
        if (id.x >= sizes.width || id.y >= sizes.height) { return; }
        let x = i32(id.x); let y = i32(id.y); let w = i32(sizes.width);
        out[y * w + x] = data[max(y - 1, 0) * w + x] + data[y * w + max(x - 1, 0)] * 3u
            + data[y * w + min(x + 1, w - 1)] * 5u + data[(y + 1) % i32(sizes.height) * w + x] * 7u;""",
    "columns of a tile, written": """
        if (id.x < sizes.width) { tile[local.x][local.y] = data[id.y * sizes.width + id.x]; }
        workgroupBarrier();
        let to = block.yx * size + local.xy;
        if (to.y < sizes.width && to.x < sizes.height) { out[to.y * sizes.height + to.x] = tile[local.y][local.x]; }""",
    "rows become columns": """
        if (id.x < sizes.width && id.y < sizes.height) {
            out[id.x * sizes.height + id.y] = data[id.y * sizes.width + id.x] + more[id.x * sizes.height + id.y]; }""",
    "columns of a tile": """
        if (id.x < sizes.width) { tile[local.y][local.x] = data[id.y * sizes.width + id.x]; }
        workgroupBarrier();
        let to = block.yx * size + local.xy;
        if (to.y < sizes.width && to.x < sizes.height) { out[to.y * sizes.height + to.x] = tile[local.x][local.y]; }""",
}


def compiled(wgsl: str, tier: Tier) -> CompiledKernel:
    kernel = Shader(Source.from_text(wgsl)).kernel()
    return compile_entry(kernel.shader.compilation(kernel.info.name, {}).hercules, CpuOptions(tier))


def in_a_row(body: str, size: int) -> str:
    return f"""{HEAD}
@compute @workgroup_size({size})
fn main(@builtin(global_invocation_id) id: vec3u) {{ let g = id.x; _ = &data; _ = &out; _ = &more; {body} }}"""


def in_a_grid(body: str, width: int, height: int) -> str:
    return f"""{HEAD}
const size = vec2u({width}, {height});
var<workgroup> tile: array<array<u32, {width + 1}>, {width}>;
@compute @workgroup_size({width}, {height})
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u,
        @builtin(workgroup_id) block: vec3u) {{ _ = &data; _ = &out; _ = &more; _ = local; {body} }}"""


def results(kernel: CompiledKernel, sizes: Sequence[int], elements: int, groups: tuple[int, int, int]) -> list[bytes]:
    """All but the last element of each buffer, into which several invocations may write."""
    random = np.random.default_rng(3)
    buffers = {it: random.integers(0, 100, elements).astype(np.uint32) for it in ("data", "out", "more")}
    buffers["sizes"] = np.array(sizes, np.int64).astype(np.uint32)
    kernel.run([buffers[slot.name].view(np.uint8) for slot in kernel.slots], groups, workers=1)
    return [buffers[it][:-1].tobytes() for it in ("out", "more")]


@pytest.mark.parametrize("size", [16, 64, 40])
@pytest.mark.parametrize("name", ROW)
def test_rows_around_the_edges(name: str, size: int) -> None:
    gang, lane = (compiled(in_a_row(ROW[name], size), tier) for tier in ("gang", "lane"))
    assert gang.tier == "gang"
    for n in (0, 1, 16, 63, 64, 100, 128, 129, 4294967295):
        for elements in (1, 63, 64, 130, 300):
            sizes = n, 17, 90, -3 if n % 2 else 4
            assert results(gang, sizes, elements, (2, 1, 1)) == results(lane, sizes, elements, (2, 1, 1)), (n, elements)


def grids() -> list[tuple[str, tuple[int, int]]]:
    """Each kernel in workgroups of each shape; those with a tile in square ones."""
    shapes = [(16, 16), (8, 8), (32, 4)]
    return [(name, it) for name in GRID for it in shapes if it[0] == it[1] or not name.startswith("columns of a tile")]


@pytest.mark.parametrize(("name", "shape"), grids())
def test_grids_around_the_edges(name: str, shape: tuple[int, int]) -> None:
    gang, lane = (compiled(in_a_grid(GRID[name], *shape), tier) for tier in ("gang", "lane"))
    assert gang.tier == "gang"
    for width, height in ((32, 32), (33, 31), (5, 40), (64, 16), (31, 0), (65536, 32)):
        for elements in (1, 40, 1000, 1024, 1100):
            sizes, groups = (0, width, height, 0), (3, 3, 1)
            assert results(gang, sizes, elements, groups) == results(lane, sizes, elements, groups), (width, height)


DEFERRED = """
@group(0) @binding(0) var<uniform> size: vec3u;
@group(0) @binding(1) var<storage> data: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3u) {
    if (any(id >= size)) { return; }
    let at = (id.z * size.y + id.y) * size.x + id.x;
    var sum = at;
    if (data[at] % 3u == 0u) { sum += data[id.x]; } else { sum -= data[id.y * size.x]; }
    out[at] = sum + data[data[at] % arrayLength(&data)];
}"""


@pytest.mark.parametrize("level", available())
def test_a_branch_that_is_written_later_needs_values_of_a_row_with_versions(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test of y is written with the branch to the block of each column, but y in both versions of the row."""
    monkeypatch.setenv("TINCT_CPU_TARGET", level)
    main, width, height = tinct.load(DEFERRED)["main"], 21, 19
    data = np.random.default_rng(1).integers(0, 1000, width * height, np.uint32)
    buffers = {"size": [width, height, 1], "data": data, "out": np.zeros_like(data)}
    expected = main.run(buffers, workgroups=(3, 3, 1), device="interp")["out"]
    np.testing.assert_array_equal(main.run(buffers, workgroups=(3, 3, 1), device="cpu")["out"], expected)


def test_the_version_for_whole_gangs_has_no_masks() -> None:
    """It is there, and shorter than the other: plain loads and stores of a cache line, and tests before them and of the
    store's way.
    """
    kernel = compiled(in_a_row("if (g < sizes.n) { out[g] = data[g] * 3u + more[g]; }", 64), "gang")
    blocks = kernel.llvm(optimised=False).split("\nwhole.")
    assert len(blocks) == 2
    whole = blocks[1].split("\npartly.")[0]
    vectors = max(1, 16 // lanes())
    assert whole.count(f"load <{lanes()} x i32>") == 2 * vectors
    assert stores(whole) == [True, False] * vectors
    assert whole.count("br i1") == vectors
    assert "masked" not in whole


@pytest.mark.parametrize("name", ["columns of a tile", "columns of a tile, written", "rows become columns"])
def test_columns_are_rows_turned_in_registers(name: str) -> None:
    size = lanes()
    versions = compiled(in_a_grid(GRID[name], size, size), "gang").llvm(optimised=False).split("\nwhole.")[1:]
    wholes = [it.split("\npartly.")[0] for it in versions]
    assert all("gather" not in it and "scatter" not in it for it in wholes)
    turned = max(wholes, key=len)
    assert turned.count(f"load <{size} x i32>") == size * (2 if "become" in name else 1)
    assert stores(turned).count(False) == size


def stores(text: str) -> list[bool]:
    """Whether each store of a vector goes past the caches."""
    return ["!nontemporal" in line for line in text.splitlines() if f"store <{lanes()} x i32>" in line]


def lanes() -> int:
    """The 32-bit lanes of a vector on this machine."""
    return current_target().vector_bytes // 4


def test_loops_have_one_version() -> None:
    body = "for (var k = 0u; k < sizes.width; k++) { out[g + k] = data[g + k] + more[g + k]; }"
    assert "whole." not in compiled(in_a_row(body, 64), "gang").llvm(optimised=False)


@pytest.mark.parametrize(
    ("body", "asks"),
    [
        ("out[g] = data[g] + data[g];", True),
        ("for (var k = 0u; k < n; k++) { out[g] += data[g + k]; }", False),
    ],
)
def test_memory_is_asked_for_where_gangs_pass_once(body: str, asks: bool) -> None:
    text = f"""
        @group(0) @binding(0) var<storage> data: array<u32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @group(0) @binding(2) var<uniform> n: u32;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{
            let g = id.x; _ = n; if g >= arrayLength(&out) {{ return; }} {body}
        }}"""
    kernel = Shader(Source.from_text(text)).kernel()
    code = kernel.shader.compilation("main", {}).cpu
    assert ("@llvm.prefetch" in code.llvm(optimised=False)) == asks
    data = np.arange(200, dtype=np.uint32)
    given = {"data": data, "out": np.zeros(190, np.uint32), "n": np.uint32(3)}
    found, expected = (kernel.run(given, workgroups=3, device=device)["out"] for device in ("cpu", "interp"))
    assert found.tolist() == expected.tolist()


def test_operands_of_addresses_are_known_where_the_addresses_are_widened() -> None:
    """`goal` is computed outside of the inner loop, and again as an i64 for the addresses in it."""
    kernel = tinct.load("""
@group(0) @binding(0) var<uniform> n: u32;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read_write> b: array<f32>;

@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) lane: u32) {
    for (var j = 0u; j < n; j++) {
        let within = j & 15u;
        let goal = lane + ((j - within) * 16u + within) * 32u;
        for (var k = 0u; k < 16u; k++) {
            b[goal + k * 512u] = a[j * 32u + k * 64u + lane] * 2.0;
        }
    }
}
""")["main"]
    random = np.random.default_rng(5)
    given = {"n": 20, "a": random.random(5000, np.float32), "b": np.zeros(17000, np.float32)}
    assert kernel.compilation().cpu is not None
    expected = kernel.run(given, workgroups=1, device="interp")["b"]
    np.testing.assert_array_equal(kernel.run(given, workgroups=1)["b"], expected)
