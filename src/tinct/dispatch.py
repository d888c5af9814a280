"""A dispatch as a device gets it, and its timing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .arguments import extent_of
from .backend.cpu.options import tier_asked_for
from .base.errors import InputError
from .base.records import dataclass
from .compilation import Compilation
from .first_calls import MOST_INVOCATIONS
from .ir.handle_facts import HandleFacts, facts_of
from .ir.layout_numbers import shown
from .ir.limits import MOST_WORKGROUPS
from .ir.samplers import read_sampler
from .ir.types import F32, BindingPoint, Texture, TextureKind
from .ir.types import Sampler as SamplerType
from .reflection import BindingInfo

if TYPE_CHECKING:
    import numpy.typing as npt

DispatchSize: TypeAlias = "int | Sequence[int] | npt.NDArray[np.integer[Any]]"


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds that one dispatch took: `compile` is 0 when nothing was left to compile. If it `is_cached`, machine code
    was only loaded from the cache on disk. Starting LLVM, once in a process, is not in it.
    """

    compile: float
    run: float
    is_cached: bool = False


@dataclass(frozen=True, slots=True)
class Dispatch:
    """A kernel to run on buffers: the writable ones change in place; others may be memory of the caller.

    If compiling, or then running, takes longer than `timeout` seconds, it is stopped and raises DeviceError.
    """

    compilation: Compilation
    bindings: Sequence[BindingInfo]
    buffers: Mapping[BindingPoint, bytearray | memoryview]
    workgroups: tuple[int, int, int]
    timeout: float | None = None
    contract: bool = False
    """Whether `a * b + c` may be rounded once; only for the CPU."""
    is_trial: bool = True
    """Whether the CPU may use the interpreter for first runs (see `first_calls`), and then baseline code (see
    `backend.cpu.tiered`).
    """

    @property
    def written(self) -> list[BindingPoint]:
        """The bindings that change."""
        return [it.point for it in self.bindings if it.is_written]

    @property
    def may_be_interpreted(self) -> bool:
        """Whether the interpreter may run it in place of machine code, if the kernel allows that, too."""
        if not self.is_trial or self.contract or self.timeout is not None or tier_asked_for() is not None:
            return False
        return prod(self.workgroups) * prod(self.compilation.workgroup_size) <= MOST_INVOCATIONS

    @property
    def facts(self) -> HandleFacts:
        """What is true of its textures and samplers."""
        return handle_facts(self.bindings, self.buffers)


def handle_facts(bindings: Sequence[BindingInfo], packed: Mapping[BindingPoint, bytearray | memoryview]) -> HandleFacts:
    """What is true of the textures and samplers among the bindings."""
    return facts_of({it.point: it.type for it in bindings}, packed)


def check_samplers(
    compilation: Compilation, bindings: Sequence[BindingInfo], packed: Mapping[BindingPoint, bytearray | memoryview]
) -> None:
    """Raise InputError for a sampler that filters and is used with depths or integers (WebGPU, "validating
    GPUProgrammableStage": a texture that a filtering sampler reads has the sample type "float").
    """
    by_point = {info.point: info for info in bindings}
    samplers = [info.point for info in bindings if isinstance(info.type, SamplerType) and not info.type.comparison]
    filtering = {point for point in samplers if read_sampler(packed[point]).is_filtering}
    if not filtering or all(map(_is_filterable, bindings)):
        return
    for texture, sampler in compilation.sampled_pairs:
        if sampler in filtering and not _is_filterable(by_point[texture]):
            one, other = by_point[texture], by_point[sampler]
            raise InputError(
                f"{other.name}: a sampler with linear filters is not for {one.name}: {one.type}, whose texels are not "
                "filterable; its filters must be 'nearest'"
            )


def _is_filterable(info: BindingInfo) -> bool:
    """Whether a sampler may filter a texture; true for all else."""
    return not isinstance(info.type, Texture) or info.type.sampled is F32 or info.type.kind is TextureKind.EXTERNAL


def dispatch_size(
    workgroups: DispatchSize | None, threads: DispatchSize | None, compilation: Compilation
) -> tuple[int, int, int]:
    """The number of workgroups. Raises InputError."""
    if (workgroups is None) == (threads is None):
        raise InputError("give the size of the dispatch either as workgroups or as threads")
    sizes = compilation.workgroup_size
    if threads is None:
        assert workgroups is not None
        x, y, z = extent_of(workgroups, "workgroups")
    else:
        x, y, z = (-(-wanted // size) for wanted, size in zip(extent_of(threads, "threads"), sizes, strict=True))
    if max(x, y, z) > MOST_WORKGROUPS:
        size = " x ".join(map(str, sizes))
        raise InputError(
            f"a dispatch of {' x '.join(map(shown, (x, y, z)))} workgroups (of {size} threads) is over the limit: "
            f"{MOST_WORKGROUPS} in each dimension"
        )
    return x, y, z
