"""How far the results of a nest may be apart beside a tolerance, by what its operations may be off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from ..base.cached import cached_property
from ..base.errors import TinctError
from ..compare import Doubles
from ..ir.schedule.nodes import Nest
from ..origins import core_of
from ..transforms.schedule.error_bounds import error_bounds
from .nest_task import Arrays
from .rejected import Rejected

_NO_BOUND: Final = 1e38
"""Bounds from here on are none."""


class Allowance:
    """What the elements of a nest's outputs may be apart, of a device and the CPU; computed when it is asked for first.

    `run` computes the outputs of another nest with the same inputs, and raises Rejected or TinctError where it cannot.
    """

    def __init__(self, nest: Nest, device: str, run: Callable[[Nest], Arrays]) -> None:
        self._nest = nest
        self._is_cpu = device == "cpu"
        self._run = run

    def of(self, output: str) -> Doubles | None:
        """How far each element of an output may be apart, infinite where there is no bound; None if all are exact, or
        the bounds cannot be computed.
        """
        return self._found.get(output)

    @cached_property
    def _found(self) -> Mapping[str, Doubles]:
        bounds = error_bounds(self._nest, is_cpu=self._is_cpu, build=core_of)
        if bounds is None:
            return {}
        try:
            arrays = self._run(bounds.nest)
        except (Rejected, TinctError):
            return {}
        return {output: _apart(arrays[name]) for output, name in bounds.outputs.items()}


def _apart(bounds: npt.NDArray[np.float32]) -> Doubles:
    """Twice the bounds, since both results may be off."""
    found = 2 * bounds.astype(np.float64)
    return np.where(found < _NO_BOUND, found, np.inf)
