"""Events: the flat sequence between a tree and its text forms.

`encode` converts a tree to events, `decode` events to a tree; `json_form` and `aterm` write and read events as text.
None of them recurses, so trees may be arbitrarily deep.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple


class CodecError(Exception):
    """A text, or a sequence of events, that does not describe a tree of the schema."""


class ExternCodec(NamedTuple):
    """The functions that write an extern type as text and read it back."""

    to_text: Callable[[object], str]
    from_text: Callable[[str], object]


Externs = Mapping[str, ExternCodec]


class Word(str):
    """An enum's value, or an unquoted word: in JSON a string like others, in ATerms without quotes."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Begin:
    """A node begins. It has an `id` if there is a `Reference` to it."""

    kind: str
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """The id of the current node, in forms that write it after the kind."""

    id: int


@dataclass(frozen=True, slots=True)
class Label:
    """The next value belongs to this field, whose index among the fields is `position`.

    A form without field names has no labels: its values belong to the fields in order.
    """

    name: str
    position: int = -1


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value that is not a node."""

    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to a node that is written elsewhere."""

    id: int


class Sign(NamedTuple):
    """An event without data."""

    name: str


BEGIN_LIST: Final = Sign("begin list")
END: Final = Sign("end")
SKIP: Final = Sign("skip")

Event = Begin | Mark | Label | Leaf | Reference | Sign


class Cursor:
    """The tokens of a text. A token's sort is the name of the group of `pattern` that matched it."""

    def __init__(self, text: str, pattern: re.Pattern[str]) -> None:
        self._text = text
        self._tokens = pattern.finditer(text)
        self._match: re.Match[str] | None = None
        self.advance()

    @property
    def sort(self) -> str:
        """The group that matched the current token, or "end"."""
        return str(self._match.lastgroup) if self._match is not None else "end"

    @property
    def text(self) -> str:
        """The text of the current token."""
        return self._match.group() if self._match is not None else ""

    def advance(self) -> str:
        """Go to the next token that is not blank space; returns the text of the token before it."""
        before = self.text
        self._match = next(self._tokens, None)
        while self.sort == "space":
            self._match = next(self._tokens, None)
        return before

    def accept(self, text: str) -> bool:
        """Consume the current token if this is its text; returns whether it is."""
        found = self.text == text
        if found:
            self.advance()
        return found

    def expect(self, text: str) -> None:
        """Consume the current token, whose text must be this. Raises CodecError."""
        if not self.accept(text):
            raise self.error(f"expected '{text}'")

    def take(self, sort: str, what: str) -> str:
        """Consume the current token, which must be of this sort, and return its text. Raises CodecError."""
        if self.sort != sort:
            raise self.error(f"expected {what}")
        return self.advance()

    def error(self, message: str) -> CodecError:
        """An error at the current token, for the caller to raise."""
        offset = self._match.start() if self._match is not None else len(self._text)
        line = self._text.count("\n", 0, offset) + 1
        column = offset - (self._text.rfind("\n", 0, offset) + 1) + 1
        found = f"'{self.text}'" if self.sort != "end" else "the end of the text"
        return CodecError(f"{line}:{column}: {message}, found {found}")
