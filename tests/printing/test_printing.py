"""What kernels print: the same on every device, in the order of invocations; nothing of it leaves tinct."""

from __future__ import annotations

import numpy as np
import pytest

import tinct
from tinct import formatting, frontend, minifying
from tinct.ir.print_formats import parse_format, recorded, word_count
from tinct.ir.source import Source
from tinct.ir.types import F16, F32, I32, U32, matrix, vector

DEVICES = ("cpu", "gpu", "interp", "hercules")
KERNEL = """\
enable wgpu_debug_printf;
enable f16;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read_write> calls: atomic<u32>;
var<workgroup> shared_: array<u32, 4>;

struct Input { @builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32 }

fn half_of(i: u32, v: vec3f) -> f32 {
    // @debugPrintf("half %u %.1v3f", i, v);
    return v.x / 2;
}

@compute @workgroup_size(4)
fn main(input: Input) {
    let i = input.id.x;
    shared_[3 - input.local] = i;
    workgroupBarrier();
    for (var k = 0; k < 2; k++) {
        if (i == 5 || (i == 2 && k == 1)) {
            debugPrintf("i=%u k=%d %5.2f%% \\"%s\\" %s", i, -k, f32(i), vec2(true, k == 1), mat2x2h(1, 2, 3, f16(i)));
        }
    }
    // debugPrintf("a call that was commented out: %q");
    /*
    // @debugPrintf("inside of a comment");
    */
    debugPrintf("%x\\n", atomicAdd(&calls, 1u) * 0 + shared_[input.local]);
    out[i] = u32(half_of(i, vec3f(f32(i))));
}

@compute @workgroup_size(4)
fn quiet(@builtin(global_invocation_id) id: vec3u) { out[id.x] = id.x; }
"""


