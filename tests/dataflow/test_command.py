"""`tinct graph`: checks, prints, draws and runs files, and explains what is wrong with them."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import tinct
from tinct.cli import tinct as command
from tinct.ir.dataflow.dot import MOST_NODES, draw
from tinct.ir.dataflow.text import parse

EXAMPLES = Path(__file__).parents[2] / "examples"
SORT = EXAMPLES / "radix_sort" / "radix_sort.hpvm"
LIFE = EXAMPLES / "life" / "life.hpvm"
LIFE_INPUTS = ("-b", "cells=[0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0]", "-b", "width=3", "-b", "height=4")


def call(*arguments: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(command, ["graph", *map(str, arguments)], input=stdin)


def test_print() -> None:
    result = call(LIFE)
    assert (result.exit_code, result.stdout) == (0, LIFE.read_text())


def test_json_comes_back() -> None:
    printed = call(LIFE, "--format", "json")
    assert json.loads(printed.stdout)["kind"] == "Module"
    text = LIFE.read_text().replace('file("life', f'file("{LIFE.parent}/life')
    again = call("-", stdin=call("-", "--format", "json", stdin=text).stdout)
    assert again.stdout == text


def test_run(tmp_path: Path) -> None:
    result = call(LIFE, "--run", *LIFE_INPUTS, "--format", "json")
    found = json.loads(result.stdout)
    assert len(found["cells"]) == 12 and len(found["totals"]) == 4
    saved = call(LIFE, "--run", *LIFE_INPUTS, "--device", "interp", "-o", tmp_path / "out.npz", "--times")
    assert saved.exit_code == 0
    assert "step_0: compiled in" in saved.stderr
    assert np.load(tmp_path / "out.npz")["cells"].tolist() == found["cells"]
    assert "totals: uint32 (4,)" in call(LIFE, "--run", *LIFE_INPUTS).stdout


def test_repeat() -> None:
    """One generation with three nodes, three times, is the example's run."""
    once = json.loads(call(LIFE, "--run", *LIFE_INPUTS, "--format", "json", "--repeat", 2).stdout)["cells"]
    program = tinct.load_graph(LIFE)
    cells = np.array([0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0], np.uint32)
    for _ in range(2):
        cells = program.run({"cells": cells, "width": 3, "height": 4})["cells"]
    assert once == cells.tolist()
    fed = call(LIFE, "--run", *LIFE_INPUTS, "--format", "json", "--repeat", 2, "--feed", "cells=cells")
    assert json.loads(fed.stdout)["cells"] == once
    for arguments, message in (
        (("--run", *LIFE_INPUTS, "--until", "totals"), "until takes an output that is one whole number"),
        (("--run", *LIFE_INPUTS, "--every", 2), "every is for a graph that is repeated"),
        (("--run", *LIFE_INPUTS, "--feed", "cells"), "'cells' is not of the form OUTPUT=INPUT"),
        (("--repeat", 2), "--repeat is for --run"),
    ):
        result = call(LIFE, *arguments)
        assert (result.exit_code != 0, message in result.stderr) == (True, True), result.stderr


def test_the_device_of_a_node() -> None:
    arguments = (SORT, "--run", "-b", "keys=[3, 1, 2]", "--device-of")
    run = call(*arguments, "sort_by_digit.scan=interp", "--device-of", "sort_by_digit_2=interp")
    assert "[1 2 3]" in run.stdout
    for given, message in (
        ("sort_by_digit.scam=interp", "no node is named 'sort_by_digit.scam'; did you mean 'sort_by_digit.scan'?"),
        ("sort_by_digit=inter", "no device is named 'inter'; did you mean 'interp'?"),
        ("scan", "'scan' is not NODE=DEVICE"),
    ):
        refused = call(*arguments, given)
        assert refused.exit_code != 0
        assert message in refused.stderr
    assert "--device-of is for --run" in call(SORT, "--device-of", "sort_by_digit=interp").stderr


@pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz on this machine")
def test_draw(tmp_path: Path) -> None:
    result = call(SORT, "--svg", tmp_path / "sort.svg")
    assert (result.exit_code, result.stdout) == (0, "")
    assert (tmp_path / "sort.svg").read_text().count("scatter") >= 8
    run = call(SORT, "--run", "-b", "keys=[3, 1, 2]", "--svg", tmp_path / "times.svg")
    assert "[1 2 3]" in run.stdout
    assert (tmp_path / "times.svg").read_text().count("compiled in") == 24
    assert call(SORT, "--format", "svg").stdout.startswith("<?xml")


def test_draw_as_text() -> None:
    drawn = call(SORT, "--format", "dot").stdout
    assert drawn.startswith("digraph dataflow {")
    assert drawn.count("subgraph") == 8
    assert '"sort_by_digit/out/sorted" -> "sort_by_digit_2/in/keys"' in drawn


def test_a_picture_of_too_many_nodes() -> None:
    graphs = "graph g0() {}\n" + "".join(
        f"graph g{i + 1}() {{ a = createNode(g{i}) b = createNode(g{i}) }}\n" for i in range(40)
    )
    with pytest.raises(tinct.InputError, match=f"more than {MOST_NODES} nodes"):
        draw(parse(graphs + "root = createNode(g40)"))


WRONG = [
    (
        "createNode1D(count,",
        "createNode1D(cout,",
        "error[node-function]: node 'count_0': no leaf or graph is named 'cout'",
    ),
    (
        "createEdge(step_0",
        "createEdge(stop_0",
        "error[children]: 'stop_0' is no node of this graph; did you mean 'step_0'?",
    ),
    ("entry(life, step)", "entry(life, stop)", "leaf 'step': no entry point is named 'stop'; did you mean 'step'?"),
    ("in board.width: u32", "in board.widht: u32", "leaf 'step': 'step' has no port 'board.widht'; did you mean"),
    ("inout next_cells", "out next_cells", "'next_cells' is `out`, but the kernel may write it: it must be `inout`"),
    ("in cells: array<u32>, inout next", "inout cells: array<u32>, inout next", "only reads it: it must be `in`"),
    (
        "workgroup_size(8, 8, 1)",
        "workgroup_size(8, 4, 1)",
        "has workgroups of 8 x 4 x 1, but the shader says 8 x 8 x 1",
    ),
    (
        "in cells: array<u32>, inout next",
        "in cells: array<i32>, inout next",
        "'cells' is of type array<i32>, but of array",
    ),
    ("in board.width: u32, ", "", "leaf 'step' lacks ports of 'step': board.width"),
    ('file("life.wgsl")', 'file("lite.wgsl")', "shader 'life': cannot read 'lite.wgsl': No such file"),
    ('file("life.wgsl")', 'text("fn f( {}")', "shader life:1:7"),
    ("root =", "roots =", "expected a declaration"),
]
LINES_OF_HEADS = {"entry(life, step)": 3, "workgroup_size(8, 8, 1)": 3}
"""The line of a mistake that is shown at the head of its leaf."""


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_wrong_files(tmp_path: Path, old: str, new: str, message: str) -> None:
    shutil.copy(LIFE.with_suffix(".wgsl"), tmp_path)
    text = LIFE.read_text()
    assert old in text
    file = tmp_path / "wrong.hpvm"
    file.write_text(text.replace(old, new))
    result = call(file)
    assert result.exit_code == 1
    assert message in result.stderr
    if "shader life:" not in message:
        line = LINES_OF_HEADS.get(old, 1 + text[: text.index(old)].count("\n"))
        assert f"{file}:{line}:" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("-b", "keys=arange:8"), 2, "--buffer is for --run"),
        (("--times",), 2, "--times is for --run"),
        (("--run", "--format", "dot"), 2, "--run prints outputs as text or json, not as dot"),
        (("--run",), 2, "nothing is given for the input keys: array<u32>"),
        (("--run", "-b", "kyes=arange:8"), 2, "has no input named 'kyes'; did you mean 'keys'?"),
        (("--run", "-b", "keys=[1.5]"), 2, "keys[0]: 1.5"),
        (("--run", "-b", "keys=arange:8", "--device", "cpus"), 2, "no device is named 'cpus'"),
    ],
)
def test_wrong_command_lines(arguments: tuple[str, ...], code: int, message: str) -> None:
    result = call(SORT, *arguments)
    assert (result.exit_code, message in result.stderr) == (code, True), result.stderr


