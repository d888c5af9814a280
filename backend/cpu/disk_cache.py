"""A cache on disk of compiled code: files named by a hash of everything that their contents depend on.

It is in the user's cache directory (`$XDG_CACHE_HOME/tinct`, else `~/.cache/tinct`; `TINCT_CACHE_DIR` names another)
and is not used at all where `TINCT_CACHE` is `off`. Processes may use it at the same time: a file is written under
another name, and appears whole or not at all. A file that is truncated, changed, or owned by another user counts
as missing; if the directory cannot be read or written, all files do, without an error. When the files together exceed
`LARGEST`, the least recently used ones are removed. The check lists all files, which is slow for tens of thousands, so
each `put` does it with a probability proportional to the bytes it adds.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from ...base.errors import InputError
from ...base.hashing import sha256
from ...base.records import dataclass

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 256 << 20
"""Maximum size of all files together, in bytes."""
_LATE = 0.05
"""The cache may exceed `LARGEST` by about this share before it is trimmed."""
_ROOM = 0.8
"""Trim to this share of `LARGEST`."""
_MAGIC = b"tinct cache 1\n"
_DIGEST = 32
_SUFFIX = ".tinct"
_NEW = "new-"
"""The beginning of the names of files that are being written."""
_ABANDONED = 3600
"""Age in seconds from which a temporary file is left over from a process that failed."""


def digest(*parts: str | bytes) -> str:
    """The name of the file whose contents depend on these parts."""
    state = sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


@dataclass(frozen=True, slots=True)
class DiskCache:
    """The cache in a directory, which need not exist."""

    directory: str | os.PathLike[str]
    largest: int = LARGEST

    def get(self, name: str) -> bytes | None:
        """The data that `put` stored under this name; None if it is missing or damaged."""
        path = self._path(name)
        try:
            with open(path, "rb") as file:
                if not _is_own(os.fstat(file.fileno())):
                    return None
                data = file.read()
        except OSError:
            return None
        start = len(_MAGIC) + _DIGEST
        if data[:start] != _MAGIC + sha256(data[start:]).digest():
            return None
        with suppress(OSError):
            os.utime(path)
        return data[start:]

    def has(self, name: str) -> bool:
        """Whether there is a file of this name, which may be damaged."""
        return os.path.isfile(self._path(name))

    def put(self, name: str, data: bytes) -> None:
        """Store data under a name, replacing a previous file. Does nothing if that fails."""
        check = sha256(data).digest()
        with suppress(OSError):
            os.makedirs(self.directory, mode=0o700, exist_ok=True)
            path = os.path.join(self.directory, f"{_NEW}{os.urandom(8).hex()}")
            try:
                with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(_MAGIC + check + data)
                os.replace(path, self._path(name))
            except OSError:
                os.unlink(path)
                raise
            if _chance(check) < len(data) / (_LATE * self.largest):
                self._shrink()

    @property
    def size(self) -> tuple[int, int]:
        """The number of files, and their total bytes."""
        sizes = [size for _, size, path in self._files() if path.endswith(_SUFFIX)]
        return len(sizes), sum(sizes)

    def clear(self) -> None:
        """Remove all files. Raises OSError where that is not allowed."""
        for _, _, path in self._files():
            _remove(path)

    def _path(self, name: str) -> str:
        return os.path.join(self.directory, name + _SUFFIX)

    def _shrink(self) -> None:
        """Remove the least recently used files if all together are too large."""
        files = sorted(self._files())
        for used, _, path in files:
            if not path.endswith(_SUFFIX) and used < time.time() - _ABANDONED:
                _remove(path)
        total = sum(size for _, size, _ in files)
        if total <= self.largest:
            return
        for _, size, path in files:
            if total <= self.largest * _ROOM:
                return
            _remove(path)
            total -= size

    def _files(self) -> Iterator[tuple[float, int, str]]:
        """The last use, the size in bytes and the path of each file; none if the directory cannot be read."""
        with suppress(OSError), os.scandir(self.directory) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.name.endswith(_SUFFIX) or entry.name.startswith(_NEW):
                        status = entry.stat(follow_symlinks=False)
                        yield status.st_mtime, status.st_size, entry.path


def _remove(path: str) -> None:
    """Remove a file, unless another process did. Raises OSError where that is not allowed."""
    with suppress(FileNotFoundError):
        os.unlink(path)


def _chance(check: bytes) -> float:
    """A number from 0 to 1, taken from a hash, whose bytes are as good as random."""
    return int.from_bytes(check[:4], "little") / 2**32


def _is_own(status: os.stat_result) -> bool:
    """Whether this user owns the file: machine code of other users is not run."""
    return not hasattr(os, "getuid") or status.st_uid == os.getuid()


def default_cache() -> DiskCache | None:
    """The cache that the environment asks for; None if it is off. Raises InputError for an unknown setting."""
    setting = os.environ.get("TINCT_CACHE", "on")
    if setting not in ("on", "off"):
        raise InputError(f"TINCT_CACHE must be 'on' or 'off', not {setting!r}")
    return None if setting == "off" else DiskCache(_directory())


def cache_directory() -> Path:
    """The directory of the cache, which need not exist."""
    from pathlib import Path  # takes longer to import than all else here

    return Path(_directory())


def _directory() -> str:
    given = os.environ.get("TINCT_CACHE_DIR")
    if given:
        return given
    base = os.environ.get("XDG_CACHE_HOME")
    if base and os.path.isabs(base):
        return os.path.join(base, "tinct")
    return os.path.expanduser("~/.cache/tinct")
