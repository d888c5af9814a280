"""The plugin for coverage.py: lines and branches of `.wgsl` files go into its data, and its reports show them.

No frames are traced: after each dispatch, what has run is added to the data of the `Coverage` that is started.
"""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import coverage
from coverage.plugin import CodeRegion, CoveragePlugin, FileReporter

from .. import frontend
from ..counting.places import Places, places_of
from ..counting.recorders import add_recorder
from ..ir.diagnostics import ShaderError
from ..ir.source import Source
from ..ir.types import Stage
from ..transforms.core.count_blocks import BlockKey
from .model import Branch, FileCoverage, sources_of

if TYPE_CHECKING:
    from coverage.types import TArc, TLineNo, TSourceTokenLines

_MODULE: Final = "tinct.coverage"
_SUFFIXES: Final = (".wgsl", ".wesl")
_TOKENS: Final = re.compile(
    r"(?P<com>//.*)|(?P<key>\b(?:fn|let|var|const|override|struct|if|else|for|while|loop|continuing|switch|case|default"
    r"|break|continue|return|alias|enable|requires|diagnostic|true|false)\b)|(?P<num>\b\d[\w.]*)|(?P<nam>[^\W\d]\w*)"
    r"|(?P<ws>\s+)|(?P<op>.)"
)


class Registry(Protocol):
    """What coverage.py gives to `coverage_init`."""

    def add_file_tracer(self, plugin: CoveragePlugin) -> None:
        """Make a plugin known."""
        ...


def register(registry: Registry) -> None:
    """Register with coverage.py, and count all dispatches while a `Coverage` with this plugin is started."""
    plugin = WgslPlugin()
    registry.add_file_tracer(plugin)
    if not _running:
        _running.append(WgslRecorder())
        add_recorder(_running[0])


class WgslPlugin(CoveragePlugin):
    """Reports on `.wgsl` files."""

    def file_reporter(self, filename: str) -> FileReporter:
        """The reporter of a file that the data has."""
        return WgslReporter(filename)

    def find_executable_files(self, src_dir: str) -> Iterable[str]:
        """The files with functions that can run, so that those that never ran are in the reports."""
        for path in sorted(Path(src_dir).rglob("*.wgsl")):
            if _is_executable(path):
                yield str(path)


class WgslRecorder:
    """Adds what has run to the data of the `Coverage` that is started."""

    def __init__(self) -> None:
        self._files: dict[Source, FileArcs] = {}

    @property
    def is_on(self) -> bool:
        """Whether a `Coverage` with this plugin is started."""
        return _current() is not None

    def record(self, places: Places, counts: Mapping[BlockKey, int]) -> None:
        """Add the lines, or the arcs, of a dispatch."""
        current = _current()
        if current is None:
            return
        lines: dict[str, list[TLineNo]] = {}
        arcs: dict[str, list[TArc]] = {}
        for source in sources_of(places):
            path = os.path.realpath(source.name)
            if not path.endswith(_SUFFIXES) or not os.path.isfile(path):
                continue
            ran = FileCoverage(source)
            ran.add(places, counts)
            lines[path] = [line for line, count in ran.lines.items() if count]
            arcs[path] = [(-1, line) for line in lines[path]] + list(self._arcs(source).taken(ran))
        data = current.get_data()
        if current.get_option("run:branch"):
            data.add_arcs(arcs)
        else:
            data.add_lines(lines)
        data.add_file_tracers(dict.fromkeys(lines, _name(WgslPlugin)))

    def _arcs(self, source: Source) -> FileArcs:
        if source not in self._files:
            self._files[source] = FileArcs(static_coverage(source))
        return self._files[source]


_running: list[WgslRecorder] = []
"""The recorder of this process, once there is one: coverage.py may call `coverage_init` any number of times."""


def _current() -> coverage.Coverage | None:
    """The `Coverage` that is started, if it has this plugin."""
    found = coverage.Coverage.current()
    if found is None:
        return None
    plugins = found.get_option("run:plugins")
    return found if isinstance(plugins, list) and _MODULE in plugins else None


def _name(plugin: type[CoveragePlugin]) -> str:
    """The name that coverage.py gives to a plugin."""
    return f"{_MODULE}.{plugin.__name__}"


