"""Control analyses for passes and backends: control flow, dominance, forks and loops.

Every analysis is a function of the current graph. Nothing is cached here: run the analysis again after an edit. All
analyses cover only nodes reachable from Start, and expect a verified function unless they say otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...base.records import dataclass, field
from .graph import control_predecessors, is_control, is_projection
from .nodes import Fork, Function, Join, Node, Read, Region, Start

Flow = Mapping[Node, tuple[Node, ...]]


@dataclass(frozen=True, slots=True)
class ControlGraph:
    """The control nodes reachable from Start, in reverse postorder, and the edges among them.

    Predecessors keep the order of a region's inputs; predecessors that cannot be reached are left out.
    """

    order: tuple[Node, ...]
    successors: Flow
    predecessors: Flow


def control_graph(function: Function) -> ControlGraph:
    """The control flow of any function, verified or not."""
    successors: dict[Node, list[Node]] = {node: [] for node in function.nodes if is_control(node)}
    for node in successors:
        for before in dict.fromkeys(control_predecessors(node)):
            if before in successors:
                successors[before].append(node)
    flow = {node: tuple(after) for node, after in successors.items()}
    starts = [node for node in flow if isinstance(node, Start)]
    order = _reverse_postorder(starts[:1], flow)
    reached = set(order)
    predecessors = {node: tuple(it for it in control_predecessors(node) if it in reached) for node in order}
    return ControlGraph(order, {node: flow[node] for node in order}, predecessors)


def _reverse_postorder(roots: Iterable[Node], flow: Flow) -> tuple[Node, ...]:
    order: list[Node] = []
    seen: set[Node] = set()
    for root in roots:
        seen.add(root)
        stack: list[tuple[Node, Iterator[Node]]] = [(root, iter(flow[root][::-1]))]
        while stack:
            node, rest = stack[-1]
            following = next((it for it in rest if it not in seen), None)
            if following is None:
                order.append(node)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(flow[following][::-1])))
    return tuple(reversed(order))


@dataclass(frozen=True, slots=True)
class Dominators:
    """A dominator tree. `parent` leaves the root out; `depth` of the root is 0.

    `jump` leads to some node further up, such that any ancestor is a logarithmic number of steps away (after Myers, "An
    applicative random-access stack", 1983). `below` numbers the tree: the nodes under one have the numbers from its
    first to its last.
    """

    parent: Mapping[Node, Node]
    depth: Mapping[Node, int]
    jump: Mapping[Node, Node]
    below: Mapping[Node, tuple[int, int]]

    def __contains__(self, node: Node) -> bool:
        return node in self.depth

    def dominates(self, above: Node, below: Node) -> bool:
        """Whether every path to `below` passes `above`; a node dominates itself."""
        if above not in self.below or below not in self.below:
            return False
        first, last = self.below[above]
        return first <= self.below[below][0] <= last

    def _up(self, node: Node, depth: int) -> Node:
        while self.depth[node] > depth:
            far = self.jump[node]
            node = far if self.depth[far] >= depth else self.parent[node]
        return node

    def common(self, left: Node, right: Node) -> Node:
        """The nearest node that dominates both."""
        depth = min(self.depth[left], self.depth[right])
        left, right = self._up(left, depth), self._up(right, depth)
        while left is not right:
            # Nodes of one depth jump equally far.
            step = self.parent if self.jump[left] is self.jump[right] else self.jump
            left, right = step[left], step[right]
        return left

    def chain(self, node: Node) -> Iterator[Node]:
        """The node, its immediate dominator, and so on up to the root."""
        yield node
        while node in self.parent:
            node = self.parent[node]
            yield node


def dominators(graph: ControlGraph) -> Dominators:
    """The dominator tree of the control nodes, from Start."""
    return _dominators(graph.order, graph.predecessors)


def post_dominators(graph: ControlGraph) -> Dominators:
    """The post-dominator tree of the control nodes. With several ends (returns), the root is a Region outside the
    graph.

    Nodes from which no end can be reached are not in it.
    """
    ends = [node for node in graph.order if not graph.successors[node]]
    backward: dict[Node, tuple[Node, ...]] = dict(graph.predecessors)
    forward: dict[Node, tuple[Node, ...]] = dict(graph.successors)
    if len(ends) == 1:
        root = ends[0]
    else:
        root = Region(list(ends))
        backward[root] = tuple(ends)
        forward |= dict.fromkeys(ends, (root,))
    order = _reverse_postorder([root], backward)
    reached = set(order)
    return _dominators(order, {node: tuple(it for it in forward.get(node, ()) if it in reached) for node in order})


def _dominators(order: tuple[Node, ...], predecessors: Flow) -> Dominators:
    """Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm"."""
    number = {node: index for index, node in enumerate(order)}
    parent: dict[Node, Node] = {}
    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            known = [it for it in predecessors[node] if it is order[0] or it in parent]
            best = known[0]
            for other in known[1:]:
                best = _meet(best, other, parent, number)
            if parent.get(node) is not best:
                parent[node] = best
                changed = True
    depth: dict[Node, int] = {}
    jump: dict[Node, Node] = {}
    for node in order:
        above = parent.get(node, node)
        depth[node] = depth[above] + 1 if above is not node else 0
        far = jump.get(above, above)
        is_even = depth[above] - depth[far] == depth[far] - depth[jump.get(far, far)]
        jump[node] = jump.get(far, far) if is_even else above
    return Dominators(parent, depth, jump, _intervals(order, parent))


def _intervals(order: tuple[Node, ...], parent: Mapping[Node, Node]) -> dict[Node, tuple[int, int]]:
    """For each node its number and the last one below it, in preorder; `order` has parents before their children."""
    sizes = dict.fromkeys(order, 1)
    for node in reversed(order):
        if node in parent:
            sizes[parent[node]] += sizes[node]
    first: dict[Node, int] = {}
    free: dict[Node, int] = {}
    for node in order:
        number = free[parent[node]] if node in parent else 0
        first[node] = number
        free[node] = number + 1
        if node in parent:
            free[parent[node]] += sizes[node]
    return {node: (number, number + sizes[node] - 1) for node, number in first.items()}


def _meet(left: Node, right: Node, parent: Mapping[Node, Node], number: Mapping[Node, int]) -> Node:
    while left is not right:
        while number[left] > number[right]:
            left = parent[left]
        while number[right] > number[left]:
            right = parent[right]
    return left


@dataclass(frozen=True, slots=True)
class ForkNest:
    """Which join ends which fork, and the forks around each control node, outermost first.

    A fork is inside itself; its join is not. Where paths disagree about the forks around a node, or a join has none,
    the node is in `inconsistent`.
    """

    joins: Mapping[Fork, Join]
    forks: Mapping[Join, Fork]
    around: Mapping[Node, tuple[Fork, ...]]
    inconsistent: tuple[Node, ...] = ()


def fork_nest(graph: ControlGraph) -> ForkNest:
    """The nest of forks and joins, also of functions that are not verified."""
    joins: dict[Fork, Join] = {}
    forks: dict[Join, Fork] = {}
    around: dict[Node, tuple[Fork, ...]] = {}
    wrong: list[Node] = []
    for node in graph.order:
        before = [around[it] for it in graph.predecessors[node] if it in around]
        nest = before[0] if before else ()
        if isinstance(node, Fork):
            nest = (*nest, node)
        elif isinstance(node, Join):
            if not nest or joins.setdefault(nest[-1], node) is not node:
                wrong.append(node)
            else:
                forks[node] = nest[-1]
            nest = nest[:-1]
        around[node] = nest
    for node in graph.order:
        if isinstance(node, Region) and any(around[it] != around[node] for it in graph.predecessors[node]):
            wrong.append(node)
    return ForkNest(joins, forks, around, tuple(wrong))


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A natural loop: its header, its back edges' sources, and its control nodes, the header first."""

    header: Region
    latches: tuple[Node, ...]
    body: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class LoopNest:
    """All loops, and the loops around each control node, outermost first. A header is inside its loop."""

    loops: tuple[Loop, ...]
    around: Mapping[Node, tuple[Loop, ...]]
    irreducible: tuple[Node, ...] = field(default=())


def loop_nest(graph: ControlGraph, tree: Dominators | None = None) -> LoopNest:
    """The natural loops.

    A region is irreducible if it is the target of a backward edge whose source it does not dominate.
    """
    tree = dominators(graph) if tree is None else tree
    number = {node: index for index, node in enumerate(graph.order)}
    loops: list[Loop] = []
    irreducible: list[Node] = []
    for node in graph.order:
        latches = tuple(it for it in graph.predecessors[node] if number[it] >= number[node])
        if not all(tree.dominates(node, it) for it in latches):
            irreducible.append(node)
        elif latches and isinstance(node, Region):
            loops.append(Loop(node, latches, _loop_body(graph, node, latches)))
    around: dict[Node, tuple[Loop, ...]] = dict.fromkeys(graph.order, ())
    for loop in sorted(loops, key=lambda it: len(it.body), reverse=True):
        for node in loop.body:
            around[node] = (*around[node], loop)
    return LoopNest(tuple(loops), around, tuple(irreducible))


def _loop_body(graph: ControlGraph, header: Node, latches: Iterable[Node]) -> tuple[Node, ...]:
    body: dict[Node, None] = {header: None}
    pending = list(latches)
    while pending:
        node = pending.pop()
        if node not in body:
            body[node] = None
            pending.extend(graph.predecessors[node])
    return tuple(body)


def block_leader(node: Node) -> Node:
    """The head of the basic block of a control node: a Start, Region, Fork, Join or an output of a branch.

    A branch or return ends the block of its control predecessor.
    """
    while not (isinstance(node, (Start, Region, Fork, Join)) or (isinstance(node, Read) and is_projection(node))):
        (node,) = control_predecessors(node)
    return node
