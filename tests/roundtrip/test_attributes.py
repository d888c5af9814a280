"""Attributes of statements, empty bodies and conditions with effects: one round trip gives the normal form."""

from __future__ import annotations

import pytest

from .attributes import Generator
from .test_goldens import module_of, written


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_second_trip_is_the_identity(first: int) -> None:
    for seed in range(first, first + 20):
        text = written(module_of(Generator(seed).shader()))
        assert written(module_of(text)) == text, f"seed {seed}"


FRAGMENT = "@fragment fn main(@location(0) c: f32) -> @location(0) f32 {{ {} return c; }}"
FILTER = "@diagnostic(off, derivative_uniformity)"


@pytest.mark.parametrize(
    "statement",
    [
        f"if dpdx(c) > 0.0 {FILTER} {{ }}",
        f"if dpdx(c) > 0.0 {FILTER} {{ }} else {FILTER} {{ {{ }} }}",
        f"{FILTER} if dpdx(c) > 0.0 {{ if c > 1.0 {FILTER} {{ }} }}",
        f"{FILTER} {{ {FILTER} {{ }} }}",
        "loop { if c > 0.0 { continue; } else { continue; } continuing { break if c > 1.0; } }",
    ],
)
def test_what_does_nothing_is_left_out(statement: str) -> None:
    text = written(module_of(FRAGMENT.format(statement)))
    assert "if c" not in text.replace("break if", "")
    assert "diagnostic" not in text
    assert "dpdx" not in text


def test_attributes_of_an_empty_continuing_part() -> None:
    text = written(module_of(FRAGMENT.format(f"loop {{ if c > 0.0 {{ break; }} continuing {FILTER} {{ }} }}")))
    assert "while !(c > 0.0) {}" in text
