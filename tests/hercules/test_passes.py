"""Passes on Hercules IR: what they make of small functions, and that no function changes its meaning."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tinct.base.errors import InputError
from tinct.ir.hercules.interp import backward, run, shuffled
from tinct.ir.hercules.nodes import Module, Return
from tinct.ir.hercules.text import parse
from tinct.ir.hercules.verify import check
from tinct.transforms.hercules import HERCULES
from tinct.transforms.hercules.ccp import ConditionalConstantPropagation
from tinct.transforms.hercules.dce import DeadCodeElimination
from tinct.transforms.passes import BrokenPassError, Pass, Stage, parse_pipeline, run_passes

from .generate import generate
from .generate_sums import arguments, generate_sums
from .support import GOLDENS, SAMPLES, copy_of, inputs, load, node_of, same_value
from .test_fork_passes import PIPELINES as FORK_PIPELINES

PASSES = GOLDENS / "passes"
NAMES = inputs(SAMPLES)
PIPELINES = [
    "dce",
    "ccp",
    "gvn",
    "ccp,gvn,dce",
    "gvn,ccp,gvn,ccp",
    "ranges,ccp",
    "gvn,ccp{ranges=true},gvn",
    "predication,gvn",
    "forkify,dce",
    "lower_integers,gvn",
    "gvn,merge_writes,dce",
    "split_records,gvn,dce",
]
FOR_SUMS = [it for it in PIPELINES if "lower_integers" not in it]


def transformed(module: Module, pipeline: str) -> Module:
    result = copy_of(module)
    run_passes(result, parse_pipeline(pipeline, HERCULES), HERCULES, verify_each=True)
    return result


@pytest.mark.parametrize("name", inputs(PASSES))
def test_golden(name: str, golden: Callable[[Path, str], None]) -> None:
    text = (PASSES / f"{name}.hir").read_text(encoding="utf-8")
    pipeline = text.partition("# pipeline:")[2].partition("\n")[0].strip()
    golden(PASSES / f"{name}.out.hir", f"# after {pipeline}\n" + HERCULES.text(transformed(parse(text), pipeline)))


def test_every_pass_has_a_golden_and_is_checked_on_random_functions() -> None:
    goldens = [it.read_text(encoding="utf-8").partition("\n")[0] for it in PASSES.glob("*.out.hir")]
    for name in HERCULES.passes:
        assert any(re.search(rf"\b{name}\b", it) for it in goldens), name
        assert any(re.search(rf"\b{name}\b", it) for it in (*PIPELINES, *FORK_PIPELINES)), name


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("seed", range(25))
def test_meaning_stays(seed: int, pipeline: str) -> None:
    module = generate(seed)
    after = transformed(module, pipeline)
    for n in (0, 1, 4):
        arguments = [list(range(10, 10 + n)), 5]
        before = run(module.functions[0], [n], arguments)
        assert same_value(run(after.functions[0], [n], arguments), before)


@pytest.mark.parametrize("pipeline", FOR_SUMS)
def test_meaning_stays_of_collections_of_all_kinds(pipeline: str) -> None:
    for seed in range(12):
        module = generate_sums(seed)
        after = transformed(module, pipeline)
        for n in (0, 1, 3):
            given = arguments(module.functions[-1], n, seed)
            before = run(module.functions[-1], [n], given)
            assert same_value(run(after.functions[-1], [n], given), before), (seed, n)


@pytest.mark.parametrize("name", NAMES)
def test_samples_still_verify(name: str) -> None:
    for pipeline in FOR_SUMS:
        transformed(load(name), pipeline)


def test_passes_say_whether_they_changed_anything() -> None:
    module = parse((PASSES / "all.hir").read_text(encoding="utf-8"))
    passes = parse_pipeline("ccp,gvn,dce", HERCULES)
    assert run_passes(module, passes, HERCULES)
    assert not run_passes(module, passes, HERCULES)


def test_a_function_that_never_returns_is_left_alone() -> None:
    text = """fn f() -> bool {
      yes = constant(bool true)
      h = region(start, back)
      test = if(h, yes)
      out = read(test, control(0))
      back = read(test, control(1))
      done = return(out, yes)
    }"""
    module = parse(text)
    assert not ConditionalConstantPropagation().run(module)
    check(module)


def test_dead_code_keeps_parameters() -> None:
    module = parse("fn f(a: i32, b: i32) -> i32 {\n  done = return(start, a)\n}")
    assert not DeadCodeElimination().run(module)
    assert len(module.functions[0].nodes) == 4


@dataclass(frozen=True)
class Breaker:
    """Forgets the return."""

    times: int = 1
    name = "breaker"

    def run(self, module: Module) -> bool:
        for function in module.functions:
            function.nodes = [it for it in function.nodes if not isinstance(it, Return)]
        return True


BREAKING = Stage[Module]("hercules", HERCULES.verify, HERCULES.text, {**HERCULES.passes, "breaker": Breaker})


def test_verify_each_names_the_pass_that_breaks() -> None:
    seen: list[str] = []

    def after(step: Pass[Module], module: Module) -> None:
        del module
        seen.append(step.name)

    passes = parse_pipeline("dce, breaker{times=3}", BREAKING)
    assert passes == (DeadCodeElimination(), Breaker(3))
    with pytest.raises(BrokenPassError, match="the pass breaker breaks the module"):
        run_passes(load("dot"), passes, BREAKING, verify_each=True, after_each=after)
    assert seen == ["dce"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dcf", "no pass on hercules is named 'dcf'; did you mean 'dce'?"),
        ("dce{n=1}", "no option 'n=1' of dce; its options are: none"),
        ("breaker{times}", "no option 'times' of breaker; its options are: times"),
        ("breaker{times=many}", "the option 'times' of breaker is an integer, not 'many'"),
        ("dce ccp", "cannot read the pipeline at 'dce ccp'"),
        ("dce{n=1", "cannot read the pipeline at"),
    ],
)
def test_pipelines_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        parse_pipeline(text, BREAKING)
    assert message in str(error.value)


def test_empty_pipeline() -> None:
    assert parse_pipeline("", HERCULES) == ()


def test_a_reduce_inside_and_after_is_not_one_value() -> None:
    module = parse((PASSES / "gvn.hir").read_text(encoding="utf-8"))
    before = run(module.functions[0], [3], [[1, 2, 3], 10, 20])
    after = transformed(module, "gvn")
    assert run(after.functions[0], [3], [[1, 2, 3], 10, 20]) == before
    assert node_of(after.functions[0], "inside") is not node_of(after.functions[0], "outside")


def test_the_turns_that_became_threads_have_no_order() -> None:
    module = parse((PASSES / "forkify.hir").read_text(encoding="utf-8"))
    after = transformed(module, "forkify")
    arguments = [[1, -2, 3, 40], [0.5, 0.25, 3.0, 0.125]]
    expected = run(module.functions[0], [4], arguments)
    for order in (backward, shuffled(1), shuffled(2)):
        assert same_value(run(after.functions[0], [4], arguments, order), expected)
