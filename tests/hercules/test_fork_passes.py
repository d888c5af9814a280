"""The passes on forks and global code motion: when they do nothing, and why; and that meaning stays where they do."""

from __future__ import annotations

import pytest

from tinct.ir.hercules.cache import Analyses
from tinct.ir.hercules.interp import backward, run, shuffled
from tinct.ir.hercules.nodes import Fork, Module
from tinct.ir.hercules.storage import Value
from tinct.ir.hercules.text import parse
from tinct.ir.hercules.verify import check
from tinct.transforms.hercules import HERCULES
from tinct.transforms.hercules.fork_fission import Fission
from tinct.transforms.hercules.fork_fusion import following
from tinct.transforms.hercules.fork_fusion import obstacle as fusion_obstacle
from tinct.transforms.hercules.fork_interchange import inner_of
from tinct.transforms.hercules.fork_interchange import obstacle as interchange_obstacle
from tinct.transforms.hercules.fork_tiling import obstacle as tiling_obstacle
from tinct.transforms.hercules.forks import ForkBody, Forks
from tinct.transforms.hercules.form_collects import nest_of
from tinct.transforms.hercules.form_collects import obstacle as collect_obstacle
from tinct.transforms.passes import parse_pipeline, run_passes

from .generate_forks import generate_forks
from .generate_sums import arguments, generate_sums
from .support import GOLDENS, copy_of, same_value

INPUTS = GOLDENS / "passes"
PIPELINES = [
    "fork_fusion",
    "fork_fission",
    "fork_fission,fork_fusion",
    "fork_interchange",
    "fork_tiling{size=2}",
    "expand_collects,fork_tiling{size=4},fork_interchange",
    "form_collects",
    "expand_collects,form_collects",
    "gcm",
    "gvn,gcm",
    "contract_arrays",
    "forkify{counts=31},gvn,fork_fusion,contract_arrays",
    "reduce_to_tree{size=2}",
    "grid_interchange,grid_fission",
    "predication,form_min_max",
    "grid",
    "grid,grid",
    "forkify,reduce_to_tree{size=3,levels=3},fork_fusion",
    "forkify,form_collects,fork_fusion",
    "ranges,ccp,gvn,predication,dce",
]


def edited(name: str, edits: str = "") -> Module:
    """The input of a golden with these edits: a line `old => new` each; ` ; ` in them stands for a new line."""
    text = (INPUTS / f"{name}.hir").read_text(encoding="utf-8")
    for edit in edits.strip().splitlines():
        old, new = (it.strip().replace(" ; ", "\n  ") for it in edit.split("=>"))
        assert old in text
        text = text.replace(old, new)
    module = parse(text)
    check(module)
    return module


def body_of(module: Module, label: str) -> ForkBody:
    function = module.functions[0]
    fork = next(it for it in function.nodes if it.label == label)
    assert isinstance(fork, Fork)
    return Forks.of(Analyses(function)).body(fork)


def transformed(module: Module, pipeline: str) -> Module:
    result = copy_of(module)
    run_passes(result, parse_pipeline(pipeline, HERCULES), HERCULES, verify_each=True)
    return result


def results(module: Module) -> list[Value]:
    return [run(module.functions[0], [n], [list(range(10, 10 + n)), 5]) for n in (0, 1, 4)]


@pytest.mark.parametrize("seed", range(15))
def test_meaning_stays(seed: int) -> None:
    module = generate_forks(seed)
    expected = results(module)
    for pipeline in PIPELINES:
        assert same_value(results(transformed(module, pipeline)), expected), pipeline


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_meaning_stays_of_collections_of_all_kinds(pipeline: str) -> None:
    for seed in range(12):
        module = generate_sums(seed)
        after = transformed(module, pipeline)
        for n in (0, 1, 3):
            given = arguments(module.functions[-1], n, seed)
            before = run(module.functions[-1], [n], given)
            assert same_value(run(after.functions[-1], [n], given), before), (seed, n)


