"""Runs a kernel or a graph on one block of Dask arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .callees import BLOCK_MEMORY, Array, BlockCall, Callee, Options, of_block
from .grid import Grid


@dataclass(frozen=True, slots=True)
class BlockRun:
    """A kernel or a graph with what it needs besides the blocks: values by name.

    A value may be a function of the block. `made` are what starts as zeros, with their element types.
    """

    callee: Callee
    names: tuple[str, ...]
    values: Mapping[str, object]
    made: Mapping[str, np.dtype[Any]]
    outputs: tuple[str, ...]
    grid: Grid
    options: Options

    def __call__(self, *chunks: Array) -> dict[str, Array]:
        """Run on chunks, one for each name, followed by the block's number along each axis."""
        arrays, numbers = chunks[: len(self.names)], chunks[len(self.names) :]
        block = self.grid.block(tuple(int(it.item()) for it in numbers))
        given: dict[str, Any] = {name: of_block(value, block) for name, value in self.values.items()}
        given |= {name: BLOCK_MEMORY.zeros(block.shape, dtype) for name, dtype in self.made.items()}
        given |= dict(zip(self.names, arrays, strict=True))
        if 0 in block.shape:  # WebGPU binds no empty buffer
            return {name: self._empty(name, given, block.shape) for name in self.outputs}
        return self.callee.run(BlockCall(block, given, self.made, self.outputs), self.options)

    def _empty(self, name: str, given: Mapping[str, Any], shape: tuple[int, ...]) -> Array:
        if name in given:
            return np.asarray(given[name])
        dtype, inner = self.callee.form(name)
        return np.zeros((*shape, *inner) if self.callee.is_array(name, 0) else inner, dtype)
