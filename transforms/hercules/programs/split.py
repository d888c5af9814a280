"""Splits a function into a program: grids become dispatches, control around them becomes steps, and everything else
kernels that run once.

A chain of versions is one buffer (see `ir.hercules.sharing`). Scalars that a later kernel needs are fields of one buffer
of state. Values that are cheap to compute from constants and arguments are computed in each kernel that needs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, assert_never

from ....ir.hercules.analyses import block_leader
from ....ir.hercules.graph import control_predecessors, def_use, is_control, map_predecessors, predecessors
from ....ir.hercules.nodes import (
    Array,
    Atomic,
    Bool,
    BoolConstant,
    ConstantNode,
    DynamicConstantNode,
    FieldIndex,
    Fork,
    Function,
    If,
    Integer,
    IntegerConstant,
    Join,
    Node,
    Parameter,
    Phi,
    Product,
    ProductNode,
    Read,
    Reduce,
    Region,
    Return,
    ScalarNode,
    Select,
    ThreadID,
    Type,
    Write,
    ZeroConstant,
)
from ....ir.hercules.placement import Placement
from ....ir.hercules.program import Branch, Buffer, Clear, Copy, Dispatch, Loop, Repeat, Step
from ....ir.hercules.sharing import Sharing
from ....ir.hercules.types import U32, array, is_collection, is_scalar
from ....ir.hercules.versions import AFTER, is_version_projection, version_of
from ..cleanup import remove_dead
from .outline import KernelMaker
from .parts import Choice, Grid, Iteration, Part, Parts, Sequential, Straight

_MOST_COMPUTED_AGAIN: Final = 12
"""Values of at most this many nodes are computed in each kernel that needs them, rather than kept in a buffer."""


@dataclass(slots=True)
class Transfer:
    """A Phi, a Reduce, a part of the result, or a flag, gets a value where control leaves some blocks.

    `values` has a value for each of these blocks, `buffer` is where it goes. `node` is what needs it.
    """

    node: Node
    values: Sequence[Node]
    buffer: int
    index: FieldIndex | None
    """For a scalar in the buffer of state. Other scalars are the only element of their buffer."""


@dataclass
class Splitter:
    """Splits one placed function. `covered` are Reduces that write every element of what they carry."""

    placed: Placement
    covered: frozenset[Node]
    buffers: list[Buffer] = field(default_factory=list[Buffer])
    state: list[Type] = field(default_factory=list[Type])
    results: list[int] = field(default_factory=list[int])
    is_product: bool = False
    _of_class: dict[Node, int] = field(default_factory=dict[Node, int])
    _slots: dict[Node, int] = field(default_factory=dict[Node, int])
    _counters: dict[Node, int] = field(default_factory=dict[Node, int])
    _scalar_parameters: dict[int, int] = field(default_factory=dict[int, int])
    _state_buffer: int | None = None
    _touched: set[int] = field(default_factory=set[int])
    _depth: int = 0
    """How many steps are around that may run more than once."""

    _kernels: list[Dispatch] = field(default_factory=list[Dispatch])
    _names: set[str] = field(default_factory=set[str])

    # What is known

    @property
    def function(self) -> Function:
        """The function."""
        return self.placed.function

    @cached_property
    def users(self) -> Mapping[Node, Sequence[Node]]:
        """The users of each node."""
        return def_use(self.function)

    @cached_property
    def _sharing(self) -> Sharing:
        return Sharing(it for it in self.placed.place if self._is_version(it))

    def _is_version(self, node: Node) -> bool:
        if isinstance(node, (ConstantNode, ProductNode)):
            return False
        return isinstance(node, Atomic) or (version_of(node) is node and is_collection(self.placed.types.get(node)))

    @cached_property
    def place(self) -> Mapping[Node, Node]:
        """The block of each node; the fields of an Atomic are in the Atomic's block."""
        place = dict(self.placed.place)
        for node in self.placed.place:
            if isinstance(node, Read) and isinstance(node.collection, Atomic):
                place[node] = place[node.collection]
        return place

    @cached_property
    def again(self) -> Mapping[Node, int]:
        """The values that are computed again, with the number of nodes for that."""
        found: dict[Node, int] = {}
        for leader in (None, *self.placed.blocks):
            nodes = self.placed.place if leader is None else self.placed.blocks[leader]
            for node in nodes:
                if leader is not None or isinstance(node, (ConstantNode, DynamicConstantNode, Parameter)):
                    self._count(node, found)
        return {node: count for node, count in found.items() if not isinstance(node, Parameter)}

    def _count(self, node: Node, found: dict[Node, int]) -> None:
        match node:
            case ConstantNode() | DynamicConstantNode():
                found[node] = 1
            case Parameter():
                if not any(self._takes(user, node) for user in self.users[node]):
                    found[node] = 1
            case ScalarNode():
                self._count_operands(node, found)
            case Read() if not is_control(node) and is_scalar(self.placed.types[node]):
                if isinstance(node.collection, Parameter):
                    self._count_operands(node, found)
            case _:
                pass

    def _count_operands(self, node: Node, found: dict[Node, int]) -> None:
        counts = [found.get(it) for it in predecessors(node)]
        total = 1 + sum(it for it in counts if it is not None)
        if None not in counts and total <= _MOST_COMPUTED_AGAIN:
            found[node] = total

    def _takes(self, user: Node, parameter: Node) -> bool:
        """Whether a node may change the storage of a parameter."""
        if is_scalar(self.placed.types[parameter]):
            return False
        return not isinstance(user, (Read, ProductNode, Return)) and not (
            isinstance(user, Write) and user.collection is not parameter
        )

    # Buffers

    def add_buffer(self, name: str, type: Type, parameter: int | None = None) -> int:
        """A new buffer."""
        unique, number = name, 1
        while unique in self._names:
            unique, number = f"{name}_{number}", number + 1
        self._names.add(unique)
        self.buffers.append(Buffer(unique, type, parameter))
        return len(self.buffers) - 1

    def add_parameters(self) -> None:
        """A buffer for each parameter of the function."""
        for index, (name, type) in enumerate(
            zip(self.function.parameter_names, self.function.parameter_types, strict=True)
        ):
            buffer = self.add_buffer(name, array(type, 1) if is_scalar(type) else type, index)
            self._touched.add(buffer)
            for node in self.placed.place:
                if isinstance(node, Parameter) and node.index == index:
                    if is_scalar(type):
                        self._scalar_parameters[index] = buffer
                    else:
                        self._of_class[self._sharing.root(node)] = buffer

    def buffer_of(self, version: Node) -> int:
        """The buffer of a version."""
        root = self._sharing.root(version_of(version))
        if root not in self._of_class:
            type = self.placed.types[version.collection if isinstance(version, Atomic) else version]
            self._of_class[root] = self.add_buffer(version_of(version).label or root.label or "made", type)
        return self._of_class[root]

    def state_buffer(self) -> int:
        """The buffer of scalars, whose type is known when everything is split."""
        if self._state_buffer is None:
            self._state_buffer = self.add_buffer("state", Product(()))
        return self._state_buffer

    def slot(self, scalar: Node) -> FieldIndex:
        """The place of a scalar in the buffer of state."""
        if scalar not in self._slots:
            self._slots[scalar] = len(self.state)
            self.state.append(self.placed.types[scalar])
        return FieldIndex(self._slots[scalar])

    # Steps

    def steps(self, parts: Parts) -> tuple[Step, ...]:
        """The steps of parts that follow one another."""
        made: list[Step] = []
        group: list[Straight] = []
        for part in parts:
            if isinstance(part, Straight):
                group.append(part)
                continue
            made += self._straight(group)
            group = []
            made += self._structured(part)
        return (*made, *self._straight(group))

    def _structured(self, part: Part) -> Iterator[Step]:
        match part:
            case Grid(fork, depth, leaders):
                yield from _Outliner(self, leaders, fork).grid(depth)
            case Sequential(fork, _, body):
                counter = self._counters[fork] = self.add_buffer(f"{fork.label or 'fork'}_thread", array(U32, 1))
                yield Repeat(fork.factor, counter, self._repeated(body))
            case Iteration(branch, _, before, after):
                steps = self._repeated(before)
                yield Loop(steps, self._flag(branch), self._repeated(after))
            case Choice(branch, if_false, if_true):
                yield Branch(self._flag(branch), self.steps(if_false), self.steps(if_true))
            case Straight():
                raise AssertionError("straight parts are gathered")
            case _:
                assert_never(part)

    def _repeated(self, parts: Parts) -> tuple[Step, ...]:
        self._depth += 1
        steps = self.steps(parts)
        self._depth -= 1
        return steps

    def _straight(self, group: Sequence[Straight]) -> Iterator[Step]:
        if group:
            leaders = [it for part in group for it in part.leaders]
            yield from _Outliner(self, leaders, leaders[0]).straight()

    def _flag(self, branch: If) -> int:
        """The buffer that says which way a branch goes, on the host."""
        if branch not in self._counters:
            self._counters[branch] = self.add_buffer("goes_on" if self._depth else "chosen", array(U32, 1))
        return self._counters[branch]

    def counter(self, fork: Node) -> int:
        """The buffer that has the number of the thread of a fork that a host counts."""
        return self._counters[fork]

    def new_maker(self) -> KernelMaker:
        """A new kernel."""
        return KernelMaker(f"{self.function.name}_{len(self._kernels)}", self.function.dynamic_constants)

    def dispatch(self, maker: KernelMaker, depth: int) -> Dispatch:
        """The dispatch of a kernel that is complete."""
        types = {index: buffer.type for index, buffer in enumerate(self.buffers)}
        names = {index: buffer.name for index, buffer in enumerate(self.buffers)}
        kernel, buffers = maker.finish(types, names, depth)
        made = Dispatch(kernel, buffers)
        self._kernels.append(made)
        self._touched.update(buffers)
        return made

    def cleared(self, buffer: int) -> Iterator[Step]:
        """The step that makes a buffer zero, if it may be anything else."""
        if self._depth or buffer in self._touched:
            yield Clear(buffer)
        self._touched.add(buffer)

    def finish_state(self) -> None:
        """Give the buffer of state its type, here and in all kernels."""
        if self._state_buffer is None:
            return
        type = Product(tuple(self.state))
        self.buffers[self._state_buffer] = Buffer(self.buffers[self._state_buffer].name, type)
        for dispatch in self._kernels:
            function = dispatch.kernel.function
            for index, buffer in enumerate(dispatch.buffers):
                if buffer == self._state_buffer:
                    function.parameter_types[index] = type
            function.return_type = Product(tuple(function.parameter_types[it] for it in dispatch.kernel.written))

    # Transfers

    def transfers(self, sources: Sequence[Node], target: Node) -> Iterator[Transfer]:
        """What gets its value where control goes from the blocks `sources` to `target`, the next one or an end."""
        match target:
            case Region():
                edges = [target.predecessors.index(it) for it in sources]
                for node in self._pinned(Phi):
                    if isinstance(node, Phi) and node.region is target:
                        yield self._transfer(node, [node.values[it] for it in edges])
            case Fork():
                join = self.placed.nest.joins[target]
                yield from (self._transfer(it, [it.init]) for it in self._reduces(join))
            case Join():
                yield from (self._transfer(it, [it.update]) for it in self._reduces(target))
            case If(condition=condition):
                yield Transfer(target, [condition], self._flag(target), None)
            case Return(value=value):
                yield from self._results(target, value)
            case _:
                raise AssertionError(f"control goes on to {target}")

    def _pinned(self, kind: type[Node]) -> list[Node]:
        return [it for it in self.placed.place if isinstance(it, kind)]

    def _reduces(self, join: Node) -> list[Reduce]:
        return [it for it in self.placed.place if isinstance(it, Reduce) and it.join is join]

    def _transfer(self, node: Node, values: Sequence[Node]) -> Transfer:
        if is_scalar(self.placed.types[node]):
            return Transfer(node, values, self.state_buffer(), self.slot(node))
        return Transfer(node, values, self.buffer_of(node), None)

    def _results(self, end: Return, value: Node) -> Iterator[Transfer]:
        self.is_product = isinstance(value, ProductNode)
        fields = value.fields if isinstance(value, ProductNode) else [value]
        for part in fields:
            type, name = self.placed.types[part], version_of(part).label or part.label or "result"
            if is_scalar(type):
                buffer = self.add_buffer(name, array(type, 1))
            elif isinstance(part, ConstantNode):
                buffer = self.add_buffer(name, type)
            else:
                buffer = self.buffer_of(part)
            self.results.append(buffer)
            yield Transfer(end, [part], buffer, None)


