"""The memory of transient values in the plans of `examples/`, beside what their lives need at the fullest step."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from .examples import example
from .measuring import Bar, Comparison, Effort, Part


def problems(effort: Effort) -> dict[str, dict[str, Any]]:
    """Inputs by the names of examples."""
    random = np.random.default_rng(7)
    length = effort.pick(256, 32)
    signal = np.zeros((length, length, 2), np.float32)
    return {
        "fft": {"signal": signal, "width": length, "height": length},
        "radix_sort": {"keys": np.zeros(effort.pick(1 << 20, 5000), np.uint32)},
        "transformer": example("transformer").parameters(random, tokens=length, width=effort.pick(128, 16), heads=4),
    }


def transients(effort: Effort) -> Iterator[Comparison]:
    for name, given in problems(effort).items():
        start = time.perf_counter()
        plan = example(name).GRAPH.program.plan(given)
        seconds = {"planning": time.perf_counter() - start}
        bar = Bar(
            f"{name}: bytes of transients relative to those alive",
            plan.transient_bytes / plan.live_bytes,
            "at most",
            1.1,
        )
        yield Comparison(f"memory of {name}", seconds, "planning", (bar,))


TRANSIENTS: Final = Part("transients", "memory of transient values", transients)
