"""Programs: the text of some, and that each does what its function does."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tinct.ir.hercules import interp
from tinct.ir.hercules.inference import infer_types
from tinct.ir.hercules.nodes import Array, Atomic, DynamicLiteral, Fork, Function, Module
from tinct.ir.hercules.program import Branch, Clear, Copy, Dispatch, Loop, Program, Repeat, walk
from tinct.ir.hercules.program_interp import run_program
from tinct.ir.hercules.program_text import print_program
from tinct.ir.hercules.storage import Value, Variant
from tinct.ir.hercules.text import parse
from tinct.ir.hercules.verify import check
from tinct.transforms.hercules.programs import program_for

from .generate import generate
from .generate_forks import generate_forks
from .support import GOLDENS, function_of, inputs, load, same_value

PROGRAMS = GOLDENS / "programs"

SAMPLES: Sequence[tuple[str, str, Sequence[int], Sequence[object]]] = (
    ("areas", "areas", [3], [[Variant(0, 2.0), Variant(1, [3.0, 4.0]), Variant(2, True)]]),
    ("boxes", "boxes", [3], [Variant(1, [[1, 2, 3], -4])]),
    ("boxes", "boxes", [3], [Variant(0, 7)]),
    ("calls", "main", [2], [[1, 2, 3, 4], 3]),
    ("dot", "dot", [3], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    ("dot", "dot", [0], [[], []]),
    ("early", "early", [3], [[1, 2, 3], False]),
    ("early", "early", [3], [[1, 2, 3], True]),
    ("exchange", "exchange", [], [[5, 8], [7, 1], True]),
    ("exchange", "exchange", [], [[5, 8], [7, 1], False]),
    ("histogram", "histogram", [6], [[0, 1, 1, 3, 7, 1]]),
    ("loop", "triangle", [], [5]),
    ("match", "measure", [], [Variant(0, 21)]),
    ("match", "measure", [], [Variant(1, [1.5, 2.0])]),
    ("match", "wrap", [], [5]),
    ("matmul", "matmul", [2, 3, 1], [[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0], [2.0], [3.0]]]),
    ("matmul", "matmul", [2, 0, 2], [[[], []], []]),
    ("matmul", "matmul", [0, 1, 2], [[], [[1.0, 2.0]]]),
    ("nested_calls", "main", [3], [[1, 2, 3], 4]),
    ("placed_calls", "main", [], [7, True]),
    ("placed_calls", "main", [], [7, False]),
    ("saxpy", "saxpy", [2, 100, 90], [2.0, [0.5 * it for it in range(100)], [1.0] * 90]),
    ("taken_late", "taken_late", [3], [4]),
    ("third", "third", [], [Variant(1, 4)]),
)


def constants_of(text: str) -> list[int]:
    """The values that the first line of a golden gives its dynamic constants."""
    return [int(it) for it in re.findall(r"= (\d+)", text.splitlines()[0])]


def checked(function: Function, constants: Sequence[int]) -> Program:
    """The program of a function, whose kernels verify and are as `GridKernel` says."""
    program = program_for(function, constants)
    for kernel in program.kernels:
        check(Module([kernel.function]))
        forks = [it for it in kernel.function.nodes if isinstance(it, Fork)]
        assert len(kernel.factors) == kernel.depth <= len(forks)
        assert list(kernel.written) == sorted(kernel.written)
    for step in walk(program.steps):
        if isinstance(step, Dispatch):
            assert len(set(step.buffers)) == len(step.buffers) == len(step.kernel.function.parameter_types)
    return program


def has_races(program: Program) -> bool:
    """Whether results may depend on the order of threads."""
    return any(isinstance(it, Atomic) for kernel in program.kernels for it in kernel.function.nodes)


def agrees(program: Program, arguments: Sequence[object], expected: Value) -> None:
    assert same_value(run_program(program, arguments), expected)
    if not has_races(program):
        for order in (interp.backward, interp.shuffled(7)):
            assert same_value(run_program(program, arguments, order), expected)


@pytest.mark.parametrize(("file", "name", "constants", "arguments"), SAMPLES)
def test_a_sample_does_what_its_function_does(
    file: str, name: str, constants: Sequence[int], arguments: Sequence[object]
) -> None:
    expected = interp.run(function_of(load(file), name), constants, arguments)
    agrees(checked(function_of(load(file), name), constants), arguments, expected)


@pytest.mark.parametrize("name", inputs(PROGRAMS))
def test_golden(name: str, golden: Callable[[Path, str], None]) -> None:
    text = (PROGRAMS / f"{name}.hir").read_text(encoding="utf-8")
    module = parse(text)
    check(module)
    golden(PROGRAMS / f"{name}.out.hir", print_program(checked(module.functions[0], constants_of(text))))


def program_of(name: str, constants: Sequence[int]) -> tuple[Program, Function]:
    text = (PROGRAMS / f"{name}.hir").read_text(encoding="utf-8")
    return checked(parse(text).functions[0], constants), parse(text).functions[0]


@pytest.mark.parametrize("count", [0, 1, 5])
def test_floyd_warshall(count: int) -> None:
    program, function = program_of("floyd_warshall", [count])
    source = random.Random(3)
    weights = [source.choice([source.randrange(9), 1000]) for _ in range(count * count)]
    agrees(program, [weights], interp.run(function, [count], [weights]))
    paths = list(weights)
    for k in range(count):
        for i in range(count):
            for j in range(count):
                paths[i * count + j] = min(paths[i * count + j], paths[i * count + k] + paths[k * count + j])
    assert run_program(program, [weights]) == paths
    assert count < 1 or [it.depth for it in program.kernels] == [1, 2]


@pytest.mark.parametrize(("count", "steps"), [(6, 0), (6, 1), (6, 5), (1, 3), (0, 3)])
def test_heat(count: int, steps: int) -> None:
    program, function = program_of("heat", [count])
    values = [float(it * it) for it in range(count)]
    agrees(program, [values, steps], interp.run(function, [count], [values, steps]))
    if count:
        assert sum(isinstance(it, Loop) for it in walk(program.steps)) == 1
        assert [it.depth for it in program.kernels if it.depth] == [1]


@pytest.mark.parametrize(("name", "depth"), [("histogram_atomic", 1), ("histogram_plain", 0)])
def test_histogram(name: str, depth: int) -> None:
    program, _ = program_of(name, [6])
    assert run_program(program, [[0, 1, 1, 3, 7, 1]]) == [1, 3, 0, 2]
    assert [it.depth for it in program.kernels] == [depth]


@pytest.mark.parametrize("count", [0, 1, 5])
def test_prefix_sum(count: int) -> None:
    program, function = program_of("prefix_sum", [count])
    values = [float(it + 1) for it in range(count)]
    agrees(program, [values], interp.run(function, [count], [values]))


def grid_of(text: str, constants: Sequence[int]) -> list[int]:
    """The depths of the kernels' grids."""
    return [it.depth for it in checked(parse(text).functions[-1], constants).kernels]


