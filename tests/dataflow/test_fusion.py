"""Leaves fused along one-to-one edges: what is fused, what is refused and why, and that results stay the same."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinct
from tinct.graphs import zeros
from tinct.graphs.fusing import FusedProgram
from tinct.ir.dataflow.expressions import Facts
from tinct.transforms.dataflow.accesses import kernel_accesses
from tinct.transforms.dataflow.grids import Grid
from tinct.transforms.dataflow.launch_conditions import GroupTest
from tinct.transforms.dataflow.one_to_one import RULES, written_whole

from .fused_chains import chain as _chain
from .fused_chains import check as _check
from .fused_chains import check_array as _check_array
from .fused_chains import inputs_of as _inputs
from .fused_chains import kernel as _kernel
from .fused_chains import nodes_of as _nodes
from .fused_chains import rule_of as _rule
from .random_fusion import random_case
from .support import DEVICES

_DOUBLE = "if id.x < arrayLength(&dst) { dst[id.x] = src[id.x] * 2.0; }"
_ADD = "if id.x >= arrayLength(&dst) { return; } dst[id.x] = src[id.x] + 1.0;"


def test_array_between_is_gone():
    fused = _check(_chain(_kernel(_DOUBLE), _kernel(_ADD), _kernel(_DOUBLE)), _inputs(), DEVICES)
    assert [it.is_fused for it in fused.remarks] == [True, True]
    assert _nodes(fused, _inputs()) == 1
    assert str(fused).count("malloc") == 1
    (kernel,) = fused.kernels.values()
    storage = [it for it in kernel.bindings if it.space == "storage"]
    assert [it.is_written for it in storage] == [False, True]


def test_fused_graph_is_a_graph(tmp_path: Path):
    graph = _chain(_kernel(_DOUBLE), _kernel(_ADD))
    fused = graph.fused()
    fused.save(tmp_path / "fused.hpvm")
    loaded = tinct.load_graph(tmp_path / "fused.hpvm")
    np.testing.assert_array_equal(loaded.run(_inputs())["y"], graph.run(_inputs())["y"])
    assert str(loaded) == str(fused)
    assert loaded.fused().module == loaded.module
    again = pickle.loads(pickle.dumps(fused))
    assert isinstance(again, FusedProgram)
    assert str(again) == str(fused)


def test_array_that_is_an_output_stays():
    graph = tinct.Graph("both")
    first = graph.node(_kernel(_DOUBLE), threads="len(x)", name="first")
    second = graph.node(_kernel(_ADD), threads="len(x)", name="second")
    for node in (first, second):
        graph.bind_input(0, node["size.width"])
        graph.bind_input(0, node["size.count"])
        graph.bind_input(zeros("len(x)"), node["dst"])
    graph.bind_input("x", first["src"])
    one, two = graph.split(first["dst"], 2, replication="one-to-one")
    graph.edge(one, second["src"], "one-to-one")
    graph.bind_output(two, "between")
    graph.bind_output(second["dst"], "end")
    fused = _check(graph, {"x": np.arange(70, dtype=np.float32)}, DEVICES)
    assert _nodes(fused, {"x": np.arange(70, dtype=np.float32)}) == 1


def test_producer_with_several_consumers():
    graph = tinct.Graph("fan")
    nodes = [
        graph.node(_kernel(body), threads="len(x)", name=name)
        for name, body in zip("abc", [_DOUBLE, _ADD, _DOUBLE], strict=True)
    ]
    for node in nodes:
        graph.bind_input(0, node["size.width"])
        graph.bind_input(0, node["size.count"])
        graph.bind_input(zeros("len(x)"), node["dst"])
    graph.bind_input("x", nodes[0]["src"])
    for port, node in zip(graph.split(nodes[0]["dst"], 2, replication="one-to-one"), nodes[1:], strict=True):
        graph.edge(port, node["src"], "one-to-one")
        graph.bind_output(node["dst"], f"out_{node.name}")
    fused = _check(graph, {"x": np.arange(70, dtype=np.float32)})
    assert _nodes(fused, {"x": np.arange(70, dtype=np.float32)}) == 1


def test_kernels_that_work_in_place():
    head = "@group(0) @binding(3) var<storage, read_write> data: array<f32>;"
    graph = tinct.Graph("in_place")
    last = None
    for number in range(3):
        kernel = _kernel(
            f"if id.x < arrayLength(&data) {{ data[id.x] = data[id.x] * {number + 2}.0 + 1.0; }}", head=head
        )
        node = graph.node(kernel, threads="len(x)", name=f"n{number}")
        graph.bind_input(0, node["size.width"])
        graph.bind_input(0, node["size.count"])
        graph.bind_input("y", node["src"])
        if last is None:
            graph.bind_input("x", node["data"])
        else:
            graph.edge(last["data"], node["data"], "one-to-one")
        last = node
    assert last is not None
    graph.bind_output(last["data"], "result")
    inputs = {"x": np.arange(70, dtype=np.float32), "y": np.zeros(1, np.float32)}
    assert _nodes(_check(graph, inputs, DEVICES), inputs) == 1


def test_through_levels():
    inner = _chain(_kernel(_DOUBLE), _kernel(_ADD))
    graph = tinct.Graph("outer")
    first, second = graph.node(inner, name="first"), graph.node(inner, name="second")
    for node in (first, second):
        graph.bind_input(0, node["width"])
        graph.bind_input(0, node["count"])
    graph.bind_input("x", first["x"])
    graph.edge(first["y"], second["x"], "one-to-one")
    graph.bind_output(second["y"], "y")
    inputs = {"x": np.arange(70, dtype=np.float32)}
    fused = _check(graph, inputs)
    assert _nodes(fused, inputs) == 1
    assert fused.run(inputs, devices={next(iter(fused.run_timed(inputs).timings))[0]: "interp"})["y"].shape == (70,)


_PLANE = (
    "if id.x >= size.width || id.y * size.width >= arrayLength(&dst) { return; } let i = id.y * size.width + id.x; "
)


def test_planes():
    bodies = [
        _PLANE + "dst[i] = src[i] * 3.0;",
        "if id.x < size.width { let at = id.x + size.width * id.y; if at < size.count { dst[at] = src[at] + 1.0; } }",
    ]
    graph = _chain(*(_kernel(it, size="8, 4") for it in bodies), threads=("width", "count / width"))
    assert _nodes(_check(graph, _inputs(100, 10), DEVICES), _inputs(100, 10)) == 1


_PARTICLES = """
struct Particle { place: vec3f, mass: f32, tags: array<u32, 2> }
@group(0) @binding(0) var<storage, read_write> particles: array<Particle>;
@group(0) @binding(1) var<uniform> count: u32;
@group(0) @binding(2) var<storage, read> steps: array<f32>;
override SIZE: u32 = 32;

