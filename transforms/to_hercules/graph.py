"""The function under construction: adds nodes, shares constants, and records which fork over lanes owns a value.

A data node *belongs* to the lane fork that some pinned node below it (ThreadID, Phi, Reduce, Call) was made in; a node
that belongs to none has one value for the whole workgroup. The translation needs no other uniformity analysis: in a sea
of nodes, a node depends on the lane only if one of its inputs does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from ...ir.hercules import nodes as h
from ...ir.hercules import operations
from ...ir.hercules.graph import predecessors
from ...ir.hercules.types import BOOL, is_scalar
from . import types as t

if TYPE_CHECKING:
    from .divergent_exits import Unmet
    from .forks import LaneFork

N = TypeVar("N", bound=h.Node)

_PINNED = (h.Region, h.If, h.Match, h.Fork, h.Join, h.Phi, h.ThreadID, h.Reduce, h.Call)


class Graph:
    """Nodes in order of creation; `lane` is the open lane fork, if any; `unmet` are Phis that still lack inputs.

    `folds`: operations on integers and bools that are constant are computed at once.
    """

    def __init__(self, *, folds: bool = False) -> None:
        self.folds = folds
        self.start = h.Start()
        self.nodes: list[h.Node] = [self.start]
        self.lane: LaneFork | None = None
        self.unmet: list[Unmet] = []
        self._owners: dict[h.Node, LaneFork] = {}
        self._numbers: dict[h.Node, int] = {self.start: 0}
        self._constants: dict[tuple[h.Type, str], h.ConstantNode] = {}
        self._dynamic: dict[h.DynamicConstant, h.DynamicConstantNode] = {}

    def add(self, node: N) -> N:
        """Append a node. It belongs to the open lane fork if it is pinned, else to the fork its inputs belong to."""
        self._append(node)
        owner = self.lane if isinstance(node, _PINNED) else self._owner_of_inputs(node)
        if owner is not None:
            self._owners[node] = owner
        return node

    def add_outside(self, node: N) -> N:
        """Append a node that belongs to no lane fork though its inputs do: a Collect or Reduce seen after the join."""
        self._append(node)
        return node

    def _append(self, node: h.Node) -> None:
        self._numbers[node] = len(self.nodes)
        self.nodes.append(node)

    def number(self, node: h.Node) -> int:
        """The number of nodes that were added before this one."""
        return self._numbers[node]

    def owner(self, node: h.Node) -> LaneFork | None:
        """The lane fork a node belongs to; None when it has one value for the workgroup."""
        return self._owners.get(node)

    def disown(self, node: h.Node) -> None:
        """Record that a Reduce, whose join has been added, now has one value for the whole workgroup."""
        self._owners.pop(node, None)

    def _owner_of_inputs(self, node: h.Node) -> LaneFork | None:
        found: LaneFork | None = None
        for value in predecessors(node):
            owner = self._owners.get(value)
            if owner is not None:
                assert found is None or found is owner, "a value of two lane forks was not carried over"
                found = owner
        return found

    # Shorthands. Equal constants share a node, except zero collections, since each of these is separate storage.

    def constant(self, value: h.Constant) -> h.Node:
        """A constant; equal scalars share a node."""
        if not isinstance(value, (h.BoolConstant, h.IntegerConstant, h.FloatConstant)):
            return self.add(h.ConstantNode(value))
        type = t.BOOL if isinstance(value, h.BoolConstant) else value.type
        key = (type, repr(value.value))
        if key not in self._constants:
            self._constants[key] = self.add(h.ConstantNode(value))
        return self._constants[key]

    def integer(self, type: h.Type, value: int) -> h.Node:
        """An integer constant; the value must be in range of its type."""
        return self.constant(h.IntegerConstant(type, value))

    def u32(self, value: int) -> h.Node:
        """A u32 constant."""
        return self.integer(t.U32, value)

    def u64(self, value: int) -> h.Node:
        """A u64 constant, for positions."""
        return self.integer(t.U64, value)

    def floating(self, type: h.Type, value: float) -> h.Node:
        """A float constant; the value must be representable in its type."""
        return self.constant(h.FloatConstant(type, value))

    def zero(self, type: h.Type) -> h.Node:
        """The zero of a primitive type."""
        match type:
            case h.Bool():
                return self.constant(h.BoolConstant(False))
            case h.Float():
                return self.floating(type, 0.0)
            case _:
                return self.integer(type, 0)

    def zero_collection(self, type: h.Type) -> h.Node:
        """A fresh zero-filled collection."""
        return self.add(h.ConstantNode(h.ZeroConstant(type)))

    def dynamic(self, value: h.DynamicConstant) -> h.Node:
        """A dynamic constant as a u64 value."""
        if value not in self._dynamic:
            self._dynamic[value] = self.add(h.DynamicConstantNode(value))
        return self._dynamic[value]

    def binary(self, op: h.BinaryOp, lhs: h.Node, rhs: h.Node) -> h.Node:
        """A Binary node."""
        return self._add_folded(h.Binary(op, lhs, rhs))

    def unary(self, op: h.UnaryOp, operand: h.Node) -> h.Node:
        """A Unary node."""
        return self._add_folded(h.Unary(op, operand))

    def cast(self, type: h.Type, operand: h.Node) -> h.Node:
        """A Cast node."""
        return self._add_folded(h.Cast(type, operand))

    def bitcast(self, type: h.Type, operand: h.Node) -> h.Node:
        """A Bitcast node."""
        return self._add_folded(h.Bitcast(type, operand))

    def select(self, condition: h.Node, if_true: h.Node, if_false: h.Node) -> h.Node:
        """A Select node, or the value itself if both arms are the same."""
        if self.folds and isinstance(condition, h.ConstantNode) and isinstance(condition.value, h.BoolConstant):
            return if_true if condition.value.value else if_false
        return if_true if if_true is if_false else self.add(h.Select(condition, if_true, if_false))

    def intrinsic(self, function: str, type: h.Type, *arguments: h.Node) -> h.Node:
        """An Intrinsic node."""
        return self._add_folded(h.Intrinsic(function, type, list(arguments)))

    def _add_folded(self, node: h.AnyScalarNode) -> h.Node:
        """Append an operation, or the constant that it is."""
        folded = _folded(node) if self.folds else None
        return self.add(node) if folded is None else self.constant(folded)

    def branch(self, control: h.Node, condition: h.Node) -> tuple[h.Node, h.Node]:
        """An If with its two outputs: (control when true, control when false)."""
        node = self.add(h.If(control, condition))
        if_false = self.add(self._own(h.Read(node, [h.ControlIndex(0)])))
        if_true = self.add(self._own(h.Read(node, [h.ControlIndex(1)])))
        return if_true, if_false

    def _own(self, node: N) -> N:
        if self.lane is not None:
            self._owners[node] = self.lane
        return node


def _folded(node: h.AnyScalarNode) -> h.BoolConstant | h.IntegerConstant | None:
    """The constant that an operation on constants is, of integers and bools only."""
    constants = [it.value for it in predecessors(node) if isinstance(it, h.ConstantNode)]
    known = [it for it in constants if isinstance(it, (h.BoolConstant, h.IntegerConstant))]
    if len(known) < len(predecessors(node)):
        return None
    types = [BOOL if isinstance(it, h.BoolConstant) else it.type for it in known]
    result = operations.result_type(node, dict(zip(predecessors(node), types, strict=True)))
    if not isinstance(result, (h.Bool, h.Integer)):
        return None
    scalars = [it for it in types if is_scalar(it)]
    value = operations.kernel(node, scalars, result)(*(it.value for it in known))
    return h.BoolConstant(bool(value)) if isinstance(result, h.Bool) else h.IntegerConstant(result, int(value))


def is_cheap_to_repeat(node: h.Node) -> bool:
    """Whether computing the node again costs about as much as storing and loading its value."""
    return isinstance(node, h.ScalarNode) and not isinstance(node, h.Intrinsic)
