"""What becomes a kernel by sizes, or several, as graphs take it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from .ir.dataflow.nodes import NestShader
from .kernel import Kernel


@dataclass(frozen=True, slots=True)
class SizedKernel:
    """A kernel with all that a node needs besides its inputs.

    That is what its shader is made from, the extents, and the numbers of elements of its outputs.
    """

    kernel: Kernel
    source: NestShader
    threads: tuple[int, ...]
    outputs: Mapping[str, int]


@runtime_checkable
class KernelOfSizes(Protocol):
    """What becomes a kernel by sizes, or several that are dispatched in order: a nest with decisions."""

    name: str

    def at_sizes(self, sizes: Mapping[str, int], /) -> tuple[SizedKernel, ...]:
        """The kernels for these sizes; one loads what earlier ones store under the same name.

        Raises InputError for sizes that do not fit.
        """
        ...
