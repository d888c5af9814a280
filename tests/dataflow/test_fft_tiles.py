"""The example `fft_tiles`, whose smallest matrix is too large for the interpreters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tinct

from .support import DEVICES
from .test_examples import check, module

EXAMPLE = module(Path(__file__).parents[2] / "examples" / "fft_tiles")
COMPILED = [it for it in DEVICES if it in ("cpu", "gpu")]


@pytest.mark.parametrize("device", COMPILED)
@pytest.mark.parametrize("size", [(256, 512), (512, 256), (1024, 256), (256, 2048), (2048, 1024)])
def test_sizes_with_each_radix_of_the_last_pass(size: tuple[int, int], device: str) -> None:
    given = EXAMPLE.random_signal(np.random.default_rng(7), *size)
    check(EXAMPLE, EXAMPLE.GRAPH.run(given, device=device), EXAMPLE.reference(given))


@pytest.mark.parametrize("device", COMPILED)
def test_the_sequence_of_dispatches_gives_the_same_as_the_graph(device: str) -> None:
    given = EXAMPLE.inputs(np.random.default_rng(7))
    expected = EXAMPLE.GRAPH.run(given, device=device)["spectrum"]
    with tinct.Session(device) as session:
        assert EXAMPLE.in_order(session, given)["spectrum"].numpy().tobytes() == expected.tobytes()
