"""Sequences of dispatches, prepared once and executed any number of times by one call into C.

    sequence = Sequence(steps, sizes=[1024, 1024], swaps={0: 1, 1: 0})
    sequence.run([a, b], executions=100)

Steps (see `sequence_steps`) work on memories, which they name by number, so that one sequence runs on any memories of
its sizes. Steps take effect in order. Between two executions `swaps` says which memory takes whose place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence as Many

from .device import Bytes
from .sequence_steps import Range, SequenceRun, Step


class Sequence:
    """Steps on memories of `sizes` bytes.

    `levels` has a number for each step: neighbours with equal numbers do not depend on each other, and may run side by
    side. By `swaps`, after an execution that another one follows, number `i` stands for the memory that
    `swaps[i]` stood for; it is a permutation of memories of equal sizes.

    Raises InputError for ranges that do not lie in their memories, are no multiples of 16, or overlap where one is
    written.
    """

    def __init__(
        self,
        steps: Many[Step],
        *,
        sizes: Many[int],
        levels: Many[int] | None = None,
        swaps: Mapping[int, int] | None = None,
    ) -> None: ...

    def run(
        self,
        memories: Many[Bytes],
        *,
        executions: int = 1,
        until: Range | None = None,
        timeout: float | None = None,
        timed: bool = False,
    ) -> SequenceRun:
        """Execute the steps `executions` times on these memories, and wait for the end.

        With `until`, the first execution after which that u32 (of the memory that the number stands for in this
        execution) is not zero is the last one. Compiles what is needed; the first runs of kernels use baseline code as
        `TieredKernel.run` does. A timed run executes one step at a time.

        After `timeout` seconds it is stopped half done, with a DeviceError. Raises ShaderError for what cannot be
        compiled.
        """
        ...