def static_coverage(source: Source) -> FileCoverage:
    """The places of a text, with the count 0; none for a text that is no valid WGSL."""
    from ..testing.wgsl_text import TestText, has_tests

    found = FileCoverage(source)
    try:
        if has_tests(source.data):
            program = TestText(source, Path(source.name).parent).shader.program
        else:
            program = frontend.load_program(source)
    except (ShaderError, OSError):
        return found
    found.add(places_of(program), {})
    return found


def _is_executable(path: Path) -> bool:
    """Whether a file has functions that run on tinct's devices: not if all its entry points are of other stages."""
    try:
        program = frontend.load_program(Source.from_file(path))
    except (ShaderError, OSError):
        return False
    entries = program.entry_points
    return bool(program.functions) and (not entries or any(it.stage is Stage.COMPUTE for it in entries))


class FileArcs:
    """The ways of all branches of a file as coverage.py has them: pairs of lines.

    The end of a pair is the line of the statement that follows. Where that does not tell the ways of a line apart, as
    for `&&`, it is a negative number, which reports show as `exit`.
    """

    def __init__(self, file: FileCoverage) -> None:
        self.ways: dict[TArc, str] = {}
        self._arcs: dict[tuple[int, int, str, str, str], TArc] = {}
        for branch in file.branches:
            for way, to in branch.to.items():
                arc = self._free(branch.line, to)
                self.ways[arc] = f"{branch.condition}: {way}"
                self._arcs[_key(branch, way)] = arc

    def _free(self, line: int, to: int | None) -> TArc:
        if to is not None and to != line and (line, to) not in self.ways:
            return line, to
        number = sum(start == line for start, _ in self.ways) + 1
        return line, -number

    def taken(self, file: FileCoverage) -> Iterator[TArc]:
        """The arcs that a run has taken."""
        for branch in file.branches:
            for way, count in branch.taken.items():
                if count and _key(branch, way) in self._arcs:
                    yield self._arcs[_key(branch, way)]


def _key(branch: Branch, way: str) -> tuple[int, int, str, str, str]:
    return branch.line, branch.column, branch.kind, branch.condition, way


class WgslReporter(FileReporter):
    """What coverage.py's reports ask of a WGSL file."""

    def __init__(self, filename: str) -> None:
        super().__init__(filename)
        self._text = Source.from_file(Path(filename))
        self._file = static_coverage(self._text)
        self._arcs = FileArcs(self._file)

    def source(self) -> str:
        """The text."""
        return self._text.data.decode("utf-8", "replace")

    def lines(self) -> set[TLineNo]:
        """The lines in which statements begin that can run."""
        return set(self._file.lines)

    def excluded_lines(self) -> set[TLineNo]:
        """The lines with statements that no run can reach."""
        return set(self._file.excluded)

    def arcs(self) -> set[TArc]:
        """The ways of all branches."""
        return set(self._arcs.ways)

    def exit_counts(self) -> dict[TLineNo, int]:
        """The number of ways of the branches in each line."""
        found: dict[TLineNo, int] = {}
        for start, _ in self._arcs.ways:
            found[start] = found.get(start, 0) + 1
        return found

    def missing_arc_description(self, start: TLineNo, end: TLineNo, executed_arcs: Iterable[TArc] | None = None) -> str:
        """What was not taken, in words, for the HTML report, which takes it as HTML."""
        way = self._arcs.ways.get((start, end), f"to line {end}")
        return f"line {start} never went this way: {html.escape(way, quote=False)}"

    def arc_description(self, start: TLineNo, end: TLineNo) -> str:
        """A way of a branch, in words."""
        return self._arcs.ways.get((start, end), f"jump to line {end}")

    def code_regions(self) -> Iterable[CodeRegion]:
        """The functions."""
        lines = self.lines()
        inside = [(it, {line for line in lines if it.line <= line <= it.end}) for it in self._file.functions]
        return [CodeRegion("function", it.name, it.line, found) for it, found in inside if found]

    def code_region_kinds(self) -> Iterable[tuple[str, str]]:
        """Functions only."""
        return [("function", "functions")]

    def source_token_lines(self) -> TSourceTokenLines:
        """The text in tokens, for colours."""
        for line in self.source().splitlines():
            yield [(it.lastgroup or "txt", it[0]) for it in _TOKENS.finditer(line)]
