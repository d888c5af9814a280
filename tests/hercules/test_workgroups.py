"""Kernels whose threads are run by workgroups: their text, and that they do what they did before."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf, nan
from pathlib import Path

import pytest

from tinct.backend.gpu import GpuDevice
from tinct.functions import HerculesFunction
from tinct.gpu_programs import ProgramOnGpu
from tinct.ir.hercules import interp
from tinct.ir.hercules.nodes import Fork, Function, Module
from tinct.ir.hercules.program import Program
from tinct.ir.hercules.program_interp import run_program
from tinct.ir.hercules.program_text import print_program
from tinct.ir.hercules.storage import Value
from tinct.ir.hercules.text import parse
from tinct.ir.hercules.verify import check
from tinct.pipeline import GpuOptions, compile_grid
from tinct.program_listing import list_wgsl
from tinct.transforms.hercules import grid_passes
from tinct.transforms.hercules.for_machine import with_own_control
from tinct.transforms.hercules.programs import WorkgroupTrees, program_for
from tinct.transforms.passes import apply_passes

from .support import GOLDENS, inputs, run_on_gpu, same_value

WORKGROUPS = GOLDENS / "workgroups"
FORCED = WorkgroupTrees(size=8, step=0, gain=0)
"""For all kernels, as many invocations as there are values, up to 8."""
EXTENTS = ((0, 5), (1, 0), (3, 1), (2, 7), (3, 16), (5, 101))
"""Rows and columns: none, powers of two and others, fewer than invocations."""


def function_of(text: str) -> Function:
    return parse(text).functions[0]


def program_of(text: str, constants: Sequence[int], trees: WorkgroupTrees = FORCED, *, passes: bool = True) -> Program:
    """The program of a text, whose kernels verify."""
    function = function_of(text)
    if passes:
        with_own_control(function)
        apply_passes(Module([function]), grid_passes(reassociate=trees.reassociate))
    program = program_for(function, constants, trees)
    for kernel in program.kernels:
        check(Module([kernel.function]))
    return program


def sizes(program: Program) -> list[int]:
    """The invocations that run a thread of each kernel; 0 for one."""
    return [it.workgroup for it in program.kernels]


def agree_everywhere(text: str, constants: Sequence[int], arguments: Sequence[Value], program: Program) -> None:
    """The function on the interpreter and the CPU, and its program on the interpreter and the GPU, do the same."""
    function = function_of(text)
    expected = interp.run(function_of(text), constants, arguments)
    assert same_value(run_program(program, arguments), expected)
    runnable = HerculesFunction(function)
    given = dict(zip(function.parameter_names, arguments, strict=True))
    known = dict(zip(function.dynamic_constants, constants, strict=True))
    on_cpu = runnable.value_of(runnable.run(given, constants=known, device="cpu"))
    assert same_value(on_cpu, expected)
    if GpuDevice.unavailable_reason() is None:
        assert same_value(run_on_gpu(program, arguments), expected)


def rows_of(constants: Sequence[int], seed: int, *, low: int = -9, high: int = 9) -> list[list[int]]:
    source, (rows, columns) = random.Random(seed), constants
    return [[source.randint(low, high) for _ in range(columns)] for _ in range(rows)]


@pytest.mark.parametrize("name", inputs(WORKGROUPS))
def test_golden(name: str, golden: Callable[[Path, str], None]) -> None:
    text = (WORKGROUPS / f"{name}.hir").read_text(encoding="utf-8")
    constants = [int(it) for it in re.findall(r"= (\d+)", text.splitlines()[0])]
    program = program_of(text, constants)
    golden(WORKGROUPS / f"{name}.out.hir", print_program(program))
    golden(WORKGROUPS / f"{name}.out.wgsl", list_wgsl(program, 64))


ROWS = """fn f<m, n>(x: array<array<i32, n>, m>) -> RESULT {
  zero = constant(i32 0)
  one = constant(i32 1)
  seven = constant(i32 7)
  low = constant(i32 -2147483648)
  rows = fork(start, m)
  i = thread_id(rows)
  columns = fork(rows, n)
  j = thread_id(columns)
  value = read(x, position(i), position(j))
  number = cast(i32, j)
  BODY
  columns_end = join(columns)
  rows_end = join(columns_end)
  RETURN
}"""

ONE = "kept = collect(rows_end, a)\n  done = return(rows_end, kept)"
TWO = """kept = collect(rows_end, a)
  kept2 = collect(rows_end, b)
  both = product(kept, kept2)
  done = return(rows_end, both)"""
THREE = TWO.replace("(kept, kept2)", "(kept, kept2, kept3)\n  kept3 = collect(rows_end, c)")


def reduce(name: str, start: str, update: str) -> str:
    return f"{name} = reduce(columns_end, {start}, {name}2)\n  {name}2 = {update}\n  "


FOLDS = {
    "sum": reduce("a", "seven", "add(a, value)"),
    "difference": reduce("a", "zero", "sub(a, value)"),
    "product": reduce("a", "one", "mul(value, a)"),
    "least": reduce("a", "seven", "intrinsic(min, i32, a, value)"),
    "greatest": reduce("a", "low", "intrinsic(max, i32, value, a)"),
    "and": reduce("a", "seven", "and(a, value)"),
    "or": reduce("a", "zero", "or(a, value)"),
    "exclusive or": reduce("a", "seven", "xor(value, a)"),
    "greatest by a select": reduce("a", "zero", "select(more, value, a)\n  more = less(a, value)"),
    "squares": reduce("a", "zero", "add(a, square)\n  square = mul(value, value)"),
}
BETTER = reduce("a", "low", "select(take, value, a)") + reduce("b", "zero", "select(take, number, b)")
KEEPING = reduce("a", "low", "select(keep, a, value)") + reduce("b", "zero", "select(keep, b, number)")
PAIRS = {
    "the first greatest": BETTER + "take = greater(value, a)",
    "the last greatest": BETTER + "take = greater_equal(value, a)",
    "the first least": BETTER.replace("low", "seven") + "take = greater(a, value)",
    "the last least": BETTER.replace("low", "seven") + "take = greater_equal(a, value)",
    "kept if not less": KEEPING + "keep = less_equal(value, a)",
    "a negated condition": BETTER + "take = not(worse)\n  worse = less_equal(value, a)",
    "by max and a select": BETTER.replace("select(take, value, a)", "intrinsic(max, i32, a, value)")
    + "take = greater(value, a)",
    "ties to the greater position": BETTER
    + "take = or(more, tied)\n  more = greater(value, a)\n  tied = and(same, later)\n  same = equal(a, value)\n"
    + "  later = less(b, number)",
    "ties to the lesser position, after a square": (BETTER + "take = or(tied, more)")
    .replace("value", "square")
    .replace("select(take, square, a)", "select(take, square, a)\n  square = mul(value, value)")
    + "\n  more = less(a, square)\n  tied = and(earlier, same)\n  same = equal(square, a)\n  earlier = less(number, b)",
    "a sum and a greatest": reduce("a", "zero", "add(a, value)") + reduce("b", "low", "intrinsic(max, i32, b, value)"),
}
TRIPLES = {
    "the greatest, its position and another number": BETTER
    + reduce("c", "seven", "select(take, further, c)\n  further = mul(number, seven)")
    + "take = less(a, value)",
    "the greatest, its position and a sum": BETTER + reduce("c", "one", "add(value, c)") + "take = less(a, value)",
}
RESULTS = ("array<i32, m>", "product<array<i32, m>, array<i32, m>>", f"product<{', '.join(['array<i32, m>'] * 3)}>")
KERNELS = {
    name: ROWS.replace("RESULT", result).replace("BODY", body).replace("RETURN", end)
    for bodies, result, end in zip((FOLDS, PAIRS, TRIPLES), RESULTS, (ONE, TWO, THREE), strict=True)
    for name, body in bodies.items()
}


@pytest.mark.parametrize("name", KERNELS)
def test_folds_of_rows(name: str) -> None:
    for seed, constants in enumerate(EXTENTS):
        program = program_of(KERNELS[name], constants)
        if constants[0]:
            assert max(sizes(program)) >= 2
        agree_everywhere(KERNELS[name], constants, [rows_of(constants, seed)], program)


@pytest.mark.parametrize("name", [*PAIRS, *TRIPLES])
@pytest.mark.parametrize("count", [0, 1, 65, 5000])
def test_selections_of_a_whole_array(name: str, count: int) -> None:
    """`reduce_to_tree` makes grids of these, which a workgroup's tree ends."""
    rows, _, rest = KERNELS[name].partition("  rows = fork(start, m)\n  i = thread_id(rows)\n")
    text = (
        (rows + rest)
        .replace("<m, n>(x: array<array<i32, n>, m>)", "<n>(x: array<i32, n>)")
        .replace("columns = fork(rows, n)", "columns = fork(start, n)")
        .replace("position(i), position(j)", "position(j)")
        .replace("array<i32, m>", "i32")
        .replace("rows_end = join(columns_end)\n", "")
        .replace("return(rows_end", "return(columns_end")
    )
    text = re.sub(r"(kept\d?) = collect\(rows_end, (\w)\)\n", "", text)
    text = text.replace("product(kept, kept2", "product(a, b").replace("kept3)", "c)")
    program = program_of(text, [count], WorkgroupTrees(size=64, step=0, gain=0))
    if count:
        assert [it.depth for it in program.kernels] == [1, 1, 0]
    agree_everywhere(text, [count], rows_of((1, count), count), program)


