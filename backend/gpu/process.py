"""The worker process seen from the parent: started by a request, replaced after a crash, ended with its owner."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Sequence
from functools import partial
from io import BufferedReader
from typing import IO, cast

from ...base.fork_lock import ForkLock
from ..alarms import ALARMS
from .messages import Blob, Reply, Request, receive_reply, send
from .model import GpuError

_WORKER_MODULE = f"{__package__}.worker"
_SHUTDOWN_SECONDS = 2.0
_LAST_WORDS_BYTES = 16_384


class WorkerProcess:
    """A child that answers one request at a time, on the adapter that `adapters.choose` finds for `adapter`.

    Safe to share between threads, and after a fork.
    """

    def __init__(self, adapter: str = "") -> None:
        self._adapter = adapter
        self._lock = ForkLock()
        self._child: _Child | None = None
        self._started = 0
        self._last_death = 0, ""

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

    def ask(
        self, request: Request, blobs: Sequence[Blob] = (), *, child: int | None = None
    ) -> tuple[Reply, list[bytearray]]:
        """Sends a request and waits for its reply, at most `request["seconds"]`. With a number, only to that `child`.

        GpuError when the child dies or has died (kind "crash") or is killed for its silence (kind "timeout"); the next
        request starts a new child.
        """
        with self._lock:
            if child is not None and not self.is_running(child):
                raise GpuError("crash", self.epitaph(child))
            running = self._running_child()
            try:
                return running.ask(request, blobs)
            except BaseException as error:
                self._child = None
                self._last_death = running.number, str(error)
                running.stop()
                raise

    def epitaph(self, number: int) -> str:
        """Why the child of that number has ended."""
        child = self._child
        if child is not None and child.number == number:
            return child.epitaph()
        return self._last_death[1] if self._last_death[0] == number else "the GPU process has ended"

    def close(self) -> None:
        """Ends the child, if one runs. A later request starts another."""
        with self._lock:
            child, self._child = self._child, None
            if child is not None:
                child.stop()

    def _running_child(self) -> _Child:
        if self._child is None or not self._child.is_running:
            self._started += 1
            self._child = _Child(self._adapter, self._started)
        return self._child


class _Child:
    """One running worker."""

    def __init__(self, adapter: str, number: int) -> None:
        self.number = number
        self.owner = os.getpid()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the child)
        self.popen = subprocess.Popen(
            [sys.executable, "-m", _WORKER_MODULE, adapter],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=_environment(),
        )
        self.stop = weakref.finalize(self, _stop, self.popen, self.owner, self._log)

    @property
    def is_running(self) -> bool:
        """Whether it is a child of this process, and has not ended."""
        return self.owner == os.getpid() and self.popen.poll() is None

    def ask(self, request: Request, blobs: Sequence[Blob]) -> tuple[Reply, list[bytearray]]:
        expired = threading.Event()
        with ALARMS.set(request["seconds"], partial(self._expire, expired)):
            try:
                send(cast(IO[bytes], self.popen.stdin), request, blobs)
                reply = receive_reply(cast(BufferedReader, self.popen.stdout))
            except (EOFError, BrokenPipeError, ConnectionResetError):
                raise self._obituary(request, expired=expired.is_set()) from None
        if expired.is_set():  # killed just after it had replied
            raise self._obituary(request, expired=True)
        return reply

    def _expire(self, expired: threading.Event) -> None:
        expired.set()
        self.popen.kill()

    def _obituary(self, request: Request, *, expired: bool) -> GpuError:
        """The error of a child that has ended: it was killed for its silence, or died."""
        if expired:
            self.popen.wait()
            name = request["name"] if request["operation"] == "program" else request["operation"]
            return GpuError("timeout", f"the GPU did not finish '{name}' in {request['seconds']:g} s")
        return GpuError("crash", self.epitaph())

    def epitaph(self) -> str:
        """What ended it."""
        status = self.popen.wait()
        words = _last_words(self._log)
        return f"the GPU process {_describe_exit(status)}" + (f": {words}" if words else "")


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
    quiet = {"RUST_BACKTRACE": "0", "XDG_RUNTIME_DIR": os.environ.get("XDG_RUNTIME_DIR", tempfile.gettempdir())}
    return {**os.environ, **quiet, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def _describe_exit(status: int) -> str:
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"died of {signal.Signals(-status).name}"
    except ValueError:
        return f"died of signal {-status}"


def _last_words(log: IO[bytes]) -> str:
    """The last Rust panic on standard error, without the path of the source file; else its last line."""
    size = log.seek(0, os.SEEK_END)
    log.seek(max(0, size - _LAST_WORDS_BYTES))
    text = log.read().decode(errors="replace")
    panics = re.findall(r"panicked at \S*?((?:naga|wgpu)[^/\s]*/\S+?):\n(.+)", text)
    if panics:
        place, message = panics[-1]
        return f"{message.strip()} ({place})"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
