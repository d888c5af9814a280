"""Forkify: counted loops whose iterations can run in any order become forks.

For `.hir` functions and experiments. No pipeline runs it: kernels ran no faster (docs/ARCHITECTURE.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from ...ir.hercules import dynamic
from ...ir.hercules.analyses import Loop
from ...ir.hercules.graph import def_use, is_control, map_predecessors
from ...ir.hercules.nodes import (
    Binary,
    BinaryOp,
    Call,
    Cast,
    ConstantNode,
    ControlIndex,
    DynamicConstant,
    DynamicConstantNode,
    Fork,
    Function,
    If,
    Integer,
    IntegerConstant,
    Join,
    Module,
    Node,
    Phi,
    Read,
    Reduce,
    ThreadID,
    ZeroConstant,
)
from ...ir.hercules.placement import Placement, place_nodes
from ...ir.hercules.ranges import in_range
from ...ir.hercules.types import U64
from .cleanup import remove_dead
from .independence import Iterations


@dataclass(frozen=True)
class Forkify:
    """Makes a fork of a loop that counts from 0 by 1 to a bound known when the program starts, if no iteration
    needs the result of another.

    What the loop carries besides its counter must be folds of integers by an operation that takes them in any order
    (sums, products, bits, `min` and `max`), or collections that each iteration reads and writes only at its own number,
    which is in range: see `independence`. They become Reduces. Sums of floats stay loops: their order shows. So do
    loops with calls that say where they are.
    """

    name = "forkify"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            changed |= remove_dead(function)
            while _forkify_one(function):
                changed = True
        return changed


def _forkify_one(function: Function) -> bool:
    placed = place_nodes(function)
    users = def_use(function)
    for loop in placed.loops.loops:
        counted = _counted(placed, users, loop)
        if counted is not None and counted.is_parallel():
            counted.make_fork()
            return True
    return False


def _counted(placed: Placement, users: Mapping[Node, tuple[Node, ...]], loop: Loop) -> _Counted | None:
    """The loop, if its only way out is its header's test of a counter against a bound."""
    header, test = loop.header, placed.exits[loop.header]
    if len(header.predecessors) != 2 or len(loop.latches) != 1 or not isinstance(test, If):
        return None
    body = set(loop.body)
    if any(
        isinstance(it, Call) and it.control is not None and placed.place.get(it) in body for it in placed.function.nodes
    ):
        return None
    leaving = [it for node in loop.body for it in placed.graph.successors[node] if it not in body]
    arms = {
        it.indices[0].output: it
        for it in users[test]
        if isinstance(it, Read) and isinstance(it.indices[0], ControlIndex)
    }
    if len(arms) != 2 or leaving != [arms[0]] or not isinstance(test.condition, Binary):
        return None
    counter, bound = test.condition.lhs, _constant(test.condition.rhs, placed)
    if test.condition.op is not BinaryOp.LESS or bound is None or not isinstance(counter, Phi):
        return None
    found = _Counted(placed, users, loop, test, arms[1], arms[0], counter, bound, test.condition.rhs)
    return found if counter.region is header and found.counts_by_one() else None


def _constant(node: Node, placed: Placement) -> DynamicConstant | None:
    """A bound as a dynamic constant."""
    match node:
        case DynamicConstantNode(value):
            return value
        case ConstantNode(IntegerConstant(value=value)) if value >= 0:
            return dynamic.literal(value)
        case ConstantNode(ZeroConstant()) if isinstance(placed.types[node], Integer):
            return dynamic.ZERO
        case _:
            return None