LOOPS = {
    "a loop that counts up, with a branch": """
      header = region(rows, next)
      j = phi(header, none, next_j)
      best = phi(header, low, next_best)
      at = phi(header, first, next_at)
      is_left = less(j, length)
      test = if(header, is_left)
      out = read(test, control(0))
      body = read(test, control(1))
      value = read(x, position(i), position(j))
      number = cast(i32, j)
      is_better = greater(value, best)
      branch = if(body, is_better)
      stays = read(branch, control(0))
      changes = read(branch, control(1))
      next = region(stays, changes)
      next_best = phi(next, best, value)
      next_at = phi(next, at, number)
      next_j = add(j, one)""",
    "a loop of an i32 counter, with selects the other way round": """
      header = region(rows, body)
      j = phi(header, first, next_j)
      best = phi(header, low, next_best)
      at = phi(header, first, next_at)
      count = cast(i32, length)
      is_done = greater_equal(j, count)
      test = if(header, is_done)
      out = read(test, control(1))
      body = read(test, control(0))
      place = cast(u64, j)
      value = read(x, position(i), position(place))
      stays = less_equal(value, best)
      next_best = select(stays, best, value)
      next_at = select(stays, at, j)
      more = constant(i32 1)
      next_j = add(j, more)""",
    "max, and a branch for the position": """
      columns = fork(rows, n)
      j = thread_id(columns)
      best = reduce(out, low, next_best)
      at = reduce(out, first, next_at)
      value = read(x, position(i), position(j))
      number = cast(i32, j)
      next_best = intrinsic(max, i32, value, best)
      is_better = less(best, value)
      branch = if(columns, is_better)
      stays = read(branch, control(0))
      changes = read(branch, control(1))
      next = region(changes, stays)
      next_at = phi(next, number, at)
      out = join(next)""",
}