@pytest.mark.parametrize(
    "pipeline",
    ["fork_fusion", "fork_fission", "fork_interchange", "fork_tiling", "form_collects", "expand_collects", "gcm"],
)
def test_the_random_functions_have_what_the_pass_looks_for(pipeline: str) -> None:
    clean = [transformed(generate_forks(seed), "dce") for seed in range(20)]
    assert sum(run_passes(it, parse_pipeline(pipeline, HERCULES), HERCULES) for it in clean) >= 2


FUSION = [
    ("the forks have different factors", "fork(between, n) => fork(between, 4)"),
    (
        "others of the first have collected",
        """
        read(squares, position(j)) => read(squares, position(far))
        old = read => far = mul(j, j) ; old = read
        """,
    ),
    (
        "the order of the threads shows",
        """
        read(all2, position(j)) => read(all2, position(far))
        old = read => far = mul(j, j) ; old = read
        """,
    ),
    ("the order of the threads shows", "add(sum2, y) => mul(sum2, y)"),
    (
        "what lies between the forks is wanted",
        """
        product(all2, sum2) => product(all2, sum2, sum)
        -> product<array<i32, n>, i32> => -> product<array<i32, n>, i32, i32>
        """,
    ),
    (
        "made from what the first leaves",
        """
        reduce(end, sum, more2) => reduce(end, zero, more2)
        add(old, y) => add(old, sum)
        """,
    ),
    (
        "made from what the first leaves",
        """
        reduce(end, sum, more2) => reduce(end, start2, more2)
        second = => start2 = negate(sum) ; second =
        """,
    ),
    (
        "overwrites what the first reads",
        """
        reduce(end, all, added) => reduce(end, a, added)
        x = read(a, position(i)) => far = mul(i, i) ; x = read(a, position(far))
        product(all2, sum2) => product(all2, sum2, all)
        -> product<array<i32, n>, i32> => -> product<array<i32, n>, i32, array<i32, n>>
        """,
    ),
]


@pytest.mark.parametrize(("reason", "edits"), FUSION)
def test_forks_that_are_not_fused(reason: str, edits: str) -> None:
    module = edited("fork_fusion", edits)
    first = body_of(module, "first")
    second = following(first)
    assert second is not None
    assert reason in (fusion_obstacle(first, second) or "")
    assert not run_passes(module, parse_pipeline("dce,fork_fusion", HERCULES), HERCULES)


BRANCH = "test = if(work, c) ; yes = read(test, control(1)) ; no = read(test, control(0)) ; merge = region(yes, no)"
FISSION = [
    (
        "it has one part only",
        """
        product(table, sum, all) => product(table, sum)
        -> product<array<i32, n>, i32, array<i32, n>> => -> product<array<i32, n>, i32>
        add(old, x) => add(old, sum)
        """,
    ),
    (
        "each part would run the fork inside",
        """
        join(work) => join(join2)
        i = thread_id => inner = fork(work, 2) ; join2 = join(inner) ; i = thread_id
        """,
    ),
    (
        "each part would run the loop inside",
        """
        join(work) => join(out)
        zero = => no = constant(bool false) ; yes = constant(bool true) ; zero =
        i = thread_id => head = region(work, again) ; c = phi(head, no, yes) ; test = if(head, c) ; i = thread_id
        i = thread_id => out = read(test, control(1)) ; again = read(test, control(0)) ; i = thread_id
        """,
    ),
    (
        "a branch depends on what the threads carry",
        f"""
        join(work) => join(merge)
        i = thread_id => c = less(sum, zero) ; {BRANCH} ; i = thread_id
        """,
    ),
    (
        "a part needs what another makes on some ways only",
        f"""
        join(work) => join(merge)
        i = thread_id => c = less(x, zero) ; {BRANCH} ; i = thread_id
        more = add(sum, old) => more1 = add(sum, quotient) ; more = phi(merge, more1, sum)
        new = => quotient = div(old, x) ; new =
        """,
    ),
]


@pytest.mark.parametrize(("reason", "edits"), FISSION)
def test_forks_that_are_not_split(reason: str, edits: str) -> None:
    module = edited("fork_fission", edits)
    assert Fission.of(body_of(module, "work")).obstacle() == reason
    assert not run_passes(module, parse_pipeline("dce,fork_fission", HERCULES), HERCULES)


