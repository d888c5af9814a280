"""The worker process seen from the parent: started by a request, replaced after a crash, ended with its owner."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import weakref
from collections import deque
from collections.abc import Generator, Sequence
from functools import partial
from io import BufferedReader
from typing import IO, cast

from ...base.forks import ForkLock
from ...base.python_children import described_exit, python_environment
from ..alarms import ALARMS
from .messages import Reply, Request, receive_reply, send
from .model import GpuError
from .shared_bytes import Blob, SharedBytes, is_large

_WORKER_MODULE = f"{__package__}.worker"
_SHUTDOWN_SECONDS = 2.0
_LAST_WORDS_BYTES = 16_384
_MOST_SENT = 8
"""Requests without a reply that a child has at most. Their replies fit the pipe, unless one has data: then nothing is
sent before that has come. So the child never waits for us to read its reply while we wait for the child to read.
"""


class Sent:
    """A request that a child has; `answer` is its reply with what came along, once that has come. `has_data` says
    whether it asks for data, and `is_large` whether it came with large blobs.
    """

    __slots__ = ("alarm", "answer", "has_data", "is_large", "request")

    def __init__(self, request: Request, blobs: Sequence[Blob]) -> None:
        self.request = request
        self.is_large = any(map(is_large, blobs))
        self.has_data = request["operation"] == "session" and any(it["do"] == "read" for it in request["commands"])
        self.alarm = contextlib.ExitStack()
        self.answer: tuple[Reply, list[bytearray]] | None = None


class WorkerProcess:
    """A child that answers requests in their order, on the adapter that `adapters.choose` finds for `adapter`.

    A child may die (GpuError of kind "crash"), or be killed for its silence after `request["seconds"]` (kind
    "timeout"); the next request that names no child starts a new one. Safe to share between threads, and after a fork.
    """

    def __init__(self, adapter: str = "") -> None:
        self._adapter = adapter
        self._lock = ForkLock()
        self._child: _Child | None = None
        self._started = 0
        self._last_end = 0, GpuError("crash", "")

    @property
    def pid(self) -> int | None:
        """The running child's process id; None before the first request and after a crash."""
        return self._child.popen.pid if self._child is not None else None

    def start(self) -> int:
        """The number of the child that runs, started if there is none: 1, 2, …"""
        with self._lock:
            return self._running_child().number

    def is_running(self, number: int) -> bool:
        """Whether the child of that number runs."""
        child = self._child
        return child is not None and child.number == number and child.is_running

    def ask(self, request: Request, blobs: Sequence[Blob] = ()) -> tuple[Reply, list[bytearray]]:
        """Sends a request and waits for its reply. Raises GpuError when the child ends before."""
        with self._using() as child:
            return child.answer(child.send(request, blobs))

    def post(self, request: Request, blobs: Sequence[Blob], *, child: int, is_limited: bool = False) -> Sent:
        """Sends a request to the child of that number, without waiting for the reply. Raises GpuError if it ended.

        The time of one that `is_limited` begins now, that of others when the time of the requests before it is over.
        """
        with self._using(child) as running:
            return running.send(request, blobs, is_limited=is_limited)

    def answer(self, sent: Sent, *, child: int) -> tuple[Reply, list[bytearray]]:
        """Waits for the reply to a request that the child of that number has. Raises GpuError when it ends before."""
        if sent.answer is not None:
            return sent.answer
        with self._using(child) as running:
            return running.answer(sent)

    def ending(self, number: int) -> GpuError:
        """Why the child of that number has ended."""
        child = self._child
        found = child.ending() if child is not None and child.number == number else None
        if self._last_end[0] == number:  # another thread knows, which may have closed the log before it was read here
            return self._last_end[1]
        return found or GpuError("crash", "the GPU process has ended")

    def close(self) -> None:
        """Ends the child, if one runs. A later request starts another."""
        with self._lock:
            child, self._child = self._child, None
            if child is not None:
                child.abandon()

    @contextlib.contextmanager
    def _using(self, number: int | None = None) -> Generator[_Child]:
        """The child of that number, or one that runs; whatever error leaves the body ends it."""
        with self._lock:
            if number is not None and not self.is_running(number):
                raise self.ending(number)
            child = self._running_child()
            try:
                yield child
            except BaseException as error:
                self._drop(child, error if isinstance(error, GpuError) else GpuError("crash", str(error)))
                raise

    def _running_child(self) -> _Child:
        if self._child is not None and not self._child.is_running:
            self._drop(self._child, self._child.ending())
        if self._child is None:
            self._started += 1
            self._child = _Child(self._adapter, self._started)
        return self._child

    def _drop(self, child: _Child, reason: GpuError) -> None:
        self._last_end = child.number, reason
        self._child = None
        child.abandon()


