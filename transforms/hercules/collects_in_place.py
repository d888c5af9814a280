"""Collects become Reduces of writes, in which each thread makes its element in its place.

Unlike `expand_collects`, an element that is a collection is not made first and then copied to its place: its chain of
versions, if it starts from a zero constant inside the thread, becomes a chain of versions of the array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from ...ir.hercules.cache import Analyses
from ...ir.hercules.graph import replace_all, replace_predecessor
from ...ir.hercules.nodes import (
    Atomic,
    Collect,
    ConstantNode,
    ControlNode,
    FloatingNode,
    Function,
    Node,
    Phi,
    PinnedNode,
    PositionIndex,
    Read,
    Reduce,
    ThreadID,
    Write,
    ZeroConstant,
)
from ...ir.hercules.versions import is_version_projection, taken_over, version_of
from .cleanup import remove_dead
from .forks import ForkBody, Forks


def collects_in_place(function: Function) -> frozenset[Node]:
    """Change the function. Returns the Reduces that write every element of their array, whatever it was before."""
    written: set[Node] = set()
    while (found := _innermost(Forks.of(Analyses(function)))) is not None:
        body, collect = found
        reduce, is_whole = _expand(body, collect, written)
        if is_whole:
            written.add(reduce)
    remove_dead(function)
    return frozenset(written)


def _innermost(forks: Forks) -> tuple[ForkBody, Collect] | None:
    """A Collect of a fork that no fork with Collects is inside of."""
    found = [(body, collect) for body in forks.bodies() for collect in body.collects]
    return found[-1] if found else None


def _expand(body: ForkBody, collect: Collect, written: set[Node]) -> tuple[Reduce, bool]:
    """The Reduce in place of a Collect, and whether it writes every element."""
    function, types = body.forks.placed.function, body.forks.placed.types
    thread = body.threads[0] if body.threads else ThreadID(body.fork)
    zero = ConstantNode(ZeroConstant(types[collect]))
    reduce = Reduce(body.join, zero, zero, label=collect.label, span=collect.span)
    made: list[Node] = [zero] if body.threads else [zero, thread]
    chain = _own_chain(body, collect)
    if chain is None:
        reduce.update = Write(reduce, collect.value, [PositionIndex(thread)], span=collect.span)
        made.append(reduce.update)
    else:
        chain.move(reduce, thread)
        reduce.update = collect.value
    function.nodes = [*(reduce if it is collect else it for it in function.nodes), *made]
    replace_all(function, {collect: reduce})
    return reduce, chain is None or collect.value in written


@dataclass(frozen=True)
class _Chain:
    """The versions of a thread's collection, which starts as `zero`, and the Reads of them."""

    zero: ConstantNode
    versions: Sequence[Node]
    reads: Sequence[Read]

    def move(self, array: Node, thread: Node) -> None:
        """Make the versions those of the array in whose element of the thread's number the collection is."""
        for node in self.versions:
            replace_predecessor(node, self.zero, array)
            if isinstance(node, (Write, Atomic)):
                node.indices = [PositionIndex(thread), *node.indices]
        for read in self.reads:
            read.indices = [PositionIndex(thread), *read.indices]


def _own_chain(body: ForkBody, collect: Collect) -> _Chain | None:
    """The chain of the value that a thread gives to a Collect, if nothing else needs it."""
    versions = _versions(collect.value)
    roots = [it for it in versions if not [*taken_over(it)]]
    placed = body.forks.placed
    if len(roots) != 1 or not isinstance(zero := roots[0], ConstantNode) or not isinstance(zero.value, ZeroConstant):
        return None
    around, loops = placed.nest.around, placed.loops.around
    at = placed.place[zero]
    if around[at] != around[body.fork] or loops[at] != loops[body.fork]:
        return None
    chain = [it for it in versions if it is not zero]
    if any(isinstance(it, Reduce) and it.join is body.join for it in chain):
        return None
    reads = _reads(body.forks.users, chain, collect)
    if reads is None or any(it not in versions for it in body.forks.users[zero]):
        return None
    return _Chain(zero, chain, reads)


def _versions(value: Node) -> list[Node]:
    """The versions that a version comes from, itself included."""
    found: dict[Node, None] = {}
    pending = [version_of(value)]
    while pending:
        version = pending.pop()
        if version not in found:
            found[version] = None
            pending += taken_over(version)
    return list(found)


def _reads(users: Mapping[Node, Sequence[Node]], chain: Sequence[Node], collect: Collect) -> list[Read] | None:
    """The Reads of elements of the versions; None if the versions have other uses than each other and the Collect."""
    found: dict[Read, None] = {}
    pending = list(chain)
    while pending:
        version = pending.pop()
        for user in users[version]:
            if isinstance(user, Read) and is_version_projection(user):
                pending.append(user)
            elif isinstance(user, Read) and isinstance(user.collection, Atomic):
                pass
            elif isinstance(user, Read) and user.indices:
                found[user] = None
            elif user is not collect and not _continues(user, version, chain):
                return None
    return list(found)


def _continues(user: Node, version: Node, chain: Sequence[Node]) -> bool:
    match user:
        case Write(collection, value):
            return user in chain and collection is version and value is not version
        case Atomic(collection=collection):
            return user in chain and collection is version
        case Phi() | Reduce():
            return user in chain
        case FloatingNode() | PinnedNode() | ControlNode():
            return False
        case _:
            assert_never(user)
