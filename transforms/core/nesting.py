"""How deep the statements nest that a function is written as, by Tint's count.

WGSL takes 127 levels of braces ("Limits"). Tint counts the scopes of statements, which are more, and takes 127 of those
(`kMaxStatementDepth` in its `resolver.cc`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...base.records import dataclass
from ...ir.core import nodes
from ...ir.core.structure import entered_blocks

DEEPEST: Final = 120
"""Levels that a pass may nest statements to."""


@dataclass(slots=True)
class Region:
    """A run of statements at one level, and the deepest level in it."""

    level: int
    deepest: int


def regions(function: nodes.Function) -> Mapping[int, Region]:
    """The region that each block belongs to, by the block's identity. The function's body is at level 1.

    Every If counts as two levels. In a chain of `else if` each adds one only, but that is no longer so once statements
    stand before one of them.
    """
    body = Region(1, 1)
    found: dict[int, Region] = {}
    nested: list[tuple[Region, Region]] = []
    pending = [(function.start_target, body)]
    while pending:
        block, region = pending.pop()
        found[id(block)] = region
        target = None if block.branch is None else block.branch.target
        merge = target.merge_target if isinstance(target, (nodes.If, nodes.Loop, nodes.Switch)) else None
        for entered in entered_blocks(block):
            level = region.level + (2 if isinstance(target, nodes.If) else 3)
            inner = region if entered is merge else Region(level, level)
            nested.append((inner, region))
            pending.append((entered, inner))
    for inner, outer in reversed(nested):
        outer.deepest = max(outer.deepest, inner.deepest)
    return found


def height(function: nodes.Function) -> int:
    """The number of levels that a function's statements have."""
    return regions(function)[id(function.start_target)].deepest