@pytest.mark.parametrize("name", LOOPS)
def test_other_spellings_of_the_greatest_of_rows(name: str) -> None:
    text = f"""fn f<m, n>(x: array<array<i32, n>, m>) -> product<array<i32, m>, array<i32, m>> {{
      low = constant(i32 -2147483648)
      first = constant(i32 0)
      none = constant(u64 0)
      one = constant(u64 1)
      length = dynamic(n)
      rows = fork(start, m)
      i = thread_id(rows){LOOPS[name]}
      rows_end = join(out)
      greatest = collect(rows_end, best)
      positions = collect(rows_end, at)
      both = product(greatest, positions)
      done = return(rows_end, both)
    }}"""
    check(Module([function_of(text)]))
    for constants in EXTENTS:
        program = program_of(text, constants)
        assert constants[0] == 0 or max(sizes(program)) >= 2
        agree_everywhere(text, constants, [rows_of(constants, 8)], program)


TIE_BREAKS = """fn f<m, n>(x: array<array<f32, n>, m>) -> product<array<f32, m>, array<i32, m>> {
  start_value = constant(f32 START)
  none = constant(i32 -1)
  rows = fork(start, m)
  i = thread_id(rows)
  columns = fork(rows, n)
  j = thread_id(columns)
  value = read(x, position(i), position(j))
  number = cast(i32, j)
  best = reduce(columns_end, start_value, best2)
  at = reduce(columns_end, none, at2)
  take = OP(value, best)
  best2 = select(take, value, best)
  at2 = select(take, number, at)
  columns_end = join(columns)
  rows_end = join(columns_end)
  kept = collect(rows_end, best)
  kept2 = collect(rows_end, at)
  both = product(kept, kept2)
  done = return(rows_end, both)
}"""


