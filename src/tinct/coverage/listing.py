"""Reports as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .model import Branch, FileCoverage

_WIDTH: Final = 9
"""The columns of a count."""


def summary(files: Iterable[FileCoverage]) -> str:
    """A line for each file: how many of its lines, branches and functions ran, and which lines did not."""
    rows = [("file", "lines", "branches", "functions", "missing"), *map(_row, files)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join("  ".join((*(it.ljust(n) for it, n in zip(row, widths, strict=False)), row[4])) for row in rows)


def _row(file: FileCoverage) -> tuple[str, str, str, str, str]:
    counts = list(file.lines.values())
    ways = [it for branch in file.branches for it in branch.taken.values()]
    calls = [it.count for it in file.functions]
    return file.source.name, _share(counts), _share(ways), _share(calls), ranges(file.missing)


def _share(counts: Sequence[int]) -> str:
    return f"{sum(it > 0 for it in counts)}/{len(counts)}"


def ranges(lines: Sequence[int]) -> str:
    """Line numbers in increasing order as text, such as `3-5, 9`."""
    found: list[list[int]] = []
    for line in lines:
        if found and line == found[-1][1] + 1:
            found[-1][1] = line
        else:
            found.append([line, line])
    return ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in found)


def listing(file: FileCoverage) -> str:
    """The text of a file with a count before each line that runs, and a remark below each branch of which a way was
    never taken. `never` marks a line that did not run, `-` one that no run can reach.
    """
    counts, excluded = file.lines, set(file.excluded)
    remarks: dict[int, list[str]] = {}
    for branch in file.branches:
        remarks.setdefault(branch.line, []).extend(_remarks(branch, counts.get(branch.line, 0)))
    found: list[str] = []
    ends_in_break = file.source.line_starts[-1] == len(file.source.data)
    for line in range(1, len(file.source.line_starts) + (0 if ends_in_break else 1)):
        shown = "-" if line in excluded else "" if line not in counts else str(counts[line] or "never")
        found.append(f"{shown:>{_WIDTH}} {line:4}  {file.source.line_text(line)}".rstrip())
        found += [f"{'':{_WIDTH}}    ^  {it}" for it in remarks.get(line, ())]
    return "\n".join(found).rstrip()


def _remarks(branch: Branch, count: int) -> Iterator[str]:
    """The ways of a branch that were never taken, if its line ran."""
    never = [way for way, taken in branch.taken.items() if taken == 0]
    if count and never:
        yield f"{branch.condition}: never {', never '.join(never)}"
