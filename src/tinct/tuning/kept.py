"""What tuning found, on disk, beside the compiled kernels: see `disk_cache` for where, and how to do without.

Files are named by a hash of all that a result depends on. They appear whole or not at all. A damaged file counts as
missing. Processes that keep results at the same time wait for each other, so that the faster result stays.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from ..backend.cpu.disk_cache import DiskCache, cache_directory, default_cache, digest

Record: TypeAlias = Mapping[str, Any]
"""A result as JSON has it."""

_FOLDER: Final = "tuned"
_VERSION: Final = "1"
"""To be changed with the meaning of records."""


def record_name(*parts: str) -> str:
    """The name of the record that depends on these parts."""
    return digest("tuned", _VERSION, *parts)


def read_record(name: str) -> Record | None:
    """The record of a name; None if there is none, or if it is damaged."""
    files = _files()
    data = None if files is None else files.get(name)
    return None if data is None else _parsed(data)


def keep_record(name: str, record: Record, is_better: Callable[[Record], bool]) -> None:
    """Keep a record, unless there is one that it is not better than. Does nothing where nothing can be written."""
    files = _files()
    if files is None:
        return
    with _locked(files):
        data = files.get(name)
        before = None if data is None else _parsed(data)
        if before is None or is_better(before):
            files.put(name, json.dumps(dict(record)).encode())


def all_records() -> dict[str, Record]:
    """All records by name."""
    files = _files()
    found: dict[str, Record] = {}
    if files is None:
        return found
    with suppress(OSError):
        for path in sorted(Path(files.directory).glob("*.tinct")):
            record = read_record(path.stem)
            if record is not None:
                found[path.stem] = record
    return found


def forget_records(names: list[str]) -> int:
    """Remove records. Returns how many there were. Raises OSError where that is not allowed."""
    folder = cache_directory() / _FOLDER
    paths = [it for it in (folder / f"{name}.tinct" for name in names) if it.exists()]
    for path in paths:
        path.unlink(missing_ok=True)
    return len(paths)


def _files() -> DiskCache | None:
    return None if default_cache() is None else DiskCache(cache_directory() / _FOLDER)


def _parsed(data: bytes) -> Record | None:
    try:
        found: object = json.loads(data)
    except ValueError:
        return None
    return cast("Record", found) if isinstance(found, dict) else None


@contextmanager
def _locked(files: DiskCache) -> Generator[None]:
    """One process at a time, where the system has such locks and the folder can be written."""
    try:
        import fcntl

        os.makedirs(files.directory, mode=0o700, exist_ok=True)
        handle = os.open(os.path.join(files.directory, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except (ImportError, OSError):
        yield
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
