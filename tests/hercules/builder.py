"""Builds functions of Hercules IR node by node, for tests. The library makes nodes directly.

A `FunctionBuilder` adds nodes to the list of its function and returns them. It checks nothing (the verifier does).
The methods that only construct a node are generated: see `OperationBuilder`.
Scalar constants and dynamic constants are shared within the function; each constant of collection type is a new node,
since each has its own storage.

Loops and forks refer forward, so their nodes are completed afterwards: `region` takes the first predecessor and
`add_predecessor` adds the others, as `add_value` does for `phi`; `open_join` makes the join of a fork before its
body, for the Reduces that the body reads, and `close_join` says where the body ends.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tinct.ir.hercules import dynamic
from tinct.ir.hercules.nodes import (
    Atomic,
    AtomicOp,
    BoolConstant,
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
    Join,
    Match,
    Node,
    NodeT,
    OperationBuilder,
    Parameter,
    Phi,
    PositionIndex,
    Read,
    Reduce,
    Region,
    Start,
    Type,
    VariantIndex,
    ZeroConstant,
)
from tinct.ir.hercules.types import UNIT, constant_type, is_scalar

if TYPE_CHECKING:
    from tinct.ir.source import Span


def field(number: int) -> FieldIndex:
    """Index a product."""
    return FieldIndex(number)


def variant(number: int) -> VariantIndex:
    """Index a sum."""
    return VariantIndex(number)


def position(node: Node) -> PositionIndex:
    """Index an array by a u64."""
    return PositionIndex(node)


class FunctionBuilder(OperationBuilder):
    """Builds one function. `span` is given to each node added without one."""

    def __init__(self, name: str, return_type: Type = UNIT) -> None:
        self.start = Start()
        self.function = Function(name, [], [], [], return_type, [self.start])
        self.span: Span | None = None
        self._constants: dict[Constant, ConstantNode] = {}
        self._dynamic_constants: dict[DynamicConstant, DynamicConstantNode] = {}

    def add(self, node: NodeT, /) -> NodeT:
        """Add any node."""
        if node.span is None:
            node.span = self.span
        self.function.nodes.append(node)
        return node

    # Parameters

    def dynamic_parameter(self, name: str) -> DynamicParameter:
        """A new dynamic-constant parameter."""
        self.function.dynamic_constants.append(name)
        return DynamicParameter(len(self.function.dynamic_constants) - 1)

    def parameter(self, name: str, type: Type) -> Parameter:
        """A new parameter, and its node."""
        self.function.parameter_names.append(name)
        self.function.parameter_types.append(type)
        return self.add(Parameter(len(self.function.parameter_types) - 1, label=name))

    # Constants

    def constant(self, value: Constant, *, label: str = "") -> ConstantNode:
        """Any constant: shared if scalar, else new."""
        if not is_scalar(constant_type(value)):
            return self.add(ConstantNode(value, label=label))
        if value not in self._constants:
            self._constants[value] = self.add(ConstantNode(value))
        return self._constants[value]

    def boolean(self, value: bool) -> ConstantNode:
        """A bool constant."""
        return self.constant(BoolConstant(value))

    def integer(self, type: Type, value: int) -> ConstantNode:
        """An integer constant; the value must be in the type's range."""
        return self.constant(IntegerConstant(type, value))

    def floating(self, type: Type, value: float) -> ConstantNode:
        """A float constant; the value must be exact in the type."""
        return self.constant(FloatConstant(type, value))

    def zero(self, type: Type, *, label: str = "") -> ConstantNode:
        """The zero value of a type: new storage if the type is a collection."""
        return self.constant(ZeroConstant(type), label=label)

    def dynamic(self, value: DynamicConstant | int) -> DynamicConstantNode:
        """A dynamic constant as a u64 value."""
        constant = dynamic.literal(value) if isinstance(value, int) else value
        if constant not in self._dynamic_constants:
            self._dynamic_constants[constant] = self.add(DynamicConstantNode(constant))
        return self._dynamic_constants[constant]

    # Control

    def add_predecessor(self, region: Region, control: Node) -> None:
        """Add a predecessor to a region, such as the back edge of a loop."""
        region.predecessors.append(control)

    def if_(self, control: Node, condition: Node, *, label: str = "") -> tuple[Read, Read]:
        """A branch: the control (when false, when true)."""
        branch = self.add(If(control, condition, label=label))
        return self._projection(branch, 0), self._projection(branch, 1)

    def match(self, control: Node, sum: Node, variants: int, *, label: str = "") -> tuple[Read, ...]:
        """A branch on the variant of a sum: the control of each variant."""
        branch = self.add(Match(control, sum, label=label))
        return tuple(self._projection(branch, number) for number in range(variants))

    def _projection(self, branch: If | Match, output: int) -> Read:
        return self.add(Read(branch, [ControlIndex(output)]))

    def fork(self, control: Node, factor: DynamicConstant | int, *, label: str = "") -> Fork:
        """A fork that starts `factor` threads for each thread that reaches it."""
        constant = dynamic.literal(factor) if isinstance(factor, int) else factor
        return self.add(Fork(control, constant, label=label))

    def open_join(self, fork: Fork, *, label: str = "") -> Join:
        """The join of a fork, made before its body; `close_join` must follow."""
        return Join(fork, label=label, span=self.span)

    def close_join(self, join: Join, control: Node) -> Join:
        """Say where the body of the fork ends; adds the join."""
        join.control = control
        return self.add(join)

    def reduce(self, join: Join, init: Node, update: Node | None = None, *, label: str = "") -> Reduce:
        """A value carried from thread to thread; `update` may be assigned later, until then it is `init`."""
        return self.add(Reduce(join, init, init if update is None else update, label=label))

    def add_value(self, phi: Phi, value: Node) -> None:
        """Add a value to a phi."""
        phi.values.append(value)

    def atomic(
        self,
        op: AtomicOp,
        collection: Node,
        indices: Iterable[Index],
        operands: Iterable[Node] = (),
        *,
        label: str = "",
    ) -> tuple[Read, Read]:
        """An atomic operation: the collection after it, and the old value."""
        both = self.add(Atomic(op, collection, list(indices), list(operands), label=label))
        return self.read(both, [field(0)]), self.read(both, [field(1)])
