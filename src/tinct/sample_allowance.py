"""How far the results of a kernel may be off on a GPU that samples textures by itself: for each element, estimated.

A GPU rounds the place of a sample, and its level of detail, to so many bits as `blending` measures. The CPU samples
exactly, so it runs the kernel again with samples moved by as much (`transforms.core.move_samples`): each sample of an
invocation alone, in each direction, while the others stay. The changes of an element by its samples are added up, the
largest of each sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from itertools import product
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from .arguments import seconds_of
from .blending import blending_error
from .buffers import pack_buffers, unpack_buffers, values_by_name
from .compare import Allowance, Comparison, Tolerance, compare, distances
from .compilation import Compilation
from .devices import run_on_cpu, samples_itself
from .dispatch import Dispatch, DispatchSize, dispatch_size
from .ir.core.nodes import Module
from .ir.samplers import Sampler, pack_sampler
from .kernel import BufferValues, Kernel
from .origins import ProgramOrigin, core_of
from .pipeline import Job
from .reflection import words_binding
from .sessions.buffer import Buffer
from .sessions.calls import Constants
from .transforms.core.move_samples import COUNT, WORDS, MovedSamples, move_samples

Array: TypeAlias = npt.NDArray[Any]
Arrays: TypeAlias = Mapping[str, Array]
_Changes: TypeAlias = Mapping[str, Allowance]
"""How far each element of each output is off."""

MOST_PARTS: Final = 16
"""Maximum number of parts of an invocation's samples. If it takes more samples, those of a part move together."""

_NAME: Final = "moves of tinct"
"""The name of the buffer among a kernel's bindings: no WGSL name has a space."""
_SHARES: Final = (1.0, 0.5)
"""Parts of the way to the most that a level may be off which follows from gradients."""


class MovedOrigin(ProgramOrigin):
    """A checked WGSL program whose samples can be moved. (The cache on disk tells it from others by the name of its
    class.)
    """

    def core(self) -> Module:
        """See `Origin`."""
        module = super().core()
        move_samples(module, core_of)
        return module


def isotropic(values: BufferValues) -> BufferValues:
    """Values with samplers whose `max_anisotropy` is 1: with a greater one, WebGPU leaves the number and the places of
    samples to the device, so that there is nothing to compare.
    """
    return {name: replace(it, max_anisotropy=1) if isinstance(it, Sampler) else it for name, it in values.items()}


@dataclass(eq=False)
class SampledDispatch:
    """A dispatch, whose results on GPUs are to be compared. `timeout` is the limit in seconds of each run."""

    kernel: Kernel
    buffers: BufferValues
    workgroups: DispatchSize | None = None
    threads: DispatchSize | None = None
    constants: Constants | None = None
    timeout: float | None = None
    _known: dict[str, _Changes] = field(default_factory=dict[str, "_Changes"])

    def compare(self, output: str, expected: Array, actual: Array, tolerance: Tolerance, *devices: str) -> Comparison:
        """Compare an output, with what the devices that gave the two arrays may be off where they sample.

        That is only computed if the arrays do not agree without. Raises ValueError when shapes or fields differ,
        ShaderError, and DeviceError.
        """
        found = compare(expected, actual, tolerance)
        sampling = [it for it in devices if samples_itself(it)]
        if found.agrees or not sampling or not self._can_be_repeated:
            return found
        allowed = _sum(map(self._allowances, sampling))
        return compare(expected, actual, tolerance, allowed[output])

    @property
    def _can_be_repeated(self) -> bool:
        """Whether the kernel samples, and gets arrays, rather than buffers that have changed since."""
        has_buffers = any(isinstance(it, Buffer) for it in self.buffers.values())
        return not has_buffers and bool(self.kernel.compilation(self.constants).sampled_pairs)

    def _allowances(self, device: str) -> _Changes:
        if device not in self._known:
            self._known[device] = self._moved_runs.allowances(blending_error(device))
        return self._known[device]

    @cached_property
    def _moved_runs(self) -> _MovedRuns:
        return _MovedRuns(self)


@dataclass(frozen=True, slots=True)
class _Move:
    """How samples move, as the words of the buffer have it. A level that moves by 1 becomes a whole one."""

    by: tuple[float, float, float, float]
    least_level: float = 0.0
    share: float = 0.0

    def words(self, parts: int, part: int) -> bytes:
        """The words that move one of so many parts of an invocation's samples; of 0 parts, all samples."""
        floats = *self.by, self.least_level, self.share
        return np.array([0, parts, part], np.uint32).tobytes() + np.array(floats, np.float32).tobytes()

    def sampler(self, given: Sampler) -> Sampler:
        """A sampler with bounds on levels that let the move have its effect."""
        if abs(self.by[3]) != 1:
            return given
        whole = math.floor if self.by[3] < 0 else math.ceil
        return replace(given, lod_min_clamp=whole(given.lod_min_clamp), lod_max_clamp=whole(given.lod_max_clamp))


