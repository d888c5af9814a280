"""The files of this compiler, which all that is kept on disk depends on."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from .disk_cache import digest

_LOADED = time.time_ns()


@cache
def compiler_files() -> str | None:
    """A hash of this compiler's files; None if one changed after this process may have loaded it."""
    return hash_of_files(Path(__file__).parents[2])


def hash_of_files(folder: str | Path) -> str | None:
    """A hash of the names, sizes and times of the files of code below a folder; None if one changed after this process
    may have loaded it.
    """
    found = sorted(_stamps(folder, ""))
    return None if any(changed > _LOADED for _, changed, _ in found) else digest(*map(str, found))


def _stamps(folder: str | Path, within: str) -> Iterator[tuple[str, int, int]]:
    """For each file of code below a folder: its path there, when it changed in nanoseconds, and its size."""
    with os.scandir(folder) as entries:
        for entry in entries:
            path = f"{within}/{entry.name}"
            if entry.name.endswith((".py", ".so", ".pyd")):
                status = entry.stat()
                yield path, status.st_mtime_ns, status.st_size
            elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                yield from _stamps(entry.path, path)
