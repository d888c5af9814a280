"""Every operation of the two IRs: what is generated for it agrees with its fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import get_args

import pytest

from tinct.ir import types as wgsl
from tinct.ir.constants import ConstantValue
from tinct.ir.core import nodes as c
from tinct.ir.core.builder import empty_block, u32
from tinct.ir.core.values import Value
from tinct.ir.hercules import nodes as h
from tinct.ir.hercules.types import F32, I32
from tinct.ir.ops import BinaryOp, UnaryOp
from tinct.ir.schema.runtime import Count, FieldInfo, Operation, SchemaNode, value_key, values_of

HERCULES_KINDS = get_args(h.Node)
CORE_KINDS = get_args(c.Instruction)
FIRST, SECOND = h.Parameter(0), h.Parameter(1)
CALLEES = [h.Function(name, [], [], [], I32, []) for name in "fg"]
NAN = float("nan")

HERCULES_VALUES: Mapping[str, tuple[object, object]] = {
    "node": (FIRST, SECOND),
    "index": (h.PositionIndex(FIRST), h.FieldIndex(1)),
    "type": (I32, F32),
    "dynamic_constant": (h.DynamicLiteral(1), h.DynamicLiteral(2)),
    "constant": (h.FloatConstant(F32, 0.0), h.FloatConstant(F32, -0.0)),
    "unary_op": tuple(h.UnaryOp)[:2],
    "binary_op": tuple(h.BinaryOp)[:2],
    "atomic_op": tuple(h.AtomicOp)[:2],
    "function": (CALLEES[0], CALLEES[1]),
    "int": (0, 1),
    "str": ("a", "b"),
    "span": (None, None),
}


def core_callee(name: str) -> c.Function:
    return c.Function(name, None, (), (), wgsl.VOID, wgsl.IoAttributes(), empty_block(), c.Terminator())


CORE_VALUES: Mapping[str, tuple[object, object]] = {
    "value": (u32(1), u32(2)),
    "unary_op": tuple(UnaryOp)[:2],
    "binary_op": tuple(BinaryOp)[:2],
    "binding_point": (None, wgsl.BindingPoint(0, 1)),
    "function": (core_callee("f"), core_callee("g")),
    "type": (wgsl.I32, wgsl.F32),
    "int": (0, 1),
    "str": ("a", "b"),
    "span": (None, None),
}


def sample(kind: type[Operation], values: Mapping[str, tuple[object, object]], other: str = "") -> Operation:
    """An operation with the first value in each field, but the second in the one named `other`."""

    def given(info: FieldInfo) -> object:
        value = values[info.type][info.name == other]
        return [value, value] if info.count is Count.MANY else value

    return kind.of({info.name: given(info) for info in kind.FIELDS})


def used(node: SchemaNode) -> Iterator[SchemaNode]:
    """The operations in the fields of a node, also in their parts."""
    for info in (it for it in node.FIELDS if not it.hidden):
        for value in values_of(node, info):
            if isinstance(value, Operation):
                yield value
            elif isinstance(value, SchemaNode):
                yield from used(value)


def key(operation: Operation) -> object:
    return value_key(operation, operation.inputs() if isinstance(operation, h.Node) else operation.operands)  # type: ignore[attr-defined]


def attribute_names(kind: type[Operation]) -> Iterator[str]:
    """The fields that say what is computed, operands included."""
    yield from (info.name for info in kind.FIELDS if not info.note)


@pytest.mark.parametrize("kind", HERCULES_KINDS)
def test_inputs_are_all_nodes_in_the_fields(kind: type[h.Node]) -> None:
    node = sample(kind, HERCULES_VALUES)
    assert isinstance(node, h.Node)
    assert node.inputs() == tuple(used(node))
    node.map_inputs(lambda it: SECOND if it is FIRST else it)
    assert node.inputs() == tuple(used(node)) == (SECOND,) * len(node.inputs())


@pytest.mark.parametrize("kind", [*HERCULES_KINDS, *CORE_KINDS])
def test_copies_are_equal_and_share_no_list(kind: type[h.Node | c.Instruction]) -> None:
    original = sample(kind, HERCULES_VALUES if kind in HERCULES_KINDS else CORE_VALUES)
    assert isinstance(original, (*HERCULES_KINDS, *CORE_KINDS))
    copy = original.copy()
    assert type(copy) is kind
    for info in kind.FIELDS:
        value = getattr(original, info.name)
        assert getattr(copy, info.name) == value
        assert not isinstance(value, list) or getattr(copy, info.name) is not value
    if isinstance(copy, Value):
        assert all((copy, place) in [(it.user, it.index) for it in use.uses] for place, use in enumerate(copy.operands))


@pytest.mark.parametrize(
    ("kind", "field"), [(kind, name) for kind in (*HERCULES_KINDS, *CORE_KINDS) for name in attribute_names(kind)]
)
def test_operations_that_differ_in_a_field_have_different_keys(kind: type[Operation], field: str) -> None:
    values = HERCULES_VALUES if kind in HERCULES_KINDS else CORE_VALUES
    assert key(sample(kind, values)) == key(sample(kind, values))
    assert key(sample(kind, values)) != key(sample(kind, values, other=field))


@pytest.mark.parametrize("kind", [*HERCULES_KINDS, *CORE_KINDS])
def test_notes_are_no_part_of_a_key(kind: type[Operation]) -> None:
    values = HERCULES_VALUES if kind in HERCULES_KINDS else CORE_VALUES
    notes = [info.name for info in kind.FIELDS if info.note]
    assert {"span"} < set(notes)
    assert all(key(sample(kind, values)) == key(sample(kind, values, other=note)) for note in notes)


def test_keys_of_constants_tell_bits_apart_but_not_payloads() -> None:
    def constant(value: float) -> object:
        return key(h.ConstantNode(h.FloatConstant(F32, value)))

    assert constant(NAN) == constant(-NAN)
    assert constant(0.0) != constant(-0.0)
    assert key(h.ConstantNode(h.IntegerConstant(I32, 1))) != key(h.ConstantNode(h.BoolConstant(True)))
    operation = c.Unary(UnaryOp.NEGATE, c.Constant(ConstantValue(wgsl.F32, 0.0), wgsl.F32, None), wgsl.F32, None)
    assert operation.attributes() == (UnaryOp.NEGATE, wgsl.F32)
