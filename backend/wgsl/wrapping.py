"""A statement or head of one line, broken into several where it is too long or a comment ends a line.

Like other formatters: a chain of operators breaks before those that bind least, else a bracket opens out, with one
item a line and a comma behind the last, and short items as many a line as fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .comments import CommentPosition, Note

WIDTH = 100
INDENT = 4
_SHORT_ITEM = 12
_MANY_ITEMS = 8

_OPENERS = frozenset("([{")
_CLOSERS = frozenset(")]}")
_PRECEDENCE = (
    ("||", "&&"),
    ("<", ">", "<=", ">=", "==", "!="),
    ("|", "^", "&"),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_LEVELS = {operator: level for level, operators in enumerate(_PRECEDENCE) for operator in operators}


@dataclass(frozen=True, slots=True)
class Piece:
    """A token or a comment of a line. `place` is a comment's, None for tokens."""

    text: str
    spaced: bool
    is_operator: bool = False
    place: CommentPosition | None = None

    @property
    def breaks(self) -> bool:
        """Whether the line cannot go on behind it."""
        return self.place in (CommentPosition.OWN, CommentPosition.LAST)


def comment_piece(note: Note) -> Piece:
    """A comment as part of a line."""
    return Piece(note.text, True, place=note.place)


def wrap(pieces: Sequence[Piece], indent: int) -> list[str]:
    """The lines of some pieces, indented."""
    own = _own_comments(pieces)
    if own:
        return [*(_line([piece], indent) for piece in pieces[:own]), *wrap(pieces[own:], indent)]
    if pieces and pieces[-1].breaks:
        lines = wrap(pieces[:-1], indent)
        if pieces[-1].place is CommentPosition.LAST and lines:
            return [*lines[:-1], f"{lines[-1]} {pieces[-1].text}"]
        return [*lines, _line(pieces[-1:], indent)]
    flat = _line(pieces, indent)
    has_break = any(piece.breaks for piece in pieces)
    if not pieces or (not has_break and len(flat) <= WIDTH):
        return [flat] if pieces else []
    return _split(pieces, indent, has_break)


def _own_comments(pieces: Sequence[Piece]) -> int:
    """How many comments stand before the first token on lines of their own: all up to the last that ends a line."""
    tokens = (index for index, piece in enumerate(pieces) if piece.place is None)
    comments = pieces[: next(tokens, len(pieces))]
    return max((index + 1 for index, piece in enumerate(comments) if piece.breaks), default=0)


def _line(pieces: Sequence[Piece], indent: int) -> str:
    text = "".join(f" {piece.text}" if piece.spaced and index else piece.text for index, piece in enumerate(pieces))
    return " " * indent + text


def _split(pieces: Sequence[Piece], indent: int, has_break: bool) -> list[str]:
    depths = list(_depths(pieces))
    groups = _groups(pieces, depths)
    broken = [group for group in groups if any(piece.breaks for piece in pieces[group.start : group.stop])]
    operators = _weakest_operators(pieces, depths)
    if broken:
        return _open_out(pieces, broken[0], indent)
    if operators:
        return _split_at(pieces, operators, indent)
    if groups and not has_break:
        return _open_out(pieces, max(groups, key=len), indent)
    return list(_broken_at_comments(pieces, indent))


def _depths(pieces: Sequence[Piece]) -> Iterator[int]:
    """How many brackets each piece is in; a bracket is not in itself. Template lists are brackets, too."""
    depth = 0
    for piece in pieces:
        closes = piece.text in _CLOSERS or (piece.text == ">" and not piece.is_operator)
        opens = piece.text in _OPENERS or (piece.text == "<" and not piece.is_operator)
        is_token = piece.place is None
        depth -= is_token and closes
        yield depth
        depth += is_token and opens


def _groups(pieces: Sequence[Piece], depths: Sequence[int]) -> list[range]:
    """What stands between round or square brackets that are in no others; empty ones are left out."""
    found: list[range] = []
    start = None
    for index, (piece, depth) in enumerate(zip(pieces, depths, strict=True)):
        if depth or piece.place is not None:
            continue
        if piece.text in "([":
            start = index + 1
        elif piece.text in ")]" and start is not None:
            found.append(range(start, index))
            start = None
    return [group for group in found if group]