@pytest.mark.parametrize("op", ["greater", "less_equal"])
@pytest.mark.parametrize("start", ["0.0", "-inf", "inf", "nan"])
def test_floats_that_are_selected_may_be_nans(op: str, start: str) -> None:
    text = TIE_BREAKS.replace("OP", op).replace("START", start)
    source = random.Random(3)
    rows: list[Value] = [[source.choice([nan, inf, -inf, 1.0, 2.5, -3.0]) for _ in range(23)] for _ in range(6)]
    rows += [[nan] * 23]
    program = program_of(text, [7, 23])
    assert sizes(program) == [8]
    assert same_value(run_program(program, [rows]), interp.run(function_of(text), [7, 23], [rows]))


@pytest.mark.parametrize("name", ["min", "max"])
def test_least_and_greatest_floats_may_be_nans(name: str) -> None:
    text = TIE_BREAKS.replace("OP", "greater").replace("START", "nan")
    text = text.replace("select(take, value, best)", f"intrinsic({name}, f32, best, value)")
    text = text.replace("select(take, number, at)", "add(at, number)")
    rows: list[Value] = [[nan, 1.0, inf, nan, -2.0], [nan] * 5, [-inf, nan, nan, nan, 4.0]]
    program = program_of(text, [3, 5])
    assert sizes(program) == [8]
    assert same_value(run_program(program, [rows]), interp.run(function_of(text), [3, 5], [rows]))


FLOAT_TIES = """take = or(more, tied)
  more = greater(whole, at)
  tied = and(same, later)
  same = equal(whole, at)
  later = greater(value, best)
  whole = div(number, seven)
  seven = constant(i32 7)"""
STAYS = {
    "a second key that may be a NaN": TIE_BREAKS.replace("take = OP(value, best)", FLOAT_TIES).replace(
        "select(take, number, at)", "select(take, whole, at)"
    ),
    "a negated comparison of floats, which accepts NaNs": TIE_BREAKS.replace(
        "take = OP(value, best)", "take = not(worse)\n  worse = less_equal(value, best)"
    ),
    "the second greatest": TIE_BREAKS.replace("OP", "greater").replace(
        "at2 = select(take, number, at)", "at2 = add(at, changed)\n  changed = cast(i32, best)"
    ),
    "how often the greatest changed": TIE_BREAKS.replace("OP", "greater").replace(
        "at2 = select(take, number, at)", "at2 = add(at, changed)\n  changed = select(take, number, none)"
    ),
    "two conditions": TIE_BREAKS.replace("OP", "greater").replace(
        "select(take, number, at)", "select(other, number, at)\n  other = greater(value, start_value)"
    ),
    "another value than the one that is compared": TIE_BREAKS.replace("OP", "greater").replace(
        "select(take, value, best)", "select(take, twice, best)\n  twice = add(value, value)"
    ),
    "a value that depends on the carried one": TIE_BREAKS.replace("OP", "greater").replace(
        "select(take, number, at)", "select(take, next, at)\n  next = add(at, number)"
    ),
    "a sum of floats": TIE_BREAKS.replace("OP", "greater").replace("select(take, value, best)", "add(best, value)"),
}


