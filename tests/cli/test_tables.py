"""Tables fit the terminal: words fold, columns are left out by rank, numbers stay whole."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tinct.cli import tables
from tinct.cli.tables import Column, Row, print_table

COLUMNS = (
    Column("kernel"),
    Column("answer"),
    Column("worst ulp", 1, is_number=True),
    Column("compile ms", 3, is_number=True),
    Column("run ms", 2, is_number=True),
)
ROWS = (
    Row(("a_kernel_with_a_long_name", "agrees", "123456", "1234.5", "98765.25")),
    Row(("b", "WRONG", "1", "2", "3")),
)


def printed(width: int, monkeypatch: pytest.MonkeyPatch) -> str:
    out = io.StringIO()
    monkeypatch.setattr(tables, "console", lambda: Console(file=out, width=width, highlight=False))
    print_table(COLUMNS, ROWS)
    return out.getvalue()


@pytest.mark.parametrize("width", range(26, 121))
def test_every_width(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = printed(width, monkeypatch)
    assert max(map(len, text.splitlines())) <= width
    left_out = " ".join(text.partition("not shown in")[2].split())
    for head, number in (("worst ulp", "123456"), ("compile ms", "1234.5"), ("run ms", "98765.25")):
        assert (number in text.split()) != (head in left_out), text


@pytest.mark.parametrize(
    ("width", "left_out"),
    [
        (120, []),
        (80, []),
        (60, []),
        (50, ["compile ms"]),
        (40, ["compile ms", "run ms"]),
        (30, ["worst ulp", "compile ms", "run ms"]),
    ],
)
def test_columns_are_left_out_by_rank(width: int, left_out: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    words = " ".join(printed(width, monkeypatch).split())
    assert words.partition(f"not shown in {width} columns: ")[2] == ", ".join(left_out)


def test_text_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        line.split()[0] for line in printed(30, monkeypatch).splitlines() if line.startswith("  ") and line.strip()
    ]
    assert "".join(lines[1:4]).startswith("a_kernel_with_a_long_name")
