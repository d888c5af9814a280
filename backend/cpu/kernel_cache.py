"""Compiled kernels in the cache on disk, found by what they were compiled from, before any stage is made.

The name of a kernel is a hash of the text that it comes from, the entry point, the pipeline's constants, the machine,
and the files of this compiler. Kept is what running it takes; its machine code is a file of its own (see `jit`), which
equal kernels share.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

from ...ir.hercules import dynamic
from ...ir.hercules import nodes as h
from ...ir.hercules.entry import EntryPoint
from ...ir.types import BindingPoint
from . import jit
from .device import CompiledKernel, Slot, restored_kernel
from .disk_cache import default_cache, digest
from .emit import Interface, Tier
from .privatise import Private

_LOADED = time.time_ns()
_Constant = int | list[Any]
"""A dynamic constant in JSON: a number, `["parameter", index]`, or `[operation, lhs, rhs]`."""


def kernel_name(
    language: str, source: bytes, entry: str, constants: Mapping[str, float], tier: Tier, *, contract: bool
) -> str | None:
    """The name of a kernel, None where it cannot be relied on."""
    compiler = compiler_files()
    if compiler is None or default_cache() is None:
        return None
    values = [[name, type(value).__name__, repr(value)] for name, value in sorted(constants.items())]
    settings = json.dumps([tier, contract, values])
    return digest("kernel", jit.identity(), compiler, settings, language, source, entry)


def restore(name: str, entry_point: Callable[[], EntryPoint], *, contract: bool) -> CompiledKernel | None:
    """The kernel of that name, if it is kept."""
    files = default_cache()
    data = None if files is None else files.get(name)
    if data is None:
        return None
    kept = json.loads(data)
    code = jit.restore(kept["code"])
    if code is None:
        return None
    slots = tuple(_slot(it) for it in kept["slots"])
    return restored_kernel(_interface(kept["interface"]), code, slots, entry_point, contract=contract)


def keep(name: str, kernel: CompiledKernel) -> None:
    """Keep a kernel for later."""
    files = default_cache()
    if files is None:
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
    """Tells this compiler from any other, by its files; None if one changed after this process may have loaded it."""
    root = Path(__file__).parents[2]
    found: list[str] = []
    for folder, folders, names in os.walk(root, followlinks=True):
        folders[:] = sorted(it for it in folders if it != "__pycache__")
        for name in sorted(names):
            if name.endswith((".py", ".so", ".pyd")):
                status = os.stat(os.path.join(folder, name))
                if status.st_mtime_ns > _LOADED:
                    return None
                found.append(f"{os.path.relpath(folder, root)}/{name} {status.st_mtime_ns} {status.st_size}")
    return digest(*found)


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


def _read(kept: _Constant) -> h.DynamicConstant:
    if isinstance(kept, int):
        return dynamic.literal(kept)
    kind, *operands = kept
    if kind == "parameter":
        return h.DynamicParameter(operands[0])
    lhs, rhs = (_read(cast("_Constant", it)) for it in operands)
    return h.DynamicBinary(h.DynamicOp(kind), lhs, rhs)
