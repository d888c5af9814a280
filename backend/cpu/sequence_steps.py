"""The steps of a sequence: dispatches, fills and copies on numbered memories."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ...ir.types import BindingPoint
from .tiered import TieredKernel


@dataclass(frozen=True, slots=True)
class Range:
    """`size` bytes of a memory from `offset` on. A memory is its number in what `Sequence.run` is given."""

    memory: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class ExtentInMemory:
    """A number of invocations that is read when its step begins: a u32 at `offset`, or an i32."""

    memory: int
    offset: int
    is_signed: bool = False


@dataclass(frozen=True, slots=True)
class GridFromMemory:
    """The invocations of a dispatch, in one to three dimensions.

    An extent is rounded up to whole workgroups of `workgroup_size`. The dispatch is refused, and the sequence ends, if
    there are more than `capacity` invocations, which is the product of the extents before rounding, or more than 65,535
    workgroups in a dimension, or an extent is negative.
    """

    extents: tuple[int | ExtentInMemory, ...]
    workgroup_size: tuple[int, int, int]
    capacity: int | None = None


Grid: TypeAlias = "tuple[int, int, int] | GridFromMemory"
"""Numbers of workgroups, or what they are computed from."""


@dataclass(frozen=True, slots=True)
class DispatchStep:
    """A dispatch of a kernel, `compilation.machine_code`, with a range for each binding that it uses, of which it may
    change those that are `written`. Runtime-sized arrays have as many elements as fit their ranges.
    """

    kernel: TieredKernel
    ranges: Mapping[BindingPoint, Range]
    written: Collection[BindingPoint]
    grid: Grid


@dataclass(frozen=True, slots=True)
class FillStep:
    """Fills a range with zeros."""

    target: Range


@dataclass(frozen=True, slots=True)
class CopyStep:
    """Copies a range to another one of the same size, with which it has no byte in common."""

    source: Range
    target: Range


Step: TypeAlias = "DispatchStep | FillStep | CopyStep"


@dataclass(frozen=True, slots=True)
class RefusedGrid:
    """The number of the step whose grid was refused, and its extents."""

    step: int
    extents: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class SequenceRun:
    """What a run has done: how many whole `executions`, and the `seconds` of each step, over all executions, if they
    were asked for. `places` says which of the given memories each number stood for in the last execution. A `refused`
    grid has ended the run in the middle of an execution.
    """

    executions: int
    seconds: tuple[float, ...]
    places: tuple[int, ...]
    refused: RefusedGrid | None
