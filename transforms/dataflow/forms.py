"""Integers of a kernel as polynomials over what a dispatch fixes and the numbers of an invocation.

The variables are the symbols below. Arithmetic wraps in WGSL, so a polynomial equals its value modulo 2^32.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

from ...ir.dataflow.expressions import Polynomial, constant_form, constant_of, product_of, sum_of, variable_form
from ...ir.hercules import nodes as h
from ...ir.hercules.analyses import Loop
from ...ir.hercules.entry import WORKGROUP_CONSTANTS, EntryPoint
from ...ir.hercules.placement import Placement

_MOST_TERMS: Final = 32
"""A value whose polynomial has more terms is a variable of its own."""
_DEEPEST: Final = 64
"""A value that this many operations are nested above is a variable of its own."""
_WORD: Final = 32


@dataclass(frozen=True, slots=True)
class GlobalId:
    """A component of `global_invocation_id`."""

    axis: int


@dataclass(frozen=True, slots=True)
class StrideId:
    """The counter of the grid-stride loop at a level, from 0 for the outermost, that kernels have in common."""

    level: int


@dataclass(frozen=True, slots=True)
class WorkgroupId:
    """A component of `workgroup_id`."""

    axis: int


@dataclass(frozen=True, slots=True)
class NumWorkgroups:
    """A component of `num_workgroups`."""

    axis: int


@dataclass(frozen=True, slots=True)
class LengthOf:
    """The number of elements of a binding's runtime-sized array."""

    binding: str


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number in a binding that the kernel does not write; `path` leads to it by fields and constant positions."""

    binding: str
    path: tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Counter:
    """The counter of a loop that begins at a form of the invocation, and is raised by the same amount each time, as in
    a grid-stride loop. The loop has one exit.

    `stay` and `exit` are the outputs of the branch that tests whether the loop goes on. `depth` is the number of loops
    around a block in it.
    """

    phi: h.Phi
    loop: Loop
    start: Polynomial
    step: Polynomial
    is_signed: bool
    branch: h.If
    stay: h.Read
    exit: h.Read
    depth: int

    @property
    def axes(self) -> set[int]:
        """The axes of the grid along which it begins at different values."""
        return {it.axis for it in variables(self.start) if isinstance(it, GlobalId)}


@dataclass(frozen=True, slots=True)
class Opaque:
    """Any other value."""

    node: h.Node


Symbol: TypeAlias = GlobalId | StrideId | Counter | WorkgroupId | NumWorkgroups | LengthOf | Scalar | Opaque


_NUMBERS: Final = (NumWorkgroups, LengthOf, Scalar)
"""The symbols of numbers that all invocations of a launch share."""


def variables(form: Polynomial) -> set[Hashable]:
    """The variables of a polynomial."""
    return {variable for monomial, _ in form for variable, _ in monomial}


def counters_in(form: Polynomial) -> set[Counter]:
    """The counters of loops in a polynomial."""
    return {it for it in variables(form) if isinstance(it, Counter)}


def constant_path(indices: list[h.Index]) -> tuple[int, ...] | None:
    """Fields and positions as numbers; None where one is not constant."""
    path: list[int] = []
    for index in indices:
        match index:
            case h.FieldIndex(field):
                path.append(field)
            case h.PositionIndex(h.ConstantNode(h.IntegerConstant(value=value))):
                path.append(value)
            case h.PositionIndex(h.ConstantNode(h.ZeroConstant())):
                path.append(0)
            case _:
                return None
    return tuple(path)


class Forms:
    """The polynomials of the integers of an entry point."""

    def __init__(self, entry: EntryPoint, placed: Placement) -> None:
        self.entry = entry
        self.placed = placed
        self.loops: dict[h.Node, Loop] = {it.header: it for it in placed.loops.loops}
        self._read_only: Mapping[int, str] = {it.parameter: it.name for it in entry.bindings if not it.is_written}
        self._lengths: Mapping[int, str] = {it.length: it.name for it in entry.bindings if it.length is not None}
        self._known: dict[h.Node, Polynomial] = {}

    def of(self, node: h.Node, depth: int = 0) -> Polynomial:
        """The polynomial of an integer."""
        if node not in self._known:
            found = self._parts(node, depth + 1) if depth < _DEEPEST else None
            if found is None or len(found) > _MOST_TERMS:
                found = variable_form(Opaque(node))
            self._known[node] = found
        return self._known[node]

    def _parts(self, node: h.Node, depth: int) -> Polynomial | None:
        match node:
            case h.ConstantNode(h.IntegerConstant(value=value)):
                return constant_form(value)
            case h.ConstantNode(h.ZeroConstant()):
                return constant_form(0)
            case h.DynamicConstantNode(constant):
                return self._dynamic(constant)
            case h.ThreadID(h.Fork() as fork):
                return self._thread(fork)
            case h.Cast(operand=operand) | h.Bitcast(operand=operand):
                return self.of(operand, depth) if self._is_word(node) and self._is_word(operand) else None
            case h.Binary(op, lhs, rhs):
                return _combined(op, self.of(lhs, depth), self.of(rhs, depth)) if self._is_word(node) else None
            case h.Read(h.Parameter(index), indices) if index in self._read_only:
                path = constant_path(indices)
                return None if path is None else variable_form(Scalar(self._read_only[index], path))
            case h.Phi(region, values):
                return self._counter(node, region, values)
            case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
                return None
            case _:
                assert_never(node)

    def _is_word(self, node: h.Node) -> bool:
        """Whether arithmetic on the node's type is exact modulo 2^32."""
        type = self.placed.types[node]
        return isinstance(type, h.Integer) and type.bits >= _WORD

    def _dynamic(self, constant: h.DynamicConstant) -> Polynomial | None:
        match constant:
            case h.DynamicLiteral(value):
                return constant_form(value)
            case h.DynamicParameter(index) if index < len(WORKGROUP_CONSTANTS):
                return variable_form(NumWorkgroups(index))
            case h.DynamicParameter(index):
                return variable_form(LengthOf(self._lengths[index]))
            case _:
                return None

    def _thread(self, fork: h.Fork) -> Polynomial | None:
        """A workgroup's number, or that of a local invocation: what `workgroup_id` lacks of `global_invocation_id`."""
        around, sizes = self.placed.nest.around[fork], self.entry.workgroup_size
        level = around.index(fork)
        if level < len(WORKGROUP_CONSTANTS):
            axis = 2 - level
            return variable_form(GlobalId(axis) if sizes[axis] == 1 else WorkgroupId(axis))
        local = [axis for axis in (2, 1, 0) if sizes[axis] > 1]
        if level - len(WORKGROUP_CONSTANTS) >= len(local):
            return None
        axis = local[level - len(WORKGROUP_CONSTANTS)]
        first = product_of(variable_form(WorkgroupId(axis)), constant_form(sizes[axis]))
        return sum_of(variable_form(GlobalId(axis)), first, -1)

    def _counter(self, phi: h.Phi, region: h.Node, values: list[h.Node]) -> Polynomial | None:
        """The counter of a loop with one exit, whose start and step do not depend on other loops."""
        loop = self.loops.get(region)
        if loop is None or not isinstance(region, h.Region) or len(values) != 2:
            return None
        latches = [value for value, at in zip(values, region.predecessors, strict=True) if at in loop.latches]
        firsts = [value for value in values if value not in latches]
        type = self.placed.types[phi]
        ends = self._exit(loop)
        if len(latches) != 1 or len(firsts) != 1 or ends is None or not isinstance(type, h.Integer):
            return None
        if not self.placed.dominators.dominates(ends[1], loop.latches[0]):
            return None
        start, step = self.of(firsts[0]), self._step(phi, latches[0])
        if not all(isinstance(it, (GlobalId, *_NUMBERS)) for it in variables(start)):
            return None
        if not step or not all(isinstance(it, _NUMBERS) for it in variables(step)):
            return None
        depth = len(self.placed.loops.around[region])
        return variable_form(Counter(phi, loop, start, step, type.signed, *ends, depth))

    def _exit(self, loop: Loop) -> tuple[h.If, h.Read, h.Read] | None:
        """The branch at which a loop ends, with the output that stays in the loop and the one that leaves it; None if
        there are several.
        """
        flow, body = self.placed.graph.successors, set(loop.body)
        exits = [it for node in loop.body for it in flow[node] if it not in body]
        if len(exits) != 1 or not isinstance(leaves := exits[0], h.Read) or not isinstance(leaves.collection, h.If):
            return None
        (stays,) = (it for it in flow[leaves.collection] if it is not leaves)
        return (leaves.collection, stays, leaves) if isinstance(stays, h.Read) else None

    def _step(self, phi: h.Phi, update: h.Node) -> Polynomial:
        """What an iteration adds to a counter."""
        before, own = dict(self._known), variable_form(Opaque(phi))
        self._known[phi] = own
        step = sum_of(self.of(update), own, -1)
        self._known = before
        return step


def _combined(op: h.BinaryOp, lhs: Polynomial, rhs: Polynomial) -> Polynomial | None:
    if op is h.BinaryOp.ADD:
        return sum_of(lhs, rhs)
    if op is h.BinaryOp.SUB:
        return sum_of(lhs, rhs, -1)
    if op is h.BinaryOp.MUL and len(lhs) * len(rhs) <= _MOST_TERMS:
        return product_of(lhs, rhs)
    shift = constant_of(rhs)
    if op is h.BinaryOp.SHIFT_LEFT and shift is not None and 0 <= shift < _WORD:
        return product_of(lhs, constant_form(1 << shift))
    return None
