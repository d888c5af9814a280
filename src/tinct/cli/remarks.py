"""Remarks: what the compiler does that costs time, with the places in the source."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..ir.diagnostics import render_all
from .options import print_text

if TYPE_CHECKING:
    from ..ir.hercules.nodes import Function
    from ..ir.source import Source


def remarks_text(functions: Iterable[Function], source: Source) -> str:
    """The copies of collections in functions of Hercules IR, with their lines; empty if there are none."""
    from ..ir.hercules.copies import remarks

    found = [it for function in functions for it in remarks(function)]
    return render_all(found, source) + "\n" if found else ""


def print_remarks(functions: Iterable[Function], source: Source) -> None:
    """Print the copies of collections in functions of Hercules IR; nothing if there are none."""
    text = remarks_text(functions, source)
    if text:
        print_text(text)
