"""The device's own clock: when its queue has done what is recorded before. Lives in the worker process only."""

from __future__ import annotations

from typing import Final

import numpy as np

from . import webgpu

TICK: Final = np.dtype("<u8")
_QUERIES: Final = 4
"""Two for each of two stamps: the beginning and the end of an empty pass."""


class DeviceClock:
    """Two stamps on a device with the feature `timestamp-query`, and the time between them.

    A pass of its own takes each stamp: wgpu writes the beginning of a pass when all commands before are done.
    """

    def __init__(self, wgpu: webgpu.WebGpu, device: webgpu.Device, tick: float) -> None:
        """`tick` is the seconds of a tick."""
        usage = wgpu.BufferUsage
        self._device = device
        self._seconds = tick
        self._queries = device.create_query_set(type="timestamp", count=_QUERIES)
        self._ticks = device.create_buffer(size=_QUERIES * TICK.itemsize, usage=usage.QUERY_RESOLVE | usage.COPY_SRC)

    def stamp(self, encoder: webgpu.CommandEncoder, number: int) -> None:
        """Record stamp 0 or 1."""
        writes = {
            "query_set": self._queries,
            "beginning_of_pass_write_index": 2 * number,
            "end_of_pass_write_index": 2 * number + 1,
        }
        encoder.begin_compute_pass(timestamp_writes=writes).end()

    def resolve(self, encoder: webgpu.CommandEncoder) -> None:
        """Record that both stamps are stored, for `between`."""
        encoder.resolve_query_set(self._queries, 0, _QUERIES, self._ticks, 0)

    def between(self) -> float:
        """The seconds from stamp 0 to stamp 1, after what was submitted is done."""
        ticks = np.frombuffer(self._device.queue.read_buffer(self._ticks), TICK)
        return max(int(ticks[2]) - int(ticks[0]), 0) * self._seconds