class _Child:
    """One running worker."""

    def __init__(self, adapter: str, number: int) -> None:
        self.number = number
        self.owner = os.getpid()
        self._sent: deque[Sent] = deque()
        """The requests without a reply, in their order."""
        self._expired: Request | None = None
        """The request for whose time the child was killed."""
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the child)
        self._to_child, self._from_child = SharedBytes.new(), SharedBytes.new()
        shared = (self._to_child, self._from_child)
        self.popen = subprocess.Popen(
            [sys.executable, "-m", _WORKER_MODULE, adapter, *(it.argument for it in shared)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=_environment(),
            pass_fds=[it.file for it in shared if it.file is not None],
        )
        self._stop = weakref.finalize(self, _stop, self.popen, self.owner, self._log)

    @property
    def is_running(self) -> bool:
        """Whether it is a child of this process, and has not ended."""
        return self.owner == os.getpid() and self.popen.poll() is None

    def send(self, request: Request, blobs: Sequence[Blob], *, is_limited: bool = False) -> Sent:
        """Send a request; see `WorkerProcess.post`. Raises GpuError."""
        sent = Sent(request, blobs)
        expire = partial(self._expire, request)
        if is_limited:
            sent.alarm.enter_context(ALARMS.set(request["seconds"], expire))
        while self._must_wait(sent):
            self._receive()
        if not is_limited:
            seconds = request["seconds"] + sum(it.request["seconds"] for it in self._sent)
            sent.alarm.enter_context(ALARMS.set(seconds, expire))
        self._sent.append(sent)
        try:
            send(cast(IO[bytes], self.popen.stdin), self._to_child, request, blobs)
        except (BrokenPipeError, ConnectionResetError):
            raise self.ending() from None
        return sent

    def _must_wait(self, sent: Sent) -> bool:
        """Whether a reply has to come before a request can be sent: data in a pipe, and large blobs in shared memory,
        have to be taken first.
        """
        is_full = len(self._sent) >= _MOST_SENT or any(it.has_data for it in self._sent)
        return is_full or (sent.is_large and any(it.is_large for it in self._sent))

    def answer(self, sent: Sent) -> tuple[Reply, list[bytearray]]:
        """The reply to a request."""
        while sent.answer is None:
            self._receive()
        return sent.answer

    def ending(self) -> GpuError:
        """Why it has ended."""
        status = self.popen.wait()
        if self._expired is not None:
            request = self._expired
            name = request["name"] if request["operation"] == "program" else request["operation"]
            return GpuError("timeout", f"the GPU did not finish '{name}' in {request['seconds']:g} s")
        words = _last_words(self._log)
        return GpuError("crash", f"the GPU process {described_exit(status)}" + (f": {words}" if words else ""))

    def abandon(self) -> None:
        """End it, with the alarms of what it was sent."""
        for sent in self._sent:
            sent.alarm.close()
        self._stop()

    def _receive(self) -> None:
        """Wait for the next reply."""
        try:
            reply = receive_reply(cast(BufferedReader, self.popen.stdout), self._from_child)
        except (EOFError, ConnectionResetError):
            raise self.ending() from None
        sent = self._sent.popleft()
        sent.alarm.close()
        if self._expired is not None:  # killed just after it had replied
            raise self.ending()
        sent.answer = reply
        if sent.is_large:
            self._to_child.free()

    def _expire(self, request: Request) -> None:
        self._expired = request
        self.popen.kill()


def _stop(popen: subprocess.Popen[bytes], owner: int, log: IO[bytes]) -> None:
    """Closes the pipes, waits a moment, then kills. A forked copy of the owner leaves the child alone."""
    if os.getpid() != owner:
        return
    log.close()
    for stream in (popen.stdin, popen.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    try:
        popen.wait(_SHUTDOWN_SECONDS)
    except subprocess.TimeoutExpired:
        popen.kill()
        popen.wait()


def _environment() -> dict[str, str]:
    """Our environment, in which the child finds the same modules and prints no needless messages."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", tempfile.gettempdir())
    return python_environment(RUST_BACKTRACE="0", XDG_RUNTIME_DIR=runtime)


def _last_words(log: IO[bytes]) -> str:
    """The last Rust panic on standard error, without the path of the source file; else its last line. Nothing if the
    log is closed, which another thread may do at any time.
    """
    try:
        size = log.seek(0, os.SEEK_END)
        log.seek(max(0, size - _LAST_WORDS_BYTES))
        text = log.read().decode(errors="replace")
    except ValueError:
        return ""
    panics = re.findall(r"panicked at \S*?((?:naga|wgpu)[^/\s]*/\S+?):\n(.+)", text)
    if panics:
        place, message = panics[-1]
        return f"{message.strip()} ({place})"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
