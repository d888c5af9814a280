"""Programs as messages: JSON objects for steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, TypedDict, assert_never

from .model import BufferKind
from .program_model import (
    BranchStep,
    ClearStep,
    CopyStep,
    DispatchStep,
    GpuProgram,
    LoopStep,
    ProgramStep,
    RepeatStep,
)


class KernelHeader(TypedDict):
    """An entry point of a module."""

    wgsl: str
    entry: str


class BufferHeader(TypedDict):
    """A buffer; its bytes are the next blob if it `has_data`, else zeros."""

    size: int
    has_data: bool
    is_output: bool


class BoundHeader(TypedDict):
    """A buffer at a binding."""

    group: int
    binding: int
    kind: BufferKind
    buffer: int


class DispatchHeader(TypedDict):
    """A dispatch."""

    step: Literal["dispatch"]
    kernel: int
    bindings: list[BoundHeader]
    workgroups: tuple[int, int, int]


class RepeatHeader(TypedDict):
    """Steps that run `count` times."""

    step: Literal["repeat"]
    count: int
    counter: int
    steps: list[StepHeader]


class LoopHeader(TypedDict):
    """A loop that a flag ends."""

    step: Literal["loop"]
    steps: list[StepHeader]
    flag: int
    then: list[StepHeader]


class BranchHeader(TypedDict):
    """A branch by a flag."""

    step: Literal["branch"]
    flag: int
    if_false: list[StepHeader]
    if_true: list[StepHeader]


class CopyHeader(TypedDict):
    """A copy of a buffer."""

    step: Literal["copy"]
    source: int
    target: int


class ClearHeader(TypedDict):
    """Zeros for a buffer."""

    step: Literal["clear"]
    buffer: int


StepHeader: TypeAlias = "DispatchHeader | RepeatHeader | LoopHeader | BranchHeader | CopyHeader | ClearHeader"


class ProgramRequest(TypedDict):
    """Asks for a run of a program; answered by a `ProgramReply`, whose blobs are the outputs, in order."""

    operation: Literal["program"]
    seconds: float
    name: str
    kernels: list[KernelHeader]
    buffers: list[BufferHeader]
    steps: list[StepHeader]


class ProgramReply(TypedDict):
    """The program has run."""

    status: Literal["program"]
    compile_seconds: float
    run_seconds: float


def program_request(program: GpuProgram, seconds: float) -> ProgramRequest:
    """The message that asks for a run of a program."""
    return {
        "operation": "program",
        "seconds": seconds,
        "name": program.name,
        "kernels": [{"wgsl": it.wgsl, "entry": it.entry} for it in program.kernels],
        "buffers": [
            {"size": it.size, "has_data": it.data is not None, "is_output": it.is_output} for it in program.buffers
        ],
        "steps": _steps(program.steps),
    }


def _steps(steps: Sequence[ProgramStep]) -> list[StepHeader]:
    return [_step(it) for it in steps]


def _step(step: ProgramStep) -> StepHeader:
    match step:
        case DispatchStep(kernel, bindings, workgroups):
            bound: list[BoundHeader] = [
                {"group": it.group, "binding": it.binding, "kind": it.kind, "buffer": it.buffer} for it in bindings
            ]
            return {"step": "dispatch", "kernel": kernel, "bindings": bound, "workgroups": workgroups}
        case RepeatStep(count, counter, steps):
            return {"step": "repeat", "count": count, "counter": counter, "steps": _steps(steps)}
        case LoopStep(steps, flag, then):
            return {"step": "loop", "steps": _steps(steps), "flag": flag, "then": _steps(then)}
        case BranchStep(flag, if_false, if_true):
            return {"step": "branch", "flag": flag, "if_false": _steps(if_false), "if_true": _steps(if_true)}
        case CopyStep(source, target):
            return {"step": "copy", "source": source, "target": target}
        case ClearStep(buffer):
            return {"step": "clear", "buffer": buffer}
        case _:
            assert_never(step)
