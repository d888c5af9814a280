"""What becomes a kernel by sizes, as graphs take it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from .kernel import Kernel


@dataclass(frozen=True, slots=True)
class SizedKernel:
    """A kernel with all that a node needs besides its inputs: extents, overrides, and the elements of its outputs."""

    kernel: Kernel
    threads: tuple[int, ...]
    constants: Mapping[str, int]
    outputs: Mapping[str, int]


@runtime_checkable
class KernelOfSizes(Protocol):
    """What becomes a kernel by sizes: a nest with decisions."""

    def at_sizes(self, sizes: Mapping[str, int], /) -> SizedKernel:
        """The kernel for these sizes. Raises InputError for sizes that do not fit."""
        ...
