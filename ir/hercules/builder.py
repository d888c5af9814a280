"""Builds functions node by node.

A `FunctionBuilder` adds nodes to the list of its function and hands them back; it checks nothing (the verifier does).
Scalar constants and dynamic constants are shared within the function; a constant of collection type is new each time,
since each is storage of its own.

Loops and forks refer forward, so their nodes are completed afterwards: `region` takes the first predecessor and gets
the others by `add_predecessor`; `phi` likewise with `add_value`; `open_join` makes the join of a fork before its
body, for the Reduces that the body reads, and `close_join` says where the body ends.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from . import dynamic
from .nodes import (
    Atomic,
    AtomicOp,
    Binary,
    BinaryOp,
    Bitcast,
    BoolConstant,
    Call,
    Cast,
    Collect,
    Constant,
    ConstantNode,
    ControlIndex,
    DynamicConstant,
    DynamicConstantNode,
    DynamicParameter,
    FieldIndex,
    FloatConstant,
    Fork,
    Function,
    If,
    Index,
    IntegerConstant,
    Intrinsic,
    Join,
    Match,
    Node,
    Parameter,
    Phi,
    PositionIndex,
    ProductNode,
    Read,
    Reduce,
    Region,
    Return,
    Select,
    Start,
    ThreadID,
    Type,
    Unary,
    UnaryOp,
    VariantIndex,
    Write,
    ZeroConstant,
)
from .types import UNIT, constant_type, is_scalar

if TYPE_CHECKING:
    from ..source import Span

AnyNode = TypeVar("AnyNode", bound=Node)


def field(number: int) -> FieldIndex:
    """Index a product."""
    return FieldIndex(number)


def variant(number: int) -> VariantIndex:
    """Index a sum."""
    return VariantIndex(number)


def position(node: Node) -> PositionIndex:
    """Index an array by a u64."""
    return PositionIndex(node)


def constant_key(constant: Constant) -> object:
    """A hashable that is equal for constants of one type and the same bits; all NaNs are one, 0.0 is not -0.0."""
    if isinstance(constant, FloatConstant):
        value = constant.value
        return FloatConstant, constant.type, "nan" if value != value else struct.pack("<d", value)
    return constant


class FunctionBuilder:
    """Builds one function. `span` is given to each node added without one."""

    def __init__(self, name: str, return_type: Type = UNIT) -> None:
        self.start = Start()
        self.function = Function(name, [], [], [], return_type, [self.start])
        self.span: Span | None = None
        self._constants: dict[object, ConstantNode] = {}
        self._dynamic_constants: dict[DynamicConstant, DynamicConstantNode] = {}

    def add(self, node: AnyNode, label: str = "") -> AnyNode:
        """Add any node."""
        if label:
            node.label = label
        if node.span is None:
            node.span = self.span
        self.function.nodes.append(node)
        return node

    # What the function takes

    def dynamic_parameter(self, name: str) -> DynamicParameter:
        """A new dynamic-constant parameter."""
        self.function.dynamic_constants.append(name)
        return DynamicParameter(len(self.function.dynamic_constants) - 1)

    def parameter(self, name: str, type: Type) -> Parameter:
        """A new parameter, and its node."""
        self.function.parameter_names.append(name)
        self.function.parameter_types.append(type)
        return self.add(Parameter(len(self.function.parameter_types) - 1), name)

    # Constants

    def constant(self, value: Constant, label: str = "") -> ConstantNode:
        """Any constant: shared if scalar, else new."""
        if not is_scalar(constant_type(value)):
            return self.add(ConstantNode(value), label)
        key = constant_key(value)
        if key not in self._constants:
            self._constants[key] = self.add(ConstantNode(value))
        return self._constants[key]

    def boolean(self, value: bool) -> ConstantNode:
        """A bool constant."""
        return self.constant(BoolConstant(value))

    def integer(self, type: Type, value: int) -> ConstantNode:
        """An integer constant; the value must be in the type's range."""
        return self.constant(IntegerConstant(type, value))

    def floating(self, type: Type, value: float) -> ConstantNode:
        """A float constant; the value must be exact in the type."""
        return self.constant(FloatConstant(type, value))

    def zero(self, type: Type, label: str = "") -> ConstantNode:
        """The zero value of a type: new storage if the type is a collection."""
        return self.constant(ZeroConstant(type), label)

    def dynamic(self, value: DynamicConstant | int) -> DynamicConstantNode:
        """A dynamic constant as a u64 value."""
        constant = dynamic.literal(value) if isinstance(value, int) else value
        if constant not in self._dynamic_constants:
            self._dynamic_constants[constant] = self.add(DynamicConstantNode(constant))
        return self._dynamic_constants[constant]

    # Control

    def region(self, *predecessors: Node, label: str = "") -> Region:
        """Where control merges."""
        return self.add(Region(list(predecessors)), label)

    def add_predecessor(self, region: Region, control: Node) -> None:
        """One more way into a region: the back edge of a loop."""
        region.predecessors.append(control)

    def if_(self, control: Node, condition: Node, label: str = "") -> tuple[Read, Read]:
        """A branch: the control (when false, when true)."""
        branch = self.add(If(control, condition), label)
        return self._projection(branch, 0), self._projection(branch, 1)

    def match(self, control: Node, sum: Node, variants: int, label: str = "") -> tuple[Read, ...]:
        """A branch on the variant of a sum: the control for each."""
        branch = self.add(Match(control, sum), label)
        return tuple(self._projection(branch, number) for number in range(variants))

    def _projection(self, branch: If | Match, output: int) -> Read:
        return self.add(Read(branch, [ControlIndex(output)]))

    def fork(self, control: Node, factor: DynamicConstant | int, label: str = "") -> Fork:
        """`factor` threads for each one that comes."""
        return self.add(Fork(control, dynamic.literal(factor) if isinstance(factor, int) else factor), label)

    def join(self, control: Node, label: str = "") -> Join:
        """The end of the innermost fork around `control`."""
        return self.add(Join(control), label)

    def open_join(self, fork: Fork, label: str = "") -> Join:
        """The join of a fork, made before its body; `close_join` must follow."""
        return Join(fork, label=label, span=self.span)

    def close_join(self, join: Join, control: Node) -> Join:
        """Say where the body of the fork ends; adds the join."""
        join.control = control
        return self.add(join)

    def thread_id(self, fork: Fork, label: str = "") -> ThreadID:
        """The index of the thread in its fork."""
        return self.add(ThreadID(fork), label)

    def reduce(self, join: Join, init: Node, update: Node | None = None, label: str = "") -> Reduce:
        """A value carried from thread to thread; `update` may be assigned later, until then it is `init`."""
        return self.add(Reduce(join, init, init if update is None else update), label)

    def collect(self, join: Join, value: Node, label: str = "") -> Collect:
        """One value a thread, as an array."""
        return self.add(Collect(join, value), label)

    def phi(self, region: Region, values: Iterable[Node], label: str = "") -> Phi:
        """The value that belongs to the way control came into the region."""
        return self.add(Phi(region, list(values)), label)

    def add_value(self, phi: Phi, value: Node) -> None:
        """One more value of a phi."""
        phi.values.append(value)

    def return_(self, control: Node, value: Node) -> Return:
        """The end. The function's return type is not set by this."""
        return self.add(Return(control, value))

    # Data

    def unary(self, op: UnaryOp, operand: Node, label: str = "") -> Unary:
        """`op operand`."""
        return self.add(Unary(op, operand), label)

    def binary(self, op: BinaryOp, lhs: Node, rhs: Node, label: str = "") -> Binary:
        """`lhs op rhs`."""
        return self.add(Binary(op, lhs, rhs), label)

    def select(self, condition: Node, if_true: Node, if_false: Node, label: str = "") -> Select:
        """`condition ? if_true : if_false`, of scalars."""
        return self.add(Select(condition, if_true, if_false), label)

    def cast(self, type: Type, operand: Node, label: str = "") -> Cast:
        """A numeric conversion."""
        return self.add(Cast(type, operand), label)

    def bitcast(self, type: Type, operand: Node, label: str = "") -> Bitcast:
        """The same bits as another type."""
        return self.add(Bitcast(type, operand), label)

    def intrinsic(self, function: str, type: Type, arguments: Sequence[Node], label: str = "") -> Intrinsic:
        """A WGSL builtin function of scalars."""
        return self.add(Intrinsic(function, type, list(arguments)), label)

    def call(
        self, callee: Function, dynamic_constants: Sequence[DynamicConstant], arguments: Sequence[Node], label: str = ""
    ) -> Call:
        """A call of a function of the module."""
        return self.add(Call(callee, list(dynamic_constants), list(arguments)), label)

    def read(self, collection: Node, *indices: Index, label: str = "") -> Read:
        """The element that the indices lead to."""
        return self.add(Read(collection, list(indices)), label)

    def write(self, collection: Node, value: Node, *indices: Index, label: str = "") -> Write:
        """The collection with one element replaced."""
        return self.add(Write(collection, value, list(indices)), label)

    def atomic(
        self, op: AtomicOp, collection: Node, indices: Sequence[Index], operands: Sequence[Node] = (), label: str = ""
    ) -> tuple[Read, Read]:
        """An atomic operation: the collection after it, and the old value."""
        both = self.add(Atomic(op, collection, list(indices), list(operands)), label)
        return self.read(both, field(0)), self.read(both, field(1))

    def product(self, *fields: Node, label: str = "") -> ProductNode:
        """A product of values."""
        return self.add(ProductNode(list(fields)), label)
