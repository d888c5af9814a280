"""Makes kernels of blocks, and the steps around their dispatches that copy and clear buffers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from ....ir.hercules.analyses import block_leader
from ....ir.hercules.graph import control_predecessors, map_predecessors
from ....ir.hercules.nodes import (
    Atomic,
    ConstantNode,
    ControlNode,
    FieldIndex,
    FloatingNode,
    Fork,
    If,
    InputNode,
    IntegerConstant,
    Join,
    Node,
    Parameter,
    Phi,
    PinnedNode,
    ProductNode,
    Read,
    Reduce,
    Region,
    Return,
    Select,
    ThreadID,
    ZeroConstant,
)
from ....ir.hercules.placement import Placement
from ....ir.hercules.program import Copy, Step
from ....ir.hercules.types import U32, is_scalar
from ....ir.hercules.versions import AFTER, is_version_projection, version_of
from .outline import KernelMaker

if TYPE_CHECKING:
    from .split import Splitter


@dataclass(frozen=True, slots=True, eq=False)
class Transfer:
    """A Phi, a Reduce, a part of the result, or a flag, gets a value where control leaves some blocks.

    `values` has a value for each of these blocks, `buffer` is where it goes: a collection is all of it, a scalar its
    only element, or the field `slot`. `node` is what needs the value.
    """

    node: Node
    values: Sequence[Node]
    buffer: int
    slot: FieldIndex | None = None


@dataclass
class Outliner:
    """A kernel of the blocks `leaders`, which control enters at `first`."""

    splitter: Splitter
    leaders: Sequence[Node]
    first: Node
    before: list[Step] = field(default_factory=list[Step])
    after: list[Step] = field(default_factory=list[Step])
    copies: dict[Node, Node] = field(default_factory=dict[Node, Node])
    maker: KernelMaker = field(init=False)
    inside: frozenset[Node] = field(init=False)
    own: frozenset[Node] = field(init=False)
    """What is computed by this kernel only, and not known where it starts."""

    def __post_init__(self) -> None:
        self.maker = self.splitter.new_maker()
        self.inside = frozenset(self.leaders)
        places = self.splitter.place.items()
        self.own = frozenset(it for it, at in places if at in self.inside and self._is_own(it))

    @property
    def placed(self) -> Placement:
        """The function's placement."""
        return self.splitter.placed

    def _is_own(self, node: Node) -> bool:
        return node not in self.splitter.again and not isinstance(node, (InputNode, ProductNode))

    def control(self) -> list[Node]:
        """The control nodes of the kernel, the first one excepted."""
        return [it for it in self.placed.graph.order if it is not self.first and self._has_control(it)]

    def _has_control(self, node: Node) -> bool:
        if isinstance(node, If):
            return all(it in self.inside for it in self.placed.graph.successors[node])
        return node in self.inside

    def copy(self, nodes: Sequence[Node]) -> None:
        """Copy nodes into the kernel, which `connect` completes."""
        for node in nodes:
            self.copies[node] = self.maker.add(node.copy())

    def ordered(self) -> list[Node]:
        """The nodes that the kernel computes."""
        return [it for it in self.splitter.place if it in self.own]

    def connect(self, nodes: Sequence[Node]) -> None:
        """Let the copies of nodes use each other, and what the kernel gets."""
        for node in nodes:
            map_predecessors(self.copies[node], self.resolve)

    def resolve(self, node: Node) -> Node:
        """The node of the kernel that is a node of the function."""
        if node not in self.copies:
            self.copies[node] = self._given(node)
        return self.copies[node]

    def _given(self, node: Node) -> Node:
        """What another kernel has made, or what is computed again."""
        splitter, maker = self.splitter, self.maker
        type = self.placed.types[node]
        if isinstance(node, Parameter) and is_scalar(type):
            return maker.load(splitter.scalar_parameters[node.index], maker.position(0))
        if isinstance(node, ThreadID):
            return maker.counter(splitter.counter(node.fork))
        if node in splitter.again:
            made = maker.add(node.copy())
            map_predecessors(made, self.resolve)
            return made
        if is_scalar(type):
            return maker.load(splitter.state_buffer(), splitter.slot(node))
        return maker.parameter(splitter.buffer_of(node))

    def dispatched(self, depth: int) -> Iterator[Step]:
        """The steps before the dispatch, the dispatch if it does anything, and the steps after it."""
        yield from self.before
        if self.maker.written:
            yield self.splitter.dispatch(self.maker, depth)
        yield from self.after


