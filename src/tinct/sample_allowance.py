"""How far the results of a kernel may be off on a GPU that samples textures by itself: for each element, estimated.

A GPU rounds the place of a sample, its level of detail, and the products that are the weights of its texels, by as
much as `blending` measures. The CPU samples exactly, so it runs the kernel again with samples moved by as much
(`transforms.core.move_samples`): each sample of an invocation alone, in each direction, while the others stay. The
changes of an element by its samples are added up: for each sample the largest by its place, by its level, and by the
weights for each of its components.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final, TypeAlias

from .base.cached import cached_property
from .blending import Blending, blending
from .ir.core.nodes import Module
from .ir.samplers import Sampler
from .kernel import BufferValues
from .moved_runs import Arrays, Changes, MovedRuns, Repeated, changes_by_parts, largest_changes, sum_of
from .origins import ProgramOrigin, core_of
from .transforms.core.move_samples import OWN_WORDS, MovedSamples, move_samples

_SHARES: Final = (1.0, 0.5)
"""Parts of the way to the most that a level may be off which follows from gradients."""


class MovedSamplesOrigin(ProgramOrigin):
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


class SampleAllowance:
    """How far the results of a dispatch may be off on GPUs that sample by themselves."""

    def __init__(self, dispatch: Repeated) -> None:
        self._dispatch = dispatch
        self._known: dict[str, Changes] = {}

    @property
    def has_samples(self) -> bool:
        """Whether the kernel samples."""
        return bool(self._dispatch.kernel.compilation(self._dispatch.constants).sampled_pairs)

    def on(self, device: str) -> Changes:
        """What each element of each output may be off on a device. Raises ShaderError and DeviceError."""
        if device not in self._known:
            self._known[device] = self._moved_runs.allowances(blending(device))
        return self._known[device]

    @cached_property
    def _moved_runs(self) -> _SampleMoves:
        return _SampleMoves(self._dispatch)


@dataclass(frozen=True, slots=True)
class _Move:
    """How samples move, as the words of the buffer have it. A level that moves by 1 becomes a whole one."""

    by: tuple[float, float, float, float]
    least_level: float = 0.0
    share: float = 0.0
    weights: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)

    @property
    def words(self) -> tuple[float, ...]:
        """The words of the buffer for samples."""
        return *self.by, self.least_level, self.share, *self.weights

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


def _moves_of_weights(facts: MovedSamples, error: float) -> list[_Moves]:
    """The directions in which a device that errs so much in each product of weights may move each component.

    The weights of a level keep their sum, as a constant texture stays constant. So weights that are off by d at most
    move a component by d times the sum of the distances of its texels from any one value; their mean is taken. Which
    are off, and up or down, may move components together in any way: hence each alone, and the sum.
    """
    if not error:
        return []
    moves = ([_Move(_STILL.by, weights=_only(axis, it)) for it in (-error, error)] for axis in range(facts.components))
    return [[(_STILL, it)] for it in moves]


def _only(axis: int, value: float) -> tuple[float, float, float, float]:
    """A vector with one component that is not 0."""
    x, y, z, w = (value if it == axis else 0.0 for it in range(4))
    return x, y, z, w


def _place(signs: Sequence[float], error: float) -> tuple[float, float, float]:
    x, y, z = (*(error * it for it in signs), 0.0, 0.0)[:3]
    return x, y, z


class _SampleMoves:
    """Runs of a dispatch with moved samples."""

    def __init__(self, dispatch: Repeated) -> None:
        program = dispatch.kernel.shader.program
        facts = move_samples(ProgramOrigin(program).core(), core_of)
        assert facts is not None, "the kernel samples"
        self._facts = facts
        self._runs = MovedRuns(dispatch, MovedSamplesOrigin(program), facts.point, OWN_WORDS)

    def allowances(self, blending: Blending) -> Changes:
        """What each output may be off on a device that errs so much."""
        _, count = self._still
        kinds = [
            _moves_of_places(self._facts, blending.place, self._runs.samplers),
            *_moves_of_levels(self._facts, blending.place),
            *_moves_of_weights(self._facts, blending.product),
        ]
        return changes_by_parts(count, lambda parts, part: sum_of(self._worst(it, parts, part) for it in kinds))

    @cached_property
    def _still(self) -> tuple[Arrays, int]:
        return self._run(_STILL, 1, 1)

    def _worst(self, moves: _Moves, parts: int, part: int) -> Changes:
        """The largest change of each element where one of so many parts of the samples moves, or of 0 parts all."""

        def pairs() -> Iterator[tuple[Arrays, Arrays]]:
            for base, others in moves:
                before, _ = self._still if base == _STILL else self._run(base, parts, part)
                for move in others:
                    yield before, self._run(move, parts, part)[0]

        return largest_changes(pairs())

    def _run(self, move: _Move, parts: int, part: int) -> tuple[Arrays, int]:
        """The outputs, and the most samples that an invocation takes."""
        return self._runs.outputs(parts, part, move.words, move.sampler)