@dataclass
class _Outliner:
    """Makes a kernel of blocks that control enters at `first`, and the steps around its dispatch."""

    splitter: Splitter
    leaders: Sequence[Node]
    first: Node
    before: list[Step] = field(default_factory=list[Step])
    after: list[Step] = field(default_factory=list[Step])
    clears: list[Step] = field(default_factory=list[Step])
    copies: dict[Node, Node] = field(default_factory=dict[Node, Node])

    def __post_init__(self) -> None:
        self.placed = self.splitter.placed
        self.inside = set(self.leaders)
        self.maker = self.splitter.new_maker()
        self.control = [it for it in self.placed.graph.order if self._has_control(it)]
        self.own = {it for it, at in self.splitter.place.items() if at in self.inside and self._is_own(it)}

    def _has_control(self, node: Node) -> bool:
        """Whether a control node other than the first is in the kernel."""
        if node is self.first:
            return False
        if node in self.inside:
            return True
        return isinstance(node, If) and all(it in self.inside for it in self.placed.graph.successors[node])

    def _is_own(self, node: Node) -> bool:
        """Whether a node of these blocks is computed by this kernel only, and not known where it starts."""
        if node in self.splitter.again or isinstance(node, (Parameter, ConstantNode, DynamicConstantNode)):
            return False
        if isinstance(node, ProductNode):
            return False
        if isinstance(self.first, Fork) and self.first not in self.control and not self._is_grid:
            join = self.placed.nest.joins[self.first]
            return not (isinstance(node, ThreadID) and node.fork is self.first) and not (
                isinstance(node, Reduce) and node.join is join
            )
        return not (isinstance(node, Phi) and node.region is self.first)

    @property
    def _is_grid(self) -> bool:
        """Whether the first block is the fork of a grid, which the kernel contains."""
        return isinstance(self.first, Fork) and self.first in self._grids

    _grids: frozenset[Node] = frozenset()

    # The two kinds of kernels

    def straight(self) -> Iterator[Step]:
        """A kernel that runs once."""
        edges = [*self._edges()]
        (target,) = {it for _, it in edges}
        sources = [it for it, _ in edges]
        transfers = [*self.splitter.transfers(sources, target)]
        self.copies[self.first] = self.maker.start
        for node in (*self.control, *self._in_order()):
            self._copy(node)
        self.maker.end = self._end(sources)
        self._connect()
        self._keep_scalars(self._handed_on(target, sources))
        exported = self._handed_on(target, sources)
        values = {id(it): self._value(it, sources) for it in transfers}
        for transfer in transfers:
            self._store_scalar(transfer, values[id(transfer)])
        for node in exported:
            if self.splitter._is_version(node):  # noqa: SLF001 (an outliner is a part of the splitter)
                self._export(self._version(self.copies[node]), self.splitter.buffer_of(node), node)
        self._move_collections(transfers, values)
        yield from self._around(0)

    def grid(self, depth: int) -> Iterator[Step]:
        """A kernel whose outermost forks are the grid; `first` is the first of these."""
        fork = self.first
        assert isinstance(fork, Fork)
        join = self.placed.nest.joins[fork]
        self._grids = frozenset({fork})
        self.__post_init__()
        self.control = [fork, *self.control, join]
        self.copies[fork.control] = self.maker.start
        for node in (*self.control, *self._in_order()):
            self._copy(node)
        self.maker.end = self.copies[join]
        starts: dict[Node, Node] = {}
        for node in self.splitter._reduces(join):  # noqa: SLF001
            starts[node] = self.maker.parameter(self.splitter.buffer_of(node))
        self._connect(starts)
        for node in starts:
            if any(self.splitter.place.get(it) not in self.inside for it in self.splitter.users[node]):
                self.maker.written[self.splitter.buffer_of(node)] = self.copies[node]
        yield from self._around(depth)

    def _around(self, depth: int) -> Iterator[Step]:
        """The steps before the dispatch, the dispatch if it does anything, and the steps after it."""
        yield from self.before
        if self.maker.written:
            dispatch = self.splitter.dispatch(self.maker, depth)
            yield self._trimmed(dispatch)
        yield from self.after

    def _trimmed(self, dispatch: Dispatch) -> Dispatch:
        remove_dead(dispatch.kernel.function)
        return dispatch

    # Control

    def _edges(self) -> Iterator[tuple[Node, Node]]:
        """The edges by which control leaves the blocks: the last block and what follows."""
        for leader in self.leaders:
            end = self.placed.exits[leader]
            if end not in self.inside and end not in self.control:
                yield leader, end

    def _end(self, sources: Sequence[Node]) -> Node:
        if len(sources) == 1:
            return self.copies[sources[0]]
        return self.maker.add(Region([self.copies[it] for it in sources]))

    # Data

    def _in_order(self) -> list[Node]:
        return [it for it in self.splitter.place if it in self.own]

    def _copy(self, node: Node) -> None:
        self.copies[node] = self.maker.add(node.copy())

    def _connect(self, starts: Mapping[Node, Node] | None = None) -> None:
        """Let the copies use each other, and what the kernel gets."""
        for node in [it for it in self.copies if it in self.own or it in self.control]:
            made = self.copies[node]
            if starts and node in starts and isinstance(node, Reduce) and isinstance(made, Reduce):
                made.join = self.copies[node.join]
                made.init, made.update = starts[node], self._resolve(node.update)
            else:
                map_predecessors(made, self._resolve)

    def _resolve(self, node: Node) -> Node:
        """The node of the kernel that is a node of the function."""
        if node in self.copies:
            return self.copies[node]
        splitter = self.splitter
        if isinstance(node, Parameter) and is_scalar(self.placed.types[node]):
            made = self.maker.load(splitter._scalar_parameters[node.index], self.maker.position(0))  # noqa: SLF001
        elif isinstance(node, ProductNode):
            raise AssertionError("only the result is a product")
        elif node in splitter.again:
            made = node.copy()
            map_predecessors(made, self._resolve)
            self.maker.add(made)
        elif isinstance(node, ThreadID):
            made = self.maker.counter(splitter.counter(node.fork))
        elif is_scalar(self.placed.types[node]):
            made = self.maker.load(splitter.state_buffer(), splitter.slot(node))
        else:
            made = self.maker.parameter(splitter.buffer_of(node))
        self.copies[node] = made
        return made

    # Results

    def _handed_on(self, target: Node, sources: Sequence[Node]) -> list[Node]:
        """What the kernel computes and later ones use, other than by the transfers where control leaves."""
        del target, sources
        found: list[Node] = []
        for node in self._in_order():
            if isinstance(node, Read) and is_version_projection(node):
                continue
            users = list(self.splitter.users[node])
            if isinstance(node, Atomic):
                users = [it for it in users if not is_version_projection(it)]
                projections = [it for it in self.splitter.users[node] if is_version_projection(it)]
                users = [user for it in projections for user in self.splitter.users[it]]
            versions = [node, *(it for it in self.splitter.users[node] if is_version_projection(it))]
            if any(at not in self.inside for user in users for at in self._places_of_use(user, versions)):
                found.append(node)
        return found

    def _places_of_use(self, user: Node, values: Sequence[Node]) -> Iterator[Node]:
        """The blocks in or after which a node uses one of some values."""
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
            case _:
                if user in self.splitter.place:
                    yield self.splitter.place[user]

    def _keep_scalars(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            if is_scalar(self.placed.types[node]):
                self.maker.store(self.splitter.state_buffer(), self.splitter.slot(node), self.copies[node])

    def _value(self, transfer: Transfer, sources: Sequence[Node]) -> Node:
        """The value of a transfer in the kernel: a Phi where control leaves by several edges."""
        del sources
        first = transfer.values[0]
        if all(it is first for it in transfer.values):
            return first
        return Phi(self.maker.end, list(transfer.values))

    def _store_scalar(self, transfer: Transfer, value: Node) -> None:
        if not is_scalar(self._type_of(transfer, value)):
            return
        made = self._made(value)
        if isinstance(transfer.node, If):
            made = self._flag(made, transfer.node)
        index = transfer.index or self.maker.position(0)
        self.maker.store(transfer.buffer, index, made)

    def _type_of(self, transfer: Transfer, value: Node) -> Type:
        return self.placed.types[transfer.values[0] if value not in self.placed.types else value]

    def _flag(self, condition: Node, branch: If) -> Node:
        del branch
        numbers = [self.maker.add(ConstantNode(IntegerConstant(U32, it))) for it in (1, 0)]
        return self.maker.add(Select(condition, numbers[0], numbers[1]))

    def _made(self, value: Node) -> Node:
        """A value of a transfer as a node of the kernel."""
        if isinstance(value, Phi) and value.region is self.maker.end and value not in self.placed.types:
            if value not in self.maker.nodes:
                value.values = [self._resolve(it) for it in value.values]
                self.maker.add(value)
            return value
        return self._resolve(value)

    def _version(self, made: Node) -> Node:
        """The collection after an Atomic, else the node."""
        return self.maker.add(Read(made, [AFTER])) if isinstance(made, Atomic) else made

    def _export(self, made: Node, buffer: int, node: Node) -> None:
        """Have a collection in a buffer when the kernel ends."""
        roots = self.maker.roots(made)
        if roots == {self.maker.parameters.get(buffer)}:
            self.maker.written[buffer] = made
            return
        (root, *others) = roots
        if not others and buffer not in self.maker.parameters and self._starts_once(root):
            if not self._is_covered(made):
                self.before += self.splitter.cleared(buffer)
            self._replace(root, self.maker.parameter(buffer))
            self.maker.written[buffer] = self.maker.parameter(buffer) if made is root else made
            return
        type = self.splitter.buffers[buffer].type
        if buffer not in self.maker.parameters:
            self.maker.copy_into(buffer, made, type)
            return
        spare = self.splitter.add_buffer("copy", type)
        self.maker.copy_into(spare, made, type)
        self.after.append(Copy(spare, buffer, node, "two versions of it are alive at once"))

    def _is_covered(self, made: Node) -> bool:
        return any(self.copies.get(it) is made for it in self.splitter.covered)

    def _starts_once(self, root: Node) -> bool:
        """Whether it is a zero constant that is made once, at the level where the kernel starts."""
        origin = next((it for it, made in self.copies.items() if made is root), None)
        if not isinstance(origin, ConstantNode) or not isinstance(origin.value, ZeroConstant):
            return False
        at = self.placed.place[origin]
        nest, loops = self.placed.nest.around, self.placed.loops.around
        return nest[at] == nest[self.first] and loops[at] == loops[self.first]

    def _replace(self, old: Node, new: Node) -> None:
        for node in self.maker.nodes:
            map_predecessors(node, lambda it: new if it is old else it)

    def _move_collections(self, transfers: Sequence[Transfer], values: Mapping[int, Node]) -> None:
        """Have the collections of transfers in their buffers after the kernel."""
        moves: list[tuple[int, int, Node]] = []
        for transfer in transfers:
            value = values[id(transfer)]
            if is_scalar(self._type_of(transfer, value)):
                continue
            if isinstance(value, ConstantNode):
                self._start(transfer, value)
                continue
            source = self._source(transfer, value)
            if source != transfer.buffer:
                moves.append((source, transfer.buffer, transfer.node))
        self._copy_all(moves)
        self.after += self.clears

    def _start(self, transfer: Transfer, constant: ConstantNode) -> None:
        """Have a constant in the buffer of a transfer."""
        if isinstance(constant.value, ZeroConstant):
            if transfer.node not in self.splitter.covered:
                self.clears += self.splitter.cleared(transfer.buffer)
            return
        type = self.placed.types[constant]
        spare = self.splitter.add_buffer("constant", type)
        self.maker.copy_into(spare, self._resolve(constant), type)
        self.after.append(Copy(spare, transfer.buffer, transfer.node, "it starts as a constant"))

    def _source(self, transfer: Transfer, value: Node) -> int:
        """The buffer that has the value of a transfer after the kernel."""
        if value in self.placed.types:
            if version_of(value) in self.own:
                self._export(self._resolve(value), self.splitter.buffer_of(value), transfer.node)
            return self.splitter.buffer_of(value)
        buffers = {None if isinstance(it, ConstantNode) else self.splitter.buffer_of(it) for it in transfer.values}
        if buffers == {transfer.buffer}:
            self._export(self._made(value), transfer.buffer, transfer.node)
            return transfer.buffer
        spare = self.splitter.add_buffer("merged", self.splitter.buffers[transfer.buffer].type)
        self.maker.copy_into(spare, self._made(value), self.splitter.buffers[spare].type)
        return spare

    def _copy_all(self, moves: Sequence[tuple[int, int, Node]]) -> None:
        """Copies that happen at once: what is overwritten is saved first."""
        targets = {target for _, target, _ in moves}
        saved: dict[int, int] = {}
        for source, _, node in moves:
            if source in targets and source not in saved:
                saved[source] = self.splitter.add_buffer("saved", self.splitter.buffers[source].type)
                self.after.append(Copy(source, saved[source], node, "it changes place with another"))
        for source, target, node in moves:
            self.after.append(Copy(saved.get(source, source), target, node, "it continues another collection"))


__all__ = ["Splitter"]
