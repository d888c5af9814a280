"""The smallest text that fails as another one does: parts are left out as long as the failure stays the same.

After Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence

from .mutations import tokens

_LINES = re.compile(rb"[^\n]*\n|[^\n]+")


def minimised(text: bytes, fails: Callable[[bytes], bool], seconds: float) -> bytes:
    """A text without lines and tokens that the failure does not need, as far as the time allows."""
    end = time.monotonic() + seconds
    for cut in (_LINES.findall, tokens):
        text = b"".join(_reduced(cut(text), fails, end))
    return text


def _reduced(parts: Sequence[bytes], fails: Callable[[bytes], bool], end: float) -> Sequence[bytes]:
    size = max(len(parts) // 2, 1)
    while parts:
        at, found = 0, False
        while at < len(parts) and time.monotonic() < end:
            rest = [*parts[:at], *parts[at + size :]]
            if fails(b"".join(rest)):
                parts, found = rest, True
            else:
                at += size
        if time.monotonic() >= end or (size == 1 and not found):
            break
        size = max(size // 2, 1)
    return parts