_STILL: Final = _Move((0.0, 0.0, 0.0, 0.0))

_Moves: TypeAlias = Sequence[tuple[_Move, Sequence[_Move]]]
"""Moves, each with others whose results are compared with its own."""


def _moves_of_places(facts: MovedSamples, error: float, samplers: Sequence[Sampler]) -> _Moves:
    """Every direction in which a device that errs so much, in texels, may move the place of a sample.

    A sample of two levels is a mean of one of each, between which the changes may cancel out; so there are moves on
    the finer and on the coarser level alone.
    """
    least = max(it.lod_min_clamp for it in samplers)
    places = [_place(signs, error) for signs in product((-1.0, 1.0), repeat=facts.axes)]
    levels = (0.0, -1.0, 1.0) if facts.has_levels or facts.has_gradients else (0.0,)
    return [(_Move((0.0, 0.0, 0.0, level)), [_Move((*place, level), least) for place in places]) for level in levels]


def _moves_of_levels(facts: MovedSamples, error: float) -> list[_Moves]:
    """The directions in which a device that errs so much, in levels, may move the level of detail."""
    if not (facts.has_levels or facts.has_gradients):
        return []
    step = 2.0 ** math.ceil(math.log2(error))
    shares = _SHARES if facts.has_gradients else (0.0,)
    moves = [_Move((0.0, 0.0, 0.0, level), share=it) for level in (-step, step) for it in shares]
    return [[(_STILL, moves)]]


def _place(signs: Sequence[float], error: float) -> tuple[float, float, float]:
    x, y, z = (*(error * it for it in signs), 0.0, 0.0)[:3]
    return x, y, z


class _MovedRuns:
    """Runs of a dispatch with moved samples, on the CPU."""

    def __init__(self, dispatch: SampledDispatch) -> None:
        kernel = dispatch.kernel
        facts = move_samples(ProgramOrigin(kernel.shader.program).core(), core_of)
        assert facts is not None, "the kernel samples"
        plain = kernel.compilation(dispatch.constants)
        own = words_binding(_NAME, facts.point, WORDS)
        self._facts = facts
        self._point = facts.point
        self._compilation = Compilation(Job(MovedOrigin(kernel.shader.program), plain.job.entry, plain.job.constants))
        self._bindings = (*kernel.bindings, own)
        self._values = {**values_by_name(kernel.bindings, dispatch.buffers), _NAME: np.zeros(WORDS, np.uint32)}
        self._packed = pack_buffers(self._bindings, self._values, "compact")
        self._workgroups = dispatch_size(dispatch.workgroups, dispatch.threads, plain)
        self._timeout = seconds_of(dispatch.timeout)

    def allowances(self, error: float) -> _Changes:
        """What each output may be off on a device that errs so much, in texels and in levels."""
        samplers = [it for it in self._values.values() if isinstance(it, Sampler)]
        parts = min(self._run(_STILL, 1, 1)[1], MOST_PARTS)
        kinds = [_moves_of_places(self._facts, error, samplers), *_moves_of_levels(self._facts, error)]
        together = _sum(self._worst(it, 0, 0) for it in kinds)
        if parts < 2:
            return together
        alone = _sum(self._worst(it, parts, part) for it in kinds for part in range(parts))
        return _combined(np.maximum, together, alone)

    def _worst(self, moves: _Moves, parts: int, part: int) -> _Changes:
        """The largest change of each element where one of so many parts of the samples moves, or of 0 parts all."""

        def changes() -> Iterator[_Changes]:
            for base, others in moves:
                before, _ = self._run(base, parts, part)
                for move in others:
                    after, _ = self._run(move, parts, part)
                    yield {name: distances(before[name], after[name]) for name in before}

        return reduce(partial(_combined, np.maximum), changes())

    def _run(self, move: _Move, parts: int, part: int) -> tuple[Arrays, int]:
        """The outputs, and the most samples that an invocation takes."""
        buffers = dict(self._packed)
        for it in self._bindings:
            value = self._values[it.name]
            if isinstance(value, Sampler):
                buffers[it.point] = bytearray(pack_sampler(move.sampler(value)))
            elif it.is_written:
                buffers[it.point] = bytearray(buffers[it.point])
        buffers[self._point][:] = move.words(parts, part)
        run_on_cpu(Dispatch(self._compilation, self._bindings, buffers, self._workgroups, self._timeout))
        outputs = unpack_buffers(self._bindings, buffers, self._values)
        return outputs, int(outputs.pop(_NAME)[COUNT])


def _sum(changes: Iterable[_Changes]) -> _Changes:
    return reduce(partial(_combined, np.add), changes)


def _combined(function: np.ufunc, one: _Changes, other: _Changes) -> _Changes:
    """A function of the changes of each element."""
    return {name: {path: function(it, other[name][path]) for path, it in paths.items()} for name, paths in one.items()}
