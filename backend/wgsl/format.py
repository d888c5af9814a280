"""WGSL text in one style, with the comments and the grouping of its source.

The text is the printer's, so it depends only on the syntax tree; comments are printed at their old places, an empty
line between statements, members or declarations stays (one of several), and lines longer than 100 columns are broken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...ir.source import Source
from ...ir.wgsl import ast
from .comments import CommentPosition, Note, Spot, weave
from .printer import print_unit
from .tokens import Token, tokens_of_line
from .wrapping import INDENT, Piece, comment_piece, wrap


def format_unit(unit: ast.TranslationUnit, source: Source) -> str:
    """The formatted text of a source that parses as `unit` without errors.

    It parses as the same tree, holds the same comments, and is its own formatted text.
    """
    printed = [(line, tokens_of_line(line)) for line in print_unit(unit).split("\n")]
    woven = weave([token for _, tokens in printed for token in tokens], unit, source)
    spots = iter(woven.spots)
    text = _Text()
    for line, tokens in printed:
        if tokens:
            indent = len(line) - len(line.lstrip(" "))
            text.line(tokens, [next(spots) for _ in tokens], indent)
        else:
            text.is_apart = bool(text.lines)
    text.comments(woven.at_end, 0)
    return "".join(f"{line}\n" for line in text.lines)


@dataclass(slots=True)
class _Text:
    """The text so far. `is_apart`: an empty line is due."""

    lines: list[str] = field(default_factory=list[str])
    is_apart: bool = False
    _may_be_apart: bool = False

    def line(self, tokens: Sequence[Token], spots: Sequence[Spot], indent: int) -> None:
        """Add a printed line with its comments."""
        first = spots[0]
        own = [note for note in first.before if note.place is CommentPosition.OWN]
        closes = tokens[0].text == "}"
        self.comments(own, indent + INDENT if closes else indent)
        starts_apart = [note.after_blank for note in first.before if note.place is not CommentPosition.OWN][:1]
        if not closes:
            self._separate(starts_apart[0] if starts_apart else first.after_blank)
        first.before = [note for note in first.before if note.place is not CommentPosition.OWN]
        self.is_apart = False
        self.lines += wrap(list(_pieces(tokens, spots)), indent)
        self._may_be_apart = tokens[-1].text in (";", ",", "}")

    def comments(self, notes: Sequence[Note], indent: int) -> None:
        """Add comments on lines of their own."""
        for note in notes:
            self._separate(note.after_blank)
            self.lines.append(" " * indent + note.text)
            self._may_be_apart = True

    def _separate(self, wanted: bool) -> None:
        if self.is_apart or (wanted and self._may_be_apart):
            self.lines.append("")
        self.is_apart = False


def _pieces(tokens: Sequence[Token], spots: Sequence[Spot]) -> Iterator[Piece]:
    """Tokens and comments in order; behind a comment there is a space, but before what closes."""
    follows_comment = False
    for token, spot in zip(tokens, spots, strict=True):
        for note in spot.before:
            yield comment_piece(note)
            follows_comment = True
        is_closing = token.text in (",", ";", ")", "]")
        yield Piece(token.text, token.spaced or (follows_comment and not is_closing), token.is_operator)
        follows_comment = False
        for note in spot.after:
            yield comment_piece(note)
            follows_comment = True
