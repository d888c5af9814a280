"""The files of this compiler, which all that is kept on disk depends on."""

from __future__ import annotations

import os
import time
from functools import cache

from .disk_cache import digest

_LOADED = time.time_ns()
_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@cache
def compiler_files() -> str | None:
    """A hash of this compiler's files; None if one changed after this process may have loaded it."""
    return hash_of_files(_PACKAGE)


def hash_of_files(folder: str) -> str | None:
    """A hash of the names, sizes and times of the files of code below a folder; None if one changed after this process
    may have loaded it.
    """
    found: list[str] = []
    folders = [(folder, "")]
    while folders:
        path, within = folders.pop()
        with os.scandir(path) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith((".py", ".so", ".pyd")):
                    status = entry.stat()
                    if status.st_mtime_ns > _LOADED:
                        return None
                    found.append(f"{within}/{name} {status.st_mtime_ns} {status.st_size}")
                elif "." not in name and name != "__pycache__" and entry.is_dir():
                    folders.append((entry.path, f"{within}/{name}"))
    return digest("\n".join(sorted(found)))
