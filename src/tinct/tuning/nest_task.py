"""What is to be tuned of a nest, and a nest with decisions, as tuning sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy.typing as npt

from ..base.cached import cached_property
from ..ir.schedule.nodes import Decisions, Nest
from ..ir.schedule.text import print_nest
from ..kernel import Kernel
from .devices import identity, versions
from .kept import record_name

Arrays = Mapping[str, npt.NDArray[Any]]


class Lowered(Protocol):
    """A nest with decisions, as `nests.LoweredNest` is."""

    def dispatches(self, sizes: Mapping[str, int]) -> tuple[tuple[Kernel, tuple[int, int, int]], ...]:
        """The kernel and the numbers of workgroups of each dispatch."""
        ...

    def buffers(self, sizes: Mapping[str, int]) -> Arrays:
        """What outputs, and parts that go from one dispatch to the next, have before the dispatches."""
        ...

    @cached_property
    def wgsl(self) -> str:
        """The kernels as WGSL."""
        ...

    def adopt_wgsl(self, text: str) -> None:
        """Use WGSL that another process has made with the same decisions, rather than make it again."""
        ...

    def firsts(self) -> Mapping[str, float]:
        """What the elements of outputs are before the dispatches, where that is not 0."""
        ...

    def bits(self) -> frozenset[str]:
        """The outputs of f32 that are bound as their bits."""
        ...

    def interpreted(
        self, inputs: Arrays, sizes: Mapping[str, int], *, timeout: float | None = None
    ) -> dict[str, npt.NDArray[Any]]:
        """The outputs by name, of core IR in its interpreter."""
        ...

    def run(
        self,
        arrays: Arrays,
        *,
        sizes: Mapping[str, int] | None = None,
        device: str = "cpu",
        timeout: float | None = None,
    ) -> dict[str, npt.NDArray[Any]]:
        """The outputs by name."""
        ...


Lower = Callable[[Nest, Decisions, Mapping[str, int]], Lowered]
"""Lowers a nest with legal decisions for some sizes only. Raises InputError for illegal ones."""


@dataclass(frozen=True)
class Task:
    """What is to be tuned: a nest at sizes, for a device."""

    nest: Nest
    sizes: Mapping[str, int]
    lower: Lower
    device: str = "cpu"
    reassociate: bool = False
    contract: bool = False

    def lowered(self, point: Decisions, sizes: Mapping[str, int] | None = None) -> Lowered:
        """The nest with decisions, for the sizes of the task or for others."""
        return self.lower(self.nest, point, self.sizes if sizes is None else sizes)

    @cached_property
    def record(self) -> str:
        """The name of what is kept for it: by nest, class of sizes, device and versions."""
        options = f"reassociate={self.reassociate} contract={self.contract}"
        device = identity(self.device), versions(self.device)
        return record_name("nest", print_nest(self.nest), size_class(self.sizes), options, self.device, *device)


def size_class(sizes: Mapping[str, int]) -> str:
    """Sizes that are tuned alike: equal powers of two below, and equal divisibility by up to 16."""
    return ", ".join(f"{name}: {it.bit_length()}, {min(it & -it, 16)}" for name, it in sizes.items())
