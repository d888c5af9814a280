"""The verifier of nests: checks the tables of `rules`.

Rules come in groups, and a group is checked only if all groups before it hold: a rule may rely on what earlier groups
guarantee.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .nodes import Nest
from .rules.combines import COMBINED, COMBINES, TRIALS
from .rules.declarations import NAMES, STATEMENTS, TYPES
from .rules.iterations import DIMENSIONS, EVENTS, ORDER
from .rules.table import Mistake, Part, Rule
from .scope import Scope
from .text import print_nest

GROUPS: Final[tuple[tuple[Rule, ...], ...]] = (
    NAMES,
    STATEMENTS,
    TYPES,
    DIMENSIONS,
    EVENTS,
    ORDER,
    COMBINED,
    COMBINES,
    TRIALS,
)


class VerifyError(Exception):
    """A nest that breaks rules. The message shows it with each mistake under its line."""

    def __init__(self, nest: Nest, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        notes: dict[int, list[str]] = {}
        for it in self.mistakes:
            notes.setdefault(id(it.part), []).append(f"{it.message} [{it.rule}]")
        super().__init__(print_nest(nest, notes))


def check(nest: Nest) -> None:
    """Raise VerifyError if the nest breaks a rule."""
    mistakes = verify(nest)
    if mistakes:
        raise VerifyError(nest, mistakes)


def verify(nest: Nest) -> list[Mistake]:
    """Everything that is wrong with a nest, as far as the first group of rules that it breaks."""
    scope = Scope(nest)
    for group in GROUPS:
        mistakes = [Mistake(rule.name, *found) for rule in group for found in rule.check(scope)]
        if mistakes:
            return mistakes
    return []


__all__ = ["GROUPS", "Mistake", "Part", "VerifyError", "check", "verify"]
