"""The CPU device: Hercules IR to LLVM IR to machine code, run by threads over numpy buffers in place.

    kernel = compile_entry(entry_point)          # transforms.to_hercules makes the entry point
    kernel.run([bytes_of_a, bytes_of_b], workgroups=(64, 1, 1))

The way of a function: `ir.hercules.schedule` gives every node a place, `storage` gives every collection memory,
`emit` writes control and `nodes` data as LLVM IR (operators in `data`, builtin functions in `intrinsics` and `math`,
addresses and copies in `memory`, all as text through `llvm`), `jit` has LLVM optimise and load it, `device` binds
buffers, `threads` shares the workgroups out.

Here one lane runs at a time. SIMD gangs are another way of writing a fork: `llvm.Ops` already computes with any
number of lanes, and nothing but `emit` knows how forks run.
"""

from .device import CompiledFunction, CompiledKernel, compile_entry, compile_function

__all__ = ["CompiledFunction", "CompiledKernel", "compile_entry", "compile_function"]
