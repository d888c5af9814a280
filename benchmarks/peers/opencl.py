"""OpenCL on the CPU, through pyopencl: PoCL, and Intel's runtime."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import time
import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..problem import Problem
from .base import Prepared, Unsupported, timed
from .c import BUILD, SOURCES

VENDORS = Path("/etc/OpenCL/vendors")
INTEL_LIBRARIES = ("libimf.so", "libintlc.so.5", "libirng.so", "libsvml.so")
"""What Intel's runtime depends on, and does not find by itself when a package installer has put it elsewhere."""


class _OpenCl:
    """One platform; kernels are the functions of native/opencl, on the shared buffers without copies."""

    name: str
    platform: str
    package: str

    def available(self) -> str | None:
        if find_spec("pyopencl") is None:
            return "pyopencl is not installed"
        return None if self.platform in _platforms() else f"no such OpenCL platform ({self.package})"

    def version(self) -> str:
        platform = _platforms()[self.platform]
        return f"{platform.version.strip()}, {platform.get_devices()[0].name.strip()}"

    def prepare(self, problem: Problem) -> Prepared:
        import pyopencl as cl

        if problem.case.kernel not in _files():
            raise Unsupported("not written for this peer")
        context, queue = _context(self.platform)
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cl.CompilerWarning)
            program = cl.Program(context, _source_of(problem.case.kernel)).build()
        kernel = getattr(program, problem.case.kernel)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
        buffers = [cl.Buffer(context, flags, hostbuf=problem.buffers[b.name]) for b in problem.bindings]
        arguments = [*buffers, *(np.uint32(length) for length in problem.lengths)]
        groups = zip(problem.workgroups, problem.workgroup_size, strict=True)
        grid = tuple(count * size for count, size in groups)

        def run() -> None:
            kernel(queue, grid, problem.workgroup_size, *arguments).wait()

        problem.restore()
        run()
        first = time.perf_counter() - start
        problem.restore()
        return Prepared(timed(run), max(0.0, first - timed(run)()))


class Pocl(_OpenCl):
    """Portable Computing Language, which compiles with LLVM."""

    name = "PoCL"
    platform = "Portable Computing Language"
    package = "Debian: pocl-opencl-icd"


class IntelOpenCL(_OpenCl):
    """Intel's runtime for processors."""

    name = "Intel OpenCL"
    platform = "Intel(R) OpenCL"
    package = "PyPI: intel-opencl-rt and intel-cmplr-lib-rt"


@cache
def _platforms() -> dict[str, Any]:
    """All platforms with a device, by name."""
    _find_intel()
    import pyopencl as cl

    try:
        found = cl.get_platforms()
    except cl.Error:
        return {}
    return {platform.name.strip(): platform for platform in found if platform.get_devices()}


def _find_intel() -> None:
    """Adds Intel's runtime to the platforms where it was installed into this Python environment."""
    library = Path(sys.prefix) / "lib" / "libintelocl.so"
    if "OCL_ICD_VENDORS" in os.environ or not library.exists():
        return
    try:
        for name in INTEL_LIBRARIES:
            ctypes.CDLL(str(library.parent / name), ctypes.RTLD_GLOBAL)
    except OSError:
        return
    folder = BUILD / "opencl-vendors"
    folder.mkdir(parents=True, exist_ok=True)
    for file in VENDORS.glob("*.icd"):
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / "intel.icd").write_text(f"{library}\n", encoding="utf-8")
    os.environ["OCL_ICD_VENDORS"] = str(folder)


@cache
def _context(platform: str) -> tuple[Any, Any]:
    import pyopencl as cl

    context = cl.Context(_platforms()[platform].get_devices()[:1])
    return context, cl.CommandQueue(context)


@cache
def _files() -> dict[str, Path]:
    """The file of each kernel."""
    return {
        name: file
        for file in sorted((SOURCES / "opencl").glob("*.cl"))
        for name in re.findall(r"(?m)^kernel void (\w+)", file.read_text(encoding="utf-8"))
    }


def _source_of(kernel: str) -> str:
    """The file of a kernel without its other kernels, so that they are not compiled along."""
    parts = re.split(r"(?m)^(?=kernel void )", _files()[kernel].read_text(encoding="utf-8"))
    mine = re.compile(rf"kernel void {kernel}\(")
    return "".join(part if not part.startswith("kernel void ") or mine.match(part) else _tail(part) for part in parts)


def _tail(part: str) -> str:
    """What follows a kernel: the macros and functions that later ones use."""
    end = part.index("\n}\n") + 3
    return part[end:]
