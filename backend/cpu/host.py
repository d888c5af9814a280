"""What LLVM says of itself and of this machine.

It is kept on disk, so that a process whose kernels are all kept there finds them without LLVM, whose import and start
take longer than all else that it does. The name of the file depends on what the processor says of itself, and on the
files of LLVM's bindings.
"""

from __future__ import annotations

import os
import pickle
from functools import cache
from importlib.util import find_spec
from typing import Any, cast

from ...base.records import dataclass
from . import _pool
from .compiler_files import compiler_files, hash_of_files
from .disk_cache import DiskCache, default_cache, digest

_CPU_INFO = "/proc/cpuinfo"


@dataclass(frozen=True, slots=True)
class Host:
    """LLVM's name for the processor, its features as LLVM takes them (`+avx2,-sse4a`, …), the triple of code for this
    process, and the versions of the bindings and of LLVM.
    """

    processor: str
    features: str
    triple: str
    versions: tuple[str, ...]

    def has(self, *features: str) -> bool:
        """Whether the processor has all of these features."""
        return {f"+{it}" for it in features} <= set(self.features.split(","))


def llvm_host() -> Host:
    """The host, from the cache on disk if it is there, else from LLVM."""
    return _host(default_cache())


def is_host_kept() -> bool:
    """Whether the cache on disk has the host, so that `llvm_host` needs no LLVM."""
    files = default_cache()
    name = None if files is None else _name()
    return files is not None and name is not None and files.has(name)


@cache
def _host(files: DiskCache | None) -> Host:
    name = _name() if files is not None else None
    if files is None or name is None:
        return _asked()
    data = files.get(name)
    if data is not None:
        return cast("Host", pickle.loads(data))
    found = _asked()
    files.put(name, pickle.dumps(found, pickle.HIGHEST_PROTOCOL))
    return found


@cache
def _asked() -> Host:
    """The host as LLVM describes it."""
    import llvmlite
    import llvmlite.binding as llvm  # pyright: ignore[reportMissingTypeStubs]

    binding = cast("Any", llvm)
    return Host(
        str(binding.get_host_cpu_name()),
        str(binding.get_host_cpu_features().flatten()),
        str(binding.get_default_triple()),
        (llvmlite.__version__, *map(str, binding.llvm_version_info)),
    )


@cache
def _name() -> str | None:
    """The name in the cache; None if something that LLVM's answers depend on is not known."""
    compiler, bindings, processor = compiler_files(), _files_of_bindings(), _processor()
    return digest("host", compiler, bindings, processor) if compiler and bindings and processor else None


def _files_of_bindings() -> str | None:
    found = find_spec("llvmlite")
    folder = os.path.dirname(found.origin) if found is not None and found.origin else ""
    return hash_of_files(folder) if os.path.isdir(folder) else None


def _processor() -> bytes:
    """What the processor says of itself; on Arm, where it says nothing to programs, what Linux says."""
    identity = _pool.processor_identity()
    if identity or os.uname().machine != "aarch64":
        return identity
    try:
        with open(_CPU_INFO, "rb") as file:
            return file.read()
    except OSError:
        return b""
