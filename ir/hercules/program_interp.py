"""Runs programs in the interpreter: what a program must do on any device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from ...base.deadline import NEVER, Deadline
from . import dynamic, storage
from .interp import InterpreterError, ThreadOrder, forward, run_in_place
from .nodes import Array, Bool, Control, Float, Fork, Integer, Product, Summation, Type
from .program import Branch, Clear, Copy, Dispatch, Loop, Program, Repeat, Step
from .storage import Value, Variant
from .types import U32, is_scalar


def run_program(
    program: Program,
    arguments: Sequence[object],
    order: ThreadOrder = forward,
    *,
    deadline: Deadline = NEVER,
) -> Value:
    """What the program's function returns for these arguments (see `storage.from_python`), which stay as they are.

    `order` is that of the threads of grids, in kernels with no other forks: those may have to run in order. Raises
    InterpreterError for arguments that do not fit, DeviceError past the deadline.
    """
    run = _Run(program, start_values(program, arguments), order, deadline)
    run.steps(program.steps)
    return result_of(program, run.buffers)


def start_values(program: Program, arguments: Sequence[object]) -> list[Value]:
    """The contents of all buffers before the first step. Raises InterpreterError for arguments that do not fit."""
    if len(arguments) != len(program.parameter_types):
        raise InterpreterError(f"{program.name} takes {len(program.parameter_types)} arguments")
    values = [storage.from_python(it) for it in arguments]
    for number, (type, value) in enumerate(zip(program.parameter_types, values, strict=True)):
        if (why := storage.mismatch(type, value, ())) is not None:
            raise InterpreterError(f"argument {number} {why}")
    starts: list[Value] = []
    for buffer in program.buffers:
        if buffer.parameter is None:
            starts.append(storage.zero(buffer.type, program.constants))
        else:
            type = program.parameter_types[buffer.parameter]
            value = without_sums(type, values[buffer.parameter])
            starts.append([value] if is_scalar(type) else value)
    return starts


def result_of(program: Program, buffers: Sequence[Value]) -> Value:
    """What the function returns, given the contents of all buffers after the last step."""
    returned = program.return_type
    types = returned.fields if program.is_product and isinstance(returned, Product) else (returned,)
    parts: list[Value] = []
    for type, index in zip(types, program.results, strict=True):
        held = buffers[index]
        if is_scalar(type):
            assert isinstance(held, list)
            (held,) = held
        parts.append(with_sums(type, held))
    return parts if program.is_product else parts[0]


def without_sums(type: Type, value: Value) -> Value:
    """The value with products of a tag and all variants in place of sums, as `lower_sums` has them."""
    match type, value:
        case Summation(variants), Variant(number, inside):
            parts = [storage.zero(lowered, ()) for lowered in map(_lowered, variants)]
            parts[number] = without_sums(variants[number], inside)
            return [number, *parts]
        case Array(element=element), list():
            return [without_sums(element, it) for it in value]
        case Product(fields), list():
            return [without_sums(part, it) for part, it in zip(fields, value, strict=True)]
        case _:
            return value


def with_sums(type: Type, value: Value) -> Value:
    """The inverse of `without_sums`."""
    match type, value:
        case Summation(variants), [int() as number, *parts]:
            return Variant(number, with_sums(variants[number], parts[number]))
        case Array(element=element), list():
            return [with_sums(element, it) for it in value]
        case Product(fields), list():
            return [with_sums(part, it) for part, it in zip(fields, value, strict=True)]
        case _:
            return value


def _lowered(type: Type) -> Type:
    """The type with products in place of sums."""
    match type:
        case Summation(variants):
            return Product((U32, *map(_lowered, variants)))
        case Array(element, extent):
            return Array(_lowered(element), extent)
        case Product(fields):
            return Product(tuple(map(_lowered, fields)))
        case Bool() | Integer() | Float() | Control():
            return type
        case _:
            assert_never(type)


@dataclass(slots=True)
class _Run:
    program: Program
    buffers: list[Value]
    order: ThreadOrder
    deadline: Deadline

    def steps(self, steps: Sequence[Step]) -> None:
        for step in steps:
            self._step(step)

    def _step(self, step: Step) -> None:
        match step:
            case Dispatch():
                self._dispatch(step)
            case Repeat(count, counter, steps):
                for number in range(dynamic.evaluate(count, self.program.constants)):
                    self.buffers[counter] = [number]
                    self.steps(steps)
            case Loop(steps, flag, then):
                self.steps(steps)
                while self._is_set(flag):
                    self.steps(then)
                    self.steps(steps)
            case Branch(flag, if_false, if_true):
                self.steps(if_true if self._is_set(flag) else if_false)
            case Copy(source, target):
                self.buffers[target] = storage.copy(self.buffers[source])
            case Clear(buffer):
                self.buffers[buffer] = storage.zero(self.program.buffers[buffer].type, self.program.constants)
            case _:
                assert_never(step)

    def _dispatch(self, step: Dispatch) -> None:
        arguments = [self.buffers[it] for it in step.buffers]
        constants = self.program.constants
        forks = sum(isinstance(it, Fork) for it in step.kernel.function.nodes)
        order = self.order if forks == step.kernel.depth else forward
        after = run_in_place(step.kernel.function, constants, arguments, order, self.deadline)
        assert isinstance(after, list)
        for number, value in zip(step.kernel.written, after, strict=True):
            self.buffers[step.buffers[number]] = value

    def _is_set(self, flag: int) -> bool:
        held = self.buffers[flag]
        return isinstance(held, list) and held[0] != 0
