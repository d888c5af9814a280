"""Prefetches of loads in loops that move on by more than a gang reads at a time.

Hardware prefetchers follow what is read in order. Here each iteration reads elsewhere:

- In a *grid-stride loop* all threads of a dispatch move on together, by their number. Each iteration prefetches what
  some later one reads.
- In a *tile* that a workgroup goes through, its gangs read a piece of each row in turn. Each iteration prefetches what
  the same thread of the next workgroup reads in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import Loop
from .....ir.hercules.graph import predecessors
from ..analysis.forms import Form, form_of
from ..analysis.shapes import UNIFORM
from ..context import GangContext
from .addresses import ValueQueries, VaryingIndex
from .prefetch import prefetch
from .runs import Run

_AHEAD = 4
"""How many iterations of a grid-stride loop later the data are read that one prefetches."""
_LARGEST_TILE = 1 << 18
"""The most bytes between what two workgroups read: the caches of one processor hold them."""


@dataclass(frozen=True, slots=True)
class _Distance:
    """A number of bytes, and scalars, each times a number of bytes."""

    constant: int
    terms: Sequence[tuple[h.Node, int]] = ()


class LoopPrefetches:
    """Writes the prefetches of loads in loops."""

    def __init__(self, context: GangContext, values: ValueQueries) -> None:
        self._placed, self._gang, self._site = context.placed, context.gang, context.site
        self._one, self._out, self._values = context.one, context.out, values

    def emit(self, start: str, run: Run) -> bool:
        """Prefetch for a load of a gang from a pointer on. False if it is in no such loop."""
        loops = self._placed.loops.around[self._site.here]
        distance = self._distance(run.varying, loops[-1]) if loops and run.step > 0 else None
        if distance is None:
            return False
        size = run.step * self._site.lanes
        prefetch(self._out, self._out.value(f"getelementptr i8, ptr {start}, i64 {self._bytes(distance)}"), size)
        return True

    def _distance(self, varying: Sequence[VaryingIndex], loop: Loop) -> _Distance | None:
        constant, terms, tile = 0, list[tuple[h.Node, int]](), 0
        for index in varying:
            form = form_of(index.position)
            step, start = _step(form, loop), _start(form, loop)
            if step is None or start is None:
                return None
            constant += step.constant * index.stride
            terms += [(node, factor * index.stride) for node, factor in step.terms.items()]
            tile += index.stride * sum(factor for node, factor in start.terms.items() if self._is_workgroup(node))
        if terms:
            moves = any(self._counts_workgroups(node) for node, _ in terms) and all(map(self._is_fixed, terms))
            return _Distance(_AHEAD * constant, [(node, _AHEAD * it) for node, it in terms]) if moves else None
        read = sum(it.stride for it in varying) * self._site.lanes * self._gang.parts
        return _Distance(tile) if read < constant < tile <= _LARGEST_TILE else None

    def _is_fixed(self, term: tuple[h.Node, int]) -> bool:
        """Whether a term is a scalar that does not change in the gang's loops."""
        home = self._placed.place.get(term[0])
        is_outside = home is None or self._gang.forks[-1] not in self._placed.nest.around[home]
        return is_outside and self._values.shape(term[0]) == UNIFORM

    def _is_workgroup(self, node: h.Node) -> bool:
        """Whether a node is the number of a workgroup along the dimension in which they run one after another."""
        outer = self._placed.nest.around[self._gang.forks[0]][:-1]
        return isinstance(node, h.ThreadID) and bool(outer) and node.fork is outer[-1]

    def _counts_workgroups(self, node: h.Node) -> bool:
        """Whether a value is computed from the number of workgroups."""
        factors = {it.factor for it in self._placed.nest.around[self._gang.forks[0]][:-1]}
        return any(isinstance(it, h.DynamicConstantNode) and it.value in factors for it in _computed_from(node))

    def _bytes(self, distance: _Distance) -> str:
        total = str(distance.constant)
        for node, factor in distance.terms:
            scalar = self._values.scalar(node)
            if not isinstance(node, h.DynamicConstantNode) and self._placed.types[node] != h.Integer(64, signed=False):
                scalar = self._one.convert("zext", "i32", scalar, "i64")
            total = self._one.binary("add", "i64", total, self._one.binary("mul", "i64", scalar, str(factor)))
        return total


def _step(form: Form, loop: Loop) -> Form | None:
    """How far a position moves in an iteration; None if a counter of the loop changes in several ways."""
    total = Form()
    for node, factor in form.terms.items():
        change = _change(node, loop)
        if change is None:
            return None
        total = total.plus(change, factor)
    return total


def _change(node: h.Node, loop: Loop) -> Form | None:
    """How a term changes in an iteration: a counter, or its product with a number."""
    match node:
        case h.Phi(region=region) if region is loop.header:
            changes = [form_of(it).plus(Form({node: 1}), -1) for it in _values(node, loop, is_first=False)]
            return changes[0] if len(changes) == 1 else None
        case (
            h.Binary(op=h.BinaryOp.MUL, lhs=h.Phi() as counter, rhs=other)
            | h.Binary(op=h.BinaryOp.MUL, lhs=other, rhs=h.Phi() as counter)
        ) if counter.region is loop.header:
            change = _change(counter, loop)
            return None if change is None or change.terms else Form().plus(form_of(other), change.constant)
        case _:
            return Form()


def _start(form: Form, loop: Loop) -> Form | None:
    """The position in the first iteration; None if a counter of the loop begins in several ways."""
    total = Form(constant=form.constant)
    for node, factor in form.terms.items():
        starts = [Form({node: 1})]
        if isinstance(node, h.Phi) and node.region is loop.header:
            starts = [form_of(it) for it in _values(node, loop, is_first=True)]
        if len(starts) != 1:
            return None
        total = total.plus(starts[0], factor)
    return total


def _values(phi: h.Phi, loop: Loop, *, is_first: bool) -> list[h.Node]:
    pairs = zip(loop.header.predecessors, phi.values, strict=True)
    return [value for control, value in pairs if (control in loop.latches) is not is_first]


def _computed_from(node: h.Node) -> Iterator[h.Node]:
    waiting, seen = [node], set[h.Node]()
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += predecessors(node) if isinstance(node, h.ScalarNode) else ()
            yield node
