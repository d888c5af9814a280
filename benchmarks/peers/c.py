"""C by the system's compiler: loops as one first writes them, and the same kernels tuned by hand."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from tinct.backend.cpu.machine import processor_name

from ..machine import processor_features
from ..problem import Problem
from .base import Prepared, Unsupported, timed

SOURCES = Path(__file__).parents[1] / "native"
BUILD = Path(__file__).parents[2] / "build" / "benchmarks"
FLAGS = ("-O3", "-march=native", "-fopenmp", "-fPIC", "-shared")


class _Library:
    """A folder of C files whose functions are kernels (see native/kernels.h)."""

    name: str
    folder: str

    def available(self) -> str | None:
        return None if compiler() else "no C compiler (gcc or clang)"

    def version(self) -> str:
        found = compiler()
        assert found is not None
        line = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
        return f"{line} {' '.join(FLAGS[:3])}"

    def prepare(self, problem: Problem) -> Prepared:
        return prepare_function(compiled(*self.sources()), problem)

    def sources(self) -> tuple[Path, ...]:
        """The folders of the kernels."""
        return (SOURCES / self.folder,)


class PlainC(_Library):
    """Plain loops with OpenMP."""

    name = "C"
    folder = "plain"


class TunedC(_Library):
    """Intrinsics, blocking, several chains at once: for AVX-512 where there is that, else for AVX2."""

    name = "C, tuned"
    folder = "tuned"

    def available(self) -> str | None:
        if self._instructions() is None:
            return "written for AVX-512 and for AVX2 with FMA, which this processor lacks"
        return super().available()

    def sources(self) -> tuple[Path, ...]:
        """What all processors share, and the kernels that are written for this one's vectors."""
        folder = SOURCES / self.folder
        return folder, folder / (self._instructions() or "avx2")

    def _instructions(self) -> str | None:
        features = processor_features()
        if {"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"} <= features:
            return "avx512"
        return "avx2" if {"avx2", "fma", "f16c"} <= features else None


def compiler() -> str | None:
    """The C compiler: `$CC`, else gcc, else clang."""
    wanted = (os.environ.get("CC"), "gcc", "clang")
    return next((found for name in wanted if name and (found := shutil.which(name))), None)


def prepare_function(library: ctypes.CDLL, problem: Problem) -> Prepared:
    """A call of the kernel's function with the bindings' addresses and the lengths of runtime-sized arrays."""
    try:
        function = library[problem.case.kernel]
    except AttributeError:
        raise Unsupported("not written for this peer") from None
    function.restype = None
    addresses = [ctypes.c_void_p(problem.buffers[b.name].ctypes.data) for b in problem.bindings]
    lengths = [ctypes.c_int64(length) for length in problem.lengths]
    return Prepared(timed(lambda: function(*addresses, *lengths)))


@cache
def compiled(*places: Path) -> ctypes.CDLL:
    """C files, or all of folders, as a library, compiled once for each change of source, compiler or processor."""
    program = compiler()
    assert program is not None
    sources = [file for place in places for file in (sorted(place.glob("*.c")) if place.is_dir() else [place])]
    text = b"".join(file.read_bytes() for file in (*sources, *sorted(SOURCES.rglob("*.h"))))
    key = hashlib.sha256(b"\0".join([text, program.encode(), *map(str.encode, FLAGS), processor_name().encode()]))
    target = BUILD / f"{places[-1].stem}-{key.hexdigest()[:16]}.so"
    if not target.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(f".{os.getpid()}.tmp")
        command = [program, *FLAGS, *map(str, sources), "-o", str(partial), "-lmvec", "-lm"]
        subprocess.run(command, check=True)
        partial.replace(target)
    return ctypes.CDLL(str(target))
