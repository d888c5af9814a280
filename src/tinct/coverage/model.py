"""What is known of the coverage of files: counts of statements, branches and functions."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from ..counting.places import Places
from ..counting.recorders import recording
from ..ir.source import Source
from ..transforms.core.count_blocks import BlockKey
from .listing import summary


@dataclass(frozen=True, slots=True)
class Branch:
    """A condition at a place: how often each way was taken. `condition` is its text, `kind` is "if", "loop", "switch",
    "&&" or "||".

    The ways of an `if` and of a loop's condition are "true" and "false", those of a `switch` are its cases, and those
    of `&&` and `||` are "right side evaluated" and "right side skipped".
    """

    line: int
    column: int
    kind: str
    condition: str
    taken: Mapping[str, int]
    to: Mapping[str, int | None]
    """The line of the statement that follows each way, if there is one."""


@dataclass(frozen=True, slots=True)
class FunctionCoverage:
    """A function that was called `count` times. Its statements stand in the lines `line` … `end`."""

    name: str
    line: int
    end: int
    count: int


@dataclass(slots=True)
class FileCoverage:
    """The coverage of one file. Counts are sums over all dispatches, whatever the values of overrides.

    Excluded is what no run can reach: statements after a `return`, and branches that a constant expression decides.
    """

    source: Source
    _statements: dict[int, int | None] = field(default_factory=dict[int, "int | None"])
    _outcomes: dict[tuple[int, str, str, str], tuple[int | None, int | None]] = field(
        default_factory=dict[tuple[int, str, str, str], tuple["int | None", "int | None"]]
    )
    _functions: dict[tuple[int, int, str], int] = field(default_factory=dict[tuple[int, int, str], int])

    @property
    def lines(self) -> dict[int, int]:
        """How often each line ran, by its number: the greatest count of the statements that begin in it."""
        found: dict[int, int] = {}
        for offset, count in self._statements.items():
            if count is not None:
                line = self._line(offset)
                found[line] = max(found.get(line, 0), count)
        return dict(sorted(found.items()))

    @property
    def missing(self) -> list[int]:
        """The lines that did not run."""
        return [line for line, count in self.lines.items() if count == 0]

    @property
    def excluded(self) -> list[int]:
        """The lines with statements that no run can reach."""
        counted = self.lines
        return sorted({self._line(it) for it, count in self._statements.items() if count is None} - counted.keys())

    @property
    def branches(self) -> list[Branch]:
        """The branches in the order of the text, without those that a constant expression decides."""
        found: dict[tuple[int, str, str], tuple[dict[str, int], dict[str, int | None]]] = {}
        for (offset, kind, condition, taken), (to, count) in self._outcomes.items():
            if count is not None:
                counts, lines = found.setdefault((offset, kind, condition), ({}, {}))
                counts[taken] = count
                lines[taken] = None if to is None else self._line(to)
        places = sorted(found, key=lambda it: it[0])
        return [Branch(*self.source.position(it[0]), *it[1:], *found[it]) for it in places]

    @property
    def functions(self) -> list[FunctionCoverage]:
        """The functions in the order of the text."""
        return [
            FunctionCoverage(name, self._line(offset), self._line(end), count)
            for (offset, end, name), count in sorted(self._functions.items())
        ]

    def _line(self, offset: int) -> int:
        return self.source.position(offset).line

    def add(self, places: Places, counts: Mapping[BlockKey, int]) -> None:
        """Add what a dispatch has counted; of no dispatch, only which places there are."""
        for it in places.statements:
            if it.source == self.source:
                before = self._statements.get(it.offset)
                self._statements[it.offset] = before if it.block is None else (before or 0) + counts.get(it.block, 0)
        for out in places.outcomes:
            if out.source == self.source:
                key = out.offset, out.kind, out.condition, out.taken
                _, before = self._outcomes.get(key, (None, None))
                count = before if out.block is None else (before or 0) + counts.get(out.block, 0)
                self._outcomes[key] = out.to, count
        for function in places.functions:
            if function.source == self.source:
                place = function.offset, function.end, function.name
                self._functions[place] = self._functions.get(place, 0) + counts.get(function.block, 0)


class Coverage:
    """The coverage of all files of which something ran, by name. Texts that are in no file have the name `<text>`."""

    def __init__(self) -> None:
        self._files: dict[Source, FileCoverage] = {}
        self._lock = Lock()

    @property
    def is_on(self) -> bool:
        """True."""
        return True

    def record(self, places: Places, counts: Mapping[BlockKey, int]) -> None:
        """Add the counts of a dispatch."""
        with self._lock:
            for source in sources_of(places):
                self._files.setdefault(source, FileCoverage(source)).add(places, counts)

    def __iter__(self) -> Iterator[FileCoverage]:
        return iter(self._files.values())

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, name: str) -> FileCoverage:
        """The file of that name. Raises KeyError."""
        for file in self._files.values():
            if file.source.name == name:
                return file
        raise KeyError(name)

    def __str__(self) -> str:
        """A line for each file: statements, branches and functions that ran, and the lines that did not."""
        return summary(self)


def sources_of(places: Places) -> list[Source]:
    """The texts that places are in."""
    found = [it.source for it in places.statements] + [it.source for it in places.functions]
    return list(dict.fromkeys(found))


@contextmanager
def measure() -> Generator[Coverage]:
    """Measure the dispatches in the body of the `with` statement, in all threads of the process, on any device.

    `Kernel.run`, calls of WGSL functions, and tests in WGSL count; kernels of graphs and those that `Session.run`
    starts do not.
    """
    found = Coverage()
    with recording(found):
        yield found