def test_errors_of_a_run_have_a_place() -> None:
    result = call(LIFE, "--run", "-b", "cells=[1]", "-b", "width=600000", "-b", "height=1")
    line = LIFE.read_text().splitlines().index("  step_0 = createNode2D(step, width, height)") + 1
    assert f"{LIFE}:{line}:3: node 'step_0': a dispatch of 75000 x 1 x 1 workgroups" in result.stderr


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"kind": "Graph"}',
        '{"kind": "Module", "shaders": 3}',
        "{" * 5000,
        '{"kind": "Type", "name": "a", "arguments": []}',
        "[1]",
    ],
)
def test_wrong_json(text: str) -> None:
    result = call("-", stdin=text)
    assert result.exit_code == 1
    assert "error[" in result.stderr


def test_damaged_files() -> None:
    """Whatever a file holds, the answer is the graph or a diagnostic."""
    text = SORT.read_text().replace('file("radix', f'file("{SORT.parent}/radix')
    made = random.Random(0)
    words = [
        "count",
        "in",
        "inout",
        "getNode()",
        "split(u32, 2)",
        "1.5",
        "-",
        "len(",
        ")",
        "\n",
        '"',
        "3",
        "keys",
        "{",
        "}",
    ]
    refused = 0
    for _ in range(300):
        start = made.randrange(len(text))
        damaged = text[:start] + made.choice([*words, ""]) + text[start + made.choice((0, 1, 5, 40)) :]
        try:
            tinct.load_graph(damaged)
        except (tinct.ShaderError, tinct.InputError):
            refused += 1
    assert refused > 200


CHAIN = '''shader s = text("""
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@compute @workgroup_size(64)
fn twice(@builtin(global_invocation_id) id: vec3u) { data[id.x] *= 2; }
@compute @workgroup_size(64)
fn last(@builtin(global_invocation_id) id: vec3u) { data[id.x] = data[arrayLength(&data) - 1 - id.x]; }
""")
leaf twice(inout data: array<f32>) { entry(s, twice) }
leaf last(inout data: array<f32>) { entry(s, last) }
graph g(in x: array<f32>, out y: array<f32>) {
  a = createNode1D(twice, len(x))
  b = createNode1D(twice, len(x))
  c = createNode1D(last, len(x))
  bind.input(a, x, data)
  createEdge(a, b, one_to_one, data, data)
  createEdge(b, c, one_to_one, data, data)
  bind.output(c, data, y)
}
root = createNode(g)
'''


def test_fuse() -> None:
    fused = call("-", "--fuse", "--remarks", stdin=CHAIN)
    assert fused.exit_code == 0
    assert "info[fusion]: a.data -> b.data: fused" in fused.stderr
    assert "b.data -> c.data: not fused: c: 'data' is accessed at another position than elsewhere" in fused.stderr
    assert "a_b = createNode1D(twice_2, len(x))" in fused.stdout
    plain = call("-", "--remarks", stdin=CHAIN)
    assert "createNode1D(twice, len(x))" in plain.stdout
    for given, message in (("uniform:128", ""), ("uniform:100", "this run executes the graph as it was: ")):
        run = call("-", "--fuse", "--remarks", "--run", "-b", f"x={given}", stdin=CHAIN)
        assert run.exit_code == 0
        assert message in run.stderr
        assert ("as it was" in run.stderr) == bool(message)
