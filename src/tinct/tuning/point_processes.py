"""Processes in which points are prepared for being measured, several at a time.

`python -m tinct.tuning.point_processes` is such a process: pickled objects come on standard input, first the function
that prepares, then what it is called with; each result goes to standard output. A point that takes too long, or on
which a process dies, costs itself alone.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from io import BufferedReader
from queue import SimpleQueue
from types import TracebackType
from typing import IO, Any, Final, Generic, TypeVar, cast

from ..backend.alarms import ALARMS
from ..backend.cpu.disk_cache import default_cache
from ..backend.cpu.machine import adopt_costs, costs_so_far, measure_if_due
from ..backend.cpu.options import default_options
from ..backend.cpu.target import target_name
from ..backend.cpu.threads import available_processors
from ..base.deadline import compiling_within
from ..base.python_children import can_start_python, described_exit, python_environment
from ..kernel import Kernel
from ..sessions.calls import Constants
from .rejected import Rejected, rejecting

Request = TypeVar("Request")
Prepared = TypeVar("Prepared")

_MOST: Final = 8
"""Maximum number of processes; each takes some 200 MB."""
_SHORT: Final = 4.0
"""Searches of fewer seconds than this have none: to start them takes one or two."""
_ROUNDS: Final = 2
"""Points for each process that are prepared at a time, so that a process that was given short ones does not wait."""
_LATE: Final = 3.0
"""A process is killed after this many times the seconds that compiling may take: LLVM cannot always be interrupted."""
_LONGEST_START: Final = 30.0
"""Seconds after which a process that has not started is killed."""
_READY: Final = "ready"
_DEAD: Final = (EOFError, OSError, pickle.UnpicklingError)
"""What writing to a process that has died raises, and reading from it."""


def number_of_processes(seconds: float) -> int:
    """How many a search of so many seconds shall have: one for each processor, and none if there is only one, if the
    search is short, or if there is no cache on disk, by which machine code goes from one process to another.
    """
    count = min(available_processors(), _MOST)
    are_useful = count > 1 and seconds >= _SHORT and default_cache() is not None and can_start_python()
    return count if are_useful else 0


def compile_into_cache(
    kernels: Iterable[Kernel], constants: Constants, *, contract: bool, patience: float
) -> float | None:
    """Compile the kernels of a point for the CPU, all in so many seconds. Machine code is then in the cache on disk,
    where the process that runs it finds it. Returns the seconds that it took, or None if all was there already. Raises
    ShaderError, InputError and DeviceError.
    """
    started, is_new, options = time.perf_counter(), False, default_options(contract=contract)
    with compiling_within(patience):
        for kernel in kernels:
            machine_code = kernel.compilation(constants).machine_code
            machine_code.code(options)
            is_new |= not machine_code.was_on_disk(options)
    return time.perf_counter() - started if is_new else None


class PointProcesses(Generic[Request, Prepared]):
    """So many processes, which call `prepare` for each request. It may raise Rejected. It is pickled, as requests and
    results are; if it cannot be, or no process starts, there are none. `patience` is how many seconds compiling may
    take.
    """

    def __init__(self, prepare: Callable[[Request], Prepared], count: int, *, patience: float) -> None:
        self._function = _pickled(prepare) if count else None
        self._count = 0 if self._function is None else count
        self._patience = patience
        self._threads = ThreadPoolExecutor(max(count, 1), "tinct preparing points")
        self._all: list[_Process] = []
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        self._are_ready = False

    def __enter__(self) -> PointProcesses[Request, Prepared]:
        """Start the processes, without waiting for them."""
        if self._function is not None:
            measure_if_due()
            self._all = [_Process(self._function, _LATE * self._patience) for _ in range(self._count)]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes, whatever they are doing."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in self._all:
            process.kill()
        self._threads.shutdown()
        for process in self._all:
            process.end()

    @property
    def together(self) -> int:
        """How many points shall be prepared at a time; 1 if there are no processes."""
        return max(_ROUNDS * self._count, 1)

    def prepared(
        self, requests: Sequence[Request], meanwhile: Callable[[], object] = lambda: None
    ) -> list[Prepared | Rejected]:
        """The result of each request; nothing if there are no processes. `meanwhile` is called while they work.

        No process works when this returns, so that timings are not disturbed.
        """
        self._wait_for_start()
        if not self._count:
            return []
        answers: list[Future[Prepared | Rejected]] = [self._threads.submit(self._answer, it) for it in requests]
        meanwhile()
        return [it.result() for it in answers]

    def _wait_for_start(self) -> None:
        """Wait until all have imported what they need, which several may have failed to do."""
        if not self._are_ready:
            ready = [it for it in self._all if it.is_ready()]
            self._count = len(ready)
            for process in ready:
                self._idle.put(process)
            self._are_ready = True

    def _answer(self, request: Request) -> Prepared | Rejected:
        process = self._idle.get()
        try:
            return cast("Prepared | Rejected", process.answer(request))
        finally:
            self._idle.put(process)


def _pickled(function: object) -> bytes | None:
    try:
        return pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None  # such as a function inside of a function


class _Process:
    """One process, which is started again if it has died."""

    def __init__(self, function: bytes, limit: float) -> None:
        self._function = function
        self._limit = limit
        self._is_late = False
        self._popen = self._started()

    def is_ready(self) -> bool:
        """Wait until it is, and give it the function."""
        try:
            with ALARMS.set(_LONGEST_START, self._popen.kill):
                self._send(self._function)
                return self._receive() == _READY
        except _DEAD:
            return False

    def answer(self, request: object) -> object:
        """What the function returns for a request, or Rejected."""
        if self._popen.poll() is not None:
            self.end()
            self._popen = self._started()
            if not self.is_ready():
                return Rejected("failed", "no process can be started to compile it")
        self._is_late = False
        try:
            with ALARMS.set(self._limit, self._stop):
                self._send(pickle.dumps((request, costs_so_far())))
                return self._receive()
        except _DEAD:
            end = described_exit(self._popen.wait())
            why = f"took more than {self._limit:g} s" if self._is_late else end
            return Rejected("failed", f"the process that compiled it {why}")

    def kill(self) -> None:
        """End it as soon as may be."""
        self._popen.kill()

    def end(self) -> None:
        """End it, and wait for that."""
        self._popen.kill()
        self._popen.wait()
        for pipe in (self._popen.stdin, self._popen.stdout):
            with suppress(OSError):
                _there(pipe).close()

    def _started(self) -> subprocess.Popen[bytes]:
        environment = python_environment(TINCT_CPU_TARGET=target_name())
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        command = [sys.executable, "-m", __name__]
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, env=environment)

    def _stop(self) -> None:
        self._is_late = True
        self._popen.kill()

    def _send(self, pickled: bytes) -> None:
        pipe = _there(self._popen.stdin)
        pipe.write(pickled)
        pipe.flush()

    def _receive(self) -> object:
        return pickle.load(_there(self._popen.stdout))


def _there(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None, "the process was started with pipes"
    return pipe


def _serve() -> None:
    """Serve as a process. Interrupts of the process group are ignored: the parent handles them, and ends this one."""
    import signal

    from ..backend.cpu import jit

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests = cast(BufferedReader, sys.stdin.buffer)
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing that is printed gets among the answers
        function: Callable[[Any], object] = pickle.load(requests)
        jit.start()
        _put(_READY, answers)
        while requests.peek(1):
            request, costs = pickle.load(requests)
            adopt_costs(costs)
            _put(_called(function, request), answers)


def _called(function: Callable[[Any], object], request: object) -> object:
    try:
        with rejecting():
            return function(request)
    except Rejected as error:
        return error


def _put(answer: object, answers: IO[bytes]) -> None:
    pickle.dump(answer, answers)
    answers.flush()


if __name__ == "__main__":
    _serve()