@pytest.mark.parametrize("name", STAYS)
def test_threads_that_depend_on_each_other_stay(name: str) -> None:
    text = STAYS[name].replace("START", "-inf")
    program = program_of(text, [2, 40])
    assert sizes(program) == [0]
    rows: list[Value] = [[float(it * 7 % 11) for it in range(40)], [1.5] * 40]
    assert same_value(run_program(program, [rows]), interp.run(function_of(text), [2, 40], [rows]))


def test_sums_of_floats_if_asked() -> None:
    text = KERNELS["sum"].replace("i32", "f32").replace("f32 -2147483648", "f32 0.0")
    text = text.replace("f32 0\n", "f32 0.0\n").replace("f32 1\n", "f32 1.0\n").replace("f32 7\n", "f32 7.0\n")
    assert sizes(program_of(text, [3, 40])) == [0]
    program = program_of(text, [3, 40], WorkgroupTrees(size=8, gain=0, reassociate=True))
    assert sizes(program) == [8]
    rows: list[Value] = [[float(it) for it in row] for row in rows_of((3, 40), 1)]
    agree_everywhere(text, [3, 40], [rows], program)


@pytest.mark.parametrize(
    ("type", "lowest", "limits"),
    [("i8", -128, (-128, 127)), ("u16", 0, (0, 65535)), ("i64", -(2**63), (-(10**12), 10**12)), ("u64", 0, (0, 2**63))],
)
@pytest.mark.parametrize("name", ["sum", "and", "greatest by a select", "the last greatest", "kept if not less"])
def test_integers_that_a_gpu_lacks(name: str, type: str, lowest: int, limits: tuple[int, int]) -> None:
    text = KERNELS[name].replace("i32", type).replace("-2147483648", str(lowest))
    program = program_of(text, [3, 21])
    assert sizes(program) == [8]
    agree_everywhere(text, [3, 21], [rows_of((3, 21), 4, low=limits[0], high=limits[1])], program)


@pytest.mark.parametrize("op", ["and", "or", "xor"])
def test_bools(op: str) -> None:
    text = KERNELS["and"].replace("and(a, value)", f"{op}(a, value)").replace("array<i32", "array<bool")
    text = text.replace("(columns_end, seven, a2)", "(columns_end, yes, a2)\n  yes = constant(bool true)")
    program = program_of(text, [3, 21])
    assert sizes(program) == [8]
    rows: list[Value] = [[it % 5 > 0 for it in range(21)], [True] * 21, [False] * 21]
    agree_everywhere(text, [3, 21], [rows], program)


def test_bools_that_invocations_write_side_by_side_are_words() -> None:
    text = KERNELS["and"].replace("array<i32", "array<bool").replace("seven, a2", "yes, a2")
    (kernel,) = program_of(text.replace("zero = ", "yes = constant(bool true)\n  zero = "), [3, 21]).kernels
    assert "var<workgroup> a: array<u32, 8>;" in compile_grid(kernel, GpuOptions(for_naga=True)).wgsl


