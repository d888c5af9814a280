"""Tests that are WGSL functions."""

from __future__ import annotations

from pathlib import Path

import pytest

import tinct
from tinct.backend.gpu import GpuDevice
from tinct.ir.source import Source
from tinct.testing import WgslTests

DEVICES = ["cpu", "interp", *(["gpu"] if GpuDevice.available() else [])]


def loaded(text: str, folder: Path | None = None) -> WgslTests:
    """The tests of a text."""
    return WgslTests(Source.from_text(text, "some.wgsl"), folder)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("statement", "left", "right"),
    [
        ("expectEq(1u, 2)", "1", "2"),
        ("expectEq(3, -4)", "3", "-4"),
        ("expectEq(true, false)", "True", "False"),
        ("expectEq(vec2u(1, 2), vec2(1, 3))", "[1, 2]", "[1, 3]"),
        ("expectEq(vec2<bool>(true, false), vec2<bool>(true))", "[ True, False]", "[ True, True]"),
        ("expectEq(mat2x2f(1, 2, 3, 4), mat2x2f(1, 2, 3, 5))", "[[1., 2.], [3., 4.]]", "[[1., 2.], [3., 5.]]"),
        ("expectEq(array(1, 2), array(1, 3))", "[1, 2]", "[1, 3]"),
        ("expectEq(array(vec2f(1, 2)), array(vec2f(1, 3)))", "[[1., 2.]]", "[[1., 3.]]"),
        ("expectEq(seven(), 8)", "7.", "8."),
        ("expectNear(1.0, 1.0011)", "1.", "1.0011"),
        ("expectNear(0.0, 2e-6)", "0.", "2.e-06"),
        ("expectNear(1, 2)", "1.", "2."),
        ("expectNearVec3(vec3f(1), vec3(1, 1, 2))", "[1., 1., 1.]", "[1., 1., 2.]"),
        ("expectWithin(1.0, 1.2, 0.1, 0.0)", "1.", "1.2"),
        ("expectWithinVec2(vec2f(0), vec2f(0.2), 0.0, 0.1)", "[0., 0.]", "[0.2, 0.2]"),
        ("expectUlp(1.0, 1.0000002, 1)", "1.", "1.0000002"),
        ("expectUlp(-1e-45, 1e-45, 1u)", "-1.e-45", "1.e-45"),
        ("expectUlpVec4(vec4f(1), vec4f(2), 3)", "[1., 1., 1., 1.]", "[2., 2., 2., 2.]"),
    ],
)
def test_both_values_of_what_does_not_hold(device: str, statement: str, left: str, right: str) -> None:
    found = loaded(f"fn seven() -> f32 {{ return 7; }}\n@test fn t() {{\n  {statement};\n}}").run("t", device)
    assert str(found) == f"some.wgsl:3:3: {statement}\n    left:  {left}\n    right: {right}"


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "statement",
    [
        "expect(1 < 2)",
        "expectEq(1u, 1)",
        "expectEq(0.0, -0.0)",
        "expectNear(1.0, 1.0009)",
        "expectNear(big(), big())",
        "expectWithin(1.0, 1.2, 0.2, 0.0)",
        "expectUlp(1.0, 1.0000002, 2)",
        "expectUlp(0.0, -0.0, 0)",
        "expectUlpVec2(vec2f(1), vec2f(1), 0)",
    ],
)
def test_what_holds(device: str, statement: str) -> None:
    infinity = "fn big() -> f32 { return bitcast<f32>(0x7f800000u + zero); } var<private> zero: u32;"
    assert not loaded(f"{infinity} @test fn t() {{ {statement}; }}").run("t", device).failures


def test_halves() -> None:
    tests = loaded("enable f16; @test fn t() { expectUlp(1h, 1.002h, 1); expectNear(1h, 1.01h); }")
    assert [it.split("\n")[1:] for it in map(str, tests.run("t").failures)] == [
        ["    left:  1.", "    right: 1.002"],
        ["    left:  1.", "    right: 1.01"],
    ]


@pytest.mark.parametrize("device", DEVICES)
def test_every_failure_in_order_also_in_what_a_test_calls(device: str) -> None:
    tests = loaded("""
        fn is_small(n: u32) { expect(n < 2u); }
        @test fn t() {
            var calls = 0u;
            for (var i = 0u; i < 4u; i++) { is_small(i); if i == 2u { expectEq(i, 9u); } }
            expectEq(more(&calls), 2u);
            expectEq(calls, 1u);
        }
        fn more(p: ptr<function, u32>) -> u32 { *p += 1u; return *p; }""")
    failures = tests.run("t", device).failures
    assert [(it.line, it.text) for it in failures] == [
        (2, "expect(n < 2u)"),
        (5, "expectEq(i, 9u)"),
        (2, "expect(n < 2u)"),
        (6, "expectEq(more(&calls), 2u)"),
    ]


def test_more_failures_than_a_report_has_room_for() -> None:
    found = loaded("@test fn t() { for (var i = 0u; i < 40000u; i++) { expectEq(i, 50000u); } }").run("t")
    assert len(found.failures) == (1 << 16) // 3
    assert found.unreported == 40_000 - len(found.failures)
    assert str(found).endswith(f"{found.unreported} more failures are not shown")


