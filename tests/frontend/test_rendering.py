"""How a diagnostic looks beside its source."""

from __future__ import annotations

import pytest

from tinct.frontend import MOST_DIAGNOSTICS, check
from tinct.ir.diagnostics import Diagnostic, Note, Severity, render, with_article
from tinct.ir.source import Source, Span


def lines(text: str, start: str, end: str | None = None) -> list[str]:
    """What is shown under the head of a diagnostic from one word to the end of another."""
    source = Source.from_text(text, "a.wgsl")
    first = source.data.index(start.encode())
    stop = source.data.index((end or start).encode()) + len((end or start).encode())
    shown = render(Diagnostic(Severity.ERROR, "code", "words", Span(first, stop)), source)
    head, *rest = shown.split("\n")
    assert head == "error[code]: words"
    return rest


def test_one_line() -> None:
    assert lines("let a = 1;\nlet b = a;\n", "b = a") == [
        " --> a.wgsl:2:5",
        "  |",
        "2 | let b = a;",
        "  |     ^^^^^",
    ]


def test_several_lines_show_the_first_and_the_last() -> None:
    text = "\n" * 7 + "  loop {\n" + "\n" * 3 + "  } // end\n"
    assert lines(text, "loop", "}") == [
        "  --> a.wgsl:8:3",
        "   |",
        " 8 |   loop {",
        "   |   ^^^^^^",
        "   …",
        "12 |   } // end",
        "   |   ^",
    ]


def test_two_lines_leave_nothing_out() -> None:
    assert lines("a(\n  b)", "a", ")")[2:] == ["1 | a(", "  | ^^", "2 |   b)", "  |   ^^"]


def test_a_span_up_to_the_line_break_is_one_line() -> None:
    assert lines("abc\ndef", "abc\n")[2:] == ["1 | abc", "  | ^^^"]


@pytest.mark.parametrize(
    ("text", "shown", "carets"),
    [
        pytest.param("\tx\ty", "    x    y", "         ^", id="tabs"),
        pytest.param("変数 y", "変数 y", "     ^", id="wide characters before"),
        pytest.param("e\u0301 y", "e\u0301 y", "  ^", id="combining characters"),
        pytest.param("\a\u200e y", "   y", "   ^", id="what a terminal may not print"),
    ],
)
def test_columns(text: str, shown: str, carets: str) -> None:
    assert lines(text, "y")[2:] == [f"1 | {shown}", f"  | {carets}"]


def test_wide_characters_are_underlined_whole() -> None:
    assert lines("x 変数", "変数")[3] == "  |   ^^^^"


def test_a_very_long_line_is_cut_around_the_caret() -> None:
    shown, carets = lines("a" * 5000 + "HERE" + "b" * 5000, "HERE")[2:]
    assert len(shown) < 200
    assert shown.startswith("1 | …a") and shown.endswith("b…")
    assert shown.index("HERE") == carets.index("^^^^")


def test_a_very_long_name_is_cut() -> None:
    shown = render(Diagnostic(Severity.ERROR, "code", "x" * 10**6, notes=(Note("y" * 10**6),)), None)
    assert len(shown) < 2000


def test_the_end_of_the_text_has_a_place() -> None:
    source = Source.from_text("fn f() {", "a.wgsl")
    (found,) = check(source)
    assert render(found, source).split("\n")[3:] == ["1 | fn f() {", "  |         ^"]


def test_errors_without_end_are_cut_off() -> None:
    found = check(Source.from_text("fn f() {" + "_ = 1 + 1u + 1i;" * 1000 + "}"))
    assert len(found) == MOST_DIAGNOSTICS + 1
    assert found[-1].code == "more-diagnostics"


AN = [
    "override",
    "access mode",
    "i32",
    "f16",
    "array<f32>",
    "atomic<u32>",
    "unsigned number",
    "address space",
    "If",
    "8",
]
A = [
    "u32",
    "uniform",
    "unit",
    "texel format",
    "vec3f",
    "severity",
    "function",
    "half",
    "let",
    "name",
    "shape",
    "struct",
]


@pytest.mark.parametrize(("nouns", "article"), [(AN, "an"), (A, "a")], ids=["an", "a"])
def test_articles(nouns: list[str], article: str) -> None:
    assert [with_article(noun) for noun in nouns] == [f"{article} {noun}" for noun in nouns]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@group(0) @binding(0) var t: texture_storage_2d<f32, read>;", "'f32' does not name a texel format"),
        ("var<f32> a: i32;", "'f32' does not name an address space"),
        ("override n = 1u; fn f(x: n) {}", "'n' is an override, not a type"),
        ("override n = 1u; fn f() { n(); }", "'n' is an override, not a function"),
        ("@fragment fn f(@location(0) @interpolate(1) a: f32) {}", "expected the name of an interpolation"),
    ],
)
def test_articles_in_messages(text: str, message: str) -> None:
    assert message in [diagnostic.message for diagnostic in check(Source.from_text(text))]
