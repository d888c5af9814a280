"""Times dispatches on buffers that stay on their device."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from statistics import median
from types import TracebackType
from typing import Any, Final, Literal, TypeVar

import numpy.typing as npt

from ..base.errors import DeviceError, TinctError
from ..devices import adapter_named
from ..ir.samplers import Sampler
from ..kernel import Kernel
from ..sessions import Buffer, Session
from ..sessions.calls import Constants, Options
from ..sessions.launches import Launch
from .search import Rejected

T = TypeVar("T")

PATIENCE: Final = 10.0
"""Seconds that compiling and a first run may take: what takes longer counts as hanging."""
_SLOWER: Final = 20.0
"""A first run may take this many times the best time, beside `_GRACE`."""
_GRACE: Final = 1.0
_LEAST: Final = 3e-4
"""Seconds that one timing takes at least: shorter dispatches are repeated."""
_GPU_LEAST: Final = 4e-3
"""The same for a GPU, whose commands go through another process."""
_MOST_REPEATS: Final = 64
_RUNS: Final = 5
_HOPELESS: Final = 1.5
"""A point that takes this many times the best is not timed again."""


@dataclass(frozen=True)
class Dispatched:
    """A kernel with all that a dispatch takes, but for the buffers."""

    kernel: Kernel
    workgroups: tuple[int, int, int] | None
    constants: Constants
    threads: tuple[int, int, int] | None = None


@dataclass
class Bench:
    """Buffers on a device. `values` are the bindings of all kernels, by name; `restored` those that each timing needs
    as they were. Compiling and a first run may take `patience` seconds. Values are packed for the first kernel that is
    run; plain ones are arrays with the bytes that all kernels take.

    After a failure of a device, the buffers are made again.
    """

    device: str
    values: Mapping[str, Any]
    contract: bool = False
    restored: Sequence[str] = ()
    patience: float = PATIENCE
    form: Literal["as bound", "plain"] = "as bound"
    _session: Session | None = None
    _buffers: dict[str, Buffer | Sampler] = field(default_factory=dict[str, "Buffer | Sampler"])

    def __enter__(self) -> Bench:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the buffers."""
        session, self._session = self._session, None
        self._buffers.clear()
        if session is not None:
            with suppress(TinctError):  # a device that failed has nothing to give back
                session.close()

    def results(self, job: Dispatched, names: Sequence[str], best: float) -> dict[str, npt.NDArray[Any]]:
        """What a first run writes. Raises Rejected for a kernel that fails, or takes far longer than the best time."""
        slow = 0.0 if best == inf else _GRACE + _SLOWER * best
        limit = self.patience + slow

        def run() -> dict[str, npt.NDArray[Any]]:
            self._restore(job, names)
            self._launch(job).start(limit)
            return {it: self._buffer(it).numpy() for it in names}

        return self._guarded(run)

    def seconds(self, job: Dispatched, best: float) -> float:
        """The time of a dispatch, the shortest of several. The kernel has run before. Raises Rejected."""

        def run() -> float:
            first = self._timed(job, 1)
            if first > _HOPELESS * best:
                return min(first, self._timed(job, 1))
            repeats = self._repeats(first)
            return min(first, *(self._timed(job, repeats) for _ in range(_RUNS)))

        return self._guarded(run)

    def by_turns(self, jobs: Sequence[Dispatched], rounds: int) -> list[float]:
        """The median time of each of several dispatches, one after another in each round."""
        repeats = [self._repeats(self._timed(it, 1)) for it in jobs]
        times: list[list[float]] = [[] for _ in jobs]
        for _ in range(rounds):
            for number, job in enumerate(jobs):
                times[number].append(self._timed(job, repeats[number]))
        return [median(it) for it in times]

    # One run

    def _repeats(self, seconds: float) -> int:
        if self.restored:
            return 1
        least = _LEAST if self.device == "cpu" else _GPU_LEAST
        return max(1, min(_MOST_REPEATS, round(least / max(seconds, 1e-7))))

    def _timed(self, job: Dispatched, repeats: int) -> float:
        if self.restored:
            self._restore(job, self.restored)
        session, launch = self._opened(), self._launch(job)
        started = time.perf_counter()
        for _ in range(repeats):
            launch.again()
        session.wait(PATIENCE)
        return (time.perf_counter() - started) / repeats

    def _launch(self, job: Dispatched) -> Launch:
        options = Options(
            job.workgroups, job.threads, job.constants, self.device, contract=self.contract, is_trial=False
        )
        return self._opened().prepared(job.kernel, self._bound(job.kernel), options)

    def _restore(self, job: Dispatched, names: Sequence[str]) -> None:
        """Give buffers what they had in the beginning, on the device."""
        bound, session = self._bound(job.kernel), self._opened()
        for name in names:
            old = bound[name]
            assert isinstance(old, Buffer)
            made = self._made(job.kernel, name)
            assert isinstance(made, Buffer)
            self._buffers[name] = made
            old.release()
            if adapter_named(self.device) is not None:
                place = session.gpu(self.device).place_of(made.memory, via_hercules=False)
                made.memory.need(place, "a timing begins")
        session.wait(PATIENCE)

    def _bound(self, kernel: Kernel) -> dict[str, Any]:
        for info in kernel.bindings:
            if info.name not in self._buffers:
                self._buffers[info.name] = self._made(kernel, info.name)
        return {it.name: self._buffers[it.name] for it in kernel.bindings}

    def _made(self, kernel: Kernel, name: str) -> Buffer | Sampler:
        value = self.values[name]
        if isinstance(value, Sampler):
            return value
        info = next(it for it in kernel.bindings if it.name == name)
        return self._opened().buffer(value, info if self.form == "as bound" else None)

    def _buffer(self, name: str) -> Buffer:
        found = self._buffers[name]
        assert isinstance(found, Buffer)
        return found

    def _opened(self) -> Session:
        if self._session is None:
            self._session = Session(self.device)
        return self._session

    def _guarded(self, run: Callable[[], T]) -> T:
        """What a function returns; a failure costs the point that it is of, and the buffers."""
        try:
            return run()
        except DeviceError as error:
            self.close()
            raise Rejected("failed", first_line(error)) from None
        except (TinctError, MemoryError) as error:
            raise Rejected("failed", first_line(error)) from None


def first_line(error: BaseException) -> str:
    """An error in one line."""
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
