"""A nest with decisions that take several dispatches: what workgroups have parts of is joined by a later one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from ..ir.core.nodes import Module
from ..ir.schedule.nodes import Direction
from ..kernel import Kernel
from ..shader import Shader, load
from ..transforms.schedule.decided import Decided
from ..transforms.schedule.lower import lower
from ..transforms.schedule.stages import Stages
from .lowered import LoweredNest

if TYPE_CHECKING:
    from ..sized_kernel import SizedKernel
    from .loop_nest import LoopNest, Sizes


class LoweredStages(LoweredNest):
    """One point of the space of schedules with partial levels: several entry points, to be dispatched in order.

    The arrays of parts that one stage stores, later ones load.
    """

    def __init__(self, nest: LoopNest, decided: Decided, split: Stages) -> None:
        super().__init__(nest, decided)
        self._split = split
        self.stages = tuple(_Stage(self, it) for it in split.stages)
        """The dispatches, in order. Each has a `kernel`, and `workgroups(sizes)`."""

    @cached_property
    def core(self) -> Module:
        """The kernels as core IR."""
        return lower(*self._split.stages)

    def firsts(self) -> dict[str, int]:
        """What the elements of outputs are before the dispatches, where that is not 0."""
        return {name: first for it in self.stages for name, first in it.firsts().items()}

    @cached_property
    def shader(self) -> Shader:
        """The kernels."""
        return load(self.wgsl)

    @cached_property
    def kernel(self) -> Kernel:
        """Raises InputError, since there are several: see `stages`."""
        raise self._several()

    def workgroups(self, sizes: Sizes) -> tuple[int, int, int]:
        """Raises InputError, since there are several dispatches: see `stages`."""
        del sizes
        raise self._several()

    def at_sizes(self, sizes: Sizes) -> SizedKernel:
        """Raises InputError, since a node of a graph is one kernel."""
        del sizes
        raise self._several()

    def interpreted(
        self, inputs: Mapping[str, npt.NDArray[Any]], sizes: Sizes, *, timeout: float | None = None
    ) -> dict[str, npt.NDArray[Any]]:
        """Raises InputError, since there are several dispatches: `run` with the device "interp" is for them."""
        del inputs, sizes, timeout
        raise self._several()

    def of_scalars(self) -> LoweredNest:
        """Raises InputError, since a node of a graph is one kernel."""
        raise self._several()

    def _several(self) -> InputError:
        names = ", ".join(it.entry for it in self.stages)
        return InputError(f"nest {self.nest.name!r} has partial levels, and so several kernels: {names}; see .stages")

    def with_part_sizes(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Sizes, with the numbers of parts."""
        return self._split.with_part_sizes(sizes)

    def toml(self, sizes: Sizes, *, seed: int = 0) -> str:
        """A case file for the WGSL: a case for each stage, of which the later ones have random parts to join.

        Raises InputError for sizes that do not fit.
        """
        known = self.with_part_sizes(self.all_sizes(sizes))
        return "\n".join([f"seed = {seed}", *(line for it in self.stages for line in it.case(known))]) + "\n"

    def dispatched(
        self,
        inputs: Mapping[str, npt.NDArray[Any]],
        known: Sizes,
        *,
        device: str,
        timeout: float | None,
        contract: bool,
    ) -> dict[str, npt.NDArray[Any]]:
        """The outputs by name. The inputs have the types and the shapes of the nest at these sizes, which are all."""
        sizes = self.with_part_sizes(known)
        arrays = dict(inputs)
        for stage in self.stages:
            arrays |= stage.dispatched(arrays, sizes, device=device, timeout=timeout, contract=contract)
        outputs = [it.name for it in self._decided.nest.arrays if it.direction is Direction.OUT]
        return {it: np.asarray(arrays[it]) for it in outputs}


class _Stage(LoweredNest):
    """One of several dispatches: an entry point of a module."""

    def __init__(self, whole: LoweredStages, decided: Decided) -> None:
        super().__init__(whole.nest, decided)
        self._whole = whole
        self.entry = decided.nest.name
        """The name of the entry point."""

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel."""
        return self._whole.shader[self.entry]

    def workgroups(self, sizes: Sizes) -> tuple[int, int, int]:
        """The numbers of workgroups of the dispatch along x, y and z."""
        return super().workgroups(self._whole.with_part_sizes(sizes))

    def dispatched(
        self,
        inputs: Mapping[str, npt.NDArray[Any]],
        known: Sizes,
        *,
        device: str,
        timeout: float | None,
        contract: bool,
    ) -> dict[str, npt.NDArray[Any]]:
        """What the stage stores, by name, of inputs and parts."""
        loaded = {it.name: inputs[it.name] for it in self._decided.nest.arrays if it.direction is Direction.IN}
        return super().dispatched(loaded, known, device=device, timeout=timeout, contract=contract)

    def case(self, sizes: Sizes) -> list[str]:
        """The lines of a case: the dispatch, with random parts where it joins those of an earlier stage."""
        values = ", ".join(f"{name} = {size}" for name, size in sizes.items())
        constants = ", ".join(f"{it} = {value}" for it, value in self._constants(sizes).items())
        lines = ["", "[[case]]", f'name = "{self.entry}"', f'entry = "{self.entry}"']
        lines += [f"workgroups = [{', '.join(map(str, self.workgroups(sizes)))}]", f"sizes = {{ {values} }}"]
        lines += [f"constants = {{ {constants} }}"] if constants else []
        lines += ["[case.buffers]"]
        for array in self._decided.nest.arrays:
            lines.append(f"{array.name} = {{ shape = [{', '.join(self._shape(array))}], {self.recipe(array)} }}")
        return lines