FILL = """
fn f<n, w>(out: array<u32, (n * w)>) -> array<u32, (n * w)> {{
  width = dynamic(w)
  two = constant(u64 2)
  one = constant(u64 1)
  seven = constant(u32 7)
  rows = fork(start, n)
  i = thread_id(rows)
  in_row = reduce(rows_end, out, in_column)
  columns = fork(rows, w)
  j = thread_id(columns)
  in_column = reduce(columns_end, in_row, after)
  {place}
  after = write(in_column, seven, position(place))
  columns_end = join(columns)
  rows_end = join(columns_end)
  done = return(rows_end, in_row)
}}
"""


@pytest.mark.parametrize(
    ("place", "depths"),
    [
        ("r = mul(i, width)\n  place = add(r, j)", [2]),
        ("r = mul(width, i)\n  place = add(j, r)", [2]),
        ("a = cast(u32, i)\n  b = cast(u32, width)\n  r = mul(a, b)\n  q = cast(u64, r)\n  place = add(j, q)", [2]),
        ("r = mul(i, width)\n  s = add(r, width)\n  t = sub(s, one)\n  place = sub(t, j)", [2]),
        # Two rows that overlap, so that only columns are a grid; columns past the end; one place for two rows.
        ("r = mul(i, two)\n  place = add(r, j)", [1]),
        ("r = mul(i, width)\n  q = mul(j, two)\n  place = add(r, q)", [0]),
        ("r = mul(i, width)\n  place = div(r, two)", [0]),
        ("place = mul(i, width)", [1]),
        ("place = add(i, j)", [1]),
    ],
)
def test_linear_positions(place: str, depths: list[int]) -> None:
    assert grid_of(FILL.format(place=place), [3, 4]) == depths


CHAIN = """
fn f<n>(a: array<u32, n>, keys: array<u32, n>) -> array<u32, n> {{
  one = constant(u32 1)
  next = constant(u64 1)
  threads = fork(start, n)
  i = thread_id(threads)
  now = reduce(threads_end, a, after)
  key = read(keys, position(i))
  bin = cast(u64, key)
  {body}
  threads_end = join(threads)
  done = return(threads_end, now)
}}
"""


