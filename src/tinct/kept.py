"""What is known of a WGSL text, kept on disk beside machine code.

A process that only runs kernels that were compiled before parses nothing, and does not import what parses.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np

from .backend.cpu.compiler_files import compiler_files
from .backend.cpu.disk_cache import default_cache, digest
from .ir.source import Source

T = TypeVar("T")


def kept(make: Callable[[], T], source: Source, what: str, *more: str) -> T:
    """What `make` gives, from the cache on disk if it is there. It depends on nothing but the text, this compiler,
    `what` it is, and `more`. What it raises is not kept.

    The cache gives no file of another user (see `disk_cache`): to read a pickle is to trust its author, as with machine
    code.
    """
    files, compiler = default_cache(), compiler_files()
    if files is None or compiler is None:
        return make()
    name = digest("facts", compiler, sys.version, np.__version__, source.data, what, *more)
    data = files.get(name)
    if data is not None:
        return cast("T", pickle.loads(data))
    made = make()
    files.put(name, pickle.dumps(made, pickle.HIGHEST_PROTOCOL))
    return made
