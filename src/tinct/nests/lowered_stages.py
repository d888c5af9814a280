"""A nest with decisions that take several dispatches: what workgroups have parts of is joined by a later one."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from ..base.cached import cached_property
from ..base.errors import InputError
from ..buffers import buffer_elements, buffer_length
from ..ir.core.nodes import Module
from ..ir.schedule.extents import array_mistakes
from ..ir.schedule.nodes import Direction
from ..kernel import Kernel
from ..sessions import Buffer, Session
from ..shader import Shader
from ..transforms.schedule.decided import Decided
from ..transforms.schedule.lower import lower
from ..transforms.schedule.stages import Stages
from .lowered import LoweredNest, shaped

if TYPE_CHECKING:
    from ..ir.dataflow.nodes import NestShader
    from ..sized_kernel import SizedKernel
    from .loop_nest import LoopNest, Sizes


class LoweredStages(LoweredNest):
    """One point of the space of schedules with partial levels or values in storage: several entry points, to be
    dispatched in order.

    The arrays of parts and values that one stage stores, later ones load.
    """

    def __init__(self, nest: LoopNest, decided: Decided, split: Stages) -> None:
        super().__init__(nest, decided)
        self._split = split
        self._stages = tuple(_Stage(self, it) for it in split.stages)

    @property
    def stages(self) -> tuple[_Stage, ...]:
        """The dispatches, in order."""
        return self._stages

    @cached_property
    def core(self) -> Module:
        """The kernels as core IR."""
        return lower(*self._split.stages)

    def firsts(self) -> dict[str, float]:
        """What the elements of outputs are before the dispatches, where that is not 0."""
        return {name: first for it in self.stages for name, first in it.firsts().items()}

    def bits(self) -> frozenset[str]:
        """The outputs of f32 that are bound as their bits."""
        return frozenset[str]().union(*(it.bits() for it in self.stages))

    @cached_property
    def kernel(self) -> Kernel:
        """Raises InputError, since there are several: see `stages`."""
        raise self._several()

    def workgroups(self, sizes: Sizes) -> tuple[int, int, int]:
        """Raises InputError, since there are several dispatches: see `stages`."""
        del sizes
        raise self._several()

    def interpreted(
        self, inputs: Mapping[str, npt.NDArray[Any]], sizes: Sizes, *, timeout: float | None = None
    ) -> dict[str, npt.NDArray[Any]]:
        """The outputs by name, as the stages compute them one after the other. Raises DeviceError."""
        left, arrays = _Left(timeout), dict(inputs)
        for stage in self.stages:
            arrays |= stage.interpreted(arrays, sizes, timeout=left.seconds())
        return {it: arrays[it] for it in self._outputs}

    def of_scalars(self) -> LoweredNest:
        """The same with arrays of scalars only, as other nodes of graphs have them."""
        arrays = [it.name for stage in self._split.stages for it in stage.nest.arrays]
        return LoweredStages(self.nest, self._decided, self._split.of_scalars(arrays))

    def _several(self) -> InputError:
        names = ", ".join(it.entry for it in self.stages)
        return InputError(f"nest {self.nest.name!r} takes several dispatches, by several kernels: {names}; see .stages")

    def with_part_sizes(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Sizes, with the numbers of parts. Raises InputError for arrays between stages that are too large."""
        known = self._split.with_part_sizes(sizes)
        for stage in self._split.stages:
            for array in stage.nest.arrays:
                for mistake in array_mistakes(array, known):
                    raise InputError(f"nest {self.nest.name!r}: {mistake}")
        return known

    def buffers(self, sizes: Sizes) -> dict[str, npt.NDArray[Any]]:
        """What outputs and parts have before the dispatches, by name."""
        return {name: array for it in self.stages for name, array in it.buffers(sizes).items()}

    @property
    def _outputs(self) -> list[str]:
        return [it.name for it in self._decided.nest.arrays if it.direction is Direction.OUT]

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
        """The outputs by name; parts stay on the device. The inputs have the types and the shapes of the nest at these
        sizes, which are all.
        """
        left, results, firsts = _Left(timeout), self.buffers(known), self.firsts()
        given = {**inputs, **{name: results[name] for name in firsts}}
        with Session(device) as session:
            buffers = {name: session.empty(it.dtype, buffer_length(it)) for name, it in results.items()}
            buffers |= {name: session.buffer(buffer_elements(it)) for name, it in given.items()}
            for stage in self.stages:
                stage.begin(session, buffers, known, timeout=left.seconds(), contract=contract)
            found = {name: buffers[name].numpy() for name in self._outputs}
        return {name: shaped(it, results[name].shape, self._types[name]) for name, it in found.items()}


class _Stage(LoweredNest):
    """One of several dispatches: an entry point of a module."""

    def __init__(self, whole: LoweredStages, decided: Decided) -> None:
        super().__init__(whole.nest, decided)
        self._whole = whole

    @cached_property
    def core(self) -> Module:
        """The kernels of all stages."""
        return self._whole.core

    @cached_property
    def shader(self) -> Shader:
        """The kernels of all stages."""
        return self._whole.shader

    def sized(self, source: NestShader, sizes: Sizes) -> SizedKernel:
        """The dispatch for the sizes that it was lowered for."""
        return super().sized(source, self._whole.with_part_sizes(sizes))

    def workgroups(self, sizes: Sizes) -> tuple[int, int, int]:
        """The numbers of workgroups of the dispatch along x, y and z."""
        return super().workgroups(self._whole.with_part_sizes(sizes))

    def buffers(self, sizes: Sizes) -> dict[str, npt.NDArray[Any]]:
        """What the stage stores to, before the dispatch, by name."""
        return super().buffers(self._whole.with_part_sizes(sizes))

    def interpreted(
        self, inputs: Mapping[str, npt.NDArray[Any]], sizes: Sizes, *, timeout: float | None = None
    ) -> dict[str, npt.NDArray[Any]]:
        """What the stage stores, by name, of inputs and parts. Raises DeviceError."""
        return super().interpreted(inputs, self._whole.with_part_sizes(sizes), timeout=timeout)

    def begin(
        self, session: Session, buffers: Mapping[str, Buffer], sizes: Sizes, *, timeout: float | None, contract: bool
    ) -> None:
        """Dispatch the stage on buffers of a session, which has those of all stages."""
        workgroups = self.workgroups(sizes)
        if 0 in workgroups:
            return
        constants = self._constants(self._whole.with_part_sizes(sizes))
        session.run(
            self.kernel,
            buffers,
            workgroups=workgroups,
            constants=constants,
            timeout=timeout,
            contract=contract,
            extra="ignore",
        )

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


class _Left:
    """What is left of a time limit for several dispatches."""

    def __init__(self, timeout: float | None) -> None:
        self._end = None if timeout is None else time.monotonic() + timeout

    def seconds(self) -> float | None:
        """At least a millisecond, with which a dispatch fails that is late; None without a limit."""
        return None if self._end is None else max(self._end - time.monotonic(), 1e-3)
