"""The counts of blocks, against those of an atomic addition in each block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from tests.differential.generate import Generator

import tinct
from tinct.counting.places import Places
from tinct.counting.recorders import recording
from tinct.ir.core import verify
from tinct.ir.source import Source
from tinct.kernel import Kernel
from tinct.shader import Shader
from tinct.transforms.core.count_blocks import BlockKey, count_blocks, totals
from tinct.transforms.from_wgsl.build import build

from .kernels import FLOW, SAMPLES, SPREAD
from .oracle import block_counts

DEVICES = ("cpu", "interp", "hercules", "gpu")


@dataclass
class Last:
    """Keeps the counts of the last dispatch."""

    counts: Mapping[BlockKey, int] = field(default_factory=dict)
    is_on = True

    def record(self, places: Places, counts: Mapping[BlockKey, int]) -> None:
        self.counts = {key: count for key, count in counts.items() if count}


def counted(kernel: Kernel, buffers: Mapping[str, Any], workgroups: tuple[int, int, int], device: str) -> Last:
    """The counts of a dispatch, which must answer what it answers without counters."""
    plain = kernel.run(buffers, workgroups=workgroups, device=device)
    last = Last()
    with recording(last):
        outputs = kernel.run(buffers, workgroups=workgroups, device=device)
    assert outputs.keys() == plain.keys()
    for name, array in plain.items():
        assert np.array_equal(outputs[name], array)
    return last


def inputs() -> dict[str, np.ndarray]:
    return {"a": np.arange(1, 30, dtype=np.uint32), "out": np.zeros(32, np.uint32)}


def test_counts_are_those_of_an_addition_in_each_block() -> None:
    kernel = tinct.load(FLOW).kernel()
    expected = block_counts(kernel, inputs(), (4, 1, 1))
    for device in DEVICES:
        assert counted(kernel, inputs(), (4, 1, 1), device).counts == expected, device


def test_counts_of_a_kernel_that_samples() -> None:
    kernel = tinct.load(SAMPLES).kernel()
    texels = np.array([[[0], [1], [0], [1]]], np.float32)
    buffers = {"t": texels, "s": tinct.Sampler(), "out": np.zeros(16, np.float32)}
    expected = block_counts(kernel, buffers, (2, 1, 1))
    assert expected["level", 2] == 75  # the function's blocks have their own numbers, not those of the lowered module
    for device in DEVICES:
        assert counted(kernel, buffers, (2, 1, 1), device).counts == expected, device


@pytest.mark.parametrize("seed", [2])
def test_random_kernels(seed: int) -> None:
    generator = Generator(seed)
    kernel, buffers = Shader(Source.from_text(generator.kernel())).kernel(), generator.buffers()
    size = (generator.workgroups, 1, 1)
    assert counted(kernel, buffers, size, "cpu").counts == block_counts(kernel, buffers, size)


def test_a_module_with_counters_is_valid_and_counts_few_blocks() -> None:
    module = build(tinct.load(FLOW).program)
    counting = count_blocks(module)
    verify(module)
    blocks = sum(len(flow.blocks) for flow in counting.flows.values())
    assert len(counting.counted) < blocks / 2


def test_counts_above_256_an_invocation_are_added_twice() -> None:
    kernel, last = tinct.load(SPREAD).kernel(), Last()
    with recording(last):
        kernel.run({"out": np.zeros(64, np.uint32)}, workgroups=1)
    assert max(last.counts.values()) == 1000 * sum(range(64)) + 64


def test_totals_of_more_than_32_bits() -> None:
    total, invocations = 7 * 2**32 + 123, 1 << 20
    each = [total // invocations + (it < total % invocations) for it in range(invocations)]
    words = [sum(each) % 2**32, sum(it >> 8 for it in each) % 2**32]
    assert totals(words, invocations) == [total]


def test_a_kernel_without_branches_needs_no_counter() -> None:
    variable = "@group(0) @binding(0) var<storage, read_write> o: array<u32>;"
    shader = tinct.load(f"{variable} @compute @workgroup_size(4) fn main() {{ o[0] = 1; }}")
    assert count_blocks(build(shader.program)).point is None
    last = Last()
    with recording(last):
        assert shader["main"].run({"o": (None, 2)}, workgroups=3)["o"].tolist() == [1, 0]
    assert last.counts == {("main", 0): 12}


def test_a_group_without_a_free_binding_says_so() -> None:
    module = build(tinct.load(FLOW).program)
    from tinct.transforms.core import hidden_buffer

    for _ in range(997):
        hidden_buffer.add_hidden_buffer(module, "taken", 1)
    with pytest.raises(tinct.InputError, match="all bindings of group 0 are in use"):
        hidden_buffer.add_hidden_buffer(module, "taken", 1)
