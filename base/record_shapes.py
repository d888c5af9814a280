"""The code that makes objects with so many fields, which all classes with that number have, under other names."""

from __future__ import annotations

from collections.abc import Mapping
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
    return _compiled("\n ".join(lines), "__init__")


@cache
def tuple_shape(count: int) -> CodeType:
    """The code of a function that makes a tuple of parameters, with `_new`."""
    names = ", ".join(f"field{number}" for number in range(count))
    return _compiled(f"def __new__(cls, {names}):\n return _new(cls, ({names},))", "__new__")


def _compiled(text: str, name: str) -> CodeType:
    made: dict[str, Any] = {}
    exec(text, made)
    code: CodeType = made[name].__code__
    return code


def renamed(code: CodeType, names: Mapping[object, str], by_name: int = 0) -> CodeType:
    """The code with other names of parameters and attributes, the last of which are taken by name only."""
    parameters, used = ([names.get(it, it) for it in old] for old in (code.co_varnames, code.co_names))
    constants = tuple(names.get(it, it) for it in code.co_consts)
    return code.replace(
        co_argcount=code.co_argcount - by_name,
        co_kwonlyargcount=by_name,
        co_varnames=tuple(parameters),
        co_names=tuple(used),
        co_consts=constants,
    )
