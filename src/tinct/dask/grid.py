"""How Dask arrays are cut into blocks."""

from __future__ import annotations

from dataclasses import dataclass


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
