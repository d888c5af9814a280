"""ISPC, where its compiler is found: `$ISPC`, or `ispc`."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from ..machine import processor_name
from ..problem import Problem
from .base import Prepared
from .c import BUILD, FLAGS, SOURCES, compiler, prepare_function


class Ispc:
    """The functions of native/kernels.ispc for this processor; their tasks run on OpenMP."""

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
    sources = [SOURCES / "kernels.ispc", SOURCES / "tasks.c"]
    key = hashlib.sha256(b"\0".join(file.read_bytes() for file in sources))
    key.update(f"{_run('--version')} {processor_name()}".encode())
    target = BUILD / f"ispc-{key.hexdigest()[:16]}.so"
    if not target.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        _build(target)
    return ctypes.CDLL(str(target))


def _build(target: Path) -> None:
    code, partial = (target.with_suffix(f".{os.getpid()}.{kind}") for kind in ("o", "tmp"))
    _run("-O3", "--pic", "--woff", str(SOURCES / "kernels.ispc"), "-o", str(code))
    program = compiler()
    assert program is not None
    subprocess.run([program, *FLAGS, str(code), str(SOURCES / "tasks.c"), "-o", str(partial), "-lm"], check=True)
    code.unlink()
    partial.replace(target)
