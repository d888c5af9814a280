"""The levels of vectors whose code can run here."""

from __future__ import annotations

import pytest

from tinct.backend.cpu.target import LEVELS, current_target
from tinct.base.errors import InputError


def available() -> list[str]:
    """The levels that this machine has."""
    found = list[str]()
    with pytest.MonkeyPatch.context() as patch:
        for level in LEVELS:
            patch.setenv("TINCT_CPU_TARGET", level)
            try:
                current_target()
            except InputError:
                continue
            found.append(level)
    return found
