"""The sizes of the caches that a processor has, as the system tells them."""

from __future__ import annotations

import ctypes
import platform
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache

_LINUX = "/sys/devices/system/cpu/cpu0/cache"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_MAC_NAMES = {1: b"hw.l1dcachesize", 2: b"hw.l2cachesize", 3: b"hw.l3cachesize"}
ASSUMED: Mapping[int, int] = {1: 32 << 10, 2: 1 << 20, 3: 32 << 20}
"""The sizes where the system does not tell."""


@cache
def cache_sizes() -> Mapping[int, int]:
    """The bytes of each level that holds data: `{1: …, 2: …}`; `ASSUMED` where the system does not tell."""
    found = dict(_of_mac() if platform.system() == "Darwin" else _of_linux())
    return dict(sorted(found.items())) or ASSUMED


def _of_linux() -> Iterator[tuple[int, int]]:
    with suppress(OSError, ValueError):
        from pathlib import Path

        for folder in sorted(Path(_LINUX).glob("index*")):
            kind, level, size = ((folder / it).read_text(encoding="ascii").strip() for it in ("type", "level", "size"))
            parts = re.fullmatch(r"(\d+)([KMG]?)", size)
            if kind != "Instruction" and parts is not None and int(parts[1]):
                yield int(level), int(parts[1]) * _UNITS[parts[2]]


def _of_mac() -> Iterator[tuple[int, int]]:
    from ctypes.util import find_library

    library = ctypes.CDLL(find_library("c"))
    for level, name in _MAC_NAMES.items():
        value, size = ctypes.c_uint64(), ctypes.c_size_t(8)
        failed = library.sysctlbyname(name, ctypes.byref(value), ctypes.byref(size), None, ctypes.c_size_t(0))
        if not failed and value.value:
            yield level, value.value
