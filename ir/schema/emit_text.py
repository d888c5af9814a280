"""Python text in the shape that ruff's formatter gives it."""

from __future__ import annotations

import textwrap
from typing import Final

WIDTH: Final = 120


def docstring(text: str, indent: str) -> list[str]:
    """A docstring's lines: it keeps the comment's line breaks, and breaks lines that are too long."""
    lines = _wrapped(text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"'), WIDTH - len(indent))
    closing = ' """' if lines[-1].endswith('"') else '"""'
    if len(lines) == 1 and len(indent) + 3 + len(lines[0]) + len(closing) <= WIDTH:
        return [f'{indent}"""{lines[0]}{closing}']
    if len(lines) == 1:
        lines = _wrapped(lines[0], WIDTH - len(indent) - 2 * len(closing))
    body = [f"{indent}{line}" if line else "" for line in lines[1:]]
    return [f'{indent}"""{lines[0]}', *body, f'{indent}"""']


def _wrapped(text: str, width: int) -> list[str]:
    """The lines of `text`; those longer than `width` are broken between words. The first has room for the quotes."""
    lines: list[str] = []
    for line in text.split("\n"):
        room = width if lines else width - 3
        margin = line[: len(line) - len(line.lstrip())]
        whole = len(line) <= room
        lines += [line] if whole else textwrap.wrap(line, room, subsequent_indent=margin, break_long_words=False)
    return lines


def entries(opening: str, items: list[str], closing: str, indent: int, before: int = 0) -> str:
    """A bracketed list on one line if it fits behind `before` characters, else one item a line.

    A tuple of one keeps its comma.
    """
    tail = "," if opening == "(" and len(items) == 1 else ""
    flat = f"{opening}{', '.join(items)}{tail}{closing}"
    if "\n" not in flat and indent + before + len(flat) < WIDTH:
        return flat
    return _exploded(opening, items, closing, indent)


def call(head: str, arguments: list[str], indent: int, tail: str = "") -> str:
    """`head(arguments)tail`, on one line, or with all arguments on the next, or with one argument a line."""
    flat = f"{head}({', '.join(arguments)}){tail}"
    if "\n" not in flat and indent + len(flat) <= WIDTH:
        return flat
    return head + _exploded("(", arguments, f"){tail}", indent)


def signature(head: str, parameters: list[str], indent: int, tail: str) -> str:
    """A `def`: like `call`, but the parameters may share one line of their own."""
    flat = f"{head}({', '.join(parameters)}){tail}"
    if indent + len(flat) <= WIDTH:
        return flat
    inner = ", ".join(parameters)
    if indent + 4 + len(inner) <= WIDTH and not inner.endswith(","):
        pad = " " * indent
        return f"{head}(\n{pad}    {inner}\n{pad}){tail}"
    return head + _exploded("(", parameters, f"){tail}", indent)


def union(head: str, members: list[str]) -> str:
    """`head = A | B`, in parentheses if it needs more than one line."""
    flat = f"{head} = {' | '.join(members)}"
    if len(flat) <= WIDTH:
        return flat
    inner = f"    {' | '.join(members)}"
    if len(inner) > WIDTH:
        inner = "\n    | ".join([f"    {members[0]}", *members[1:]])
    return f"{head} = (\n{inner}\n)"


def _exploded(opening: str, items: list[str], closing: str, indent: int) -> str:
    pad = " " * indent
    return "\n".join([opening, *(f"{pad}    {item}," for item in items), f"{pad}{closing}"])
