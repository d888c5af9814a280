"""Global code motion: a block for every floating node, and an order inside each block.

After Click, "Global Code Motion / Global Value Numbering": a node goes between the earliest block where its inputs are known and
the latest that dominates its uses, out of as many loops as possible and otherwise as late as possible. All operations are
total, so that any may be computed too often. Two rules make updating collections in place right:

- every Read of a version comes before the Write, Atomic, Phi or Reduce that consumes the version;
- a Write or Atomic leaves a loop only if its own version is not consumed in there.

A Reduce is two values, the one inside its fork and the one after the join; uses decide which one is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from ...ir.hercules import nodes as h
from ...ir.hercules.graph import is_control
from ...ir.hercules.graph import predecessors as inputs
from .cfg import Block, ControlFlow
from ...ir.hercules.types import is_collection
from .storage import source_of

_PINNED = (h.Phi, h.ThreadID, h.Reduce, h.Collect, h.Parameter, h.ConstantNode, h.DynamicConstantNode, h.ProductNode)


class ScheduleError(Exception):
    """A collection is read after it was overwritten: the function needs a copy that it does not have."""


@dataclass(frozen=True, slots=True)
class Use:
    """A use of a value: at the end of `block` where the user is pinned, or wherever `user`, which floats, is put."""

    user: h.Node
    block: Block | None


class Schedule:
    """`block[n]` of every live floating node, and `order[b]`: the nodes of a block, in order."""

    def __init__(self, flow: ControlFlow, types: Mapping[h.Node, h.Type]) -> None:
        self._flow = flow
        self._types = types
        self.live = live_nodes(flow)
        self._uses = self._collect_uses()
        self._floating = [it for it in self.live if is_floating(it)]
        self._latest = self._place_latest()
        self._overwriters = self._find_overwriters()
        self.block: dict[h.Node, Block] = {}
        self._earliest: dict[h.Node, Block] = {}
        self._place()
        self.order = self._order_blocks()

    def is_after(self, user: Use, join: h.Node) -> bool:
        """Whether a use is of what is known after the join, not inside its fork."""
        block = user.block if user.block is not None else self._latest[user.user]
        return self._flow.entry[join].dominates(block)

    # Uses

    def _collect_uses(self) -> dict[h.Node, list[Use]]:
        uses: dict[h.Node, list[Use]] = {it: [] for it in self.live}
        for node in self.live:
            for value, block in self._values_used(node):
                uses[source_of(value)].append(Use(node, block))
        return uses

    def _values_used(self, node: h.Node) -> Iterator[tuple[h.Node, Block | None]]:
        exit_block = self._flow.exit
        match node:
            case h.If(control=control, condition=value) | h.Match(control=control, sum=value):
                yield value, exit_block[control]
            case h.Return(control=control, value=value):
                fields = value.fields if isinstance(value, h.ProductNode) else [value]
                for field in fields:
                    yield field, exit_block[control]
            case h.Phi(region=h.Region(predecessors=predecessors), values=values):
                for predecessor, value in zip(predecessors, values, strict=True):
                    if predecessor in exit_block:
                        yield value, exit_block[predecessor]
            case h.Reduce(join=join, init=init, update=update):
                loop = self._flow.fork_loops[join]
                fork = loop.forks[loop.joins.index(join)] if isinstance(join, h.Join) else loop.forks[0]
                yield init, exit_block[fork.control]
                yield update, exit_block[_control(join)]
            case h.Collect(join=join, value=value):
                yield value, exit_block[_control(join)]
            case h.ProductNode():
                pass
            case _ if is_floating(node):
                for value in inputs(node):
                    yield value, None
            case _:
                pass

    # Placement

    def _place_latest(self) -> dict[h.Node, Block]:
        """The latest block by data alone: enough to know which side of a join a use is on."""
        latest: dict[h.Node, Block] = {}
        for node in self._users_first({it: () for it in self._floating}):
            latest[node] = self._flow.common(self._use_blocks(node, latest))
        return latest

    def _use_blocks(self, node: h.Node, placed: Mapping[h.Node, Block]) -> Iterator[Block]:
        for use in self._uses[node]:
            yield use.block if use.block is not None else placed[use.user]

    def _users_first(self, also: Mapping[h.Node, Iterable[h.Node]]) -> Iterator[h.Node]:
        """Floating nodes, each after its floating users and after the nodes that `also` names for it."""
        sorter: TopologicalSorter[h.Node] = TopologicalSorter()
        for node in self._floating:
            users = (use.user for use in self._uses[node] if use.block is None)
            sorter.add(node, *users, *also[node])
        try:
            yield from list(sorter.static_order())
        except CycleError as error:
            raise ScheduleError("a collection is read after it was overwritten") from error

    def _find_overwriters(self) -> dict[h.Node, list[Use]]:
        """For each node that reads collections, the uses that overwrite what it reads."""
        overwriters: dict[h.Node, list[Use]] = {}
        for version, uses in self._uses.items():
            if not self._is_version(version):
                continue
            for group in self._sides(version, uses):
                consumers = [use for use in group if consumes(use.user, version)]
                for use in group:
                    if use.block is None and not consumes(use.user, version):
                        overwriters.setdefault(use.user, []).extend(it for it in consumers if it.user is not use.user)
        return overwriters

    def _is_version(self, node: h.Node) -> bool:
        return isinstance(node, h.Atomic) or (
            not isinstance(node, h.ConstantNode) and is_collection(self._types[node])
        )

    def _sides(self, version: h.Node, uses: list[Use]) -> tuple[list[Use], ...]:
        if not isinstance(version, h.Reduce):
            return (uses,)
        after = [use for use in uses if self.is_after(use, version.join)]
        return after, [use for use in uses if use not in after]

    def _place(self) -> None:
        also = {
            node: [use.user for use in self._overwriters.get(node, ()) if use.block is None] for node in self._floating
        }
        for node in self._users_first(also):
            blocks = list(self._use_blocks(node, self.block))
            blocks += [
                use.block if use.block is not None else self.block[use.user] for use in self._overwriters.get(node, ())
            ]
            self.block[node] = self._best(node, self._flow.common(blocks))

    def _best(self, node: h.Node, latest: Block) -> Block:
        earliest = self.earliest(node)
        needed = self._loops_of_consumers(node)
        best = latest
        for block in latest.dominators():
            if block.loop_depth < best.loop_depth and needed <= block.loops:
                best = block
            if block is earliest:
                return best
        raise ScheduleError(f"the inputs of a {type(node).__name__} are not known where it is used")

    def _loops_of_consumers(self, node: h.Node) -> frozenset[Block]:
        if not isinstance(node, (h.Write, h.Atomic)):
            return frozenset()
        loops: frozenset[Block] = frozenset()
        for use in self._uses[node]:
            if consumes(use.user, node):
                loops |= (use.block if use.block is not None else self.block[use.user]).loops
        return loops

    def earliest(self, node: h.Node) -> Block:
        """The block from which on all inputs of a floating node are known."""
        pending = [node]
        while pending:
            current = pending[-1]
            missing = [it for it in map(source_of, inputs(current)) if is_floating(it) and it not in self._earliest]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            known = [self._known_at(source_of(it), current) for it in inputs(current)]
            self._earliest[current] = max(known, key=lambda it: it.dominator_depth, default=self._flow.blocks[0])
        return self._earliest[node]

    def _known_at(self, value: h.Node, user: h.Node) -> Block:
        """Where an input is known to one of its users."""
        flow = self._flow
        match value:
            case h.Phi(region=region):
                return flow.entry[region]
            case h.ThreadID(fork=fork):
                return flow.exit[fork]
            case h.Collect(join=join):
                return flow.exit[join]
            case h.Reduce(join=join):
                after = self.is_after(Use(user, None), join)
                return flow.exit[join] if after else flow.fork_loops[join].body
            case h.Parameter() | h.ConstantNode() | h.DynamicConstantNode():
                return flow.blocks[0]
            case _:
                return self._earliest[value]

    # Order

    def _order_blocks(self) -> dict[Block, list[h.Node]]:
        """Inputs first, and what reads a version before what overwrites it."""
        members: dict[Block, list[h.Node]] = {block: [] for block in self._flow.blocks}
        for node in self._floating:
            members[self.block[node]].append(node)
        return {block: self._order_block(block, nodes) for block, nodes in members.items()}

    def _order_block(self, block: Block, nodes: list[h.Node]) -> list[h.Node]:
        sorter: TopologicalSorter[h.Node] = TopologicalSorter()
        for node in nodes:
            sorter.add(node, *(it for it in map(source_of, inputs(node)) if self.block.get(it) is block))
        for node in nodes:
            for use in self._overwriters.get(node, ()):
                if use.block is None and self.block[use.user] is block:
                    sorter.add(use.user, node)
        return list(sorter.static_order())


def consumes(user: h.Node, version: h.Node) -> bool:
    """Whether `user` makes the next version of the collection `version`."""
    match user:
        case h.Write(collection=collection) | h.Atomic(collection=collection):
            return source_of(collection) is version
        case h.Phi() | h.Reduce():
            return True
        case _:
            return False


def is_floating(node: h.Node) -> bool:
    """Whether a node has no place of its own. The results of an Atomic are known with it."""
    return not is_control(node) and not isinstance(node, _PINNED) and source_of(node) is node


def live_nodes(flow: ControlFlow) -> list[h.Node]:
    """What the reachable control needs, in the order of the function; results of Atomics are left out."""
    live: set[h.Node] = set(flow.controls)
    pending = list(flow.controls)
    while pending:
        for value in map(source_of, _needed(pending.pop(), flow)):
            if value not in live:
                live.add(value)
                pending.append(value)
    return [node for node in flow.function.nodes if node in live]


def _needed(node: h.Node, flow: ControlFlow) -> Iterable[h.Node]:
    """The inputs of a node, without what would come over edges that are never taken."""
    if isinstance(node, h.Phi) and isinstance(node.region, h.Region):
        pairs = zip(node.region.predecessors, node.values, strict=True)
        return [value for predecessor, value in pairs if predecessor in flow.exit]
    if is_control(node):
        return [it for it in inputs(node) if not is_control(it)]
    return [it for it in inputs(node) if not is_control(it) or it in flow.entry]


def _control(join: h.Node) -> h.Node:
    assert isinstance(join, h.Join)
    return join.control
