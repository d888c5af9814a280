"""Programs of Hercules IR on a GPU: their kernels as WGSL, their buffers as bytes, one request to the GPU process."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, assert_never

import numpy as np

from .base.deadline import compiling_within
from .base.errors import DeviceError, InputError
from .gpu import check_nesting, cut_error, is_cut, options_for
from .ir.hercules import dynamic
from .ir.hercules.inference import infer_types
from .ir.hercules.layout import buffer_size
from .ir.hercules.nodes import (
    Array,
    Bool,
    Control,
    DynamicConstant,
    DynamicLiteral,
    Float,
    Integer,
    Product,
    Summation,
    Type,
)
from .ir.hercules.program import Branch, Buffer, Clear, Copy, Dispatch, GridKernel, Loop, Program, Repeat, Step
from .ir.hercules.types import F16, U32, substitute
from .pipeline import WORKGROUP_SIZE, GpuKernel, GpuOptions, compile_grid

if TYPE_CHECKING:
    from .backend.gpu import AdapterInfo, GpuDevice, GpuProgram, ProgramBuffer, ProgramResult, ProgramStep
    from .transforms.hercules.programs import WorkgroupTrees

_SIZE_LIMITS: Final = ("max-compute-workgroup-size-x", "max-compute-invocations-per-workgroup")
_MOST: Final = 2**32 - 1
"""The greatest dynamic constant: a GPU's indices have 32 bits."""


_LANES_OF_CORE: Final = 8
"""The invocations that a core of a processor runs at once, as the vectors of Mesa's llvmpipe are 256 bits wide."""


def trees_for(adapter: AdapterInfo) -> WorkgroupTrees:
    """How workgroups run long threads on an adapter."""
    from .transforms.hercules.programs import WorkgroupTrees

    size = min(adapter.limits[it] for it in _SIZE_LIMITS)
    memory = adapter.limits["max-compute-workgroup-storage-size"]
    if adapter.is_software:
        cores = os.cpu_count() or 1
        size = min(size, _LANES_OF_CORE)
        return WorkgroupTrees(size, memory, lanes=cores * _LANES_OF_CORE, subgroup=_LANES_OF_CORE)
    return WorkgroupTrees(min(size, WorkgroupTrees.size), memory)


@dataclass(frozen=True, slots=True)
class ProgramOutcome:
    """The bytes of each part of the result, and the seconds that compiling and running took."""

    results: tuple[bytearray, ...]
    compile_seconds: float
    run_seconds: float


@dataclass(slots=True)
class ProgramOnGpu:
    """A program whose kernels are compiled once.

    On a driver that ends loops early (see `backend.gpu.faults`), kernels with long loops are watched. If a loop was
    cut, the program runs again from its arguments, with loops that do several iterations in one.
    """

    program: Program
    effort: int = 0
    """The effort against cut loops that was enough in the last run (see `transforms.pipelines.LOOP_EFFORTS`)."""

    _kernels: dict[tuple[GridKernel, GpuOptions], GpuKernel] = field(
        default_factory=dict[tuple[GridKernel, GpuOptions], GpuKernel]
    )

    def run(
        self,
        arguments: Sequence[bytes | bytearray],
        *,
        adapter: str = "",
        timeout: float | None = None,
        workgroup_size: int = WORKGROUP_SIZE,
    ) -> ProgramOutcome:
        """Run the program. `arguments` are the bytes of the function's parameters, in the natural layout.

        Raises InputError for arguments of other sizes, for dynamic constants and grids from 2^32 on, and for a
        workgroup size that is not 1 to the adapter's limit; ShaderError
        for what has no place in WGSL; DeviceError if the adapter fails, allows less, or would give a wrong answer.
        """
        from .backend.gpu import DEFAULT_SECONDS, shared_device
        from .transforms.pipelines import LOOP_EFFORTS

        device = shared_device(adapter)
        _check_workgroup_size(device, workgroup_size)
        _check_f16(device, self.program)
        seconds = DEFAULT_SECONDS if timeout is None else timeout
        compile_seconds = 0.0
        for effort in range(self.effort, len(LOOP_EFFORTS)):
            options = options_for(device.adapter(), effort=effort, workgroup_size=workgroup_size)
            start = time.perf_counter()
            with compiling_within(timeout):
                kernels = {it: self._compiled(it, options) for it in self.program.kernels}
            compile_seconds += time.perf_counter() - start
            for kernel, compiled in kernels.items():
                check_nesting(device.adapter(), compiled, kernel.function.name)
            made = _Maker(self.program, kernels, arguments, workgroup_size).make()
            result = device.run_program(made, timeout=seconds)
            compile_seconds += result.compile_seconds
            if not _is_cut(result, len(self.program.buffers) + 1):
                self.effort = effort
                results = tuple(result.outputs[it] for it in self.program.results)
                return ProgramOutcome(results, compile_seconds, result.run_seconds)
        raise cut_error(device.adapter(), self.program.name)

    def _compiled(self, kernel: GridKernel, options: GpuOptions) -> GpuKernel:
        key = kernel, options
        if key not in self._kernels:
            self._kernels[key] = compile_grid(kernel, options)
        return self._kernels[key]


