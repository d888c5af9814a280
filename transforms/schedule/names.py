"""The names of a nest, and new ones."""

from __future__ import annotations

from dataclasses import dataclass

from ...base.names import fresh_name
from ...ir.schedule.nodes import Nest, Scatter, Store


def names_of(nest: Nest) -> set[str]:
    """The names of sizes, dimensions, arrays and values."""
    values = (it.name for it in nest.body if not isinstance(it, (Store, Scatter)))
    return {*nest.sizes, *(it.name for it in nest.dimensions), *(it.name for it in nest.arrays), *values}


@dataclass(slots=True)
class Names:
    """Names that are taken."""

    taken: set[str]

    def fresh(self, stem: str) -> str:
        """A name like `stem` that is not taken, and is from now on."""
        chosen = fresh_name(stem, self.taken)
        self.taken.add(chosen)
        return chosen
