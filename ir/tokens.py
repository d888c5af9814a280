"""The tokens of an IR's text form, and the error of a text that is not in the form."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .source import Span


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
