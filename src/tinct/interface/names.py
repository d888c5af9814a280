"""Identifiers of WGSL as identifiers of another language."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable


class Names:
    """The names of one scope of a module. A name gets a `_` at its end while it is a word of the language or taken.

    Names are normalised to NFKC: so Python compares them, and Rust warns of others.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._taken = set(words)

    def take(self, name: str) -> str:
        """The identifier for a name, which is taken from now on."""
        found = unicodedata.normalize("NFKC", name)
        found = "".join(char if ("_" + char).isidentifier() else "_" for char in found)
        while found in self._taken:
            found += "_"
        self._taken.add(found)
        return found


def printable(text: str) -> str:
    """A text for a comment: one line, without control characters."""
    return "".join(char if char.isprintable() else "?" for char in text)
