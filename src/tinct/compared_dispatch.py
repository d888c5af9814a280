"""A dispatch whose results on several devices are compared, by WGSL's rules and WebGPU's."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy.typing as npt

from .base.cached import cached_property
from .compare import Comparison, Tolerance, compare
from .devices import samples_itself
from .dispatch import DispatchSize
from .kernel import BufferValues, Kernel
from .moved_runs import Changes, Repeated, sum_of
from .result_allowance import ResultAllowance
from .sample_allowance import SampleAllowance
from .sessions.calls import Constants

Array: TypeAlias = npt.NDArray[Any]


class ComparedDispatch:
    """A dispatch, whose results are to be compared. What they may be off beside a tolerance is estimated if they do not
    agree without. `timeout` is the limit in seconds of each run that this takes.
    """

    def __init__(
        self,
        kernel: Kernel,
        buffers: BufferValues,
        workgroups: DispatchSize | None = None,
        threads: DispatchSize | None = None,
        constants: Constants | None = None,
        timeout: float | None = None,
    ) -> None:
        self._dispatch = Repeated(kernel, buffers, workgroups, threads, constants, timeout)
        self._of_samples = SampleAllowance(self._dispatch)
        self._of_results = ResultAllowance(self._dispatch)

    @cached_property
    def bounded_functions(self) -> tuple[str, ...]:
        """The functions that the kernel calls whose results WGSL lets be off, sorted."""
        return self._of_results.functions

    def compare(self, output: str, expected: Array, actual: Array, tolerance: Tolerance, *devices: str) -> Comparison:
        """Compare an output, with what the devices that gave the two arrays may be off where they sample.

        Raises ValueError when shapes or fields differ, ShaderError, and DeviceError.
        """
        found = compare(expected, actual, tolerance)
        if found.agrees or not self._dispatch.has_inputs:
            return found
        return self._compare_with(self._allowed_by_samples(devices), output, expected, actual, tolerance) or found

    def compare_by_rules(
        self, output: str, expected: Array, actual: Array, tolerance: Tolerance, *devices: str
    ) -> Comparison:
        """The same, with what the results of functions such as sin may be off on any device."""
        found = self.compare(output, expected, actual, tolerance, *devices)
        if found.agrees or not self._dispatch.has_inputs or not self.bounded_functions:
            return found
        allowed = [*self._allowed_by_samples(devices), self._of_results.changes]
        return self._compare_with(allowed, output, expected, actual, tolerance) or found

    def _allowed_by_samples(self, devices: tuple[str, ...]) -> list[Changes]:
        sampling = [it for it in devices if samples_itself(it)]
        return [self._of_samples.on(it) for it in sampling] if sampling and self._of_samples.has_samples else []

    def _compare_with(
        self, allowed: list[Changes], output: str, expected: Array, actual: Array, tolerance: Tolerance
    ) -> Comparison | None:
        return compare(expected, actual, tolerance, sum_of(allowed)[output]) if allowed else None
