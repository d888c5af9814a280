"""The pytest plugin: the fixture `tinct_device`, and tests that are WGSL functions.

pytest loads this file whenever it starts, so it imports nothing of tinct until a test needs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

if TYPE_CHECKING:
    from .wgsl_tests import TestResult, WgslTests

_SUFFIXES = (".wgsl", ".wesl")


class _Failed(Exception):
    """A test in WGSL that failed."""

    def __init__(self, result: TestResult) -> None:
        super().__init__(str(result))


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plugin."""
    group = parser.getgroup("tinct", "WGSL shaders")
    group.addoption(
        "--tinct-device",
        action="append",
        default=[],
        metavar="DEVICE",
        help="a device for tests of shaders: cpu, gpu, gpu:ADAPTER, interp or hercules; may be given several times "
        "(default: all that answer)",
    )
    group.addoption(
        "--tinct-timeout",
        type=float,
        default=60,
        metavar="SECONDS",
        help="the time limit of a test that is a WGSL function (default: 60)",
    )
    parser.addini(
        "tinct_tests", "folders and files, relative to the root, whose WGSL is searched for tests", "args", []
    )


def _devices(config: pytest.Config) -> list[str]:
    """The devices that were asked for, or all that answer."""
    asked = cast("list[str]", config.getoption("--tinct-device"))
    if asked:
        from ..base.errors import InputError
        from ..devices import device_named

        try:
            for name in asked:
                device_named(name)
        except InputError as error:
            raise pytest.UsageError(f"--tinct-device: {error}") from None
        return list(dict.fromkeys(asked))
    from .agreeing import devices_that_answer

    return devices_that_answer()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that takes `tinct_device` on each device."""
    if "tinct_device" in metafunc.fixturenames:
        metafunc.parametrize("tinct_device", _devices(metafunc.config))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A WGSL file that may have tests."""
    if file_path.suffix not in _SUFFIXES or not _is_searched(file_path, parent.config):
        return None
    data = file_path.read_bytes()
    if b"@test" not in data:
        return None
    made: WgslFile = WgslFile.from_parent(parent, path=file_path)  # pyright: ignore[reportUnknownMemberType]
    return made


def _is_searched(file: Path, config: pytest.Config) -> bool:
    places: list[str] = config.getini("tinct_tests")
    return not places or any(file.is_relative_to(config.rootpath / it) for it in places)


class WgslFile(pytest.File):
    """A file with tests that are WGSL functions."""

    def collect(self) -> Iterator[pytest.Item]:
        """Each test, on each device."""
        from ..ir.source import Source
        from .wgsl_tests import WgslTests
        from .wgsl_text import has_tests

        root = self.config.rootpath
        shown = self.path.relative_to(root) if self.path.is_relative_to(root) else self.path
        source = Source(str(shown), self.path.read_bytes())
        if not has_tests(source.data):
            return
        tests = WgslTests(source, self.path.parent)
        for device in _devices(self.config):
            for name in tests.lines:
                item: WgslItem = WgslItem.from_parent(  # pyright: ignore[reportUnknownMemberType]
                    self, name=f"{name}[{device}]", tests=tests, test=name, device=device
                )
                yield item

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """Mistakes in the text, without a traceback."""
        return _words(excinfo) or str(super().repr_failure(excinfo))


class WgslItem(pytest.Item):
    """One test on one device."""

    def __init__(self, *, tests: WgslTests, test: str, device: str, **rest: object) -> None:
        super().__init__(**rest)  # type: ignore[arg-type]  # what pytest gives to from_parent
        self._tests = tests
        self._test = test
        self._device = device

    def runtest(self) -> None:
        """Run the test; raise if an expectation did not hold."""
        result = self._tests.run(self._test, self._device, timeout=self.config.getoption("--tinct-timeout"))
        if result.failures:
            raise _Failed(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """The failures, without a traceback."""
        if isinstance(excinfo.value, _Failed):
            return str(excinfo.value)
        return _words(excinfo) or str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        """File, line (counted from 0) and name."""
        return self.path, self._tests.lines[self._test] - 1, self.name


def _words(excinfo: pytest.ExceptionInfo[BaseException]) -> str:
    """The message of an error of tinct; empty for another one."""
    from ..base.errors import TinctError

    return str(excinfo.value) if isinstance(excinfo.value, TinctError) else ""