def expected_lines() -> list[str]:
    lines = list[str]()
    for i in range(8):
        for k in range(2):
            if i == 5 or (i == 2 and k == 1):
                flag = "true" if k else "false"
                texts = f'i={i} k={-k} {i:5.2f}% "vec2<bool>(true, {flag})" mat2x2h(1.0, 2.0, 3.0, {i}.0)'
                lines.append(texts)
        lines.append(f"{i // 4 * 4 + 3 - i % 4:x}")
        lines.append(f"half {i} {i}.0, {i}.0, {i}.0")
    return lines


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.usefixtures("needs_device")
def test_every_device_prints_in_the_order_of_invocations(device: str) -> None:
    kernel = tinct.load(KERNEL)["main"]
    with tinct.printed() as prints:
        result = kernel.run({"out": (None, 8), "calls": None}, threads=8, device=device)
    assert [it.text for it in prints.lines] == expected_lines()
    assert sorted(result) == ["calls", "out"]
    assert result["out"].tolist() == [i // 2 for i in range(8)]
    assert result["calls"] == 8
    first = prints.lines[0]
    assert (first.invocation, first.line, prints.lost) == ((0, 0, 0), 28, 0)


def test_prints_go_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    shader = tinct.load(KERNEL)
    shader["quiet"].run({"out": (None, 4)}, threads=4)
    assert capsys.readouterr().out == ""
    shader["main"].run({"out": (None, 8), "calls": None}, threads=8, device="interp")
    assert capsys.readouterr().out.splitlines() == expected_lines()


def test_a_session_prints_and_keeps_its_buffers() -> None:
    kernel = tinct.load(KERNEL)["main"]
    with tinct.Session() as session, tinct.printed() as prints:
        out, calls = session.buffer(np.zeros(8, np.uint32)), session.buffer(np.zeros(1, np.uint32))
        for _ in range(2):
            session.run(kernel, {"out": out, "calls": calls}, threads=8)
        assert [it.text for it in prints.lines] == 2 * expected_lines()
        assert calls.numpy() == 16


def test_what_leaves_tinct_has_no_prints_but_their_effects() -> None:
    shader = tinct.load(KERNEL)
    for text in (shader["main"].compilation().wgsl, minifying.minify(shader.source)):
        assert not any(word in text for word in ("rintf", "debug", '"', "print_"))
        assert "atomicAdd" in text
        assert not frontend.check(Source.from_text(text))


def test_arguments_in_comments_have_no_effects() -> None:
    text = """
        enable wgpu_debug_printf;
        @group(0) @binding(0) var<storage, read_write> a: atomic<u32>;
        @group(0) @binding(1) var t: texture_storage_2d<r32float, write>;
        var<private> p: u32;
        var<workgroup> w: u32;
        fn reads() -> u32 { var x = 1u; x = by_pointer(&x); return x + p; }
        fn writes() -> u32 { p = 3u; return 1u; }
        fn by_pointer(q: ptr<function, u32>) -> u32 { *q = 3u; return 1u; }
        fn stores() -> u32 { textureStore(t, vec2u(0), vec4f(1)); return 1u; }
        fn outer() -> u32 { return stores() + stores(); }
        @compute @workgroup_size(1) fn main() {
            var v = 1u;
            // @debugPrintf("%u %u", reads(), atomicLoad(&a));
            // @debugPrintf("%u", atomicAdd(&a, 1u));
            // @debugPrintf("%u", 1u + writes());
            // @debugPrintf("%u", by_pointer(&v)); // why
            v = 2u; // @debugPrintf("%u", outer());
            // @ debugPrintf("%u", workgroupUniformLoad(&w));
            debugPrintf("%u %u", writes(), atomicAdd(&a, 1u));
        }"""
    source = Source.from_text(text)
    found = [it for it in frontend.check(source) if it.is_error]
    assert {it.code for it in found} == {"invalid-print"}
    assert [(it.message.partition("but ")[2], it.span and source.text(it.span)) for it in found] == [
        ("'atomicAdd' writes", "atomicAdd(&a, 1u)"),
        ("'writes' writes 'p'", "writes()"),
        ("'by_pointer' writes 'q'", "by_pointer(&v)"),
        ("in 'outer' 'textureStore' writes", "outer()"),
        ("'workgroupUniformLoad' waits for other invocations", "workgroupUniformLoad(&w)"),
    ]


def test_formatting_keeps_both_forms() -> None:
    text = formatting.format_source(Source.from_text(KERNEL.replace(", f32(i), vec2", ",f32( i ) ,vec2")))
    assert text == formatting.format_source(Source.from_text(text))
    assert '// @debugPrintf("half %u %.1v3f", i, v);' in text
    assert 'k=%d %5.2f%% \\"%s\\" %s"' in text


@pytest.mark.usefixtures("needs_gpu")
def test_lost_lines_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    text = """
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
            for (var k = 0u; k < 100; k++) {
                // @debugPrintf("%u", k);
            }
        }"""
    kernel, size = tinct.load(text)["main"], 20
    with tinct.printed() as prints:
        kernel.run({}, threads=1024)
    assert len(prints.lines) == (1 << 20) // size
    assert prints.lost == 102400 - len(prints.lines)
    assert all(0 <= int(it.text) < 100 for it in prints.lines)
    for device in DEVICES:
        with tinct.printed(print_limit=10 * size + 3) as few:
            kernel.run({}, threads=64, device=device)
            kernel.run({}, threads=64, device=device, print_limit=6400 * size)
        assert (len(few.lines), few.lost) == (6410, 6390), device
    kernel.run({}, threads=64, print_limit=0)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "6400 lines were not kept" in printed.err
    with pytest.raises(tinct.InputError, match="print_limit is a number of bytes"):
        kernel.run({}, threads=64, print_limit=-1)


@pytest.mark.parametrize(
    ("text", "code", "word"),
    [
        ('fn f() { debugPrintf("x"); }', "extension-required", "wgpu_debug_printf"),
        ('fn f() { print("x"); }', "unexpected-token", "takes no string"),
        ('fn f() {\n// @debugPrintf("%u",\n1; }', "unexpected-token", ""),
        ('fn f() {\n// @debugPrintf("%u", 1)\n}', "invalid-print", "has the form"),
        ('fn f() {\n//@DebugPrintf("%u", 1);\n}', "invalid-print", "has the form"),
        ('fn f() {\n// @debugPrintf "x";\n}', "invalid-print", "has the form"),
        ("fn f() {\n// @debugPrintf(x);\n}", "invalid-print", "has the form"),
        ('fn f() {\n/* @debugPrintf("x"); */\n}', "invalid-print", "on one line"),
        ('fn f() {\nvar x = 1;\n// @debugPrintf("x"); x = 2;\n}', "invalid-print", "nothing after it"),
        ('fn f() {\nif true {} // @debugPrintf("x");\nelse {}\n}', "unexpected-token", "comment is a statement"),
        ('fn f() {\n// @debugPrintf("%u %s", 1);\n}', "invalid-format", "2 conversions for 1 argument"),
        ('fn f(v: vec2f) {\n// @debugPrintf("é%v3f", v);\n}', "invalid-format", "a vec3 of f32 or f16"),
        ('fn f() {\n// @debugPrintf("%99999d", 1);\n}', "invalid-format", "unknown conversion"),
        ('fn f() {\n// @debugPrintf("%");\n}', "invalid-format", "unknown conversion '%'"),
        ('fn f(p: ptr<function, i32>) {\n// @debugPrintf("%s", p);\n}', "invalid-format", "scalar"),
        ('fn f() {\n// @debugPrintf("%s", g());\n}\nfn g() {}', "expected-value", ""),
        ('fn f() { let a = "x"; }', "unexpected-token", "WGSL has no strings"),
        ('// @debugPrintf("x");', "unexpected-token", ""),
    ],
)
def test_faults(text: str, code: str, word: str) -> None:
    (found,) = (it for it in frontend.check(Source.from_text(text)) if it.is_error)
    assert found.code == code
    assert word in " ".join([found.message, *(it.message for it in found.notes)])


@pytest.mark.usefixtures("needs_gpu")
def test_values_of_all_types_are_written_as_wgsl_does() -> None:
    text = """
        enable f16;
        struct Inner { at: vec3f, is_on: bool, h: array<f16, 2> }
        struct Outer { inner: array<Inner, 2>, m: mat2x3f, n: array<array<i32, 3>, 2> }
        @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {
            let x = f32(id.x);
            var local: Outer;
            local.inner[1] = Inner(vec3f(x, 0.5, -1), id.x > 1, array(1h, f16(x)));
            local.m[1][2] = x;
            local.n[1][id.x % 3] = -7;
            if id.x % 2 == 1 {
                // @debugPrintf("%s|%s|%s|%s|%d", local, local.inner[1].h, local.n, array<vec2u, 1>(), i32(x));
            }
            // @debugPrintf("%s", array<u32, 300>());
        }"""
    shader = tinct.load(text)
    expected = list[str]()
    for x in range(4):
        n = ["0", "0", "0"]
        n[x % 3] = "-7"
        n_text = f"array<array<i32, 3>, 2>(array<i32, 3>(0, 0, 0), array<i32, 3>({', '.join(n)}))"
        h = f"array<f16, 2>(1.0, {x}.0)"
        zero = "Inner(vec3f(0.0, 0.0, 0.0), false, array<f16, 2>(0.0, 0.0))"
        inner = f"array<Inner, 2>({zero}, Inner(vec3f({x}.0, 0.5, -1.0), {'true' if x > 1 else 'false'}, {h}))"
        outer = f"Outer({inner}, mat2x3f(0.0, 0.0, 0.0, 0.0, 0.0, {x}.0), {n_text})"
        if x % 2:
            expected.append(f"{outer}|{h}|{n_text}|array<vec2u, 1>(vec2u(0, 0))|{x}")
        expected.append(f"array<u32, 300>({', '.join(['0'] * 300)})")
    for device in DEVICES:
        with tinct.printed() as prints:
            shader["main"].run({}, threads=4, device=device)
        assert [it.text for it in prints.lines] == expected, device


def test_names_of_the_user_are_free() -> None:
    text = """
        @group(0) @binding(999) var<storage, read_write> print_records: u32;
        var<private> print_id: u32;
        fn debugPrintf(print_taken: u32) -> u32 { return print_taken; }
        @compute @workgroup_size(1) fn main() {
            // @debugPrintf("%u", debugPrintf(7));
            print_records = debugPrintf(3) + print_id;
        }"""
    with tinct.printed() as prints:
        assert tinct.load(text)["main"].run({"print_records": None}, workgroups=1)["print_records"] == 3
    assert str(prints) == "7"


def test_formats_follow_c() -> None:
    bits = [int(np.float32(it).view(np.uint32)) for it in (1.5, -0.25, 1e10)]
    cases = [
        ('"%d %u %x %X"', (I32, I32, I32, U32), [0xFFFFFFFF] * 3 + [255], "-1 4294967295 ffffffff FF"),
        ('"%+5d|%-5d|%05d|%#x"', (I32,) * 4, [7, 7, 7, 7], "   +7|7    |00007|0x7"),
        ('"%e %g %.2f"', (F32,) * 3, [bits[2], bits[0], bits[1]], "1.000000e+10 1.5 -0.25"),
        ('"%.1v2f\\t%s"', (vector(2, F32), F16), [bits[0], bits[1], bits[0]], "1.5, -0.2\t1.5"),
        ('"%f %f"', (F32, F32), [0x7F800000, 0x7FC00000], "inf nan"),
    ]
    for literal, types, words, text in cases:
        remaining = iter(words)
        assert parse_format(literal).apply(types, [recorded(it, remaining) for it in types]) == text
    assert word_count(matrix(3, 2, F32)) == 6
