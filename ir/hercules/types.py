"""Types of Hercules IR: their usual names, the types inside them, and the type of each node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final, TypeGuard

from . import dynamic
from .nodes import (
    Array,
    ArrayConstant,
    Atomic,
    Binary,
    BinaryOp,
    Bitcast,
    Bool,
    BoolConstant,
    Call,
    Cast,
    Collect,
    Constant,
    ConstantNode,
    Control,
    ControlIndex,
    DynamicConstant,
    DynamicConstantNode,
    FieldIndex,
    Float,
    FloatConstant,
    Fork,
    Function,
    If,
    Index,
    Integer,
    IntegerConstant,
    Intrinsic,
    Join,
    Match,
    Node,
    Parameter,
    Phi,
    PositionIndex,
    Product,
    ProductConstant,
    ProductNode,
    Read,
    Reduce,
    Region,
    Return,
    Select,
    Start,
    Summation,
    SummationConstant,
    ThreadID,
    Type,
    Unary,
    VariantIndex,
    Write,
    ZeroConstant,
)

BOOL: Final = Bool()
I8, I16, I32, I64 = (Integer(bits, signed=True) for bits in (8, 16, 32, 64))
U8, U16, U32, U64 = (Integer(bits, signed=False) for bits in (8, 16, 32, 64))
F16, F32, F64 = (Float(bits) for bits in (16, 32, 64))
UNIT: Final = Product(())

COMPARISONS: Final = frozenset(
    {
        BinaryOp.LESS,
        BinaryOp.LESS_EQUAL,
        BinaryOp.GREATER,
        BinaryOp.GREATER_EQUAL,
        BinaryOp.EQUAL,
        BinaryOp.NOT_EQUAL,
    }
)

Scalar = Bool | Integer | Float


@cache
def array(element: Type, extent: int | DynamicConstant) -> Array:
    """An array; an `int` stands for a literal extent."""
    return Array(element, dynamic.literal(extent) if isinstance(extent, int) else extent)


def product(*fields: Type) -> Product:
    """A product."""
    return Product(fields)


def is_scalar(type: Type | None) -> TypeGuard[Scalar]:
    """Whether it is a bool, an integer or a float."""
    return isinstance(type, (Bool, Integer, Float))


def is_data(type: Type | None) -> bool:
    """Whether values of the type may be computed with: no control is in it."""
    match type:
        case None | Control():
            return False
        case Product(parts) | Summation(parts):
            return all(map(is_data, parts))
        case Array(element=element):
            return is_data(element)
        case Bool() | Integer() | Float():
            return True


def is_collection(type: Type | None) -> bool:
    """Whether it is a product, a sum or an array of data: what Read and Write take apart."""
    return isinstance(type, (Product, Summation, Array)) and is_data(type)


def substitute(type: Type, arguments: Sequence[DynamicConstant]) -> Type:
    """The type with its dynamic-constant parameters replaced, as a call's result has it."""
    match type:
        case Array(element, extent):
            return Array(substitute(element, arguments), dynamic.substitute(extent, arguments))
        case Product(fields):
            return Product(tuple(substitute(it, arguments) for it in fields))
        case Summation(variants):
            return Summation(tuple(substitute(it, arguments) for it in variants))
        case Control(factors):
            return Control(tuple(dynamic.substitute(it, arguments) for it in factors))
        case Bool() | Integer() | Float():
            return type


def element_type(type: Type, index: Index) -> Type | None:
    """The type one level down, or None if the index does not fit."""
    match type, index:
        case Product(fields), FieldIndex(number):
            found = fields[number] if 0 <= number < len(fields) else None
            return None if isinstance(found, Control) else found
        case Summation(variants), VariantIndex(number):
            return variants[number] if 0 <= number < len(variants) else None
        case Array(element=element), PositionIndex():
            return element
        case Product(fields), ControlIndex(number):
            found = fields[number] if 0 <= number < len(fields) else None
            return found if isinstance(found, Control) else None
        case _:
            return None


def indexed_type(type: Type, indices: Iterable[Index]) -> Type | None:
    """The type that the indices lead to, or None if one of them does not fit its level."""
    current: Type | None = type
    for index in indices:
        if current is None:
            return None
        current = element_type(current, index)
    return current


def constant_type(constant: Constant) -> Type:
    """The type of a constant."""
    match constant:
        case BoolConstant():
            return BOOL
        case (
            IntegerConstant(type=type)
            | FloatConstant(type=type)
            | ProductConstant(type=type)
            | SummationConstant(type=type)
            | ArrayConstant(type=type)
            | ZeroConstant(type=type)
        ):
            return type


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
        case Binary(op, lhs):
            return BOOL if op in COMPARISONS else types.get(lhs)
        case Read(collection, indices):
            above = types.get(collection)
            return None if above is None else indexed_type(above, indices)
        case Write(collection) | Reduce(init=collection) | Unary(operand=collection) | Select(if_true=collection):
            return types.get(collection)
        case ConstantNode(value):
            return constant_type(value)
        case DynamicConstantNode() | ThreadID():
            return U64
        case Cast(type) | Bitcast(type) | Intrinsic(type=type):
            return type
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


def _branch_type(control: Type | None, outputs: int) -> Type | None:
    return Product((control,) * outputs) if isinstance(control, Control) else None


def _collect_type(join: Node, element: Type | None, types: dict[Node, Type]) -> Type | None:
    inside = types.get(join.control) if isinstance(join, Join) else None
    if element is None or not isinstance(inside, Control) or not inside.factors:
        return None
    return Array(element, inside.factors[-1])
