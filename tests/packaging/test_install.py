"""A built wheel carries the linked folders, the schemas and the extension modules, and imports by itself."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "src", "frontend", "base", "ir", "transforms", "backend")
UNWANTED = shutil.ignore_patterns("__pycache__", "*.so", "*.egg-info", "build")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy so that nothing left by an earlier build gets in."""
    tree = tmp_path_factory.mktemp("tree")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, tree / part, symlinks=True, ignore=UNWANTED)
        else:
            shutil.copy(ROOT / part, tree / part)
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        "dist",
        ".",
        cwd=tree,
    )
    (built,) = (tree / "dist").glob("tinct-*.whl")
    return built


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_wheel_holds_every_module_and_schema(wheel: Path) -> None:
    packed = set(zipfile.ZipFile(wheel).namelist())
    folders = ("frontend", "base", "ir", "transforms", "backend")
    wanted = {
        str(Path("tinct") / path.relative_to(ROOT))
        for folder in folders
        for suffix in ("*.py", "*.asdl", "*.pyi")
        for path in (ROOT / folder).rglob(suffix)
        if (path.parent / "__init__.py").exists()
    }
    assert wanted - packed == set()
    assert {"tinct/py.typed", "tinct/interface/reflect.schema.json"} <= packed


def test_wheel_imports_in_an_environment_of_its_own(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=False)
    python = tmp_path / "env" / "bin" / "python"
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--quiet",
        "--no-deps",
        str(wheel),
        cwd=tmp_path,
    )
    # The dependencies come from here: a path named in a .pth file brings its packages, but not its own .pth files,
    # so an editable tinct stays out of sight.
    (site,) = (tmp_path / "env" / "lib").glob("python3.*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    program = """
import tinct.frontend.grammar as grammar
from tinct.backend.cpu import _pool
print(_pool.__file__, grammar.language().abi_version, _pool.Pool(3).workers)
"""
    path, abi, workers = run(str(python), "-I", "-c", program, cwd=tmp_path).split()
    assert Path(path).is_relative_to(site)
    assert (abi, workers) == ("14", "3")

    (tmp_path / "halves.wgsl").write_text("@test fn halves() { expectNear(1.0 / 2.0, 0.5); expectEq(7 / 2, 3); }")
    out = run(str(python), "-I", "-m", "pytest", "-q", "--tinct-device", "cpu", "--rootdir", ".", cwd=tmp_path)
    assert "1 passed" in out


def test_links_are_relative_and_complete() -> None:
    for folder in ("frontend", "base", "ir", "transforms", "backend"):
        link = ROOT / "src" / "tinct" / folder
        assert link.readlink() == Path("../..") / folder
        assert (link / "__init__.py").is_file()
