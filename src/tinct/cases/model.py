"""Kernels and their cases, as read from a case file."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from ..compare import Tolerance
from ..ir.samplers import Sampler
from ..ir.textures import MOST_LEVELS, is_layered
from ..ir.types import Texture, Type
from .expressions import Expression, ExpressionError, evaluate_count
from .generators import Generator, Request
from .references import Reference, call

Array: TypeAlias = npt.NDArray[Any]
Input: TypeAlias = "Array | list[Array]"
"""An array, or one for each mip level of a texture."""
Constant: TypeAlias = bool | int | float


class CaseError(InputError):
    """An unusable case file; the message names the file and the place in it."""

    def __init__(self, file: Path, place: str, message: str) -> None:
        super().__init__(f"{file}: {place}: {message}" if place else f"{file}: {message}")
        self.file = file
        self.place = place
        self.message = message


@dataclass(frozen=True, slots=True)
class BufferPlan:
    """How a buffer is made, and how it is compared afterwards: `tolerance` is None for one that is only an input.

    `dtype` is the type of the numbers for a sampled texture, which takes several; None for that of the shader. `levels`
    is the number of a texture's mip levels, or has a generator for each; None for a single array.
    """

    shape: tuple[Expression, ...]
    generator: Generator
    tolerance: Tolerance | None
    dtype: np.dtype[Any] | None = None
    levels: Expression | tuple[Generator, ...] | None = None


class Binding(Protocol):
    """A variable that a case has values for, as `reflection.BindingInfo` describes it."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def type(self) -> Type:
        """Its WGSL type."""
        ...

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The numpy type of its elements, of a texture's channels; None for a sampler."""
        ...


@dataclass(frozen=True, slots=True)
class Case:
    """One dispatch of a kernel on generated inputs. Exactly one of `workgroups` and `threads` is given for a shader,
    none for a function of Hercules IR.

    `entry` is None where the shader has one entry point, and for the last function. `interp` marks a case small enough
    for an interpreter. `picture` names an output to be looked at: RGBA pixels in u32 (see `save_pictures`).
    """

    kernel: str
    name: str
    file: Path
    kernel_path: Path
    entry: str | None
    sizes: Mapping[str, int]
    plans: Mapping[str, BufferPlan]
    samplers: Mapping[str, Sampler]
    workgroups: tuple[int, int, int] | None
    threads: tuple[int, int, int] | None
    constants: Mapping[str, Constant]
    seed: int
    interp: bool
    reference: Reference | None
    picture: str | None

    @property
    def outputs(self) -> dict[str, Tolerance]:
        """The buffers to compare, with the tolerance of each."""
        return {name: plan.tolerance for name, plan in self.plans.items() if plan.tolerance is not None}

    @property
    def is_of_function(self) -> bool:
        """Whether the kernel is a function of Hercules IR."""
        return self.kernel_path.suffix == ".hir"

    def inputs_of(self, bindings: Sequence[Binding]) -> dict[str, Input]:
        """Fresh arrays for every buffer and texture of an entry point, the same at each call.

        CaseError when a recipe does not fit.
        """
        textures = {it.name: it.type for it in bindings if isinstance(it.type, Texture)}
        found: dict[str, Input] = {}
        for info in bindings:
            plan = self.plans.get(info.name)
            if plan is not None and plan.levels is not None and info.name in textures:
                found[info.name] = self._levels(info, textures[info.name], plan, plan.levels)
        dtypes = {it.name: it.dtype for it in bindings if it.dtype is not None}
        return {**self._arrays({name: it for name, it in dtypes.items() if name not in found}, dtypes), **found}

    def inputs(self, dtypes: Mapping[str, np.dtype[Any]], results: Collection[str] = ()) -> dict[str, Array]:
        """Fresh arrays for every buffer but those that are only `results`, the same at each call.

        `dtypes` gives for each buffer's variable the numpy type of its WGSL type, of the element where that is a
        runtime-sized array, of a texture's channels (reflection has them). CaseError when a recipe does not fit.
        """
        return self._arrays(dtypes, {*dtypes, *results})

    def _arrays(self, dtypes: Mapping[str, np.dtype[Any]], known: Collection[str]) -> dict[str, Array]:
        """The arrays of those buffers that have a dtype. Raises CaseError for a buffer that is not known."""
        unknown = self.plans.keys() - set(known)
        if unknown:
            names = ", ".join(known) or "none"
            raise self._error(f"buffers.{min(unknown)}", f"the shader has no such binding; it has: {names}")
        return {name: self._fill(name, plan, dtypes[name]) for name, plan in self.plans.items() if name in dtypes}

    def expected(self, inputs: Mapping[str, Input]) -> dict[str, Array] | None:
        """The outputs that the numpy reference computes from the inputs; None without a reference."""
        if self.reference is None:
            return None
        try:
            answer = call(self.reference, {**self.sizes, **self.constants, **inputs})
        except LookupError as error:
            raise self._error("reference", str(error.args[0])) from None
        strange = answer.keys() - self.outputs.keys()
        if strange:
            raise self._error("reference", f"the reference returns '{min(strange)}', which is no output")
        return answer

    def _fill(self, name: str, plan: BufferPlan, dtype: np.dtype[Any]) -> Array:
        if plan.levels is not None:
            raise self._error(f"buffers.{name}", "only a texture has levels")
        try:
            shape = tuple(evaluate_count(extent, self.sizes) for extent in plan.shape)
            return plan.generator.fill(Request(shape, plan.dtype or dtype, self.sizes, self._random(name)))
        except ExpressionError as error:
            raise self._error(f"buffers.{name}", str(error)) from None

    def _levels(
        self, info: Binding, texture: Texture, plan: BufferPlan, levels: Expression | tuple[Generator, ...]
    ) -> list[Array]:
        """The mip levels of a texture, each with half the extents of the one before, rounded down, and at least 1."""
        random, dtype = self._random(info.name), plan.dtype or info.dtype
        assert dtype is not None, "a texture has a dtype"
        try:
            shape = tuple(evaluate_count(extent, self.sizes) for extent in plan.shape)
            if not isinstance(levels, tuple):
                count = evaluate_count(levels, self.sizes)
                levels = (plan.generator,) * min(count, MOST_LEVELS + 1)
            if not 1 <= len(levels) <= MOST_LEVELS:
                raise ExpressionError(f"a texture has 1 to {MOST_LEVELS} levels")
            shapes = [_level_shape(texture, shape, level) for level in range(len(levels))]
            return [it.fill(Request(its, dtype, self.sizes, random)) for it, its in zip(levels, shapes, strict=True)]
        except ExpressionError as error:
            raise self._error(f"buffers.{info.name}", str(error)) from None

    def _random(self, name: str) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence([self.seed, zlib.crc32(name.encode())]))

    def _error(self, place: str, message: str) -> CaseError:
        return CaseError(self.file, f"case '{self.name}', {place}", message)


def _level_shape(texture: Texture, shape: tuple[int, ...], level: int) -> tuple[int, ...]:
    """The shape of a mip level: layers and channels do not change."""
    first, last = (1, 3) if is_layered(texture) else (0, {"1d": 1, "2d": 2}.get(texture.dimension, 3))
    return tuple(max(1, it >> level) if first <= axis < last else it for axis, it in enumerate(shape))


@dataclass(frozen=True, slots=True)
class KernelCases:
    """A file of WGSL or Hercules IR with the cases of one case file."""

    name: str
    path: Path
    file: Path
    cases: tuple[Case, ...]
