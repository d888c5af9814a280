"""The passes for grids: several spellings of what each is for, and the dependences that stop it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tinct.ir.hercules.cache import Analyses
from tinct.ir.hercules.interp import backward, run, shuffled
from tinct.ir.hercules.nodes import Array, Fork, Function, Intrinsic, Module, Node, Reduce, Select, Write
from tinct.ir.hercules.storage import Value
from tinct.ir.hercules.text import parse
from tinct.ir.hercules.verify import check
from tinct.transforms.hercules import HERCULES
from tinct.transforms.hercules.contract_arrays import obstacle as contraction_obstacle
from tinct.transforms.hercules.contract_arrays import own_level
from tinct.transforms.hercules.forks import ForkBody, Forks
from tinct.transforms.hercules.reduce_to_tree import ReduceToTree
from tinct.transforms.hercules.reduce_to_tree import obstacle as tree_obstacle
from tinct.transforms.passes import parse_pipeline, run_passes

from .support import GOLDENS, copy_of, same_value

PASSES = GOLDENS / "passes"
SIZES = (0, 1, 2, 5, 70)


def module_of(text: str) -> Module:
    module = parse(text)
    check(module)
    return module


def golden(name: str, edits: Iterable[tuple[str, str]] = ()) -> Module:
    text = (PASSES / f"{name}.hir").read_text(encoding="utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new.replace(" ; ", "\n  "))
    return module_of(text)


def transformed(module: Module, pipeline: str) -> Module:
    result = copy_of(module)
    run_passes(result, parse_pipeline(pipeline, HERCULES), HERCULES, verify_each=True)
    return result


def bodies(function: Function) -> list[ForkBody]:
    return list(Forks.of(Analyses(function)).bodies())


def outermost(module: Module) -> list[ForkBody]:
    return [it for it in bodies(module.functions[0]) if it.is_outermost]


def written(module: Module, label: str) -> list[Node]:
    """The Writes of an array that is named so, and of what is left of it."""
    nodes = module.functions[0].nodes
    return [it for it in nodes if isinstance(it, Write) and it.label.startswith(label)]


def results(module: Module, n: int) -> Value:
    function = module.functions[0]
    rows = [[[(3 * i + 5 * j) % 17 - 8 for j in range(n)] for i in range(n)]]
    flat = [[(7 * i) % 19 - 9 for i in range(n)] for _ in function.parameter_types]
    is_table = any(isinstance(it, Array) and isinstance(it.element, Array) for it in function.parameter_types)
    return run(function, [n], rows if is_table else flat)


def same_results(before: Module, after: Module) -> None:
    for n in SIZES:
        assert same_value(results(after, n), results(before, n)), n


def in_any_order(module: Module) -> None:
    """The threads of the grids may run in any order."""
    assert all(it.is_parallel for it in outermost(module))
    function = module.functions[0]
    given = [[(7 * i) % 19 - 9 for i in range(9)] for _ in function.parameter_types]
    expected = run(function, [9], given)
    for order in (backward, shuffled(3)):
        assert same_value(run(function, [9], given, order), expected)


PAIRS = """fn f<n>(a: array<i32, n>, b: array<i32, n>) -> product<array<i32, n>, i32> {{
  none = constant(array<i32, n> zero)
  zero = constant(i32 0)
  one = constant(u64 1)
  first = fork(start, n)
  i = thread_id(first)
  x = read(a, position(i))
  square = mul(x, x)
  table = reduce(between, none, table2)
  table2 = write(table, square, position({own}))
  between = join(first)
  second = fork(between, n)
  j = thread_id(second)
  next = add(j, one)
  last = sub(size, one)
  back = sub(last, j)
  size = dynamic(n)
  y = read(table, position({read}))
  old = read(a, position({other}))
  sum = add(y, old)
  result = reduce(end, b, result2)
  result2 = write(result, sum, position(j))
  end = join(second)
  both = product(result, zero)
  done = return(end, both)
}}"""


def pair(own: str = "i", read: str = "j", other: str = "j") -> Module:
    return module_of(PAIRS.format(own=own, read=read, other=other))


@pytest.mark.parametrize(
    ("own", "read"),
    [("i", "j"), ("wide", "j"), ("i", "wide2"), ("back1", "back")],
    ids=["plain", "cast in the first", "cast in the second", "from the end"],
)
def test_a_fork_that_reads_its_own_elements_of_an_array_joins_the_fork_that_makes_them(own: str, read: str) -> None:
    extra = """
  wide = cast(u64, narrow)
  narrow = cast(u32, i)
  wide2 = cast(u64, narrow2)
  narrow2 = cast(u32, j)
  last1 = sub(size, one)
  back1 = sub(last1, i)
  both ="""
    before = module_of(PAIRS.format(own=own, read=read, other="j").replace("\n  both =", extra))
    fused = transformed(before, "gvn,fork_fusion")
    assert len(bodies(fused.functions[0])) == 1
    same_results(before, fused)
    after = transformed(before, "gvn,fork_fusion,gvn,contract_arrays,dce")
    assert not written(after, "table")
    same_results(before, after)
    in_any_order(after)


@pytest.mark.parametrize("read", ["next", "back", "size"])
def test_a_fork_that_reads_elements_of_other_threads_stays(read: str) -> None:
    after = transformed(pair(read=read), "grid")
    assert len(bodies(after.functions[0])) == 2
    same_results(pair(read=read), after)


def test_arrays_written_under_a_branch_are_contracted_to_values_that_branches_choose() -> None:
    before = golden(
        "contract_arrays",
        [
            ("squares2 = write(squares, square, position(i))", GUARDED_WRITE),
            ("between = join(first)", "between = join(merge)"),
        ],
    )
    after = transformed(before, "gvn,fork_fusion,contract_arrays,gvn,dce")
    assert not written(after, "squares")
    same_results(before, after)


GUARDED_WRITE = (
    "zero = constant(i32 0) ; go = less(x, zero) ; test = if(first, go) ; yes = read(test, control(1)) ; "
    "no = read(test, control(0)) ; merge = region(yes, no) ; squares1 = write(squares, square, position(i)) ; "
    "squares2 = phi(merge, squares1, squares)"
)

SMALL = """fn f<n>(a: array<i32, n>) -> product<i32, array<i32, n>> {
  none = constant(array<array<i32, 9>, n> zero)
  zero = constant(i32 0)
  one = constant(u64 1)
  work = fork(start, n)
  i = thread_id(work)
  x = read(a, position(i))
  rows = reduce(end, none, rows2)
  rows2 = write(rows, x, position(i), position(i))
  y = read(rows2, position(i), position(one))
  sum = reduce(end, zero, more)
  more = add(sum, y)
  end = join(work)
  done = return(end, result)
  result = product(sum, a)
}"""


OWN_READ = "y = read(rows2, position(i), position(one))"
TABLE = "array<array<i32, 9>, n>"


def contraction(module: Module) -> str | None:
    (body,) = bodies(module.functions[0])
    (rows,) = [it for it in body.reduces if it.label == "rows"]
    own = own_level(body, rows)
    return "no place of its own" if own is None else contraction_obstacle(body, rows, own, 64)


def small(*edits: tuple[str, str]) -> Module:
    text = SMALL
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return module_of(text)


def test_rows_that_threads_keep_to_themselves_are_contracted() -> None:
    assert contraction(small()) is None
    after = transformed(small(), "contract_arrays")
    (write,) = [it for it in after.functions[0].nodes if isinstance(it, Write)]
    assert len(write.indices) == 1
    same_results(small(), after)


@pytest.mark.parametrize(
    ("reason", "edits"),
    [
        ("a thread would keep too much", [("array<i32, 9>", "array<i32, 90>")]),
        ("a thread would keep too much", [("array<i32, 9>", "array<i32, n>")]),
        (
            "the array is used after the fork",
            [("product(sum, a)", "product(sum, a, rows)"), ("n>> {", f"n>, {TABLE}> {{")],
        ),
        (
            "the array does not begin as zeros",
            [("a: array<i32, n>", f"a: array<i32, n>, b: {TABLE}"), ("reduce(end, none", "reduce(end, b")],
        ),
        ("no place of its own", [(OWN_READ, "y = read(rows2, position(k), position(one))\n  k = mul(i, i)")]),
        (
            "a thread uses a whole part of the array",
            [(OWN_READ, "row = read(rows2, position(i))\n  y = read(row, position(one))")],
        ),
    ],
)
def test_arrays_that_stay(reason: str, edits: list[tuple[str, str]]) -> None:
    module = small(*edits)
    assert contraction(module) == reason
    after = transformed(module, "contract_arrays")
    assert any(isinstance(it, Reduce) and it.label == "rows" for it in after.functions[0].nodes)


FOLD = """fn f<n>(a: array<i32, n>) -> i32 {
  start_value = constant(i32 5)
  zero = constant(i32 0)
  work = fork(start, n)
  i = thread_id(work)
  x = read(a, position(i))
  carried = reduce(end, start_value, more)
  more = FOLD
  end = join(work)
  done = return(end, carried)
}"""
FOLDS = [
    "add(carried, x)",
    "sub(carried, x)",
    "mul(x, carried)",
    "intrinsic(min, i32, x, carried)",
    "intrinsic(max, i32, carried, x)",
    "and(carried, x)",
    "or(carried, x)",
    "xor(carried, x)",
    "select(c, x, carried)\n  c = less(x, carried)",
    "select(c, carried, x)\n  c = greater_equal(carried, x)",
]


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("pipeline", ["form_min_max,reduce_to_tree{size=4}", "grid"])
def test_folds_become_a_parallel_fork_and_a_small_one(fold: str, pipeline: str) -> None:
    before = module_of(FOLD.replace("FOLD", fold))
    after = transformed(before, pipeline)
    same_results(before, after)
    forks = outermost(after)
    assert len(forks) == 3 and [it.is_parallel for it in forks] == [True, True, False]


def test_a_branch_that_keeps_the_greater_is_a_fold() -> None:
    branch = """go = less(carried, x)
  test = if(work, go)
  yes = read(test, control(1))
  no = read(test, control(0))
  merge = region(yes, no)
  more = phi(merge, x, carried)"""
    text = FOLD.replace("more = FOLD", branch).replace("join(work)", "join(merge)")
    before, after = module_of(text), transformed(module_of(text), "grid")
    assert any(isinstance(it, Intrinsic) for it in after.functions[0].nodes)
    assert not any(isinstance(it, Select) for it in after.functions[0].nodes)
    assert len(outermost(after)) == 3
    same_results(before, after)


@pytest.mark.parametrize(
    ("reason", "old", "new"),
    [
        ("it folds nothing", "FOLD", "div(carried, x)"),
        ("it folds nothing", "FOLD", "sub(x, carried)"),
        ("it folds nothing", "FOLD", "add(carried, twice)\n  twice = mul(carried, x)"),
        ("one thread folds its values as well", "fork(start, n)", "fork(start, 64)"),
        (
            "its threads depend on each other otherwise, too",
            "carried = reduce",
            "other = reduce(end, zero, other2)\n  other2 = div(other, x)\n  carried = reduce",
        ),
    ],
)
def test_folds_that_stay(reason: str, old: str, new: str) -> None:
    text = FOLD.replace(old, new).replace("FOLD", "add(carried, x)")
    if "other" in text:
        text = text.replace("-> i32", "-> product<i32, i32>").replace(
            "return(end, carried)", "return(end, both)\n  both = product(carried, other)"
        )
    module = module_of(text)
    (body,) = bodies(module.functions[0])
    assert tree_obstacle(body, ReduceToTree()) == reason


def test_floats_are_folded_as_a_tree_only_if_asked() -> None:
    text = (
        FOLD.replace("FOLD", "add(carried, x)")
        .replace("i32", "f32")
        .replace("f32 5", "f32 5.0")
        .replace("f32 0", "f32 0.0")
    )
    module = module_of(text)
    assert len(outermost(transformed(module, "grid"))) == 1
    after = transformed(module, "reduce_to_tree{size=2,reassociate=true}")
    assert len(outermost(after)) == 3
    assert run(after.functions[0], [5], [[1.0, 2.0, 3.0, 0.5, 0.25]]) == 11.75


def test_the_sum_of_a_table_is_a_grid_over_its_rows() -> None:
    text = """fn f<n>(a: array<array<i32, n>, n>) -> i32 {
      zero = constant(i32 0)
      rows = fork(start, n)
      i = thread_id(rows)
      columns = fork(rows, n)
      j = thread_id(columns)
      sum = reduce(rows_end, zero, sum2)
      sum2 = reduce(columns_end, sum, more)
      x = read(a, position(i), position(j))
      more = add(sum2, x)
      columns_end = join(columns)
      rows_end = join(columns_end)
      done = return(rows_end, sum)
    }"""
    before, after = module_of(text), transformed(module_of(text), "grid")
    assert [it.is_parallel for it in outermost(after)] == [True, True, False]
    same_results(before, after)


LOOPS = """fn f<n>(a: array<i32, n>) -> product<array<i32, n>, i32> {
  none = constant(i32 0)
  one = constant(i32 1)
  table = constant(array<i32, n> zero)
  limit = dynamic(n)
  count = cast(i32, limit)
  h = region(start, body)
  i = phi(h, none, next)
  squares = phi(h, table, squares2)
  go = less(i, count)
  test = if(h, go)
  out = read(test, control(0))
  body = read(test, control(1))
  at = cast(u64, i)
  x = read(a, position(at))
  square = mul(x, x)
  squares2 = write(squares, square, position(at))
  next = add(i, one)
  g = region(out, body2)
  k = phi(g, none, next2)
  best = phi(g, none, best2)
  result = phi(g, a, result2)
  go2 = less_equal(count, k)
  test2 = if(g, go2)
  out2 = read(test2, control(1))
  body2 = read(test2, control(0))
  at2 = cast(u64, k)
  y = read(squares, position(at2))
  larger = less(best, y)
  best2 = select(larger, y, best)
  z = sub(y, one)
  result2 = write(result, z, position(at2))
  next2 = add(k, one)
  both = product(result, best)
  done = return(out2, both)
}"""


def test_two_loops_become_one_grid_without_the_array_between_them_and_a_tree() -> None:
    before, after = module_of(LOOPS), transformed(module_of(LOOPS), "grid")
    same_results(before, after)
    assert not written(after, "squares")
    first, *rest = outermost(after)
    assert first.is_parallel and len(rest) == 2 and [it.is_parallel for it in rest] == [True, False]
    assert not any(isinstance(it, Fork) for it in first.control)


def test_the_pipeline_changes_nothing_more_the_second_time() -> None:
    once = transformed(module_of(LOOPS), "grid")
    assert HERCULES.text(transformed(once, "gvn,dce")) == HERCULES.text(once)


NESTS = """fn f<n>(a: array<array<i32, n>, n>) -> product<array<array<i32, n>, n>, array<i32, n>> {
  none = constant(array<array<i32, n>, n> zero)
  zero = constant(i32 0)
  no_sums = constant(array<i32, n> zero)
  rows = fork(start, n)
  i = thread_id(rows)
  columns = fork(rows, n)
  j = thread_id(columns)
  x = read(a, position(i), position(j))
  square = mul(x, x)
  columns_end = join(columns)
  row = collect(columns_end, square)
  rows_end = join(columns_end)
  table = collect(rows_end, row)
  rows2 = fork(rows_end, n)
  k = thread_id(rows2)
  columns2 = fork(rows2, n)
  l = thread_id(columns2)
  y = read(table, position(k), position(WHERE))
  z = add(y, y)
  columns2_end = join(columns2)
  row2 = collect(columns2_end, z)
  rows2_end = join(columns2_end)
  table2 = collect(rows2_end, row2)
  rows3 = fork(rows2_end, n)
  m = thread_id(rows3)
  columns3 = fork(rows3, n)
  o = thread_id(columns3)
  w = read(table2, position(m), position(o))
  sum = reduce(columns3_end, zero, more)
  more = div(sum, w)
  columns3_end = join(columns3)
  rows3_end = join(columns3_end)
  sums = collect(rows3_end, sum)
  both = product(table2, sums)
  done = return(rows3_end, both)
}"""


@pytest.mark.parametrize(("where", "forks"), [("l", 2), ("zero64", 3)])
def test_grids_keep_their_levels_when_they_are_fused(where: str, forks: int) -> None:
    """The first two become one where their inner forks can, too; the third has one level only."""
    constant = "  zero64 = constant(u64 0)\n  zero ="
    before = module_of(NESTS.replace("WHERE", where).replace("  zero =", constant))
    after = transformed(before, "grid")
    assert [it.levels for it in outermost(after)] == [2] * (forks - 1) + [1]
    same_results(before, after)


def test_a_fork_whose_threads_depend_on_each_other_is_not_fused_with_a_grid() -> None:
    text = PAIRS.format(own="i", read="j", other="j").replace(
        "zero = ", "result3 = reduce(end, one32, less) ; one32 = "
    )
    text = text.replace("constant(i32 0)", "constant(i32 1)").replace(" ; ", "\n  ")
    text = text.replace("product(result, zero)", "product(result, result3)")
    text = text.replace("  end =", "  less = div(result3, y)\n  end =")
    before, after = module_of(text), transformed(module_of(text), "grid")
    assert [it.is_parallel for it in outermost(after)] == [True, False]
    same_results(before, after)
