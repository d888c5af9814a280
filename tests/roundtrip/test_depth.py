"""Expressions, statements and types are written no deeper than compilers take them."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from tinct.ir.core import Module
from tinct.ir.diagnostics import ShaderError
from tinct.ir.wgsl.limits import DEEPEST_STATEMENT
from tinct.transforms.to_wgsl.depth import ACCEPTED, READABLE

from ..transforms.core.support import answers, module_of, transformed, written
from .deep import kernel

TINTS_BRACKETS = 128
"""What Tint's parser takes: brackets and prefix operators in each other, the braces around them included."""
TINTS_SCOPES = 127
"""What Tint's resolver takes: two for an `if`, one more for each `else if`."""
PIPELINES = ("", "mem2reg", "O2", "mem2reg,reg2mem", "scalarize,algebraic,vectorize", "O2,gpu")


def levels(text: str, pairs: str) -> int:
    """How deep brackets nest."""
    deepest = depth = 0
    for character in text:
        depth += (character in pairs[0::2]) - (character in pairs[1::2])
        deepest = max(deepest, depth)
    return deepest


def brackets(text: str) -> int:
    """The levels of brackets in one statement. A template list has one or two, which do not matter here."""
    return max(levels(line, "()[]") for line in text.splitlines())


def after(text: str, pipeline: str) -> str:
    """What is written after some passes; it is written again the same."""
    module = module_of(text)
    transformed(module, pipeline)
    found = written(module)
    assert written(module_of(found)) == found
    return found


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("seed", range(5))
def test_runs_of_updates(seed: int, pipeline: str) -> None:
    text = kernel(seed, 150, kinds=1 + seed)
    found = after(text, pipeline)
    assert brackets(found) <= 2 * READABLE.brackets
    assert answers(module_of(found), "main") == answers(module_of(text), "main")


def test_names_stand_for_whole_updates() -> None:
    """A name stands for what the variable held, and is like the name of what it was computed from."""
    updates = "a = a * 1.5 + x; " * 30
    found = after(f"fn f(x: f32) -> f32 {{ var a = x; {updates} return a; }}", "mem2reg")
    lines = [line.strip() for line in found.splitlines()[1:-1]]
    assert [line.split(" = ")[0] for line in lines[:-1]] == ["let x_1", "let x_2"]
    assert all(line.endswith(" * 1.5 + x;") for line in lines)
    assert lines[1].count("x_1") == lines[2].count("x_2") == 1


def nested(operators: Iterable[str], operand: str = "u > {n}u") -> str:
    """`a && (b || (c && …))`"""
    found = [f"{operand.format(n=number)} {operator} (" for number, operator in enumerate(operators)]
    return "".join(found) + "b" + ")" * len(found)


BOOLS = """@group(0) @binding(0) var<storage, read_write> o: array<u32>;
fn e(x: u32) -> bool {{ return x > 2; }}
fn g(x: u32) -> bool {{
    var s = 0u; for (var i = 0u; i < x; i++) {{ s += i; }} if s > 100 {{ return false; }} return s > 2;
}}
@compute @workgroup_size(1) fn main() {{ var u = o[1]; var b = u > 2; {} o[0] = select(u, 2u, b); }}"""


@pytest.mark.parametrize("pipeline", ["", "O2", "mem2reg"])
def test_short_circuits_of_one_kind_are_a_chain(pipeline: str) -> None:
    text = BOOLS.format(f"b = {nested(['&&'] * 200)};")
    found = after(text, pipeline)
    assert brackets(found) < 8
    assert levels(found, "{}") < 8
    assert answers(module_of(found), "main") == answers(module_of(text), "main")


@pytest.mark.parametrize("operand", ["u > {n}u", "e(u + {n}u)", "g(u + {n}u)"])
@pytest.mark.parametrize("pipeline", ["", "O2", "inline", "O2,gpu"])
def test_short_circuits_of_two_kinds(pipeline: str, operand: str) -> None:
    """As deep as Tint takes them: partly as Ifs."""
    text = BOOLS.format(f"b = {nested(['&&', '||'] * 58, operand)};")
    found = after(text, pipeline)
    assert brackets(found) <= ACCEPTED.brackets + READABLE.brackets
    assert 2 * levels(found, "{}") <= TINTS_SCOPES
    assert levels(found, "{}()[]") < TINTS_BRACKETS
    assert answers(module_of(found), "main") == answers(module_of(text), "main")


