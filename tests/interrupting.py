"""Interrupts (SIGINT) that come when what they are to end has begun, however late that is on a busy machine."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

import pytest


@contextmanager
def interrupted(has_begun: Callable[[], object]) -> Generator[None]:
    """The body of the `with` statement must end by KeyboardInterrupt, which is sent 50 ms after `has_begun` is true.

    A timer instead could interrupt the test itself before the body begins, and with it the process of the tests.
    """
    is_over = threading.Event()

    def interrupt() -> None:
        while not has_begun() and not is_over.wait(0.002):
            pass
        if not is_over.wait(0.05):
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        is_over.set()
        thread.join()
