"""Habits from other languages: one message each, with a hint."""

from __future__ import annotations

import pytest

from tinct.frontend import check
from tinct.ir.source import Source


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("fn f() { let a: int = 1; }", "WGSL calls it 'i32'"),
        ("fn f() { let a = float(1); }", "WGSL calls it 'f32'"),
        ("fn f(a: float3) {}", "WGSL calls it 'vec3f'"),
        ("fn f(a: uvec2) {}", "WGSL calls it 'vec2u'"),
        ("fn f(a: float4x3) {}", "WGSL calls it 'mat4x3f'"),
        ("fn f(a: mat3) {}", "WGSL calls it 'mat3x3f'"),
        ("fn f() { let a = lerp(1.0, 2.0, 0.5); }", "WGSL calls it 'mix'"),
        ("fn f() { let a = mul(1.0, 2.0); }", "WGSL has the operator '*'"),
        (
            "fn f(a: bool) { let b = a ? 1 : 2; }",
            "WGSL has no conditional operator: write 'select(if_false, if_true, condition)'",
        ),
        ('fn f() { let a = "text"; }', "WGSL has no strings"),
        ("#define N 3\nfn f() {}", "WGSL has no preprocessor"),
        ("fn f() { int i = 3; }", "a variable is declared as 'var name: type = value;'"),
        ("fn f() { for (int i = 0; i < 3; i++) {} }", "a variable is declared as 'var name: type = value;'"),
        ("let a = 3;", "at module scope, write 'const', 'override' or 'var<private>'"),
        ("struct S { a: f32; }", "the members of a structure end with ','"),
        ("fn f() { do { break; } }", "WGSL has no 'do': write 'loop { … continuing { break if …; } }'"),
        ("fn f() { else { return; } }", "'else' stands behind the block of an 'if'"),
        ("fn f() { let a: f32 = 1u; }", "convert it: 'f32(…)'"),
        ("fn f(a: f32, b: vec2f) { let c = a; let d = c + i32(b.x); }", "this could be converted: 'f32(…)'"),
        ("fn f(a: i32) { a = 1; }", "'a' is a parameter, declared here: copy it to a 'var' first"),
        ("fn f() { let a = 1; a = 2; }", "'a' is a let, declared here: only a 'var' can change"),
        (
            "@group(0) @binding(0) var<storage> a: i32; fn f() { a = 1; }",
            "'a' is declared here: 'var<storage, read_write>' could be written",
        ),
        ("var<workgroup> a: atomic<i32>; fn f() { a = 1; }", "write it with 'atomicStore'"),
    ],
)
def test_hint(text: str, hint: str) -> None:
    found = check(Source.from_text(text))
    assert len(found) == 1
    assert [note.message for note in found[0].notes] == [hint]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fn f() { let a = 1 < 2 < 3 < 4 < 5; }", "mixing '<' and '<' requires parentheses"),
        ("@vertex fn f() -> vec4f { return vec4f(); }", "an entry point's output needs a 'builtin' or 'location'"),
        ("fn f() { let a = array<i32, 1, 2>(); }", "'array' takes 1 or 2 template arguments, but 3 are given"),
        ("alias A = atomic<i32, i32>;", "'atomic' takes 1 template argument, but 2 are given"),
    ],
)
def test_one_message(text: str, message: str) -> None:
    (found,) = check(Source.from_text(text))
    assert found.message.startswith(message)