STAGES = """fn f<m, n>(
  x: array<array<i32, n>, m>, total: array<i32, m>
) -> product<array<array<i32, n>, m>, array<i32, m>> {
  zero = constant(i32 0)
  low = constant(i32 -2147483648)
  last = constant(u64 1)
  rows = fork(start, m)
  i = thread_id(rows)
  table = reduce(rows_end, x, after)
  totals = reduce(rows_end, total, counted)

  finding = fork(rows, n)
  j = thread_id(finding)
  value = read(table, position(i), position(j))
  best = reduce(finding_end, low, next_best)
  next_best = intrinsic(max, i32, best, value)
  finding_end = join(finding)

  changing = fork(finding_end, n)
  k = thread_id(changing)
  changed = reduce(changing_end, table, written)
  sum = reduce(changing_end, zero, next_sum)
  old = read(changed, position(i), position(k))
  less_than_best = sub(best, old)
  next_sum = add(sum, less_than_best)
  written = write(changed, less_than_best, position(i), position(k))
  changing_end = join(changing)

  before = read(totals, position(i))
  more = add(before, sum)
  counted = write(totals, more, position(i))

  mirroring = fork(changing_end, n)
  l = thread_id(mirroring)
  length = dynamic(n)
  after = reduce(mirroring_end, changed, scaled)
  new = read(after, position(i), position(l))
  times = mul(new, sum)
  scaled = write(after, times, position(i), position(l))
  mirroring_end = join(mirroring)
  rows_end = join(mirroring_end)
  both = product(table, totals)
  done = return(rows_end, both)
}"""


@pytest.mark.parametrize("constants", EXTENTS)
def test_forks_one_after_another(constants: tuple[int, int]) -> None:
    """Each uses what the one before it has made, in memory, or by its fold."""
    program = program_of(STAGES, constants)
    assert len(program.kernels) == min(constants[0], 1)
    rows, totals = rows_of(constants, 5), list(range(constants[0]))
    agree_everywhere(STAGES, constants, [rows, totals], program)
    if constants[0] and constants[1] > 1:
        assert sizes(program) != [0]


def random_thread(seed: int) -> str:
    """A function whose threads run forks of all kinds, each of which uses what those before it have made."""
    source = random.Random(seed)
    lines: list[str] = []
    table, end, scalars = "table", "rows", ["zero", "seven"]
    for stage in range(source.randint(1, 4)):
        name, control = f"s{stage}", end
        end = f"{name}_end"
        lines += [f"{name} = fork({control}, n)", f"{name}_t = thread_id({name})"]
        other = source.choice(scalars)
        if source.random() < 0.6:
            lines += [
                f"{name}_table = reduce({end}, {table}, {name}_new)",
                f"{name}_old = read({name}_table, position(i), position({name}_t))",
                f"{name}_x = {source.choice(('add', 'xor', 'sub'))}({name}_old, {other})",
                f"{name}_new = write({name}_table, {name}_x, position(i), position({name}_t))",
            ]
            table = f"{name}_table"
        else:
            lines += [
                f"{name}_at = read({table}, position(i), position({name}_t))",
                f"{name}_x = add({name}_at, {other})",
            ]
        if source.random() < 0.6:
            start, op = source.choice(scalars), source.choice(("add", "mul", "xor", "and"))
            lines += [f"{name}_a = reduce({end}, {start}, {name}_a2)", f"{name}_a2 = {op}({name}_a, {name}_x)"]
            scalars.append(f"{name}_a")
        if source.random() < 0.6:
            op = source.choice(("less", "less_equal", "greater", "greater_equal"))
            lines += [
                f"{name}_c = {op}({name}_x, {name}_b)",
                f"{name}_i = cast(i32, {name}_t)",
                f"{name}_b = reduce({end}, {source.choice(scalars[:2])}, {name}_b2)",
                f"{name}_b2 = select({name}_c, {name}_x, {name}_b)",
                f"{name}_d = reduce({end}, zero, {name}_d2)",
                f"{name}_d2 = select({name}_c, {name}_i, {name}_d)",
            ]
            scalars += [f"{name}_b", f"{name}_d"]
        lines.append(f"{end} = join({name})")
    body = "\n  ".join(lines)
    return f"""fn f<m, n>(
  x: array<array<i32, n>, m>, y: array<i32, m>
) -> product<array<array<i32, n>, m>, array<i32, m>> {{
  zero = constant(i32 0)
  seven = constant(i32 7)
  rows = fork(start, m)
  i = thread_id(rows)
  table = reduce(rows_end, x, {table})
  totals = reduce(rows_end, y, changed)
  {body}
  old = read(totals, position(i))
  new = add(old, {scalars[-1]})
  changed = write(totals, new, position(i))
  rows_end = join({end})
  both = product(table, totals)
  done = return(rows_end, both)
}}"""


