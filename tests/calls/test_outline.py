"""Which functions are called: those whose copies are too much, if all that they take and give are scalars."""

from __future__ import annotations

import pytest
from tests.calls.support import reached_from

from tinct.ir.core import nodes as c
from tinct.ir.hercules import nodes as h
from tinct.ir.source import Source
from tinct.shader import Shader
from tinct.transforms.to_hercules.effects import EffectsAnalysis
from tinct.transforms.to_hercules.outline import (
    MOST_NODES,
    MOST_SCALARS,
    called_functions,
    is_callable,
    own_size,
    scalars_passed,
)

HEAD = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read_write> hits: atomic<u32>;
@group(0) @binding(2) var<storage> words: array<u32>;
var<private> own: array<u32, 4>;
var<workgroup> meeting: u32;
"""
MAIN = "@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) { %s }"


def entry(functions: str, body: str) -> c.Function:
    module = Shader(Source.from_text(HEAD + functions + MAIN % body)).compilation("main", {}).specialised
    return next(it for it in module.functions if it.name == "main")


def callable_functions(functions: str, body: str) -> set[str]:
    found, effects = entry(functions, body), EffectsAnalysis()
    return {it.name for it in reached_from(found) if is_callable(it, effects)}


@pytest.mark.parametrize(
    ("function", "call"),
    [
        ("fn f(a: u32) -> u32 { return a; }", "out[i] = f(i);"),
        ("fn f(a: u32) -> u32 { own[a] += a; return own[1]; }", "out[i] = f(i);"),
        ("fn f(a: ptr<function, u32>) { *a += 1; }", "var n = i; f(&n); out[i] = n;"),
        ("fn f(a: ptr<private, array<u32, 4>>) { (*a)[2] += 1; }", "f(&own); out[i] = own[2];"),
        ("fn f(a: u32) -> u32 { return words[a] + out[a] + arrayLength(&words); }", "out[i] = f(i);"),
        ("fn f(a: u32) -> u32 { var n = a; while n > 3 { n /= 2; } return n; }", "out[i] = f(i);"),
    ],
)
def test_functions_that_change_nothing_but_variables_of_the_invocation_can_be_called(function: str, call: str) -> None:
    assert callable_functions(function, call) == {"f"}


@pytest.mark.parametrize(
    ("function", "call"),
    [
        ("fn f(a: u32) -> u32 { out[a] = 1; return a; }", "_ = f(i);"),
        ("fn f(a: u32) -> u32 { return atomicAdd(&hits, a); }", "out[i] = f(i);"),
        ("fn f(a: u32) -> u32 { meeting = a; return a; }", "if i == 0 { out[i] = f(i); }"),
        ("fn f() { workgroupBarrier(); }", "f(); out[i] = i;"),
        ("fn f() -> u32 { return workgroupUniformLoad(&meeting); }", "out[i] = f();"),
        ("enable subgroups; fn f(a: u32) -> u32 { return subgroupAdd(a); }", "out[i] = f(i);"),
        (
            f"fn f(a: array<u32, {MOST_SCALARS}>) -> u32 {{ return a[3]; }}",
            f"out[i] = f(array<u32, {MOST_SCALARS}>());",
        ),
    ],
)
def test_others_cannot(function: str, call: str) -> None:
    enable, _, function = function.rpartition("; fn ")
    text = f"{enable};" * bool(enable)
    module = Shader(Source.from_text(f"{text}{HEAD}{'fn ' * bool(enable)}{function}{MAIN % call}"))
    found = next(it for it in module.compilation("main", {}).specialised.functions if it.name == "main")
    effects = EffectsAnalysis()
    assert [is_callable(it, effects) for it in reached_from(found)] == [False]


def test_a_function_that_calls_one_that_cannot_be_called_cannot_either() -> None:
    text = "fn f() { workgroupBarrier(); } fn g() { f(); }"
    assert callable_functions(text, "g(); out[i] = i;") == set()


def test_scalars_that_may_be_written_are_passed_both_ways() -> None:
    text = "fn f(a: vec3u, p: ptr<function, u32>) -> bool { *p += own[0]; own[1] = a.x; return true; }"
    found = entry(text, "var n = i; _ = f(vec3u(i), &n); out[i] = n;")
    (function,) = reached_from(found)
    assert scalars_passed(function, EffectsAnalysis()) == 3 + 2 * 1 + 2 * 4 + 1


def work(statements: int) -> str:
    return "fn f(a: u32) -> u32 { var n = a;" + "n = n * n + a; n ^= a >> 3;" * statements + "return n; }"


def called(functions: str, body: str) -> set[str]:
    return {it.name for it in called_functions(entry(functions, body), EffectsAnalysis())}


def test_a_function_stays_one_where_its_copies_are_too_much() -> None:
    size = own_size(next(iter(reached_from(entry(work(40), "out[i] = f(i);")))))
    within, above = (count * "out[i] += f(out[i]);" for count in (MOST_NODES // size // 2, MOST_NODES // size * 2))
    assert called(work(40), within) == set()
    assert called(work(40), above) == {"f"}


def test_small_functions_are_copied_into_those_that_stay() -> None:
    text = "fn tiny(a: u32) -> u32 { return a * 3; }" + work(60).replace("a >> 3", "tiny(a)")
    assert called(text, 40 * "out[i] += f(out[i]);") == {"f"}


def test_a_function_that_is_called_once_is_copied() -> None:
    assert called(work(2000), "out[i] = f(i);") == set()


def test_what_is_translated_grows_with_the_calls_that_are_written() -> None:
    levels = "".join(
        f"fn f{n}(a: u32) -> u32 {{ let b = f{n - 1}(a) + 1; let c = f{n - 1}(b * 3); return f{n - 1}(b ^ c); }}"
        for n in range(1, 9)
    )
    text = HEAD + work(30).replace("fn f", "fn f0") + levels + MAIN % "out[i] = f8(i);"
    module = Shader(Source.from_text(text)).compilation("main", {}).hercules.module
    assert sum(len(function.nodes) for function in module.functions) < MOST_NODES
    assert any(isinstance(node, h.Call) for node in module.functions[0].nodes)
