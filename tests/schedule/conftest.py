"""What all tests of nests share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def skip_without_gpu(request: pytest.FixtureRequest) -> None:
    """Skips tests whose parameter `device` is a GPU where there is none."""
    if "device" in request.fixturenames:
        request.getfixturevalue("needs_device")
