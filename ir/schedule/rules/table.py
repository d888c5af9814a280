"""The definition of a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ..nodes import Array, Combine, Dimension, Nest, Statement
from ..scope import Scope

Part: TypeAlias = Nest | Dimension | Array | Statement | Combine
"""What a mistake is about; the line that it is shown under."""
Found: TypeAlias = Iterator[tuple[Part, str]]
"""Parts of a nest that break a rule, each with a sentence."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A broken rule."""

    rule: str
    part: Part
    message: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule for nests. `sentence` is what it demands."""

    name: str
    sentence: str
    check: Callable[[Scope], Found]
