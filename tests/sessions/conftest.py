"""What the tests of sessions share."""

from __future__ import annotations

import pytest

from tinct.backend.gpu import GpuDevice

DEVICES = ("cpu", "gpu", "interp", "hercules")


def skip_without_gpu(device: str) -> None:
    reason = GpuDevice.unavailable_reason() if device.startswith("gpu") else None
    if reason is not None:
        pytest.skip(f"no GPU: {reason}")


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    """Each device in turn."""
    skip_without_gpu(request.param)
    return request.param


@pytest.fixture
def gpu() -> str:
    """The GPU."""
    skip_without_gpu("gpu")
    return "gpu"
