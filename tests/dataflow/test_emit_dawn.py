"""Emitted plans that the JavaScript example follows on Dawn's WebGPU, under node.

`TINCT_WEBGPU` names the folder in which the npm package `webgpu` is installed; without it these tests are skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tinct
from tinct.graphs import emit

from .test_arithmetic import GIVEN, SCRIPT, computed
from .test_capacity import said
from .test_emit import EXAMPLES, FED, check
from .test_emitted_textures import GIVEN as TEXTURES
from .test_emitted_textures import STATE, arrays, check_drawn, drawing, looking, seen
from .test_examples import each_folder, module

PACKAGE = os.environ.get("TINCT_WEBGPU")
pytestmark = pytest.mark.skipif(
    shutil.which("node") is None or PACKAGE is None,
    reason="needs node, and TINCT_WEBGPU with the folder that has node_modules/webgpu",
)


def follow(folder: Path, executions: int = 1) -> subprocess.CompletedProcess[str]:
    """Let the example follow a plan; skips where Dawn has no GPU."""
    assert PACKAGE is not None
    scripts = folder.with_name(f"{folder.name}_scripts")
    if not scripts.exists():
        shutil.copytree(SCRIPT.parent, scripts)
        (scripts / "node_modules").symlink_to(Path(PACKAGE) / "node_modules")
    ran = subprocess.run(
        ["node", str(scripts / "run.mjs"), str(folder), str(executions)],
        env={**os.environ, "XDG_RUNTIME_DIR": str(scripts)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if "there is no GPU that WebGPU can use" in ran.stderr:
        pytest.skip("Dawn finds no GPU; Mesa's llvmpipe must be of version 25")
    return ran


def outputs(folder: Path, executions: int = 1) -> dict[str, bytes]:
    """The outputs of a plan that is followed without an error."""
    ran = follow(folder, executions)
    assert ran.returncode == 0, ran.stderr
    return {it.stem: it.read_bytes() for it in (folder / "outputs").iterdir()}


@each_folder
def test_examples(folder: Path, tmp_path: Path) -> None:
    example = module(folder)
    given = example.inputs(np.random.default_rng(3))
    emit(example.GRAPH, tmp_path / "program", given)
    found, expected = outputs(tmp_path / "program"), example.GRAPH.run(given, device="cpu")
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        if hasattr(example, "ACCURACY") and array.dtype == np.float32:
            np.testing.assert_allclose(np.frombuffer(found[name], np.float32), array.ravel(), **example.ACCURACY)
        elif not hasattr(example, "ACCURACY"):
            check(found[name], array)


@pytest.mark.parametrize("executions", [1, 2, 5])
def test_repetitions(executions: int, tmp_path: Path) -> None:
    example = module(EXAMPLES["life"])
    given = example.inputs(np.random.default_rng(3))
    emit(example.GRAPH, tmp_path / "life", given, feed=FED["life"])
    found = outputs(tmp_path / "life", executions)
    for name, array in example.GRAPH.run(given, repeat=executions, feed=FED["life"]).items():
        check(found[name], array)


def test_grids_of_numbers_that_nodes_write(tmp_path: Path) -> None:
    program = tmp_path / "said"
    emit(said(14), program, {"x": 4, "y": 3})
    assert [*np.frombuffer(outputs(program)["seen"], np.uint32)] == [1, 2, 4]
    (program / "inputs" / "x.bin").write_bytes(np.int32(5).tobytes())
    ran = follow(program)
    assert ran.returncode != 0
    assert "node mark: 5 x 3 x 1 invocations are refused; its capacity is 14" in ran.stderr


def test_numbers_that_are_computed(tmp_path: Path) -> None:
    graph = computed("count.total / 2", "count.total * 3")
    emit(graph, tmp_path / "computing", {"x": GIVEN})
    check(outputs(tmp_path / "computing")["y"], graph.run({"x": GIVEN})["y"])


def test_textures(tmp_path: Path) -> None:
    emit(drawing, tmp_path / "drawing", TEXTURES, feed={"state": "state"})
    check_drawn(arrays(outputs(tmp_path / "drawing")), STATE)
    found, expected = arrays(outputs(tmp_path / "drawing", 4)), drawing.run(TEXTURES, repeat=4, feed={"state": "state"})
    for name, array in found.items():
        np.testing.assert_allclose(array, expected[name], rtol=1e-5)


def test_textures_that_are_drawn(tmp_path: Path) -> None:
    graph, given = looking()
    emit(graph, tmp_path / "looking", given)
    found = np.frombuffer(outputs(tmp_path / "looking")["found"], np.float32).reshape(4, 4)
    np.testing.assert_allclose(found, seen(given), rtol=1e-6)


def test_fused_graphs(tmp_path: Path) -> None:
    """The text of a fused kernel is one that Dawn takes."""
    shader = tinct.load("""
        @group(0) @binding(0) var<storage, read_write> x: array<u32>;
        @compute @workgroup_size(64)
        fn grow(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
            for (var i = id.x; i < arrayLength(&x); i += groups.x * 64u) { x[i] = 3u * x[i] + 1u; }
        }
    """)
    graph = tinct.Graph("fused")
    first, second = (graph.node(shader["grow"], threads=64, name=name) for name in ("one", "two"))
    graph.bind_input("x", first["x"])
    graph.edge(first["x"], second["x"], "one-to-one")
    graph.bind_output(second["x"], "y")
    given = {"x": np.arange(300, dtype=np.uint32)}
    emit(graph.fused(), tmp_path / "fused", given)
    assert len(list((tmp_path / "fused").glob("*.wgsl"))) == 1
    check(outputs(tmp_path / "fused")["y"], graph.run(given)["y"])
