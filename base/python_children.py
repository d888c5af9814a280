"""Children of this process that run Python, with the modules that this one finds."""

from __future__ import annotations

import os
import signal
import sys


def can_start_python() -> bool:
    """Whether `sys.executable` is an interpreter: not so in a frozen program, or one that embeds Python."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def python_environment(**settings: str) -> dict[str, str]:
    """The environment of a child: ours, the settings, and the paths of our modules."""
    return {**os.environ, **settings, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def described_exit(status: int) -> str:
    """How a child ended, by its return code: "died of SIGSEGV"."""
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"died of {signal.Signals(-status).name}"
    except ValueError:
        return f"died of signal {-status}"
