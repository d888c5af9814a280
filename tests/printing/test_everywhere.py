"""Prints of kernels that do not run alone: in graphs, traces and the debugger, under the sanitizer and coverage."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import tinct
from tinct.cli import tinct as main
from tinct.coverage import measure
from tinct.debugging.adapter import Adapter
from tinct.debugging.console import Console

DEVICES = ("cpu", "gpu", "interp", "hercules")
TEXT = """\
override N: u32 = 4;
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
var<workgroup> tile: array<f32, 2>;

fn twice(x: f32) -> f32 {
    // @debugPrintf("twice %g", x);
    return 2 * x;
}

@compute @workgroup_size(2)
fn grow(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32) {
    for (var k = 0u; k < id.x; k++) {
        // @debugPrintf("k %u", k);
    }
    tile[i] = data[id.x];
    workgroupBarrier();
    data[id.x] = twice(tile[1 - i]); // @debugPrintf("%g %s %u", data[id.x], tile, N);
    if i == 1 && twice(1) > 0 {
        // @debugPrintf("end");
    }
}

@compute @workgroup_size(2)
fn quiet(@builtin(global_invocation_id) id: vec3u) {
    data[id.x] += 1;
}
"""
SHADER = tinct.load(TEXT)
DATA = np.arange(4, dtype=np.float32)


def lines_of(data: Any) -> list[str]:
    """What `grow` prints, by hand."""
    found = list[str]()
    for i in range(4):
        pair = [float(it) for it in data[i // 2 * 2 : i // 2 * 2 + 2]]
        other = pair[1 - i % 2]
        found += [f"k {k}" for k in range(i)]
        found += [f"twice {other:g}", f"{2 * other:g} array<f32, 2>({pair[0]}, {pair[1]}) 4"]
        found += ["twice 1", "end"] if i % 2 else []
    return found


def after(data: Any) -> Any:
    return 2 * data.reshape(2, 2)[:, ::-1].reshape(4)


def program() -> tinct.Graph:
    """`grow`, then `quiet`, then `grow` in a graph of its own."""
    grow, quiet = SHADER["grow"], SHADER["quiet"]

    @tinct.graph
    def inner(data):  # type: ignore[no-untyped-def]
        return {"data": grow({"data": data}, threads=data.length)["data"]}

    @tinct.graph
    def outer(data):  # type: ignore[no-untyped-def]
        first = grow({"data": data}, threads=data.length)["data"]
        second = quiet({"data": first}, threads=data.length)["data"]
        return {"data": inner({"data": second})["data"]}

    return outer


@pytest.mark.usefixtures("needs_gpu")
def test_each_run_in_a_graph_names_its_node() -> None:
    graph, data, expected = program(), DATA, list[str]()
    for step in (1, 2):
        between = after(data) + 1
        expected += [f"grow, step {step}: {it}" for it in lines_of(data)]
        expected += [f"inner/grow, step {step}: {it}" for it in lines_of(between)]
        data = after(between)
    for device in DEVICES:
        with tinct.printed() as prints, measure() as seen:
            result = graph.run({"data": DATA}, device=device, repeat=2)
        assert str(prints).splitlines() == expected, device
        assert result["data"].tolist() == data.tolist()
        (file,) = seen
        with measure() as alone:
            for _ in range(4):
                SHADER["grow"].run({"data": DATA}, threads=4)
            for _ in range(2):
                SHADER["quiet"].run({"data": DATA}, threads=4)
        (same,) = alone
        assert (file.lines, file.branches) == (same.lines, same.branches), device
    assert {(it.node, it.step) for it in prints.lines} == {
        ("grow", 1),
        ("inner/grow", 1),
        ("grow", 2),
        ("inner/grow", 2),
    }


def test_graphs_that_are_fused_chosen_launched_or_streamed_print(capsys: pytest.CaptureFixture[str]) -> None:
    graph = program()
    once = [f"grow: {it}" for it in lines_of(DATA)] + [f"inner/grow: {it}" for it in lines_of(after(DATA) + 1)]
    graph.launch({"data": DATA}).wait()
    assert capsys.readouterr().out.splitlines() == once
    fused = graph.fused()
    assert fused.failure({"data": DATA}) == graph.program.why_one_by_one == "'grow' prints"
    with tinct.printed() as prints:
        fused.run({"data": DATA})
    assert str(prints).splitlines() == once
    with tinct.printed() as prints:
        graph.run({"data": DATA}, devices="auto")
    assert str(prints).splitlines() == once
    with tinct.printed() as prints:
        items = list(graph.map([{}] * 2, state={"data": DATA}))
    assert len(items) == 2
    assert len(prints.lines) == 2 * len(once)


def test_tiers_of_the_cpu_print_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for tier in ("baseline", "lane", "gang"):
        monkeypatch.setenv("TINCT_CPU_TIER", tier)
        kernel = tinct.load(TEXT)["grow"]
        with tinct.printed() as prints:
            kernel.run({"data": DATA}, threads=4)
        assert str(prints).splitlines() == lines_of(DATA), tier


def test_the_sanitizer_prints() -> None:
    with tinct.printed() as prints, measure() as seen:
        found = SHADER["grow"].sanitize({"data": DATA}, threads=4)
    assert str(prints).splitlines() == lines_of(DATA)
    assert not found.findings
    assert list(found.outputs) == ["data"]
    assert [it.lines[15] for it in seen] == [4]


def test_a_trace_has_what_was_printed_at_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    trace = SHADER["grow"].trace({"data": DATA}, invocation=1, threads=4)
    found = [(row.line, value.text) for row in trace.rows for value in row.values if value.kind == "print"]
    texts = ["k 0", "twice 0", "0 array<f32, 2>(0.0, 1.0) 4", "twice 1", "end"]
    assert found == list(zip([13, 6, 17, 6, 19], texts, strict=True))
    assert 'debugPrintf("end")' in str(trace)
    assert "prints: end" in str(trace)
    assert capsys.readouterr().out == ""


def test_the_debugger_prints_once() -> None:
    debugger = SHADER["grow"].debug({"data": DATA}, invocation=2, threads=4)
    for line in (13, 17):
        debugger.add_breakpoint(line)
    debugger.resume()
    assert debugger.evaluate("k + id.x").text == "2"
    assert debugger.evaluate("tile[0]").text == "0.0"
    written = list[str]()
    console = Console(debugger, written.append)
    begin = [(2, "k 0"), (2, "k 1"), (3, "k 0"), (3, "k 1"), (3, "k 2")]
    rest = [(2, "twice 3"), (2, "6 array<f32, 2>(2.0, 3.0) 4"), (3, "twice 2"), (3, "4 array<f32, 2>(2.0, 3.0) 4")]
    expected = [f"({i}, 0, 0) prints: {text}" for i, text in [*begin, *rest, (3, "twice 1"), (3, "end")]]
    moves = (
        "next 2",
        "stepback 2",
        "reverse",
        "continue",
        "delete 1",
        "continue",
        "stepback 3",
        "continue",
        "continue",
    )
    for command in (*moves, "reverse", "delete", "continue", "continue"):
        console.run(command)
    assert [it for it in written if "prints" in it] == expected
    console.run("restart")
    console.run("continue")
    console.run("continue")
    assert [it for it in written if "prints" in it] == 2 * expected


def test_an_editor_gets_what_is_printed() -> None:
    requests = [("launch", {}), ("configurationDone", {}), ("continue", {"threadId": 2})]
    messages = [{"type": "request", "command": name, "arguments": arguments} for name, arguments in requests]
    bodies = [json.dumps(it).encode() for it in messages]
    stream = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(it), it) for it in bodies)
    answer = io.BytesIO()
    debugger = SHADER["grow"].debug({"data": DATA}, invocation=1, threads=4)
    Adapter(io.BytesIO(stream), answer, lambda arguments, pause: debugger).run()
    sent = [json.loads(it.partition(b"\r\n\r\n")[2]) for it in answer.getvalue().split(b"Content-Length: ")[1:]]
    found = [it["body"] for it in sent if it.get("event") == "output" and it["body"]["category"] == "stdout"]
    texts = [(1, "k 0"), (0, "twice 1"), (0, "2 array<f32, 2>(0.0, 1.0) 4"), (1, "twice 0")]
    assert [it["output"] for it in found[:4]] == [f"({i}, 0, 0) prints: {text}\n" for i, text in texts]
    assert [it["line"] for it in found[:4]] == [13, 6, 17, 6]


def test_the_command_line_prints(tmp_path: Path) -> None:
    path = tmp_path / "grow.wgsl"
    path.write_text(TEXT, encoding="utf-8")
    run = ["run", str(path), "--entry", "grow", "-b", "data=arange:4", "--threads", "4"]
    expected = lines_of(DATA)
    for extra in ([], ["--sanitize"], ["--coverage"]):
        result = CliRunner().invoke(main, [*run, *extra])
        assert result.stdout.splitlines()[: len(expected)] == expected
    result = CliRunner().invoke(main, [*run, "--format", "json", "--print-limit", "64"])
    assert json.loads(result.stdout) == {"data": after(DATA).tolist()}
    assert f"{len(expected) - 3} lines were not kept" in result.stderr
    graph = tmp_path / "program.hpvm"
    program().program.save(graph)
    result = CliRunner().invoke(main, ["graph", str(graph), "--run", "-b", "data=arange:4", "--format", "json"])
    assert json.loads(result.stdout)["data"] == after(after(DATA) + 1).tolist()
    assert f"grow: {expected[0]}" in result.stderr
