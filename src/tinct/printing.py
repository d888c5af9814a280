"""What kernels print by `debugPrintf`: to standard output after each dispatch, or into a list."""

from __future__ import annotations

import sys
from collections.abc import Generator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from .compilation import Compilation
from .ir.core.nodes import Module
from .ir.print_formats import Format, parse_format, word_count
from .ir.source import Source
from .ir.types import BindingPoint
from .ir.wgsl.program import Program
from .origins import ProgramOrigin
from .pipeline import Job
from .reflection import BindingInfo, EntryPointInfo, counters_binding
from .transforms.from_wgsl.build import build_with_printing
from .transforms.from_wgsl.printing import FIRST_ARGUMENT, HEADER, ID, ROOM, PrintSite

_NAME: Final = "prints of tinct"
"""The name of the buffer among a kernel's bindings: no WGSL name has a space."""


@dataclass(frozen=True, slots=True)
class Line:
    """What one statement printed in one invocation, without a line break at the end of the format.

    `invocation` is its `global_invocation_id`; `line` is the line of the statement in `source`, counted from 1.
    """

    text: str
    invocation: tuple[int, int, int]
    source: Source
    line: int

    def __str__(self) -> str:
        return self.text


@dataclass(slots=True)
class Prints:
    """The lines that dispatches printed, in their order; within a dispatch by `global_invocation_id`, z before y before
    x, and within an invocation as it ran. `lost` is the number of lines for which a dispatch had no room.
    """

    lines: list[Line] = field(default_factory=list[Line])
    lost: int = 0

    def __str__(self) -> str:
        return "\n".join(it.text for it in self.lines)


_lists: list[Prints] = []
_lock = Lock()


@contextmanager
def printed() -> Generator[Prints]:
    """Collect what dispatches in the body of the `with` statement print, in all threads, in place of writing it."""
    found = Prints()
    _lists.append(found)
    try:
        yield found
    finally:
        with _lock:
            _lists[:] = [it for it in _lists if it is not found]


def lost_text(lost: int) -> str:
    """A sentence on lines for which there was no room."""
    count = "1 more line was" if lost == 1 else f"{lost} more lines were"
    return f"debugPrintf: {count} not kept: a dispatch has room for {ROOM * 4 >> 20} MiB of records"


def _deliver(found: Prints) -> None:
    with _lock:
        for it in _lists:
            it.lines += found.lines
            it.lost += found.lost
        if _lists:
            return
    for line in found.lines:
        _write(line.text)
    if found.lost:
        print(lost_text(found.lost), file=sys.stderr)


def _write(text: str) -> None:
    try:
        print(text)
    except UnicodeEncodeError:  # standard output in an encoding that lacks a character of the format
        print(text.encode("ascii", "backslashreplace").decode())


class PrintingOrigin(ProgramOrigin):
    """A checked WGSL program that prints. (The cache on disk tells it from others by the name of its class.)"""

    def core(self) -> Module:
        """See `Origin`."""
        return build_with_printing(self.program)[0]


class _Site:
    """A statement that prints, with its format parsed."""

    def __init__(self, program: Program, site: PrintSite) -> None:
        place = program.source.origin(site.node.span.start)
        source, offset = (program.source, site.node.span.start) if place is None else (place.source, place.offset)
        self._source, self._line = source, source.position(offset).line
        self._format: Format = parse_format(site.node.format)
        self._types = site.types
        self.words = FIRST_ARGUMENT + sum(map(word_count, site.types))

    def line(self, record: Sequence[int]) -> Line:
        """The line of a record."""
        text = self._format.apply(self._types, record[FIRST_ARGUMENT:])
        x, y, z = record[ID]
        return Line(text.removesuffix("\n"), (x, y, z), self._source, self._line)


class PrintingProgram:
    """What all printing kernels of a program share. `entries` are the entry points that may print."""

    def __init__(self, program: Program) -> None:
        module, printing = build_with_printing(program)
        del module
        assert printing.buffer.binding is not None
        self.program = program
        self.entries = frozenset(printing.entries)
        self.point: BindingPoint = printing.buffer.binding
        self._sites = [_Site(program, it) for it in printing.sites]

    def prints(self, words: npt.NDArray[np.uint32]) -> Prints:
        """The lines in the words of the buffer after a dispatch, sorted."""
        numbers: list[int] = words[HEADER : HEADER + min(int(words[0]), ROOM)].tolist()
        lines, at = list[Line](), 0
        while at < len(numbers) and numbers[at]:
            site = self._sites[numbers[at] - 1]
            lines.append(site.line(numbers[at : at + site.words]))
            at += site.words
        lines.sort(key=lambda it: it.invocation[::-1])
        return Prints(lines, int(words[1]))


class _Printable(Protocol):
    """A kernel that may print."""

    @property
    def info(self) -> EntryPointInfo: ...

    @property
    def bindings(self) -> Sequence[BindingInfo]: ...

    def compilation(self, constants: Mapping[str, Any] | None = None) -> Compilation: ...


class PrintingKernel:
    """A kernel with a further binding for records, which a device runs as any other."""

    def __init__(self, kernel: _Printable, program: PrintingProgram) -> None:
        self._kernel = kernel
        self._program = program
        self._compilations: dict[Compilation, Compilation] = {}
        self._info = kernel.info
        self._bindings = (*kernel.bindings, counters_binding(_NAME, program.point, HEADER + ROOM))

    @property
    def info(self) -> EntryPointInfo:
        """The entry point."""
        return self._info

    @property
    def bindings(self) -> tuple[BindingInfo, ...]:
        """The bound variables it uses, that for records included."""
        return self._bindings

    def compilation(self, constants: Mapping[str, Any] | None = None) -> Compilation:
        """Its compilation with values for overrides. Raises InputError."""
        plain = self._kernel.compilation(constants)
        if plain not in self._compilations:
            origin = PrintingOrigin(self._program.program)
            self._compilations[plain] = Compilation(Job(origin, plain.job.entry, plain.job.constants))
        return self._compilations[plain]

    def values(self) -> dict[str, npt.NDArray[np.uint32]]:
        """The values of its own bindings before a dispatch."""
        return {_NAME: np.zeros(HEADER + ROOM, np.uint32)}

    def take(
        self,
        outputs: MutableMapping[str, npt.NDArray[Any]],
        compilation: Compilation,
        workgroups: tuple[int, int, int],
    ) -> None:
        """Take the records out of the outputs of a dispatch, and deliver what they say."""
        del compilation, workgroups
        _deliver(self._program.prints(outputs.pop(_NAME)))
