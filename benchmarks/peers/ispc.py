"""ISPC, where its compiler is found: `$ISPC`, or `ispc`."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from tinct.backend.cpu.machine import processor_name

from ..problem import Problem
from .base import Prepared
from .c import BUILD, FLAGS, SOURCES, compiler, prepare_function

_FOLDER = SOURCES / "ispc"


class Ispc:
    """The functions of native/ispc for this processor; their tasks run on OpenMP."""

    name = "ISPC"

    def available(self) -> str | None:
        if _ispc() is None:
            return "no ispc on the path, and $ISPC is not set"
        return None if compiler() else "no C compiler to link its code"

    def version(self) -> str:
        return _run("--version").strip()

    def prepare(self, problem: Problem) -> Prepared:
        return prepare_function(_library(), problem)


def _ispc() -> str | None:
    return shutil.which(os.environ.get("ISPC", "ispc"))


def _run(*arguments: str) -> str:
    program = _ispc()
    assert program is not None
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout


@cache
def _library() -> ctypes.CDLL:
    """The kernels as a shared library, compiled once for each change of source, compiler or processor."""
    key = hashlib.sha256(b"\0".join(file.read_bytes() for file in sorted(_FOLDER.iterdir())))
    key.update(f"{_run('--version')} {processor_name()}".encode())
    target = BUILD / f"ispc-{key.hexdigest()[:16]}.so"
    if not target.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        _build(target)
    return ctypes.CDLL(str(target))


def _build(target: Path) -> None:
    program = compiler()
    assert program is not None
    partial = target.with_suffix(f".{os.getpid()}.tmp")
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        codes = [Path(folder) / f"{source.stem}.o" for source in _FOLDER.glob("*.ispc")]
        for code in codes:
            _run("-O3", "--pic", "--woff", str(_FOLDER / f"{code.stem}.ispc"), "-o", str(code))
        sources = [*map(str, codes), str(_FOLDER / "tasks.c")]
        subprocess.run([program, *FLAGS, *sources, "-o", str(partial), "-lm"], check=True)
    partial.replace(target)
