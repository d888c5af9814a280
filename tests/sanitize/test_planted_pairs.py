"""Planted bugs and their fixes: the sanitizer finds each at its place, with the two invocations and the values, and has
nothing to say of the same kernel without it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from tinct.ir.diagnostics import Diagnostic
from tinct.ir.source import Source
from tinct.shader import Shader

HEAD = """
struct Cell { count: u32, total: atomic<u32>, sides: vec3f }
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> sum: atomic<u32>;
@group(0) @binding(2) var<storage, read_write> cells: array<Cell, 4>;
@group(0) @binding(3) var<storage> table: array<mat2x2f>;
var<workgroup> tile: array<u32, 8>;
var<workgroup> grid: array<array<vec2u, 4>, 2>;
var<workgroup> hits: atomic<u32>;
var<workgroup> flag: u32;
var<private> own: array<u32, 4>;
fn take(values: ptr<workgroup, array<u32, 8>>, at: u32) -> u32 { return values[at]; }
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) w: vec3u,
    @builtin(global_invocation_id) id: vec3u) {
"""


@dataclass(frozen=True)
class Planted:
    """Statements with a `$` for what is wrong, and for what would be right. `code` and `says` are of the report, and
    one of its places is the line of the wrong text, or, if given, of `place`.
    """

    name: str
    body: str
    wrong: str
    right: str
    code: str
    says: tuple[str, ...]
    place: str = ""
    workgroups: int = 1


RACE, BOUNDS, EARLY = "data-race", "out-of-bounds-access", "uninitialized-workgroup-read"
FIRST = "invocation (0, 0, 0) of workgroup (0, 0, 0)"


def second(x: int, group: int = 0) -> str:
    return f"invocation ({x}, 0, 0) of workgroup ({group}, 0, 0)"


PLANTED = [
    Planted(
        "a barrier is missing between a write and its reader",
        "tile[i] = i + 5;\n $\n data[i] = tile[i ^ 1];",
        "",
        "workgroupBarrier();",
        RACE,
        ("writes 6 to 'tile[1]'", "reads 0 from 'tile[1]'", FIRST, second(1)),
        place="tile[i] = i + 5",
    ),
    Planted(
        "a barrier is missing between a reader and the next write",
        "for (var k = 0u; k < 2; k++) {\n tile[i] = i + k;\n workgroupBarrier();\n data[i] += tile[7 - i];\n $ }",
        "",
        "workgroupBarrier();",
        RACE,
        ("reads 4 from 'tile[3]'", "writes 4 to 'tile[3]'", second(3), second(4)),
        place="tile[i] = i + k",
    ),
    Planted(
        "a barrier of the wrong kind",
        "data[i] = i;\n $();\n let next = data[(i + 1) % 8];\n storageBarrier(); data[i] = next;",
        "workgroupBarrier",
        "storageBarrier",
        RACE,
        ("writes 1 to 'data[1]'", "reads 1 from 'data[1]'", FIRST, second(1)),
        place="data[i] = i;",
    ),
    Planted(
        "two invocations write one word",
        "$ = i + 3;",
        "data[i / 2]",
        "data[i]",
        RACE,
        ("writes 4 to 'data[0]'", "writes 3 to 'data[0]'", FIRST, second(1)),
    ),
    Planted(
        "a counter without an atomic",
        "$;",
        "flag += i",
        "atomicAdd(&hits, i)",
        RACE,
        ("reads 0 from 'flag'", "writes 0 to 'flag'", FIRST, second(1)),
    ),
    Planted(
        "workgroups write one word",
        "if i == 0 { $ = w.x + 1; }",
        "data[4]",
        "data[w.x]",
        RACE,
        ("writes 2 to 'data[4]'", "writes 1 to 'data[4]'", FIRST, second(0, 1), "nothing orders the workgroups"),
        workgroups=2,
    ),
    Planted(
        "workgroups overlap at their edges",
        "let last = $; \n storageBarrier(); data[id.x] = last;",
        "data[id.x + 1]",
        "data[id.x + 16]",
        RACE,
        ("reads 0 from 'data[8]'", "writes 0 to 'data[8]'", second(7), second(0, 1)),
        workgroups=2,
        place="data[id.x] = last",
    ),
    Planted(
        "another workgroup's result is waited for",
        "if w.x == 0 && i == 0 { data[0] = 9; }\n if w.x == 1 && i == 0 { data[1] = $; }",
        "data[0]",
        "9",
        RACE,
        ("reads 9 from 'data[0]'", "writes 9 to 'data[0]'", FIRST, second(0, 1)),
        workgroups=2,
    ),
    Planted(
        "a struct is overwritten beside its atomic",
        "atomicAdd(&cells[1].total, 2);\n $;",
        "cells[i % 2].count = i",
        "if i < 4 { cells[i].count = i; }",
        RACE,
        ("writes 2 to 'cells[0].count'", "writes 0 to 'cells[0].count'", FIRST, second(2)),
    ),
    Planted(
        "components of one vector",
        "if i < 3 { $ = f32(i); }",
        "cells[0].sides[i]",
        "cells[i].sides[0]",
        RACE,
        ("'cells[0].sides.x'", "a write of one component may write the whole vector", FIRST, second(1)),
    ),
    Planted(
        "an array of arrays of vectors",
        "grid[i / 4][i % 4] = vec2u(i, 1);\n $\n data[i] = grid[1 - i / 4][i % 4].x;",
        "",
        "workgroupBarrier();",
        RACE,
        ("writes 4 to 'grid[1][0].x'", "reads 0 from 'grid[1][0].x'", FIRST, second(4)),
        place="grid[i / 4][i % 4] =",
    ),
    Planted(
        "a read through a pointer",
        "tile[i] = i;\n $\n data[i] = take(&tile, (i + 1) % 8);",
        "",
        "workgroupBarrier();",
        RACE,
        ("writes 1 to 'tile[1]'", "reads 0 from 'tile[1]'", FIRST, second(1)),
        place="tile[i] = i;",
    ),
    Planted(
        "the first read comes before any write",
        "$;\n workgroupBarrier(); tile[i] = i; ",
        "data[i] = tile[7 - i]",
        "data[i] = i",
        EARLY,
        ("reads 'tile[7]', which nobody has written", "writes 7 to 'tile[7]' later", FIRST),
    ),
    Planted(
        "the last element is never filled",
        "$;\n workgroupBarrier();\n data[i] = tile[i];",
        "tile[min(i, 6)] = 1",
        "tile[i] = 1",
        EARLY,
        ("reads 'tile[7]', which nobody has written", second(7)),
        place="data[i] = tile[i]",
    ),
    Planted(
        "a flag that only some set",
        "$ flag = 1; }\n workgroupBarrier();\n data[i + 8] = flag;",
        "if data[0] > 0 {",
        "if i == 0 {",
        EARLY,
        ("reads 'flag', which nobody has written", "no invocation ever writes it", FIRST),
        place="data[i + 8] = flag",
    ),
    Planted(
        "a runtime-sized array past its end",
        "$ = i;",
        "data[id.x + 60]",
        "data[id.x + 40]",
        BOUNDS,
        ("takes element 64 of 'data', which has 64 elements", second(4)),
    ),
    Planted(
        "a negative index",
        "data[i] = $;",
        "own[i32(i % 4) - 1]",
        "own[i32(i % 4)]",
        BOUNDS,
        ("takes element -1 of 'own', which has 4 elements", FIRST),
    ),
    Planted(
        "a workgroup array past its end",
        "$ = i;",
        "tile[i + 1]",
        "tile[i]",
        BOUNDS,
        ("takes element 8 of 'tile', which has 8 elements", second(7)),
    ),
    Planted(
        "an inner array past its end",
        "$.x = i;",
        "grid[i / 4][i % 5]",
        "grid[i / 4][i % 4]",
        BOUNDS,
        ("takes element 4 of", "which has 4 elements", second(4)),
    ),
    Planted(
        "a component past the end of its vector",
        "data[i] = $;",
        "grid_of(i)[i % 3]",
        "grid_of(i)[i % 2]",
        BOUNDS,
        ("takes element 2 of a value of type vec2<u32>, which has 2 elements", second(2)),
    ),
    Planted(
        "a column past the end of its matrix",
        "data[i] = u32($.x);",
        "table[i][i % 3]",
        "table[i][i % 2]",
        BOUNDS,
        ("takes element 2 of", "which has 2 elements", second(2)),
    ),
    Planted(
        "a function's array through a pointer",
        "data[i] = $;",
        "take(&tile, i + 2) * 0",
        "i",
        BOUNDS,
        ("takes element 8 of", "which has 8 elements", second(6)),
        place="return values[at]",
    ),
    Planted(
        "an atomic past the end",
        "atomicAdd(&$.total, 1);",
        "cells[i % 5]",
        "cells[i % 4]",
        BOUNDS,
        ("takes element 4 of 'cells', which has 4 elements", second(4)),
    ),
]


def source_of(planted: Planted, text: str) -> Source:
    body = planted.body.replace("$", text)
    return Source.from_text(f"{HEAD}{body}\n}}\nfn grid_of(n: u32) -> vec2u {{ return vec2u(n, 7); }}\n")


def findings(source: Source, workgroups: int) -> tuple[Diagnostic, ...]:
    kernel = Shader(source).kernel()
    given = {"data": (64, np.uint32), "sum": (1, np.uint32), "cells": (4 * 8, np.uint32), "table": (8 * 4, np.float32)}
    buffers = {info.name: np.zeros(*given[info.name]).tobytes() for info in kernel.bindings}
    return kernel.sanitize(buffers, workgroups=workgroups).findings


@pytest.mark.parametrize("planted", PLANTED, ids=lambda it: it.name.replace(" ", "-"))
def test_found_with_its_place_and_who_and_what(planted: Planted) -> None:
    source = source_of(planted, planted.wrong)
    line = source.data.decode()[: source.data.decode().index(planted.place or planted.wrong)].count("\n") + 1
    reports = []
    for found in findings(source, planted.workgroups):
        spans = [found.span, *(note.span for note in found.notes)]
        lines = [source.position(span.start).line for span in spans if span is not None]
        words = " ".join([found.message, *(note.message for note in found.notes)])
        reports.append((found.code, lines, words))
    assert any(
        code == planted.code and line in lines and all(it in words for it in planted.says)
        for code, lines, words in reports
    ), reports


@pytest.mark.parametrize("planted", PLANTED, ids=lambda it: it.name.replace(" ", "-"))
def test_clean_when_fixed(planted: Planted) -> None:
    assert findings(source_of(planted, planted.right), planted.workgroups) == ()
