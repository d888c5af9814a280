"""Files are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tinct.cli.files import write_text, writing

from .conftest import SAXPY, Tinct


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "kept"
    file.write_text("before")
    with pytest.raises(KeyboardInterrupt):
        _write_half(file)
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def _write_half(file: Path) -> None:
    with writing(file) as out:
        out.write(b"half")
        raise KeyboardInterrupt


def test_links_and_permissions_stay(tmp_path: Path) -> None:
    file, soft, hard = tmp_path / "file", tmp_path / "soft", tmp_path / "hard"
    file.write_text("before")
    file.chmod(0o640)
    soft.symlink_to(file)
    write_text(soft, "after")
    assert soft.is_symlink()
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("after", 0o640)
    os.link(file, hard)
    write_text(file, "both")
    assert hard.read_text() == "both"


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (("compile", SAXPY, "-o", "/dev/full"), "/dev/full: No space left on device"),
        (("minify", SAXPY, "-o", "/dev/full"), "/dev/full: No space left on device"),
        (("compile", SAXPY, "-o", "/no/such/place"), "/no/such/place: No such file or directory"),
    ],
)
def test_files_that_cannot_be_written(run_tinct: Tinct, arguments: tuple[str | Path, ...], place: str) -> None:
    result = run_tinct(*arguments)
    assert (result.exit_code, result.stderr) == (2, f"error: {place}\n")


def test_arrays_that_cannot_be_written(run_tinct: Tinct) -> None:
    buffers = ("-b", "x=arange:8", "-b", "y=zeros:8", "-b", 'params={"a": 2, "n": 8}')
    result = run_tinct("run", SAXPY, *buffers, "--threads", "8", "--device", "interp", "-o", "/dev/full")
    assert (result.exit_code, result.stderr) == (2, "error: /dev/full: No space left on device\n")
