"""The copies of collections: what is copied is remarked with its reason and line, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import tinct as package
from tinct.backend.cpu.layout import natural_layout
from tinct.backend.cpu.storage import StoragePlan
from tinct.cli import tinct
from tinct.ir.hercules.analyses import control_graph, fork_nest
from tinct.ir.hercules.copies import copies
from tinct.ir.hercules.graph import def_use
from tinct.ir.hercules.inference import infer_types
from tinct.ir.hercules.loop_collects import collects_in_place
from tinct.ir.hercules.nodes import ConstantNode, Phi, Reduce
from tinct.ir.hercules.placement import live_nodes, place_nodes
from tinct.ir.hercules.text import parse
from tinct.ir.hercules.verify import check

from .support import SAMPLES

SHADERS = Path(__file__).parents[2] / "shaders"
NOTHING = {
    "writes in place": """fn f<n>(a: array<i32, n>, v: i32, at: u64) -> array<i32, n> {
      b = write(a, v, position(at))
      c = write(b, v, position(at))
      done = return(start, c)
    }""",
    "a branch that changes one array": """fn f<n>(a: array<i32, n>, v: i32, go: bool) -> array<i32, n> {
      none = constant(u64 0)
      test = if(start, go)
      no = read(test, control(0))
      yes = read(test, control(1))
      end = region(no, yes)
      b = write(a, v, position(none))
      c = phi(end, a, b)
      done = return(end, c)
    }""",
    "a fork that carries a parameter": """fn f<n>(a: array<i32, n>) -> array<i32, n> {
      one = constant(i32 1)
      work = fork(start, n)
      i = thread_id(work)
      b = reduce(end, a, c)
      x = read(b, position(i))
      y = add(x, one)
      c = write(b, y, position(i))
      end = join(work)
      done = return(end, b)
    }""",
    "zeros that become the result": """fn f<n>(v: i32, at: u64) -> array<i32, n> {
      zeros = constant(array<i32, n> zero)
      b = write(zeros, v, position(at))
      done = return(start, b)
    }""",
}
COPIED = {
    "a branch between two arrays": (
        """fn f(a: array<i32, 4>, b: array<i32, 4>, go: bool) -> array<i32, 4> {
          test = if(start, go)
          no = read(test, control(0))
          yes = read(test, control(1))
          end = region(no, yes)
          c = phi(end, a, b)
          done = return(end, c)
        }""",
        {
            ("c", "a", "is one of several arrays that `c` may continue"),
            ("c", "b", "is one of several arrays that `c` may continue"),
            ("done", "c", "is a result that no parameter"),
        },
    ),
    "a row that is taken out and changed": (
        """fn f(a: array<array<i32, 4>, 3>, v: i32, at: u64) -> product<array<array<i32, 4>, 3>, array<i32, 4>> {
          row = read(a, position(at))
          b = write(row, v, position(at))
          both = product(a, b)
          done = return(start, both)
        }""",
        {
            ("row", "row", "is a whole part of `a`, which lives on"),
            ("b", "row", "has storage of its own, and `b` continues it"),
            ("done", "b", "is a result that no parameter holds"),
        },
    ),
    "a row that is put in": (
        """fn f(a: array<array<i32, 4>, 3>, row: array<i32, 4>, at: u64) -> array<array<i32, 4>, 3> {
          b = write(a, row, position(at))
          done = return(start, b)
        }""",
        {("b", "row", "is stored as a whole by `b`")},
    ),
    "each thread's row": (
        """fn f<n>(v: i32, at: u64) -> array<array<i32, 4>, n> {
          work = fork(start, n)
          zeros = constant(array<i32, 4> zero)
          row = write(zeros, v, position(at))
          end = join(work)
          rows = collect(end, row)
          done = return(end, rows)
        }""",
        {("rows", "row", "is stored by each thread as its element of `rows`")},
    ),
    "an array that was collected is changed": (
        """fn f<n>(v: i32, at: u64) -> array<u64, n> {
          work = fork(start, n)
          i = thread_id(work)
          end = join(work)
          all = collect(end, i)
          more = write(all, at, position(at))
          done = return(end, more)
        }""",
        {("more", "all", "has storage of its own, and `more` continues it")},
    ),
}


@pytest.mark.parametrize("name", NOTHING)
def test_no_copy(name: str) -> None:
    module = parse(NOTHING[name])
    check(module)
    assert copies(module.functions[0]) == ()


@pytest.mark.parametrize("name", COPIED)
def test_copies_and_why(name: str) -> None:
    text, expected = COPIED[name]
    module = parse(text)
    check(module)
    found = copies(module.functions[0])
    assert len(found) == len(expected)
    for node, source, reason in expected:
        assert any((it.node.label, it.source.label) == (node, source) and reason in it.reason for it in found), node
    assert all(it.span is not None and it.type == infer_types(module.functions[0])[it.source] for it in found)


@pytest.mark.parametrize("name", ["nbody", "attention", "saxpy"])
def test_merges_that_are_copied_are_those_that_machine_code_copies(name: str) -> None:
    compiled = package.load(str(SHADERS / name / f"{name}.wgsl")).compilation("main", {})
    function = compiled.hercules.function
    graph, types = control_graph(function), infer_types(function)
    live, forks = live_nodes(function, graph), fork_nest(graph).forks
    nodes = [it for it in function.nodes if it in live]
    layouts = {index: natural_layout(type) for index, type in enumerate(function.parameter_types)}
    users = def_use(function)
    plan = StoragePlan(nodes, types, layouts, users, forks, collects_in_place(place_nodes(function), users))
    expected = {
        (node, source)
        for node in nodes
        for source in plan.copied(node, types, forks)
        if not isinstance(source, ConstantNode)
    }
    found = {(it.node, it.source) for it in copies(function) if isinstance(it.node, (Phi, Reduce))}
    assert found == expected


def call(*arguments: str) -> str:
    result = CliRunner().invoke(tinct, arguments)
    assert result.exit_code == 0, result.output
    return result.output


def test_remarks_of_a_file_have_the_line(tmp_path: Path) -> None:
    file = tmp_path / "rows.hir"
    file.write_text(COPIED["a row that is put in"][0])
    output = call("hercules", str(file), "--remarks")
    assert "f: `row` is copied: it is stored as a whole by `b` (array<i32, 4>)" in output
    assert "rows.hir:2:11" in output and "b = write(a, row, position(at))" in output
    assert call("hercules", str(SAMPLES / "saxpy.hir"), "--remarks") == ""


NESTED = """
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
var<workgroup> tile: array<f32, 64>;

