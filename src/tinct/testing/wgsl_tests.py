"""Tests that are WGSL functions.

    import wgsl_test::expectNear;

    @test fn halves() { expectNear(half(3.0), 1.5); }

A test is a function without parameters, marked by `@test`, as in wgsl-test's files, or by a comment `// @test`
above it. It fails if an `expect…` in it, or in what it calls, does not hold, or if it returns false. All failures
are reported, each with its line and both values.

`wgsl_text` makes a shader of the text, in which a failed expectation writes a report; here the shader runs, and reports
are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from ..ir.hints import unknown_name
from ..ir.source import Source
from ..ir.types import BOOL, F16, F32, I32, Type
from ..kernel import BufferValue, Kernel
from ..reflection import BindingInfo
from ..wgsl_functions.signature import number_type_of, own_shape
from .wgsl_text import Site, TestText

_WORDS: Final = 1 << 16
"""The words for the failures of a test."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An expectation that did not hold: its place, its text, and the two values (`right` is None for a condition)."""

    name: str
    line: int
    column: int
    text: str
    left: npt.NDArray[Any] | None
    right: npt.NDArray[Any] | None

    def __str__(self) -> str:
        place = f"{self.name}:{self.line}:{self.column}: {self.text}"
        if self.left is None or self.right is None:
            return f"{place}\n    is false"
        return f"{place}\n    left:  {_shown(self.left)}\n    right: {_shown(self.right)}"


@dataclass(frozen=True, slots=True)
class TestResult:
    """The failures of a test, in the order in which they happened; `unreported` more had no room."""

    __test__ = False  # no test of pytest's

    failures: tuple[Failure, ...]
    unreported: int

    def __str__(self) -> str:
        more = [f"{self.unreported} more failures are not shown"] if self.unreported else []
        return "\n".join([*map(str, self.failures), *more])


class WgslTests:
    """The tests of a file. Raises ShaderError for what is wrong in its text, and OSError."""

    def __init__(self, source: Source, folder: Path | None = None) -> None:
        self.source = source
        text = TestText(source, folder)
        self._sites = text.sites
        self._names = text.names
        self.shader = text.shader
        self.lines = text.lines
        """The line of each test, by name, in the order of the text."""

    def run(self, test: str, device: str = "cpu", timeout: float | None = None) -> TestResult:
        """Run one test. Raises InputError for an unknown name, ShaderError and DeviceError as `Kernel.run` does."""
        if test not in self.lines:
            raise InputError(unknown_name(f"there is no test named {test!r}", test, list(self.lines)))
        kernel = self.shader.kernel(self._names.entry(test))
        values = {it.name: self._initial(kernel, it) for it in kernel.bindings}
        written = kernel.run(values, workgroups=1, device=device, timeout=timeout)
        report = written.get(self._names.report)
        return TestResult((), 0) if report is None else self._result(report)

    def _initial(self, kernel: Kernel, info: BindingInfo) -> BufferValue:
        """Zeros for what a test binds."""
        if info.name == self._names.report:
            return {"used": 0, "lost": 0, "words": np.zeros(_WORDS, np.uint32)}
        if info.size is None or info.dtype is None:
            raise InputError(
                f"not supported: {kernel.info.name} uses {info.name}: {info.type}, which has no fixed size"
            )
        return bytes(-(-info.size // 4) * 4)

    def _result(self, report: npt.NDArray[Any]) -> TestResult:
        words: npt.NDArray[np.uint32] = report["words"].reshape(-1)
        found, at, end = list[Failure](), 0, min(int(report["used"]), _WORDS)
        while at < end:
            site = self._sites[int(words[at])]
            size = site.words
            found.append(_failure(site, words[at + 1 : at + 1 + size]))
            at += 1 + size
        return TestResult(tuple(found), int(report["lost"]))


def _failure(site: Site, words: npt.NDArray[np.uint32]) -> Failure:
    """The failure that a report has."""
    at = site.source.position(site.span.start)
    text = " ".join(site.source.text(site.span).rstrip(" ;").split())
    values: list[npt.NDArray[Any] | None] = [None, None]
    if site.expectation is not None and len(words):
        half = len(words) // 2
        values = [_value(site.expectation.type, it) for it in (words[:half], words[half:])]
    return Failure(site.source.name, at.line, at.column, text, *values)


def _value(type: Type, words: npt.NDArray[np.uint32]) -> npt.NDArray[Any]:
    scalar = number_type_of(type)
    numbers: npt.NDArray[Any] = words
    if scalar is F32:
        numbers = words.view(np.float32)
    elif scalar is F16:
        numbers = words.view(np.float32).astype(np.float16)
    elif scalar is I32:
        numbers = words.view(np.int32)
    elif scalar is BOOL:
        numbers = words.astype(np.bool_)
    return numbers.reshape(own_shape(type))


def _shown(value: npt.NDArray[Any]) -> str:
    text = np.array2string(value, separator=", ", floatmode="unique", threshold=64, max_line_width=10_000)
    return " ".join(text.split())
