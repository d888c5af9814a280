"""`Kernel.run` with buffers of a session among its arrays."""

from __future__ import annotations

import time
from typing import Any

import numpy.typing as npt

from ..base.errors import InputError
from ..buffers import values_by_name
from ..dispatch import Timing
from .buffer import Buffer
from .calls import KernelLike, Options
from .resolving import Values


def run_with_buffers(
    kernel: KernelLike, given: Values, options: Options, timeout: float | None
) -> tuple[dict[str, npt.NDArray[Any]], Timing]:
    """Run in the session of the buffers, which change in place. The written bindings that were given as arrays, or as
    None, are returned as arrays.

    On a GPU a dispatch that returns no array is only recorded: its time is that of recording it.
    """
    start = time.perf_counter()
    values = values_by_name(kernel.bindings, given)
    sessions = {id(it.session): it.session for it in values.values() if isinstance(it, Buffer)}
    if len(sessions) > 1:
        raise InputError("the buffers belong to several sessions")
    (session,) = sessions.values()
    outputs: dict[str, Buffer] = {}
    for info in kernel.bindings:
        if info.is_written and not isinstance(values[info.name], Buffer):
            outputs[info.name] = values[info.name] = session.buffer(values[info.name], info, label=info.name)
    compilation = kernel.compilation(options.constants)
    before = compilation.total_seconds
    session.run_with(kernel, values, options, timeout)
    arrays = {name: buffer.numpy() for name, buffer in outputs.items()}
    seconds = time.perf_counter() - start
    compiling = min(compilation.total_seconds - before, seconds)
    return arrays, Timing(compiling, seconds - compiling)
