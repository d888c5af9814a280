"""Shared by the passes on forks: the nodes of a fork and the nodes inside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...base.cached import cached_property
from ...ir.hercules.cache import Analyses
from ...ir.hercules.graph import def_use, is_control
from ...ir.hercules.nodes import Call, Collect, DynamicLiteral, Fork, Join, Node, Reduce, ThreadID
from ...ir.hercules.placement import Placement, place_nodes
from ...ir.hercules.ranges import in_range
from .cleanup import remove_dead
from .independence import Iterations

_FEW = 8
"""A level of at most so many threads adds little to a grid."""

PLACED_CALLS = "a call inside stays where it is"
"""An obstacle of all passes that change the control of forks."""


@dataclass(frozen=True)
class Forks:
    """The forks of a function as it is now, whose data nodes are all live, and the users of each node."""

    placed: Placement

    users: Mapping[Node, tuple[Node, ...]]
    counts: int = 64
    """Bits of the function's dynamic constants."""

    @staticmethod
    def of(known: Analyses, counts: int = 64) -> Forks:
        """The forks of a verified function, of which dead data is removed first."""
        remove_dead(known.function)
        return Forks(known.get(place_nodes), known.get(def_use), counts)

    @cached_property
    def proved(self) -> frozenset[tuple[Node, int]]:
        """The accesses that are in range, with the numbers of their indices."""
        return in_range(self.placed, self.counts)

    def bodies(self) -> Iterator[ForkBody]:
        """All of them, outer ones first."""
        for fork in self.placed.graph.order:
            if isinstance(fork, Fork):
                yield self.body(fork)

    def body(self, fork: Fork) -> ForkBody:
        """One of them."""
        join = self.placed.nest.joins[fork]
        pinned = self.users[join]
        return ForkBody(
            self,
            fork,
            join,
            tuple(it for it in pinned if isinstance(it, Reduce)),
            tuple(it for it in pinned if isinstance(it, Collect)),
            tuple(it for it in self.users[fork] if isinstance(it, ThreadID)),
        )


@dataclass(frozen=True)
class ForkBody:
    """A fork, its join, and what is pinned to them."""

    forks: Forks
    fork: Fork
    join: Join
    reduces: tuple[Reduce, ...]
    collects: tuple[Collect, ...]
    threads: tuple[ThreadID, ...]

    @property
    def name(self) -> str:
        """What a person calls the fork."""
        return self.fork.label or "a fork"

    def is_inside(self, user: Node) -> bool:
        """Whether a node uses its operands between the fork and the join."""
        placed = self.forks.placed
        match user:
            case Collect(Join() as join):
                at: Node | None = placed.nest.forks[join]
            case _ if is_control(user):
                at = user
            case _:
                at = placed.place.get(user)
        return at is not None and self.fork in placed.nest.around[at]

    @cached_property
    def control(self) -> tuple[Node, ...]:
        """The control nodes after the fork and before the join."""
        placed = self.forks.placed
        return tuple(it for it in placed.graph.order if it is not self.fork and self.fork in placed.nest.around[it])

    @cached_property
    def data(self) -> tuple[Node, ...]:
        """The data nodes inside: with the Reduces and thread numbers of the fork, without its Collects."""
        nodes = self.forks.placed.function.nodes
        return tuple(it for it in nodes if not is_control(it) and it not in self.collects and self.is_inside(it))

    @property
    def has_placed_calls(self) -> bool:
        """Whether calls inside say where they are, so that control must stay as it is."""
        return any(isinstance(it, Call) and it.control is not None for it in self.data)

    def inside_users(self, node: Node) -> list[Node]:
        """The users inside."""
        return [it for it in self.forks.users[node] if self.is_inside(it)]

    def outside_users(self, node: Node) -> list[Node]:
        """The users elsewhere."""
        return [it for it in self.forks.users[node] if not self.is_inside(it)]

    @cached_property
    def iterations(self) -> Iterations:
        """The threads, for questions about what they carry."""
        return Iterations(self.forks.placed, self.forks.users, self.forks.proved, self.is_inside)

    @property
    def is_outermost(self) -> bool:
        """Whether no other fork is around it."""
        return self.forks.placed.nest.around[self.fork] == (self.fork,)

    @cached_property
    def is_parallel(self) -> bool:
        """Whether the threads are independent: each keeps to its own elements of what the fork carries."""
        own = self.iterations
        return all(own.own_place(it, it.update, self.threads) is not None for it in self.reduces)

    @cached_property
    def has_only_folds(self) -> bool:
        """Whether the threads are independent but for scalars that they fold, in any order."""
        own = self.iterations
        return all(
            own.fold(it, it.update) is not None or own.own_place(it, it.update, self.threads) is not None
            for it in self.reduces
        )

    @property
    def levels(self) -> int:
        """How many levels a grid of this fork has: perfectly nested forks, from this one inwards, of threads that are
        independent but for folds. The last ones do not count if they have few threads.
        """
        if not self.has_only_folds:
            return 0
        (following,) = self.forks.placed.graph.successors[self.fork]
        inner = self.forks.body(following) if isinstance(following, Fork) else None
        below = inner.levels if inner is not None and inner.join is self.join.control else 0
        return 1 + below if below or not self.has_few_threads else 0

    @property
    def has_few_threads(self) -> bool:
        """Whether the fork is known to have so few threads that a loop is as good."""
        return isinstance(self.fork.factor, DynamicLiteral) and self.fork.factor.value <= _FEW
