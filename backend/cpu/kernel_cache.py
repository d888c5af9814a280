"""Compiled kernels in the cache on disk, looked up by what they were compiled from, before any stage runs.

The name of a kernel is a hash of its source text, the entry point, the values of overrides, the options, the machine
with what its operations cost, and the files of this compiler. The cache holds what is needed to run the kernel; the
machine code is a separate file (see `jit`), which equal kernels share.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import astuple
from typing import TYPE_CHECKING, cast

from ...base.records import dataclass
from ...ir.handle_facts import NO_FACTS, HandleFacts
from . import jit
from .compiler_files import compiler_files
from .device import CompiledKernel, Slot, recipe_for
from .disk_cache import default_cache, digest
from .emitted import Interface
from .machine import costs_so_far
from .options import CpuOptions

if TYPE_CHECKING:
    from ...ir.hercules.entry import EntryPoint


@dataclass(frozen=True, slots=True)
class _Kept:
    """The contents of a file: the name of the machine code in the cache, and how it is run."""

    code: str
    slots: tuple[Slot, ...]
    interface: Interface


@dataclass(frozen=True, slots=True)
class KernelIdentity:
    """What a kernel is compiled from: a text in a language, the entry point, the values of its overrides, and the facts
    about textures and samplers that its code relies on.
    """

    language: str
    text: bytes
    entry: str
    constants: Mapping[str, float]
    facts: HandleFacts = NO_FACTS

    def name(self, options: CpuOptions) -> str | None:
        """The name of its machine code in the cache; None without a cache, or if the compiler's files changed."""
        compiler = compiler_files()
        if compiler is None or default_cache() is None:
            return None
        values = [[name, type(value).__name__, repr(value)] for name, value in sorted(self.constants.items())]
        settings = repr((astuple(options), values, self.facts))
        costs = repr(costs_so_far().access) if options.tier == "gang" else ""
        return digest("kernel", jit.identity(), compiler, settings, costs, self.language, self.text, self.entry)


def is_kept(identity: KernelIdentity, options: CpuOptions) -> bool:
    """Whether the cache on disk has a file for the machine code of a kernel."""
    name, files = identity.name(options), default_cache()
    return files is not None and name is not None and files.has(name)


def restore(
    identity: KernelIdentity, options: CpuOptions, entry_point: Callable[[], EntryPoint]
) -> CompiledKernel | None:
    """The machine code of a kernel, if it is in the cache. `entry_point` is called if the kernel is compiled again."""
    name, files = identity.name(options), default_cache()
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
    name, files = identity.name(options), default_cache()
    if files is None or name is None:
        return
    kept = _Kept(kernel.function.code.name, kernel.slots, kernel.function.interface)
    files.put(name, pickle.dumps(kept, pickle.HIGHEST_PROTOCOL))
