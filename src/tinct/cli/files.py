"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def write_text(path: Path, text: str) -> None:
    """Put UTF-8 text into a file; see `writing`."""
    with writing(path) as file:
        file.write(text.encode("utf-8", "surrogatepass"))


@contextmanager
def writing(path: Path) -> Generator[BinaryIO]:
    """A file to be written: what was there before stays until all is written, and stays if that fails.

    Where that is impossible (a device, a pipe, a name of several for the file, a directory without permission) it is
    written in place. Raises OSError with the file's name.
    """
    try:
        found = _status(path)
        if found is not None and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        target = Path(os.path.realpath(path))
        with _replacing(target, found) if _is_replaceable(target, found) else path.open("wb") as file:
            yield file
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def _status(path: Path) -> os.stat_result | None:
    """What the system knows of the file; None if there is none yet."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _is_replaceable(target: Path, found: os.stat_result | None) -> bool:
    if found is None:
        return target.parent.is_dir()
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and os.access(target.parent, os.W_OK)


@contextmanager
def _replacing(target: Path, found: os.stat_result | None) -> Generator[BinaryIO]:
    """Another file, which takes the target's place at the end, with its owner and permissions."""
    fresh = target.with_name(f".tinct-{secrets.token_hex(6)}")
    try:
        with fresh.open("xb") as file:
            yield file
            if found is not None:
                with suppress(OSError):
                    os.chown(file.fileno(), found.st_uid, found.st_gid)
                os.chmod(file.fileno(), stat.S_IMODE(found.st_mode))
        os.replace(fresh, target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
