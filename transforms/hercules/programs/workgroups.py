"""Kernels whose threads are long: a workgroup runs each, and folds by a tree.

The body of such a thread is forks one after another, each of which folds scalars (`folds`) or has independent threads.
Each fork becomes one over the invocations of a workgroup. Invocation `l` of `w` runs the threads l, l + w, l + 2w …, so
that neighbours read neighbouring elements. Where the fork folds, each invocation puts what it has into an array, and
forks combine its first half with its second until one value is left:

    partial = reduce(lanes_end, none, partial2)       the results of the invocations
    step = fork(lanes_end, w)
    t = thread_id(step)
    below = less(t, w / 2)                            only these write
    changed = reduce(step_end, partial, written)      element t becomes that of t and t + w / 2

Code between the forks has the same result for all invocations. What it writes is written by the first invocation, in a
fork of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Final

from ....ir.hercules import dynamic
from ....ir.hercules.cache import Analyses
from ....ir.hercules.graph import def_use, is_control, predecessors, replace_all, replace_predecessor
from ....ir.hercules.layout import buffer_size
from ....ir.hercules.nodes import (
    Atomic,
    Binary,
    BinaryOp,
    Call,
    Collect,
    ConstantNode,
    ControlIndex,
    Float,
    Fork,
    Function,
    If,
    Integer,
    IntegerConstant,
    Join,
    Node,
    Phi,
    PositionIndex,
    Read,
    Reduce,
    Region,
    Return,
    ThreadID,
    Type,
    Write,
    ZeroConstant,
)
from ....ir.hercules.placement import Placement, place_nodes
from ....ir.hercules.program import GridKernel
from ....ir.hercules.types import U64, array, constant_type, is_collection, substitute
from ....ir.hercules.versions import version_of
from ..folds import Group, Selection, divide, folds_of, with_thread
from ..fork_tiling import Tiles, strided
from ..forks import PLACED_CALLS, ForkBody, Forks
from .grids import Grids

_WORD: Final = 4
"""Bytes of the least part of workgroup memory, and of the number of a fork's thread."""


