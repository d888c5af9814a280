"""Names that are free."""

from __future__ import annotations

from collections.abc import Container


def fresh_name(stem: str, taken: Container[str]) -> str:
    """`stem`, or where that is taken the first of `stem_2`, `stem_3` and so on that is not."""
    name, number = stem, 2
    while name in taken:
        name, number = f"{stem}_{number}", number + 1
    return name
