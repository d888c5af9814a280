"""Linear forms of integers: what they hold, and that long and repeated operands cost little."""

from tinct.ir.hercules.nodes import (
    Binary,
    BinaryOp,
    Bitcast,
    Cast,
    ConstantNode,
    IntegerConstant,
    Node,
    Parameter,
    Type,
)
from tinct.ir.hercules.types import I32, U32, U64
from tinct.transforms.hercules.linear_forms import LinearForms

DEPTH = 2_000


def test_sum_of_multiples() -> None:
    x = Parameter(0)
    three = ConstantNode(IntegerConstant(U64, 3))
    product = Binary(BinaryOp.MUL, x, three)
    total = Binary(BinaryOp.SUB, Binary(BinaryOp.ADD, product, three), x)
    form = LinearForms(_typed(total, U64)).of(total)
    assert (form.terms, form.constant, form.bits) == ({x: 2}, 3, 64)


def test_conversions_keep_the_narrowest_width() -> None:
    x = Parameter(0)
    signed = Bitcast(I32, x)
    wide = Cast(U64, signed)
    form = LinearForms({x: U32, signed: I32, wide: U64}).of(wide)
    assert (form.terms, form.bits) == ({x: 1}, 32)


def test_repeated_operand_is_taken_apart_once() -> None:
    x = Parameter(0)
    total: Node = x
    for _ in range(60):
        total = Binary(BinaryOp.ADD, total, total)
    assert LinearForms(_typed(total, U64)).of(total).terms == {x: 1 << 60}


def test_deep_sum_is_cut() -> None:
    x = Parameter(0)
    total: Node = x
    for _ in range(DEPTH):
        total = Binary(BinaryOp.ADD, total, x)
    (inner, one), (_, count) = sorted(LinearForms(_typed(total, U64)).of(total).terms.items(), key=lambda it: it[1])
    assert isinstance(inner, Binary)
    assert one == 1
    assert 1 < count < DEPTH


def _typed(node: Node, type: Type) -> dict[Node, Type]:
    """All nodes below one, with the same type."""
    found: dict[Node, Type] = {}
    pending = [node]
    while pending:
        node = pending.pop()
        if node not in found:
            found[node] = type
            pending += node.inputs()
    return found
