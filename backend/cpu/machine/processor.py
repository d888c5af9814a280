"""The name of the processor."""

from __future__ import annotations

import platform
import re
from functools import cache

_ENOUGH = 1 << 13
"""More bytes than one processor takes."""


@cache
def processor_name() -> str:
    """The processor as it calls itself, with what identifies its kind where the name does not."""
    parts = [processor_fact(key) for key in ("model name", "cpu family", "model")]
    known = [part for part in parts if part]
    return f"{known[0]} (family {known[1]}, model {known[2]})" if len(known) == 3 else platform.processor() or "unknown"


def processor_fact(key: str) -> str | None:
    """What Linux says of the first processor in `/proc/cpuinfo`; None if it says nothing."""
    found = re.search(rf"^{key}\s*: (.*)$", _first_processor(), re.MULTILINE)
    return found[1] if found else None


@cache
def _first_processor() -> str:
    """The text begins with the first processor; that of all processors takes Linux long to write."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return file.read(_ENOUGH)
    except OSError:
        return ""
