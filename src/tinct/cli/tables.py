"""Tables that fit the terminal: text folds, and where that is not enough, the least important columns go."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

from rich import box
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.padding import Padding
from rich.table import Table

from . import colours

_LIMITLESS = 10_000
"""The width of an output that is no terminal, where tables keep their full width."""
_FOLDED = (12, 8, 5)
"""Columns that text is folded to at most; the latter two only where all columns that may be left out are."""
_AROUND = 3
"""Blanks of a column beside its text; the table has one more."""


class Column(NamedTuple):
    """A column. Of those with a rank above 0 the highest is left out first. Text folds, numbers do not."""

    head: str
    rank: int = 0
    is_number: bool = False


class Row(NamedTuple):
    """The cells of a row; `style` is rich's."""

    cells: Sequence[str]
    style: str = ""


class _Output(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Raise the error, as other output does: the command line exits with its own code."""
        raise BrokenPipeError


def console() -> Console:
    """Standard output for tables."""
    is_terminal, wanted = sys.stdout.isatty(), colours.wanted()
    is_coloured = is_terminal if wanted is None else wanted
    return _Output(
        force_terminal=is_coloured,
        color_system="standard" if is_coloured else None,
        no_color=False,
        width=None if is_terminal else _LIMITLESS,
        highlight=False,
    )


def print_table(columns: Sequence[Column], rows: Sequence[Row]) -> None:
    """Print a table, and under it which columns a narrow terminal leaves out."""
    out = console()
    kept, least = _fitting(columns, rows, out.width)
    widths = _widths(kept, columns, rows, least, out.width)
    table = Table(box=box.SIMPLE_HEAD)
    for index in kept:
        justify: JustifyMethod = "right" if columns[index].is_number else "left"
        table.add_column(columns[index].head, justify=justify, width=widths[index], overflow="fold")
    for row in rows:
        table.add_row(*(row.cells[index] for index in kept), style=row.style)
    out.print(table)
    left_out = [column.head for index, column in enumerate(columns) if index not in kept]
    if left_out:
        out.print(Padding(f"not shown in {out.width} columns: {', '.join(left_out)}", (0, 0, 1, 2)))


def _fitting(columns: Sequence[Column], rows: Sequence[Row], width: int) -> tuple[list[int], list[int]]:
    """The numbers of the columns that fit the terminal, and the least width of every column."""
    kept = list(range(len(columns)))
    least: list[int] = []
    for folded in _FOLDED:
        least = [_least(column, _cells(index, rows), folded) for index, column in enumerate(columns)]
        while _width(kept, least) > width:
            last = max(kept, key=lambda index: (columns[index].rank, index))
            if columns[last].rank == 0:
                break
            kept.remove(last)
        if _width(kept, least) <= width:
            break
    return kept, least


def _widths(
    kept: Sequence[int], columns: Sequence[Column], rows: Sequence[Row], least: Sequence[int], width: int
) -> dict[int, int]:
    """The width of each column: its text's where there is room; otherwise the widest are narrowed first."""
    texts = (max(cell_len(columns[index].head), _longest(_cells(index, rows))) for index in kept)
    widths = {index: max(least[index], min(text, width)) for index, text in zip(kept, texts, strict=True)}
    for _ in range(_width(kept, widths) - width):
        narrowable = [index for index in kept if widths[index] > least[index]]
        if not narrowable:
            break
        widths[max(narrowable, key=widths.__getitem__)] -= 1
    return widths


def _width(kept: Sequence[int], widths: Sequence[int] | Mapping[int, int]) -> int:
    return 1 + sum(widths[index] + _AROUND for index in kept)


def _cells(index: int, rows: Sequence[Row]) -> list[str]:
    return [row.cells[index] for row in rows]


def _longest(cells: Sequence[str]) -> int:
    return max((cell_len(line) for cell in cells for line in cell.splitlines()), default=0)


def _least(column: Column, cells: Sequence[str], folded: int) -> int:
    """The minimum width of a column, with its heading folded between words."""
    text = _longest(cells)
    head = max(map(cell_len, column.head.split()))
    return max(min(head, folded), text if column.is_number else min(text, folded))
