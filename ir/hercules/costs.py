"""Costs of operations, in additions, for passes that weigh speculative computation against a branch.

The unit is an f32 addition on a vector of 16 lanes. An f32 division takes 4 to 8 times as long (measured on an AMD
EPYC, Zen 4). Machine code for gangs weighs whole blocks (`backend/cpu/gangs/analysis/costs`), reads included, with the
same cost of a division.
"""

from __future__ import annotations

from typing import Final

from .nodes import Binary, BinaryOp, ConstantNode, Intrinsic, Node, ScalarNode
from .types import constant_type, is_scalar

DIVISION: Final = 8
"""The cost of a division or remainder."""
_SHORT = "abs sign min max clamp saturate floor ceil round trunc fract step countOneBits reverseBits fma"
_SHORT_FUNCTIONS: Final = frozenset(_SHORT.split())
"""Builtin functions that compile to a few instructions."""


def operation_cost(node: Node) -> int | None:
    """The cost of a pure operation on scalars; None if the operation should not be speculated."""
    if isinstance(node, ConstantNode):
        return 0 if is_scalar(constant_type(node.value)) else None
    if isinstance(node, Intrinsic):
        return 1 if node.function in _SHORT_FUNCTIONS else None
    if isinstance(node, Binary) and node.op in (BinaryOp.DIV, BinaryOp.REM):
        return DIVISION
    return 1 if isinstance(node, ScalarNode) else None
