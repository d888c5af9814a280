"""Every example in the documents runs, and prints what the document says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tinct.backend.gpu import GpuDevice

from .blocks import Block, Command, blocks, commands, is_alike

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
WITHOUT_NUMBERS = ("tinct compare", "--timings")
SHELL = f"tinct() {{ '{sys.executable}' -c 'from tinct.cli import main; main()' \"$@\"; }}\n"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_examples(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bless: bool) -> None:
    for folder in ("shaders", "programs", "examples"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    document = path.read_text(encoding="utf-8")
    shown: list[tuple[Block, str]] = []
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(document):
        if block.file is not None:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            exec(compile(block.text, f"{path.name}, python block", "exec"), namespace)
        elif block.language == "console":
            shown.append((block, "".join(check(command, bless) for command in commands(block.text))))
    if bless:
        path.write_text(rewritten(document, shown), encoding="utf-8")


def check(command: Command, bless: bool) -> str:
    """The command and its output, as they should stand in the document."""
    if not command.runs or not command.output.strip() or not can_run(command):
        return f"$ {command.command}\n{command.output}"
    found = run(command.command)
    ignoring_numbers = any(words in command.command for words in WITHOUT_NUMBERS)
    if is_alike(command.output, found, ignoring_numbers=ignoring_numbers):
        return f"$ {command.command}\n{command.output}"
    if not bless:
        pytest.fail(f"$ {command.command}\nexpected:\n{command.output}\nfound:\n{found}\nrun pytest --bless?")
    return f"$ {command.command}\n{found}"


def can_run(command: Command) -> bool:
    """Whether this machine has the devices that the output speaks of."""
    return "gpu" not in command.command + command.output or GpuDevice.available() is not None


def run(command: str) -> str:
    """Both outputs of a command, without blanks at the ends of lines.

    The language is fixed, since the shell sorts the names that a pattern stands for as the language does.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["bash", "-c", SHELL + command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        check=False,
        timeout=120,
    )
    lines = [line.rstrip() for line in done.stdout.decode().splitlines()]
    return "\n".join(lines).strip("\n") + "\n"


def rewritten(document: str, shown: list[tuple[Block, str]]) -> str:
    """The document with new outputs."""
    for block, text in reversed(shown):
        document = document[: block.start] + text + document[block.start + len(block.text) :]
    return document


def test_every_document_is_looked_at() -> None:
    assert {"README", "ARCHITECTURE"} <= {path.stem for path in DOCUMENTS}


def test_files_are_in_one_order_in_every_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("spmv_ell.wgsl", "spmv.wgsl", "Spmv.wgsl"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    assert run("echo *.wgsl; echo $LC_ALL") == "Spmv.wgsl spmv.wgsl spmv_ell.wgsl\nC.UTF-8\n"


def test_alike() -> None:
    assert is_alike("a  b\nran in 1.5 ms", "a b ran in 27.25 ms", ignoring_numbers=False)
    assert is_alike("a\n...\nz", "a\nb\nz", ignoring_numbers=False)
    assert not is_alike("a 1", "a 2", ignoring_numbers=False)
    assert is_alike("a 1 2.5", "a 3", ignoring_numbers=True)
    assert not is_alike("a", "b", ignoring_numbers=True)