def test_parts_that_hand_on_collections_are_not_split() -> None:
    module = parse(
        """fn f<n>(a: array<array<i32, 2>, n>, b: array<array<i32, 2>, n>)
            -> product<array<array<i32, 2>, n>, array<array<i32, 2>, n>> {
          work = fork(start, n)
          i = thread_id(work)
          first = reduce(end, a, first2)
          row = read(first, position(i))
          first2 = write(first, row, position(i))
          second = reduce(end, b, second2)
          second2 = write(second, row, position(i))
          end = join(work)
          result = product(first, second)
          done = return(end, result)
        }"""
    )
    check(module)
    assert Fission.of(body_of(module, "work")).obstacle() == "a part needs a collection of another"


INTERCHANGE = [
    (
        "control runs between the two forks",
        """
        join(columns_end) => join(merge)
        zero = => c = constant(bool true) ; zero =
        rows_end = => test = if(columns_end, c) ; yes = read(test, control(1)) ; rows_end =
        rows_end = join => no = read(test, control(0)) ; merge = region(yes, no) ; rows_end = join
        """,
    ),
    (
        "a collect would be transposed",
        """
        result = => all = collect(rows_end, i) ; result =
        product(table_i, sum_i) => product(table_i, sum_i, all)
        m>, n>, u64> => m>, n>, u64, array<u64, n>>
        """,
    ),
    (
        "what the outer fork carries is not just carried on by the inner",
        """
        reduce(rows_end, zero, sum_j) => reduce(rows_end, zero, twice)
        result = => twice = add(sum_j, sum_j) ; result =
        """,
    ),
    (
        "what the inner fork leaves is used in the outer",
        """
        result = => last = reduce(rows_end, zero, more2) ; more2 = add(last, sum_j) ; result =
        product(table_i, sum_i) => product(table_i, last, sum_i)
        m>, n>, u64> => m>, n>, u64, u64>
        """,
    ),
    (
        "the inner fork carries something that the outer does not",
        """
        new = negate(old) => new = add(old, own) ; own = reduce(columns_end, none, own2) ; own2 = add(own, old)
        zero = => none = constant(i32 0) ; zero =
        """,
    ),
    ("the order of the threads shows", "mul(i, j) => mul(sum_j, j)"),
    ("the order of the threads shows", "new, position(i), position(j) => new, position(zero), position(zero)"),
    (
        "the order of the threads shows",
        "read(table_j, position(i), position(j)) => read(table_j, position(j), position(i))",
    ),
]


@pytest.mark.parametrize(("reason", "edits"), INTERCHANGE)
def test_forks_that_do_not_change_places(reason: str, edits: str) -> None:
    module = edited("fork_interchange", edits)
    outer = body_of(module, "rows")
    inner = inner_of(outer)
    assert inner is not None
    assert reason in (interchange_obstacle(outer, inner) or "")
    assert not run_passes(module, parse_pipeline("dce,fork_interchange", HERCULES), HERCULES)


def test_forks_that_are_not_tiled() -> None:
    module = edited("fork_tiling")
    assert tiling_obstacle(body_of(module, "few"), 4) == "it fits a tile"
    assert tiling_obstacle(body_of(module, "few"), 2) is None
    assert tiling_obstacle(body_of(module, "some"), 0) == "a tile has no threads"
    assert tiling_obstacle(body_of(edited("expand_collects"), "rows"), 4) == "its collects would change their type"


@pytest.mark.parametrize("n", [0, 1, 3, 4, 7, 8])
@pytest.mark.parametrize("size", [1, 2, 4, 5])
def test_tiles_have_every_thread_once_and_no_more(n: int, size: int) -> None:
    module = edited("fork_tiling")
    expected = run(module.functions[0], [n], [list(range(n))])
    after = transformed(module, f"fork_tiling{{size={size}}}")
    assert same_value(run(after.functions[0], [n], [list(range(n))], backward), expected)


