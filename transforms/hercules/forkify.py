"""Forkify: counted loops whose iterations can run in any order become forks.

For grids: loops become dispatches. The pipeline for the CPU does not run it: kernels ran no faster
(docs/ARCHITECTURE.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from ...ir.hercules import dynamic
from ...ir.hercules.analyses import Loop
from ...ir.hercules.cache import Analyses
from ...ir.hercules.conditions import MIRRORED, OPPOSITE, Comparison
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
    Unary,
    UnaryOp,
)
from ...ir.hercules.placement import Placement, place_nodes
from ...ir.hercules.types import U64
from .cleanup import Snapshot, remove_dead
from .counting import Bound, Bounds, Count
from .folds import folds_of
from .forks import Forks


@dataclass(frozen=True)
class Forkify:
    """Makes a fork of a loop that counts to a bound known when the program starts, if no iteration needs the result of
    another.

    The header compares the counter, or a constant more, with the bound; the counter is an integer of any type that
    moves up or down by a constant. It must not wrap: see `counting`. Dynamic constants are numbers of `counts` bits. An
    i32 counter that is compared with a dynamic constant needs `counts=31`, which whoever runs the function checks.

    What the loop carries besides its counter must be folds by an operation that takes its operands in any order (sums
    and differences, products, bits, `min` and `max`), values that are selected together (see `folds`), or collections
    that each iteration reads and writes only at its own number, which is in range: see `independence`. They become
    Reduces; the threads of the fork have the loop's order, which decides between equal values that are selected. Sums
    and products of floats stay loops, because their order shows, unless `reassociate` is set. So do loops with calls
    that say where they are.
    """

    counts: int = 64
    reassociate: bool = False
    name = "forkify"

    def run(self, module: Module) -> bool:
        """Change the module; whether anything changed."""
        changed = False
        for function in module.functions:
            changed |= remove_dead(function)
            while _forkify_one(function, self):
                changed = True
        return changed


def _forkify_one(function: Function, options: Forkify) -> bool:
    placed = place_nodes(function)
    users = def_use(function)
    for loop in placed.loops.loops:
        counted = _counted(placed, users, loop, options)
        if counted is None or not counted.only_leaves_phis():
            continue
        before = Snapshot.of(function)
        if _is_parallel(function, counted.make_fork(), options):
            return True
        before.restore()
    return False


def _is_parallel(function: Function, fork: Fork, options: Forkify) -> bool:
    """Whether the threads of a fork, which had an order so far, may run in any, or only make folds in parts."""
    forks = Forks.of(Analyses(function), options.counts)
    body = forks.body(fork)
    own = body.iterations
    folds = {it for fold in folds_of(body, reassociate=options.reassociate) for it in fold.reduces}
    return not forks.placed.problems and all(
        it in folds or own.has_own_slots(it, it.update, body.threads) for it in body.reduces
    )


def _counted(
    placed: Placement, users: Mapping[Node, tuple[Node, ...]], loop: Loop, options: Forkify
) -> _Counted | None:
    """The loop, if its only exit is its header's test of a counter against a bound."""
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
    if len(arms) != 2 or len(leaving) != 1 or leaving[0] not in arms.values():
        return None
    stays_if = leaving[0] is arms[0]
    for op, lhs, rhs in _comparisons(test.condition, stays_if):
        counter, ahead = _counter(lhs)
        if not isinstance(counter, Phi) or counter.region is not header:
            continue
        found = _Counted(placed, users, loop, test, arms[stays_if], leaving[0], counter, options, (op, ahead, rhs))
        if found.trips is not None:
            return found
    return None


def _comparisons(condition: Node, truth: bool) -> Iterator[Comparison]:
    """The comparison, read from both sides, that holds exactly if a condition has this truth value."""
    match condition:
        case Unary(UnaryOp.NOT, operand):
            yield from _comparisons(operand, not truth)
        case Binary(op, lhs, rhs) if op in OPPOSITE:
            known = op if truth else OPPOSITE[op]
            yield known, lhs, rhs
            yield MIRRORED[known], rhs, lhs
        case _:
            return


def _counter(node: Node) -> tuple[Node, int]:
    """The base that a constant is added to, and the constant."""
    match node:
        case Binary(BinaryOp.ADD, base, ConstantNode(IntegerConstant(value=change))):
            return base, change
        case Binary(BinaryOp.ADD, ConstantNode(IntegerConstant(value=change)), base):
            return base, change
        case Binary(BinaryOp.SUB, base, ConstantNode(IntegerConstant(value=change))):
            return base, -change
        case _:
            return node, 0


