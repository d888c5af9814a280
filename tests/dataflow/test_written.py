"""Transient buffers are not filled with zeros where their first dispatch writes all of them."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct.graphs import zeros
from tinct.graphs.plan import Fill

from .support import DEVICES

LENGTH = 100
HEAD = """
struct Sizes { used: u32, offset: u32 }
struct Pair { first: u32, second: vec2u }

@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(0) @binding(2) var<uniform> sizes: Sizes;
@group(0) @binding(3) var<storage, read_write> pairs: array<Pair>;
@group(0) @binding(4) var<storage, read_write> few: array<u32, 64>;
@group(0) @binding(5) var<storage, read_write> tally: array<atomic<u32>>;
"""
START = "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {\n"

WHOLE = {
    "within-its-length": "if id.x < arrayLength(&dst) { dst[id.x] = src[id.x] + 1u; }",
    "within-another-length": "if id.x >= arrayLength(&src) { return; } dst[id.x] = src[id.x];",
    "within-a-number": "let at = id.x; if at < sizes.used { dst[at] = src[at] * 3u; }",
    "from-the-end": "if id.x < sizes.used { dst[sizes.used - 1u - id.x] = src[id.x]; }",
    "on-two-ways": "if id.x < sizes.used { if src[id.x] > 9u { dst[id.x] = 1u; } else { dst[id.x] = 2u; } }",
    "after-a-loop": """if id.x < sizes.used {
        var x = src[id.x];
        for (var i = 0u; i < x; i++) { x = (x * 3u) & 15u; }
        dst[id.x] = x;
    }""",
    "after-loops-in-loops": """if id.x >= sizes.used { return; }
        var x = src[id.x];
        loop { if x > 100u { break; } var y = x; while y > 0u { y /= 2u; x += 1u; } x += 7u; }
        dst[id.x] = x;""",
    "before-a-loop": """if id.x < sizes.used {
        dst[id.x] = src[id.x];
        for (var i = 0u; i < src[id.x]; i++) { _ = src[i]; }
    }""",
}
PARTIAL = {
    "up-to-half": "if id.x < sizes.used / 2u { dst[id.x] = 1u; }",
    "up-to-the-last": "if id.x + 1u < sizes.used { dst[id.x] = 1u; }",
    "from-an-offset": "if id.x < sizes.used { dst[id.x + sizes.offset] = 1u; }",
    "by-a-value": "if id.x < sizes.used && src[id.x] > 9u { dst[id.x] = 1u; }",
    "every-other": "if id.x < sizes.used { dst[id.x * 2u] = 1u; }",
    "scattered": "if id.x < sizes.used { dst[src[id.x]] = 1u; }",
    "after-a-loop-that-returns": """if id.x < sizes.used {
        for (var i = 0u; i < 9u; i++) { if src[id.x] == i { return; } }
        dst[id.x] = 1u;
    }""",
    "in-a-loop": "if id.x < sizes.used { for (var i = 0u; i < src[id.x]; i++) { dst[id.x] = 1u; } }",
    "after-a-loop-up-to-half": """if id.x < sizes.used {
        var i = 0u;
        while i < src[id.x] { i += 2u; }
        if id.x < sizes.used / 2u { dst[id.x] = i; }
    }""",
    "added": "if id.x < sizes.used { dst[id.x] += 1u; }",
}
GIVEN = {"src": np.arange(LENGTH, dtype=np.uint32) % 13, "used": LENGTH}


def graph_of(body: str, port: str = "dst", count: str | int | None = "used", threads: str = "used") -> tinct.Graph:
    """One node that writes zeros."""
    graph = tinct.Graph("written")
    node = graph.node(tinct.load(f"{HEAD}{START}{body}\n}}")["main"], threads=threads, name="main")
    if "src" in body:
        graph.bind_input("src", node["src"])
    if "sizes" in body:
        graph.bind_input("used", node["sizes.used"])
        graph.bind_input(1, node["sizes.offset"])
    graph.bind_input(zeros() if count is None else zeros(count), node[port])
    graph.bind_output(node[port], "out")
    return graph


def fills(graph: tinct.Graph, device: str = "cpu") -> int:
    plan = graph.plan({name: it for name, it in GIVEN.items() if name in graph.inputs}, device=device)
    return sum(isinstance(it, Fill) for it in plan.steps)


def check_results(graph: tinct.Graph) -> None:
    """Twice on each device, so that the memory of the second run holds what the first left there."""
    given = {name: it for name, it in GIVEN.items() if name in graph.inputs}
    expected = graph.run(given, device="interp")["out"]
    for device in DEVICES:
        for _ in range(2):
            np.testing.assert_array_equal(graph.run(given, device=device)["out"], expected)


@pytest.mark.parametrize("name", WHOLE)
def test_no_zeros_for_what_is_written_whole(name: str) -> None:
    graph = graph_of(WHOLE[name])
    assert fills(graph) == 0
    check_results(graph)


@pytest.mark.parametrize("name", PARTIAL)
def test_zeros_for_what_is_written_in_part(name: str) -> None:
    graph = graph_of(PARTIAL[name])
    assert fills(graph) == 1
    check_results(graph)


def test_the_numbers_of_the_dispatch_decide() -> None:
    body = WHOLE["within-its-length"]
    assert fills(graph_of(body, count="used + 28")) == 0  # the second workgroup goes on to 128
    larger = graph_of("dst[id.x] = id.x;", count="used + 29")
    assert fills(larger) == 1
    check_results(larger)
    assert fills(graph_of("dst[id.x] = id.x;")) == 1  # invocations past the end write the last element
    assert fills(graph_of("dst[id.x] = id.x;", threads="128 + 0 * used", count=128)) == 0


def test_parts_of_elements() -> None:
    whole = graph_of("if id.x < arrayLength(&pairs) { pairs[id.x] = Pair(id.x, vec2u(1u, 2u)); }", "pairs")
    part = graph_of("if id.x < arrayLength(&pairs) { pairs[id.x].second = vec2u(1u, 2u); }", "pairs")
    one = graph_of("if id.x < arrayLength(&pairs) { pairs[id.x].first = 3u; pairs[id.x].second.y = 1u; }", "pairs")
    assert [fills(it) for it in (whole, part, one)] == [0, 1, 1]
    for graph in (whole, part, one):
        check_results(graph)


def test_arrays_of_a_fixed_length_and_atomics() -> None:
    few = graph_of("if id.x < 64u { few[id.x] = id.x; }", "few", None)
    tally = graph_of("if id.x < arrayLength(&tally) { atomicStore(&tally[id.x], id.x); }", "tally")
    assert [fills(it) for it in (few, tally)] == [0, 1]
    for graph in (few, tally):
        check_results(graph)


def test_a_number_that_no_expression_reads_proves_nothing() -> None:
    """Else each value of it would need another plan."""
    graph = tinct.Graph("numbers")
    body = "if id.x < sizes.offset { dst[id.x] = 1u; }"
    node = graph.node(tinct.load(f"{HEAD}{START}{body}\n}}")["main"], threads=LENGTH, name="main")
    graph.bind_input("sizes", node["sizes"])
    graph.bind_input(zeros(LENGTH), node["dst"])
    graph.bind_output(node["dst"], "out")
    plan = graph.plan({"sizes": {"used": 7, "offset": LENGTH}})
    assert [type(it).__name__ for it in plan.steps] == ["Fill", "Dispatch"]
    for offset in (LENGTH, 3):
        out = graph.run({"sizes": {"used": 7, "offset": offset}})["out"]
        assert out.tolist() == [1] * offset + [0] * (LENGTH - offset)


def test_memory_that_a_value_before_it_used() -> None:
    """The third value lies where the first was, in each execution of a repetition."""
    shader = tinct.load(f"{HEAD}{START}{WHOLE['within-its-length']}\n}}")
    graph = tinct.Graph("chain")
    before = None
    for number in range(4):
        node = graph.node(shader["main"], threads="len(x)", name=f"n{number}")
        graph.bind_input(zeros("len(x)"), node["dst"])
        if before is None:
            graph.bind_input("x", node["src"])
        else:
            graph.edge(before["dst"], node["src"])
        before = node
    assert before is not None
    graph.bind_output(before["dst"], "x")
    x = np.arange(LENGTH, dtype=np.uint32)
    assert not any(isinstance(it, Fill) for it in graph.plan({"x": x}).steps)
    for device in DEVICES:
        np.testing.assert_array_equal(graph.run({"x": x}, device=device, repeat=5)["x"], x + 20)