@dataclass
class GridOutliner(Outliner):
    """A kernel whose outermost forks are a grid; `first` is the first of these."""

    def steps(self, depth: int) -> Iterator[Step]:
        """The dispatch."""
        fork = self.first
        assert isinstance(fork, Fork)
        join = self.placed.nest.joins[fork]
        self.copies[fork.control] = self.maker.start
        nodes = [fork, *self.control(), join, *self.ordered()]
        self.copy(nodes)
        self.maker.end = self.copies[join]
        reduces = self.splitter.reduces(join)
        self.connect([it for it in nodes if it not in reduces])
        for reduce in reduces:
            buffer = self.splitter.buffer_of(reduce)
            made = self.copies[reduce]
            assert isinstance(made, Reduce)
            made.join, made.init, made.update = (
                self.copies[join],
                self.maker.parameter(buffer),
                self.resolve(reduce.update),
            )
            if any(self.splitter.place.get(it) not in self.inside for it in self.splitter.users[reduce]):
                self.maker.written[buffer] = made
        yield from self.dispatched(depth)


@dataclass
class StraightOutliner(Outliner):
    """A kernel that runs once."""

    clears: list[Step] = field(default_factory=list[Step])

    def _is_own(self, node: Node) -> bool:
        match node:
            case Phi(region=at) | ThreadID(fork=at):
                return at is not self.first and super()._is_own(node)
            case Reduce(join=Join() as join):
                return self.placed.nest.forks[join] is not self.first
            case FloatingNode() | PinnedNode() | ControlNode():
                return super()._is_own(node)
            case _:
                assert_never(node)

    def steps(self) -> Iterator[Step]:
        """The dispatch, with the steps around it."""
        edges = list(self._edges())
        (target,) = {it for _, it in edges}
        sources = [it for it, _ in edges]
        transfers = list(self.splitter.transfers(sources, target))
        self.copies[self.first] = self.maker.start
        nodes = [*self.control(), *self.ordered()]
        self.copy(nodes)
        ends = [self.copies[it] for it in sources]
        self.maker.end = ends[0] if len(ends) == 1 else self.maker.add(Region(ends))
        self.connect(nodes)
        self._keep()
        self._transfer(transfers)
        yield from self.dispatched(0)

    def _edges(self) -> Iterator[tuple[Node, Node]]:
        """The edges by which control leaves the blocks: the last block and what follows."""
        for leader in self.leaders:
            end = self.placed.exits[leader]
            is_inside = self._has_control(end) if isinstance(end, If) else end in self.inside
            if not is_inside:
                yield leader, end

    # What later kernels use

    def _keep(self) -> None:
        """Have what later kernels use in buffers when the kernel ends, except for what transfers move."""
        for node in self.ordered():
            if is_version_projection(node) or not self._is_used_later(node):
                continue
            if is_scalar(self.placed.types[node]):
                self.maker.store(self.splitter.state_buffer(), self.splitter.slot(node), self.copies[node])
            else:
                made = self.copies[node]
                version = self.maker.add(Read(made, [AFTER])) if isinstance(made, Atomic) else made
                self._export(version, self.splitter.buffer_of(node), node)

    def _is_used_later(self, node: Node) -> bool:
        users = self.splitter.users
        projections = [it for it in users[node] if is_version_projection(it)]
        used = [user for it in projections for user in users[it]] if isinstance(node, Atomic) else users[node]
        places = (at for user in used for at in self._places_of_use(user, [node, *projections]))
        return any(it not in self.inside for it in places)

    def _places_of_use(self, user: Node, values: Sequence[Node]) -> Iterator[Node]:
        """The blocks in which, or at whose end, a node uses one of some values."""
        match user:
            case Phi(region=Region(predecessors=before), values=incoming):
                yield from (block_leader(at) for at, value in zip(before, incoming, strict=True) if value in values)
            case Reduce(join=Join() as join, init=init, update=update):
                if init in values:
                    yield block_leader(self.placed.nest.forks[join].control)
                if update in values:
                    yield block_leader(join.control)
            case ProductNode():
                for end in self.splitter.users[user]:
                    yield from map(block_leader, control_predecessors(end))
            case If() | Return():
                yield from map(block_leader, control_predecessors(user))
            case FloatingNode() | PinnedNode() | ControlNode():
                if user in self.splitter.place:
                    yield self.splitter.place[user]
            case _:
                assert_never(user)

    # Transfers

    def _transfer(self, transfers: Sequence[Transfer]) -> None:
        """Have the values of transfers in their buffers after the kernel."""
        moves: list[tuple[int, Transfer]] = []
        for transfer in transfers:
            if all(is_scalar(self.placed.types[it]) for it in transfer.values):
                self._store(transfer)
            elif isinstance(constant := _only(transfer.values), ConstantNode):
                self._start(transfer, constant)
            elif (source := self._source(transfer)) != transfer.buffer:
                moves.append((source, transfer))
        self._copy_all(moves)
        self.after += self.clears

    def _store(self, transfer: Transfer) -> None:
        """Store a scalar; a condition as a flag, which is 0 or 1."""
        value = self._merged(transfer.values)
        if isinstance(transfer.node, If):
            one, zero = (self.maker.add(ConstantNode(IntegerConstant(U32, it))) for it in (1, 0))
            if self.splitter.stays_if(transfer.node):
                value = self.maker.add(Select(value, one, zero))
            else:
                value = self.maker.add(Select(value, zero, one))
        self.maker.store(transfer.buffer, transfer.slot or self.maker.position(0), value)

    def _merged(self, values: Sequence[Node]) -> Node:
        """The value in the kernel: a Phi where control leaves by several edges with different values."""
        first = _only(values)
        if first is not None:
            return self.resolve(first)
        return self.maker.add(Phi(self.maker.end, [self.resolve(it) for it in values]))

    def _start(self, transfer: Transfer, constant: ConstantNode) -> None:
        """Have a constant in the buffer of a transfer."""
        if isinstance(constant.value, ZeroConstant):
            if transfer.node not in self.splitter.covered:
                self.clears += self.splitter.cleared(transfer.buffer)
            return
        type = self.placed.types[constant]
        spare = self.splitter.add_buffer("constant", type)
        self.maker.copy_into(spare, self.resolve(constant), type)
        self.after.append(Copy(spare, transfer.buffer, transfer.node, "it starts as a constant"))

    def _source(self, transfer: Transfer) -> int:
        """The buffer that has the collection of a transfer after the kernel."""
        value, splitter = _only(transfer.values), self.splitter
        if value is not None:
            buffer = splitter.buffer_of(value)
            if version_of(value) in self.own:
                self._export(self.resolve(value), buffer, transfer.node)
            return buffer
        held = {None if isinstance(it, ConstantNode) else splitter.buffer_of(it) for it in transfer.values}
        if held == {transfer.buffer}:
            self._export(self._merged(transfer.values), transfer.buffer, transfer.node)
            return transfer.buffer
        type = splitter.buffers[transfer.buffer].type
        spare = splitter.add_buffer("merged", type)
        self.maker.copy_into(spare, self._merged(transfer.values), type)
        return spare

    def _copy_all(self, moves: Sequence[tuple[int, Transfer]]) -> None:
        """Copies that happen at once: what is overwritten is saved first."""
        targets = {transfer.buffer for _, transfer in moves}
        saved: dict[int, int] = {}
        for source, transfer in moves:
            if source in targets and source not in saved:
                saved[source] = self.splitter.add_buffer("saved", self.splitter.buffers[source].type)
                self.after.append(Copy(source, saved[source], transfer.node, "two collections change places"))
        for source, transfer in moves:
            at = saved.get(source, source)
            self.after.append(Copy(at, transfer.buffer, transfer.node, "it goes on with another collection"))

    # Collections

    def _export(self, made: Node, buffer: int, node: Node) -> None:
        """Have a collection in a buffer when the kernel ends: it is a version of what was there, it starts as zeros
        there, or it is copied. `node` needs it.
        """
        maker = self.maker
        (root, *others) = maker.roots(made)
        if not others and root is maker.parameters.get(buffer):
            maker.written[buffer] = made
        elif not others and buffer not in maker.parameters and self._is_made_once(root):
            if not self._is_covered(made):
                self.before += self.splitter.cleared(buffer)
            maker.replace(root, maker.parameter(buffer))
            maker.written[buffer] = maker.parameter(buffer) if made is root else made
        elif buffer not in maker.parameters:
            maker.copy_into(buffer, made, self.splitter.buffers[buffer].type)
        else:
            type = self.splitter.buffers[buffer].type
            spare = self.splitter.add_buffer("copy", type)
            maker.copy_into(spare, made, type)
            self.after.append(Copy(spare, buffer, node, "it may be another collection"))

    def _is_covered(self, made: Node) -> bool:
        return any(self.copies.get(it) is made for it in self.splitter.covered)

    def _is_made_once(self, root: Node) -> bool:
        """Whether it is a zero constant that is made once, at the level where the kernel starts."""
        origin = self._origins.get(root)
        if not isinstance(origin, ConstantNode) or not isinstance(origin.value, ZeroConstant):
            return False
        at = self.placed.place[origin]
        nest, loops = self.placed.nest.around, self.placed.loops.around
        return nest[at] == nest[self.first] and loops[at] == loops[self.first]

    @property
    def _origins(self) -> Mapping[Node, Node]:
        return {made: node for node, made in self.copies.items()}


def _only(values: Sequence[Node]) -> Node | None:
    """The value, if all are one."""
    return values[0] if all(it is values[0] for it in values) else None
