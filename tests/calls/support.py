"""Runs a shader on every device and tier with calls of all functions that can be called, not only of large ones."""

from __future__ import annotations

import pytest

from tinct.ir.core import nodes as c
from tinct.transforms.to_hercules import entry_point
from tinct.transforms.to_hercules.effects import EffectsAnalysis
from tinct.transforms.to_hercules.outline import instructions_of, is_callable


def reached_from(function: c.Function) -> dict[c.Function, None]:
    """The functions that a function calls, directly or indirectly."""
    found: dict[c.Function, None] = {}
    for instruction in instructions_of(function):
        if isinstance(instruction, c.Call) and instruction.callee not in found:
            found |= {instruction.callee: None, **reached_from(instruction.callee)}
    return found


def _all_callable(entry: c.Function, effects: EffectsAnalysis) -> frozenset[c.Function]:
    return frozenset(it for it in reached_from(entry) if is_callable(it, effects))


@pytest.fixture
def nothing_inlined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn off inlining: every function that can be called is called."""
    monkeypatch.setattr(entry_point, "called_functions", _all_callable)
