"""Workgroups in the interior of a problem run a loop without masks, range tests and clamps. However a stencil is
spelled, it has one, and gangs do what single lanes do around every edge.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

from tinct.backend.cpu import CompiledKernel, CpuOptions, compile_entry
from tinct.backend.cpu.emit import Tier
from tinct.ir.source import Source
from tinct.shader import Shader

HEAD = """
struct Sizes { w: u32, h: u32 }
@group(0) @binding(0) var<uniform> p: Sizes;
@group(0) @binding(1) var<storage> u: array<u32>;
@group(0) @binding(2) var<storage, read_write> r: array<u32>;
const AROUND = array(vec2i(-1, 0), vec2i(1, 0), vec2i(0, -1), vec2i(0, 2));
fn at(x: i32, y: i32) -> u32 {
    let w = i32(p.w); let h = i32(p.h);
    return u[u32(min(max(y, 0), h - 1) * w + min(max(x, 0), w - 1))];
}
"""
GUARD = "if x >= w || y >= h { return; } "
SUM = "r[y*w+x] = u[y*w+x] * 2u + u[a*w+x] * 3u + u[b*w+x] * 5u + u[y*w+l] * 7u + u[y*w+g] * 11u;"
SPELLINGS = {
    "min and max": f"""{GUARD} let l = max(x, 1u) - 1u; let g = min(x + 1u, w - 1u);
        let a = max(y, 1u) - 1u; let b = min(y + 1u, h - 1u); {SUM}""",
    "clamp": GUARD
    + """let i = i32(x); let j = i32(y); let m = i32(w); let n = i32(h);
        r[j*m+i] = u[clamp(j-1,0,n-1)*m+i] + u[clamp(j+1,0,n-1)*m+i] * 3u + u[j*m+clamp(i-1,0,m-1)] * 5u
            + u[j*m+clamp(i+1,0,m-1)] * 7u;""",
    "select": f"""{GUARD} let l = select(x - 1u, 0u, x == 0u); let g = select(x + 1u, x, x == w - 1u);
        let a = select(y, y - 1u, y > 0u); let b = select(h - 1u, y + 1u, y + 1u < h); {SUM}""",
    "select of a conjunction": """if x >= w || y >= h { return; }
        r[y*w+x] = u[select(y*w+x, y*w+x+1u, (x + 1u < w) & (y + 1u < h))] + u[y*w+x] * 3u + u[max(x, 1u) - 1u];""",
    "a branch around all": """if x > 0u && x < w - 1u && y > 0u && y < h - 1u {
        let i = y*w+x; r[i] = u[i] + u[i-w] * 3u + u[i+w] * 5u + u[i-1u] * 7u + u[i+1u] * 11u; }""",
    "a branch, and what is on the border": """if x < w && y < h { let i = y*w+x;
        if (x > 0u) & (x < w - 1u) & (y > 0u) & (y < h - 1u) { r[i] = u[i] + u[i-w] * 3u + u[i+1u] * 11u; }
        else { r[i] = u[i] + 1u; } }""",
    "a branch for each neighbour": f"""{GUARD} let i = y*w+x; let c = u[i]; var a = c; var b = c; var l = c; var g = c;
        if y > 0u {{ a = u[i-w]; }} if y < h - 1u {{ b = u[i+w]; }} if x > 0u {{ l = u[i-1u]; }}
        if x < w - 1u {{ g = u[i+1u]; }} r[i] = c + a * 3u + b * 5u + l * 7u + g * 11u;""",
    "a function": f"""{GUARD} let i = i32(x); let j = i32(y);
        r[y*w+x] = at(i,j) + at(i-1,j) * 3u + at(i+1,j) * 5u + at(i,j-1) * 7u + at(i,j+1) * 11u;""",
    "nothing beyond a border": """if !(x < w) { return; } if !(y < h) { return; }
        var s = u[y*w+x]; if x >= 2u { s += u[y*w+x-2u] * 3u; } if x + 2u < w { s += u[y*w+x+2u] * 5u; }
        r[y*w+x] = s;""",
    "the border first": f"""{GUARD} if x == 0u || x == w - 1u {{ r[y*w+x] = 7u; return; }}
        r[y*w+x] = u[y*w+x-1u] + u[y*w+x+1u] * 3u;""",
    "loops over neighbours": f"""{GUARD} var s = 0u;
        for (var j = -1; j <= 1; j++) {{ for (var i = -1; i <= 1; i++) {{
            if i == 0 && j == 0 {{ continue; }} s = s * 3u + at(i32(x) + i, i32(y) + j); }} }}
        r[y*w+x] = s;""",
    "one loop over neighbours": f"""{GUARD} var s = 0u; var k = 0;
        while k < 9 {{ s = s * 3u + at(i32(x) + k % 3 - 1, i32(y) + k / 3 - 1); k += 1; }} r[y*w+x] = s;""",
    "a loop over a table": f"""{GUARD} var s = 0u; for (var k = 0; k < 4; k++) {{
            let i = i32(x) + AROUND[k].x; let j = i32(y) + AROUND[k].y;
            if i >= 0 && j >= 0 && i < i32(w) && j < i32(h) {{ s = s * 3u + u[u32(j)*w+u32(i)]; }} }}
        r[y*w+x] = s;""",
}
LOOPS = {
    "a window with a branch": f"""{GUARD} var s = 0u; for (var j = 0; j < 5; j++) {{ for (var i = 0; i < 5; i++) {{
            let a = i32(x) + i - 2; let b = i32(y) + j - 2;
            if a >= 0 && a < i32(w) && b >= 0 && b < i32(h) {{ s = s * 3u + u[u32(b)*w+u32(a)]; }} }} }}
        r[y*w+x] = s;""",
    "a clamped window": f"""{GUARD} var s = 0u; for (var j = -3; j <= 3; j++) {{ for (var i = -3; i <= 3; i++) {{
            s = s * 3u + at(i32(x) + i, i32(y) + j); }} }}
        r[y*w+x] = s;""",
    "what is outside is left out": f"""{GUARD} var s = 0u; for (var j = 4; j >= -4; j -= 2) {{
            let b = i32(y) + j; if b < 0 || b >= i32(h) {{ continue; }}
            for (var i = -4; i < 5; i += 4) {{
                let a = i32(x) + i; if a < 0 || a >= i32(w) {{ continue; }} s = s * 3u + u[u32(b)*w+u32(a)]; }} }}
        r[y*w+x] = s;""",
    "a long window": f"""{GUARD} var s = 0u; for (var k = 0u; k < 40u; k++) {{
            s = s * 3u + u[y*w + min(x + k, w - 1u)]; }} r[y*w+x] = s;""",
    "one loop, divided": f"""{GUARD} var s = 0u; var k = 0;
        while k < 25 {{ s = s * 3u + at(i32(x) + k % 5 - 2, i32(y) + k / 5 - 2); k += 1; }} r[y*w+x] = s;""",
    "a window with weights": f"""{GUARD} var s = 0u; for (var j = 0; j < 5; j++) {{ for (var i = 0; i < 5; i++) {{
            s += u[j * 5 + i] * at(i32(x) + i - 2, i32(y) + j - 2); }} }}
        r[y*w+x] = s;""",
    "a branch on what is read": f"""{GUARD} var s = 0u; for (var j = -2; j <= 2; j++) {{
            for (var i = -2; i <= 2; i++) {{ let e = at(i32(x) + i, i32(y) + j);
                if e > 50u {{ s = s * 3u + e; }} else {{ s += 7u; }} }} }}
        r[y*w+x] = s;""",
    "no branch in the loop": """if x >= 3u && y >= 3u && x + 3u < w && y + 3u < h { var s = 0u;
        for (var j = 0u; j < 7u; j++) { for (var i = 0u; i < 7u; i++) { s = s * 3u + u[(y+j-3u)*w + x+i-3u]; } }
        r[y*w+x] = s; }""",
    "what follows a loop": f"""{GUARD} var s = 0u; for (var k = 0u; k < 20u; k++) {{
            if x + k < w {{ s = s * 3u + u[y*w+x+k]; }} }}
        if y > 0u && x > 1u {{ s += u[(y-1u)*w+x-2u]; }} r[y*w+x] = s;""",
    "an element that is written in each turn": f"""{GUARD} for (var k = 0u; k < 9u; k++) {{
            r[y*w+x] = r[y*w+x] * 3u + u[y*w+x+k]; }}""",
}
"""Stencils whose loops stay loops."""
SHAPES = [(16, 16), (32, 4), (64, 1), (8, 8)]


def kernel(body: str, shape: tuple[int, int], tier: Tier) -> CompiledKernel:
    text = f"""{HEAD}
