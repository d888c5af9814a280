"""Which forks may be the grid of a kernel: their threads are independent, or only meet in atomics.

Threads of a fork are independent if each chain of versions that its Reduces carry is

- not written at all;
- in *its own elements*: all accesses are in range, and those of different threads are apart: at one level of the
  paths, positions are linear in the thread's number, with a step that is larger than the spread of everything else in
  them;
- changed by atomics only, so that any order of all atomics gives what some order of the threads gives: either all of
  them do one commutative operation, and old values are not used; or each thread does one atomic at most, and the fork
  carries no other such chain.

A fork below another may extend its grid if the outer thread does nothing but run the inner fork: it passes on its
chains, which it does not access itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from ....base.cached import cached_property
from ....ir.hercules import dynamic
from ....ir.hercules.copying import specialised
from ....ir.hercules.graph import def_use, is_control
from ....ir.hercules.nodes import (
    Atomic,
    AtomicOp,
    Collect,
    ControlNode,
    FloatingNode,
    Fork,
    Function,
    InputNode,
    Integer,
    Node,
    Phi,
    PinnedNode,
    PositionIndex,
    Read,
    Reduce,
    Write,
)
from ....ir.hercules.placement import Placement, place_nodes
from ....ir.hercules.ranges import Ranges, in_range
from ....ir.hercules.types import is_collection
from ....ir.hercules.versions import is_version_projection, taken_over, version_of
from ..linear_forms import LinearForms
from .positions import Spread

_COMMUTING: Final = (
    frozenset({AtomicOp.ADD, AtomicOp.SUB}),
    *(frozenset({it}) for it in (AtomicOp.MIN, AtomicOp.MAX, AtomicOp.AND, AtomicOp.OR, AtomicOp.XOR)),
)
"""Operations of which any number may be done in any order, if no old value is used."""


@dataclass(frozen=True)
class Grids:
    """The proofs for one placed function without Collects, and these values of its dynamic constants."""

    placed: Placement
    constants: Sequence[int]

    @cached_property
    def users(self) -> Mapping[Node, Sequence[Node]]:
        """The users of each node."""
        return def_use(self.placed.function)

    @cached_property
    def exact(self) -> Mapping[Node, Node]:
        """Each node's copy in the function with the values of the dynamic constants, about which more can be proved."""
        function = self.placed.function
        return dict(zip(function.nodes, self._specialised.nodes, strict=True))

    @cached_property
    def _specialised(self) -> Function:
        return specialised(self.placed.function, self.constants)

    @cached_property
    def ranges(self) -> Ranges:
        """The ranges of the integers in the specialised function."""
        return Ranges(self.exact_placement)

    @cached_property
    def exact_placement(self) -> Placement:
        """The placement of the specialised function."""
        return place_nodes(self._specialised)

    @cached_property
    def proved(self) -> frozenset[tuple[Node, int]]:
        """The accesses in range, with the numbers of their indices."""
        proved = in_range(self.exact_placement)
        return frozenset(
            (node, number)
            for node, copy in self.exact.items()
            if isinstance(node, (Read, Write, Atomic))
            for number in range(len(node.indices))
            if (copy, number) in proved
        )

    @cached_property
    def forms(self) -> LinearForms:
        """The linear forms of integers."""
        return LinearForms(self.placed.types, self.constants)

    def depth(self, fork: Fork) -> int:
        """How many forks, this one and others directly below each other, can be one grid; 0 if its threads depend on
        each other.
        """
        depth = 0
        inner: Fork | None = fork
        while inner is not None and self.is_independent(inner):
            depth += 1
            inner = self._directly_below(inner)
        return depth

    def _directly_below(self, fork: Fork) -> Fork | None:
        """The fork that is all that a thread runs."""
        placed = self.placed
        (inner,) = placed.graph.successors[fork]
        if not isinstance(inner, Fork):
            return None
        join, inner_join = placed.nest.joins[fork], placed.nest.joins[inner]
        if join.control is not inner_join:
            return None
        outer = [it for it in self.users[join] if isinstance(it, Reduce)]
        reduces = [it for it in self.users[inner_join] if isinstance(it, Reduce)]
        if len(outer) != len(reduces) or {(it, it.update) for it in outer} != {(it.init, it) for it in reduces}:
            return None
        own = [it for it, at in placed.place.items() if at in (fork, inner_join)]
        if any(not isinstance(it, (InputNode, Reduce)) and is_collection(placed.types[it]) for it in own):
            return None
        if any(isinstance(it, Read) and version_of(it.collection) in outer for it in own):
            return None
        return inner

    def is_independent(self, fork: Fork) -> bool:
        """Whether the threads of the fork may run at once."""
        join = self.placed.nest.joins[fork]
        if any(isinstance(it, Collect) for it in self.users[join]):
            return False
        chains = [_Chain.of(self, it, fork) for it in self.users[join] if isinstance(it, Reduce)]
        if any(it is None for it in chains):
            return False
        known = [it for it in chains if it is not None and not it.has_own_elements()]
        if not all(it.is_atomic() for it in known):
            return False
        ordered = [it for it in known if not it.commutes()]
        return not ordered or (len(known) == 1 and ordered[0].is_single())

    def has_own_elements(self, carried: Reduce, fork: Fork) -> bool:
        """Whether the threads of a fork access different elements of what a Reduce carries, or none writes."""
        chain = _Chain.of(self, carried, fork)
        return chain is not None and chain.has_own_elements()

    def is_inside(self, user: Node, fork: Fork) -> bool:
        """Whether a node uses its operands between a fork and its join."""
        at = user if is_control(user) else self.placed.place.get(user)
        return at is not None and fork in self.placed.nest.around[at]


