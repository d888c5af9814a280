"""Runs an operation of Hercules IR on the CPU over arrays of operands."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence

import numpy as np
import pytest
from tests.hercules.builder import FunctionBuilder, position

from tinct.backend.cpu import compile_function
from tinct.backend.cpu.layout import natural_layout
from tinct.backend.cpu.target import current_target
from tinct.base.errors import InputError
from tinct.ir.hercules import nodes as h
from tinct.ir.hercules.types import array

Value = bool | int | float
Operation = Callable[[FunctionBuilder, Sequence[h.Node]], h.Node]
RunOperation = Callable[[Operation, Sequence[h.Type], h.Type, Sequence[Sequence[Value]]], list[Value]]


@pytest.fixture
def cpu_target(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Code is made for the target that `request.param` names, in other processes, too; the test is skipped where that
    does not run.
    """
    name: str = request.param
    monkeypatch.setenv("TINCT_CPU_TARGET", name)
    try:
        current_target()
    except InputError as error:
        pytest.skip(str(error))
    return name


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """Tests that make code for a level of x86-64 are skipped on a processor without it."""
    try:
        return (yield)
    except InputError as error:
        if re.fullmatch(r"TINCT_CPU_TARGET must be one of .*, not 'x86-64-v[234]'", str(error)):
            pytest.skip(str(error))
        raise


def numpy_type(type: h.Type) -> np.dtype:
    match type:
        case h.Bool():
            return np.dtype(np.bool_)
        case h.Integer(bits=bits, signed=signed):
            return np.dtype(f"{'i' if signed else 'u'}{bits // 8}")
        case h.Float(bits=bits):
            return np.dtype(f"f{bits // 8}")
        case _:
            raise TypeError(type)


def run_operation(
    operation: Operation, types: Sequence[h.Type], result_type: h.Type, rows: Sequence[Sequence[Value]]
) -> list[Value]:
    builder = FunctionBuilder("operation")
    count = builder.dynamic_parameter("count")
    inputs = [builder.parameter(f"in{index}", array(type, count)) for index, type in enumerate(types)]
    output = builder.parameter("out", array(result_type, count))
    fork = builder.fork(builder.start, count)
    join = builder.open_join(fork)
    at = position(builder.thread_id(fork))
    result = builder.reduce(join, output)
    value = operation(builder, [builder.read(it, [at]) for it in inputs])
    result.update = builder.write(result, value, [at])
    builder.close_join(join, fork)
    builder.return_(join, result)
    layouts = {index: natural_layout(array(type, count)) for index, type in enumerate([*types, result_type])}
    compiled = compile_function(builder.function, layouts)
    columns = [np.array([row[index] for row in rows], numpy_type(type)) for index, type in enumerate(types)]
    out = np.zeros(len(rows), numpy_type(result_type))
    compiled.bind([it.ctypes.data for it in (*columns, out)], [len(rows)]).run()
    return out.tolist()


@pytest.fixture(scope="session")
def operate() -> RunOperation:
    """`operate(build, operand types, result type, rows of operands)` gives the results of all rows."""
    return run_operation
