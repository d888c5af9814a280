"""What is known of a WGSL text, kept on disk beside machine code.

A process that only runs kernels that were compiled before parses nothing, and does not import what parses.

To hash the compiler's files takes as long as a tenth of a small kernel's first call. So the first process that asks for
a fact only notes that, and keeps the fact if it compiles machine code; the next process keeps it in any case.
"""

from __future__ import annotations

import pickle
import sys
from collections import deque
from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np

from .backend.cpu.compiler_files import compiler_files
from .backend.cpu.disk_cache import default_cache, digest
from .ir.source import Source

T = TypeVar("T")

_noted: deque[tuple[str, object]] = deque(maxlen=256)
"""The names and values of the last facts that this process is the first to ask for, and has only noted."""


def kept(make: Callable[[], T], source: Source, what: str, *more: str) -> T:
    """What `make` gives, from the cache on disk if it is there. It depends on nothing but the text, this compiler,
    `what` it is, and `more`. What it raises is not kept.

    The cache gives no file of another user (see `disk_cache`): to read a pickle is to trust its author, as with machine
    code.
    """
    files = default_cache()
    if files is None:
        return make()
    name = digest("facts", sys.version, np.__version__, source.data, what, *more)
    data = files.get(name)
    if data is None:
        made = make()
        files.put(name, b"")
        _noted.append((name, made))
        return made
    compiler = _compiler()
    if compiler is None:
        return make()
    if data.startswith(compiler):
        return cast("T", pickle.loads(data[len(compiler) :]))
    made = make()
    files.put(name, compiler + _pickled(made))
    return made


def keep_noted() -> None:
    """Keep the facts that were only noted, after something that takes much longer than to hash files."""
    files, compiler = default_cache(), _compiler()
    while _noted:
        name, made = _noted.popleft()
        if files is not None and compiler is not None:
            files.put(name, compiler + _pickled(made))


def _compiler() -> bytes | None:
    found = compiler_files()
    return None if found is None else found.encode()


def _pickled(value: object) -> bytes:
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
