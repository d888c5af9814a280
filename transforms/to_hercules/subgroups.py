"""Subgroup and quad operations: the lanes join, and in the next fork each lane computes its result from the operands of
all lanes of its subgroup (WGSL, "Subgroup Built-in Functions" and "Quad Built-in Functions").

Lanes are numbered by `local_invocation_index`. Each `Machine.subgroup_size` consecutive lanes are a subgroup; the last
subgroup may be smaller. Control flow is uniform, so all lanes are active. A lane that reads from one that does not
exist, where WGSL leaves the result open, gets its own value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ...base.records import dataclass
from ...ir import types as wgsl
from ...ir.builtins import LARGEST_SUBGROUP
from ...ir.core import nodes as c
from ...ir.hercules import nodes as h
from . import arithmetic as a
from . import types as t
from .graph import Graph
from .machine import Machine
from .values import PerLane, Tree, map_tree, node_of

Leaf: TypeAlias = "h.Node | PerLane"
Combine: TypeAlias = Callable[[h.Node, h.Node], h.Node]

_BALLOT_WORDS, _BALLOT_BITS = 4, 32
"""A ballot is a vector of words, with a bit for each lane."""

_OPERATORS: dict[str, h.BinaryOp] = {
    "Add": h.BinaryOp.ADD,
    "Mul": h.BinaryOp.MUL,
    "And": h.BinaryOp.AND,
    "Or": h.BinaryOp.OR,
    "Xor": h.BinaryOp.XOR,
    "All": h.BinaryOp.AND,
    "Any": h.BinaryOp.OR,
}


def local_index(machine: Machine) -> h.Node:
    """The lane's `local_invocation_index`: x + y * size.x + z * size.x * size.y."""
    graph, (width, height, _) = machine.graph, machine.size
    x, y, z = (graph.cast(t.U32, machine.open_lane().thread_id(axis)) for axis in range(3))
    row = graph.binary(h.BinaryOp.MUL, y, graph.u32(width))
    layer = graph.binary(h.BinaryOp.MUL, z, graph.u32(width * height))
    return graph.binary(h.BinaryOp.ADD, graph.binary(h.BinaryOp.ADD, x, row), layer)


def invocation_id(machine: Machine) -> h.Node:
    """The lane's `subgroup_invocation_id`."""
    graph = machine.graph
    return graph.binary(h.BinaryOp.AND, local_index(machine), graph.u32(machine.subgroup_size - 1))


def subgroup_id(machine: Machine) -> h.Node:
    """The lane's `subgroup_id`."""
    graph = machine.graph
    return graph.binary(h.BinaryOp.DIV, local_index(machine), graph.u32(machine.subgroup_size))


def lane_count(machine: Machine) -> int:
    """The number of invocations in a workgroup."""
    width, height, depth = machine.size
    return width * height * depth


