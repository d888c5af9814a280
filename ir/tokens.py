"""The tokens of an IR's text form, and the error of a text that is not in the form."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from .source import Span

Item = TypeVar("Item")


class TextError(Exception):
    """The text is not a module; the message begins with its position, line:column. `span` is in bytes of UTF-8."""

    def __init__(self, line: int, column: int, message: str, span: Span) -> None:
        super().__init__(f"{line}:{column}: {message}")
        self.line = line
        self.column = column
        self.message = message
        self.span = span


@dataclass(frozen=True, slots=True)
class Token:
    """A token. `sort` is the name of the group of the pattern that matched, or "end" after the last one."""

    sort: str
    text: str
    line: int
    column: int
    span: Span


def tokens_of(text: str, pattern: re.Pattern[str]) -> list[Token]:
    """The tokens of a text, and one for its end.

    The pattern matches everything: the group `space` is left out, and `other` is a character that no token begins with,
    for which TextError is raised.
    """
    tokens: list[Token] = []
    line, line_start, end = 1, 0, 0
    for match in pattern.finditer(text):
        sort, lexeme, column = str(match.lastgroup), match.group(), match.start() - line_start + 1
        span = Span(end, end + len(lexeme.encode("utf-8", "surrogatepass")))
        end = span.end
        if sort == "other":
            raise TextError(line, column, f"unexpected character {lexeme!r}", span)
        if sort != "space":
            tokens.append(Token(sort, lexeme, line, column, span))
        if "\n" in lexeme:
            line += lexeme.count("\n")
            line_start = match.start() + lexeme.rindex("\n") + 1
    return [*tokens, Token("end", "the end of the text", line, len(text) - line_start + 1, Span(end, end))]


class TokenReader:
    """The base of a parser by recursive descent: takes tokens one after another. Raises TextError."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._position: int = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._position]

    @property
    def _after_next(self) -> Token:
        """The token after the next one; the end has none after it."""
        return self._tokens[min(self._position + 1, len(self._tokens) - 1)]

    @property
    def _last(self) -> Token:
        """The token that was taken last."""
        return self._tokens[self._position - 1]

    def _since(self, first: Token) -> Span:
        """What was taken from a token on."""
        return first.span.merge(self._last.span)

    def _fail(self, message: str, at: Token | None = None) -> TextError:
        """An error at a token, or else at the next one."""
        token = at or self._next
        return TextError(token.line, token.column, message, token.span)

    def _expected(self, what: str) -> TextError:
        """The error that something else is next."""
        found = self._next.text.partition("\n")[0][:40]
        return self._fail(f"expected {what}, found {found if self._next.sort == 'end' else repr(found)}")

    def _is_at(self, text: str) -> bool:
        """Whether a mark or a name is next."""
        return self._next.text == text and self._next.sort in ("mark", "name")

    def _accept(self, text: str) -> bool:
        """Take a mark or a name if it is next."""
        found = self._is_at(text)
        self._position += found
        return found

    def _take(self, text: str) -> Token:
        """Take a mark or a name, which must be next."""
        if not self._is_at(text):
            raise self._expected(repr(text))
        self._position += 1
        return self._last

    def _sort(self, sort: str, what: str) -> Token:
        """Take a token of a sort, which must be next."""
        if self._next.sort != sort:
            raise self._expected(what)
        self._position += 1
        return self._last

    def _separated(self, end: str, item: Callable[[], Item]) -> list[Item]:
        """The items up to `end`, with commas between them."""
        items: list[Item] = []
        while not self._accept(end):
            if items:
                self._take(",")
            items.append(item())
        return items
