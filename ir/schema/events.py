"""A tree as a flat sequence of events, between trees and their text forms.

`encode` makes events of a tree, `decode` a tree of events; `json_form` and `aterm` write and read events as text. None
of them recurses, so depth is no limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple


class CodecError(Exception):
    """A text, or a sequence of events, that is no tree of the schema."""


class ExternCodec(NamedTuple):
    """How an extern type is written as text, and read back."""

    to_text: Callable[[object], str]
    from_text: Callable[[str], object]


Externs = Mapping[str, ExternCodec]


class Word(str):
    """An enum's value, or an unquoted word: in JSON a string like others, in ATerms without quotes."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Begin:
    """A node begins. It has an `id` if a `Reference` stands for it somewhere."""

    kind: str
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """The id of the node that is open, where a form tells it later than the kind."""

    id: int


@dataclass(frozen=True, slots=True)
class Label:
    """The next value belongs to this field, whose place among the fields is `position`.

    A form without names gives no labels: then values belong to the fields in order.
    """

    name: str
    position: int = -1


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value that is no node."""

    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Reference:
    """A node that is written elsewhere."""

    id: int


class Sign(NamedTuple):
    """An event that says all by its name."""

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
        """Go to the next token that is not blank space; the text of the one left."""
        before = self.text
        self._match = next(self._tokens, None)
        while self.sort == "space":
            self._match = next(self._tokens, None)
        return before

    def accept(self, text: str) -> bool:
        """Go on if the current token reads so."""
        found = self.text == text
        if found:
            self.advance()
        return found

    def expect(self, text: str) -> None:
        """Go on past this token, which must be there."""
        if not self.accept(text):
            raise self.error(f"expected '{text}'")

    def take(self, sort: str, what: str) -> str:
        """Go on past a token of this sort; its text."""
        if self.sort != sort:
            raise self.error(f"expected {what}")
        return self.advance()

    def error(self, message: str) -> CodecError:
        """An error at the current token, for raising."""
        offset = self._match.start() if self._match is not None else len(self._text)
        line = self._text.count("\n", 0, offset) + 1
        column = offset - (self._text.rfind("\n", 0, offset) + 1) + 1
        found = f"'{self.text}'" if self.sort != "end" else "the end of the text"
        return CodecError(f"{line}:{column}: {message}, found {found}")