def subgroup_count(machine: Machine) -> int:
    """The number of subgroups in a workgroup: `num_subgroups`."""
    return -(-lane_count(machine) // machine.subgroup_size)


def lower(machine: Machine, call: c.BuiltinCall, arguments: Sequence[Tree]) -> Tree:
    """The result of an operation, computed in a new lane fork; the lanes that computed the arguments have joined."""
    group = _Subgroup(machine)
    name = call.function.removeprefix("subgroup")
    value = arguments[0] if arguments else ()
    match name:
        case "Elect":
            return group.graph.binary(h.BinaryOp.EQUAL, group.lane, group.graph.u32(0))
        case "Ballot":
            return group.ballot(value)
        case "BroadcastFirst":
            return map_tree(value, lambda leaf: group.brought(leaf, group.first))
        case _ if call.function in _SOURCES:
            distance = node_of(machine.local_tree(arguments[1])) if len(arguments) > 1 else group.graph.u32(0)
            return group.moved(value, _SOURCES[call.function], _unsigned(group.graph, distance, call))
        case _ if name.startswith(("Inclusive", "Exclusive")):
            return group.scanned(value, _combiner(group.graph, name[9:], call.type), _identity(group.graph, name, call))
        case _:
            return group.folded(value, _combiner(group.graph, name, call.type))


def _unsigned(graph: Graph, value: h.Node, call: c.BuiltinCall) -> h.Node:
    is_signed = len(call.arguments) > 1 and call.arguments[1].type is wgsl.I32
    return graph.bitcast(t.U32, value) if is_signed else value


def _combiner(graph: Graph, word: str, type: wgsl.Type) -> Combine:
    if word in _OPERATORS:
        return lambda left, right: graph.binary(_OPERATORS[word], left, right)
    scalar = wgsl.scalar_of(type)
    assert scalar is not None
    return lambda left, right: graph.intrinsic(word.lower(), t.scalar_type(scalar), left, right)


@dataclass(frozen=True, slots=True)
class _Identity:
    """The identity element with which a scan starts, and whether a lane's result includes its own value."""

    start: h.Node
    is_inclusive: bool


def _identity(graph: Graph, name: str, call: c.BuiltinCall) -> _Identity:
    scalar = wgsl.scalar_of(call.type)
    assert scalar is not None
    start = a.scalar_literal(graph, scalar, 1 if name.endswith("Mul") else 0)
    return _Identity(start, name.startswith("Inclusive"))


class _Subgroup:
    """The subgroup of a lane: `lane` is the lane's index in it, `first` the index in the workgroup of its lane 0."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.graph = machine.graph
        self.size = machine.subgroup_size
        self.total = lane_count(machine)
        index = local_index(machine)
        self.lane = self.graph.binary(h.BinaryOp.AND, index, self.graph.u32(self.size - 1))
        self.first = self.graph.binary(h.BinaryOp.SUB, index, self.lane)
        self.members = [self._plus(self.first, lane) for lane in range(min(self.size, self.total))]

    def brought(self, leaf: Leaf, index: h.Node) -> h.Node:
        """The operand of the lane with this index in the workgroup."""
        if isinstance(leaf, PerLane):
            array = leaf.array
        else:
            owner = self.graph.owner(leaf)
            if owner is None or owner is self.machine.lane:
                assert owner is None, "the operands' lanes have joined"
                return leaf
            array = owner.collect(leaf)
        positions = self._positions(index)
        return self.graph.add(h.Read(array, positions)) if positions else array

    def folded(self, value: Tree, combine: Combine) -> Tree:
        """A reduction: the values of all lanes combined, starting with lane 0."""
        return map_tree(value, lambda leaf: self._fold([self.brought(leaf, at) for at in self.members], combine))

    def _fold(self, values: Sequence[h.Node], combine: Combine) -> h.Node:
        result = values[0]
        for lane, value in enumerate(values[1:], 1):
            exists = self._exists(lane)
            both = combine(result, value)
            result = both if exists is None else self.graph.select(exists, both, result)
        return result

    def scanned(self, value: Tree, combine: Combine, identity: _Identity) -> Tree:
        """A scan: the values of the lanes before this one combined, with its own value if inclusive."""
        op = h.BinaryOp.LESS_EQUAL if identity.is_inclusive else h.BinaryOp.LESS
        counts = [self.graph.binary(op, self.graph.u32(lane), self.lane) for lane in range(len(self.members))]

        def scan(leaf: Leaf) -> h.Node:
            result = identity.start
            for at, is_counted in zip(self.members, counts, strict=True):
                result = self.graph.select(is_counted, combine(result, self.brought(leaf, at)), result)
            return result

        return map_tree(value, scan)

    def ballot(self, predicate: Tree) -> Tree:
        """A vector with one bit for each lane, set if the predicate is true there."""
        graph = self.graph
        words: list[Tree] = [graph.u32(0)] * _BALLOT_WORDS
        for lane, at in enumerate(self.members):
            vote, exists = self.brought(_leaf(predicate), at), self._exists(lane)
            vote = vote if exists is None else graph.binary(h.BinaryOp.AND, exists, vote)
            word, position = divmod(lane, _BALLOT_BITS)
            bit = graph.select(vote, graph.u32(1 << position), graph.u32(0))
            words[word] = graph.binary(h.BinaryOp.OR, node_of(words[word]), bit) if position else bit
        return tuple(words)

    def moved(self, value: Tree, source: _Source, operand: h.Node) -> Tree:
        """A shuffle: the value of another lane, or the lane's own if there is no such lane."""
        graph = self.graph
        lane, is_meant = source(graph, self.lane, operand)
        index = graph.binary(h.BinaryOp.ADD, self.first, lane)
        exists = graph.binary(h.BinaryOp.LESS, lane, graph.u32(self.size))
        if is_meant is not None:
            exists = graph.binary(h.BinaryOp.AND, exists, is_meant)
        if self.total % self.size:
            in_workgroup = graph.binary(h.BinaryOp.LESS, index, graph.u32(self.total))
            exists = graph.binary(h.BinaryOp.AND, exists, in_workgroup)
        return map_tree(value, lambda leaf: graph.select(exists, self.brought(leaf, index), self.machine.local(leaf)))

    def _exists(self, lane: int) -> h.Node | None:
        """Whether the subgroup has this lane; None if every subgroup has it."""
        if self.total % self.size == 0 or self.total < self.size:
            return None
        return self.graph.binary(h.BinaryOp.LESS, self.members[lane], self.graph.u32(self.total))

    def _positions(self, index: h.Node) -> list[h.Index]:
        """The indices of a lane's element in an array over the lanes: z, y, x of the dimensions there are."""
        graph, (width, height, depth) = self.graph, self.machine.size
        parts: list[h.Node] = []
        if depth > 1:
            parts.append(graph.binary(h.BinaryOp.DIV, index, graph.u32(width * height)))
        if height > 1:
            row = graph.binary(h.BinaryOp.DIV, index, graph.u32(width)) if width > 1 else index
            parts.append(graph.binary(h.BinaryOp.REM, row, graph.u32(height)) if depth > 1 else row)
        if width > 1:
            is_only = height == depth == 1
            parts.append(index if is_only else graph.binary(h.BinaryOp.REM, index, graph.u32(width)))
        return [h.PositionIndex(graph.cast(t.U64, part)) for part in parts]

    def _plus(self, first: h.Node, lane: int) -> h.Node:
        return self.graph.binary(h.BinaryOp.ADD, first, self.graph.u32(lane)) if lane else first


def _leaf(tree: Tree) -> Leaf:
    return tree if isinstance(tree, PerLane) else node_of(tree)


_Source: TypeAlias = Callable[[Graph, h.Node, h.Node], "tuple[h.Node, h.Node | None]"]
"""A function of (graph, lane, operand). It gives the index in the subgroup of the lane to read from, and, if an index
below the subgroup's size is not always valid, the condition under which it is.
"""


def _chosen(graph: Graph, lane: h.Node, id: h.Node) -> tuple[h.Node, h.Node | None]:
    del graph, lane
    return id, None


def _up(graph: Graph, lane: h.Node, delta: h.Node) -> tuple[h.Node, h.Node | None]:
    return graph.binary(h.BinaryOp.SUB, lane, delta), graph.binary(h.BinaryOp.LESS_EQUAL, delta, lane)


def _down(graph: Graph, lane: h.Node, delta: h.Node) -> tuple[h.Node, h.Node | None]:
    is_near = graph.binary(h.BinaryOp.LESS, delta, graph.u32(LARGEST_SUBGROUP))
    return graph.binary(h.BinaryOp.ADD, lane, delta), is_near


def _xor(graph: Graph, lane: h.Node, mask: h.Node) -> tuple[h.Node, h.Node | None]:
    return graph.binary(h.BinaryOp.XOR, lane, mask), None


def _in_quad(graph: Graph, lane: h.Node, id: h.Node) -> tuple[h.Node, h.Node | None]:
    quad = graph.binary(h.BinaryOp.AND, lane, graph.u32(LARGEST_SUBGROUP - 4))
    return graph.binary(h.BinaryOp.ADD, quad, id), None


def _swap(mask: int) -> _Source:
    return lambda graph, lane, _: _xor(graph, lane, graph.u32(mask))


_SOURCES: dict[str, _Source] = {
    "subgroupBroadcast": _chosen,
    "subgroupShuffle": _chosen,
    "subgroupShuffleUp": _up,
    "subgroupShuffleDown": _down,
    "subgroupShuffleXor": _xor,
    "quadBroadcast": _in_quad,
    "quadSwapX": _swap(1),
    "quadSwapY": _swap(2),
    "quadSwapDiagonal": _swap(3),
}
"""The lane from which each operation reads."""
