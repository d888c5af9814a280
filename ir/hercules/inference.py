"""The type of each node, from the types of its predecessors."""

from __future__ import annotations

from typing import assert_never

from . import operations
from .nodes import (
    Array,
    Atomic,
    Call,
    Collect,
    ConstantNode,
    Control,
    DynamicConstantNode,
    Fork,
    Function,
    If,
    Join,
    Match,
    Node,
    Parameter,
    Phi,
    Product,
    ProductNode,
    Read,
    Reduce,
    Region,
    Return,
    ScalarNode,
    Start,
    Summation,
    ThreadID,
    Type,
    Write,
)
from .types import U64, UNIT, constant_type, indexed_type, substitute


def infer_types(function: Function) -> dict[Node, Type]:
    """The type of every node that has one: nodes too ill-formed for a type are missing."""
    types: dict[Node, Type] = {}
    pending = list(function.nodes)
    while pending:
        remaining = [node for node in pending if not _type(node, function, types)]
        if len(remaining) == len(pending):
            break
        pending = remaining[::-1]
    return types


def _type(node: Node, function: Function, types: dict[Node, Type]) -> bool:
    found = node_type(node, function, types)
    if found is None:
        return False
    types[node] = found
    return True


def node_type(node: Node, function: Function, types: dict[Node, Type]) -> Type | None:
    """The type of a node by its rule, from the types of its predecessors; None while those do not suffice."""
    match node:
        case ScalarNode():
            return operations.result_type(node, types)
        case Read(collection, indices):
            above = types.get(collection)
            return None if above is None else indexed_type(above, indices)
        case Write(collection) | Reduce(init=collection):
            return types.get(collection)
        case ConstantNode(value):
            return constant_type(value)
        case DynamicConstantNode() | ThreadID():
            return U64
        case Parameter(index):
            return function.parameter_types[index] if 0 <= index < len(function.parameter_types) else None
        case Phi(values=inputs) | Region(predecessors=inputs):
            return next((types[it] for it in inputs if it in types), None)
        case Start():
            return Control(())
        case Return():
            return UNIT
        case If(control):
            return _branch_type(types.get(control), 2)
        case Match(control, sum):
            above = types.get(sum)
            return _branch_type(types.get(control), len(above.variants)) if isinstance(above, Summation) else None
        case Fork(control, factor):
            above = types.get(control)
            return Control((*above.factors, factor)) if isinstance(above, Control) else None
        case Join(control):
            above = types.get(control)
            return Control(above.factors[:-1]) if isinstance(above, Control) and above.factors else None
        case Collect(join, value):
            return _collect_type(join, types.get(value), types)
        case Call(callee, dynamic_constants):
            return substitute(callee.return_type, dynamic_constants)
        case Atomic(_, collection, indices):
            above = types.get(collection)
            element = None if above is None else indexed_type(above, indices)
            return None if above is None or element is None else Product((above, element))
        case ProductNode(fields):
            known = [types[it] for it in fields if it in types]
            return Product(tuple(known)) if len(known) == len(fields) else None
        case _:
            assert_never(node)


def _branch_type(control: Type | None, outputs: int) -> Type | None:
    return Product((control,) * outputs) if isinstance(control, Control) else None


def _collect_type(join: Node, element: Type | None, types: dict[Node, Type]) -> Type | None:
    inside = types.get(join.control) if isinstance(join, Join) else None
    if element is None or not isinstance(inside, Control) or not inside.factors:
        return None
    return Array(element, inside.factors[-1])
