"""Programs of Hercules IR on the GPU device, against the interpreter."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tinct.backend.gpu import GpuDevice
from tinct.base.errors import InputError
from tinct.compare import Tolerance, compare
from tinct.gpu_programs import ProgramOnGpu
from tinct.ir.hercules import interp
from tinct.ir.hercules.nodes import Function
from tinct.ir.hercules.storage import Value
from tinct.ir.hercules.text import parse
from tinct.transforms.hercules.programs import program_for

from ..hercules.support import GOLDENS, function_of, load, same_value
from ..hercules.support import run_on_gpu as run


@pytest.fixture(autouse=True, scope="module")
def _device() -> None:
    reason = GpuDevice.unavailable_reason()
    if reason is not None:
        pytest.skip(f"no GPU: {reason}")


def golden(name: str) -> Function:
    return parse((GOLDENS / "programs" / f"{name}.hir").read_text(encoding="utf-8")).functions[0]


CASES = (
    ("matmul", [2, 3, 2], [[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]]),
    ("matmul", [2, 0, 2], [[[], []], []]),
    ("floyd_warshall", [3], [[0, 4, 1, 9, 0, 9, 9, 2, 0]]),
    ("heat", [6], [[0.0, 1.0, 4.0, 9.0, 16.0, 25.0], 5]),
    ("heat", [6], [[0.0, 1.0, 4.0, 9.0, 16.0, 25.0], 0]),
    ("histogram_atomic", [6], [[0, 1, 1, 3, 7, 1]]),
    ("histogram_plain", [6], [[0, 1, 1, 3, 7, 1]]),
)


@pytest.mark.parametrize(("name", "constants", "values"), CASES)
def test_agrees_with_the_interpreter(name: str, constants: list[int], values: list[Value]) -> None:
    expected = interp.run(golden(name), constants, values)
    assert same_value(run(program_for(golden(name), constants), values), expected)


def test_quotients_are_as_exact_as_wgsl_demands() -> None:
    """Within 2.5 ULP for such divisors (WGSL, "Floating Point Accuracy"); their total is exact."""
    constants, values = [5], [[1.0, 2.0, 3.0, 4.0, 5.0]]
    expected = interp.run(golden("prefix_sum"), constants, values)
    found = run(program_for(golden("prefix_sum"), constants), values)
    assert isinstance(expected, list) and isinstance(found, list)
    shares = [np.asarray(it[0], np.float32) for it in (expected, found)]
    verdict = compare(*shares, Tolerance(ulp=2.5))
    assert verdict.agrees, verdict
    assert found[1:] == expected[1:] == [55.0]


@pytest.mark.parametrize(
    ("file", "constants", "values"),
    [
        ("dot", [3], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        ("saxpy", [2, 100, 90], [2.0, [0.5 * it for it in range(100)], [1.0] * 90]),
        ("calls", [2], [[1, 2, 3, 4], 3]),
        ("nested_calls", [3], [[1, 2, 3], 4]),
        ("loop", [], [5]),
    ],
)
def test_samples(file: str, constants: list[int], values: list[Value]) -> None:
    function = load(file).functions[-1]
    expected = interp.run(function_of(load(file), function.name), constants, values)
    assert same_value(run(program_for(function, constants), values), expected)


def test_more_workgroups_than_fit_along_x() -> None:
    count = 65_535 * 64 + 1
    function = parse(
        """
        fn numbers<n>() -> array<u32, n> {
          threads = fork(start, n)
          i = thread_id(threads)
          number = cast(u32, i)
          joined = join(threads)
          all = collect(joined, number)
          done = return(joined, all)
        }
        """
    ).functions[0]
    numbers = run(program_for(function, [count]), [])
    assert numbers == list(range(count))


def test_grids_that_are_too_large() -> None:
    text = """
        fn total<n, m>(a: array<u32, 4>) -> array<u32, 4> {
          one = constant(u32 1)
          first = constant(u64 0)
          rows = fork(start, n)
          outer = reduce(rows_end, a, inner)
          columns = fork(rows, m)
          inner = reduce(columns_end, outer, after)
          added = atomic(add, inner, position(first), one)
          after = read(added, field(0))
          columns_end = join(columns)
          rows_end = join(columns_end)
          done = return(rows_end, outer)
        }
        """
    with pytest.raises(InputError, match=re.escape("a grid of 65536 x 65536 threads is over the limit")):
        run(program_for(parse(text).functions[0], [65536, 65536]), [[0, 0, 0, 0]])
    with pytest.raises(InputError, match="n is 4294967296; on a GPU dynamic constants are at most 4294967295"):
        run(program_for(parse(text).functions[0], [2**32, 1]), [[0, 0, 0, 0]])
    assert run(program_for(parse(text).functions[0], [300, 0]), [[5, 0, 0, 0]]) == [5, 0, 0, 0]
    assert run(program_for(parse(text).functions[0], [300, 300]), [[0, 0, 0, 0]]) == [90_000, 0, 0, 0]


def test_arguments_of_a_wrong_size() -> None:
    with pytest.raises(InputError, match="the argument 'keys' has 4 bytes instead of 24"):
        ProgramOnGpu(program_for(golden("histogram_atomic"), [6])).run([bytes(4)])


def test_a_name_that_wgsl_does_not_have() -> None:
    text = """fn loop__<n>(x: array<f32, n>) -> array<f32, n> {
      two = constant(f32 2)
      all = fork(start, n)
      i = thread_id(all)
      y = reduce(end, x, z)
      v = read(y, position(i))
      w = mul(v, two)
      z = write(y, w, position(i))
      end = join(all)
      done = return(end, y)
    }"""
    program = program_for(parse(text).functions[0], [3])
    assert run(program, [[1.0, 2.0, 3.0]]) == [2, 4, 6]
