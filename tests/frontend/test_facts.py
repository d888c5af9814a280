"""What the resolver tells later stages: facts about expressions, calls, members, uses (see `tinct.ir.wgsl.program`)."""

from __future__ import annotations

from tinct.frontend import load_program
from tinct.ir.constants import ConstantValue
from tinct.ir.conversions import elements
from tinct.ir.schema.traverse import walk
from tinct.ir.source import Source
from tinct.ir.types import F32, I32, U32, Array, OverrideCount, Pointer, Reference, vector
from tinct.ir.wgsl import ast
from tinct.ir.wgsl.program import (
    CallsBuiltin,
    CallsFunction,
    Constructs,
    Converts,
    ExpressionFacts,
    FunctionInfo,
    MemberIndex,
    Program,
    Swizzle,
)


def load(text: str) -> Program:
    return load_program(Source.from_text(text))


def function(program: Program, name: str) -> FunctionInfo:
    return next(function for function in program.functions if function.name == name)


def facts_of(program: Program, text: str) -> ExpressionFacts:
    """The facts of the first expression spelt so."""
    found = (
        program.facts.expressions.get(node)
        for node in walk(program.unit)
        if isinstance(node, ast.Expression) and program.source.text(node.span) == text
    )
    return next(facts for facts in found if facts is not None)


def calls_of(program: Program) -> list[object]:
    return [program.facts.calls[node] for node in walk(program.unit) if isinstance(node, ast.Call)]


def names(program: Program, of: str) -> list[str]:
    return [variable.name for variable in function(program, of).resources]


class TestExpressions:
    def test_literal_takes_the_type_of_its_context(self) -> None:
        facts = facts_of(load("fn f(x: f32) -> f32 { return x + 1; }"), "1")
        assert facts.result is F32
        assert facts.constant == ConstantValue(F32, 1.0)

    def test_variable_is_loaded_where_a_value_is_wanted(self) -> None:
        program = load("fn f() { var x = 1u; let y = x + 2; }")
        facts = facts_of(program, "x")
        assert isinstance(facts.type, Reference)
        assert facts.loads
        assert facts.result is U32
        assert facts.constant is None

    def test_target_of_an_assignment_stays_a_reference(self) -> None:
        program = load("fn f() { var x = 1u; x += 2; }")
        facts = facts_of(program, "x")
        assert isinstance(facts.result, Reference)
        assert not facts.loads
        assert facts_of(program, "2").constant == ConstantValue(U32, 2)

    def test_object_of_an_access_stays_a_reference(self) -> None:
        program = load("struct S { a: array<i32, 2> } var<private> s: S; fn f() -> i32 { return s.a[1]; }")
        assert isinstance(facts_of(program, "s").result, Reference)
        assert isinstance(facts_of(program, "s.a").result, Reference)
        whole = facts_of(program, "s.a[1]")
        assert whole.loads
        assert whole.result is I32

    def test_pointer_object_stays_a_pointer(self) -> None:
        program = load("fn f(p: ptr<function, vec3f>) -> f32 { return p.y; }")
        assert isinstance(facts_of(program, "p").result, Pointer)
        assert isinstance(facts_of(program, "p.y").type, Reference)

    def test_parentheses_share_the_facts(self) -> None:
        program = load("fn f() -> f32 { return (1); }")
        assert facts_of(program, "(1)") is facts_of(program, "1")
        assert facts_of(program, "1").result is F32

    def test_constants_are_exact(self) -> None:
        facts = facts_of(load("const x = 1 / 3.0 * 3;"), "1 / 3.0 * 3")
        assert facts.constant is not None
        assert facts.constant.value == 1 / 3.0 * 3

    def test_constant_of_a_vector_is_converted_as_a_whole(self) -> None:
        facts = facts_of(load("fn f() { let v: vec2f = vec2(1, 2); }"), "vec2(1, 2)")
        assert facts.constant is not None
        assert facts.constant.type is vector(2, F32)
        assert list(elements(facts.constant.value)) == [1.0, 2.0]

    def test_decided_short_circuit_is_constant(self) -> None:
        program = load("fn f(x: i32) -> bool { return true || x / 2 == 1; }")
        facts = facts_of(program, "true || x / 2 == 1")
        assert facts.constant is not None
        assert facts.constant.value is True

    def test_abstract_object_of_an_unknown_index_is_made_concrete(self) -> None:
        facts = facts_of(load("fn f(i: u32) -> i32 { return array(1, 2)[i]; }"), "array(1, 2)")
        assert isinstance(facts.result, Array)
        assert facts.result.element is I32