@dataclass(frozen=True)
class _Chain:
    """The versions of a collection within a thread of a fork, and the accesses to them."""

    grids: Grids
    fork: Fork
    versions: Sequence[Node]
    accesses: Sequence[Read | Write | Atomic]

    @staticmethod
    def of(grids: Grids, carried: Reduce, fork: Fork) -> _Chain | None:
        """What a fork carries; None if that is no collection, or if a version has uses that are no accesses."""
        if not is_collection(grids.placed.types[carried]):
            return None
        versions: dict[Node, None] = {carried: None}
        accesses: dict[Read | Write | Atomic, None] = {}
        pending: list[Node] = [carried]
        while pending:
            version = pending.pop()
            for user in grids.users[version]:
                if user is carried or not grids.is_inside(user, fork):
                    continue
                found = _use(user, version)
                if found is None:
                    return None
                if isinstance(found, (Read, Write, Atomic)):
                    accesses[found] = None
                if user not in versions and (found is user or found is False) and not _only_reads(user):
                    versions[user] = None
                    pending.append(user)
        merged = [value for it in versions if it is not carried for value in taken_over(it)]
        if version_of(carried.update) not in {version_of(it) for it in versions}:
            return None
        if any(value not in versions for value in merged):
            return None
        outside = (user for it in versions if it is not carried for user in grids.users[it])
        if any(user is not carried and not grids.is_inside(user, fork) for user in outside):
            return None
        return _Chain(grids, fork, list(versions), list(accesses))

    def is_written(self) -> bool:
        """Whether a thread may change the collection."""
        return any(isinstance(it, Write) or _changes(it) for it in self.accesses)

    def has_own_elements(self) -> bool:
        """Whether threads access different elements, or none writes."""
        if not self.is_written():
            return True
        levels = range(min(len(it.indices) for it in self.accesses))
        return any(self._are_apart(level) for level in levels)

    def _are_apart(self, level: int) -> bool:
        """Whether the positions at this level of the paths are different in different threads."""
        whole: Spread | None = None
        for access in self.accesses:
            index = access.indices[level]
            if not isinstance(index, PositionIndex) or (access, level) not in self.grids.proved:
                return False
            spread = self._spread(index.position)
            whole = spread if whole is None or spread is None else whole.join(spread)
            if whole is None:
                return False
        factor = dynamic.evaluate(self.fork.factor, self.grids.constants)
        return whole is not None and whole.keeps_apart(factor)

    def _spread(self, position: Node) -> Spread | None:
        """The positions that a node may have in the threads of the fork."""
        form = self.grids.forms.of(position)
        shared: dict[Node, int] = {}
        low = high = form.constant
        for term, coefficient in form.terms.items():
            if term is self.fork:
                continue
            if not self._varies(term):
                shared[term] = coefficient
                continue
            limits = self._limits(term)
            if limits is None:
                return None
            ends = [coefficient * it for it in limits]
            low, high = low + min(ends), high + max(ends)
        return Spread(form.terms.get(self.fork, 0), shared, low, high, form.bits)

    def _varies(self, term: Node) -> bool:
        """Whether a term may differ from thread to thread."""
        if isinstance(term, InputNode):
            return False
        return self.grids.is_inside(term, self.fork)

    def _limits(self, term: Node) -> tuple[int, int] | None:
        """The least and the greatest value of a term; None if they are those of its type."""
        if isinstance(term, Fork):
            return 0, max(0, dynamic.evaluate(term.factor, self.grids.constants) - 1)
        exact = self.grids.exact[term]
        placed = self.grids.exact_placement
        found = self.grids.ranges.at(exact, placed.place[exact])
        type = placed.types[exact]
        assert isinstance(type, Integer)
        return (found.low, found.high) if found.high - found.low < 1 << (type.bits - 1) else None

    def is_atomic(self) -> bool:
        """Whether all accesses are atomics."""
        return all(isinstance(it, Atomic) for it in self.accesses)

    def commutes(self) -> bool:
        """Whether any number of these atomics gives the same in any order."""
        atomics = [it for it in self.accesses if isinstance(it, Atomic)]
        uses = (user for it in atomics for user in self.grids.users[it])
        if not all(is_version_projection(it) for it in uses):
            return False
        return any(all(it.op in group for it in atomics) for group in _COMMUTING)

    def is_single(self) -> bool:
        """Whether each thread does one atomic at most."""
        placed, atomics = self.grids.placed, list(self.accesses)
        if len(atomics) != 1:
            return False
        at = placed.place[atomics[0]]
        is_repeated = placed.loops.around[at] != placed.loops.around[self.fork]
        return not is_repeated and placed.nest.around[at][-1] is self.fork


def _changes(access: Node) -> bool:
    return isinstance(access, Atomic) and access.op is not AtomicOp.LOAD


def _only_reads(user: Node) -> bool:
    return isinstance(user, Read) and not is_version_projection(user)


def _use(user: Node, version: Node) -> Node | bool | None:
    """How a node uses a version: the access; False for one that only passes it on; None for any other use."""
    match user:
        case Read() if is_version_projection(user):
            return False
        case Read(collection=Atomic()) if user.collection is version:
            return True  # the old value, which the Atomic has read
        case Read(indices=indices):
            return user if indices else None
        case Write(collection, value, indices):
            return user if collection is version and value is not version and indices else None
        case Atomic(collection=collection, indices=indices):
            return user if collection is version and indices else None
        case Phi() | Reduce():
            return False
        case FloatingNode() | PinnedNode() | ControlNode():
            return None
        case _:
            assert_never(user)
