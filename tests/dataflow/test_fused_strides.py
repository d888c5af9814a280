"""Kernels that go through elements in grid-stride loops, fused: one loop runs the iterations of all kernels."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.graphs import zeros
from tinct.transforms.dataflow.accesses import kernel_accesses
from tinct.transforms.dataflow.grids import Grid
from tinct.transforms.dataflow.one_to_one import RULES, written_whole

from .fused_chains import chain, check, inputs_of, kernel, nodes_of, rule_of
from .support import DEVICES

_LOOP = "for (var i = id.x; i < arrayLength(&dst); i += groups.x * 64u) { dst[i] = src[i] * 2.0; }"
_THREADS = "min(len(x), 64)"
_ROWS = (
    "for (var y = id.y; y < size.count; y += groups.y * 4u) {"
    " for (var x = id.x; x < size.width; x += groups.x * 16u) { dst[y * size.width + x] = src[y * size.width + x]; } }"
)


def _strided(body: str, step: str = "groups.x * 64u", end: str = "arrayLength(&src)") -> str:
    return f"for (var i = id.x; i < {end}; i += {step}) {{ {body} }}"


@pytest.mark.parametrize(
    "other",
    [
        _strided("dst[i] = src[i] + 1.0;"),
        "let step = 64u * groups.x; var i = id.x; while i < size.count { dst[i] = src[i] + 1.0; i = i + step; }",
        "var i = group.x * 64u + lane; loop { if i >= size.count { break; } dst[i] = src[i]; "
        "continuing { i += groups.x << 6u; } }",
        "for (var i = i32(id.x); i < i32(size.count); i += i32(groups.x * 64u)) { dst[i] = src[i] + 1.0; }",
        _strided("dst[i] = src[i] + 1.0;", step="size.width"),
        _strided("dst[i] = src[i] + 1.0;", end="size.count && i < arrayLength(&dst)"),
        _strided("if src[i] > 0.0 { dst[i] = src[i]; continue; } dst[i] = src[i] * src[i] + f32(i);"),
        _strided("var v = src[i]; for (var k = 0; k < 3; k++) { v += 1.0; if v > 4.0 { break; } } dst[i] = v;"),
        "var sum = 0.0; if lane > 3u { sum = 1.0; } "
        + _strided("sum = sum * 0.5 + src[i]; dst[i] = src[i]; dst[i] += sum;"),
    ],
)
def test_loops_become_one(other: str):
    given = inputs_of(300, 64)
    graph = chain(*map(kernel, (_LOOP, other, _LOOP)), threads=_THREADS)
    fused = check(graph, given, DEVICES)
    assert [it.is_fused for it in fused.remarks] == [True, True]
    assert nodes_of(fused, given) == 1
    assert str(fused).count("malloc") == 1
    (text,) = (str(it.source) for it in fused.module.shaders)
    assert text.count("src[") == 1


@pytest.mark.parametrize(
    ("body", "threads"),
    [
        (_ROWS, (16, 4)),
        (
            "let all = groups.x * groups.y * 64u; for (var i = id.y * groups.x * 16u + id.x; i < arrayLength(&src); "
            "i += all) { dst[i] = src[i] * 2.0; }",
            (16, 8),
        ),
        (
            "for (var x = id.x; x < size.width; x += groups.x * 16u) { let i = id.y * size.width + x; "
            "dst[i] = src[i] * 2.0; }",
            (16, 12),
        ),
    ],
)
def test_planes(body: str, threads: tuple[int, int]):
    given = inputs_of(300, 25) | {"count": 12}
    fused = check(chain(*(kernel(body, size="16, 4") for _ in "ab"), threads=threads), given, DEVICES)
    assert nodes_of(fused, given) == 1


def test_several_elements_of_an_invocation():
    body = "for (var k = 0u; k < 4u; k++) { let i = id.x * 4u + k; if i < size.count { dst[i] = src[i] * 2.0; } }"
    fused = check(chain(kernel(body), kernel(body), threads="(len(x) + 3) / 4"), inputs_of(303), DEVICES)
    assert nodes_of(fused, inputs_of(303)) == 1


def test_array_that_stays():
    """It is read in the loop before the loop writes it, and is an output."""
    graph = tinct.Graph("in_place")
    bodies = (_strided("dst[i] = dst[i] * 2.0;", end="arrayLength(&dst)"), _strided("dst[i] += 1.0;", end="size.count"))
    first, second = (graph.node(kernel(it), threads=64, name=name) for name, it in zip("ab", bodies, strict=True))
    for node in (first, second):
        graph.bind_input(64, node["size.width"])
        graph.bind_input("count", node["size.count"])
        graph.bind_input(zeros(1), node["src"])
    graph.bind_input("x", first["dst"])
    one, two = graph.split(first["dst"], 2, replication="one-to-one")
    graph.edge(one, second["dst"], "one-to-one")
    graph.bind_output(second["dst"], "y")
    graph.bind_output(two, "before")
    given = {"x": np.arange(200, dtype=np.float32), "count": 200}
    (remark,) = check(graph, given).remarks
    assert rule_of(remark.message) == "versions"


_BROKEN: list[tuple[str, str]] = [
    ("position", _strided("if src[i] > 2.0 { break; } dst[i] = src[i];")),
    ("position", "var i = id.x; loop { dst[i] = src[i]; i += groups.x * 64u; if i >= size.count { break; } }"),
    ("position", _strided("dst[i] = src[i];").replace("i += groups.x * 64u", "i = i * 2u + 1u")),
    ("same-position", _strided("dst[i] = src[i + 1u];")),
    ("same-position", _strided("dst[i] = src[i] + src[0];")),
    ("same-position", f"var s = 0.0; {_strided('s += src[i];')} {_strided('dst[i] = src[i] - s;')}"),
    ("same-position", "if id.x < arrayLength(&dst) { dst[id.x] = src[id.x]; }"),
    ("same-position", _ROWS),
    ("strides", _strided("dst[i] = src[i];").replace("i = id.x", "i = id.x + 1u")),
    ("strides", f"if size.count > 10u {{ {_strided('dst[i] = src[i];')} }}"),
    ("strides", f"for (var k = 1u; k < size.width; k *= 2u) {{ {_strided('dst[i] = src[i];')} }}"),
]


@pytest.mark.parametrize(("rule", "other"), _BROKEN)
def test_rules_that_loops_break(rule: str, other: str):
    head = _LOOP.replace("arrayLength(&dst)", "size.count")
    fused = check(chain(kernel(head), kernel(other), threads=_THREADS), inputs_of(100, 10))
    (remark,) = fused.remarks
    assert not remark.is_fused
    assert rule_of(remark.message) == rule
    assert rule in RULES
    assert "-->" in str(remark)


@pytest.mark.parametrize(
    ("rule", "first", "second", "width"),
    [
        ("strides", _LOOP, _strided("dst[i] = src[i];", step="size.width"), 65),
        ("strides", _LOOP, _strided("dst[i] = src[i];", end="size.width"), 64),
        ("strides", *[_strided("dst[i] = src[i];", step="size.width")] * 2, 0xFFFFFFF0),
        ("own-element", *[_strided("dst[i] = src[i];", step="size.width")] * 2, 32),
        ("in-range", *[_strided("dst[i] = src[i];", end="size.count + 1u")] * 2, 64),
        ("covered", _strided("if i >= 5u { dst[i] = src[i]; }"), _LOOP, 64),
        ("covered", _strided("if id.x >= 5u { dst[i] = src[i]; }"), _strided("if i >= 5u { dst[i] = src[i]; }"), 64),
    ],
)
def test_launches_that_run_as_they_were(rule: str, first: str, second: str, width: int):
    given = inputs_of(300, width)
    fused = check(chain(kernel(first), kernel(second), threads=_THREADS), given)
    assert [it.is_fused for it in fused.remarks] == [True]
    assert rule_of(fused.failure(given) or "") == rule
    assert nodes_of(fused, given) == 2


@pytest.mark.parametrize(
    ("body", "length", "expected"),
    [
        (_LOOP, 300, True),
        (_strided("dst[i] = 1.0;", step="64u", end="arrayLength(&dst)"), 300, True),
        (_strided("dst[i] = 1.0;", step="65u", end="arrayLength(&dst)"), 300, False),
        (_strided("if i >= 5u { dst[i] = 1.0; }", end="arrayLength(&dst)"), 300, False),
        (_strided("if id.x < 9u { dst[i] = 1.0; }", end="arrayLength(&dst)"), 300, False),
        ("var i = id.x; loop { if i < 300u { dst[i] = 1.0; } if i > 7u { break; } i += 64u; }", 300, False),
        ("var i = id.x; while i > 300u { i += 64u; } if i < 300u { dst[i] = 1.0; }", 300, False),
        (
            "for (var i = id.x; i < 20u; i += 64u) {"
            " for (var k = id.x; k < 15u; k += 64u) { dst[i * 15u + k] = 1.0; } }",
            300,
            False,
        ),
        (
            "for (var i = id.x; i < 60u; i += 64u) { for (var k = 0u; k < 5u; k++) { dst[i * 5u + k] = 1.0; } }",
            300,
            True,
        ),
    ],
)
def test_written_whole(body: str, length: int, expected: bool):
    accesses = kernel_accesses(kernel(body).compilation().hercules, None)
    assert written_whole(accesses, "dst", Grid((64, 1, 1), (1, 1, 1), lambda _: length), length) is expected
