"""The stages of a stream."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Values: TypeAlias = Mapping[Hashable, Any]


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of the work on each item. Stages of an item run one after another, those of different items side by side.

    `run` makes new values of those of an item, and changes none. A stage `takes_state` if it gets the values that
    `new_state` had for the item before: it runs for one item after another, in order. `new_state` picks, of the values
    of an item, those for the next item, as soon as this stage has run.
    """

    run: Callable[[Values], Values]
    takes_state: bool = False
    new_state: Callable[[Values], Values] | None = None
