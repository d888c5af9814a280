"""A dispatch as a device gets it, and its timing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .compilation import Compilation
from .ir.types import BindingPoint
from .reflection import BindingInfo


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
    """A kernel to run on buffers: the writable ones change in place.

    If compiling, or then running, takes longer than `timeout` seconds, it is stopped and raises DeviceError.
    """

    compilation: Compilation
    bindings: Sequence[BindingInfo]
    buffers: Mapping[BindingPoint, bytearray]
    workgroups: tuple[int, int, int]
    timeout: float | None = None
    contract: bool = False
    """Whether `a * b + c` may be rounded once; only for the CPU."""
    is_trial: bool = True
    """Whether the CPU may use baseline code for first runs (see `backend.cpu.tiered`)."""
