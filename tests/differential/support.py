"""Runs one kernel on every tier that needs no GPU, with the same inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tinct.ir.hercules.dispatch import run_entry_point
from tinct.ir.hercules.interp import backward, shuffled
from tinct.ir.hercules.verify import check
from tinct.ir.source import Source
from tinct.shader import Shader

Arrays = dict[str, npt.NDArray[Any]]


def answers(wgsl: str, buffers: Mapping[str, npt.NDArray[Any]], workgroups: int | tuple[int, ...]) -> dict[str, Arrays]:
    """The results of each tier for a shader with one entry point. The Hercules graph is verified too."""
    kernel = Shader(Source.from_text(wgsl)).kernel()
    check(kernel.shader.compilation(kernel.info.name, {}).hercules_unoptimised.module)
    check(kernel.shader.compilation(kernel.info.name, {}).hercules.module)
    return {
        device: kernel.run(buffers, workgroups=workgroups, device=device) for device in ("interp", "hercules", "cpu")
    }


def assert_agree(wgsl: str, buffers: Mapping[str, npt.NDArray[Any]], workgroups: int | tuple[int, ...] = 1) -> Arrays:
    """Check that all tiers give the interpreter's results bit for bit, except NaNs; returns these results."""
    found = answers(wgsl, buffers, workgroups)
    for device, outputs in found.items():
        for name, expected in found["interp"].items():
            np.testing.assert_array_equal(outputs[name], expected, err_msg=f"{name} on {device}")
    return found["interp"]


def assert_order_free(wgsl: str, buffers: Mapping[str, bytes], workgroups: tuple[int, int, int]) -> None:
    """Check that a kernel without races gives the same bytes in any order of its threads."""
    shader = Shader(Source.from_text(wgsl))
    kernel = shader.kernel()
    entry = shader.compilation(kernel.info.name, {}).hercules
    results: list[dict[str, bytes]] = []
    for order in (backward, shuffled(1), shuffled(2)):
        memory = {info.point: bytearray(buffers[info.name]) for info in kernel.bindings}
        run_entry_point(entry, memory, workgroups, order)
        results.append({info.name: bytes(memory[info.point]) for info in kernel.bindings})
    assert results[0] == results[1] == results[2]
