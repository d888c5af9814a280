"""What naga accepts of texts that are written back."""

from __future__ import annotations

import pytest

from tinct.backend.gpu import GpuDevice

from .test_goldens import GOLDENS


@pytest.mark.skipif(GpuDevice.available() is None, reason="naga is asked through a GPU's driver")
def test_ends_that_control_never_reaches() -> None:
    """naga misses a value at the end of a function that ends in a loop which is never left."""
    naga = GpuDevice()
    assert naga.validate((GOLDENS / "ends.wgsl").read_text(encoding="utf-8")) is not None
    assert naga.validate((GOLDENS / "ends.out.wgsl").read_text(encoding="utf-8")) is None
