"""The pytest plugin, in a project of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "half.wgsl": "fn half(x: f32) -> f32 { return x / 2; }\n",
    "half_test.wesl": (
        "import package::half::half;\nimport wgsl_test::expectNear;\n\n"
        "@test fn halves() { expectNear(half(3.0), 1.5); }\n"
        "@test fn thirds() {\n    expectNear(half(3.0), 1.0);\n    expectNear(half(1.0), 0.25);\n}\n"
    ),
    "test_half.py": (
        "import tinct\n\ndef test_half(tinct_device):\n"
        "    assert tinct.load('half.wgsl').functions['half'](3, device=tinct_device) == 1.5\n"
    ),
}


def run(folder: Path, *arguments: str, files: dict[str, str] = FILES) -> subprocess.CompletedProcess[str]:
    """Pytest in a folder with these files."""
    for name, text in files.items():
        (folder / name).write_text(text)
    path = {"PYTHONPATH": str(ROOT / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tinct.testing.plugin", *arguments],
        cwd=folder,
        env=os.environ | path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_wgsl_tests_and_the_fixture(tmp_path: Path) -> None:
    done = run(tmp_path, "--tinct-device", "cpu", "--tinct-device", "interp")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 failed, 4 passed" in done.stdout
    failure = "half_test.wesl:6:5: expectNear(half(3.0), 1.0)\n    left:  1.5\n    right: 1."
    assert done.stdout.count(failure) >= 2  # under CI, the summary has them again
    assert done.stdout.count("half_test.wesl:7:5: expectNear(half(1.0), 0.25)") >= 2
    assert "Traceback" not in done.stdout
    assert re.search(r"FAILED half_test\.wesl::thirds\[cpu\]", done.stdout)


@pytest.mark.parametrize(
    ("files", "arguments", "message"),
    [
        ({"t.wgsl": "@test fn t() { let a = x; }"}, [], "t.wgsl:1:24"),
        ({"t.wgsl": "@test fn t(a: u32) {}"}, [], "a test takes no parameters"),
        ({"t.wgsl": "@test fn t() { loop {} }"}, ["--tinct-timeout", "1"], "error[endless-loop]"),
        ({"t.wgsl": "@test fn t() {}"}, ["--tinct-device", "abacus"], "--tinct-device: no device is named 'abacus'"),
    ],
)
def test_what_is_wrong_has_no_traceback(
    tmp_path: Path, files: dict[str, str], arguments: list[str], message: str
) -> None:
    done = run(tmp_path, *(arguments or ["--tinct-device", "cpu"]), files=files)
    assert message in done.stdout + done.stderr
    assert done.returncode not in (0, 5)
    assert "Traceback" not in done.stdout + done.stderr


def test_which_files_are_searched(tmp_path: Path) -> None:
    files = {"t.wgsl": "@test fn t() {}", "pytest.ini": "[pytest]\ntinct_tests = other\n"}
    assert "no tests ran" in run(tmp_path, "--tinct-device", "cpu", files=files).stdout
    (tmp_path / "u.wgsl").write_text("// about @testing\nfn f() {}")
    assert (
        "1 passed"
        in run(tmp_path, "--tinct-device", "cpu", files={"t.wgsl": "@test fn t() {}", "pytest.ini": ""}).stdout
    )


def test_the_plugin_imports_nothing_until_it_is_used(tmp_path: Path) -> None:
    program = (
        "import sys, tinct.testing.plugin\n"
        "print([it for it in sys.modules if it.startswith(('numpy', 'llvmlite', 'wgpu', 'tree_sitter', 'tinct.ir'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == "[]"