def _check_workgroup_size(device: GpuDevice, size: int) -> None:
    limits = device.adapter().limits
    most = min(limits[it] for it in _SIZE_LIMITS)
    if not 1 <= size <= most:
        raise InputError(f"a workgroup size of {size}; {device.adapter().name} allows 1 to {most}")


def _check_f16(device: GpuDevice, program: Program) -> None:
    user = None if "shader-f16" in device.adapter().features else next(_users_of_f16(program), None)
    if user is not None:
        raise DeviceError(f"not supported: f16 on {device.adapter().name}, which lacks shader-f16: {user} has it")


def _users_of_f16(program: Program) -> Iterator[str]:
    """What has a type with f16 in it, for a message: parameters, then nodes of kernels."""
    for buffer in program.buffers:
        if buffer.parameter is not None and _holds_f16(buffer.type):
            yield f"the parameter '{buffer.name}' of '{program.name}'"
    for kernel in program.kernels:
        for node, type in infer_types(kernel.function).items():
            if _holds_f16(type):
                word = node.WORD
                yield (
                    f"the {word} '{node.label}' of '{program.name}'" if node.label else f"a {word} of '{program.name}'"
                )


def _holds_f16(type: Type) -> bool:
    match type:
        case Product(fields=parts) | Summation(variants=parts):
            return any(map(_holds_f16, parts))
        case Array(element=element):
            return _holds_f16(element)
        case Bool() | Integer() | Float() | Control():
            return type == F16
        case _:
            assert_never(type)


def _is_cut(result: ProgramResult, first_watch: int) -> bool:
    """Whether a driver ended a loop early. The outputs from `first_watch` on are watches."""
    return any(is_cut(data) for index, data in result.outputs.items() if index >= first_watch)


