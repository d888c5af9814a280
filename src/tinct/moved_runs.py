"""Runs of a dispatch on the CPU in which a buffer of our own moves values, to see how far results depend on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from .arguments import seconds_of
from .buffers import pack_buffers, unpack_buffers, values_by_name
from .compare import Allowance, distances
from .compilation import Compilation
from .devices import run_on_cpu
from .dispatch import Dispatch, DispatchSize, dispatch_size
from .ir.samplers import Sampler, pack_sampler
from .ir.types import BindingPoint
from .kernel import BufferValues, Kernel
from .origins import Origin
from .pipeline import Job
from .reflection import words_binding
from .sessions.buffer import Buffer
from .sessions.calls import Constants
from .transforms.core.moves import COUNT, OWN

Array: TypeAlias = npt.NDArray[Any]
Arrays: TypeAlias = Mapping[str, Array]
Changes: TypeAlias = Mapping[str, Allowance]
"""How far each element of each output is off."""

MOST_PARTS: Final = 16
"""Maximum number of parts of what an invocation moves. If it has more values to move, those of a part move together."""

_NAME: Final = "moves of tinct"
"""The name of the buffer among a kernel's bindings: no WGSL name has a space."""


@dataclass(frozen=True, slots=True, eq=False)
class Repeated:
    """A dispatch that can be run again. `timeout` is the limit in seconds of each run."""

    kernel: Kernel
    buffers: BufferValues
    workgroups: DispatchSize | None = None
    threads: DispatchSize | None = None
    constants: Constants | None = None
    timeout: float | None = None

    @property
    def has_inputs(self) -> bool:
        """Whether it gets arrays, rather than buffers of a session that the kernel has changed."""
        return not any(isinstance(it, Buffer) for it in self.buffers.values())


class MovedRuns:
    """Runs of a dispatch with the module of `origin`, in which the buffer at `point` moves values (see
    `transforms.core.moves`); `own` of its words are a pass's own.
    """

    def __init__(self, dispatch: Repeated, origin: Origin, point: BindingPoint, own: int) -> None:
        kernel, words = dispatch.kernel, OWN + own
        plain = kernel.compilation(dispatch.constants)
        self._point = point
        self._compilation = Compilation(Job(origin, plain.job.entry, plain.job.constants))
        self._bindings = (*kernel.bindings, words_binding(_NAME, point, words))
        self._values = {**values_by_name(kernel.bindings, dispatch.buffers), _NAME: np.zeros(words, np.uint32)}
        self._packed = pack_buffers(self._bindings, self._values, "compact")
        self._workgroups = dispatch_size(dispatch.workgroups, dispatch.threads, plain)
        self._timeout = seconds_of(dispatch.timeout)

    @property
    def samplers(self) -> list[Sampler]:
        """The samplers that it gets."""
        return [it for it in self._values.values() if isinstance(it, Sampler)]

    def outputs(
        self, parts: int, part: int, own: Sequence[float], sampler: Callable[[Sampler], Sampler] = lambda it: it
    ) -> tuple[Arrays, int]:
        """The outputs where one of so many parts of the values moves as a pass's own words say, or all of 0 parts, with
        other samplers for those given; and the most values that an invocation has.
        """
        buffers = dict(self._packed)
        for it in self._bindings:
            value = self._values[it.name]
            if isinstance(value, Sampler):
                buffers[it.point] = bytearray(pack_sampler(sampler(value)))
            elif it.is_written:
                buffers[it.point] = bytearray(buffers[it.point])
        words = np.array([0, parts, part], np.uint32).tobytes() + np.array(own, np.float32).tobytes()
        buffers[self._point][:] = words
        run_on_cpu(Dispatch(self._compilation, self._bindings, buffers, self._workgroups, self._timeout))
        found = unpack_buffers(self._bindings, buffers, self._values)
        return found, int(found.pop(_NAME)[COUNT])


def largest_changes(changes: Iterable[tuple[Arrays, Arrays]]) -> Changes:
    """The largest change of each element in pairs of outputs."""

    def each() -> Iterator[Changes]:
        for before, after in changes:
            yield {name: distances(it, after[name]) for name, it in before.items()}

    return reduce(partial(_combined, np.maximum), each())


def changes_by_parts(count: int, worst: Callable[[int, int], Changes]) -> Changes:
    """The changes where all of `count` values move, or the sum of those where each of their parts does, if that is
    more. `worst` gives the changes of a part of so many, or of 0 parts all.
    """
    parts = min(count, MOST_PARTS)
    together = worst(0, 0)
    if parts < 2:
        return together
    return _combined(np.maximum, together, sum_of(worst(parts, part) for part in range(parts)))


def sum_of(changes: Iterable[Changes]) -> Changes:
    """The sum of the changes of each element."""
    return reduce(partial(_combined, np.add), changes)


def _combined(function: np.ufunc, one: Changes, other: Changes) -> Changes:
    """A function of the changes of each element."""
    return {name: {path: function(it, other[name][path]) for path, it in paths.items()} for name, paths in one.items()}