@dataclass(frozen=True, slots=True)
class _Counted:
    """A loop `for (counter = start; counter < bound; counter += step)`, entered by `inside` and left by `outside`."""

    placed: Placement
    users: Mapping[Node, tuple[Node, ...]]
    loop: Loop
    test: If
    inside: Node
    outside: Node
    counter: Phi
    options: Forkify
    test_of_counter: tuple[BinaryOp, int, Node]
    """A comparison, a constant that is added to the counter, and the bound."""

    @property
    def trips(self) -> DynamicConstant | None:
        """How often the loop runs; None if that is not known."""
        op, ahead, bound = self.test_of_counter
        bounds = Bounds(self.placed.types, self.options.counts)
        start, limit, step = bounds.of(self.start_of(self.counter)), bounds.of(bound), self.step
        type = self.placed.types[self.counter]
        if start is None or limit is None or step == 0 or not isinstance(type, Integer):
            return None
        limit = _limit(op, limit, step, bounds, start.moved(ahead))
        return None if limit is None else bounds.trips(Count(start, step, ahead, limit), type)

    @property
    def step(self) -> int:
        """What an iteration adds to the counter; 0 if that is no constant."""
        base, change = _counter(self.next_of(self.counter))
        return change if base is self.counter else 0

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

    def only_leaves_phis(self) -> bool:
        """Whether nothing that the loop computes but its phis is used after it."""
        carried = {self.counter, *self._phis}
        return not any(self._is_used_after(node) for node in self._dependents(carried) if node not in carried)

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

    def make_fork(self) -> Fork:
        """Replace the loop by the fork, whose threads run in order."""
        function, header, trips = self.placed.function, self.loop.header, self.trips
        assert trips is not None
        fork = Fork(header.predecessors[1 - self._latch], trips, span=self.test.span)
        join = Join(self.loop.latches[0], span=self.test.span)
        thread = ThreadID(fork, label=self.counter.label, span=self.counter.span)
        wide, made = self._moved(thread)
        _, made_after = self._moved(DynamicConstantNode(trips))
        number, last = made[-1], made_after[-1]
        reduces: dict[Node, Node] = {
            it: Reduce(join, self.start_of(it), self.next_of(it), label=it.label, span=it.span) for it in self._phis
        }
        replaced: dict[Node, Node] = {self.inside: fork, self.outside: join, **reduces}
        dead = {header, self.test, self.counter}
        outside = {node: self._is_outside(node) for node in function.nodes}
        kept = [it for it in function.nodes if it not in dead and (it in reduces or it not in replaced)]
        positions = dict.fromkeys(self._positions(), wide)
        function.nodes = [*(reduces.get(it, it) for it in kept), fork, *made, *made_after, join]

        def change(user: Node, used: Node) -> Node:
            if used is self.counter:
                return last if outside.get(user, False) else number
            return positions.get(used, replaced.get(used, used))

        for node in kept:
            map_predecessors(reduces.get(node, node), partial(change, node))
        map_predecessors(join, partial(change, join))
        remove_dead(function)
        return fork

    def _positions(self) -> list[Node]:
        """The casts of the counter to u64. They are the counter modulo 2^64, since the counter does not wrap."""
        casts = [it for it in self.users[self.counter] if isinstance(it, Cast) and it.type == U64]
        return [it for it in casts if it in self.placed.place and not self._is_outside(it)]

    def _moved(self, trips: Node) -> tuple[Node, list[Node]]:
        """The counter after so many iterations, modulo 2^64, and the nodes made for it. The last is the counter."""
        type, step = self.placed.types[self.counter], self.step
        start = Bounds(self.placed.types, self.options.counts).of(self.start_of(self.counter))
        assert start is not None
        made = [trips]

        def combined(op: BinaryOp, lhs: Node, rhs: Node) -> None:
            made.extend(it for it in (lhs, rhs) if it not in made)
            made.append(Binary(op, lhs, rhs))

        if abs(step) != 1:
            combined(BinaryOp.MUL, trips, _number(abs(step)))
        # The order of the sum lets `ranges` see that it stays in range.
        base = DynamicConstantNode(start.base) if start.literal is None else _number(start.offset)
        if step < 0:
            combined(BinaryOp.SUB, base, made[-1])
        elif (start.base, start.offset) != (dynamic.ZERO, 0):
            combined(BinaryOp.ADD, made[-1], base)
        if start.literal is None and start.offset:
            combined(BinaryOp.SUB if start.offset < 0 else BinaryOp.ADD, made[-1], _number(abs(start.offset)))
        wide = made[-1]
        if type != U64:
            made.append(Cast(type, wide, label=self.counter.label))
        return wide, made


def _number(value: int) -> Node:
    return ConstantNode(IntegerConstant(U64, value & dynamic.MASK))


def _limit(op: BinaryOp, limit: Bound, step: int, bounds: Bounds, start: Bound) -> Bound | None:
    """The first number past a bound, in the direction of the step."""
    match op:
        case BinaryOp.LESS if step > 0:
            return limit
        case BinaryOp.GREATER if step < 0:
            return limit
        case BinaryOp.LESS_EQUAL if step > 0:
            return limit.moved(1)
        case BinaryOp.GREATER_EQUAL if step < 0:
            return limit.moved(-1)
        case BinaryOp.NOT_EQUAL if step == 1 and bounds.greatest(start) <= limit.offset:
            return limit
        case BinaryOp.NOT_EQUAL if step == -1 and bounds.greatest(limit) <= start.offset:
            return limit
        case _:
            return None
