"""Generators that fill a buffer: seeded random numbers, ramps, constants, literals, files, one generator per field.

A generator is a frozen dataclass whose fields are its parameters in the case file, in order; `fill` makes an array of a
shape and dtype. Random numbers are drawn in double precision, so that f16 and f32 buffers get the same ones, rounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from .expressions import Expression, ExpressionError, Sizes, evaluate

Array: TypeAlias = npt.NDArray[Any]
Literal: TypeAlias = "bool | Expression | Sequence[Literal] | Mapping[str, Literal]"


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a generator."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    sizes: Sizes
    random: np.random.Generator

    @property
    def blank(self) -> Array:
        """Zeros of the shape; a dtype that is itself an array (a vector) adds its dimensions."""
        return np.zeros(self.shape, self.dtype)


class Generator(Protocol):
    """Makes the contents of a buffer or of a field."""

    def fill(self, request: Request) -> Array:
        """An array of `request.shape` and `request.dtype`; ExpressionError when the parameters do not fit."""
        ...


@dataclass(frozen=True, slots=True)
class Uniform:
    """Real numbers, evenly distributed over [low, high)."""

    low: Expression
    high: Expression

    def fill(self, request: Request) -> Array:  # noqa: D102 (as Generator.fill)
        low, high = evaluate(self.low, request.sizes), evaluate(self.high, request.sizes)
        blank = _scalars(request)
        return request.random.uniform(low, high, blank.shape).astype(blank.dtype)


@dataclass(frozen=True, slots=True)
class Normal:
    """Real numbers, normally distributed."""

    mean: Expression
    deviation: Expression

    def fill(self, request: Request) -> Array:  # noqa: D102 (as Generator.fill)
        mean, deviation = evaluate(self.mean, request.sizes), evaluate(self.deviation, request.sizes)
        blank = _scalars(request)
        return request.random.normal(mean, deviation, blank.shape).astype(blank.dtype)


@dataclass(frozen=True, slots=True)
class Integers:
    """Whole numbers of [low, high), also in buffers of floats."""

    low: Expression
    high: Expression

    def fill(self, request: Request) -> Array:  # noqa: D102 (as Generator.fill)
        low, high = evaluate(self.low, request.sizes), evaluate(self.high, request.sizes)
        if low >= high:
            raise ExpressionError(f"no integer lies in [{low}, {high})")
        blank = _scalars(request)
        return request.random.integers(int(low), int(high), blank.shape).astype(blank.dtype)


@dataclass(frozen=True, slots=True)
class Linspace:
    """Evenly spaced numbers from start to stop, both included."""

    start: Expression
    stop: Expression

    def fill(self, request: Request) -> Array:  # noqa: D102 (as Generator.fill)
        start, stop = evaluate(self.start, request.sizes), evaluate(self.stop, request.sizes)
        blank = _scalars(request)
        return np.linspace(start, stop, blank.size).reshape(blank.shape).astype(blank.dtype)


@dataclass(frozen=True, slots=True)
class Arange:
    """start, start + step, start + 2 * step, …"""

    start: Expression
    step: Expression

    def fill(self, request: Request) -> Array:  # noqa: D102 (as Generator.fill)
        start, step = evaluate(self.start, request.sizes), evaluate(self.step, request.sizes)
        blank = _scalars(request)
        return (start + step * np.arange(blank.size)).reshape(blank.shape).astype(blank.dtype)


@dataclass(frozen=True, slots=True)
class Value:
    """A literal: a number for every element, nested lists, or a table of a structure's fields."""

    value: Literal

    def fill(self, request: Request) -> Array:  # noqa: D102 (as Generator.fill)
        blank = request.blank
        _assign(blank, self.value, request.sizes)
        return blank


@dataclass(frozen=True, slots=True)
class File:
    """An array saved by numpy (.npy), cast to the buffer's type. Its shape must be the one asked for, if any is."""

    path: Path

    def fill(self, request: Request) -> Array:  # noqa: D102 (as Generator.fill)
        try:
            loaded = cast(Array, np.load(self.path, allow_pickle=False))
        except (OSError, ValueError) as error:
            raise ExpressionError(f"{self.path} cannot be read: {error}") from None
        blank = request.blank
        if request.shape and loaded.shape != blank.shape:
            raise ExpressionError(f"{self.path} has the shape {loaded.shape}, not {blank.shape}")
        return loaded.astype(request.dtype.base)


@dataclass(frozen=True, slots=True)
class Fields:
    """A generator for each field of a structure; fields without one are zero."""

    fields: Mapping[str, Generator]

    def fill(self, request: Request) -> Array:  # noqa: D102 (as Generator.fill)
        blank = request.blank
        for name, generator in self.fields.items():
            dtype = _field_dtype(blank, name)
            blank[name] = generator.fill(Request(blank.shape, dtype, request.sizes, request.random))
        return blank


def _scalars(request: Request) -> Array:
    """Zeros to be replaced; random numbers and ramps have no meaning for structures and booleans."""
    blank = request.blank
    if blank.dtype.kind not in "fiu":
        raise ExpressionError(f"random numbers and ramps cannot fill {blank.dtype}; give 'fields' or 'value'")
    return blank


def _field_dtype(array: Array, name: str) -> np.dtype[Any]:
    names = array.dtype.names
    if names is None:
        raise ExpressionError(f"there is no field '{name}': the buffer holds no structure")
    if name not in names:
        raise ExpressionError(f"there is no field '{name}'; there are: {', '.join(names)}")
    return array.dtype[name]


def _assign(target: Array, literal: Literal, sizes: Sizes) -> None:
    """Writes a literal into an array in place; its expressions are evaluated on the way."""
    if isinstance(literal, Mapping):
        for name, part in literal.items():
            _field_dtype(target, name)
            _assign(target[name], part, sizes)
        return
    try:
        target[...] = _evaluated(literal, sizes)
    except (TypeError, ValueError, OverflowError) as error:
        raise ExpressionError(f"the value does not fit {target.dtype} of shape {target.shape}: {error}") from None


def _evaluated(literal: Literal, sizes: Sizes) -> object:
    if isinstance(literal, str | int | float):
        return evaluate(literal, sizes)
    if isinstance(literal, Mapping):
        raise TypeError("a table inside a list is only possible for fields of one structure")
    return [_evaluated(part, sizes) for part in literal]
