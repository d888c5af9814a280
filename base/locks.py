"""The locks of `threading`, whose other parts take as long to import as three of our modules."""

from __future__ import annotations

from _thread import TIMEOUT_MAX as LONGEST_WAIT
from _thread import RLock, allocate_lock, get_ident

__all__ = ["LONGEST_WAIT", "RLock", "allocate_lock", "get_ident"]
