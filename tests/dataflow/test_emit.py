"""Emitted plans, and how wgpu-py alone follows them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from click.testing import CliRunner

import tinct
from tinct.backend.gpu import GpuDevice
from tinct.cli import tinct as command
from tinct.graphs import emit

from .test_examples import FOLDERS, each_folder, module

needs_gpu = pytest.mark.skipif(not GpuDevice.available(), reason=GpuDevice.unavailable_reason() or "")
EXAMPLES = {it.name: it for it in FOLDERS}
LIFE = ("-b", "cells=integers:12:0:2", "-b", "width=4", "-b", "height=3")
FED = {
    "fluid": {"flow": "flow", "dye": "dye", "pressure": "pressure"},
    "kmeans": {"labels": "labels", "palette": "palette"},
    "life": {"cells": "cells"},
}


def check(found: bytes, expected: npt.NDArray[Any]) -> None:
    """Bit for bit; `vec3` has four bytes of padding, which are whatever was there."""
    wanted = np.frombuffer(expected.tobytes(), np.uint32)
    numbers = np.frombuffer(found, np.uint32)
    if numbers.size * 3 == wanted.size * 4:
        numbers = numbers.reshape(-1, 4)[:, :3].ravel()
    np.testing.assert_array_equal(numbers, wanted)


@needs_gpu
@each_folder
def test_a_follower_without_tinct_gives_the_same_as_the_graph(folder: Path, tmp_path: Path) -> None:
    from .plan_follower import Follower

    example = module(folder)
    given = example.inputs(np.random.default_rng(3))
    emit(example.GRAPH, tmp_path, given)
    found, expected = Follower(tmp_path).run(), example.GRAPH.run(given, device="gpu")
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        check(found[name], array)


@needs_gpu
@pytest.mark.parametrize("name", FED)
@pytest.mark.parametrize("repeat", [2, 5])
def test_a_follower_that_repeats_lets_buffers_change_places(name: str, repeat: int, tmp_path: Path) -> None:
    from .plan_follower import Follower

    example = module(EXAMPLES[name])
    given = example.inputs(np.random.default_rng(3))
    emit(example.GRAPH, tmp_path, given, feed=FED[name])
    found = Follower(tmp_path).run(repeat)
    expected = example.GRAPH.run(given, device="gpu", repeat=repeat, feed=FED[name])
    for output, array in expected.items():
        check(found[output], array)


@needs_gpu
def test_a_follower_makes_grids_of_numbers_that_nodes_write(tmp_path: Path) -> None:
    from .plan_follower import Follower
    from .test_capacity import said

    graph = said(14)
    emit(graph, tmp_path, {"x": 4, "y": 3})
    assert (tmp_path / "indirect-dispatch.wgsl").is_file()
    assert list(Follower(tmp_path).run()["seen"]) == [*np.array([1, 2, 4], np.uint32).tobytes()]
    for x, y in ((5, 3), (-1, 3)):
        for name, value in (("x", x), ("y", y)):
            (tmp_path / "inputs" / f"{name}.bin").write_bytes(np.int32(value).tobytes())
        with pytest.raises(ValueError, match="mark") as caught:
            Follower(tmp_path).run()
        assert caught.value.args[1] == [x % (1 << 32), y, 1]


def test_kernels_of_equal_text_are_one_file(tmp_path: Path) -> None:
    example = module(EXAMPLES["fluid"])
    written = emit(example.GRAPH, tmp_path, example.inputs(np.random.default_rng(3)))
    names = sorted(it.name for it in written if it.suffix == ".wgsl")
    assert names == ["advect.wgsl", "diverge.wgsl", "jacobi.wgsl", "project.wgsl"]
    assert all(it.is_file() for it in written)


def test_overrides_have_their_values(tmp_path: Path) -> None:
    shader = tinct.load("""
        override scale: u32 = 1u;
        @group(0) @binding(0) var<storage, read_write> x: array<u32>;
        @compute @workgroup_size(4) fn grow(@builtin(global_invocation_id) id: vec3u) {
            if id.x < arrayLength(&x) { x[id.x] = x[id.x] * scale; }
        }
    """)
    graph = tinct.Graph("scales")
    one = graph.node(shader["grow"], threads="len(x)", constants={"scale": 7})
    two = graph.node(shader["grow"], threads="len(x)", constants={"scale": 11})
    graph.bind_input("x", one["x"])
    graph.edge(one["x"], two["x"])
    graph.bind_output(two["x"], "x")
    written = [it for it in emit(graph, tmp_path, {"x": np.arange(5, dtype=np.uint32)}) if it.suffix == ".wgsl"]
    assert len(written) == 2
    texts = [it.read_text() for it in written]
    assert not any("override" in text for text in texts)
    assert sum("7" in text for text in texts) == 1


def test_the_plan_says_for_which_numbers_it_is(tmp_path: Path) -> None:
    example = module(EXAMPLES["canny"])
    emit(example.GRAPH, tmp_path, example.inputs(np.random.default_rng(3)))
    facts = json.loads((tmp_path / "plan.json").read_text())["facts"]
    assert {"input": "size", "start": 0, "type": "u32", "value": 40} in facts
    assert {"input": "size", "start": 4, "type": "u32", "value": 24} in facts


def test_an_empty_binding_is_refused(tmp_path: Path) -> None:
    example = module(EXAMPLES["life"])
    empty = {"cells": np.zeros(0, np.uint32), "width": 1, "height": 1}
    with pytest.raises(tinct.InputError, match="cells: array<u32> needs at least 4 bytes"):
        emit(example.GRAPH, tmp_path / "new", empty)
    assert not (tmp_path / "new").exists()


def test_an_odd_number_of_halves_is_refused(tmp_path: Path) -> None:
    shader = tinct.load("""
        enable f16;
        @group(0) @binding(0) var<storage, read_write> x: array<f16>;
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {
            if id.x < arrayLength(&x) { x[id.x] = 2 * x[id.x]; }
        }
    """)
    graph = tinct.Graph("halves")
    node = graph.node(shader["main"], threads="len(x)")
    graph.bind_input("x", node["x"])
    graph.bind_output(node["x"], "x")
    with pytest.raises(tinct.InputError, match="for 3 elements has 8 bytes"):
        emit(graph, tmp_path, {"x": np.ones(3, np.float16)})
    emit(graph, tmp_path, {"x": np.ones(4, np.float16)})
    assert json.loads((tmp_path / "plan.json").read_text())["features"] == ["shader-f16"]


def call(*arguments: str) -> Any:
    return CliRunner().invoke(command, ["graph", *arguments])


def test_the_command_line_emits(tmp_path: Path) -> None:
    sort = str(EXAMPLES["radix_sort"] / "radix_sort.hpvm")
    target = tmp_path / "sort"
    result = call(sort, "--emit", str(target), "-b", "keys=integers:500:0:1000000")
    assert result.exit_code == 0, result.output
    assert result.stderr == f"wrote 5 files to {target}\n"
    assert sorted(it.name for it in target.iterdir()) == [
        "count.wgsl",
        "inputs",
        "plan.json",
        "scan.wgsl",
        "scatter.wgsl",
    ]
    assert "--emit neither runs" in call(sort, "--emit", str(target), "--run", "-b", "keys=arange:5").stderr
    assert "nothing is given for the input keys" in call(sort, "--emit", str(target)).stderr
    assert "--times is for --run" in call(sort, "--emit", str(target), "--times").stderr
    fed = call(str(EXAMPLES["life"] / "life.hpvm"), "--emit", str(target), "--feed", "cells=cells", *LIFE)
    assert fed.exit_code == 0, fed.output
    assert json.loads((target / "plan.json").read_text())["feeds"] == [{"output": "cells", "input": "cells"}]
