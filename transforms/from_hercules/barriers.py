"""Barriers between the parts of a kernel that all invocations of a workgroup run one after another.

The threads of a local fork have all ended before what follows its join begins. That matters only for memory that one of
the two parts writes and the other uses: a barrier is written before the second part, for the kind of memory that it is
about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from ...ir import types as w
from ...ir.core.builder import Builder
from ...ir.hercules import nodes as h
from ...ir.hercules.versions import is_version_projection
from .levels import Levels
from .places import Place, Places


@dataclass(frozen=True, slots=True)
class Uses:
    """The shared places that a part of a kernel reads and writes."""

    read: frozenset[Place] = frozenset()
    written: frozenset[Place] = frozenset()

    def __or__(self, other: Uses) -> Uses:
        return Uses(self.read | other.read, self.written | other.written)

    def conflicts(self, later: Uses) -> frozenset[Place]:
        """The places for which a later part must wait for this one."""
        return (self.written & (later.read | later.written)) | (self.read & later.written)


NOTHING = Uses()


@dataclass(slots=True)
class Barriers:
    """The uses since the last barrier, and the builder that writes the next."""

    builder: Builder
    levels: Levels
    places: Places
    since: Uses = NOTHING
    _of_nest: Mapping[h.Fork, Uses] = field(init=False)

    def __post_init__(self) -> None:
        found: dict[h.Fork, Uses] = {}
        placed = self.levels.placed
        for node in placed.function.nodes:
            if node not in placed.live:
                continue
            block = placed.place.get(node)
            fork = None if block is None else self.levels.nest(block)
            if isinstance(node, h.Collect) and self.places.is_local_join(node.join):
                assert isinstance(node.join, h.Join)
                fork = self.levels.nest(placed.nest.forks[node.join])
            if fork is not None:
                found[fork] = found.get(fork, NOTHING) | uses_of(self.places, node)
        self._of_nest = found

    def enter(self, fork: h.Fork) -> None:
        """Before the outermost of a nest of local forks."""
        uses = self._of_nest.get(fork, NOTHING)
        self.wait(uses)
        self.since |= uses

    def wait(self, later: Uses) -> None:
        """Write the barriers that a part with these uses needs."""
        conflicts = self.since.conflicts(later)
        for name, space in _BARRIERS:
            if any(it.space is space for it in conflicts):
                self.builder.builtin_call(name, [])
                self.clear(space)

    def clear(self, space: w.AddressSpace) -> None:
        """A barrier for one kind of memory has been written."""
        self.since = Uses(
            frozenset(it for it in self.since.read if it.space is not space),
            frozenset(it for it in self.since.written if it.space is not space),
        )

    def enter_loop(self, forks: Iterable[h.Fork]) -> None:
        """Before a loop around local forks: what they use may have been used in the iteration before."""
        for fork in forks:
            self.since |= self._of_nest.get(fork, NOTHING)


_BARRIERS = (("workgroupBarrier", w.AddressSpace.WORKGROUP), ("storageBarrier", w.AddressSpace.STORAGE))


def uses_of(places: Places, node: h.Node) -> Uses:
    """The shared places that a node reads and writes."""
    match node:
        case h.Read(collection) if not is_version_projection(node) and places.has(collection):
            place = places.of(collection)
            return Uses(read=_shared(place)) if place.is_written else NOTHING
        case h.Write() | h.Collect() if places.has(node):
            return Uses(written=_shared(places.of(node)))
        case h.Atomic():
            both = _shared(places.of(node))
            return Uses(both, both)
        case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
            return NOTHING
        case _:
            assert_never(node)


def _shared(place: Place) -> frozenset[Place]:
    return frozenset((place,)) if place.is_shared else frozenset()
