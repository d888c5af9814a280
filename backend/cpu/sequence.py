"""Sequences of dispatches, prepared once and executed any number of times by one call into C.

    sequence = Sequence(steps, sizes=[1024, 1024], swaps={0: 1, 1: 0})
    bound = sequence.bind([a, b])
    bound.run(executions=100)

Steps (see `sequence_steps`) work on memories, which they name by number, so that one sequence runs on any memories of
its sizes. Steps take effect in order. Between two executions `swaps` says which memory takes whose place.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from collections.abc import Sequence as Many
from itertools import pairwise

from ...base.deadline import compiling_within
from ...base.errors import DeviceError, InputError
from .aligned import BINDING_ALIGNMENT, Bytes, address_of, aligned_zeros
from .device import CompiledKernel
from .options import default_options
from .packed_steps import Packer, Tables
from .sequence_checks import check_steps, check_swaps, written_memories
from .sequence_run import Done, Run
from .sequence_steps import DispatchStep, Range, SequenceRun, Step
from .threads import shared_pool
from .tiered import MOST_WRITTEN, TieredKernel
from .watchdog import stop_after


class Sequence:
    """Steps on memories of `sizes` bytes. Several threads may run one at the same time, each on memories of its own.

    `levels` has a number for each step: neighbours with equal numbers do not depend on each other, and may run side by
    side. By `swaps`, after an execution that another one follows, number `i` stands for the memory that
    `swaps[i]` stood for; it is a permutation of memories of equal sizes.

    Raises InputError for ranges that do not lie in their memories, bindings whose offset is no multiple of 16 or that
    overlap where one is written, and swaps that are no permutation.
    """

    def __init__(
        self,
        steps: Many[Step],
        *,
        sizes: Many[int],
        levels: Many[int] | None = None,
        swaps: Mapping[int, int] | None = None,
    ) -> None:
        check_steps(steps, sizes)
        self._steps, self._sizes = tuple(steps), tuple(sizes)
        self._swaps = check_swaps(swaps or {}, sizes)
        self._levels = tuple(range(len(steps)) if levels is None else levels)
        self._written = written_memories(steps, self._swaps)
        self._kernels = tuple({id(it.kernel): it.kernel for it in steps if isinstance(it, DispatchStep)}.values())
        self._settled: Tables | None = None
        """The steps with optimised code, once that has run."""
        self._packed: tuple[tuple[CompiledKernel, ...], int, Tables] | None = None

    def bind(self, memories: Many[Bytes]) -> BoundSequence:
        """The sequence on these memories, which stay where they are. Raises InputError for memories of other sizes, or
        that overlap where one is written.
        """
        addresses = [address_of(it) for it in memories]
        self._check_memories(memories, addresses)
        return BoundSequence(self, memories, addresses)

    def run(
        self,
        memories: Many[Bytes],
        *,
        executions: int = 1,
        until: Range | None = None,
        timeout: float | None = None,
        timed: bool = False,
    ) -> SequenceRun:
        """`bind`, and then `BoundSequence.run`, for memories of which one run is asked for."""
        return self.bind(memories).run(executions=executions, until=until, timeout=timeout, timed=timed)

    def _check_memories(self, memories: Many[Bytes], addresses: Many[int]) -> None:
        if tuple(it.nbytes for it in memories) != self._sizes:
            found = [it.nbytes for it in memories]
            raise InputError(f"memories of {list(self._sizes)} bytes are needed, not of {found}")
        found_at = zip(addresses, self._sizes, range(len(memories)), strict=True)
        spans = sorted(it for it in found_at if it[1])
        for (start, size, first), (following, _, second) in pairwise(spans):
            if start + size > following and not self._written.isdisjoint((first, second)):
                raise InputError(f"memories {first} and {second} overlap, and one is written")

    # For a bound sequence

    @property
    def swaps(self) -> tuple[int, ...]:
        """Which memory takes the place of each."""
        return self._swaps

    def execute(self, run: Run, memories: Many[Bytes], timeout: float | None) -> None:
        """What `BoundSequence.run` does, on aligned memories."""
        if not self._steps:
            run.accept(Done(run.left, is_ended=False, refused=None, seconds=()))
            return
        if timeout is None and self._settled is None:
            self._first_runs(run, memories)
        if run.is_over:
            return
        tables = self._settled or self._optimised(timeout)
        if timeout is None:
            run.execute(tables, run.left, None)
            return
        with stop_after(timeout) as stop:
            run.execute(tables, run.left, stop)

    def _optimised(self, timeout: float | None) -> Tables:
        """The steps with optimised code, which is the last."""
        with compiling_within(timeout):
            self._settled = self._tables(tuple(it.code(default_options()) for it in self._kernels))
        return self._settled

    def _first_runs(self, run: Run, memories: Many[Bytes]) -> None:
        """Execute while kernels are on trial, at first once, then twice as often each time.

        If that takes longer than first runs may, the memories are restored, and optimised code takes over.
        """
        if sum(self._sizes[it] for it in self._written) > MOST_WRITTEN:
            return
        executions = 1
        while not run.is_over:
            trial = {id(it): code for it in self._kernels if (code := it.trial_code()) is not None}
            tried = [it for it in self._kernels if id(it) in trial]
            if not tried:
                return
            codes = tuple(trial.get(id(it)) or it.code(default_options()) for it in self._kernels)
            self._try(run, memories, self._tables(codes), tried, min(executions, run.left))
            executions *= 2

    def _try(self, run: Run, memories: Many[Bytes], tables: Tables, tried: list[TieredKernel], executions: int) -> None:
        """Execute within the time that is left for the first runs of all these kernels, of which each takes a share.

        Does nothing if other threads have used it up since `tried` was found.
        """
        limit, start = sum(it.trial_seconds for it in tried), time.perf_counter()
        if limit <= 0:
            for kernel in tried:
                kernel.trial_seconds = 0
            return
        before = {number: memories[number].copy() for number in self._written}
        try:
            with stop_after(limit) as stop:
                done = run.attempt(tables, executions, stop)
        except DeviceError:
            for number, data in before.items():
                memories[number][:] = data
            for kernel in tried:
                kernel.trial_seconds = 0
            return
        run.accept(done)
        share = (time.perf_counter() - start) / len(tried)
        for kernel in tried:
            kernel.trial_seconds -= share

    def _tables(self, codes: tuple[CompiledKernel, ...]) -> Tables:
        """The packed steps for these machine codes of the kernels."""
        workers, packed = shared_pool().workers, self._packed
        if packed is not None and packed[:2] == (codes, workers):
            return packed[2]
        packer = Packer(len(self._sizes), workers)
        code_of = {id(kernel): code for kernel, code in zip(self._kernels, codes, strict=True)}
        for number, step in enumerate(self._steps):
            code = code_of[id(step.kernel)] if isinstance(step, DispatchStep) else None
            is_beside = number > 0 and self._levels[number] == self._levels[number - 1]
            packer.add(number, step, code, beside=is_beside)
        tables = packer.tables()
        self._packed = codes, workers, tables
        return tables


class BoundSequence:
    """A sequence with its memories, checked once, for any number of runs, by one thread at a time."""

    def __init__(self, sequence: Sequence, memories: Many[Bytes], addresses: Many[int]) -> None:
        self._sequence = sequence
        self._memories, places = list(memories), list(addresses)
        self._copies: list[tuple[Bytes, Bytes]] = []
        """Memories at other addresses than machine code can use, each with the copy that it works on."""
        for number, memory in enumerate(memories):
            if addresses[number] % BINDING_ALIGNMENT:
                copy = aligned_zeros(memory.nbytes)
                self._copies.append((memory, copy))
                self._memories[number], places[number] = copy, address_of(copy)
        self._addresses = tuple(places)

    def run(
        self,
        *,
        executions: int = 1,
        until: Range | None = None,
        timeout: float | None = None,
        timed: bool = False,
    ) -> SequenceRun:
        """Execute the steps so many times, and wait for the end.

        With `until`, the first execution after which that u32 (of the memory that the number stands for in this
        execution) is not zero is the last one. Compiles what is needed; the first runs of kernels use baseline code as
        those of `TieredKernel.run` do. A timed run executes one step at a time.

        Compiling, and then running, is stopped after `timeout` seconds, with a DeviceError. Raises ShaderError for what
        cannot be compiled.
        """
        for memory, copy in self._copies:
            copy[:] = memory
        run = Run(self._addresses, executions, self._sequence.swaps, until, is_timed=timed)
        self._sequence.execute(run, self._memories, timeout)
        for memory, copy in self._copies:
            if memory.flags.writeable:
                memory[:] = copy
        return run.result()
