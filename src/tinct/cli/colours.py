"""Colours in what the command line prints: `--color`, NO_COLOR (no-color.org) and FORCE_COLOR (force-color.org)."""

from __future__ import annotations

import os
from typing import Any

import click

from ..ir.diagnostics import Part

_STYLES: dict[Part, dict[str, Any]] = {
    Part.ERROR: {"fg": "red", "bold": True},
    Part.WARNING: {"fg": "yellow", "bold": True},
    Part.INFO: {"fg": "cyan", "bold": True},
    Part.NOTE: {"fg": "green", "bold": True},
    Part.MESSAGE: {"bold": True},
    Part.GUTTER: {"fg": "blue", "bold": True},
}


def paint(part: Part, text: str) -> str:
    """A part of a diagnostic in colour. `click.echo` removes colours if the output is no terminal."""
    return click.style(text, **_STYLES[part])


def wanted() -> bool | None:
    """Whether colours are requested or forbidden; None if that depends on whether the output is a terminal."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.color


def option(default: str | None) -> click.Option:
    """`--color`, which all commands have. The group's has the default."""
    return click.Option(
        ["--color"],
        type=click.Choice(["auto", "always", "never"]),
        default=default,
        callback=_choose,
        expose_value=False,
        is_eager=True,
        help="Whether to colour the output; by default on a terminal. NO_COLOR and FORCE_COLOR are heeded.",
    )


def _choose(context: click.Context, _: click.Parameter, chosen: str | None) -> None:
    if chosen is None:
        return
    asked = {"always": True, "never": False}.get(chosen, _from_environment())
    context.color = context.find_root().color = asked


def _from_environment() -> bool | None:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return True if os.environ.get("FORCE_COLOR") else None
