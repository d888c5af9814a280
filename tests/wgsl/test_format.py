"""`tinct fmt`: the same tree and the same comments, and formatted text stays as it is."""

from __future__ import annotations

import json
import lzma
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tinct.backend.wgsl.tokens import tokens_of_source
from tinct.formatting import format_source
from tinct.frontend.parse import parse
from tinct.ir.diagnostics import ShaderError
from tinct.ir.source import Source

ROOT = Path(__file__).parents[2]
SHADERS = sorted((ROOT / "shaders").glob("*/*.wgsl"))
FOLDER = Path(os.environ.get("TINCT_CONFORMANCE", ROOT.parent / "shared" / "conformance"))
VECTORS = FOLDER / "validation-smoke.jsonl.xz"
GOLDENS = ROOT / "tests" / "goldens" / "fmt"
EVERY = 8
COMMENTS = ("// {}\n", "/* {} */", "\n// {}\n", "\n\n/* {} */\n", "/* {}\n  x */", "/* {} */ /* b */ // c\n", "\n\n\n")


def formatted(text: str) -> str:
    """`format_source` itself checks tree and comments."""
    once = format_source(Source.from_text(text))
    assert format_source(Source.from_text(once)) == once
    return once


@pytest.mark.parametrize("path", sorted(GOLDENS.glob("*.wgsl")), ids=lambda path: path.stem)
def test_golden(path: Path, golden: Callable[[Path, str], None]) -> None:
    if not path.stem.endswith(".out"):
        golden(path.with_suffix(".out.wgsl"), formatted(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", SHADERS, ids=lambda path: path.stem)
def test_our_shaders_are_formatted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert formatted(text) == text


@pytest.mark.parametrize("seed", range(40))
def test_comments_anywhere(seed: int) -> None:
    """Comments of every kind between random tokens: none is lost, and the second time nothing moves."""
    randomness = random.Random(seed)
    text = randomness.choice(SHADERS).read_text(encoding="utf-8")
    formatted(with_comments(text, randomness))


def with_comments(text: str, randomness: random.Random) -> str:
    source = Source.from_text(text)
    share = randomness.choice([0.02, 0.1, 0.3])
    parts: list[str] = []
    position = 0
    for number, token in enumerate(tokens_of_source(source, parse(source).unit.comments)):
        parts.append(source.data[position : token.span.start].decode())
        position = token.span.start
        is_apart = source.data[position - 1 : position] in (b" ", b"\n", b"(", b"[", b"{", b",", b";")
        if is_apart and randomness.random() < share:
            parts.append(randomness.choice(COMMENTS).format(number))
    return "".join(parts) + source.data[position:].decode()


@pytest.mark.skipif(not VECTORS.exists(), reason="no conformance vectors on this machine")
def test_sample() -> None:
    with lzma.open(VECTORS, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["code"] for line in lines][::EVERY]
    count = 0
    for text in texts:
        if not parse(Source.from_text(text)).has_errors:
            formatted(text)
            count += 1
    assert count > 300


@pytest.mark.parametrize(
    ("before", "bracket", "after", "limit"),
    [
        ("const a = ", "()", ";", 512),
        ("fn f(@builtin(", "()", ") a: u32) { }", 512),
        ("fn f() ", "{}", "", 127),
    ],
)
def test_what_nests_too_deep_is_refused(before: str, bracket: str, after: str, limit: int) -> None:
    opening, closing = bracket
    middle = "" if opening == "{" else "a"
    text = f"{before}{opening * 10_000}{middle}{closing * 10_000}{after}"
    with pytest.raises(ShaderError, match=f"nest deeper than {limit} levels"):
        format_source(Source.from_text(text))


def test_a_malformed_source_is_refused() -> None:
    with pytest.raises(ShaderError):
        format_source(Source.from_text("fn f( {}"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("// only this", "// only this\n"),
        ("\n\n// a\n\n\n// b\n", "// a\n\n// b\n"),
        ("fn f(){}// c", "fn f() {} // c\n"),
        ("fn f(){// c\n}", "fn f() { // c\n}\n"),
        ("fn f(){\n// c\n}", "fn f() {\n    // c\n}\n"),
        ("struct S{a:f32// c\n}", "struct S {\n    a: f32, // c\n}\n"),
        ("fn f(){let x= - - 1;;}", "fn f() {\n    let x = - -1;\n}\n"),
    ],
)
def test_small_texts(text: str, expected: str) -> None:
    assert formatted(text) == expected
