"""Messages for names that do not exist."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def unknown_name(message: str, name: object, known: Iterable[str]) -> str:
    """The message with the name that was probably meant, or with all there are."""
    names = list(known)
    close = get_close_matches(name, names, n=1) if isinstance(name, str) else []
    if close:
        return f"{message}; did you mean {close[0]!r}?"
    return (
        f"{message}; there {'are ' + ', '.join(names) if len(names) > 1 else 'is ' + (names[0] if names else 'none')}"
    )
