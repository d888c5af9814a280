"""Codecs for the extern types that several schemas share."""

from __future__ import annotations

import enum
from typing import TypeVar

from ..source import Span
from .events import ExternCodec

E = TypeVar("E", bound=enum.Enum)


def _span_text(value: object) -> str:
    assert isinstance(value, Span)
    return f"{value.start}:{value.end}"


def _span(text: str) -> Span:
    start, end = map(int, text.split(":"))
    return Span(start, end)


SPAN = ExternCodec(_span_text, _span)


def enum_codec(kind: type[E]) -> ExternCodec:
    """Members by name, in lower case."""

    def to_text(value: object) -> str:
        assert isinstance(value, kind)
        return value.name.lower()

    def from_text(text: str) -> E:
        if text.upper() not in kind.__members__:
            raise ValueError(f"no {kind.__name__}")
        return kind[text.upper()]

    return ExternCodec(to_text, from_text)