@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) t: u32) {
    var x = out[t];
    var sum = 0.0;
    for (var i = 0u; i < 3u; i++) {
        for (var j = 0u; j < 4u; j++) {
            tile[t] = x;
            workgroupBarrier();
            x += tile[63 - t];
            sum += x;
            workgroupBarrier();
        }
        sum *= 0.5;
    }
    out[t] = sum;
}
"""
"""A value that two loops around barriers carry: the inner one begins with a copy."""


def test_remarks_of_a_shader_have_its_source(tmp_path: Path) -> None:
    file = tmp_path / "nested.wgsl"
    file.write_text(NESTED)
    output = call("compile", str(file), "--remarks")
    assert "is copied" in output and "nested.wgsl:" in output


@pytest.mark.parametrize("name", ["nbody", "attention"])
def test_accumulators_that_loops_carry_across_barriers_are_not_copied(name: str) -> None:
    assert call("compile", str(SHADERS / name / f"{name}.wgsl"), "--remarks") == ""
    assert call("compile", str(SHADERS / "saxpy" / "saxpy.wgsl"), "--remarks") == ""


def test_remarks_are_text() -> None:
    shader = str(SHADERS / "saxpy" / "saxpy.wgsl")
    result = CliRunner().invoke(tinct, ["compile", shader, "--remarks", "--format", "json"])
    assert result.exit_code != 0 and "--remarks are printed as text" in result.output