@compute @workgroup_size({shape[0]}, {shape[1]})
fn main(@builtin(global_invocation_id) id: vec3u) {{ let x = id.x; let y = id.y; let w = p.w; let h = p.h; {body} }}"""
    found = Shader(Source.from_text(text)).kernel()
    return compile_entry(found.shader.compilation(found.info.name, {}).hercules, CpuOptions(tier))


def results(compiled: CompiledKernel, w: int, h: int, elements: int, groups: tuple[int, int, int]) -> bytes:
    """All but the last element, into which several invocations may write."""
    u = np.random.default_rng(3).integers(0, 100, elements).astype(np.uint32)
    given = {"u": u, "r": np.full(elements, 5, np.uint32), "p": np.array([w, h], np.uint32)}
    compiled.run([given[slot.name].view(np.uint8) for slot in compiled.slots], groups, workers=1)
    return given["r"][:-1].tobytes()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", SPELLINGS | LOOPS)
def test_every_spelling_has_an_interior(name: str, shape: tuple[int, int]) -> None:
    gang, lane = (kernel((SPELLINGS | LOOPS)[name], shape, tier) for tier in ("gang", "lane"))
    assert gang.tier == "gang"
    assert "interior." in gang.llvm(optimised=False)
    groups = -(-130 // shape[0]), -(-40 // shape[1]), 1
    for w, h in ((130, 40), (128, 32), (131, 5), (1, 40), (64, 1), (0, 7), (2**31, 3), (2**32 - 1, 2**32 - 1)):
        for elements in (1, 100, 5200, 6000):
            found, expected = (results(it, w, h, elements, groups) for it in (gang, lane))
            assert found == expected, (w, h, elements)


@pytest.mark.parametrize("name", [it for it in SPELLINGS | LOOPS if it != "a branch on what is read"])
def test_the_interior_has_no_masks_and_no_clamps(name: str) -> None:
    text = kernel((SPELLINGS | LOOPS)[name], (64, 4), "gang").llvm(optimised=False)
    interior = re.search(r"\ninterior\..*?\nborder\.", text, re.S)
    assert interior is not None
    for absent in ("masked", "gather", "scatter", "llvm.umin", "llvm.smin", "llvm.smax", "llvm.umax"):
        assert absent not in interior[0]


FLAT = """let i = x; let c = {column}; let d = {row}; if {outside} {{ return; }}
    let l = max(c, 1u) - 1u; let g = min(c + 1u, w - 1u); let a = max(d, 1u) - 1u; let b = min(d + 1u, h - 1u);
    r[i] = u[i] + u[a*w+c] * 3u + u[b*w+c] * 5u + u[d*w+l] * 7u + u[d*w+g] * 11u;"""
TORI = {
    "unsigned": f"""{GUARD} let l = (x + w - 1u) % w; let g = (x + 1u) % w;
        let a = (y + h - 1u) % h; let b = (y + 1u) % h; {SUM}""",
    "signed, in loops": f"""{GUARD} var s = 0u; let m = i32(w); let n = i32(h);
        for (var j = -1; j <= 1; j++) {{ for (var i = -1; i <= 1; i++) {{
            s = s * 3u + u[(i32(y) + j + n) % n * m + (i32(x) + i + m) % m]; }} }}
        r[y*w+x] = s + u32((i32(x) + 1 + m) % m) * 5u;""",
}
DIVISIONS = {
    "divided": FLAT.format(column="i % w", row="i / w", outside="i >= w * h"),
    "signed": FLAT.format(column="u32(i32(i) % i32(w))", row="u32(i32(i) / i32(w))", outside="i >= w * h"),
    "subtracted": FLAT.format(column="i - i / w * w", row="i / w", outside="i >= w * h"),
    "by a constant": FLAT.format(column="i % 640u", row="i / 640u", outside="d >= h || c >= w"),
    "masked": FLAT.format(column="i & 511u", row="i >> 9u", outside="d >= h || c >= w"),
}
SHORT_ROWS = {
    "by a short constant": FLAT.format(column="i % 100u", row="i / 100u", outside="d >= h || c >= w"),
    "masked by a short constant": FLAT.format(column="i & 63u", row="i >> 6u", outside="d >= h || c >= w"),
    "a box": """let i = x; if i >= w * h * 6u { return; }
        let c = i % w; let d = (i / w) % h; let e = i / (w * h);
        if c == 0u || d == 0u || e == 0u || c == w - 1u || d == h - 1u || e == 5u { r[i] = u[i]; return; }
        r[i] = u[i-1u] + u[i+1u] * 3u + u[i-w] * 5u + u[i+w] * 7u + u[i-w*h] * 11u + u[(e*h+d+h)*w+c] * 13u;""",
    "what is around an element's row": """let i = x; let d = i / w; let c = i - d * w;
        if d > 0u && c > 0u && c + 1u < w && d + 1u < h {
            r[i] = u[i] + u[d*w+c+1u] * 3u + u[d*w+(c-1u)] * 5u + u[(d+1u)*w+c] * 7u + u[i-w] * 11u; }""",
}


@pytest.mark.parametrize("shape", [(8, 8), (32, 2)])
@pytest.mark.parametrize("name", TORI)
def test_the_interior_of_a_torus_has_no_divisions(name: str, shape: tuple[int, int]) -> None:
    """Neither for the column, which differs between lanes, nor for the row, nor where a column is no index."""
    gang, lane = (kernel(TORI[name], shape, tier) for tier in ("gang", "lane"))
    interior = re.search(r"\ninterior\..*?\nborder\.", gang.llvm(optimised=False), re.S)
    assert interior is not None
    for absent in ("masked", "gather", " urem i32", " udiv i32", " srem i32", " sdiv i32", " fdiv "):
        assert absent not in interior[0]
    groups = -(-130 // shape[0]), -(-40 // shape[1]), 1
    for w, h in ((130, 40), (128, 32), (131, 5), (1, 40), (2, 2), (64, 1), (0, 7), (2**31, 3), (2**32 - 1, 2**32 - 1)):
        for elements in (1, 100, 5200, 6000):
            found, expected = (results(it, w, h, elements, groups) for it in (gang, lane))
            assert found == expected, (w, h, elements)


@pytest.mark.parametrize("name", DIVISIONS)
def test_indices_that_are_divided_have_an_interior(name: str) -> None:
    gang, lane = (kernel(DIVISIONS[name], (256, 1), tier) for tier in ("gang", "lane"))
    interior = re.search(r"\ninterior\..*?\nborder\.", gang.llvm(optimised=False), re.S)
    assert interior is not None
    assert "masked" not in interior[0]
    for absent in ("= urem i", "= udiv i", "= srem i", "= sdiv i"):  # of scalars
        assert absent not in interior[0]
    for w, h in ((512, 9), (640, 7), (130, 40), (1, 40), (0, 7), (7, 0), (5000, 1), (2**31, 3), (2**32 - 1, 2)):
        for elements in (1, 100, 4700, 5200):
            found, expected = (results(it, w, h, elements, (20, 1, 1)) for it in (gang, lane))
            assert found == expected, (w, h, elements)


@pytest.mark.parametrize("name", SHORT_ROWS | DIVISIONS)
def test_gangs_in_one_row_have_an_interior(name: str) -> None:
    gang, lane = (kernel((SHORT_ROWS | DIVISIONS)[name], (256, 1), tier) for tier in ("gang", "lane"))
    rows = re.findall(r"\nrow\..*?\nborder\.", gang.llvm(optimised=False), re.S)
    assert len(rows) == 1
    interior = rows[0][rows[0].index("\ninterior.") :]
    for absent in ("masked", "= urem i", "= udiv i", "= srem i", "= sdiv i"):
        assert absent not in interior
    shapes = [(it, 40) for it in (1, 2, 7, 8, 9, 16, 17, 31, 33, 63, 64, 65, 100, 129, 255, 256, 257)]
    for w, h in (*shapes, (100, 9), (10, 8), (24, 24), (0, 7), (7, 0), (2**31, 3), (2**32 - 1, 2), (2**16, 2**16)):
        for elements in (1, 100, 2400, 5200):
            found, expected = (results(it, w, h, elements, (20, 1, 1)) for it in (gang, lane))
            assert found == expected, (w, h, elements)


def test_loads_on_one_cache_line_are_prefetched_once() -> None:
    """Three rows, with three loads of a line in each: of two vectors where one is half of a line."""
    row = "u[{0}*w+x-1u] + u[{0}*w+x] + u[{0}*w+x+1u]"
    rows = " + ".join(row.format(it) for it in ("(y - 1u)", "y", "(y + 1u)"))
    body = f"if x > 0u && x + 1u < w && y > 0u && y + 1u < h {{ r[y*w+x] = {rows}; }}"
    interior = re.search(r"\ninterior\..*?\nborder\.", kernel(body, (64, 1), "gang").llvm(optimised=False), re.S)
    assert interior is not None
    assert interior[0].count("call void @llvm.prefetch") == 3
    assert sum(map(int, re.findall(r"load <(\d+) x i32>", interior[0]))) == 9 * 16


@pytest.mark.parametrize(
    "body",
    [
        "for (var k = 0u; k < w; k++) { r[y*w+x] += u[y*w+min(x+k,w-1u)]; }",
        "for (var k = 0u; k < 99u; k++) { r[y*w+x] += u[y*w+x+k]; }",
        "r[y*w+x] = u32(sin(f32(u[y*w+x])));",
        "let i = u[y*w+x]; r[i] = u[i] + u[i+1u];",
    ],
)
def test_other_bodies_have_one_loop(body: str) -> None:
    assert "interior." not in kernel(body, (64, 4), "gang").llvm(optimised=False)


@pytest.mark.parametrize(
    "body",
    [
        """var is_inside = false; for (var k = 0u; k < 20u; k++) {
            if is_inside { s = s * 3u + u[y*w+x+k]; } is_inside = x + k < w; }""",
        """var is_inside = true; for (var k = 0u; k < 20u; k++) {
            if is_inside { s = s * 3u + u[y*w+x+k]; } is_inside = x + k < w && y > k % 2u; }""",
        """var last = 0u; for (var k = 0u; k < 20u; k++) {
            if x + last < w { s = s * 3u + u[y*w+min(x+last, w-1u)]; } last = k * 2u; }""",
        """var k = 0u; while k < 20u { s = s * 3u + u[y*w+min(x+k, w-1u)]; k += 1u; }
            if x + k < w { s += u[y*w+x]; }""",
        """var k = 0u; while k < 20u { s = s * 3u + u[y*w+min(x+k, w-1u)]; k += 1u; } s += u[y*w+min(x+k, w-1u)];""",
        """for (var j = 0u; j < 3u; j++) { var k = 0u; while k < 20u { s = s * 3u + u[y*w+min(x+k, w-1u)]; k += 1u; }
            if x + k < w { s += u[y*w+x]; } }""",
    ],
)
def test_counters_of_other_turns(body: str) -> None:
    """What the turn before decides in the first turn, and what a counter is after its loop."""
    gang, lane = (kernel(f"{GUARD} var s = 1u; {body} r[y*w+x] = s;", (64, 4), tier) for tier in ("gang", "lane"))
    for w, h in ((130, 40), (640, 8), (19, 5), (83, 40), (147, 40)):
        found, expected = (results(it, w, h, 6000, (3, 10, 1)) for it in (gang, lane))
        assert found == expected, (w, h)


@pytest.mark.parametrize("divided", ["group.x * 64u / lane", "(group.x * 64u + 5u) / (lane % 7u)"])
def test_quotients_by_what_differs_from_thread_to_thread(divided: str) -> None:
    """One thread alone divides without steps, several do not."""
    text = f"""
@group(0) @binding(0) var<storage> labels: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {{
  let i = {divided};
  if i < arrayLength(&labels) {{ out[group.x * 64u + lane] = labels[i]; }}
}}"""
    kernel = Shader(Source("test.wgsl", text.encode()))["main"]
    labels = np.arange(100, 250, dtype=np.uint32)
    buffers = {"labels": labels, "out": np.zeros(256, np.uint32)}
    cpu, interp = (kernel.run(buffers, workgroups=4, device=it) for it in ("cpu", "interp"))
    assert cpu["out"].tolist() == interp["out"].tolist()
