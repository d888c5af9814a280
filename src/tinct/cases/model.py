"""Kernels and their cases, as read from a case file."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from ..compare import Tolerance
from ..ir.samplers import Sampler
from .expressions import Expression, ExpressionError, evaluate_count
from .generators import Generator, Request
from .references import Reference, call

Array: TypeAlias = npt.NDArray[Any]
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

    `dtype` is the type of the numbers for a sampled texture, which takes several; None for that of the shader.
    """

    shape: tuple[Expression, ...]
    generator: Generator
    tolerance: Tolerance | None
    dtype: np.dtype[Any] | None = None


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

    def inputs(self, dtypes: Mapping[str, np.dtype[Any]], results: Collection[str] = ()) -> dict[str, Array]:
        """Fresh arrays for every buffer but those that are only `results`, the same at each call.

        `dtypes` gives for each buffer's variable the numpy type of its WGSL type, of the element where that is a
        runtime-sized array, of a texture's channels (reflection has them). CaseError when a recipe does not fit.
        """
        unknown = self.plans.keys() - dtypes.keys() - set(results)
        if unknown:
            names = ", ".join(dtypes) or "none"
            raise self._error(f"buffers.{min(unknown)}", f"the shader has no such binding; it has: {names}")
        return {name: self._fill(name, plan, dtypes[name]) for name, plan in self.plans.items() if name in dtypes}

    def expected(self, inputs: Mapping[str, Array]) -> dict[str, Array] | None:
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
        seed = np.random.SeedSequence([self.seed, zlib.crc32(name.encode())])
        try:
            shape = tuple(evaluate_count(extent, self.sizes) for extent in plan.shape)
            return plan.generator.fill(Request(shape, plan.dtype or dtype, self.sizes, np.random.default_rng(seed)))
        except ExpressionError as error:
            raise self._error(f"buffers.{name}", str(error)) from None

    def _error(self, place: str, message: str) -> CaseError:
        return CaseError(self.file, f"case '{self.name}', {place}", message)


@dataclass(frozen=True, slots=True)
class KernelCases:
    """A file of WGSL or Hercules IR with the cases of one case file."""

    name: str
    path: Path
    file: Path
    cases: tuple[Case, ...]
