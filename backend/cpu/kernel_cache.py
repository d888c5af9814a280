"""Compiled kernels in the cache on disk, looked up by what they were compiled from, before any stage runs.

The name of a kernel is a hash of its source text, the entry point, the values of overrides, the options, the machine
with what its operations cost, and the files of this compiler. The cache holds what is needed to run the kernel; the
machine code is a separate file (see `jit`), which equal kernels share.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple
from functools import cache
from pathlib import Path
from typing import Any, assert_never, cast

from ...base.records import dataclass
from ...ir.handle_facts import NO_FACTS, HandleFacts
from ...ir.hercules import dynamic
from ...ir.hercules import nodes as h
from ...ir.hercules.entry import EntryPoint
from ...ir.types import BindingPoint
from . import jit
from .device import CompiledKernel, Slot, recipe_for
from .disk_cache import default_cache, digest
from .emitted import Interface, Private
from .machine import costs_so_far
from .options import CpuOptions

_LOADED = time.time_ns()
_Constant = int | list[Any]
"""A dynamic constant in JSON: a number, `["parameter", index]`, or `[operation, lhs, rhs]`."""


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
        settings = json.dumps([*astuple(options), values, repr(self.facts)])
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
    kept = json.loads(data)
    code = jit.restore(kept["code"])
    if code is None:
        return None
    slots = tuple(_slot(it) for it in kept["slots"])
    return CompiledKernel(recipe_for(entry_point, options).function(_interface(kept["interface"]), code), slots)


def keep(identity: KernelIdentity, options: CpuOptions, kernel: CompiledKernel) -> None:
    """Store the machine code of a kernel in the cache."""
    name, files = identity.name(options), default_cache()
    if files is None or name is None:
        return
    interface = kernel.function.interface
    kept = {
        "code": kernel.function.code.name,
        "slots": [
            [it.name, it.point.group, it.point.binding, it.parameter, it.is_written, it.fixed, it.stride, it.length]
            for it in kernel.slots
        ],
        "interface": {
            "parallel": [_written(it) for it in interface.parallel],
            "scratch_size": _written(interface.scratch_size),
            "privates": [[it.parameter, it.kind, _written(it.size)] for it in interface.privates],
            "footprint": _written(interface.footprint),
            "tier": interface.tier,
            "tier_reason": interface.tier_reason,
        },
    }
    files.put(name, json.dumps(kept).encode())


@cache
def compiler_files() -> str | None:
    """A hash of this compiler's files; None if one changed after this process may have loaded it."""
    found = sorted(_stamps(Path(__file__).parents[2], ""))
    return None if any(changed > _LOADED for _, changed, _ in found) else digest(*map(str, found))


def _stamps(folder: str | Path, within: str) -> Iterator[tuple[str, int, int]]:
    """For each file of code below a folder: its path there, when it changed in nanoseconds, and its size."""
    with os.scandir(folder) as entries:
        for entry in entries:
            path = f"{within}/{entry.name}"
            if entry.name.endswith((".py", ".so", ".pyd")):
                status = entry.stat()
                yield path, status.st_mtime_ns, status.st_size
            elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                yield from _stamps(entry.path, path)


def _slot(kept: Any) -> Slot:
    name, group, binding, *rest = kept
    return Slot(name, BindingPoint(group, binding), *rest)


def _interface(kept: Any) -> Interface:
    return Interface(
        tuple(_read(it) for it in kept["parallel"]),
        _read(kept["scratch_size"]),
        tuple(Private(parameter, kind, _read(size)) for parameter, kind, size in kept["privates"]),
        _read(kept["footprint"]),
        kept["tier"],
        kept["tier_reason"],
    )


def _written(constant: h.DynamicConstant) -> _Constant:
    match constant:
        case h.DynamicLiteral(value=value):
            return value
        case h.DynamicParameter(index=index):
            return ["parameter", index]
        case h.DynamicBinary(op=op, lhs=lhs, rhs=rhs):
            return [op.value, _written(lhs), _written(rhs)]
        case _:
            assert_never(constant)


def _read(kept: _Constant) -> h.DynamicConstant:
    if isinstance(kept, int):
        return dynamic.literal(kept)
    kind, *operands = kept
    if kind == "parameter":
        return h.DynamicParameter(operands[0])
    lhs, rhs = (_read(cast("_Constant", it)) for it in operands)
    return h.DynamicBinary(h.DynamicOp(kind), lhs, rhs)
