"""WGSL text without needless blankspace and separators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...ir.wgsl import ast
from .printer import print_unit
from .tokens import Token, tokens_of_line

_MARKS = frozenset({"--", "++", "&&", "||", "<<", ">>", "//", "/*", "*/", "->", "+=", "==", "!=", "<=", ">="})


def print_compact(unit: ast.TranslationUnit) -> str:
    """The shortest text of the tree, on one line."""
    tokens = [token for line in print_unit(unit).split("\n") for token in tokens_of_line(line)]
    return "".join(_joined(list(_needed(tokens))))


def _needed(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens without a last comma and the colon of a case."""
    for token, following in zip(tokens, [*tokens[1:], None], strict=False):
        after = "" if following is None else following.text
        is_last_comma = token.text == "," and after in (")", "}")
        if not is_last_comma and not (token.text == ":" and after in ("{", "@")):
            yield token


def _joined(tokens: Sequence[Token]) -> Iterator[str]:
    """The tokens as text, with a space where two would otherwise merge."""
    before = "("
    for token in tokens:
        if _runs_together(before, token):
            yield " "
        yield token.text
        before = token.text


def _runs_together(before: str, token: Token) -> bool:
    last, first = before[-1:], token.text[0]
    if _is_word(last) and _is_word(first):
        return True
    return token.spaced and (last + first in _MARKS or (first == "." and before[:1].isdigit()))


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum() or not character.isascii()