@compute @workgroup_size(SIZE) fn move_on(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= count { return; }
    particles[id.x].place += vec3f(0.5, steps[0], 0.25) * particles[id.x].mass;
    particles[id.x].tags[1] = id.x;
}

@compute @workgroup_size(SIZE) fn weigh(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x;
    if i < count { particles[i].mass = particles[i].place.y + f32(particles[i].tags[1]); }
}
"""


def test_parts_of_elements():
    """What the second kernel reads of a structure, the first one has written; a uniform may be a number by itself."""
    shader = tinct.load(_PARTICLES)
    graph, last = tinct.Graph("particles"), None
    for name in ("move_on", "weigh"):
        node = graph.node(shader[name], threads="count", name=name)
        graph.bind_input("count", node["count"])
        if last is None:
            graph.bind_input("steps", node["steps"])
            graph.bind_input("start", node["particles"])
        else:
            graph.edge(last["particles"], node["particles"], "one-to-one")
        last = node
    assert last is not None
    graph.bind_output(last["particles"], "end")
    start = np.zeros(70, shader.bindings["particles"].dtype)
    start["mass"] = np.arange(70)
    inputs = {"start": start, "count": 70, "steps": np.ones(1, np.float32)}
    fused = graph.fused()
    assert _nodes(fused, inputs) == 1
    for device in DEVICES:
        wanted, found = graph.run(inputs, device=device)["end"], fused.run(inputs, device=device)["end"]
        _check_array(found, wanted, device)


def test_all_to_all_edges_are_kept():
    fused = _chain(_kernel(_DOUBLE), _kernel(_ADD), way="all-to-all").fused()
    assert fused.remarks == ()
    assert _nodes(fused, _inputs()) == 2


def test_return_of_the_producer_ends_only_its_part():
    """The sink writes more than it reads: where the producer has returned, too."""
    sink = "if id.x < arrayLength(&src) / 2u { dst[id.x] = src[id.x]; } "
    sink += "else if id.x < arrayLength(&dst) { dst[id.x] = 7.0; }"
    first = "if id.x >= arrayLength(&dst) / 2u { return; } dst[id.x] = src[id.x] * 2.0;"
    fused = _chain(_kernel(first), _kernel(sink)).fused()
    assert "[" in fused.remarks[0].message  # a division is no form over the invocations
    first, sink = (
        it.replace("arrayLength(&dst) / 2u", "size.width").replace("arrayLength(&src) / 2u", "size.width")
        for it in (first, sink)
    )
    fused = _check(_chain(_kernel(first), _kernel(sink)), _inputs(100, 50), DEVICES)
    assert _nodes(fused, _inputs(100, 50)) == 1


# Each rule, broken where the shaders say so

_BROKEN: list[tuple[str, list[str]]] = [
    ("position", [_DOUBLE, "if id.x < arrayLength(&dst) { dst[id.x] = src[u32(src[id.x])]; }"]),
    (
        "position",
        [
            "if id.x < arrayLength(&dst) { dst[id.x] = src[id.x]; }",
            "if id.x < arrayLength(&dst) { dst[id.x] = src[max(id.x, 1u) - 1u]; }",
        ],
    ),
    ("position", ["if id.x < arrayLength(&dst) { dst[group.x] = src[id.x]; }", _ADD]),
    ("same-position", ["for (var i = id.x; i < arrayLength(&dst); i += 64u * groups.x) { dst[i] = src[i]; }", _ADD]),
    ("same-position", [_DOUBLE, "if id.x < arrayLength(&dst) { dst[id.x] = src[id.x + 1u]; }"]),
    ("same-position", [_DOUBLE, "if id.x < arrayLength(&dst) { dst[id.x] = src[2u * id.x]; }"]),
    ("same-position", [_DOUBLE, "if id.x < arrayLength(&dst) { dst[id.x] = src[id.x] + src[0]; }"]),
    ("covered", ["if id.x < arrayLength(&dst) && src[id.x] > 0.0 { dst[id.x] = 1.0; }", _ADD]),
    ("covered", ["if id.x < arrayLength(&dst) { if src[id.x] > 0.0 { return; } dst[id.x] = 1.0; }", _ADD]),
    (
        "workgroups",
        [
            _DOUBLE,
            "if id.x < arrayLength(&dst) { tile[lane] = src[id.x]; } workgroupBarrier(); "
            "if id.x < arrayLength(&dst) { dst[id.x] = tile[63u - lane]; }",
        ],
    ),
]


@pytest.mark.parametrize(("rule", "bodies"), _BROKEN)
def test_rules_that_shaders_break(rule: str, bodies: list[str]):
    head = "var<workgroup> tile: array<f32, 64>;"
    graph = _chain(*(_kernel(it, head=head) for it in bodies))
    fused = _check(graph, _inputs())
    (remark,) = fused.remarks
    assert not remark.is_fused
    assert _rule(remark.message) == rule
    assert rule in RULES
    assert _nodes(fused, _inputs()) == 2


def test_refusal_shows_the_access():
    (remark,) = (
        _chain(_kernel(_DOUBLE), _kernel("if id.x < arrayLength(&dst) { dst[id.x] = src[id.x + 1u]; }")).fused().remarks
    )
    assert remark.edge == "n0.dst -> n1.src"
    line = next(it for it in str(remark).splitlines() if "^" in it)
    above = str(remark).splitlines()[str(remark).splitlines().index(line) - 1]
    assert above[line.index("^") : line.rindex("^") + 1] == "src[id.x + 1u]"


def test_atomics():
    head = "@group(0) @binding(3) var<storage, read_write> counts: array<atomic<u32>>;"
    use = "if id.x < arrayLength(&counts) { atomicAdd(&counts[id.x], 1u); }"
    graph = tinct.Graph("atomics")
    first = graph.node(_kernel(use, head=head), threads="len(counts)", name="first")
    second = graph.node(_kernel(use, head=head), threads="len(counts)", name="second")
    for node in (first, second):
        graph.bind_input(0, node["size.width"])
        graph.bind_input(0, node["size.count"])
        graph.bind_input("x", node["src"])
    graph.bind_input("counts", first["counts"])
    graph.edge(first["counts"], second["counts"], "one-to-one")
    graph.bind_output(second["counts"], "counts_out")
    inputs = {"counts": np.zeros(70, np.uint32), "x": np.zeros(1, np.float32)}
    (remark,) = _check(graph, inputs).remarks
    assert _rule(remark.message) == "element"


def test_parts_of_structures():
    head = "struct Box { count: u32, items: array<f32> } @group(0) @binding(3) var<storage, read_write> box: Box;"
    graph = tinct.Graph("boxes")
    nodes = [
        graph.node(
            _kernel("if id.x < arrayLength(&box.items) { box.items[id.x] += 1.0; }", head=head), threads=8, name=it
        )
        for it in "ab"
    ]
    for node in nodes:
        graph.bind_input(0, node["size.width"])
        graph.bind_input(0, node["size.count"])
        graph.bind_input("x", node["src"])
    graph.bind_input("box", nodes[0]["box"])
    graph.edge(nodes[0]["box"], nodes[1]["box"], "one-to-one")
    graph.bind_output(nodes[1]["box"], "out")
    (remark,) = graph.fused().remarks
    assert _rule(remark.message) == "element"


def test_node_between():
    """A node outside needs a result of the first, and gives the second an input by an all-to-all edge."""
    head = "@group(0) @binding(3) var<storage, read> more: array<f32>;"
    graph = tinct.Graph("between")
    first = graph.node(_kernel(_DOUBLE), threads="len(x)", name="first")
    between = graph.node(
        _kernel("if id.x < arrayLength(&dst) { dst[id.x] = src[arrayLength(&dst) - 1u - id.x]; }"),
        threads="len(x)",
        name="between",
    )
    second = graph.node(
        _kernel("if id.x < arrayLength(&dst) { dst[id.x] = src[id.x] + more[id.x]; }", head=head),
        threads="len(x)",
        name="second",
    )
    for node in (first, between, second):
        graph.bind_input(0, node["size.width"])
        graph.bind_input(0, node["size.count"])
        graph.bind_input(zeros("len(x)"), node["dst"])
    graph.bind_input("x", first["src"])
    one, two = graph.split(first["dst"], 2, replication="one-to-one")
    graph.edge(one, second["src"], "one-to-one")
    graph.edge(two, between["src"])
    graph.edge(between["dst"], second["more"])
    graph.bind_output(second["dst"], "y")
    (remark,) = _check(graph, {"x": np.arange(70, dtype=np.float32)}).remarks
    assert _rule(remark.message) == "order"
    assert "'between'" in remark.message


def test_old_value_that_is_needed():
    """The first kernel reads neighbours of what the second one overwrites: write after read in another instance."""
    head = "@group(0) @binding(3) var<storage, read_write> data: array<f32>;"
    graph = tinct.Graph("old")
    first = graph.node(
        _kernel("if id.x < arrayLength(&dst) { dst[id.x] = src[id.x] + src[id.x + 1u]; }"),
        threads="len(x)",
        name="first",
    )
    second = graph.node(
        _kernel("if id.x < arrayLength(&data) { data[id.x] = src[id.x]; }", head=head), threads="len(x)", name="second"
    )
    for node in (first, second):
        graph.bind_input(0, node["size.width"])
        graph.bind_input(0, node["size.count"])
    graph.bind_input("x", first["src"])
    graph.bind_input(zeros("len(x)"), first["dst"])
    graph.edge(first["dst"], second["src"], "one-to-one")
    graph.bind_input("x", second["data"])
    graph.bind_output(second["data"], "y")
    (remark,) = _check(graph, {"x": np.arange(70, dtype=np.float32)}).remarks
    assert _rule(remark.message) == "same-position"


def test_sizes_of_workgroups():
    inputs = _inputs()
    assert _nodes(_check(_chain(_kernel(_DOUBLE), _kernel(_ADD, size="32")), inputs, DEVICES), inputs) == 1
    sink = "let i = group.x * 32u + lane; if i < arrayLength(&dst) { dst[i] = src[i]; }"
    assert _nodes(_check(_chain(_kernel(_DOUBLE), _kernel(sink, size="32")), inputs), inputs) == 1
    uses_lanes = "if id.x < arrayLength(&dst) { dst[id.x] = src[id.x] + f32(lane); }"
    fused = _check(_chain(_kernel(_DOUBLE), _kernel(uses_lanes, size="32")), inputs)
    assert [_rule(it.message) for it in fused.remarks] == ["workgroups"]
    assert _nodes(_check(_chain(_kernel(_DOUBLE), _kernel(uses_lanes)), inputs), inputs) == 1


def test_limits():
    """Each kernel has an array of its own: nine in all."""
    head = "@group(0) @binding(3) var<storage, read> own: array<f32>;"
    graph = tinct.Graph("many")
    last = None
    for number in range(8):
        node = graph.node(
            _kernel("if id.x < arrayLength(&dst) { dst[id.x] = src[id.x] + own[id.x]; }", head=head),
            threads="len(x)",
            name=f"n{number}",
        )
        graph.bind_input(0, node["size.width"])
        graph.bind_input(0, node["size.count"])
        graph.bind_input(f"own{number}", node["own"])
        graph.bind_input(zeros("len(x)"), node["dst"])
        if last is None:
            graph.bind_input("x", node["src"])
        else:
            graph.edge(last["dst"], node["src"], "one-to-one")
        last = node
    assert last is not None
    graph.bind_output(last["dst"], "y")
    inputs: dict[str, Any] = {f"own{it}": np.full(70, it, np.float32) for it in range(8)} | {
        "x": np.ones(70, np.float32)
    }
    fused = _check(graph, inputs, DEVICES)
    assert [_rule(it.message) for it in fused.remarks if not it.is_fused] == ["limits"]
    assert _nodes(fused, inputs) == 2


def test_extents_that_differ():
    with pytest.raises(tinct.InputError, match="extent"):
        _chain(_kernel(_DOUBLE), _kernel(_ADD), each=["len(x)", "len(x) + 1"])
    fused = _chain(_kernel(_DOUBLE), _kernel(_ADD), each=["len(x)", "count"]).fused()
    assert _nodes(fused, _inputs(100)) == 1
    assert fused.failure(_inputs(100) | {"count": 99}) == "the extents differ [grids]"


# Each rule, broken by the numbers of a launch


def test_tail_without_a_guard():
    """Rounding up to workgroups makes invocations past the end, which all write the last element."""
    fused = _chain(_kernel("dst[id.x] = src[id.x] * 2.0;"), _kernel("dst[id.x] = src[id.x] + 1.0;")).fused()
    assert fused.failure(_inputs(128)) is None
    failure = fused.failure(_inputs(100))
    assert failure is not None
    assert _rule(failure) == "in-range"
    assert [_nodes(fused, _inputs(it)) for it in (128, 100)] == [1, 2]


def test_rows_that_overlap():
    bodies = [
        "let i = id.x + id.y * size.width; if i < arrayLength(&dst) { dst[id.y * size.width + id.x] = src[i]; }"
    ] * 2
    graph = _chain(*(_kernel(it, size="8, 4") for it in bodies), threads=(16, 4))
    assert graph.fused().failure(_inputs(64, 16)) is None
    failure = graph.fused().failure(_inputs(64, 10))
    assert failure is not None
    assert _rule(failure) == "own-element"


def test_sink_that_reads_more():
    bodies = [
        "if id.x < size.width { dst[id.x] = src[id.x]; }",
        "if id.x < size.count { dst[id.x] = src[id.x] + 1.0; }",
    ]
    fused = _check(_chain(*map(_kernel, bodies)), _inputs(100, 50))
    assert [fused.failure(_inputs(100, it)) is None for it in (100, 99)] == [True, False]
    assert _rule(fused.failure(_inputs(100, 99)) or "") == "covered"


def test_guard_that_wraps():
    """`count - 1` is the greatest u32 for a count of 0, so that the guard holds everywhere."""
    body = "if id.x <= size.width - 1u { dst[id.x] = src[id.x] + 1.0; }"
    fused = _chain(_kernel(body), _kernel(body)).fused()
    assert fused.failure(_inputs(100, 100)) is None
    assert _rule(fused.failure(_inputs(100, 0)) or "") == "in-range"


def test_repeated():
    """Outputs become inputs; what changes a number that the proof used takes the original graph."""
    graph = _chain(_kernel(_DOUBLE), _kernel(_ADD))
    inputs = _inputs()
    fused = graph.fused()
    feed = {"y": "x"}
    wanted, found = (it.run(inputs, repeat=5, feed=feed)["y"] for it in (graph, fused))
    np.testing.assert_array_equal(found, wanted)
    assert fused.failure(inputs, feed) is None
    np.testing.assert_array_equal(fused.launch(inputs, repeat=5, feed=feed).wait()["y"], wanted)
    assert len(fused.plan(inputs).steps) < len(graph.program.plan(inputs).steps)


# Random graphs


@pytest.mark.parametrize("seed", range(24))
def test_random_graphs(seed: int):
    case = random_case(seed)
    fused = case.graph.fused()
    for device in DEVICES:
        wanted, found = case.graph.run(case.inputs, device=device), fused.run(case.inputs, device=device)
        for name, array in wanted.items():
            _check_array(found[name], array, device)


def test_only_a_gpu_may_round_in_another_way():
    """A product and a sum that round once, near zero and elsewhere, and an error that no rounding explains."""
    wanted = np.array([-8, 5.9604645e-8, 0.125], np.float32)
    once = np.array([-8.000001, 1.1920929e-7, 0.125], np.float32)
    for device in ("gpu", "gpu:NVIDIA H200", "gpu via hercules"):
        _check_array(once, wanted, device)
        for number in range(3):
            with pytest.raises(AssertionError, match="1 of 3 differ"):
                _check_array(wanted + np.eye(3, dtype=np.float32)[number] * 3e-5, wanted, device)
    for device in ("cpu", "interp", "hercules"):
        _check_array(wanted, wanted, device)
        with pytest.raises(AssertionError, match="2 of 3 differ"):
            _check_array(once, wanted, device)


def test_most_plain_graphs_are_fused():
    remarks = [it for seed in range(12) for it in random_case(seed, plain=True).graph.fused().remarks]
    assert sum(it.is_fused for it in remarks) > len(remarks) / 3


# What is written whole


@pytest.mark.parametrize(
    ("body", "lengths", "expected"),
    [
        (_DOUBLE, (100, 100), True),
        (_ADD, (100, 100), True),
        (_ADD, (50, 100), False),  # fewer invocations than elements, after rounding up to 64
        ("dst[id.x] = 1.0;", (128, 128), True),
        ("dst[id.x] = 1.0;", (100, 100), False),
        ("if id.x < arrayLength(&dst) { dst[arrayLength(&dst) - 1u - id.x] = 1.0; }", (100, 100), True),
        (
            "if id.x < arrayLength(&dst) { if src[id.x] > 0.0 { dst[id.x] = 1.0; } else { dst[id.x] = 2.0; } }",
            (100, 100),
            True,
        ),
        ("if id.x < arrayLength(&dst) { if src[id.x] > 0.0 { dst[id.x] = 1.0; } }", (100, 100), False),
        ("if id.x < arrayLength(&dst) { dst[id.x] += 1.0; }", (100, 100), False),
        ("for (var i = id.x; i < arrayLength(&dst); i += 64u * groups.x) { dst[i] = 1.0; }", (64, 1000), True),
        ("for (var i = id.x + 1u; i < arrayLength(&dst); i += 64u * groups.x) { dst[i] = 1.0; }", (64, 1000), False),
        ("if id.x < arrayLength(&dst) { dst[id.x / 2u] = 1.0; }", (100, 100), False),
    ],
)
def test_written_whole(body: str, lengths: tuple[int, int], expected: bool):
    threads, length = lengths
    groups = -(-threads // 64)
    grid = Grid((groups * 64, 1, 1), (groups, 1, 1), lambda _: length)
    accesses = kernel_accesses(_kernel(body).compilation().hercules, None)
    assert written_whole(accesses, "dst", grid, length) is expected


@pytest.mark.parametrize(
    ("body", "head", "place"),
    [
        ("dst[id.x] = src[id.x]; storageBarrier(); dst[id.x] += 1.0;", "", "storageBarrier()"),
        (
            "tile[lane] = src[id.x]; workgroupBarrier(); dst[id.x] = tile[63u - lane];",
            "var<workgroup> tile: array<f32, 64>;",
            "tile[lane]",
        ),
        (
            "for (var i = id.x; i < arrayLength(&dst); i += groups.x * 64) { if i > 9 { break; } dst[i] = src[i]; }",
            "",
            "dst[i] = src[i]",
        ),
    ],
)
def test_refusals_have_a_place_in_the_wgsl(body: str, head: str, place: str) -> None:
    kernel = _kernel(body, head=head)
    (remark,) = _chain(kernel, kernel).fused().remarks
    assert not remark.is_fused
    assert str(remark).endswith("^" * len(place))
    assert place in str(remark)


def test_elements_below_the_first_that_is_written():
    """They keep what they had before."""
    guard = "id.x < arrayLength(&dst)"
    bodies = (f"if id.x >= 5u && {guard} {{ dst[id.x] *= 2.0; }}", f"if {guard} {{ dst[id.x] += 1.0; }}")
    graph = tinct.Graph("in_place")
    first, second = (
        graph.node(_kernel(it), threads="len(x)", name=name) for name, it in zip("ab", bodies, strict=True)
    )
    for node in (first, second):
        graph.bind_input(0, node["size.width"])
        graph.bind_input(0, node["size.count"])
        graph.bind_input("x", node["src"])
    graph.bind_input("z", first["dst"])
    graph.edge(first["dst"], second["dst"], "one-to-one")
    graph.bind_output(second["dst"], "y")
    given = {"x": np.ones(10, np.float32), "z": np.arange(10, dtype=np.float32) + 10}
    fused = _check(graph, given)
    assert _rule(fused.failure(given) or "") == "covered"


def test_launches_with_equal_numbers_are_tested_once(monkeypatch: pytest.MonkeyPatch):
    fused = _chain(_kernel(_DOUBLE), _kernel(_ADD)).fused()
    tested: list[int] = []
    plain = GroupTest.failure

    def failure(self: GroupTest, facts: Facts) -> str | None:
        tested.append(1)
        return plain(self, facts)

    monkeypatch.setattr(GroupTest, "failure", failure)
    for count, times in ((100, 1), (100, 1), (50, 2), (100, 2), (50, 2)):
        assert fused.failure(_inputs(count)) is None
        assert len(tested) == times
    np.testing.assert_array_equal(fused.run(_inputs(50))["y"], _inputs(50)["x"] * 2 + 1)
    assert len(tested) == 2
