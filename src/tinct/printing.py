"""Kernels that print by `debugPrintf`: their records, and the lines that these stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from .ir.core.nodes import Module
from .ir.print_formats import Format, parse_format, recorded, word_count
from .ir.wgsl.program import Program
from .origins import ProgramOrigin
from .print_lines import Line, Prints, deliver, room
from .reflection import BindingInfo, words_binding
from .transforms.from_wgsl.build import build_with_printing
from .transforms.from_wgsl.printing import FIRST_ARGUMENT, HEADER, ID, PrintSite

_NAME: Final = "prints of tinct"
"""The name of the buffer among a kernel's bindings: no WGSL name has a space."""
_WORD: Final = 4
"""Bytes of a word."""


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
        words = iter(record[FIRST_ARGUMENT:])
        text = self._format.apply(self._types, [recorded(it, words) for it in self._types])
        x, y, z = record[ID]
        return Line(text.removesuffix("\n"), (x, y, z), self._source, self._line)


class PrintingProgram:
    """What all printing kernels of a program share: the instrument for its prints. `entries` are the entry points that
    may print.
    """

    def __init__(self, program: Program) -> None:
        _, printing = build_with_printing(program)
        assert printing.buffer.binding is not None
        self.program = program
        self.entries = frozenset(printing.entries)
        self._binding = words_binding(_NAME, printing.buffer.binding, None)
        self._sites = [_Site(program, it) for it in printing.sites]

    @property
    def binding(self) -> BindingInfo:
        """The buffer for records."""
        return self._binding

    def words(self) -> npt.NDArray[np.uint32]:
        """No records."""
        return np.zeros(HEADER + room() // _WORD, np.uint32)

    def take(self, words: npt.NDArray[np.uint32], entry: str, invocations: int) -> None:
        """Deliver the lines of a dispatch."""
        del entry, invocations
        deliver(self.prints(words))

    def prints(self, words: npt.NDArray[np.uint32]) -> Prints:
        """The lines in the words of the buffer after a dispatch, sorted."""
        numbers: list[int] = words[HEADER : HEADER + int(words[0])].tolist()
        lines, at = list[Line](), 0
        while at < len(numbers) and numbers[at]:
            site = self._sites[numbers[at] - 1]
            lines.append(site.line(numbers[at : at + site.words]))
            at += site.words
        lines.sort(key=lambda it: it.invocation[::-1])
        return Prints(lines, int(words[1]))
