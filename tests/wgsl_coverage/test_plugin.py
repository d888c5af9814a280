"""The plugin for coverage.py, in a project of its own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import coverage
import pytest

import tinct
from tinct.counting.recorders import recording
from tinct.coverage import plugin

KERNEL = """override FAST: bool = true;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if FAST {
        out[id.x] = 1u;
    } else {
        out[id.x] = 2u;
    }
    if id.x > 1u && id.x == 9u {
        out[id.x] = 3u;
    }
    if false {
        out[id.x] = 4u;
    }
}
"""
NEVER = """@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = 1u;
}
"""
FRAGMENT = "@fragment fn main() -> @location(0) vec4f { return vec4f(1); }\n"
TESTS = """import numpy as np, pytest, tinct
@pytest.mark.parametrize("fast", [True, False])
def test_runs(fast):
    kernel = tinct.load("kernel.wgsl")["main"]
    kernel.run({"out": (None, 4)}, workgroups=1, constants={"FAST": fast}, device="interp")
"""
SETTINGS = """[run]
plugins = tinct.coverage
branch = {branch}
source = .
"""


def project(folder: Path, *, branch: bool) -> None:
    for name, text in (
        ("kernel.wgsl", KERNEL),
        ("never.wgsl", NEVER),
        ("fragment.wgsl", FRAGMENT),
        ("broken.wgsl", "fn ("),
        ("test_kernel.py", TESTS),
        (".coveragerc", SETTINGS.format(branch=branch)),
        ("pytest.ini", "[pytest]\n"),
    ):
        (folder / name).write_text(text, encoding="utf-8")


def test_reports_on_the_data_of_two_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data that pytest-cov has written, put together with other data as after a run under pytest-xdist."""
    project(tmp_path, branch=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "pytest_cov.plugin", "--cov", "--cov-report=", "-k", "True"]
    environment = os.environ | {"COVERAGE_FILE": str(tmp_path / "first"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    monkeypatch.chdir(tmp_path)
    record(monkeypatch, "second", fast=False).save()
    found = coverage.Coverage(config_file=".coveragerc")
    found.combine(["first", "second"])
    assert found.report(file=io.StringIO()) < 95
    found.json_report()
    found.lcov_report()
    found.html_report()
    files = json.loads(Path("coverage.json").read_text())["files"]
    assert files.keys() == {"kernel.wgsl", "never.wgsl", "test_kernel.py"}
    kernel = files["kernel.wgsl"]
    assert kernel["executed_lines"] == [5, 6, 8, 10, 13]
    assert kernel["missing_lines"] == [11]
    assert kernel["excluded_lines"] == [14]
    assert kernel["executed_branches"] == [[5, 6], [5, 8], [10, -4], [10, -3], [10, 13]]
    assert kernel["missing_branches"] == [[10, 11]]
    assert kernel["functions"]["main"]["summary"]["missing_lines"] == 1
    assert files["never.wgsl"]["missing_lines"] == [4]
    assert "BRDA:10,0,id.x > 1u && id.x == 9u: true,0\n" in Path("coverage.lcov").read_text()
    page = next(Path("htmlcov").glob("*kernel_wgsl.html")).read_text()
    assert "line 10 never went this way: id.x &gt; 1u &amp;&amp; id.x == 9u: true" in page


def test_lines_without_branches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project(tmp_path, branch=False)
    monkeypatch.chdir(tmp_path)
    found = record(monkeypatch, "data", fast=True)
    assert sorted(found.get_data().lines(str(tmp_path / "kernel.wgsl")) or []) == [5, 6, 10, 13]


def record(monkeypatch: pytest.MonkeyPatch, data: str, *, fast: bool) -> coverage.Coverage:
    """A `Coverage` that has what a dispatch did, without a tracer: the tests themselves may run under one."""
    found = coverage.Coverage(data_file=data, config_file=".coveragerc")
    monkeypatch.setattr(plugin, "_current", lambda: found)
    kernel = tinct.load("kernel.wgsl")["main"]
    with recording(plugin.WgslRecorder()):
        kernel.run({"out": (None, 4)}, workgroups=1, constants={"FAST": fast}, device="interp")
    return found