def test_call_targets() -> None:
    program = load(
        "fn g(x: f32) -> f32 { return x; }"
        "fn f(x: f32) { _ = g(x); _ = sin(x); _ = vec2(x); _ = u32(x); _ = bitcast<u32>(x); _ = f32(x); }"
    )
    assert calls_of(program) == [
        CallsFunction(function(program, "g")),
        CallsBuiltin("sin"),
        Constructs(vector(2, F32)),
        Converts(U32),
        CallsBuiltin("bitcast", (U32,)),
        Converts(F32),
    ]


def test_member_targets() -> None:
    program = load("struct S { a: i32, b: vec4f } fn f(s: S) { _ = s.b; _ = s.b.zx; _ = s.b.g; }")
    found = [program.facts.members[node] for node in walk(program.unit) if isinstance(node, ast.MemberAccess)]
    assert found == [MemberIndex(1), Swizzle((2, 0)), MemberIndex(1), Swizzle((1,)), MemberIndex(1)]


def test_selectors_are_in_the_type_of_the_switch() -> None:
    program = load("fn f(x: u32) { switch x { case 1, 2u: {} default: {} } }")
    cases = [node for node in walk(program.unit) if isinstance(node, ast.Case)]
    assert program.facts.selectors[cases[0]] == (ConstantValue(U32, 1), ConstantValue(U32, 2))
    assert program.facts.selectors[cases[1]] == ()


class TestUses:
    TEXT = """
        @compute @workgroup_size(size) fn main() { if false { direct(); } return; _ = dead; }
        fn direct() { indirect(); }
        fn indirect() { _ = shared_words[0]; }
        override size: u32;
        override count = size * 2;
        var<workgroup> shared_words: array<u32, count>;
        var<private> dead: i32;
        @group(0) @binding(0) var<uniform> unused: u32;
    """

    def test_resources_are_transitive_and_in_declaration_order(self) -> None:
        program = load(self.TEXT)
        assert names(program, "main") == ["size", "count", "shared_words", "dead"]
        assert names(program, "direct") == ["size", "count", "shared_words"]

    def test_calls_are_direct(self) -> None:
        program = load(self.TEXT)
        assert function(program, "main").calls == (function(program, "direct"),)

    def test_what_is_used_stands_first(self) -> None:
        program = load(self.TEXT)
        assert [function.name for function in program.functions] == ["indirect", "direct", "main"]
        order = [variable.name for variable in program.variables]
        assert order.index("size") < order.index("count") < order.index("shared_words")

    def test_local_names_are_no_uses(self) -> None:
        program = load("var<private> g: i32; fn f() { let g = 1; _ = g; }")
        assert names(program, "f") == []


def test_override_counts_by_name_are_one_type() -> None:
    program = load("override n = 4; var<workgroup> a: array<i32, n>; var<workgroup> b: array<i32, n>;")
    a, b = (variable for variable in program.variables if variable.kind == "var")
    assert a.type is b.type
    assert isinstance(a.type, Array)
    assert a.type.count == OverrideCount("n")
    assert isinstance(program.override_counts["n", 0], ast.Identifier)


def test_override_counts_by_expression_are_apart() -> None:
    program = load("override n = 4; var<workgroup> a: array<i32, n + 1>; var<workgroup> b: array<i32, n + 1>;")
    a, b = (variable.type for variable in program.variables if variable.kind == "var")
    assert a is not b
    assert str(a) == str(b) == "array<i32, n + 1>"
    assert len(program.override_counts) == 2
