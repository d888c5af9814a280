"""Random shaders of many functions give one answer on every device and tier, with their functions called."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from tests.differential.campaign import HERE, difference
from tests.hercules.test_fork_passes import PIPELINES as FORK_PIPELINES
from tests.hercules.test_passes import PIPELINES
from tests.machines import machine

from tinct.buffers import pack_buffers
from tinct.ir.core.interp import run as run_module
from tinct.ir.hercules import nodes as h
from tinct.ir.hercules.dispatch import run_entry_point
from tinct.ir.source import Source
from tinct.shader import Shader
from tinct.transforms.hercules import HERCULES
from tinct.transforms.passes import parse_pipeline, run_passes

from .generate import CallGenerator

SEEDS = range(20)


def shader(seed: int) -> str:
    return CallGenerator(seed).shader()


def inputs(seed: int) -> dict[str, npt.NDArray[np.uint32]]:
    random = np.random.default_rng(seed)
    return {
        "out": np.zeros(48, np.uint32),
        "data": random.integers(0, 2**32, 48, dtype=np.uint32) >> random.integers(0, 32, 48, dtype=np.uint32),
        "same": np.full((), seed % 4, np.uint32),
    }


@pytest.mark.usefixtures("nothing_inlined")
@pytest.mark.parametrize("seed", SEEDS)
def test_all_devices_and_tiers_agree(seed: int) -> None:
    with machine(seed) as here:
        assert difference(shader(seed), inputs(seed), 3, HERE) is None, here


@pytest.mark.usefixtures("nothing_inlined")
@pytest.mark.parametrize("pipeline", [*PIPELINES, *FORK_PIPELINES])
def test_passes_keep_the_meaning(pipeline: str) -> None:
    for seed in (1, 5):
        kernel = Shader(Source.from_text(shader(seed))).kernel("main")
        packed = pack_buffers(kernel.bindings, inputs(seed))
        expected = {point: bytearray(data) for point, data in packed.items()}
        run_module(kernel.shader.compilation("main", {}).specialised, "main", expected, (1, 1, 1))
        entry = kernel.shader.compilation("main", {}).hercules_unoptimised
        run_passes(entry.module, parse_pipeline(pipeline, HERCULES), HERCULES, verify_each=True)
        run_entry_point(entry, packed, (1, 1, 1))
        assert packed == expected


@pytest.mark.usefixtures("nothing_inlined")
def test_most_of_them_have_calls() -> None:
    modules = [Shader(Source.from_text(shader(seed))).compilation("main", {}).hercules.module for seed in SEEDS]
    with_calls = [it for it in modules if any(isinstance(node, h.Call) for node in it.functions[0].nodes)]
    assert len(with_calls) > len(SEEDS) / 2
