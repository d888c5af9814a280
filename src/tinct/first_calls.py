"""The first dispatches of a kernel on the CPU, which the interpreter of core IR runs if they are tiny.

In a new process it is there after a third of the time that machine code takes, and it runs some hundred invocations in
a millisecond or two. A kernel is interpreted only if the results are those of machine code, bit for bit (see
`ir.core.exact`), in the first `INTERPRETING_PROCESSES` that run it, and until that has taken `INTERPRETED_SECONDS`. A
run that takes longer, or after which a NaN may be in memory, is undone: machine code runs the dispatch from its start.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from .base.errors import DeviceError
from .base.records import dataclass, field
from .ir.entry_points import entry_point

if TYPE_CHECKING:
    from .ir.core.nodes import Module
    from .ir.types import BindingPoint

INTERPRETED_SECONDS = 20e-3
"""Time budget in seconds of all interpreted runs of a kernel, which is less than compiling baseline code takes."""
INTERPRETING_PROCESSES = 4
"""Number of processes that interpret a kernel before one compiles it. Compiling makes one process slower, by four times
of what it saves each later one or more (`benchmarks.first_call`): a script that runs a few times never pays for it, and
one that runs often pays at most about twice of what is least.
"""
MOST_INVOCATIONS = 256
"""Maximum number of invocations of an interpreted dispatch, in each of which five instructions take a microsecond."""
MOST_WRITTEN = 1 << 16
"""Maximum bytes of the buffers that an interpreted dispatch writes, which are copied, and searched for NaN."""
_INFINITY = 0x7F800000
_MAGNITUDE = 0x7FFFFFFF


@dataclass(eq=False, slots=True)
class FirstCalls:
    """The interpreted runs of the entry point of a specialised module. `has_floats`: whether some value may be NaN."""

    module: Module
    entry: str
    has_floats: bool
    seconds: float = field(default_factory=lambda: INTERPRETED_SECONDS)
    """Seconds left for interpreted runs."""

    def run(
        self,
        buffers: Mapping[BindingPoint, bytearray | memoryview],
        written: Collection[BindingPoint],
        workgroups: tuple[int, int, int],
    ) -> float | None:
        """Run a dispatch in place. Returns the seconds that it took, or None if machine code is to run it; then the
        buffers are as they were.
        """
        limit = self.seconds  # which other threads change
        if limit <= 0 or sum(len(buffers[it]) for it in written) > MOST_WRITTEN:
            return None

        from .ir.core.interp import run

        before = {point: bytes(buffers[point]) for point in written}
        start = time.perf_counter()
        try:
            run(self.module, self.entry, buffers, workgroups, timeout=limit)
            is_done = not any(self._may_have_nan(buffers[it]) for it in written)
        except DeviceError:  # the time is over
            is_done = False
        taken = time.perf_counter() - start
        if is_done:
            self.seconds -= taken
            return taken
        self.seconds = 0.0
        for point, data in before.items():
            buffers[point][:] = data
        return None

    def _may_have_nan(self, buffer: bytearray | memoryview) -> bool:
        """Whether some word of a buffer is a NaN if it is an f32; every word is where a value of it may start."""
        if not self.has_floats:
            return False
        words = np.frombuffer(buffer, "<u4", len(buffer) // 4) & np.uint32(_MAGNITUDE)
        return bool((words > _INFINITY).any())


def first_calls(module: Module, entry: str) -> FirstCalls | None:
    """The interpreted runs of an entry point; None if its results may differ from those of machine code."""
    from .ir.core.exact import is_exact, uses_floats

    function = entry_point(module.functions, entry)
    return FirstCalls(module, entry, uses_floats(function)) if is_exact(function) else None