@dataclass(slots=True)
class _Maker:
    """Makes the program for the GPU process. Its buffers are those of the program, one of the dynamic constants, then
    one for the watch of each watched kernel.
    """

    program: Program
    kernels: Mapping[GridKernel, GpuKernel]
    arguments: Sequence[bytes | bytearray]
    workgroup_size: int

    def _buffers(self) -> Iterator[ProgramBuffer]:
        from .backend.gpu import ProgramBuffer
        from .transforms.core.watch_loops import WATCH_BEFORE

        for index, buffer in enumerate(self.program.buffers):
            yield self._buffer(index, buffer)
        constants = np.array([*self._constants(), 0], np.uint32)
        yield ProgramBuffer(constants.nbytes, constants)
        for _ in self._watched():
            words = np.array(WATCH_BEFORE, np.uint32)
            yield ProgramBuffer(words.nbytes, words, is_output=True)

    def _steps(self, steps: Sequence[Step]) -> tuple[ProgramStep, ...]:
        return tuple(map(self._step, steps))

    def make(self) -> GpuProgram:
        """The program. Raises InputError."""
        from .backend.gpu import GpuProgram, ProgramKernel

        kernels = tuple(ProgramKernel(it.wgsl, it.entry) for it in self.kernels.values())
        return GpuProgram(kernels, tuple(self._buffers()), self._steps(self.program.steps), self.program.name)

    def _constants(self) -> Sequence[int]:
        for name, value in zip(self.program.dynamic_constants, self.program.constants, strict=True):
            if value > _MOST:
                raise InputError(f"{name} is {value}; on a GPU dynamic constants are at most {_MOST}")
        return self.program.constants

    def _watched(self) -> list[GridKernel]:
        return [it for it, made in self.kernels.items() if made.watch is not None]

    def _buffer(self, index: int, buffer: Buffer) -> ProgramBuffer:
        from .backend.gpu import ProgramBuffer

        size, is_output = self._size(buffer), index in self.program.results
        if buffer.parameter is None:
            return ProgramBuffer(size, is_output=is_output)
        data = self.arguments[buffer.parameter]
        exact = self._size_of(buffer.type)
        if len(data) != exact:
            raise InputError(f"the argument {buffer.name!r} has {len(data)} bytes instead of {exact}")
        return ProgramBuffer(size, bytes(data).ljust(size, b"\0"), is_output=is_output)

    def _size(self, buffer: Buffer) -> int:
        """The bytes of a buffer that a kernel can bind, and that holds what follows a product in the natural layout."""
        return max(self._size_of(_not_empty(self._with_constants(buffer.type))), self._size_of(buffer.type))

    def _size_of(self, type: Type) -> int:
        return dynamic.evaluate(buffer_size(self._with_constants(type)), ())

    def _with_constants(self, type: Type) -> Type:
        return substitute(type, [dynamic.literal(it) for it in self.program.constants])

    def _step(self, step: Step) -> ProgramStep:
        from .backend.gpu import BranchStep, ClearStep, CopyStep, LoopStep, RepeatStep

        match step:
            case Dispatch():
                return self._dispatch(step)
            case Repeat(count, counter, steps):
                return RepeatStep(self._number(count), counter, self._steps(steps))
            case Loop(steps, flag, then):
                return LoopStep(self._steps(steps), flag, self._steps(then))
            case Branch(flag, if_false, if_true):
                return BranchStep(flag, self._steps(if_false), self._steps(if_true))
            case Copy(source, target):
                return CopyStep(source, target)
            case Clear(buffer):
                return ClearStep(buffer)
            case _:
                assert_never(step)

    def _number(self, constant: DynamicConstant) -> int:
        number = dynamic.evaluate(constant, self.program.constants)
        if number > _MOST:
            raise InputError(f"a loop of {number} iterations; on a GPU there are at most {_MOST}")
        return number

    def _dispatch(self, step: Dispatch) -> ProgramStep:
        from .backend.gpu import BoundBuffer, DispatchStep
        from .transforms.from_hercules import workgroups_of

        kernel, made = step.kernel, self.kernels[step.kernel]
        bound = [
            BoundBuffer(0, number, "storage" if number in kernel.changed else "read-only-storage", buffer)
            for number, buffer in enumerate(step.buffers)
        ]
        constants = len(self.program.buffers)
        if made.watch is not None:
            watch = constants + 1 + self._watched().index(kernel)
            bound.append(BoundBuffer(made.watch.group, made.watch.binding, "storage", watch))
        if made.watch is None or made.watch.binding != len(step.buffers):
            bound.append(BoundBuffer(0, len(step.buffers), "uniform", constants))
        size = workgroups_of(kernel, self.program.constants, self.workgroup_size)
        return DispatchStep([*self.kernels].index(kernel), tuple(bound), size)


def _not_empty(type: Type) -> Type:
    """The type with a word for a product without data, and one element in an array without any, as WGSL has neither.

    Such fields of products with others have no members.
    """
    from .transforms.from_hercules.types import is_empty

    match type:
        case Array(element, DynamicLiteral(count)):
            return Array(_not_empty(element), DynamicLiteral(max(count, 1)))
        case Product(fields):
            kept = tuple(_not_empty(it) for it in fields if not is_empty(it))
            return Product(kept or (U32,))
        case _:
            return type
