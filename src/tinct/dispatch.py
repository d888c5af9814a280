"""What a device is asked to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .compilation import Compilation
from .ir.types import BindingPoint
from .reflection import BindingInfo


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
    """Whether `a * b + c` may be rounded once; only the CPU can be asked for it."""
    is_trial: bool = True
    """Whether the CPU may run it on the code of first runs (see `backend.cpu.trial`)."""
