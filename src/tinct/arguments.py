"""Checks the arguments of public functions: any value either fits or raises an InputError that says why not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from os import PathLike, fsdecode
from typing import TYPE_CHECKING, Any, cast

from .base.errors import InputError
from .ir.layout_numbers import is_array, is_flag, is_number, shown

if TYPE_CHECKING:
    from pathlib import Path

_ENDLESS = 20 * 86400.0
"""Time limits from this many seconds (20 days) on mean no limit: the system's calls that wait for a pipe count in
milliseconds, in 31 bits.
"""


def path_of(value: object) -> Path:
    """The path of a file."""
    name = _file_name(value)
    if name and "\0" not in name:
        from pathlib import Path

        return Path(name)
    raise InputError(f"load takes WGSL text or the path of a file, not {shown(value)}")


def is_hercules_path(value: object) -> bool:
    """Whether a value names a file of Hercules IR."""
    return not (isinstance(value, str) and "\n" in value) and _file_name(value).endswith(".hir")


def _file_name(value: object) -> str:
    """The name of a file; empty if the value is no file name."""
    if not isinstance(value, (str, PathLike)):
        return ""
    try:
        return fsdecode(cast("str | PathLike[str]", value))
    except (TypeError, ValueError):
        return ""


def name_of(value: object, what: str, example: str) -> str:
    """A name: of an entry point, or of a device."""
    if isinstance(value, str):
        return value
    raise InputError(f"{what} is a name, such as {example!r}, not {shown(value)}")


def text_of(value: object, what: str, example: str) -> str:
    """A text."""
    if isinstance(value, str):
        return value
    raise InputError(f"{what} is text, such as {example!r}, not {shown(value)}")


def mapping_of(value: object, what: str, example: Iterable[str]) -> Mapping[str, Any]:
    """A mapping by name."""
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value)
    form = ", ".join(f"{name!r}: …" for name in example)
    raise InputError(f"{what} maps names to values, as in {{{form}}}, but is {shown(value)}")


def flag_of(value: object, what: str) -> bool:
    """True or False."""
    if is_flag(value):
        return bool(value)
    raise InputError(f"{what} is True or False, not {shown(value)}")


def seconds_of(value: object) -> float | None:
    """A time limit: a positive number, `math.inf` from 20 days on, or None."""
    if value is None:
        return None
    seconds = cast("float", value)
    if not is_number(value) or is_flag(value) or not seconds > 0:
        raise InputError(f"the time limit must be a positive number of seconds, not {shown(value)}")
    return float(seconds) if seconds < _ENDLESS else math.inf


def search_time_of(seconds: object) -> float:
    """How long to search: a positive number of seconds, fewer than 20 days."""
    found = seconds_of(seconds)
    if found is None or found == math.inf:
        raise InputError(f"seconds is a number above 0, and below {_ENDLESS:.0f} (20 days), not {shown(seconds)}")
    return found


def count_of(value: object, what: str) -> int:
    """A whole number."""
    try:
        return index(cast("int", value))
    except TypeError:
        raise InputError(f"{what} must be a whole number, not {shown(value)}") from None


def extent_of(value: object, what: str) -> tuple[int, int, int]:
    """One to three whole numbers; missing ones are 1."""
    try:
        numbers = [index(cast("int", part)) for part in _parts(value)]
    except TypeError:
        numbers = []
    if not 1 <= len(numbers) <= 3:
        raise InputError(f"{what} must be one to three whole numbers, not {shown(value)}")
    if min(numbers) < 0:
        raise InputError(f"{what} cannot be negative: {shown(value)}")
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def _parts(value: object) -> Iterable[object]:
    """The items of an array, a list or another sequence; any other value is its only item."""
    if is_array(value):
        return value.tolist() if value.ndim else [value.item()]
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray)):
        return cast("Sequence[object]", value)
    return [value]
