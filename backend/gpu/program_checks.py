"""Checks of programs before anything is sent to the child process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, assert_never

from .model import BufferKind, GpuError
from .program_model import (
    BranchStep,
    ClearStep,
    CopyStep,
    DispatchStep,
    GpuProgram,
    LoopStep,
    ProgramBuffer,
    ProgramStep,
    RepeatStep,
    dispatches,
)

_SIZE_LIMIT: Final[Mapping[BufferKind, str]] = {
    "uniform": "max-uniform-buffer-binding-size",
    "storage": "max-storage-buffer-binding-size",
    "read-only-storage": "max-storage-buffer-binding-size",
}


def check_program(program: GpuProgram) -> None:
    """Raise ValueError for what no adapter could run, which is the caller's mistake."""
    count = len(program.buffers)
    for index, buffer in enumerate(program.buffers):
        _check_buffer(index, buffer)
    for index in _named(program.steps):
        if not 0 <= index < count:
            raise ValueError(f"there is no buffer {index} in a program of {count}")
    for step in dispatches(program.steps):
        _check_dispatch(step, len(program.kernels))


def _check_buffer(index: int, buffer: ProgramBuffer) -> None:
    size = len(buffer.raw())
    if buffer.size < 0 or (buffer.data is not None and size != buffer.size):
        raise ValueError(f"buffer {index} has {buffer.size} bytes, and its data {size}")


def _check_dispatch(step: DispatchStep, kernels: int) -> None:
    if not 0 <= step.kernel < kernels:
        raise ValueError(f"there is no kernel {step.kernel} in a program of {kernels}")
    if any(it < 0 for it in step.workgroups):
        raise ValueError(f"a dispatch cannot be negative: {step.workgroups}")
    points = [it.point for it in step.bindings]
    if len(set(points)) < len(points):
        raise ValueError(f"a dispatch of kernel {step.kernel} binds two buffers at one place")
    for bound in step.bindings:
        if bound.kind == "storage" and sum(it.buffer == bound.buffer for it in step.bindings) > 1:
            raise ValueError(f"a dispatch of kernel {step.kernel} binds buffer {bound.buffer} twice and may write it")


def _named(steps: Sequence[ProgramStep]) -> Iterator[int]:
    """The buffers that steps name."""
    for step in steps:
        match step:
            case DispatchStep(bindings=bindings):
                yield from (it.buffer for it in bindings)
            case RepeatStep(counter=buffer, steps=inner):
                yield buffer
                yield from _named(inner)
            case LoopStep(steps=first, flag=buffer, then=second):
                yield buffer
                yield from _named((*first, *second))
            case BranchStep(flag=buffer, if_false=first, if_true=second):
                yield buffer
                yield from _named((*first, *second))
            case CopyStep(source, target):
                yield from (source, target)
            case ClearStep(buffer):
                yield buffer
            case _:
                assert_never(step)


def check_program_limits(program: GpuProgram, limits: Mapping[str, int]) -> None:
    """Raise GpuError of kind "limit" for what the adapter does not allow."""
    largest = limits["max-buffer-size"]
    for index, buffer in enumerate(program.buffers):
        if buffer.size > largest:
            raise GpuError("limit", f"buffer {index} has {buffer.size} bytes; this adapter allows {largest}")
    for step in dispatches(program.steps):
        _check_dispatch_limits(step, program, limits)


def _check_dispatch_limits(step: DispatchStep, program: GpuProgram, limits: Mapping[str, int]) -> None:
    entry = program.kernels[step.kernel].entry
    most = limits["max-compute-workgroups-per-dimension"]
    for axis, count in zip("xyz", step.workgroups, strict=True):
        if count > most:
            raise GpuError("limit", f"{count} workgroups of '{entry}' along {axis}; this adapter allows {most}")
    storages = sum(it.kind != "uniform" for it in step.bindings)
    allowed = limits["max-storage-buffers-per-shader-stage"]
    if storages > allowed:
        raise GpuError("limit", f"'{entry}' uses {storages} storage buffers; this adapter allows {allowed}")
    for bound in step.bindings:
        size, allowed = program.buffers[bound.buffer].size, limits[_SIZE_LIMIT[bound.kind]]
        if size > allowed:
            place = f"the {bound.kind} buffer at @group({bound.group}) @binding({bound.binding}) of '{entry}'"
            raise GpuError("limit", f"{place} has {size} bytes; this adapter allows {allowed}")
