"""A program for the GPU device: several dispatches on buffers that stay on the device, and the control between them.

Nothing here is specific to Hercules IR: kernels are WGSL texts, and each dispatch says which buffer is bound where. All
buffers and kernels are named by their index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, assert_never

import numpy as np

from .model import BindingPoint, BufferData, BufferKind


@dataclass(frozen=True)
class ProgramKernel:
    """An entry point of a WGSL module."""

    wgsl: str
    entry: str


@dataclass(frozen=True)
class ProgramBuffer:
    """A buffer of `size` bytes, which starts as `data`, or as zeros. It is sent back in the end if `is_output`."""

    size: int
    data: BufferData | None = None
    is_output: bool = False

    def raw(self) -> bytes | bytearray | memoryview:
        """The bytes at the start; none for zeros."""
        if self.data is None:
            return b""
        if isinstance(self.data, np.ndarray):
            return np.ascontiguousarray(self.data).reshape(-1).view(np.uint8).data
        return self.data


@dataclass(frozen=True)
class BoundBuffer:
    """The buffer at `@group(group) @binding(binding)` in a dispatch."""

    group: int
    binding: int
    kind: BufferKind
    buffer: int

    @property
    def point(self) -> BindingPoint:
        """`(group, binding)`."""
        return self.group, self.binding


@dataclass(frozen=True)
class DispatchStep:
    """Runs so many workgroups of a kernel; none if one of the numbers is 0."""

    kernel: int
    bindings: tuple[BoundBuffer, ...]
    workgroups: tuple[int, int, int]


@dataclass(frozen=True)
class RepeatStep:
    """Runs the steps `count` times. The first u32 of the buffer `counter` is 0, 1, … before each time."""

    count: int
    counter: int
    steps: tuple[ProgramStep, ...]


@dataclass(frozen=True)
class LoopStep:
    """Runs `steps`; ends if the first u32 of the buffer `flag` is 0, else runs `then` and starts over."""

    steps: tuple[ProgramStep, ...]
    flag: int
    then: tuple[ProgramStep, ...] = ()


@dataclass(frozen=True)
class BranchStep:
    """Runs `if_false` if the first u32 of the buffer `flag` is 0, else `if_true`."""

    flag: int
    if_false: tuple[ProgramStep, ...]
    if_true: tuple[ProgramStep, ...]


@dataclass(frozen=True)
class CopyStep:
    """Copies a buffer to another of the same size."""

    source: int
    target: int


@dataclass(frozen=True)
class ClearStep:
    """Fills a buffer with zeros."""

    buffer: int


ProgramStep: TypeAlias = DispatchStep | RepeatStep | LoopStep | BranchStep | CopyStep | ClearStep


@dataclass(frozen=True)
class GpuProgram:
    """Kernels, buffers, and the steps that run the kernels on the buffers. `name` is for messages."""

    kernels: tuple[ProgramKernel, ...]
    buffers: tuple[ProgramBuffer, ...]
    steps: tuple[ProgramStep, ...]
    name: str = "program"

    @property
    def outputs(self) -> tuple[int, ...]:
        """The buffers that are sent back."""
        return tuple(index for index, it in enumerate(self.buffers) if it.is_output)


@dataclass(frozen=True)
class ProgramResult:
    """The bytes of each output, by the index of its buffer, and the seconds that compiling and running took.

    `compile_seconds` is 0 when all pipelines were in the child's cache. `run_seconds` is by the child's clock, from the
    first step to the end of the last one.
    """

    outputs: Mapping[int, bytearray]
    compile_seconds: float
    run_seconds: float


def dispatches(steps: Iterable[ProgramStep]) -> Iterator[DispatchStep]:
    """All dispatches in these steps, also those inside other steps."""
    for step in steps:
        match step:
            case DispatchStep():
                yield step
            case RepeatStep(steps=inner):
                yield from dispatches(inner)
            case LoopStep(steps=first, then=second) | BranchStep(if_false=first, if_true=second):
                yield from dispatches(first)
                yield from dispatches(second)
            case CopyStep() | ClearStep():
                pass
            case _:
                assert_never(step)
