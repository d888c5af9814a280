"""Runs kernels with textures on every tier that needs no GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tinct.ir.hercules.verify import check as check_module
from tinct.ir.source import Source
from tinct.shader import Shader

Arrays = dict[str, npt.NDArray[Any]]


def assert_agree(
    wgsl: str, buffers: Mapping[str, Any], workgroups: int | tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> Arrays:
    """Check that both interpreters and both tiers of machine code give the same bits, except NaNs; returns them."""
    kernel = Shader(Source.from_text(wgsl)).kernel()
    check_module(kernel.shader.compilation(kernel.info.name, {}).hercules_unoptimised.module)
    expected = kernel.run(buffers, workgroups=workgroups, device="interp")
    for tier, device in (("gang", "hercules"), ("gang", "cpu"), ("lane", "cpu")):
        monkeypatch.setenv("TINCT_CPU_TIER", tier)
        found = Shader(Source.from_text(wgsl)).kernel().run(buffers, workgroups=workgroups, device=device)
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array, err_msg=f"{name} on {device}, {tier}")
    return expected