def test_a_number_that_a_thread_hands_on_is_tiled_too() -> None:
    text = """fn f<n>() -> u64 {
      zero = constant(u64 0)
      work = fork(start, n)
      last = reduce(end, zero, i)
      i = thread_id(work)
      end = join(work)
      done = return(end, last)
    }"""
    after = transformed(parse(text), "fork_tiling{size=2}")
    assert [run(after.functions[0], [n], []) for n in (0, 1, 4, 5)] == [0, 0, 3, 4]


def test_only_the_named_fork_is_tiled_or_split() -> None:
    module = edited("fork_tiling")
    run_passes(module, parse_pipeline("fork_tiling{size=4,fork=many}", HERCULES), HERCULES)
    assert sum(isinstance(it, Fork) for it in module.functions[0].nodes) == 4
    assert not run_passes(edited("fork_fission"), parse_pipeline("fork_fission{fork=play}", HERCULES), HERCULES)
    assert not run_passes(
        edited("fork_interchange"), parse_pipeline("fork_interchange{fork=columns}", HERCULES), HERCULES
    )


COLLECTS = [
    (
        "a thread writes elsewhere than at its number",
        "squares, square, position(k) => squares, k, position(square)",
    ),
    ("the array has not one element for each thread", "again = fork(rows_end, n) => again = fork(rows_end, m)"),
    ("a thread looks at the array", "mul(k, k) => read(squares, position(k))"),
    (
        "not every thread ends with a write",
        """
        reduce(again_end, a, squared) => reduce(again_end, a, twice)
        own = => again2 = write(squared, k, position(k)) ; twice = write(again2, k, position(k)) ; own =
        """,
    ),
    (
        "a thread writes more or less than one scalar",
        """
        a: array<u64, n> => a: array<array<u64, 2>, n>
        m>, n>, array<u64, n>, => m>, n>, array<array<u64, 2>, n>,
        squares, square, position(k) => squares, square, position(k), position(k)
        """,
    ),
]


@pytest.mark.parametrize(("reason", "edits"), COLLECTS)
def test_reduces_that_are_no_collects(reason: str, edits: str) -> None:
    body = body_of(edited("form_collects", edits), "again")
    reduce = next(it for it in body.reduces if it.label == "squares")
    assert collect_obstacle(nest_of(body, reduce)) == reason


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("fork_fusion", ([1, 2, 3], [4, 5, 6])),
        ("fork_fission", ([1, 2, 3], [4, 5, 6])),
        ("fork_tiling", ([1, 2, 3],)),
    ],
)
def test_no_order_of_the_threads_shows(name: str, arguments: tuple[list[int], ...]) -> None:
    module = edited(name)
    after = transformed(module, name)
    function = module.functions[0]
    constants = [3]
    expected = run(function, constants, arguments)
    for order in (backward, shuffled(1), shuffled(2)):
        # The sum of what the table held depends on no order, as each thread looks at its own element.
        assert same_value(run(after.functions[0], constants, arguments, order), expected)


def test_an_interchanged_nest_gives_the_same_in_any_order() -> None:
    module = edited("fork_interchange")
    after = transformed(module, "fork_interchange")
    table = [[1, 2, 3], [4, 5, 6]]
    expected = run(module.functions[0], [2, 3], [table])
    for order in (backward, shuffled(1), shuffled(2)):
        assert same_value(run(after.functions[0], [2, 3], [table], order), expected)


def test_a_copy_for_each_way_costs_no_way_more() -> None:
    """Where a value is wanted on all ways there are as many copies as ways; where it is wanted above them, none."""
    everywhere = edited("gcm", "phi(merge, third, fourth, none) => phi(merge, third, fourth, root)")
    assert HERCULES.text(transformed(everywhere, "gcm")).count("intrinsic(sqrt") == 3
    above = edited(
        "gcm",
        """
        if(start, c) => if(start, less_root)
        test = => less_root = less(root, a) ; test =
        """,
    )
    assert HERCULES.text(transformed(above, "gcm")).count("intrinsic(sqrt") == 1
