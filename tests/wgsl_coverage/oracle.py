"""Counts of blocks in the simplest way: one atomic addition in every block, on the interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tinct.buffers import pack_buffers, values_by_name
from tinct.ir.core.builder import Builder, empty_block, u32
from tinct.ir.core.interp import run
from tinct.ir.core.structure import blocks_of
from tinct.kernel import Kernel
from tinct.transforms.core.count_blocks import BlockKey
from tinct.transforms.core.hidden_buffer import add_hidden_buffer
from tinct.transforms.from_wgsl.build import build
from tinct.transforms.specialising import specialise


def block_counts(kernel: Kernel, buffers: Mapping[str, Any], workgroups: tuple[int, int, int]) -> dict[BlockKey, int]:
    """How often each block ran in a dispatch, without those that are never entered."""
    module = build(kernel.shader.program)
    places = [(it.name, number, block) for it in module.functions for number, block in enumerate(blocks_of(it))]
    buffer = add_hidden_buffer(module, "every_block", len(places))
    for index, (_, _, block) in enumerate(places):
        if block.branch is None or getattr(block.branch.target, "unreachable", False):
            continue
        before = empty_block()
        builder = Builder(module, before)
        builder.builtin_call("atomicAdd", [builder.access(buffer, [u32(index)]), u32(1)])
        block.instructions[:0] = before.instructions
    for function in module.functions:
        function.resources = [*function.resources, buffer]
    specialise(module, kernel.info.name, {})
    assert buffer.binding is not None
    packed = pack_buffers(kernel.bindings, values_by_name(kernel.bindings, buffers))
    packed[buffer.binding] = bytearray(4 * len(places))
    run(module, kernel.info.name, packed, workgroups)
    counts = np.frombuffer(packed[buffer.binding], np.uint32).tolist()
    return {(name, number): count for (name, number, _), count in zip(places, counts, strict=True) if count}
