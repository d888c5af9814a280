"""The placement of nodes: a block for every data node, and an order within each block.

A Hercules function fixes only the order of control. `place_nodes` chooses for each live data node a *basic block*
(named by its leader, see `analyses.block_leader`) and sorts the nodes of each block, so that

- every node comes after its operands, and in a block that dominates all its uses;
- it runs as rarely as possible: in the least loop and fork nest on the path up the dominator tree, and there as late
  as possible;
- every reader of a version of a collection comes before the version's consumer, so that all storage changes in place.

The interpreter and the backends run this order. If there is no such order, `problems` gives the reasons; a function has
no problems if and only if its values dominate their uses and its collections are used linearly (see `versions`).

The file exceeds the usual length because all steps of the algorithm work on the same state.

After Click, "Global Code Motion / Global Value Numbering", 1995, with anti-dependences from linearity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import assert_never

from ...base.cached import cached_property
from ...base.deadline import check_compile_time
from ...base.records import dataclass, field
from .analyses import (
    ControlGraph,
    Dominators,
    ForkNest,
    LoopNest,
    block_leader,
    control_graph,
    dominators,
    fork_nest,
    loop_nest,
)
from .control_paths import ControlPaths
from .graph import def_use, is_control, predecessors
from .inference import infer_types
from .members import Members, members_of
from .nodes import (
    Call,
    Collect,
    ConstantNode,
    ControlNode,
    DynamicConstantNode,
    FloatingNode,
    Fork,
    Function,
    If,
    Join,
    Match,
    Node,
    Parameter,
    Phi,
    PinnedNode,
    Reduce,
    Region,
    Return,
    Start,
    ThreadID,
    Type,
)
from .types import is_collection
from .versions import Use, anti_dependences, consumed, looked_at


@dataclass(frozen=True, slots=True)
class Problem:
    """Why the nodes of a function cannot be placed: a sentence about a node."""

    node: Node
    message: str


@dataclass(frozen=True)
class Placement:
    """The block of each node of a function.

    `blocks` maps every reachable leader, in reverse postorder, to its floating nodes in order of execution; phis,
    thread numbers, Collects and Reduces are pinned to their control and are in no list. `exits` maps each leader to the
    node that ends its block: If, Match or Return, else the leader of the block that follows. `place` maps each live
    data node to its leader; that of a Reduce is its fork, although uses after the join see it at the join. `users` has
    the nodes that use each node, live or not.
    """

    function: Function
    types: Mapping[Node, Type]
    graph: ControlGraph
    dominators: Dominators
    nest: ForkNest
    loops: LoopNest
    live: frozenset[Node]
    users: Mapping[Node, Sequence[Node]]
    blocks: Mapping[Node, tuple[Node, ...]]
    exits: Mapping[Node, Node]
    place: Mapping[Node, Node]
    problems: tuple[Problem, ...]

    @cached_property
    def members(self) -> Members:
        """The nodes of each fork, block, region and call."""
        return members_of(self)


def place_nodes(function: Function, types: Mapping[Node, Type] | None = None) -> Placement:
    """Place the nodes of a function whose types and control structure are valid."""
    return _Placer(function, infer_types(function) if types is None else types).run()


@dataclass(frozen=True, slots=True)
class Latest:
    """The lowest block that all uses of each live data node allow, ignoring overwritten versions of collections.

    Cheaper than a `Placement`, and it also shows which uses of a Reduce are inside its fork.
    """

    types: Mapping[Node, Type]
    nest: ForkNest
    place: Mapping[Node, Node]


def latest_places(function: Function) -> Latest:
    """Compute the lowest blocks of a function whose types and control structure are valid."""
    return _Placer(function, infer_types(function)).latest()


def live_nodes(function: Function, graph: ControlGraph) -> frozenset[Node]:
    """The reachable control, and the data it needs, however indirectly. A phi that serves only itself is not live."""
    live: set[Node] = set()
    pending: list[Node] = [node for node in graph.order if isinstance(node, (Return, If, Match, Start))]
    reached = set(graph.order)
    live.update(reached)
    pending = [it for node in pending for it in predecessors(node)]
    while pending:
        node = pending.pop()
        if node in live:
            continue
        live.add(node)
        if isinstance(node, Phi) and isinstance(node.region, Region):
            pairs = zip(node.values, node.region.predecessors, strict=False)
            pending.extend(value for value, at in pairs if at in reached)
        elif not is_control(node):
            pending.extend(predecessors(node))
    return frozenset(live)


_ROUNDS = 100
_OVERWRITTEN = "reads a version that is overwritten before it can be read"


@dataclass(slots=True)
class _Placer:
    function: Function
    types: Mapping[Node, Type]
    problems: list[Problem] = field(default_factory=list[Problem])

    graph: ControlGraph = field(init=False)
    tree: Dominators = field(init=False)
    nest: ForkNest = field(init=False)
    loops: LoopNest = field(init=False)
    live: frozenset[Node] = field(init=False)
    users: dict[Node, tuple[Node, ...]] = field(init=False)
    leaders: dict[Node, Node] = field(init=False)
    depth: dict[Node, int] = field(init=False)
    shallower: dict[Node, Node] = field(init=False)
    paths: ControlPaths = field(init=False)
    pinned: dict[Node, Node] = field(default_factory=dict[Node, Node])
    place: dict[Node, Node] = field(default_factory=dict[Node, Node])
    last_place: dict[Node, Node] = field(default_factory=dict[Node, Node])
    early: dict[Node, Node] = field(default_factory=dict[Node, Node])
    late: dict[Node, Node] = field(default_factory=dict[Node, Node])
    consumers: dict[Node, list[Use]] = field(default_factory=dict[Node, list[Use]])
    readers: dict[Node, list[Use]] = field(default_factory=dict[Node, list[Use]])
    before: Mapping[Node, tuple[Node, ...]] = field(init=False)
    takes: dict[Node, tuple[tuple[Node, Use], ...]] = field(default_factory=dict[Node, tuple[tuple[Node, Use], ...]])
    looks: dict[Node, tuple[tuple[Node, Use], ...]] = field(default_factory=dict[Node, tuple[tuple[Node, Use], ...]])

    def latest(self) -> Latest:
        self._analyse()
        order = self._sorted(self._pin(), predecessors, "uses its own result")
        return Latest(self.types, self.nest, self._latest(order))

    def run(self) -> Placement:
        self._analyse()
        self._find_versions()
        order = self._sorted(self._pin(), predecessors, "uses its own result")
        self.late = self._latest(order)
        self._find_earliest(order)
        self._place_all(order)
        self._check_uses()
        self._check_linear()
        blocks = self._blocks(order)
        return Placement(
            self.function,
            self.types,
            self.graph,
            self.tree,
            self.nest,
            self.loops,
            self.live,
            self.users,
            blocks,
            self._exits(),
            self.place,
            tuple(self.problems),
        )

    # Preparation

    def _analyse(self) -> None:
        self.graph = control_graph(self.function)
        self.tree = dominators(self.graph)
        self.nest = fork_nest(self.graph)
        self.loops = loop_nest(self.graph, self.tree)
        self.live = live_nodes(self.function, self.graph)
        self.users = def_use(self.function)
        self.leaders = {node: block_leader(node) for node in self.graph.order}
        self.depth = {it: len(self.nest.around[it]) + len(self.loops.around[it]) for it in self.graph.order}
        self.shallower = self._shallower()
        self.paths = ControlPaths(self.graph, self.tree, self.loops, self.leaders)

    def _find_versions(self) -> None:
        for node in self.function.nodes:
            if node not in self.live:
                continue
            self.takes[node] = tuple(consumed(node, self.types, self.nest.forks))
            self.looks[node] = tuple(looked_at(node, self.types))
            for version, use in self.takes[node]:
                if use.control is None or use.control in self.leaders:
                    self.consumers.setdefault(version, []).append(use)
            for version, use in self.looks[node]:
                self.readers.setdefault(version, []).append(use)
        self.before = anti_dependences(self.consumers, self.readers)

    def _pin(self) -> list[Node]:
        """Place the nodes whose block is fixed; all others float."""
        floating: list[Node] = []
        for node in self.function.nodes:
            if node not in self.live or is_control(node):
                continue
            at = self._pinned_at(node)
            if at is None:
                floating.append(node)
            else:
                self.pinned[node] = self.early[node] = at
        return floating

    def _pinned_at(self, node: Node) -> Node | None:
        match node:
            case Reduce(join):
                return self.nest.forks[join] if isinstance(join, Join) else None
            case PinnedNode():
                return node.pinned_to()
            case Parameter() | DynamicConstantNode():
                return self.graph.order[0]
            case ConstantNode():
                return None if is_collection(self.types[node]) else self.graph.order[0]
            case FloatingNode() | ControlNode():
                return None
            case _:
                assert_never(node)

    # Order of the dependences

    def _earlier_or_reader(self, node: Node) -> Iterator[Node]:
        """The nodes that must run before a node in its block: its operands, and readers of versions it consumes."""
        yield from predecessors(node)
        yield from self.before.get(node, ())

    def _sorted(self, nodes: list[Node], before: Callable[[Node], Iterable[Node]], problem: str) -> list[Node]:
        """The nodes, each after those `before` it; a cycle is the problem of one node in it."""
        inside = set(nodes)
        done: dict[Node, bool] = {}
        result: list[Node] = []
        for root in nodes:
            if root in done:
                continue
            done[root] = False
            stack = [(root, iter(before(root)))]
            while stack:
                node, rest = stack[-1]
                following = next((it for it in rest if it in inside and not done.get(it, False)), None)
                if following is None:
                    done[node] = True
                    result.append(node)
                    stack.pop()
                elif following in done:
                    self.problems.append(Problem(following, problem))
                else:
                    done[following] = False
                    stack.append((following, iter(before(following))))
        return result

    # Placement

    def _place_all(self, order: list[Node]) -> None:
        """Place users before what they use. Where a reader may go depends on where the consumers went in the last
        round.
        """
        for _ in range(_ROUNDS):
            check_compile_time()
            self.last_place, self.place = self.place, dict(self.pinned)
            known = len(self.problems)
            for node in reversed(order):
                self._place_late(node)
            if self.place == self.last_place:
                return
            del self.problems[known:]
        raise AssertionError("placement does not settle")

    def _find_earliest(self, order: list[Node]) -> None:
        """The highest block of each node that all its operands, and its home if it has one, dominate.

        A consumer stays below the readers of what it consumes, and below the branch to other consumers. That and the
        homes depend on each other: a few rounds settle them.
        """
        homes: dict[Node, Node] = {}
        for _ in range(_ROUNDS):
            check_compile_time()
            for node in order:
                above = [self._available(operand, node) for operand in predecessors(node)]
                highest = self._deepest([*above, homes[node]] if node in homes else above)
                self.early[node] = self._fixed_at(node) or self._below_others(node, highest)
            known, homes = homes, self._homes(order)
            if homes == known:
                return
        raise AssertionError("the earliest blocks do not settle")

    def _available(self, operand: Node, user: Node) -> Node:
        """The highest block where a user may find its operand; from outside its fork, a Reduce is at the join."""
        at = self.early.get(operand, self.graph.order[0])
        if isinstance(operand, Reduce) and isinstance(at, Fork) and user in self.late:
            return at if at in self.nest.around[self.late[user]] else self.leaders[self.nest.joins[at]]
        return at

    def _below_others(self, node: Node, highest: Node) -> Node:
        """The highest block, from `highest` down, that no reader of a version that the node consumes can follow, and
        that leads to no other consumer of the version.
        """
        latest = self.late.get(node, highest)
        versions = [version for version, use in self.takes[node] if use.control is None]
        readers = [
            (version, self.early.get(reader.user, highest))
            for version in versions
            for reader in self.readers.get(version, ())
            if reader.control is None and reader.user is not node
        ]
        others = [
            block
            for version in versions
            for use in self.consumers[version]
            if use.user is not node and (block := self._lowest(use)) is not None
        ]
        branches = {at for block in others if (at := self.tree.common(latest, block)) is not latest}
        best = highest
        for at in self.tree.chain(latest) if readers or branches else ():
            if at in branches:
                break
            if self.leaders[at] is not at:
                continue
            if any(self._is_ahead(version, at, reader) for version, reader in readers):
                break
            best = at
            if at is highest:
                break
        return best

    def _is_ahead(self, version: Node, block: Node, reader: Node) -> bool:
        """Whether control can reach a reader's earliest block from the end of a block before the version changes."""
        (born, *_) = self._definitions(version)
        if self.loops.around[born] == self.loops.around[block] and self.tree.dominates(reader, block):
            return False
        return self._comes_to(version, block, reader)

    def _latest(self, order: list[Node]) -> dict[Node, Node]:
        """The lowest block of each used node, ignoring overwritten versions."""
        self.place = dict(self.pinned)
        for node in reversed(order):
            blocks = [at for user in self.users[node] for at in self._use_blocks(node, user)]
            if blocks:
                self.place[node] = self._fixed_at(node) or self.leaders[reduce(self.tree.common, blocks)]
        latest, self.place = self.place, {}
        return latest

    def _deepest(self, blocks: list[Node]) -> Node:
        """The lowest of blocks on one path down the dominator tree."""
        return max(blocks, key=self.tree.depth.__getitem__, default=self.graph.order[0])

    def _homes(self, order: list[Node]) -> dict[Node, Node]:
        """For each version with a consumer, the header of the loop or fork that both must be in.

        Storage that is taken over must be created again each time, so the nodes that create or change it never leave
        their consumer's nest.
        """
        homes: dict[Node, Node] = {}
        for node in reversed(order):
            uses = self.consumers.get(node, ())
            blocks = [block for use in uses if (block := self._reach(use, homes)) is not None]
            if blocks:
                at = reduce(self.tree.common, blocks)
                lowest = [block for use in uses if (block := self._lowest(use)) is not None]
                loops = [it for it in self.loops.around[at] if all(it in self.loops.around[low] for low in lowest)]
                forks = [it for it in self.nest.around[at] if all(it in self.nest.around[low] for low in lowest)]
                homes[node] = self._deepest([*(it.header for it in loops), *forks])
        return homes

    def _reach(self, use: Use, homes: Mapping[Node, Node]) -> Node | None:
        """The upper limit for the block of a consumer."""
        if use.control is not None:
            return self.leaders[use.control]
        bounds = [self.early[use.user]] if use.user in self.early else []
        return self._deepest([*bounds, homes[use.user]] if use.user in homes else bounds) if bounds else None

    def _lowest(self, use: Use) -> Node | None:
        """The lowest block in which a consumer may run: possibly below a loop that it cannot run above."""
        return self.leaders[use.control] if use.control is not None else self.late.get(use.user)

    def _place_late(self, node: Node) -> None:
        latest: Node | None = None
        for user in self.users[node]:
            for at in self._use_blocks(node, user):
                latest = at if latest is None else self.leaders[self.tree.common(latest, at)]
        if latest is None:
            return
        versions = [version for version, use in self.looks[node] if use.control is None]
        fixed = self._fixed_at(node)
        if fixed is not None:
            self.place[node] = fixed
            if any(self._is_gone(it, fixed) for it in versions):
                self.problems.append(Problem(node, _OVERWRITTEN))
            return
        takers = [block for use in self.consumers.get(node, ()) if (block := self._placed_at(use)) is not None]
        if takers:
            self.place[node] = self._in_nest(node, latest, self._nest_of_takers(takers), versions)
        else:
            self.place[node] = self._best_block(node, latest, versions)

    def _fixed_at(self, node: Node) -> Node | None:
        """The block of a Call that has a `control`."""
        return self.leaders[node.control] if isinstance(node, Call) and node.control is not None else None

    def _placed_at(self, use: Use) -> Node | None:
        return self.place.get(use.user) if use.control is None else self.leaders[use.control]

    def _in_nest(self, node: Node, latest: Node, wanted: tuple[object, object], versions: list[Node]) -> Node:
        """The lowest block in the nest of a version's consumers where no version that the node reads is overwritten:
        the consumers take over its storage, as often as it is made.
        """
        fallback = latest if not versions else None
        for at in self.tree.chain(latest):
            if self.leaders[at] is at and not any(self._is_gone(it, at) for it in versions):
                if self._nest_of(at) == wanted:
                    return at
                fallback = fallback or at
            if at is self.early[node]:
                break
        if fallback is None:
            self.problems.append(Problem(node, _OVERWRITTEN))
        return fallback or latest

    def _nest_of_takers(self, takers: list[Node]) -> tuple[object, object]:
        """The loops and forks around what dominates all consumers of a version, without loops that none of them is in:
        one may be behind such a loop, and another on a way out of it.
        """
        at = reduce(self.tree.common, takers)
        loops = [it for it in self.loops.around[at] if any(it in self.loops.around[block] for block in takers)]
        return tuple(loops), self.nest.around[at]

    def _nest_of(self, block: Node) -> tuple[object, object]:
        return self.loops.around[block], self.nest.around[block]

    def _best_block(self, node: Node, latest: Node, versions: list[Node]) -> Node:
        """The lowest of the least nested blocks between the earliest and the latest where no version it reads is
        overwritten.
        """
        early = self.early[node]
        if not self.tree.dominates(early, latest):
            self.problems.append(Problem(node, "does not dominate its uses"))
            return early
        best: Node | None = None
        least = self._least_depth(early, latest)
        at: Node | None = latest
        while at is not None and self.tree.dominates(early, at):
            if self.leaders[at] is at and not any(self._is_gone(it, at) for it in versions):
                best = at
                if self.depth[at] == least:
                    break
                at = self.shallower.get(at)
            else:
                at = self.tree.parent.get(at)
        if best is None:
            self.problems.append(Problem(node, _OVERWRITTEN))
        return best or latest

    def _least_depth(self, early: Node, latest: Node) -> int:
        """A lower bound of the nesting depth of the blocks between two: all are in the nests around both."""
        pairs = [*zip(self.loops.around[early], self.loops.around[latest], strict=False)]
        forks = [*zip(self.nest.around[early], self.nest.around[latest], strict=False)]
        return sum(one is other for one, other in pairs) + sum(one is other for one, other in forks)

    def _shallower(self) -> dict[Node, Node]:
        """For each block the nearest one that dominates it and is less deeply nested."""
        found: dict[Node, Node] = {}
        for node in self.graph.order:
            above = self.tree.parent.get(node)
            while above is not None and self.depth[above] >= self.depth[node]:
                above = found.get(above)
            if above is not None:
                found[node] = self.leaders[above]
        return found

    def _use_blocks(self, node: Node, user: Node) -> Iterator[Node]:
        """The blocks at whose end, or somewhere in which, `user` needs the value of `node`."""
        if user not in self.live:
            return
        match user:
            case Phi(Region() as region, values):
                for value, at in zip(values, region.predecessors, strict=False):
                    if value is node and at in self.leaders:
                        yield self.leaders[at]
            case Reduce(Join() as join, init, update):
                if init is node:
                    yield self.leaders[self.nest.forks[join].control]
                if update is node:
                    yield self.leaders[join.control]
            case Collect(Join() as join):
                yield self.leaders[join.control]
            case If(control) | Match(control) | Return(control):
                yield self.leaders[control]
            case Phi() | Reduce() | Collect() | ThreadID() | FloatingNode() | Start() | Region() | Fork() | Join():
                if user in self.place:
                    yield self.place[user]
            case _:
                assert_never(user)

    # Linearity

    def _definitions(self, version: Node) -> tuple[Node, ...]:
        """The blocks in which the version is defined."""
        at = self.last_place.get(version, self.early.get(version, self.graph.order[0]))
        return (at, self.nest.joins[at]) if isinstance(version, Reduce) and isinstance(at, Fork) else (at,)

    def _block_of(self, use: Use) -> Node | None:
        return self.last_place.get(use.user) if use.control is None else self.leaders[use.control]

    def _comes_to(self, version: Node, block: Node, target: Node) -> bool:
        """Whether control may enter `target` after `block` before the version is defined again."""
        return self.paths.can_reach(block, target, self._definitions(version))

    def _is_gone(self, version: Node, block: Node) -> bool:
        """Whether the version may have been consumed before the block begins."""
        uses = [self._block_of(use) for use in self.consumers.get(version, ())]
        (born, *_) = self._definitions(version)
        # Without a loop that the version does not come into being in, no path leads from below back up.
        if self.loops.around[born] == self.loops.around[block] and all(
            it is None or self.tree.dominates(block, it) for it in uses
        ):
            return False
        return any(it is not None and self._comes_to(version, it, block) for it in uses)

    def _check_linear(self) -> None:
        for version, uses in self.consumers.items():
            blocks = [(use, at) for use in uses if (at := self._block_of(use)) is not None]
            nests = [self.nest.around[it] for it in self._definitions(version)]
            for index, (use, at) in enumerate(blocks):
                if self.nest.around[at] not in nests:
                    self.problems.append(Problem(use.user, "consumes a collection from outside its fork"))
                others = [it for number, (_, it) in enumerate(blocks) if number != index]
                is_once = self.loops.around[at] == self.loops.around[self._definitions(version)[0]]
                again = others if is_once and not others else [at, *others]
                if at in others[index:] or any(self._comes_to(version, at, it) for it in again):
                    self.problems.append(Problem(use.user, "consumes a version that has another consumer"))
            self._check_pinned_readers(version, blocks)

    def _check_pinned_readers(self, version: Node, consumers: list[tuple[Use, Node]]) -> None:
        for use in self.readers.get(version, ()):
            if use.control is None:
                continue
            at = self.leaders[use.control]
            if self._is_gone(version, at) or any(it is at and by.control is None for by, it in consumers):
                self.problems.append(Problem(use.user, _OVERWRITTEN))

    # Checks and results

    def _check_uses(self) -> None:
        for node, at in self.place.items():
            for user in self.users[node]:
                for block in self._use_blocks(node, user):
                    self._check_use(node, at, block, user)

    def _check_use(self, node: Node, at: Node, block: Node, user: Node) -> None:
        if isinstance(node, Reduce) and isinstance(at, Fork) and at not in self.nest.around[block]:
            at = self.nest.joins[at]
        around = self.nest.around[at]
        if not self.tree.dominates(at, block):
            self.problems.append(Problem(user, "uses a value that does not dominate it"))
        elif self.nest.around[block][: len(around)] != around:
            self.problems.append(
                Problem(user, "uses a value of a fork after its join; Collect or Reduce carry values out")
            )

    def _blocks(self, order: list[Node]) -> Mapping[Node, tuple[Node, ...]]:
        blocks: dict[Node, list[Node]] = {it: [] for it in self.graph.order if self.leaders[it] is it}
        for node in order:
            if node in self.place:
                blocks[self.place[node]].append(node)
        problem = "reads a version that has to be overwritten before"
        return {it: tuple(self._sorted(nodes, self._earlier_or_reader, problem)) for it, nodes in blocks.items()}

    def _exits(self) -> Mapping[Node, Node]:
        exits: dict[Node, Node] = {}
        for node in self.graph.order:
            for following in self.graph.successors[node]:
                if self.leaders[node] is node:
                    exits[node] = following
        return exits
