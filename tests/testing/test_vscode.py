"""Tests in WGSL in VS Code's test explorer: what its adapter reads of items, and the adapter itself where it is there.

The adapter is the pytest plugin `vscode_pytest` of microsoft/vscode-python. It reads each item's `nodeid`, `name`,
`path` and `location`, whether it has a `callspec`, and its parent's `path`; it sends JSON with `content-length` headers
to the pipe that TEST_RUN_PIPE names. VS Code runs tests by their node ids. TINCT_VSCODE_PYTEST names the folder
`python_files` of a checkout.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
ADAPTER = os.environ.get("TINCT_VSCODE_PYTEST")
TESTS = """\
fn half(x: f32) -> f32 { return x / 2; }
@test fn halves() { expectNear(half(3.0), 1.5); }

@test
fn wrong() {
    expectEq(1u, 2u);
}
"""
OBSERVER = """\
import json, pathlib
def pytest_collection_finish(session):
    items = [[str(it.path), it.location, it.nodeid, it.name, hasattr(it, "callspec"), str(it.parent.path)]
             for it in session.items]
    pathlib.Path("items.json").write_text(json.dumps(items))
"""
DEVICES = ("--tinct-device", "cpu", "--tinct-device", "interp")


def project(folder: Path) -> Path:
    """A folder with a test in WGSL below it; the file."""
    file = folder / "shaders" / "half_test.wgsl"
    file.parent.mkdir()
    file.write_text(TESTS)
    (folder / "observer.py").write_text(OBSERVER)
    return file


def run(folder: Path, *arguments: str, plugin: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Pytest in a folder with a plugin."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tinct.testing.plugin", "-p", plugin, *DEVICES, *arguments]
    path = os.pathsep.join([str(ROOT / "src"), str(folder), *([ADAPTER] if ADAPTER else [])])
    variables = os.environ | {"PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | environment
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=120, check=False)


def test_items_have_what_the_adapter_reads(tmp_path: Path) -> None:
    file = project(tmp_path)
    run(tmp_path, "--collect-only", plugin="observer")
    lines = {"halves": 1, "wrong": 4}
    assert json.loads((tmp_path / "items.json").read_text()) == [
        [
            str(file),
            ["shaders/half_test.wgsl", lines[test], f"{test}[{device}]"],
            f"shaders/half_test.wgsl::{test}[{device}]",
            f"{test}[{device}]",
            False,
            str(file),
        ]
        for device in ("cpu", "interp")
        for test in ("halves", "wrong")
    ]
    done = run(tmp_path, f"{file}::wrong[interp]", f"{file}::halves[interp]", plugin="observer")
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert [it[3] for it in json.loads((tmp_path / "items.json").read_text())] == ["wrong[interp]", "halves[interp]"]


def messages(folder: Path, *arguments: str) -> list[Any]:
    """What the adapter sends to VS Code."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    data: list[bytes] = []
    reader = threading.Thread(target=lambda: data.append(pipe.read_bytes()), daemon=True)
    reader.start()
    done = run(folder, *arguments, f"--rootdir={folder}", plugin="vscode_pytest", TEST_RUN_PIPE=str(pipe))
    reader.join(10)
    pipe.unlink()
    assert data, done.stdout + done.stderr
    parts = data[0].split(b"content-length: ")[1:]
    return [json.loads(it.split(b"\r\n\r\n", 1)[1])["params"] for it in parts]


def leaves(node: Any) -> list[Any]:
    """The tests of a tree."""
    return [node] if "children" not in node else [leaf for child in node["children"] for leaf in leaves(child)]


@pytest.mark.skipif(ADAPTER is None, reason="TINCT_VSCODE_PYTEST names no folder with VS Code's adapter")
def test_the_adapter_discovers_and_runs_tests(tmp_path: Path) -> None:
    file = project(tmp_path)
    (discovered,) = messages(tmp_path, "--collect-only")
    assert (discovered["status"], discovered["error"]) == ("success", [])
    tests = [(it["name"], it["lineno"]) for it in leaves(discovered["tests"])]
    assert tests == [("halves[cpu]", "2"), ("wrong[cpu]", "5"), ("halves[interp]", "2"), ("wrong[interp]", "5")]
    results: dict[str, Any] = {}
    for message in messages(tmp_path, f"{file}::wrong[cpu]", f"{file}::halves[interp]"):
        results |= message["result"]
    assert {name: it["outcome"] for name, it in results.items()} == {
        f"{file}::wrong[cpu]": "failure",
        f"{file}::halves[interp]": "success",
    }
    assert results[f"{file}::wrong[cpu]"]["message"].startswith("shaders/half_test.wgsl:6:5: expectEq(1u, 2u)")
