"""The copies that a run of each program of `examples/` makes, beside those that it needs.

No program needs a copy within a device, since nothing reads a value after a leaf has overwritten it. A GPU needs a copy
of each array, and of each other input that is an output too; each output is copied back. Other inputs are uniform
values, which are parts of dispatches.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from tinct.backend.gpu import GpuDevice

from .examples import example
from .measuring import Bar, Comparison, Effort, Part

PROGRAMS: Final = ("canny", "conjugate_gradient", "fft", "fluid", "kmeans", "life", "radix_sort", "transformer")


def needed(device: str, given: Mapping[str, Any], outputs: Mapping[str, Any]) -> int:
    """How many copies a run on a device needs."""
    if device == "cpu":
        return 0
    return sum(isinstance(it, np.ndarray) or name in outputs for name, it in given.items()) + len(outputs)


def copies(_effort: Effort) -> Iterator[Comparison]:
    for device in ["cpu"] + (["gpu"] if GpuDevice.available() is not None else []):
        seconds: dict[str, float] = {}
        bars: list[Bar] = []
        for name in PROGRAMS:
            module = example(name)
            given = module.inputs(np.random.default_rng(7))
            start = time.perf_counter()
            result = module.GRAPH.run_timed(given, device=device)
            seconds[name] = time.perf_counter() - start
            most = needed(device, given, result.outputs)
            bars.append(Bar(f"copies of {name} on {device}", len(result.copies), "at most", most))
        yield Comparison(f"first runs on {device}, small inputs", seconds, PROGRAMS[0], tuple(bars))


COPIES: Final = Part("copies", "copies that runs make", copies)