@pytest.mark.parametrize(
    ("body", "depths"),
    [
        ("v = read(now, position(i))\n  w = add(v, one)\n  after = write(now, w, position(i))", [1]),
        # A neighbour's element, one that data chooses, and one that may be past the end.
        ("p = add(i, next)\n  v = read(now, position(p))\n  after = write(now, v, position(i))", [0]),
        ("after = write(now, one, position(bin))", [0]),
        ("p = add(i, next)\n  after = write(now, one, position(p))", [0]),
        # Atomics: all of one kind; of two kinds; one whose old value is used; two with old values.
        ("x = atomic(add, now, position(bin), one)\n  y = read(x, field(0))\n  z = atomic(sub, y, position(i), key)\n"
         "  after = read(z, field(0))", [1]),
        ("x = atomic(add, now, position(bin), one)\n  y = read(x, field(0))\n  z = atomic(max, y, position(i), key)\n"
         "  after = read(z, field(0))", [0]),
        ("x = atomic(exchange, now, position(bin), one)\n  after = read(x, field(0))", [1]),
        ("x = atomic(add, now, position(bin), one)\n  y = read(x, field(0))\n  old = read(x, field(1))\n"
         "  z = atomic(add, y, position(i), old)\n  after = read(z, field(0))", [0]),
        # Atomics and a plain read.
        ("v = read(now, position(bin))\n  x = atomic(add, now, position(bin), v)\n  after = read(x, field(0))", [0]),
    ],
)  # fmt: skip
def test_what_threads_may_share(body: str, depths: list[int]) -> None:
    assert grid_of(CHAIN.format(body=body), [4]) == depths


@pytest.mark.parametrize("make", [generate, generate_forks])
@pytest.mark.parametrize("seed", range(40))
def test_random_functions(make: Callable[[int], Module], seed: int) -> None:
    for count in (0, 1, 4):
        source = random.Random(seed)
        arguments = [[source.randint(-5, 5) for _ in range(count)], source.randint(0, 9)]
        expected = interp.run(make(seed).functions[0], [count], arguments)
        agrees(checked(make(seed).functions[0], [count]), arguments, expected)


def test_random_functions_have_all_kinds_of_steps() -> None:
    programs = [program_for(generate_forks(seed).functions[0], [4]) for seed in range(120)]
    kinds = {type(it) for program in programs for it in walk(program.steps)}
    assert kinds == {Dispatch, Repeat, Loop, Branch, Copy, Clear}


def test_copies_are_counted() -> None:
    program, _ = program_of("heat", [6])
    copies = [(program.buffers[it.source].name, program.buffers[it.target].name) for it in program.copies]
    assert copies == [("start_values", "now"), ("next", "now")]
    assert {it.node.label for it in program.copies} == {"now"}
    assert {it.reason for it in program.copies} == {"it goes on with another collection"}


def test_storage_of_a_kernel_has_a_size_that_is_known() -> None:
    """A private array of n elements: the kernel is for this n only; others take any n."""
    text = """
      fn f<n>(a: array<u32, n>, at: u64) -> product<array<u32, n>, u32> {
        one = constant(u32 1)
        fresh = constant(array<u32, n> zero)
        threads = fork(start, n)
        i = thread_id(threads)
        now = reduce(threads_end, a, after)
        old = read(now, position(i))
        new = add(old, one)
        after = write(now, new, position(i))
        threads_end = join(threads)
        value = read(now, position(at))
        filled = write(fresh, value, position(at))
        seen = read(filled, position(at))
        both = product(now, seen)
        done = return(threads_end, both)
      }
    """
    program = checked(parse(text).functions[0], [3])
    grid, once = program.kernels
    assert (grid.function.parameter_types[0], grid.depth) == (program.buffers[0].type, 1)
    types = infer_types(once.function).values()
    assert all(isinstance(it.extent, DynamicLiteral) for it in types if isinstance(it, Array))
    agrees(program, [[1, 2, 3], 2], [[2, 3, 4], 4])


def test_a_kernel_may_change_what_nothing_needs_later() -> None:
    text = """
      fn f(a: array<u32, 4>) -> u32 {
        first = constant(u64 0)
        one = constant(u32 1)
        swapped = atomic(exchange, a, position(first), one)
        old = read(swapped, field(1))
        done = return(start, old)
      }
    """
    program = checked(parse(text).functions[0], [])
    (kernel,) = program.kernels
    names = kernel.function.parameter_names
    assert {names[it] for it in kernel.changed} == {"a", "old"}
    assert [names[it] for it in kernel.written] == ["old"]
    agrees(program, [[7, 8, 9, 10]], 7)
