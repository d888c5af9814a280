"""Ctrl-C while the command line works in native code.

Python handles signals between its own instructions, so it cannot interrupt a long call of a library. The system's
handler, however, writes to a pipe at once: a thread that reads it ends the process if Python does not do so in time.
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
"""Shows the cursor, which an interrupted progress bar leaves hidden."""
_SECONDS_TO_END_BY_ITSELF = 0.5


def end_on_interrupt() -> None:
    """Make an interrupt end this process with exit code 130, whatever it is doing. Call it from the main thread."""
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
    """Exit at once, without waiting for threads that may still be in native code."""
    shown_cursor = _SHOW_CURSOR if sys.stderr.isatty() else ""
    sys.stderr.write(f"{shown_cursor}interrupted\n")
    sys.stderr.flush()
    os._exit(INTERRUPTED)
