"""Kernels made of some blocks of a function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ....ir.hercules.graph import replace_predecessor
from ....ir.hercules.nodes import (
    Array,
    Cast,
    ConstantNode,
    FieldIndex,
    Fork,
    Function,
    Index,
    IntegerConstant,
    Join,
    Node,
    Parameter,
    PositionIndex,
    Product,
    ProductNode,
    Read,
    Reduce,
    Return,
    Start,
    ThreadID,
    Type,
    Write,
)
from ....ir.hercules.program import Buffer, Dispatch, GridKernel
from ....ir.hercules.types import U64, is_scalar
from ....ir.hercules.versions import taken_over, version_of


@dataclass(slots=True)
class KernelMaker:
    """Builds one kernel: its control goes from Start to `end`, its parameters are buffers, by their indices."""

    name: str
    dynamic_constants: Sequence[str]
    buffers: list[int] = field(default_factory=list[int])
    nodes: list[Node] = field(default_factory=list[Node])
    written: dict[int, Node] = field(default_factory=dict[int, Node])
    parameters: dict[int, Parameter] = field(default_factory=dict[int, Parameter])
    start: Start = field(default_factory=Start)
    end: Node = field(init=False)

    def __post_init__(self) -> None:
        self.nodes.append(self.start)
        self.end = self.start

    def add(self, node: Node) -> Node:
        """Add a node."""
        self.nodes.append(node)
        return node

    def parameter(self, buffer: int) -> Node:
        """The collection in a buffer when the kernel starts."""
        if buffer not in self.parameters:
            self.parameters[buffer] = Parameter(len(self.buffers))
            self.buffers.append(buffer)
            self.nodes.append(self.parameters[buffer])
        return self.parameters[buffer]

    def position(self, number: int) -> PositionIndex:
        """A position in an array."""
        return PositionIndex(self.add(ConstantNode(IntegerConstant(U64, number))))

    def load(self, buffer: int, index: Index) -> Node:
        """A scalar in a buffer when the kernel starts."""
        return self.add(Read(self.parameter(buffer), [index]))

    def store(self, buffer: int, index: Index, value: Node) -> None:
        """Put a scalar into a buffer when the kernel ends."""
        before = self.written.get(buffer) or self.parameter(buffer)
        self.written[buffer] = self.add(Write(before, value, [index]))

    def counter(self, buffer: int) -> Node:
        """The number of the thread that a host counts."""
        return self.add(Cast(U64, self.load(buffer, self.position(0))))

    def roots(self, version: Node) -> set[Node]:
        """The nodes that a version's storage comes from."""
        found: dict[Node, None] = {}
        pending = [version_of(version)]
        while pending:
            node = pending.pop()
            if node not in found:
                found[node] = None
                pending += taken_over(node)
        return {it for it in found if not [*taken_over(it)]}

    def replace(self, old: Node, new: Node) -> None:
        """Use one node in place of another."""
        for node in self.nodes:
            replace_predecessor(node, old, new)

    def copy_into(self, buffer: int, source: Node, type: Type) -> None:
        """Copy a collection into a buffer when the kernel ends."""
        self.written[buffer] = self._copied(self.parameter(buffer), source, type, [])

    def _copied(self, target: Node, source: Node, type: Type, at: list[Index]) -> Node:
        """The target with all elements of the source from `at` on: a fork for each level of arrays."""
        if is_scalar(type):
            return self.add(Write(target, self.add(Read(source, list(at))), list(at)))
        if isinstance(type, Product):
            for number, part in enumerate(type.fields):
                target = self._copied(target, source, part, [*at, FieldIndex(number)])
            return target
        assert isinstance(type, Array), "sums are lowered"
        fork = Fork(self.end, type.extent)
        join = Join(fork)
        reduce = Reduce(join, target, target)
        thread = ThreadID(fork)
        self.nodes += [fork, thread, reduce]
        self.end = fork
        reduce.update = self._copied(reduce, source, type.element, [*at, PositionIndex(thread)])
        join.control = self.end
        self.end = self.add(join)
        return reduce

    def finish(self, all_buffers: Sequence[Buffer], depth: int) -> Dispatch:
        """The dispatch of the kernel; `all_buffers` are those of the program."""
        mine = [all_buffers[it] for it in self.buffers]
        written = sorted(self.parameters[it].index for it in self.written)
        final = [self.written[self.buffers[it]] for it in written]
        result = self.add(ProductNode(final))
        self.add(Return(self.end, result))
        function = Function(
            name=self.name,
            dynamic_constants=list(self.dynamic_constants),
            parameter_types=[it.type for it in mine],
            parameter_names=[it.name for it in mine],
            return_type=Product(tuple(mine[it].type for it in written)),
            nodes=self.nodes,
        )
        return Dispatch(GridKernel(function, depth, tuple(written)), tuple(self.buffers))
