"""A slice of the campaign of random functions; the whole is `python -m tests.hercules --gpu`."""

from __future__ import annotations

import pytest

from tinct.backend.gpu import GpuDevice

from .campaign import KINDS, check_seed


@pytest.mark.parametrize("kind", KINDS)
def test_the_processor_agrees_with_the_interpreter(kind: str) -> None:
    agree(kind, 12, "cpu")


@pytest.mark.parametrize("kind", KINDS)
def test_the_gpu_agrees_with_the_interpreter(kind: str) -> None:
    reason = GpuDevice.unavailable_reason()
    if reason is not None:
        pytest.skip(f"no GPU: {reason}")
    agree(kind, 10, "gpu")


def agree(kind: str, count: int, device: str) -> None:
    results = [check_seed((kind, seed), ("interp", device)) for seed in range(count)]
    assert not [(it.seed, it.problem, it.text) for it in results if it.problem is not None]
    assert sum(it.refused is None and not it.is_open for it in results) > count // 2
