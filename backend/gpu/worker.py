"""The child process: answers requests on standard input until the parent closes it.

What the driver or naga prints goes to standard error, where the parent looks for the last words of a crash; only framed
replies go to the pipe that was standard output.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from io import BufferedReader
from math import ceil
from typing import cast

from ...base.errors import InputError
from .executor import Executor
from .messages import FailureReply, Reply, Request, receive_request, send
from .model import GpuError
from .shared_bytes import Blob, SharedBytes

_GRACE_SECONDS = 5
_LONGEST_ALARM = 2.0**31 - 1
"""Longest alarm in seconds that every system supports."""


class Worker:
    """Holds the executor from the first request on, so that a missing adapter is an answer and not a failed start.

    `adapter` is as `adapters.choose` takes it.
    """

    def __init__(self, adapter: str) -> None:
        self._adapter = adapter
        self._executor: Executor | None = None

    def answer(self, request: Request, blobs: Sequence[Blob]) -> tuple[Reply, Sequence[Blob]]:
        """The reply to a request: its result, or a failure; only a crash of native code leaves none."""
        try:
            return self._perform(request, blobs)
        except GpuError as error:
            return _failure(error), ()
        except InputError as error:
            return {"status": "failed", "kind": "input", "message": str(error)}, ()
        except Exception as error:  # whatever the driver raises must reach the parent
            return _failure(GpuError("device", f"{type(error).__name__}: {error}")), ()

    def _perform(self, request: Request, blobs: Sequence[Blob]) -> tuple[Reply, Sequence[Blob]]:
        if self._executor is None:
            self._executor = Executor(self._adapter)
        match request["operation"]:
            case "probe":
                return self._executor.describe(), ()
            case "validate":
                self._executor.validate(request["wgsl"])
                return {"status": "valid"}, ()
            case "run":
                return self._executor.run(request, blobs)
            case "program":
                return self._executor.run_program(request, blobs)
            case "session":
                return self._executor.run_resident(request, blobs)


def _failure(error: GpuError) -> FailureReply:
    return {"status": "failed", "kind": error.kind, "message": error.message}


def _die_after(seconds: float) -> None:
    """Arms a timer that ends this process even inside native code, should the parent be gone by then; 0 disarms it."""
    if hasattr(signal, "alarm"):
        signal.alarm(ceil(min(seconds, _LONGEST_ALARM)))


def main() -> None:
    """Serves until standard input ends. The arguments of the command line are the adapter that is wanted, and the
    shared memory for large blobs of requests and of replies.
    """
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    requests = cast(BufferedReader, sys.stdin.buffer)
    adapter, *shared = sys.argv[1:]
    worker = Worker(adapter)
    from_parent, to_parent = map(SharedBytes.inherited, shared)
    while True:
        try:
            request, blobs = receive_request(requests, from_parent)
        except EOFError:
            return
        to_parent.free()  # what the last reply had was taken before this request was sent
        _die_after(request["seconds"] + _GRACE_SECONDS)
        reply, outputs = worker.answer(request, blobs)
        _die_after(0)
        send(replies, to_parent, reply, outputs)


if __name__ == "__main__":
    main()
