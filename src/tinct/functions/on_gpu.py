"""Functions on a GPU."""

from __future__ import annotations

from collections.abc import Sequence

from ..base.errors import DeviceError
from ..ir.hercules import nodes as h
from .results import DeviceResult


def unavailable_reason() -> str | None:
    """Why no function runs on any GPU; None if some do."""
    return "functions of Hercules IR on a GPU"


def run_on_gpu(
    function: h.Function,
    constants: Sequence[int],
    buffers: Sequence[bytearray],
    *,
    adapter: str,
    timeout: float | None,
) -> DeviceResult:
    """The result for these bytes of the parameters.

    `adapter` is "" for any. Raises DeviceError.
    """
    del constants, buffers, adapter, timeout
    raise DeviceError(f"not supported: {unavailable_reason()}, such as {function.name!r}")
