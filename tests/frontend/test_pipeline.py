"""What waits for pipeline creation: override values and all that depends on them."""

from __future__ import annotations

import pytest

from tinct.frontend import check, check_pipeline, load_program
from tinct.ir.source import Source

MAIN = "@compute @workgroup_size(1) fn main()"
WIDE = "@compute @workgroup_size(32) fn main()"


def errors(text: str, entry: str = "main", **constants: float) -> list[str]:
    program = load_program(Source.from_text(text))
    keys = {key.removeprefix("_"): value for key, value in constants.items()}
    return [diagnostic.code for diagnostic in check_pipeline(program, entry, keys)]


@pytest.mark.parametrize(
    ("text", "constants", "expected"),
    [
        pytest.param(f"override o: u32; {MAIN} {{ _ = o; }}", {}, ["missing-override"], id="no value"),
        pytest.param(f"override o: u32; {MAIN} {{ }}", {}, [], id="unused needs no value"),
        pytest.param(f"override o: u32; {MAIN} {{ _ = o; }}", {"o": 1}, [], id="by name"),
        pytest.param(f"@id(3) override o: u32; {MAIN} {{ _ = o; }}", {"_3": 1}, [], id="by id"),
        pytest.param(f"@id(3) override o = 1; {MAIN} {{ _ = o; }}", {"o": 1}, ["unknown-override"], id="name of id"),
        pytest.param(f"override o = 1; {MAIN} {{ }}", {"p": 1}, ["unknown-override"], id="unknown"),
        pytest.param(f"override o = 1u; {MAIN} {{ }}", {"o": -1}, ["invalid-override-value"], id="negative u32"),
        pytest.param(f"override o = 1f; {MAIN} {{ }}", {"o": 1e40}, ["invalid-override-value"], id="large f32"),
        pytest.param(
            f"override o = 1f; {MAIN} {{ }}", {"o": float("nan")}, ["invalid-override-value"], id="not a number"
        ),
        pytest.param(
            f"override a = 0; override b = 1 / a; {MAIN} {{ _ = b; }}", {}, ["evaluation-error"], id="initial value"
        ),
        pytest.param(
            f"override a = 0; override b = 1 / a; {MAIN} {{ _ = b; }}", {"a": 2}, [], id="initial value mended"
        ),
        pytest.param(f"override o = 0; {MAIN} {{ _ = 1 / o; }}", {}, ["evaluation-error"], id="in a body"),
        pytest.param(
            f"override o = 0; fn g() {{ _ = 1 / o; }} {MAIN} {{ g(); }}", {}, ["evaluation-error"], id="in a callee"
        ),
        pytest.param(f"override o = 0; fn g() {{ _ = 1 / o; }} {MAIN} {{ _ = o; }}", {}, [], id="unreached function"),
        pytest.param(
            "override o = 16u; var<workgroup> b: buffer<o>; " + f"{MAIN} {{ _ = bufferView<vec4u>(&b, 0); }}",
            {"o": 12},
            ["evaluation-error"],
            id="view past the end of a buffer",
        ),
        pytest.param(
            "override o = 16u; var<workgroup> b: buffer<o>; " + f"{MAIN} {{ _ = &b; }}",
            {"o": 6},
            ["invalid-element-count"],
            id="size of a buffer",
        ),
        pytest.param(
            "override o = 0; @group(0) @binding(0) var<storage> b: buffer; "
            + f"{MAIN} {{ _ = bufferView<u32>(&b, o); _ = bufferArrayView<array<u32>>(&b, 0, 4 + o); }}",
            {"o": 2},
            ["evaluation-error", "evaluation-error"],
            id="offset and size of a view",
        ),
        pytest.param(
            f"enable subgroup_size_control; override o = 16; @subgroup_size(o) {WIDE} {{ }}",
            {"o": 64},
            ["invalid-workgroup-size"],
            id="subgroup wider than the workgroup",
        ),
        pytest.param(
            f"enable subgroup_size_control; override o = 16; @subgroup_size(o) {WIDE} {{ }}",
            {"o": 24},
            ["invalid-workgroup-size"],
            id="subgroup size no power of two",
        ),
        pytest.param(
            "struct S { m: mat4x4f, n: u32 } var<immediate> s: S; " + f"{MAIN} {{ _ = s.n; }}",
            {},
            ["limit-exceeded"],
            id="too much immediate data",
        ),
        pytest.param(
            f"override o = 33u; {MAIN} {{ var x = 1; x = x << o; }}", {}, ["evaluation-error"], id="right operand"
        ),
        pytest.param(f"override o = 5; {MAIN} {{ _ = array(1, 2)[o]; }}", {}, ["index-out-of-bounds"], id="index"),
        pytest.param(f"override o = false; {MAIN} {{ _ = o && 1 / i32(o) == 1; }}", {}, [], id="short circuit skips"),
        pytest.param(
            f"override o = true; {MAIN} {{ _ = o && 1 / i32(!o) == 1; }}", {}, ["evaluation-error"], id="or not"
        ),
        pytest.param(
            f"override o = 2; var<workgroup> w: array<u32, o>; {MAIN} {{ _ = w[o]; }}",
            {},
            ["index-out-of-bounds"],
            id="index of counted array",
        ),
        pytest.param(
            f"override o = 0; var<workgroup> w: array<u32, o>; {MAIN} {{ _ = w[0]; }}",
            {},
            ["invalid-element-count"],
            id="element count",
        ),
        pytest.param(
            f"override o = 16385; var<workgroup> w: array<u32, o>; {MAIN} {{ _ = w[0]; }}",
            {},
            ["too-much-workgroup-memory"],
            id="workgroup memory",
        ),
        pytest.param(
            f"override o = 4097; var<workgroup> w: array<u32, o>; {MAIN} {{ _ = w[0]; }}",
            {},
            ["over-default-limits"],
            id="workgroup memory that a device must be asked for",
        ),
        pytest.param(
            f"override o = 4096; var<workgroup> w: array<u32, o>; {MAIN} {{ _ = w[0]; }}", {}, [], id="fits exactly"
        ),
        pytest.param(
            f"override low = 3f; {MAIN} {{ var x = 1f; x = clamp(x, low, 2f); }}", {}, ["evaluation-error"], id="clamp"
        ),
    ],
)
def test_override_values(text: str, constants: dict[str, float], expected: list[str]) -> None:
    assert errors(text, **constants) == expected


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("256", []),
        ("257", ["over-default-limits"]),
        ("1, 1, 65", ["over-default-limits"]),
        ("16, 16, 2", ["over-default-limits"]),
        ("32, 32", ["over-default-limits"]),
        ("1025", ["invalid-workgroup-size"] * 2),
        ("1, 1, 1025", ["invalid-workgroup-size"] * 2),
        ("32, 32, 2", ["invalid-workgroup-size"]),
        ("x", []),
        ("x - 8", ["invalid-workgroup-size"]),
    ],
)
def test_workgroup_sizes(size: str, expected: list[str]) -> None:
    assert errors(f"override x = 8; @compute @workgroup_size({size}) fn main() {{}}") == expected


def test_unknown_entry_point() -> None:
    assert errors(f"{MAIN} {{}}", entry="mian") == ["no-such-entry-point"]


def test_default_pipelines_are_checked_with_the_text() -> None:
    text = """
        override half = 512;
        override unknown: u32;
        @compute @workgroup_size(2 * half) fn large() { _ = unknown; }
        @compute @workgroup_size(half, 4) fn main() {}
        @compute @workgroup_size(half) fn row() {}
    """
    found = check(Source.from_text(text))
    assert [(it.code, it.severity.value) for it in found] == [
        ("invalid-workgroup-size", "warning"),
        ("over-default-limits", "warning"),
    ]
    assert found[0].notes[-1].message.startswith("so no pipeline of 'main' can be made")