@dataclass(frozen=True)
class WorkgroupTrees:
    """Has a workgroup run each thread of a kernel's grid, where that is possible and, by a rough estimate, `gain` times
    as fast.

    `size` is the greatest number of invocations of a workgroup, `memory` the bytes of its memory. `lanes` is how many
    invocations a device is expected to run at once, `subgroup` how many of these do so in step. A step of a tree with
    its barrier is expected to take as long as `step` iterations of a fold. With `reassociate`, floats are added and
    multiplied in another order, too.
    """

    size: int = 256
    memory: int = 16_384
    lanes: int = 16_384
    subgroup: int = 32
    step: float = 4
    gain: float = 2
    reassociate: bool = False
    name = "workgroup_trees"

    def run(self, kernel: GridKernel, constants: Sequence[int]) -> GridKernel:
        """The kernel for these values of the dynamic constants, whose function is changed, or the kernel as it is."""
        if self.obstacle(kernel, constants) is not None:
            return kernel
        forks = _stages(place_nodes(kernel.function), kernel)
        assert forks is not None
        size = self.invocations(kernel, forks, constants)
        for fork in forks:
            extent = dynamic.evaluate(fork.factor, constants)
            _share(kernel.function, fork, size, extent=extent, reassociate=self.reassociate)
        _guard_writes(kernel, size)
        return replace(kernel, workgroup=size)

    def obstacle(self, kernel: GridKernel, constants: Sequence[int]) -> str | None:
        """Why a thread of a kernel is run by one invocation; None if a workgroup runs it."""
        placed = place_nodes(kernel.function)
        forks = _stages(placed, kernel)
        if forks is None:
            return "a thread has other control than forks one after another"
        if not forks:
            return "a thread runs no fork"
        size = self.invocations(kernel, forks, constants)
        if size < 2:
            return "there are enough threads, or they are short"
        grids = Grids(placed, constants)
        known = Forks.of(Analyses(kernel.function))
        memory = _memory(placed, constants)
        for fork in forks:
            body = known.body(fork)
            found = _obstacle_of_fork(body, grids, reassociate=self.reassociate)
            if found is not None:
                return found
            folds = folds_of(body, reassociate=self.reassociate)
            memory += size * sum(_bytes_of_fold(it, placed.types) for it in folds)
        if memory > self.memory:
            return "what a thread makes does not fit workgroup memory"
        return _obstacle_between(kernel, placed)

    def invocations(self, kernel: GridKernel, forks: Sequence[Fork], constants: Sequence[int]) -> int:
        """How many invocations run a thread: 1, or the power of two that takes the least time."""
        threads = prod(dynamic.evaluate(it, constants) for it in kernel.factors)
        extents = [dynamic.evaluate(it.factor, constants) for it in forks]
        alone = self._rounds(-(-threads // self.subgroup)) * sum(extents)
        sizes = [1 << it for it in range(1, self.size.bit_length())]
        costs = {size: self._cost(threads, extents, size) for size in sizes}
        best = min(sizes, key=costs.__getitem__, default=1)
        return best if best > 1 and costs[best] * self.gain <= alone else 1

    def _cost(self, threads: int, extents: Sequence[int], size: int) -> float:
        """The time of a kernel in iterations, where so many invocations run a thread."""
        steps = self.step * (size.bit_length() - 1)
        rounds = self._rounds(threads * -(-size // self.subgroup))
        return rounds * sum(-(-it // size) + steps for it in extents)

    def _rounds(self, subgroups: int) -> float:
        """How often a device is full of a number of subgroups."""
        return max(1.0, subgroups * self.subgroup / self.lanes)


def _memory(placed: Placement, constants: Sequence[int]) -> int:
    """At most how many bytes the collections take that a thread makes."""
    users = def_use(placed.function)
    found = 0
    for node in placed.function.nodes:
        if isinstance(node, ConstantNode) and is_collection(placed.types.get(node)):
            found += len(users[node]) * _bytes(placed.types[node], constants)
    return found


def _stages(placed: Placement, kernel: GridKernel) -> list[Fork] | None:
    """The forks that a thread of the grid runs one after another; None if it has other control."""
    node = placed.graph.order[0]
    for _ in range(kernel.depth):
        (node,) = placed.graph.successors[node]
    forks: list[Fork] = []
    while True:
        (node,) = placed.graph.successors[node]
        if not isinstance(node, Fork):
            return forks if isinstance(node, (Join, Return)) else None
        forks.append(node)
        node = placed.nest.joins[node]


def _obstacle_of_fork(body: ForkBody, grids: Grids, *, reassociate: bool) -> str | None:
    """Why the threads of a fork are not shared among invocations; None if they are."""
    folded = {it for fold in folds_of(body, reassociate=reassociate) for it in fold.reduces}
    if body.has_placed_calls:
        return PLACED_CALLS
    if body.collects:
        return "a fork collects"
    for reduce in body.reduces:
        if reduce not in folded and not grids.has_own_elements(reduce, body.fork):
            if body.iterations.fold(reduce, reduce.update, reassociate=True) is not None:
                return "floats are added or multiplied, whose order shows (see `reassociate`)"
            return "a thread runs a fork whose threads depend on each other"
    return None


def _obstacle_between(kernel: GridKernel, placed: Placement) -> str | None:
    """What the code between the forks does that invocations cannot do together; None if there is nothing."""
    between = [it for it in _between(kernel, placed) if not is_control(it)]
    types = placed.types
    if any(isinstance(it, (Atomic, Call, Collect)) for it in between):
        return "a thread has atomics or calls between its forks"
    if any(isinstance(it, Read) and is_collection(types[it]) for it in between):
        return "a thread copies a collection between its forks"
    writes = [it for it in between if isinstance(it, Write)]
    versions = {it.collection for it in writes} & {*writes}
    if any(isinstance(it, Read) and version_of(it.collection) in versions for it in placed.place):
        return "a thread reads what it writes between its forks"
    return None


def _bytes(type: Type, constants: Sequence[int]) -> int:
    literal = substitute(type, [dynamic.literal(it) for it in constants])
    return dynamic.evaluate(buffer_size(literal), ())


def _bytes_of_fold(fold: Group, types: Mapping[Node, Type]) -> int:
    """At most how many bytes each invocation puts into arrays of scalars, of which a bool takes a word."""
    known = [types[it] for it in fold.reduces]
    values = sum(max(_WORD, it.bits // 8) if isinstance(it, (Integer, Float)) else _WORD for it in known)
    return values + (_WORD if isinstance(fold, Selection) else 0)


def _between(kernel: GridKernel, placed: Placement) -> Iterator[Node]:
    """The nodes in the blocks of a thread that are in none of its forks."""
    for node, at in placed.place.items():
        if len(placed.nest.around[at]) <= kernel.depth:
            yield node


def _share(function: Function, fork: Fork, size: int, *, extent: int, reassociate: bool) -> None:
    """Share the `extent` threads of a fork among the `size` invocations of a workgroup."""
    known = Analyses(function)
    body = Forks.of(known).body(fork)
    folds = [with_thread(body, it, extent) for it in folds_of(body, reassociate=reassociate)]
    (after,) = body.forks.placed.graph.successors[body.join]
    tree = _Tree(function, size, body.join)
    takers: dict[Reduce, Node] = {}
    types = {reduce: _type_of(reduce, body) for fold in folds for reduce in fold.reduces}
    for fold in folds:
        parts = [Collect(body.join, it.update, label=it.label, span=it.span) for it in fold.reduces]
        function.nodes += parts
        takers |= zip(fold.reduces, parts, strict=True)
    totals = tree.fold(folds, takers)
    for reduce, total in totals.items():
        for user in body.forks.users.get(reduce, ()):
            if not body.is_inside(user):
                replace_predecessor(user, reduce, total)
    if folds:
        replace_predecessor(after, body.join, tree.end)
    tiles = Tiles(dynamic.literal(size), dynamic.ceil_div(fork.factor, size), extent % size == 0)
    divide(known, fork, folds, takers, (tiles, strided))
    for reduce, part in takers.items():
        assert isinstance(part, Collect)
        _make_in_place(function, part, array(types[reduce], size), fork)


def _type_of(reduce: Reduce, body: ForkBody) -> Type:
    if reduce in body.forks.placed.types:
        return body.forks.placed.types[reduce]
    assert isinstance(reduce.init, ConstantNode)
    return constant_type(reduce.init.value)


@dataclass
class _Tree:
    """Combines what the invocations of a workgroup have, after the control node `end`."""

    function: Function
    size: int
    end: Node

    def fold(self, folds: Sequence[Group], parts: Mapping[Reduce, Node]) -> dict[Reduce, Node]:
        """The results of folds, by their Reduces. `parts` are arrays of what the invocations have."""
        arrays = dict(parts)
        half = self.size // 2
        while half and folds:
            arrays = self._step(folds, arrays, half)
            half //= 2
        totals: dict[Reduce, Node] = {}
        for fold in folds:
            first = PositionIndex(self._add(ConstantNode(IntegerConstant(U64, 0))))
            values = [self._add(Read(arrays[it], [first])) for it in fold.reduces]
            totals |= zip(fold.reduces, fold.after_start(values, self.function.nodes.append), strict=True)
        return totals

    def _add(self, node: Node) -> Node:
        self.function.nodes.append(node)
        return node

    def _step(self, folds: Sequence[Group], arrays: Mapping[Reduce, Node], half: int) -> dict[Reduce, Node]:
        """The arrays after the element `half` further has been combined with each of the first `half` elements."""
        first = _FirstThreads(self.function, self.end, self.size, half)
        self.end = first.join
        further = self._add(Binary(BinaryOp.ADD, first.thread, first.count))
        here, there = PositionIndex(first.thread), PositionIndex(further)
        changed: dict[Reduce, Node] = {}
        for fold in folds:
            carried = [first.carry(arrays[it]) for it in fold.reduces]
            current = [self._add(Read(it, [here])) for it in carried]
            other = [self._add(Read(it, [there])) for it in carried]
            values = fold.combined(current, other, self.function.nodes.append)
            for version, value in zip(carried, values, strict=True):
                first.let(version, self._add(Write(version, value, [here])))
            changed |= zip(fold.reduces, carried, strict=True)
        return changed


class _FirstThreads:
    """A fork over the invocations of a workgroup, after the control node `after`, of which the first `most` do
    something.
    """

    def __init__(self, function: Function, after: Node, size: int, most: int) -> None:
        self._function = function
        self._fork = Fork(after, dynamic.literal(size))
        self.thread = ThreadID(self._fork, label="lane")
        self.count = ConstantNode(IntegerConstant(U64, most))
        below = Binary(BinaryOp.LESS, self.thread, self.count)
        test = If(self._fork, below)
        past, inside = Read(test, [ControlIndex(0)]), Read(test, [ControlIndex(1)])
        self._region = Region([past, inside])
        self.join = Join(self._region)
        function.nodes += [self._fork, self.thread, self.count, below, test, past, inside, self._region, self.join]

    def carry(self, before: Node) -> Reduce:
        """A version of a collection in each thread, and after all of them."""
        made = Reduce(self.join, before, before, label=before.label)
        self._function.nodes.append(made)
        return made

    def let(self, carried: Reduce, version: Node) -> None:
        """Let the first threads make another version of what is carried."""
        carried.update = Phi(self._region, [carried, version])
        self._function.nodes.append(carried.update)


def _make_in_place(function: Function, part: Collect, type: Type, fork: Fork) -> None:
    """Replace a Collect by writes of an array, which later forks change."""
    zero, thread = ConstantNode(ZeroConstant(type)), ThreadID(fork, label="lane")
    carried = Reduce(part.join, zero, zero, label=f"{part.label or 'fold'}_parts", span=part.span)
    carried.update = Write(carried, part.value, [PositionIndex(thread)])
    function.nodes = [it for it in function.nodes if it is not part]
    function.nodes += [zero, thread, carried, carried.update]
    replace_all(function, {part: carried})


def _guard_writes(kernel: GridKernel, size: int) -> None:
    """Let the first invocation do what is written between the forks of a thread."""
    placed = place_nodes(kernel.function)
    for leader, nodes in placed.blocks.items():
        writes = [it for it in nodes if isinstance(it, Write)]
        if writes and len(placed.nest.around[leader]) == kernel.depth:
            _guard(kernel.function, leader, placed.graph.successors[leader][0], writes, size)


def _guard(function: Function, leader: Node, following: Node, writes: Sequence[Write], size: int) -> None:
    """Do writes of a block in a fork after it."""
    first = _FirstThreads(function, leader, size, 1)
    inside = {*writes}
    last = [it for it in writes if not any(other.collection is it for other in writes)]
    users = {it: [user for user in function.nodes if it in predecessors(user) and user not in inside] for it in last}
    for write in last:
        start = write
        while start.collection in inside:
            assert isinstance(start.collection, Write)
            start = start.collection
        carried = first.carry(start.collection)
        start.collection = carried
        for user in users[write]:
            replace_predecessor(user, write, carried)
        first.let(carried, write)
    replace_predecessor(following, leader, first.join)
