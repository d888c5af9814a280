"""Reading TOML tables strictly: every key is known, every value has the right kind, and an error names its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar, cast

from .expressions import Expression
from .generators import Literal
from .model import CaseError, Constant

T = TypeVar("T")


class Table:
    """A TOML table at a place of a file. Keys are taken out; `finish` complains about what is left."""

    def __init__(self, data: Mapping[str, object], file: Path, place: str) -> None:
        self._left = dict(data)
        self._known: list[str] = []
        self.file = file
        self.place = place

    def error(self, message: str, key: str = "") -> CaseError:
        """An error at this table, or at one of its keys."""
        return CaseError(self.file, self._at(key), message)

    def take(self, key: str, read: Callable[[object], T]) -> T | None:
        """The value of a key, None when absent, read by a function that raises ValueError with what it wants."""
        self._known.append(key)
        if key not in self._left:
            return None
        try:
            return read(self._left.pop(key))
        except ValueError as error:
            raise self.error(str(error), key) from None

    def sub(self, key: str) -> Table:
        """The table under a key; empty when absent."""
        return Table(self.take(key, as_table) or {}, self.file, self._at(key))

    def names(self) -> list[str]:
        """The keys not taken yet."""
        return list(self._left)

    def finish(self) -> None:
        """Rejects keys that were not taken."""
        if self._left:
            raise self.error(f"unknown key '{min(self._left)}'; known are: {', '.join(sorted(self._known))}")

    def _at(self, key: str) -> str:
        if not key:
            return self.place
        joint = ", " if self.place.startswith("case") and "," not in self.place else "."
        return f"{self.place}{joint}{key}" if self.place else key


def as_text(value: object) -> str:
    """A string."""
    if not isinstance(value, str):
        raise ValueError(f"must be a string, not {value!r}")
    return value


def as_flag(value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {value!r}")
    return value


def as_table(value: object) -> dict[str, object]:
    """A table."""
    if not isinstance(value, dict):
        raise ValueError(f"must be a table, not {value!r}")
    return cast(dict[str, object], value)


def as_tables(value: object) -> list[dict[str, object]]:
    """An array of tables."""
    if not isinstance(value, list):
        raise ValueError("must be an array of tables")
    return [as_table(item) for item in cast(list[object], value)]


def as_count(value: object) -> int:
    """A number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"must be a whole number, not {value!r}")
    return value


def as_bound(value: object) -> float:
    """A bound of a tolerance."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise ValueError(f"must be a number that is not negative, not {value!r}")
    return float(value)


def as_counts(value: object) -> dict[str, int]:
    """A table of whole numbers."""
    return {name: as_count(number) for name, number in as_table(value).items()}


def as_constants(value: object) -> dict[str, Constant | str]:
    """A table of override constants; strings are expressions."""
    constants = as_table(value)
    for name, constant in constants.items():
        if not isinstance(constant, bool | int | float | str):
            raise ValueError(f"'{name}' must be a number, true, false or an expression, not {constant!r}")
    return cast(dict[str, Constant | str], constants)


def as_expressions(value: object) -> tuple[Expression, ...]:
    """One number or expression, or a list of them."""
    items = cast(list[object], value) if isinstance(value, list) else [value]
    return tuple(as_expression(item) for item in items)


def as_pair(value: object) -> tuple[Expression, Expression]:
    """Two numbers or expressions."""
    items = as_expressions(value)
    if not isinstance(value, list) or len(items) != 2:
        raise ValueError(f"must be two numbers, not {value!r}")
    return items[0], items[1]


def as_literal(value: object) -> Literal:
    """A number, an expression, or lists and tables of them."""
    match value:
        case bool() | int() | float() | str():
            return value
        case list():
            return [as_literal(item) for item in cast(list[object], value)]
        case dict():
            return {name: as_literal(item) for name, item in cast(dict[str, object], value).items()}
        case _:
            raise ValueError(f"must be a number, an expression, a list or a table, not {value!r}")


def as_expression(value: object) -> Expression:
    """A number or an expression."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"must be a number or an expression, not {value!r}")
    return value
