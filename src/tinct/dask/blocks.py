"""One block of Dask arrays, and running a kernel on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from ..sessions import Buffer, Session
from ..sessions.calls import Constants
from ..shader import Kernel

Array: TypeAlias = npt.NDArray[Any]
Size: TypeAlias = "int | Sequence[int]"
SizeOfBlock: TypeAlias = "Size | Callable[[Block], Size]"


@dataclass(frozen=True, slots=True)
class Block:
    """A block: its index along each axis in `number`, and where it lies.

    `start` is the position of its first element in the whole array, `shape` the extents of what the kernel gets.
    `before` and `after` are the elements of the halo in `shape`, which belong to other blocks.
    """

    number: tuple[int, ...]
    start: tuple[int, ...]
    shape: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """How arrays are cut into blocks: the extents of blocks along each axis, and the halo there.

    `is_closed`: whether the blocks at the ends have a halo as well, filled by a boundary condition.
    """

    chunks: tuple[tuple[int, ...], ...]
    depth: tuple[int, ...]
    is_closed: tuple[bool, ...]

    def block(self, number: tuple[int, ...]) -> Block:
        """The block of that number."""
        start = tuple(sum(sizes[:index]) for sizes, index in zip(self.chunks, number, strict=True))
        before = tuple(
            depth if index > 0 or closed else 0
            for depth, index, closed in zip(self.depth, number, self.is_closed, strict=True)
        )
        after = tuple(
            depth if index < len(sizes) - 1 or closed else 0
            for depth, index, sizes, closed in zip(self.depth, number, self.chunks, self.is_closed, strict=True)
        )
        sizes = tuple(extents[index] for extents, index in zip(self.chunks, number, strict=True))
        shape = tuple(low + size + high for low, size, high in zip(before, sizes, after, strict=True))
        return Block(number, start, shape, before, after)


@dataclass(frozen=True, slots=True)
class BlockRun:
    """A kernel with what it needs besides the blocks: values by name of binding, the size, and the way to run.

    A value may be a function of the block. `made` are the bindings that start as zeros, with their element types.
    """

    kernel: Kernel
    names: tuple[str, ...]
    values: Mapping[str, object]
    made: Mapping[str, np.dtype[Any]]
    outputs: tuple[str, ...]
    grid: Grid
    threads: SizeOfBlock | None
    workgroups: SizeOfBlock | None
    constants: Constants | None
    device: str
    via: str | None
    timeout: float | None

    def __call__(self, *chunks: Array) -> dict[str, Array]:
        """Run the kernel on chunks, one for each name, followed by the block's number along each axis."""
        arrays, numbers = chunks[: len(self.names)], chunks[len(self.names) :]
        block = self.grid.block(tuple(int(it.item()) for it in numbers))
        given: dict[str, Any] = {name: _of_block(value, block) for name, value in self.values.items()}
        given |= {name: np.zeros(block.shape, dtype) for name, dtype in self.made.items()}
        given |= dict(zip(self.names, arrays, strict=True))
        if 0 in block.shape:  # WebGPU binds no empty buffer
            return {name: np.asarray(given[name]) for name in self.outputs}
        workgroups = None if self.workgroups is None else cast("Size", _of_block(self.workgroups, block))
        threads = None
        if workgroups is None:
            threads = block.shape[::-1] if self.threads is None else cast("Size", _of_block(self.threads, block))
        adopted = self._arrays(given)
        with Session(self.device) as session:
            buffers: dict[str, Buffer] = {}
            for name, value in given.items():
                info = self.kernel.shader.bindings[name]
                buffers[name] = session.adopt(adopted[name]) if name in adopted else session.buffer(value, info)
            session.run(
                self.kernel,
                buffers,
                workgroups=workgroups,
                threads=threads,
                constants=self.constants,
                via=self.via,
                timeout=self.timeout,
            )
            others = {name: buffers[name].numpy() for name in self.outputs if name not in adopted}
        return {name: adopted[name] if name in adopted else others[name] for name in self.outputs}

    def _arrays(self, given: Mapping[str, Any]) -> dict[str, Array]:
        """Arrays in the layout of their bindings, which the kernel may work in; a written one belongs to this run."""
        found: dict[str, Array] = {}
        for name, value in given.items():
            info = self.kernel.shader.bindings[name]
            if name in self.made:
                found[name] = value
            elif isinstance(value, np.ndarray) and (array := cast("Array", value)).dtype == info.dtype:
                found[name] = np.array(array, order="C", copy=True if info.is_written else None)
        return found


def _of_block(value: object, block: Block) -> object:
    return cast("Callable[[Block], object]", value)(block) if callable(value) else value


def element_dtype(kernel: Kernel, name: str) -> np.dtype[Any]:
    """The numpy type of the scalars of a binding that is an array. Raises InputError for other bindings."""
    info = kernel.shader.bindings[name]
    dtype = info.dtype
    while dtype is not None and dtype.subdtype is not None:
        dtype = dtype.base
    if dtype is None or dtype.names is not None:
        raise InputError(f"{name}: {info.type} is not an array of numbers, so its blocks have no dtype: give an array")
    return dtype
