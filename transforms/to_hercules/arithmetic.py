"""Operators and conversions on trees: vectors and matrices become operations on their scalars.

A sum of products is added from left to right, each product rounded: WGSL allows it ("Floating Point Accuracy",
inherited from the expression), and it is what the reference interpreter computes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from ...ir import types as wgsl
from ...ir.hercules import nodes as h
from ...ir.ops import BinaryOp, UnaryOp
from . import types as t
from .graph import Graph
from .values import Tree, node_of, parts_of

_BINARY: dict[BinaryOp, h.BinaryOp] = {
    BinaryOp.ADD: h.BinaryOp.ADD,
    BinaryOp.SUBTRACT: h.BinaryOp.SUB,
    BinaryOp.MULTIPLY: h.BinaryOp.MUL,
    BinaryOp.DIVIDE: h.BinaryOp.DIV,
    BinaryOp.REMAINDER: h.BinaryOp.REM,
    BinaryOp.AND: h.BinaryOp.AND,
    BinaryOp.OR: h.BinaryOp.OR,
    BinaryOp.XOR: h.BinaryOp.XOR,
    BinaryOp.SHIFT_LEFT: h.BinaryOp.SHIFT_LEFT,
    BinaryOp.SHIFT_RIGHT: h.BinaryOp.SHIFT_RIGHT,
    BinaryOp.EQUAL: h.BinaryOp.EQUAL,
    BinaryOp.NOT_EQUAL: h.BinaryOp.NOT_EQUAL,
    BinaryOp.LESS: h.BinaryOp.LESS,
    BinaryOp.LESS_EQUAL: h.BinaryOp.LESS_EQUAL,
    BinaryOp.GREATER: h.BinaryOp.GREATER,
    BinaryOp.GREATER_EQUAL: h.BinaryOp.GREATER_EQUAL,
}


def unary(graph: Graph, op: UnaryOp, operand: Tree) -> Tree:
    """Negation and complements, component by component."""
    hercules_op = h.UnaryOp.NEGATE if op is UnaryOp.NEGATE else h.UnaryOp.NOT
    if isinstance(operand, tuple):
        return tuple(unary(graph, op, part) for part in operand)
    return graph.unary(hercules_op, node_of(operand))


def binary(graph: Graph, op: BinaryOp, left: Tree, right: Tree, left_type: wgsl.Type, right_type: wgsl.Type) -> Tree:
    """Any operator of core IR; the matrix products are those of linear algebra."""
    if op is BinaryOp.MULTIPLY:
        match left_type, right_type:
            case wgsl.Matrix(), wgsl.Matrix():
                return tuple(matrix_times_vector(graph, left, column) for column in parts_of(right))
            case wgsl.Matrix(), wgsl.Vector():
                return matrix_times_vector(graph, left, right)
            case wgsl.Vector(), wgsl.Matrix():
                return tuple(dot(graph, left, column) for column in parts_of(right))
            case _:
                pass
    if op in (BinaryOp.SHIFT_LEFT, BinaryOp.SHIFT_RIGHT):
        signed = wgsl.scalar_of(left_type) is wgsl.I32
        right = map_scalars(lambda count: graph.bitcast(t.I32, count), right) if signed else right
    return componentwise(graph, _BINARY[op], left, right)


def componentwise(graph: Graph, op: h.BinaryOp, left: Tree, right: Tree) -> Tree:
    """An operation on each pair of scalars; a scalar goes with every component of the other side."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return tuple(componentwise(graph, op, a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, tuple):
        return tuple(componentwise(graph, op, part, right) for part in left)
    if isinstance(right, tuple):
        return tuple(componentwise(graph, op, left, part) for part in right)
    return graph.binary(op, node_of(left), node_of(right))


def dot(graph: Graph, left: Tree, right: Tree) -> h.Node:
    """The sum of the products of the components."""
    products = [
        graph.binary(h.BinaryOp.MUL, node_of(a), node_of(b))
        for a, b in zip(parts_of(left), parts_of(right), strict=True)
    ]
    return total(graph, products)


def total(graph: Graph, terms: Sequence[h.Node]) -> h.Node:
    """The sum from left to right."""
    return reduce(lambda left, right: graph.binary(h.BinaryOp.ADD, left, right), terms)


def matrix_times_vector(graph: Graph, matrix: Tree, vector: Tree) -> Tree:
    """The columns weighted by the components."""
    columns = parts_of(matrix)
    rows = len(parts_of(columns[0]))
    return tuple(dot(graph, tuple(parts_of(column)[row] for column in columns), vector) for row in range(rows))


def transpose(matrix: Tree) -> Tree:
    """Rows become columns."""
    return tuple(zip(*(parts_of(column) for column in parts_of(matrix)), strict=True))


def convert(graph: Graph, value: Tree, source: wgsl.Type, target: wgsl.Type) -> Tree:
    """A value conversion, component by component (WGSL, "Value Constructor Built-in Functions")."""
    if isinstance(value, tuple):
        inner_source, inner_target = wgsl.element_type(source), wgsl.element_type(target)
        assert inner_source is not None
        assert inner_target is not None
        return tuple(convert(graph, part, inner_source, inner_target) for part in value)
    assert isinstance(source, wgsl.Scalar)
    assert isinstance(target, wgsl.Scalar)
    return convert_scalar(graph, node_of(value), source, target)


def convert_scalar(graph: Graph, value: h.Node, source: wgsl.Scalar, target: wgsl.Scalar) -> h.Node:
    """A scalar conversion: the integers share their bits, a bool is whether a number is not zero."""
    if source is target:
        return value
    if source.is_integer and target.is_integer:
        return graph.bitcast(t.scalar_type(target), value)
    if target is wgsl.BOOL:
        return graph.binary(h.BinaryOp.NOT_EQUAL, value, scalar_literal(graph, source, 0))
    return graph.cast(t.scalar_type(target), value)


def scalar_literal(graph: Graph, scalar: wgsl.Scalar, value: float) -> h.Node:
    """A number as a constant of a scalar type; for floats the value must be representable."""
    return graph.constant(t.scalar_constant(scalar, value if scalar.is_float else int(value)))


def map_scalars(function: Callable[[h.Node], h.Node], tree: Tree) -> Tree:
    """The function on each scalar of a scalar, vector or matrix."""
    if isinstance(tree, tuple):
        return tuple(map_scalars(function, part) for part in tree)
    return function(node_of(tree))
