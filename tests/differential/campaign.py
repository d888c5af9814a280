"""Checking one random kernel on several devices, and on each tier of the CPU."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
from tests.machines import machine

from tinct.backend.cpu import CompiledKernel, CpuOptions, compile_entry
from tinct.backend.cpu.emit import Tier
from tinct.base.records import replace
from tinct.buffers import pack_buffers, unpack_buffers
from tinct.ir.source import Source
from tinct.kernel import Kernel
from tinct.shader import Shader

from .generate import Generator

TIERS: tuple[Tier, ...] = get_args(Tier)
HERE = ("interp", "hercules", *TIERS)
"""What needs no GPU."""
Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Problem:
    """A kernel on which devices differ, or fail."""

    seed: int
    message: str
    wgsl: str


def check_seed(seed: int, devices: Sequence[str]) -> Problem | None:
    """The first difference between the devices on the kernel of a seed, on a machine of that seed."""
    generator = Generator(seed)
    wgsl = generator.kernel()
    with machine(seed) as here:
        try:
            message = difference(wgsl, generator.buffers(), generator.workgroups, devices)
        except Exception:  # a campaign goes on whatever a stage raises
            message = traceback.format_exc(limit=-4)
    return None if message is None else Problem(seed, f"{here}: {message}", wgsl)


def difference(wgsl: str, buffers: Arrays, workgroups: int, devices: Sequence[str]) -> str | None:
    """Where the first device's answer and another's part, if they do."""
    kernel = Shader(Source.from_text(wgsl)).kernel()
    first, *others = devices
    ((_, expected),) = run_on(kernel, buffers, (workgroups, 1, 1), first)
    for device in others:
        for way, actual in run_on(kernel, buffers, (workgroups, 1, 1), device):
            for name, array in expected.items():
                bad = np.flatnonzero(array != actual[name])
                if bad.size:
                    at = int(bad[0])
                    return f"{name}[{at}] is {array.flat[at]} on {first}, {actual[name].flat[at]} on {way}"
    return None


def run_on(
    kernel: Kernel, buffers: Mapping[str, Any], workgroups: tuple[int, int, int], device: str
) -> Iterator[tuple[str, Arrays]]:
    """The outputs of a kernel on a device, or on one tier of the CPU: of each way in which it may run there."""
    if device not in TIERS:
        yield device, kernel.run(buffers, workgroups=workgroups, device=device)
        return
    tier: Tier = next(it for it in TIERS if it == device)
    code = compile_entry(kernel.shader.compilation(kernel.info.name, {}).hercules, CpuOptions(tier))
    yield device, run_code(kernel, code, buffers, workgroups)
    interface = code.function.interface
    if interface.is_quicker_alone:
        function = code.function.recipe.function(replace(interface, is_quicker_alone=False), code.function.code)
        yield f"{device} that is shared", run_code(kernel, replace(code, function=function), buffers, workgroups)


def run_code(
    kernel: Kernel, code: CompiledKernel, buffers: Mapping[str, Any], workgroups: tuple[int, int, int]
) -> Arrays:
    """The outputs of machine code."""
    packed = pack_buffers(kernel.bindings, buffers)
    code.run([packed[it.point] for it in code.slots], workgroups)
    return unpack_buffers(kernel.bindings, packed, buffers)
