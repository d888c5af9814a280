"""What all tests share: the option that rewrites golden texts."""

from __future__ import annotations

import os

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite golden texts with what was found")


@pytest.fixture(scope="session")
def bless(request: pytest.FixtureRequest) -> bool:
    """Whether golden texts are to be rewritten; never under CI."""
    asked = bool(request.config.getoption("--bless"))
    if asked and os.environ.get("CI"):
        pytest.exit("--bless is refused under CI", returncode=4)
    return asked