def _weakest_operators(pieces: Sequence[Piece], depths: Sequence[int]) -> list[int]:
    levels = {
        index: _LEVELS[piece.text]
        for index, (piece, depth) in enumerate(zip(pieces, depths, strict=True))
        if index and piece.is_operator and not depth and piece.text in _LEVELS
    }
    weakest = min(levels.values(), default=None)
    return [index for index, level in levels.items() if level == weakest]


def _split_at(pieces: Sequence[Piece], operators: Sequence[int], indent: int) -> list[str]:
    """Break before the operators; a `{` behind them stands alone."""
    has_body = pieces[-1].text == "{" and pieces[-1].place is None
    end = len(pieces) - has_body
    starts = [0, *operators]
    lines: list[str] = []
    for start, stop in zip(starts, [*operators, end], strict=True):
        lines += wrap(pieces[start:stop], indent if start == 0 else indent + INDENT)
    return [*lines, _line(pieces[-1:], indent)] if has_body else lines


def _open_out(pieces: Sequence[Piece], group: range, indent: int) -> list[str]:
    """The inside of a bracket on lines of its own."""
    start = next((index for index in group if pieces[index].place is not CommentPosition.LAST), group.stop)
    head, tail = pieces[:start], pieces[group.stop :]
    is_list = pieces[group.start - 1].text == "(" and not pieces[group.start - 1].spaced
    items = _items(pieces[start : group.stop], ";" if _is_for(pieces[: group.start]) else ",")
    if is_list and len(items) > 1:
        items[-1] = _with_comma(items[-1])
    inside = _filled(items, indent + INDENT) if _is_table(items) else None
    if inside is None:
        inside = [line for item in items for line in wrap(item, indent + INDENT)]
    return [*wrap(head, indent), *inside, *wrap(tail, indent)]


def _is_for(head: Sequence[Piece]) -> bool:
    return len(head) > 1 and head[-2].text == "for"


def _items(pieces: Sequence[Piece], separator: str) -> list[list[Piece]]:
    """The items of a list, each with its separator and the comment that ends its line."""
    items: list[list[Piece]] = [[]]
    is_complete = False
    for piece, depth in zip(pieces, _depths(pieces), strict=True):
        if is_complete and piece.place is not CommentPosition.LAST:
            items.append([])
            is_complete = False
        items[-1].append(piece)
        is_complete = is_complete or (not depth and piece.place is None and piece.text == separator)
    return items


def _with_comma(item: Sequence[Piece]) -> list[Piece]:
    """The last item with a comma behind its last token."""
    end = max(index + 1 for index, piece in enumerate(item) if piece.place is None)
    return [*item[:end], Piece(",", False), *item[end:]]


def _is_table(items: Sequence[Sequence[Piece]]) -> bool:
    return len(items) > _MANY_ITEMS and all(
        not any(piece.place is not None for piece in item) and len(_line(item, 0)) <= _SHORT_ITEM for item in items
    )


def _filled(items: Sequence[Sequence[Piece]], indent: int) -> list[str]:
    lines: list[str] = []
    for item in items:
        text = _line(item, 0)
        if lines and len(lines[-1]) + 1 + len(text) <= WIDTH:
            lines[-1] += f" {text}"
        else:
            lines.append(" " * indent + text)
    return lines


def _broken_at_comments(pieces: Sequence[Piece], indent: int) -> Iterator[str]:
    """Breaks only at the comments that end a line."""
    for number, run in enumerate(_runs(pieces)):
        own = _own_comments(run)
        rest = run[own:]
        goes_on = number > 0 and not (rest and rest[0].text in ("}", "else", "{"))
        is_inside = goes_on or (rest and rest[0].text == "}")
        yield from (_line([comment], indent + INDENT if is_inside else indent) for comment in run[:own])
        if rest:
            yield _line(rest, indent + INDENT if goes_on else indent)


def _runs(pieces: Sequence[Piece]) -> Iterator[Sequence[Piece]]:
    """The runs of pieces that share a line; the comments before a run have lines of their own."""
    start = 0
    for index, piece in enumerate(pieces):
        if piece.place is CommentPosition.OWN and index > start:
            yield pieces[start:index]
            start = index
        if piece.place is CommentPosition.LAST:
            yield pieces[start : index + 1]
            start = index + 1
    if start < len(pieces):
        yield pieces[start:]
