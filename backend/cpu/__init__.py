"""The CPU device: Hercules IR to LLVM IR to machine code, run by threads over numpy buffers in place.

    kernel = compile_entry(entry_point)          # transforms.to_hercules makes the entry point
    kernel.run([bytes_of_a, bytes_of_b], workgroups=(64, 1, 1))

How a function is compiled: `ir.hercules.placement` gives every node a place, `storage` gives every collection memory,
`emit` writes control and `nodes` data as LLVM IR (operators in `data`, builtin functions in `intrinsics` and `math`,
addresses and copies in `memory`, all as text through `llvm`), `jit` has LLVM optimise it and loads it, `function` runs
it on addresses, `device` binds buffers, `tiered` chooses the machine code of a dispatch, and the workers of `threads`,
which are written in C (`pool`), share the workgroups. `privatise` says which bindings workers may have copies of, which
are merged at the end.

Machine code is kept on disk as an image (`code_image`), which `images` makes of LLVM's object file (`elf`,
`relocations`) and C copies to its place (`pool/code.c`); what LLVM says of the machine is kept, too (`host`). A process
that only runs kept kernels loads no LLVM.

`gangs` writes a fork over literal factors for several of its threads at once, each a lane of a vector; other forks
run one thread after another (`CompiledKernel.tier` and `tier_reason` say which and why).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .device import BoundKernel, CompiledKernel, compile_entry
    from .function import CompiledFunction, compile_function
    from .options import CpuOptions, Tier, default_options

__all__ = [
    "BoundKernel",
    "CompiledFunction",
    "CompiledKernel",
    "CpuOptions",
    "Tier",
    "compile_entry",
    "compile_function",
    "default_options",
]

_HOMES = {
    **dict.fromkeys(("BoundKernel", "CompiledKernel", "compile_entry"), "device"),
    **dict.fromkeys(("CompiledFunction", "compile_function"), "function"),
    **dict.fromkeys(("CpuOptions", "Tier", "default_options"), "options"),
}


def __getattr__(name: str) -> object:
    """The names of the package, imported when first wanted: LLVM's process needs none of them."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value: object = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value
