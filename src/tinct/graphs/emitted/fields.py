"""Parts of a JSON text by the names of fields, with errors that say where in the file they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from ...base.errors import InputError
from ...ir.layout_numbers import shown


@dataclass(frozen=True, slots=True)
class Fields:
    """An object of a JSON text. `file` and `path` say which, as in `plan.json: steps[3]`."""

    file: str
    path: str
    values: dict[str, object]

    @classmethod
    def of(cls, value: object, file: str, path: str = "") -> Fields:
        """A value that must be an object. Raises InputError."""
        if not isinstance(value, dict):
            raise InputError(f"{file}: {path or 'the text'}: expected an object, not {shown(value)}")
        return cls(file, path, cast("dict[str, object]", value))

    def error(self, field: str, message: str) -> InputError:
        """An error about a field."""
        return InputError(f"{self.file}: {self._at(field)}: {message}")

    def has(self, field: str) -> bool:
        """Whether there is such a field."""
        return field in self.values

    def text(self, field: str) -> str:
        """A string. Raises InputError."""
        value = self._value(field)
        if not isinstance(value, str):
            raise self.error(field, f"expected a string, not {shown(value)}")
        return value

    def number(self, field: str, *, most: int = (1 << 53)) -> int:
        """A whole number from 0 to `most`. Raises InputError."""
        return self._number(self._value(field), field, 0, most)

    def integer(self, field: str) -> int:
        """A whole number of either sign. Raises InputError."""
        return self._number(self._value(field), field, -(1 << 53), 1 << 53)

    def numbers(self, field: str) -> tuple[int, ...]:
        """A list of whole numbers from 0 on. Raises InputError."""
        listed = self._list(field)
        return tuple(self._number(it, f"{field}[{number}]", 0, 1 << 53) for number, it in enumerate(listed))

    def texts(self, field: str) -> tuple[str, ...]:
        """A list of strings. Raises InputError."""
        listed = self._list(field)
        for number, it in enumerate(listed):
            if not isinstance(it, str):
                raise self.error(f"{field}[{number}]", f"expected a string, not {shown(it)}")
        return tuple(cast("list[str]", listed))

    def lists(self, field: str) -> tuple[tuple[int, ...], ...]:
        """A list of lists of whole numbers from 0 on. Raises InputError."""
        inner = {f"{field}[{number}]": it for number, it in enumerate(self._list(field))}
        return tuple(Fields(self.file, self.path, inner).numbers(name) for name in inner)

    def child(self, field: str) -> Fields:
        """An object. Raises InputError."""
        return Fields.of(self._value(field), self.file, self._at(field))

    def children(self, field: str) -> list[Fields]:
        """A list of objects. Raises InputError."""
        listed = self._list(field)
        return [Fields.of(it, self.file, self._at(f"{field}[{number}]")) for number, it in enumerate(listed)]

    def _at(self, field: str) -> str:
        return f"{self.path}.{field}" if self.path else field

    def _value(self, field: str) -> object:
        if field not in self.values:
            raise self.error(field, "there is no such field")
        return self.values[field]

    def _list(self, field: str) -> list[object]:
        value = self._value(field)
        if not isinstance(value, list):
            raise self.error(field, f"expected a list, not {shown(value)}")
        return cast("list[object]", value)

    def _number(self, value: object, field: str, least: int, most: int) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.error(field, f"expected a whole number, not {shown(value)}")
        if not least <= value <= most:
            raise self.error(field, f"expected a number from {least} to {most}, not {value}")
        return value
