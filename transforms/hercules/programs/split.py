"""Splits a function into a program: grids become dispatches, control around them becomes steps, and everything else
kernels that run once.

A chain of versions is one buffer (see `ir.hercules.sharing`). Scalars that a later kernel needs are fields of one
buffer of state. Values that are cheap to compute from constants and arguments are computed in each kernel that needs
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, assert_never

from ....base.cached import cached_property
from ....ir.hercules.copying import specialised
from ....ir.hercules.graph import def_use, is_control, predecessors
from ....ir.hercules.inference import infer_types
from ....ir.hercules.nodes import (
    Array,
    Atomic,
    Bool,
    ConstantNode,
    Control,
    ControlNode,
    DynamicConstantNode,
    DynamicLiteral,
    FieldIndex,
    Float,
    FloatingNode,
    Fork,
    Function,
    If,
    InputNode,
    Integer,
    Join,
    Match,
    Node,
    Parameter,
    Phi,
    PinnedNode,
    Product,
    ProductNode,
    Read,
    Reduce,
    Region,
    Return,
    ScalarNode,
    Start,
    Summation,
    ThreadID,
    Type,
    Write,
)
from ....ir.hercules.placement import Placement
from ....ir.hercules.program import Branch, Buffer, Clear, Dispatch, Loop, Repeat, Step
from ....ir.hercules.sharing import Sharing, has_own_root
from ....ir.hercules.types import U32, array, is_collection, is_data, is_scalar
from ....ir.hercules.versions import is_version_projection, version_of
from ..cleanup import remove_dead
from .outline import KernelMaker
from .outliner import GridOutliner, StraightOutliner, Transfer
from .parts import Choice, Grid, Iteration, Part, Parts, Sequential, Straight

_MOST_COMPUTED_AGAIN: Final = 12
"""Values of at most this many nodes are computed in each kernel that needs them, rather than kept in a buffer."""


@dataclass
class Splitter:
    """Splits one placed function. `covered` are Reduces that write every element of what they carry, `counted` the
    forks whose threads a host counts.
    """

    placed: Placement
    constants: Sequence[int]
    covered: frozenset[Node]
    counted: frozenset[Fork]
    buffers: list[Buffer] = field(default_factory=list[Buffer])
    state: list[Type] = field(default_factory=list[Type])
    results: list[int] = field(default_factory=list[int])
    is_product: bool = False
    _of_class: dict[Node, int] = field(default_factory=dict[Node, int])
    _slots: dict[Node, int] = field(default_factory=dict[Node, int])
    _counters: dict[Node, int] = field(default_factory=dict[Node, int])
    _stays_if: dict[Node, bool] = field(default_factory=dict[Node, bool])
    scalar_parameters: dict[int, int] = field(default_factory=dict[int, int])
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
        return Sharing(it for it in self.placed.place if self.is_version(it))

    def is_version(self, node: Node) -> bool:
        """Whether a node has storage of its own, or takes over that of another."""
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
                if leader is not None or isinstance(node, (InputNode, ThreadID)):
                    self._count(node, found)
        return {node: count for node, count in found.items() if not isinstance(node, Parameter)}

    def _count(self, node: Node, found: dict[Node, int]) -> None:
        match node:
            case ConstantNode() | DynamicConstantNode():
                found[node] = 1
            case ThreadID(fork=fork) if fork in self.counted:
                found[node] = 1
            case Parameter():
                if not any(self._takes(user, node) for user in self.users[node]):
                    found[node] = 1
            case ScalarNode():
                self._count_operands(node, found)
            case Read() if not is_control(node) and is_scalar(self.placed.types[node]):
                if isinstance(node.collection, Parameter):
                    self._count_operands(node, found)
            case FloatingNode() | PinnedNode() | ControlNode():
                pass
            case _:
                assert_never(node)

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
                        self.scalar_parameters[index] = buffer
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
                yield from GridOutliner(self, leaders, fork).steps(depth)
            case Sequential(fork, _, body):
                counter = self._counters[fork] = self.add_buffer(f"{fork.label or 'fork'}_thread", array(U32, 1))
                yield Repeat(fork.factor, counter, self._repeated(body))
            case Iteration(branch, stays_if, before, after):
                self._stays_if[branch] = stays_if
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
            yield from StraightOutliner(self, leaders, leaders[0]).steps()

    def _flag(self, branch: If) -> int:
        """The buffer that says which way a branch goes, on the host."""
        if branch not in self._counters:
            self._counters[branch] = self.add_buffer("goes_on" if self._depth else "chosen", array(U32, 1))
        return self._counters[branch]

    def stays_if(self, branch: If) -> bool:
        """The value of a branch's condition for which its flag is 1."""
        return self._stays_if.get(branch, True)

    def counter(self, fork: Node) -> int:
        """The buffer that has the number of the thread of a fork that a host counts."""
        return self._counters[fork]

    def new_maker(self) -> KernelMaker:
        """A new kernel."""
        return KernelMaker(f"{self.function.name}_{len(self._kernels)}", self.function.dynamic_constants)

    def dispatch(self, maker: KernelMaker, depth: int) -> Dispatch:
        """The dispatch of a kernel that is complete."""
        made = maker.finish(self.buffers, depth)
        remove_dead(made.kernel.function)
        if _has_dynamic_storage(made.kernel.function):
            function = specialised(made.kernel.function, self.constants)
            made = replace(made, kernel=replace(made.kernel, function=function))
        self._kernels.append(made)
        self._touched.update(made.buffers)
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
                yield from (self._transfer(it, [it.init]) for it in self.reduces(join))
            case Join():
                yield from (self._transfer(it, [it.update]) for it in self.reduces(target))
            case If(condition=condition):
                yield Transfer(target, [condition], self._flag(target))
            case Return(value=value):
                yield from self._results(target, value)
            case Start() | Match() | FloatingNode() | PinnedNode():
                raise AssertionError(f"control goes on to {target}")
            case _:
                assert_never(target)

    def _pinned(self, kind: type[Node]) -> list[Node]:
        return [it for it in self.placed.place if isinstance(it, kind)]

    def reduces(self, join: Node) -> list[Reduce]:
        """The Reduces of a join."""
        return [it for it in self.placed.place if isinstance(it, Reduce) and it.join is join]

    def _transfer(self, node: Node, values: Sequence[Node]) -> Transfer:
        if is_scalar(self.placed.types[node]):
            return Transfer(node, values, self.state_buffer(), self.slot(node))
        return Transfer(node, values, self.buffer_of(node))

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
            yield Transfer(end, [part], buffer)


def _has_dynamic_storage(function: Function) -> bool:
    """Whether a kernel has a collection of its own whose size depends on the dynamic constants."""
    return any(
        has_own_root(node) and not is_version_projection(node) and is_data(type) and not _is_literal(type)
        for node, type in infer_types(function).items()
    )


def _is_literal(type: Type) -> bool:
    match type:
        case Array(element=element, extent=extent):
            return isinstance(extent, DynamicLiteral) and _is_literal(element)
        case Product(fields=parts) | Summation(variants=parts):
            return all(map(_is_literal, parts))
        case Bool() | Integer() | Float() | Control():
            return True
        case _:
            assert_never(type)
