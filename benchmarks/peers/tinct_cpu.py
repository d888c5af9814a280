"""Ours: the CPU device."""

from __future__ import annotations

import os
import time
from contextlib import AbstractContextManager, nullcontext
from functools import cache

import tinct
from tinct.backend.cpu import CpuOptions
from tinct.backend.cpu.jit import host
from tinct.backend.cpu.machine import machine_costs
from tinct.backend.cpu.target import compiling_for, current_target, target_name
from tinct.base.errors import InputError
from tinct.ir.diagnostics import ShaderError

from ..problem import Problem
from .base import Prepared, Unsupported, timed


class TinctCpu:
    """`BoundKernel.run` on aligned buffers; compiling starts from the WGSL text, with nothing kept from before."""

    name = "tinct"
    contract = False

    def available(self) -> str | None:
        return None

    def target(self) -> AbstractContextManager[None]:
        """In which code is made."""
        return nullcontext()

    def version(self) -> str:
        with self.target():
            llvm, processor, _ = host()
        return f"{tinct.__version__}, LLVM {llvm} for {processor}, {len(os.sched_getaffinity(0))} threads"

    def prepare(self, problem: Problem) -> Prepared:
        os.environ["TINCT_CACHE"] = "off"
        os.environ.setdefault("TINCT_CPU_COSTS", "measured")  # which a machine without a cache does not do unasked
        with self.target():
            return self._prepared(problem)

    def _prepared(self, problem: Problem) -> Prepared:
        _load_compiler(target_name())
        start = time.perf_counter()
        shader = tinct.load(problem.case.kernel_path)
        try:
            compilation = shader.compilation(problem.kernel.info.name, problem.case.constants)
            kernel = compilation.machine_code.code(CpuOptions(contract=True)) if self.contract else compilation.cpu
        except ShaderError as error:
            raise Unsupported(error.diagnostics[0].message) from error
        compile_seconds = time.perf_counter() - start
        by_point = {info.point: problem.buffers[info.name] for info in problem.bindings}
        buffers = [by_point[slot.point] for slot in kernel.slots]
        return Prepared(timed(kernel.bind(buffers, problem.workgroups).run), compile_seconds)


class TinctContracted(TinctCpu):
    """The same with products and sums fused, as the C compiler and ISPC fuse them without being asked."""

    name = "tinct, contracted"
    contract = True


class TinctAvx2(TinctCpu):
    """The code for processors without AVX-512, on this machine."""

    name = "tinct, x86-64-v3"

    def available(self) -> str | None:
        try:
            with self.target():
                current_target()
        except InputError as error:
            return str(error)
        return None

    def target(self) -> AbstractContextManager[None]:
        return compiling_for("x86-64-v3")


@cache
def _load_compiler(target: str) -> None:
    """Loads Python modules, and LLVM for the current target, and measures the machine, which is no part of compiling a
    kernel.
    """
    shader = tinct.load("@compute @workgroup_size(1) fn main() {}")
    _ = shader.compilation("main", {}).cpu
    machine_costs()