@pytest.mark.parametrize("device", DEVICES)
def test_markers(device: str) -> None:
    tests = loaded("""
        // A note. @test is not a mark here
        fn helper() {}
        /* @test */ fn other() {}
        // @test
        // Halves.
        fn one() -> bool { return true; }
        @test fn two() { expect(true); }
        // @test
        @must_use fn three() -> bool { return 1 + 1 == 3; }
        @ test
        fn four() {}""")
    assert tests.lines == {"one": 7, "two": 8, "three": 10, "four": 12}
    assert not tests.run("one", device).failures
    assert str(tests.run("three", device)) == "some.wgsl:10:22: three\n    is false"


@pytest.mark.parametrize("device", DEVICES)
def test_annotated_buffers_begin_with_zeros(device: str) -> None:
    tests = loaded("""
        @group(0) @binding(4) var<storage> other: array<u32, 3>;
        @buffer var<storage, read_write> data: array<f32, 4>;
        @test fn t() { data[1] = 2; expectEq(data, array(0f, 2, 0, 0)); expectEq(other[2], 0); }
        @test fn again() { expectEq(data[1], 0); }""")
    assert not tests.run("t", device).failures
    assert not tests.run("again", device).failures


def test_imports_of_files_beside_the_tests(tmp_path: Path) -> None:
    (tmp_path / "shaders").mkdir()
    (tmp_path / "shaders" / "maths.wgsl").write_text(
        "fn half(x: f32) -> f32 { return x / 2; } fn one() -> f32 { return 1; }"
    )
    folder = tmp_path / "tests"
    folder.mkdir()
    tests = loaded(
        "import wgsl_test::{expectEq};\nimport package::maths::half;\nimport package::maths::{one};\n"
        "@test fn t() { expectEq(half(3), 1.5); expectEq(one(), 2); }",
        folder,
    )
    assert str(tests.run("t")).startswith("some.wgsl:4:40: expectEq(one(), 2)\n")
    with pytest.raises(tinct.ShaderError, match=r"not supported: import package::missing::x[\s\S]*some\.wgsl:1:1"):
        loaded("import package::missing::x;\n@test fn t() {}", folder)


def test_names_of_the_text_may_be_those_of_ours() -> None:
    tests = loaded("""
        fn test_fail() -> u32 { return 3; } var<private> test_report: u32;
        fn expect(x: u32) {}
        @test fn test_left() { expect(1); expectEq(test_fail(), 4); }""")
    assert len(tests.run("test_left").failures) == 1


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("@test @compute @workgroup_size(1) fn t() {}", "a test is a function that is no entry point", "1:38"),
        ("// @test\n@compute @workgroup_size(1) fn t() {}", "a test is a function that is no entry point", "2:32"),
        ("@test fn t(a: u32) {}", "a test takes no parameters", "1:10"),
        ("@test var<private> t: u32;", "only functions are tests", "1:1"),
        ("@test fn t() -> u32 { return 1; }", "a test returns nothing or a bool, not u32", "1:10"),
        ("@test fn t() { expectEq(1u, 2f); }", "expectEq compares values of one type, not u32 and f32", "1:16"),
        ("@test fn t() { expectEq(1u); }", "expectEq takes 2 arguments", "1:16"),
        ("@test fn t() { let x = expect(true); }", "expect is a statement of its own", "1:24"),
        ("@test fn t() { expect(1); }", "expect takes a bool, not i32", "1:16"),
        ("@test fn t() { expectNear(1u, 2u); }", "expectNear compares floats, not u32", "1:16"),
        (
            "@test fn t() { expectNearVec2(vec3f(), vec3f()); }",
            "expectNearVec2 compares vectors of 2, not vec3<f32>",
            "1:16",
        ),
        ("struct S { a: u32 }\n@test fn t() { expectEq(S(), S()); }", "not S", "2:16"),
        ("@test fn t() { expectEq(array<u32, 300>(), array<u32, 300>()); }", "at most 256 numbers", "1:16"),
        ("\n@test fn t() { expectEq(x, 1); }", "unresolved identifier 'x'", "2:25"),
        ("\n@test fn t() { expect(true); let y = 1u + 1f; }", "no operator '+'", "2:38"),
        ("@test fn t() {", "expected '}'", "1:15"),
        (
            "@test_texture(gradient, 2, 2) var t: texture_2d<f32>; @test fn t() {}",
            "not supported: @test_texture",
            "1:1",
        ),
        ("for @test", "", "1:1"),
    ],
)
def test_mistakes_have_their_place(text: str, message: str, place: str) -> None:
    with pytest.raises(tinct.ShaderError) as caught:
        loaded(text)
    assert message in str(caught.value)
    assert f"some.wgsl:{place}" in str(caught.value)


def test_unknown_test_and_resources() -> None:
    with pytest.raises(tinct.InputError, match="there is no test named 'tt'; did you mean 't'"):
        loaded("@test fn t() {}").run("tt")
    tests = loaded("@buffer var<storage> data: array<f32>; @test fn t() { expectEq(data[0], 0); }")
    with pytest.raises(tinct.InputError, match=r"not supported: .* data: array<f32>, which has no fixed size"):
        tests.run("t")
