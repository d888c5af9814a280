"""Options that several commands share."""

from __future__ import annotations

import click

from ..ir.diagnostics import InputError

constants_option = click.option(
    "--set", "constants", multiple=True, metavar="NAME=VALUE", help="A value for an override; may be repeated."
)


def parse_constants(given: tuple[str, ...]) -> dict[str, float]:
    """`NAME=VALUE` pairs. Raises InputError."""
    values: dict[str, float] = {}
    for item in given:
        name, separator, text = item.partition("=")
        if not separator:
            raise InputError(f"--set takes NAME=VALUE, not {item!r}")
        values[name.strip()] = _number(text.strip(), item)
    return values


def _number(text: str, item: str) -> float:
    words = {"true": 1, "false": 0}
    if text in words:
        return words[text]
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--set {item}: {text!r} is no number") from None


def parse_extent(text: str, what: str) -> tuple[int, ...]:
    """`64` or `64x64x4` or `64,64,4`. Raises InputError."""
    try:
        return tuple(int(part) for part in text.replace(",", "x").split("x"))
    except ValueError:
        raise InputError(f"{what} takes one to three numbers such as 64 or 16x16, not {text!r}") from None
