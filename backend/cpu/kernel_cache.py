"""Compiled kernels in the cache on disk, looked up by what they were compiled from, before any stage runs.

The name of a kernel is a hash of its source text, the entry point, the values of overrides, the options, the machine
with what its operations cost, and the files of this compiler. The cache holds what is needed to run the kernel; the
machine code is a separate file (see `jit`), which equal kernels share.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import astuple
from typing import TYPE_CHECKING, cast

from ...base.records import dataclass
from . import jit
from .device import CompiledKernel, Slot, recipe_for
from .disk_cache import default_cache
from .emitted import Interface
from .kernel_identity import KernelIdentity, note_compiled
from .machine import costs_so_far
from .options import CpuOptions
from .threads import available_processors

if TYPE_CHECKING:
    from ...ir.hercules.entry import EntryPoint


@dataclass(frozen=True, slots=True)
class _Kept:
    """The contents of a file: the name of the machine code in the cache, and how it is run."""

    code: str
    slots: tuple[Slot, ...]
    interface: Interface


def _name(identity: KernelIdentity, options: CpuOptions) -> str | None:
    """The name of a kernel's machine code in the cache; None without a cache, or if the compiler's files changed."""
    costs = repr((costs_so_far().access, available_processors())) if options.tier == "gang" else ""
    return identity.name_in_cache("kernel", jit.identity(), repr(astuple(options)), costs)


def restore(
    identity: KernelIdentity, options: CpuOptions, entry_point: Callable[[], EntryPoint]
) -> CompiledKernel | None:
    """The machine code of a kernel, if it is in the cache. `entry_point` is called if the kernel is compiled again."""
    name, files = _name(identity, options), default_cache()
    data = None if files is None or name is None else files.get(name)
    if data is None:
        return None
    kept = cast("_Kept", pickle.loads(data))
    code = jit.restore(kept.code)
    if code is None:
        return None
    return CompiledKernel(recipe_for(entry_point, options).function(kept.interface, code), kept.slots)


def keep(identity: KernelIdentity, options: CpuOptions, kernel: CompiledKernel) -> None:
    """Store the machine code of a kernel in the cache."""
    name, files = _name(identity, options), default_cache()
    if files is None or name is None:
        return
    kept = _Kept(kernel.function.code.name, kernel.slots, kernel.function.interface)
    files.put(name, pickle.dumps(kept, pickle.HIGHEST_PROTOCOL))
    note_compiled(identity)
