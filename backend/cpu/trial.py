"""The first runs of a kernel, as code that was compiled in little time.

Compiling gangs takes LLVM 10 to 90 ms, which a test with a few hundred elements never earns back. So a kernel begins on
the baseline tier, and stays there until its runs have taken about as long as compiling gangs does. A run that is too
much for that is given up: what it wrote is put back, and better code does it from the start. Whatever a kernel is used
for, that costs at most about twice what it would have cost to know beforehand. The results are the same on all tiers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from ...ir.diagnostics import DeviceError
from .device import CompiledKernel

_SECONDS = 20e-3
"""What compiling gangs takes at least."""
MOST_WRITTEN = 1 << 20
"""A dispatch that may write more bytes is better off with better code than with keeping them to be put back."""


class Trial:
    """Runs a kernel of the baseline tier for as long as that is of use."""

    def __init__(self, kernel: CompiledKernel) -> None:
        self.kernel = kernel
        self._left = _SECONDS

    def run(
        self, buffers: Sequence[bytearray], workgroups: tuple[int, int, int], *, timeout: float | None = None
    ) -> bool:
        """Dispatch as `CompiledKernel.run` does, which may write MOST_WRITTEN bytes. Whether that was done: if not, the
        buffers are as they were, and this dispatch is for better code, as are all that follow.
        """
        written = [it for it, slot in zip(buffers, self.kernel.slots, strict=True) if slot.is_written]
        if self._left <= 0:
            return False
        if timeout is not None and not timeout > self._left:
            self.kernel.run(buffers, workgroups, timeout=timeout)
            return True
        kept = [bytes(it) for it in written]
        start = time.perf_counter()
        try:
            self.kernel.run(buffers, workgroups, timeout=self._left)
        except DeviceError:
            for buffer, before in zip(written, kept, strict=True):
                buffer[:] = before
            return False
        finally:
            self._left -= time.perf_counter() - start
        return True
