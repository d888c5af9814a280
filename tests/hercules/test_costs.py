"""What operations cost, for passes that compute in vain."""

from __future__ import annotations

import pytest

from tinct.ir.hercules.costs import DIVISION, operation_cost
from tinct.ir.hercules.nodes import Binary, BinaryOp, ConstantNode, Intrinsic, Node, ZeroConstant
from tinct.ir.hercules.types import F32, U32, array

ONE = ConstantNode(ZeroConstant(F32))


@pytest.mark.parametrize(
    ("node", "cost"),
    [
        (ONE, 0),
        (ConstantNode(ZeroConstant(array(U32, 4))), None),
        (Binary(BinaryOp.ADD, ONE, ONE), 1),
        (Binary(BinaryOp.DIV, ONE, ONE), DIVISION),
        (Intrinsic("floor", F32, [ONE]), 1),
        (Intrinsic("exp", F32, [ONE]), None),
    ],
)
def test_costs(node: Node, cost: int | None) -> None:
    assert operation_cost(node) == cost