def test_short_circuits_that_nest_too_deep() -> None:
    with pytest.raises(ShaderError, match=r"writing 'main' as WGSL with statements \d+ levels deep, where 127 are"):
        written(module_of(BOOLS.format(f"b = {nested(['&&', '||'] * 120)};")))


@pytest.mark.parametrize("pipeline", ["", "mem2reg", "O2", "inline"])
@pytest.mark.parametrize("condition", ["u == {n}", "e({n})", "g(u + {n})"])
def test_chains_of_else_if(condition: str, pipeline: str) -> None:
    """However long they are, and whatever becomes of them: no deeper than what is accepted."""
    for body in ("u = {n}; ", ""):
        arm = f"if {condition} {{{{ {body} }}}}"
        arms = " else ".join(arm.format(n=number) for number in range(200))
        assert levels(after(BOOLS.format(arms), pipeline), "{}") <= DEEPEST_STATEMENT


def module_of_calls(depth: int) -> Module:
    """Functions of 20 Ifs each that call each other."""
    ifs = "".join(f"if x > {number} {{ " for number in range(20))
    functions = ["fn f0(x: u32) -> u32 { return x + 1; }"]
    for number in range(1, depth):
        body = f"var r = x; {ifs} r = f{number - 1}(r); {'}' * 20} return r;"
        functions.append(f"fn f{number}(x: u32) -> u32 {{ {body} }}")
    main = f"@compute @workgroup_size(1) fn main() {{ o[0] = f{depth - 1}(o[1]); }}"
    return module_of(f"@group(0) @binding(0) var<storage, read_write> o: array<u32>; {' '.join(functions)} {main}")


@pytest.mark.parametrize(("depth", "is_all"), [(3, True), (4, False), (12, False)])
def test_inlining_ends_where_statements_would_nest_too_deep(depth: int, *, is_all: bool) -> None:
    module = module_of_calls(depth)
    expected = answers(module, "main")
    transformed(module, "inline")
    found = written(module)
    assert 2 * levels(found, "{}") <= TINTS_SCOPES
    assert ("fn f" not in found) == is_all
    assert answers(module_of(found), "main") == expected


def test_types_and_constants_in_each_other() -> None:
    """Arrays of arrays, which aliases make as deep as 255 levels."""
    types = "alias A0 = array<u32, 2>;" + "".join(f"alias A{n} = array<A{n - 1}, 1>;" for n in range(1, 100))
    values = "const c0 = A0(1, 2);" + "".join(f"const c{n} = A{n}(c{n - 1});" for n in range(1, 100))
    indices = "[0]" * 99
    text = f"""{types} {values}
        @group(0) @binding(0) var<storage, read_write> o: array<u32>;
        var<private> p: A99;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {{
            var q = c99; p = q; o[0] = p{indices}[id.x + 1]; let r = c99; o[1] = r{indices}[id.y];
        }}"""
    found = after(text, "")
    assert brackets(found) < 40
    assert levels(found, "<>") < 40
    assert re.search(r"^alias nested", found, re.MULTILINE)
    assert answers(module_of(found), "main") == answers(module_of(text), "main")


def test_too_many_parameters() -> None:
    """A pointer becomes a parameter for each of its indices."""
    count = 150
    parameters = ", ".join(f"p{n}: ptr<storage, u32, read>" for n in range(count))
    arguments = ", ".join(f"&o[id.x + {n}][id.y]" for n in range(count))
    module = module_of(f"""
        @group(0) @binding(0) var<storage, read> o: array<array<u32, 4>>;
        fn f({parameters}) {{ }}
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {{ f({arguments}); }}""")
    transformed(module, "direct_variable_access")
    with pytest.raises(ShaderError, match="writing 'f_1' as WGSL with 300 parameters, where 255 are possible"):
        written(module)
