"""The values of scalar nodes in the code that is written: operations, and variables of those that merge.

Phis and Reduces are variables, Phis that are never alive together the same one, and so is a value of a loop that is
used after it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from ...ir import types as w
from ...ir.core import nodes as c
from ...ir.core.builder import Builder, u32
from ...ir.core.values import Value
from ...ir.hercules import nodes as h
from ...ir.hercules.analyses import block_leader
from ...ir.hercules.placement import Placement
from ...ir.hercules.types import F16
from .coalescing import coalesced
from .names import Names
from .scalars import Scalars
from .types import constant_value, scalar_type


@dataclass(slots=True)
class Values:
    """The values of one function. `start` is its first block; `thread` and `dynamic` give what comes from outside."""

    builder: Builder
    names: Names
    placed: Placement
    users: Mapping[h.Node, Sequence[h.Node]]
    start: c.Block
    thread: Callable[[h.Fork], Value]
    dynamic: Callable[[h.DynamicConstant], Value]
    parameters: Mapping[int, Value]
    scalars: Scalars = field(init=False)
    counters: dict[h.Fork, c.Var] = field(default_factory=dict[h.Fork, c.Var])
    """The numbers of the threads of forks that are loops."""
    _made: dict[h.Node, Value] = field(default_factory=dict[h.Node, Value])
    _variables: dict[h.Node, c.Var] = field(default_factory=dict[h.Node, c.Var])
    _shared: Mapping[h.Node, Sequence[h.Phi]] = field(init=False)
    _bits: dict[int, c.Var] = field(default_factory=dict[int, c.Var])

    def __post_init__(self) -> None:
        self.scalars = Scalars(self.builder)
        self._shared = coalesced(self.placed, self.users)

    def declare_first(self, escaping: Iterable[h.Node]) -> None:
        """Declare the variables that all code must see: of these nodes, and of Phis of which none can declare the
        variable that they share where all others see it.
        """
        outer = set(escaping)
        for node in self.placed.function.nodes:
            if node not in self._variables and (node in outer or self._is_apart(node)):
                self.declare(node)

    def _is_apart(self, node: h.Node) -> bool:
        dominates = self.placed.dominators.dominates
        above = [block_leader(self.placed.dominators.parent[it.region]) for it in self._shared.get(node, ())]
        return bool(above) and not any(all(dominates(one, it) for it in above) for one in above)

    def __call__(self, node: h.Node) -> Value:
        """The value of a scalar node, at the insertion point."""
        if node in self._variables:
            return self.builder.load(self._variables[node])
        match node:
            case h.ConstantNode(value):
                return self._constant(value)
            case h.DynamicConstantNode(value):
                return self.dynamic(value)
            case h.ThreadID(fork):
                assert isinstance(fork, h.Fork)
                counter = self.counters.get(fork)
                return self.thread(fork) if counter is None else self.builder.load(counter)
            case h.Parameter(index):
                return self.parameters[index]
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                return self._made[node]
            case _:
                assert_never(node)

    def _constant(self, value: h.Constant) -> Value:
        type = scalar_type(_type_of(value))
        if isinstance(value, h.FloatConstant) and not math.isfinite(value.value):
            return self._not_finite(value)
        return c.Constant(constant_value(value, type), type, None)

    def _not_finite(self, constant: h.FloatConstant) -> Value:
        """An infinity or a NaN, from bits in a variable: WGSL allows none in expressions of constants."""
        is_half = constant.type == F16
        (bits,) = struct.unpack("<H" if is_half else "<I", struct.pack("<e" if is_half else "<f", constant.value))
        if bits not in self._bits:
            pointer = w.pointer(w.AddressSpace.FUNCTION, w.U32, w.Access.READ_WRITE)
            self._bits[bits] = c.Var(u32(bits), pointer, self.names.unique("bits"))
            self.start.instructions.insert(0, self._bits[bits])
        return self.scalars.from_bits(self.builder.load(self._bits[bits]), constant.type)

    def _name(self, node: h.Node) -> str | None:
        return self.names.unique(node.label) if node.label else None

    def declare(self, node: h.Node, initial: Value | None = None) -> None:
        """Declare the variable of a scalar node, and of the Phis that share it."""
        nodes = self._shared.get(node, (node,))
        type = scalar_type(self.placed.types[node], node.span)
        label = next((it.label for it in nodes if it.label), "")
        self._variables.update(dict.fromkeys(nodes, self.variable(type, self.names.unique(label), initial)))

    def variable(self, type: w.Type, name: str, initial: Value | None = None) -> c.Var:
        """A new variable of the function."""
        pointer = w.pointer(w.AddressSpace.FUNCTION, type, w.Access.READ_WRITE)
        return self.builder.var(pointer, name=name, initializer=initial)

    def is_variable(self, node: h.Node) -> bool:
        """Whether a node is a variable that is declared."""
        return node in self._variables

    def keep_unnamed(self, node: h.Node, value: Value) -> None:
        """Remember what an Atomic or a Call gives, which Reads take apart."""
        self._made[node] = value

    def keep(self, node: h.Node, value: Value) -> None:
        """Remember the value of a node."""
        variable = self._variables.get(node)
        if variable is not None:
            self.builder.store(variable, value)
            return
        if isinstance(value, c.Instruction) and value.name is None:
            value.name = self._name(node)
        self._made[node] = value

    def assign(self, pairs: Iterable[tuple[h.Node, h.Node]]) -> None:
        """Give variables their values, all at once: one is assigned when no other needs its old value any more."""
        left = [(target, source) for target, source in pairs if not self._is_same_variable(target, source)]
        while left:
            free = next((it for it in left if not self._is_needed(it, left)), None)
            if free is None:
                values = [self(source) for _, source in left]
                for (target, _), value in zip(left, values, strict=True):
                    self.builder.store(self._variables[target], value)
                return
            left.remove(free)
            target, source = free
            if target in self._variables:
                self.builder.store(self._variables[target], self(source))
            else:
                self.declare(target, self(source))

    def _is_same_variable(self, target: h.Node, source: h.Node) -> bool:
        return target in self._variables and self._variables[target] is self._variables.get(source)

    def _is_needed(self, move: tuple[h.Node, h.Node], moves: Iterable[tuple[h.Node, h.Node]]) -> bool:
        """Whether another of the moves reads the variable that one assigns."""
        return any(
            self._is_same_variable(move[0], source) for other in moves if other is not move for source in other[1:]
        )


def _type_of(value: h.Constant) -> h.Type:
    return h.Bool() if isinstance(value, h.BoolConstant) else value.type
