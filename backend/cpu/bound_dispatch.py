"""A dispatch that is bound to its buffers once and run many times, on the tier that the kernel has reached."""

from __future__ import annotations

import time
from collections.abc import Callable

from ...base.deadline import compiling_within
from .device import BoundKernel
from .options import CpuOptions, default_options
from .tiered import CpuDispatch, TieredKernel, in_order

_SHORT = 1e-2
"""A first run that takes less than this share of the time left for first runs is short: runs like it are only counted.

Longer ones are first runs again, which are stopped when that time is over.
"""


class BoundDispatch:
    """A dispatch of a kernel on buffers that stay where they are. The results are those of `TieredKernel.run`."""

    def __init__(self, kernel: TieredKernel, dispatch: CpuDispatch) -> None:
        self._kernel = kernel
        self._dispatch = dispatch
        self._bound: BoundKernel | None = None
        self._timed: BoundKernel | None = None
        self._is_baseline = False

    def prepare(self, timeout: float | None) -> None:
        """Compile what `run` with this time limit needs, within as long. Raises ShaderError and DeviceError."""
        if timeout is not None and self._timed is None:
            with compiling_within(timeout):
                self._timed = self._bind(default_options(contract=self._dispatch.contract))

    def run(self, timeout: float | None) -> None:
        """Run, and wait for the end. After `timeout` seconds it is stopped half done, with a DeviceError.

        With a limit `prepare` comes first, and optimised code runs.
        """
        if timeout is None or self._timed is None:
            self.go()
        else:
            self._timed.run(timeout=timeout)

    def runner(self, expired: Callable[[], None]) -> Callable[[], None]:
        """`run` without a limit, as a function that costs as little as can be, for now: once a kernel's first runs are
        over, it calls `expired`, and the runner of later runs is another one.
        """
        if self._bound is None:
            return self.go
        run, kernel, clock = self._bound.runner(), self._kernel, time.perf_counter
        if not self._is_baseline:
            return run

        def counted() -> None:
            start = clock()
            run()
            kernel.trial_seconds -= clock() - start
            if kernel.trial_seconds <= 0:
                expired()

        return counted

    def go(self) -> None:
        """Run without a limit. Raises as `TieredKernel.run` does."""
        if self._is_baseline and not self._kernel.is_on_trial:
            self._bound, self._is_baseline = None, False
        if self._bound is None:
            self._first_run()
        else:
            self._bound.run()

    def _first_run(self) -> None:
        """Run as the kernel chooses, then keep the tier that it is on."""
        kernel = self._kernel
        times = kernel.run(self._dispatch)
        if not (self._dispatch.may_be_first_run and kernel.is_on_trial):
            self._bound = self._bind(default_options(contract=self._dispatch.contract))
        elif times.run < _SHORT * kernel.trial_seconds:
            self._bound, self._is_baseline = self._bind(CpuOptions("baseline")), True

    def _bind(self, options: CpuOptions) -> BoundKernel:
        kernel = self._kernel.code(options)
        return kernel.bind(in_order(kernel, self._dispatch), self._dispatch.workgroups)
