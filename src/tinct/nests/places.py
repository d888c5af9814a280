"""The line of the user's Python that a part of a nest comes from."""

from __future__ import annotations

import inspect
from pathlib import PurePath


def caller() -> str:
    """`file.py:12`, of the innermost frame outside of this package; empty if there is none."""
    frame = inspect.currentframe()
    package = __name__.rpartition(".")[0]
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith(package):
        frame = frame.f_back
    if frame is None:
        return ""
    return f"{PurePath(frame.f_code.co_filename).name}:{frame.f_lineno}"
