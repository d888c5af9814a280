"""Restores comments, which the syntax tree only lists, between the tokens of printed text.

Printed text has the tokens of its source in their order, but for those that mean nothing: a last comma, an empty
statement, the colon of a `case`, the empty brackets of an attribute, brackets that the printer adds for other readers'
sake. So each comment finds the token that stood before it and the one behind it.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...ir.source import Source
from ...ir.wgsl import ast
from .tokens import SourceToken, Token, line_of, tokens_of_source

_PRINTED_SEPARATORS = frozenset(",:;")
_SEPARATORS = frozenset({",", ";", ":", "case"})
_BRACKETS = frozenset("()")
_CLOSING = frozenset(",;)]}")


class CommentPosition(enum.Enum):
    """Where a comment stands: within a line, at the end of one, or on lines of its own."""

    INLINE = enum.auto()
    LAST = enum.auto()
    OWN = enum.auto()


@dataclass(frozen=True, slots=True)
class Note:
    """A comment to be printed. `after_blank`: an empty line stands before it in the source."""

    text: str
    place: CommentPosition
    after_blank: bool = False


@dataclass(slots=True)
class Spot:
    """The comments at one token of the printed text. `after_blank`: an empty line stands before it in the source."""

    before: list[Note] = field(default_factory=list[Note])
    after: list[Note] = field(default_factory=list[Note])
    after_blank: bool = False


@dataclass(frozen=True, slots=True)
class Woven:
    """A spot for each printed token, and the comments behind the last one."""

    spots: Sequence[Spot]
    at_end: Sequence[Note]


def weave(tokens: Sequence[Token], unit: ast.TranslationUnit, source: Source) -> Woven:
    """Find the place of each comment of `unit` among the tokens of its printed text."""
    places = _match(tokens, tokens_of_source(source, unit.comments))
    weaver = _Weaver(source, tokens, [Spot() for _ in tokens])
    comments = deque(unit.comments)
    before: int | None = None
    end = 0
    for index, place in enumerate(places):
        if place is None:
            continue
        between = _until(comments, place.span.start)
        weaver.gap(before, index, end, place, between)
        before, end = index, place.span.end
    return Woven(weaver.spots, weaver.tail(before, end, list(comments)))


def _until(comments: deque[ast.Comment], offset: int) -> list[ast.Comment]:
    """Take the comments before an offset."""
    found: list[ast.Comment] = []
    while comments and comments[0].span.start < offset:
        found.append(comments.popleft())
    return found


def _match(printed: Sequence[Token], given: Sequence[SourceToken]) -> list[SourceToken | None]:
    """The source token of each printed token; None for a separator that the source lacks."""
    found: list[SourceToken | None] = []
    position = 0
    for token in printed:
        while True:
            width = _width(token.text, given, position)
            if width:
                found.append(_joined(given[position : position + width]))
                position += width
                break
            other = given[position].text if position < len(given) else ""
            is_added = token.text in _BRACKETS and other not in _SEPARATORS
            if token.text in _PRINTED_SEPARATORS or is_added:
                found.append(None)
                break
            assert other in _SEPARATORS | _BRACKETS, f"{token.text!r} is printed where the source has {other!r}"
            position += 1
    return found


def _width(text: str, given: Sequence[SourceToken], position: int) -> int:
    """The number of source tokens that make up the printed one; 0 if none do."""
    if position < len(given) and given[position].text == text:
        return 1
    marks = "".join(token.text for token in given[position : position + len(text)])
    return len(text) if marks == text else 0


def _joined(tokens: Sequence[SourceToken]) -> SourceToken:
    return SourceToken("".join(token.text for token in tokens), tokens[0].span.merge(tokens[-1].span))


@dataclass(frozen=True, slots=True)
class _Weaver:
    source: Source
    tokens: Sequence[Token]
    spots: Sequence[Spot]

    def gap(
        self, before: int | None, after: int, end: int, place: SourceToken, comments: Sequence[ast.Comment]
    ) -> None:
        """Place the comments between two matched tokens; the first of them ends at `end`."""
        breaks = self._breaks(end, comments, place.span.start)
        self.spots[after].after_blank = breaks[-1] > 1
        trailing = 0
        if before is not None and not self._is_ended(before):
            is_held = any(breaks) or self.tokens[after].text in _CLOSING
            trailing = min(_leading_zeros(breaks), len(comments)) if is_held else 0
            self._trail(before, comments[:trailing])
        rest, counts = comments[trailing:], breaks[trailing:]
        own = len(rest) - min(_leading_zeros(counts[::-1]), len(rest))
        own = max([own, *(index for index, comment in enumerate(rest, 1) if _ends_line(comment))])
        if own and self.tokens[after].text in _CLOSING:
            own = len(rest)
        notes = self._own(rest[:own], counts)
        notes += [
            Note(_text(it), CommentPosition.INLINE, count > 1)
            for it, count in zip(rest[own:], counts[own:], strict=False)
        ]
        self.spots[after].before += notes

    def _is_ended(self, index: int) -> bool:
        """Whether a comment behind the token ends its line already."""
        return any(note.place is CommentPosition.LAST for note in self.spots[index].after)

    def tail(self, before: int | None, end: int, comments: Sequence[ast.Comment]) -> Sequence[Note]:
        """Place the comments behind the last token; return those that are not on its line."""
        breaks = self._breaks(end, comments, len(self.source.data))[:-1]
        trailing = 0
        if before is not None and not self._is_ended(before):
            trailing = _leading_zeros(breaks)
            self._trail(before, comments[:trailing])
        return self._own(comments[trailing:], breaks[trailing:])

    def _breaks(self, start: int, comments: Sequence[ast.Comment], end: int) -> list[int]:
        """The numbers of line breaks before each comment and before `end`."""
        starts = [*(comment.span.start for comment in comments), end]
        ends = [start, *(comment.span.end for comment in comments)]
        return [line_of(self.source, b) - line_of(self.source, a) for a, b in zip(ends, starts, strict=True)]

    def _own(self, comments: Sequence[ast.Comment], breaks: Sequence[int]) -> list[Note]:
        return [Note(_text(it), CommentPosition.OWN, count > 1) for it, count in zip(comments, breaks, strict=False)]

    def _trail(self, index: int, comments: Sequence[ast.Comment]) -> None:
        """Put comments behind a token: at the end of the line behind a comma or semicolon, which comes with it."""
        notes = [Note(_text(it), CommentPosition.LAST if _ends_line(it) else CommentPosition.INLINE) for it in comments]
        is_last = any(note.place is CommentPosition.LAST for note in notes)
        while is_last and index + 1 < len(self.tokens) and self.tokens[index + 1].text in (",", ";"):
            index += 1
        self.spots[index].after += notes


def _leading_zeros(counts: Sequence[int]) -> int:
    return next((index for index, count in enumerate(counts) if count), len(counts))


def _text(comment: ast.Comment) -> str:
    return comment.text.rstrip()


def _ends_line(comment: ast.Comment) -> bool:
    return comment.text.startswith("//") or len(comment.text.splitlines()) > 1