@dataclass(frozen=True, slots=True)
class _Counted:
    """A loop `for (counter = 0; counter < bound; counter += 1)`, entered by `inside` and left by `outside`."""

    placed: Placement
    users: Mapping[Node, tuple[Node, ...]]
    loop: Loop
    test: If
    inside: Node
    outside: Node
    counter: Phi
    bound: DynamicConstant
    bound_node: Node

    def start_of(self, phi: Phi) -> Node:
        """The value of a phi before the first iteration."""
        return phi.values[1 - self._latch]

    def next_of(self, phi: Phi) -> Node:
        """The value of a phi after an iteration."""
        return phi.values[self._latch]

    @property
    def _latch(self) -> int:
        return self.loop.header.predecessors.index(self.loop.latches[0])

    @property
    def _phis(self) -> list[Phi]:
        found = [it for it in self.users[self.loop.header] if isinstance(it, Phi) and it in self.placed.place]
        return [it for it in found if it is not self.counter]

    def counts_by_one(self) -> bool:
        """Whether the counter goes 0, 1, 2 …"""
        following = self.next_of(self.counter)
        return _is_number(self.start_of(self.counter), 0) and (
            isinstance(following, Binary)
            and following.op is BinaryOp.ADD
            and {self.counter} < {following.lhs, following.rhs}
            and any(_is_number(it, 1) for it in (following.lhs, following.rhs))
        )

    def is_parallel(self) -> bool:
        """Whether the iterations can run in any order, and only the phis are used after the loop."""
        carried = {self.counter, *self._phis}
        return all(map(self._is_independent, self._phis)) and not any(
            self._is_used_after(node) for node in self._dependents(carried) if node not in carried
        )

    def _is_independent(self, phi: Phi) -> bool:
        iterations = Iterations(self.placed, self.users, in_range(self.placed), lambda it: not self._is_outside(it))
        update = self.next_of(phi)
        return iterations.fold(phi, update) is not None or iterations.has_own_slots(phi, update, {self.counter})

    def _dependents(self, roots: Iterable[Node]) -> set[Node]:
        """All data of the loop that is computed from its phis."""
        found: set[Node] = set()
        pending = list(roots)
        while pending:
            node = pending.pop()
            if node not in found:
                found.add(node)
                inner = [it for it in self.users[node] if it in self.placed.place and not self._is_outside(it)]
                pending += inner
        return found

    def _is_used_after(self, node: Node) -> bool:
        return any(self._is_outside(user) for user in self.users[node] if user in self.placed.live)

    def _is_outside(self, user: Node) -> bool:
        """Whether a node runs, or uses its operands, outside of the loop."""
        at = user if is_control(user) else self.placed.place.get(user)
        return at is not None and at not in self.loop.body

    def make_fork(self) -> None:
        """Replace the loop by the fork."""
        function, header = self.placed.function, self.loop.header
        fork = Fork(header.predecessors[1 - self._latch], self.bound, span=self.test.span)
        join = Join(self.loop.latches[0], span=self.test.span)
        thread: Node = ThreadID(fork, label=self.counter.label, span=self.counter.span)
        type = self.placed.types[self.counter]
        number = thread if type == U64 else Cast(type, thread, label=self.counter.label)
        reduces: dict[Node, Node] = {
            it: Reduce(join, self.start_of(it), self.next_of(it), label=it.label, span=it.span) for it in self._phis
        }
        replaced: dict[Node, Node] = {self.inside: fork, self.outside: join, **reduces}
        dead = {header, self.test, self.counter}
        new = [fork, thread, *([] if number is thread else [number]), join]
        outside = {node: self._is_outside(node) for node in function.nodes}
        function.nodes = [
            *(replaced[it] if it in reduces else it for it in function.nodes if it in reduces or it not in replaced),
            *new,
        ]
        function.nodes = [it for it in function.nodes if it not in dead]

        def change(user: Node, used: Node) -> Node:
            if used is self.counter:
                return self.bound_node if outside.get(user, False) else number
            return replaced.get(used, used)

        for node in function.nodes:
            map_predecessors(node, partial(change, node))


def _is_number(node: Node, number: int) -> bool:
    match node:
        case ConstantNode(IntegerConstant(value=value)):
            return value == number
        case ConstantNode(ZeroConstant()) | DynamicConstantNode(dynamic.ZERO):
            return number == 0
        case DynamicConstantNode(dynamic.ONE):
            return number == 1
        case _:
            return False