@pytest.mark.parametrize("seed", range(12))
def test_random_threads(seed: int) -> None:
    text = random_thread(seed)
    for constants in ((2, 1), (3, 5), (2, 150)):
        program = program_of(text, constants, replace(FORCED, size=2 << seed % 6), passes=seed % 2 > 0)
        assert constants[1] == 1 or max(sizes(program)) >= 2
        agree_everywhere(text, constants, [rows_of(constants, seed), list(range(constants[0]))], program)


LOCAL = """fn f<m, n>(x: array<array<i32, n>, m>) -> array<i32, m> {
  zero = constant(i32 0)
  none = constant(array<i32, n> zero)
  rows = fork(start, m)
  i = thread_id(rows)
  copying = fork(rows, n)
  j = thread_id(copying)
  value = read(x, position(i), position(j))
  squares = collect(copying_end, square)
  square = mul(value, value)
  copying_end = join(copying)
  adding = fork(copying_end, n)
  k = thread_id(adding)
  length = dynamic(n)
  one = constant(u64 1)
  top = sub(length, one)
  mirrored = sub(top, k)
  number = cast(i32, k)
  other = read(squares, position(mirrored))
  term = mul(other, number)
  sum = reduce(adding_end, zero, next_sum)
  next_sum = add(sum, term)
  adding_end = join(adding)
  rows_end = join(adding_end)
  sums = collect(rows_end, sum)
  done = return(rows_end, sums)
}"""


@pytest.mark.parametrize("constants", EXTENTS[1:])
def test_an_array_of_a_thread_is_workgroup_memory(constants: tuple[int, int]) -> None:
    program = program_of(LOCAL, constants, passes=False)
    agree_everywhere(LOCAL, constants, [rows_of(constants, 2)], program)
    if constants[1] > 1:
        assert sizes(program) != [0]
        assert f"var<workgroup> squares: array<i32, {constants[1]}>" in list_wgsl(program, 64)


def test_an_array_that_does_not_fit_workgroup_memory() -> None:
    assert sizes(program_of(LOCAL, [2, 4000], passes=False)) == [8]
    assert sizes(program_of(LOCAL, [2, 4500], passes=False)) == [0]


def test_the_cost_of_a_kernel() -> None:
    """Many threads and short ones are run by an invocation each; few long ones by large workgroups."""
    text = KERNELS["sum"]
    trees = WorkgroupTrees()
    assert sizes(program_of(text, [1, 100_000], trees, passes=False)) == [256]
    assert sizes(program_of(text, [1000, 1000], trees, passes=False)) == [32]
    assert sizes(program_of(text, [100_000, 100], trees, passes=False)) == [0]
    assert sizes(program_of(text, [1000, 10], trees, passes=False)) == [0]
    assert sizes(program_of(text, [1, 100_000], WorkgroupTrees(size=1), passes=False)) == [0]
    assert sizes(program_of(text, [16, 1000], WorkgroupTrees(size=8, lanes=16, subgroup=8), passes=False)) == [0]


def test_more_rows_than_workgroups_fit_along_x() -> None:
    if GpuDevice.unavailable_reason() is not None:
        pytest.skip("no GPU")
    constants = [65_537, 4]
    program = program_of(KERNELS["sum"], constants, WorkgroupTrees(size=2, gain=0))
    assert sizes(program) == [2]
    rows = rows_of(constants, 1)
    assert run_on_gpu(program, [rows]) == [7 + sum(row) for row in rows]


def test_the_function_of_a_kernel_has_its_forks_below_the_grid() -> None:
    (kernel,) = program_of(STAGES, [3, 9]).kernels
    factors = [it.factor for it in kernel.function.nodes if isinstance(it, Fork)]
    assert kernel.depth == 1
    assert kernel.workgroup == 8
    assert ProgramOnGpu(program_of(STAGES, [3, 9])).program.kernels[0].workgroup == 8
    assert len(factors) > 6
