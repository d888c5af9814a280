"""The code that makes objects with so many fields, which all classes with that number have, under other names.

`python -m tinct.base.record_shapes` writes `record_codes`, which has the usual ones, so that no process compiles them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from types import CodeType
from typing import Any

from . import record_codes

_MOST_FIELDS = 10
"""Maximum number of fields of a class whose code is written beforehand."""
_MOST_ITEMS = 5
"""Maximum number of items of a named tuple whose code is written beforehand."""


def shape(count: int, *, is_frozen: bool, is_complete: bool) -> CodeType:
    """The code of a function that assigns its parameters `field0`, `field1`, … to attributes of the same names.

    In a frozen class, `_set` assigns. If the object is not complete then, `_complete` is called with it.
    """
    name = _shape_name(count, is_frozen=is_frozen, is_complete=is_complete)
    written: Any = getattr(record_codes, name, None)
    return _compiled(_shape_text(count, is_frozen, is_complete), name) if written is None else written.__code__


def tuple_shape(count: int) -> CodeType:
    """The code of a function that makes a tuple of parameters, with `_new`."""
    written: Any = getattr(record_codes, f"tuple_{count}", None)
    return _compiled(_tuple_text(count), f"tuple_{count}") if written is None else written.__code__


def renamed(code: CodeType, name: str, names: Mapping[object, str], by_name: int = 0) -> CodeType:
    """The code with another name, and other names of parameters and attributes, the last of which are taken by name."""
    parameters, used = ([names.get(it, it) for it in old] for old in (code.co_varnames, code.co_names))
    constants = tuple(names.get(it, it) for it in code.co_consts)
    return code.replace(
        co_name=name,
        co_qualname=name,
        co_argcount=code.co_argcount - by_name,
        co_kwonlyargcount=by_name,
        co_varnames=tuple(parameters),
        co_names=tuple(used),
        co_consts=constants,
    )


def codes() -> str:
    """The text of `record_codes`."""
    return "\n\n\n".join([_HEAD, *_usual()]) + "\n"


_HEAD = '''# Written by `python -m tinct.base.record_shapes`: change that file, not this one.
# ruff: noqa: D103, F821
# mypy: ignore-errors
# pyright: basic, reportUndefinedVariable=false

"""Functions whose code `record_shapes` gives to the classes of records and named tuples."""'''


def _usual() -> Iterator[str]:
    for is_frozen, is_complete in product((False, True), repeat=2):
        for count in range(_MOST_FIELDS + 1):
            yield _shape_text(count, is_frozen, is_complete)
    for count in range(1, _MOST_ITEMS + 1):
        yield _tuple_text(count)


def _shape_name(count: int, *, is_frozen: bool, is_complete: bool) -> str:
    return f"{'frozen' if is_frozen else 'plain'}_{count}{'' if is_complete else '_to_complete'}"


def _shape_text(count: int, is_frozen: bool, is_complete: bool) -> str:
    names = [f"field{number}" for number in range(count)]
    lines = [f'_set(self, "{name}", {name})' if is_frozen else f"self.{name} = {name}" for name in names]
    lines += [] if is_complete else ["_complete(self)"]
    name = _shape_name(count, is_frozen=is_frozen, is_complete=is_complete)
    return "\n    ".join([f"def {name}({', '.join(['self', *names])}):", *(lines or ["pass"])])


def _tuple_text(count: int) -> str:
    names = ", ".join(f"field{number}" for number in range(count))
    items = f"{names}," if count == 1 else names
    return f"def tuple_{count}(cls, {names}):\n    return _new(cls, ({items}))"


@cache
def _compiled(text: str, name: str) -> CodeType:
    made: dict[str, Any] = {}
    exec(text, made)
    code: CodeType = made[name].__code__
    return code


def main() -> None:
    """Write `record_codes`."""
    from pathlib import Path

    Path(__file__).with_name("record_codes.py").write_text(codes(), encoding="utf-8")


if __name__ == "__main__":
    main()
