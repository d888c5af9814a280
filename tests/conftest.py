"""What all tests share: the option that rewrites golden texts, and the time limit of `.ci/run`."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

os.environ["TINCT_CACHE"] = "off"
"""Tests compile what they test; those of the cache turn it on."""
os.environ.setdefault("TINCT_CPU_TIER", "gang")
"""And they test the code that runs for long; those of the first runs say so."""
os.environ.setdefault("TINCT_CPU_COSTS", "table")
"""Choices that depend on the machine are the same in every run; tests of what is measured say so."""
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell's script has jobs in the background ignore interrupts, and so would all processes of the tests.
    signal.signal(signal.SIGINT, signal.default_int_handler)

_DEADLINE = float(os.environ.get("TINCT_TESTS_UNTIL", "inf"))
"""When the time for tests is over, in seconds since 1970. `.ci/run` says so, which must end in time on any machine."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    if time.time() > _DEADLINE:
        pytest.skip("not run: this machine is too slow for all tests in the time that .ci/run has")


def pytest_collection_finish() -> None:
    """The tests themselves are no garbage, which would be looked through again and again."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite golden texts with what was found")
    parser.addoption("--machine", type=int, help="code is for a random machine of this seed; tests of choices fail")


@pytest.fixture(scope="session")
def bless(request: pytest.FixtureRequest) -> bool:
    """Whether golden texts are to be rewritten; never under CI."""
    asked = bool(request.config.getoption("--bless"))
    if asked and os.environ.get("CI"):
        pytest.exit("--bless is refused under CI", returncode=4)
    return asked


@pytest.fixture(scope="session", autouse=True)
def random_machine(request: pytest.FixtureRequest) -> Iterator[None]:
    """With `--machine`, the costs that code is chosen by are those of a machine that nobody has."""
    from tests.machines import machine

    with machine(request.config.getoption("--machine")):
        yield


@pytest.fixture
def golden(bless: bool) -> Callable[[Path, str], None]:
    """Compares a text with the golden file of that path, or, with `--bless`, writes it there."""

    def check(path: Path, found: str) -> None:
        if bless:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(found, encoding="utf-8")
            return
        if not path.exists():
            pytest.fail(f"there is no golden file {path.name}: run pytest --bless")
        expected = path.read_text(encoding="utf-8")
        assert found == expected, f"{path.name} differs; if the new text is right, run pytest --bless"

    return check


@pytest.fixture
def needs_device(device: str) -> None:
    """Skips a test whose parameter `device` is a GPU where there is none."""
    if device.startswith("gpu"):
        _skip_without_gpu()


@pytest.fixture
def needs_gpu() -> None:
    """Skips a test where there is no GPU."""
    _skip_without_gpu()


def _skip_without_gpu() -> None:
    from tinct.backend.gpu import GpuDevice

    reason = GpuDevice.unavailable_reason()
    if reason is not None:
        pytest.skip(f"no GPU: {reason}")
