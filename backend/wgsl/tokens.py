"""WGSL text as tokens, as far as laying it out needs them (WGSL, "Tokens").

Marks are single characters, so that `>>` is two of them whether it shifts or closes two template lists. In printed
text, where binary operators stand between spaces, an operator is one token.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...ir.source import Source, Span
from ...ir.wgsl import ast

_BLANK = rb"[ \t\n\v\f\r]|\xc2\x85|\xe2\x80[\x8e\x8f\xa8\xa9]"
_IN_SOURCE = re.compile(
    rb"(?P<blank>(?:" + _BLANK + rb")+)"
    rb"|(?P<number>0[xX](?:[pP][+-]|[0-9a-zA-Z.])*|\.?[0-9](?:[eE][+-](?=[0-9])|[0-9A-Za-z_.])*)"
    rb"|(?P<word>(?:[A-Za-z0-9_]|(?!" + _BLANK + rb")[\x80-\xff])+)"
    rb'|(?P<string>"(?:[^"\\\n\r]|\\[^\n\r])*")'
    rb"|(?P<mark>.)",
    re.DOTALL,
)
_IN_LINE = re.compile(
    r"(?P<space> *)"
    r"(?P<token>0[xX](?:[pP][+-]|[0-9a-zA-Z.])*|\.?[0-9](?:[eE][+-](?=[0-9])|[0-9A-Za-z_.])*"
    r"|(?:[A-Za-z0-9_]|[^\x00-\x7f])+"
    r'|"(?:[^"\\\n\r]|\\[^\n\r])*"'
    r"|(?<= )[-+*/%&|^<>=!]+(?= |\Z)"
    r"|.)"
)


_SIGNS = frozenset("-+*/%&|^<>=!")


@dataclass(frozen=True, slots=True)
class Token:
    """A token of printed text. `spaced`: a space stands before it.

    `is_operator`: it stands between two operands, or is `=`, `+=` or `->`.
    """

    text: str
    spaced: bool
    is_operator: bool = False


def tokens_of_line(line: str) -> list[Token]:
    """The tokens of a printed line, without its indentation."""
    found = [(match["token"], bool(match["space"])) for match in _IN_LINE.finditer(line.strip(" "))]
    followed = [*(spaced for _, spaced in found[1:]), True]
    return [
        Token(text, spaced, spaced and is_followed and text[0] in _SIGNS)
        for (text, spaced), is_followed in zip(found, followed, strict=False)
    ]


@dataclass(frozen=True, slots=True)
class SourceToken:
    """A token where the source has it."""

    text: str
    span: Span


def tokens_of_source(source: Source, comments: Sequence[ast.Comment]) -> list[SourceToken]:
    """The tokens of a source that parses, between its comments."""
    starts = [0, *(comment.span.end for comment in comments)]
    ends = [*(comment.span.start for comment in comments), len(source.data)]
    return [
        token for start, end in zip(starts, ends, strict=True) for token in _tokens_between(source.data, start, end)
    ]


def _tokens_between(data: bytes, start: int, end: int) -> Iterator[SourceToken]:
    for match in _IN_SOURCE.finditer(data, start, end):
        if match.lastgroup != "blank":
            yield SourceToken(match.group().decode("utf-8", "replace"), Span(*match.span()))


def line_of(source: Source, offset: int) -> int:
    """The number of line breaks before an offset."""
    starts = source.line_starts
    return bisect_left(starts, offset + 1) - 1
