"""Ctrl-C while machine code runs.

Python handles signals between its own instructions, so a kernel that loops for ever would never be interrupted. The
system's handler, though, writes to a pipe at once: a thread that reads it ends the process if nobody else does.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import NoReturn

INTERRUPTED = 130
_SHOW_CURSOR = "\x1b[?25h"
"""A progress bar that is interrupted leaves it hidden."""
_SECONDS_TO_END_BY_ITSELF = 0.5


def end_on_interrupt() -> None:
    """From now on an interrupt ends this process with exit code 130, whatever it does. Call it from the main thread."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_wait, args=(reader,), name="tinct-interrupt", daemon=True).start()


def _wait(reader: int) -> None:
    while (number := os.read(reader, 1)) and number[0] != signal.SIGINT:
        pass
    time.sleep(_SECONDS_TO_END_BY_ITSELF)
    leave()


def leave() -> NoReturn:
    """End now: threads may still be in machine code, which nothing can stop."""
    shown_cursor = _SHOW_CURSOR if sys.stderr.isatty() else ""
    sys.stderr.write(f"{shown_cursor}interrupted\n")
    sys.stderr.flush()
    os._exit(INTERRUPTED)
