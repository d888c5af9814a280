"""Names of WGSL from labels of Hercules IR, which may be any words."""

from __future__ import annotations

import re

from ...ir.core.names import NameScope
from ...ir.identifiers import is_identifier


class Names:
    """The names of a module; there is one scope, so that no name hides another."""

    def __init__(self) -> None:
        self._scope = NameScope()

    def unique(self, label: str, otherwise: str = "value") -> str:
        """A new name like the label, or like `otherwise` for an empty label."""
        word = re.sub(r"\W+|__+", "_", label).strip("_") or otherwise
        return self._scope.unique(word if is_identifier(word) else f"{otherwise}_{word}")
