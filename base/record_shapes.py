"""The code of `__init__` for classes with so many fields, which `records` takes for all of them under other names."""

from __future__ import annotations

from functools import cache
from types import CodeType
from typing import Any


@cache
def shape(count: int, *, is_frozen: bool, is_complete: bool) -> CodeType:
    """The code of a function that assigns its parameters `field0`, `field1`, … to attributes of the same names.

    In a frozen class, `_set` assigns. If the object is not complete then, `_complete` is called with it.
    """
    names = [f"field{number}" for number in range(count)]
    lines = [f"def __init__({', '.join(['self', *names])}):"]
    lines += [f"_set(self, '{name}', {name})" if is_frozen else f"self.{name} = {name}" for name in names]
    lines.append("pass" if is_complete else "_complete(self)")
    made: dict[str, Any] = {}
    exec("\n ".join(lines), made)
    code: CodeType = made["__init__"].__code__
    return code
