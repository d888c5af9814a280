"""What is measured, and how it is shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import tinct
from tinct.cli import tinct as command
from tinct.counting.recorders import recording
from tinct.coverage import measure
from tinct.coverage.listing import listing
from tinct.ir.source import Source
from tinct.testing.wgsl_tests import WgslTests

KERNEL = """override FAST: bool = true;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;

fn half(n: u32) -> u32 {
    if n > 100u || n == 2u { return 1u; }
    return n / 2u;
    return 0u;
}

@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if FAST {
        out[id.x] = half(id.x);
    } else {
        switch id.x { case 0u, 1u: { out[id.x] = 7u; } default: {} }
    }
    const DEBUG = false;
    if DEBUG {
        out[id.x] = 0u;
    }
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.wgsl"
    path.write_text(KERNEL, encoding="utf-8")
    return path


def test_lines_branches_and_functions_over_overrides(file: Path) -> None:
    kernel = tinct.load(file)["main"]
    with measure() as seen:
        kernel.run({"out": (None, 4)}, workgroups=1)
    found = seen[str(file)]
    assert found.lines == {5: 4, 6: 3, 12: 4, 13: 4, 15: 0, 18: 4}
    assert found.missing == [15]
    assert found.excluded == [7, 19]
    assert [(it.name, it.line, it.end, it.count) for it in found.functions] == [("half", 4, 8, 4), ("main", 11, 21, 4)]
    with recording(seen):
        kernel.run({"out": (None, 4)}, workgroups=2, constants={"FAST": False})
    assert found.missing == []
    branches = {(it.line, it.column, it.kind, it.condition): dict(it.taken) for it in found.branches}
    assert branches == {
        (5, 8, "||", "n > 100u || n == 2u"): {"right side skipped": 0, "right side evaluated": 4},
        (5, 5, "if", "n > 100u || n == 2u"): {"true": 1, "false": 3},
        (12, 5, "if", "FAST"): {"true": 4, "false": 8},
        (15, 9, "switch", "id.x"): {"case 0u, 1u": 2, "default": 6},
    }
    assert str(seen).splitlines()[1].split()[1:] == ["6/6", "7/8", "2/2"]
    assert "^  n > 100u || n == 2u: never right side skipped" in listing(found)


def test_function_calls_and_tests_in_wgsl_count_in_their_own_file(file: Path) -> None:
    shader = tinct.load(file)
    tests = file.with_name("some_test.wgsl")
    tests.write_text(
        "import wgsl_test::expectEq;\nimport package::some::kernel::half;\n"
        "fn own(a: u32) -> u32 {\n    if a > 1u { return 2u; }\n    return half(a);\n}\n"
        "// @test\nfn t() {\n    expectEq(own(3u), 2u);\n    expectEq(half(200u), 1u);\n}\n",
        encoding="utf-8",
    )
    folder = file.parent / "some"
    folder.mkdir()
    (folder / "kernel.wgsl").write_text(KERNEL.split("@compute", maxsplit=1)[0], encoding="utf-8")
    with measure() as seen:
        shader.functions["half"](np.array([200, 2, 3], np.uint32))
        WgslTests(Source.from_file(tests), tests.parent).run("t")
    assert seen[str(file)].lines == {5: 3, 6: 1, 12: 0, 13: 0, 15: 0, 18: 0}
    assert seen[str(tests)].lines == {4: 1, 5: 0, 9: 1, 10: 1}
    assert [it.line for it in seen[str(tests)].branches] == [4]
    assert seen[str((folder / "kernel.wgsl").resolve())].lines == {5: 1, 6: 0}


def test_sessions_count(file: Path) -> None:
    kernel = tinct.load(file)["main"]
    with tinct.Session() as session, measure() as seen:
        made = session.run(kernel, {"out": (None, 4)}, workgroups=1)
        session.run(kernel, made, workgroups=1)
        assert made["out"].numpy().tolist() == [0, 0, 1, 1]
        kernel.run(made, workgroups=1)
    assert seen[str(file)].lines[13] == 12


def test_run_prints_the_text_with_counts(file: Path) -> None:
    arguments = ["run", str(file), "-b", "out=zeros:4", "--threads", "4", "--coverage"]
    result = CliRunner().invoke(command, arguments)
    assert "        3    6      return n / 2u;" in result.stdout
    assert "        -    7      return 0u;" in result.stdout
    assert "    never   15 " in result.stdout
    result = CliRunner().invoke(command, [*arguments, "--format", "json"])
    assert result.stdout.startswith("{")
    assert "never" in result.stderr
