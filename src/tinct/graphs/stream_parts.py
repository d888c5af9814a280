"""Cuts a graph in parts for a stream with state: the nodes that need no output of the last item, those of the others
that make outputs for the next item, and the rest.

Each part is a graph of its own. What one part makes and another needs is an output of the one and an input of the
other, where a length or a number that an expression reads needs the whole value.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias, assert_never

from ..ir.dataflow.expressions import expressions_of, references
from ..ir.dataflow.nodes import (
    Access,
    Binary,
    BindInput,
    BindOutput,
    CreateEdge,
    CreateNode,
    Endpoint,
    Expression,
    FloatLiteral,
    Graph,
    IntegerLiteral,
    Length,
    Malloc,
    Module,
    Port,
    Query,
    Reference,
    Split,
    Statement,
)
from ..ir.dataflow.scope import SPLIT_INPUT, Scope, in_order, scope_of
from ..ir.dataflow.types import without_atomics

Key: TypeAlias = "tuple[str, str]"
"""A value of an item: ("in", NAME) of an input, ("out", NAME) of an output, ("NODE.", PORT) of what a node makes."""

INPUT, OUTPUT = "in", "out"


@dataclass(frozen=True, slots=True)
class GraphPart:
    """A part: its module, and what its inputs and outputs are. An output may be several values."""

    module: Module
    inputs: Mapping[str, Key]
    outputs: Mapping[str, tuple[Key, ...]]


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts that have nodes: `before` needs no state, `core` leads from state to new state, `after` is the rest."""

    before: GraphPart | None
    core: GraphPart | None
    after: GraphPart | None


def parts_of(module: Module, feed: Mapping[str, str]) -> Parts:
    """Cut the root's graph of a verified module, where `feed` has the inputs that outputs are fed to, by output."""
    cutter = _Cutter(module)
    dependent = cutter.users_of(feed.values())
    needed = cutter.needed_for(feed)
    children = list(cutter.scope.children)
    before = [it for it in children if it not in dependent]
    core = [it for it in children if it in dependent and it in needed]
    after = [it for it in children if it in dependent and it not in needed]
    return Parts(*(cutter.part(it) if it else None for it in (before, core, after)))


class _Cutter:
    def __init__(self, module: Module) -> None:
        self._module = module
        self._functions = {it.name: it for it in module.functions}
        graph = self._functions[module.root.function]
        assert isinstance(graph, Graph)
        self._graph = graph
        self.scope: Scope = scope_of(graph, self._functions)

    def users_of(self, inputs: Collection[str]) -> set[str]:
        """The children that need some of these inputs of the graph, perhaps by way of others."""
        wanted, found = set(inputs), set[str]()
        for child in in_order(self.scope):
            names = {it.name for expression in self._read_by(child) for it in references(expression)}
            if wanted & names or found & set(self.scope.needs(child)):
                found.add(child)
        return found

    def needed_for(self, outputs: Collection[str]) -> set[str]:
        """The children that some of these outputs of the graph need."""
        pending = [self.scope.output_sources[it].source.node for it in outputs]
        found = set(pending)
        while pending:
            fresh = {it for it in self.scope.needs(pending.pop()) if it in self.scope.children} - found
            found |= fresh
            pending += fresh
        return found

    def part(self, children: Collection[str]) -> GraphPart:
        """The part with these children."""
        return _Part(self._module, self._graph, self.scope, set(children)).made()

    def _read_by(self, child: str) -> Iterator[Expression]:
        """The expressions that a child reads: its own, those of its inputs, and of transient buffers there."""
        read = list(expressions_of(self.scope.children[child]))
        read += [self.scope.input_binds[end].source for end in self._bound_ends(child)]
        for expression in read:  # grows while it is walked
            yield expression
            for it in references(expression):
                if it.name in self.scope.transients:
                    read += self.scope.transients[it.name].extents

    def _bound_ends(self, child: str) -> list[Endpoint]:
        return [end for end in self.scope.input_binds if end.node == child]


@dataclass(slots=True)
class _Part:
    """A part while it is made."""

    module: Module
    graph: Graph
    scope: Scope
    children: set[str]
    inputs: dict[Key, Port] = field(default_factory=dict[Key, Port])
    splits: dict[Endpoint, str] = field(default_factory=dict[Endpoint, str])
    _taken: set[str] = field(default_factory=set[str])

    def made(self) -> GraphPart:
        """The part."""
        self._taken |= {*self.scope.inputs, *self.scope.outputs, *self.scope.children, *self.scope.transients}
        body: list[Statement] = []
        outward = self._outward()
        for statement in self.graph.body:
            body += self._statement(statement, outward)
        outputs: dict[str, tuple[Key, ...]] = {}
        ports: list[Port] = []
        for end, keys in outward.items():
            name = self._fresh(f"{end.node}_{end.port}")
            type = self.scope.outputs_of(end.node)[end.port]
            ports.append(Port(Access.OUT, name, without_atomics(type)))
            outputs[name] = tuple(keys)
            body += self._bind_output(end, name)
        body = [*self._transients(body), *body]
        graph = Graph(self.graph.name, (*self.inputs.values(), *ports), tuple(body))
        functions = tuple(graph if it.name == graph.name else it for it in self.module.functions)
        return GraphPart(
            replace(self.module, functions=functions), {it.name: key for key, it in self.inputs.items()}, outputs
        )

    def _outward(self) -> dict[Endpoint, list[Key]]:
        """What the part makes for others: outputs of its children, and which values they are."""
        found: dict[Endpoint, list[Key]] = {}
        for name, bind in self.scope.output_sources.items():
            if bind.source.node in self.children:
                found.setdefault(bind.source, []).append((OUTPUT, name))
        for edge in self.scope.edges_to.values():
            if edge.source.node in self.children and edge.destination.node not in self.children:
                found.setdefault(edge.source, []).append(_key(edge.source))
        for end in self._read_elsewhere():
            keys = found.setdefault(end, [])
            if _key(end) not in keys:
                keys.append(_key(end))
        return found

    def _read_elsewhere(self) -> Iterator[Endpoint]:
        """The outputs of children that expressions of others read; all of those that size transient buffers."""
        for statement in self.graph.body:
            node = _node_of(statement)
            if node in self.children and not isinstance(statement, Malloc):
                continue
            for expression in expressions_of(statement):
                for it in references(expression):
                    end = self.scope.endpoint_of(it)
                    if end is not None and end.node in self.children:
                        yield end

    # Statements

    def _statement(self, statement: Statement, outward: Mapping[Endpoint, object]) -> Iterator[Statement]:
        match statement:
            case CreateNode(name) if name in self.children:
                extents, repeat = tuple(map(self._expression, statement.extents)), statement.repeat
                count = None if repeat is None else self._expression(repeat)
                yield replace(statement, extents=extents, repeat=count)
            case Split(name) if name in self.children:
                yield statement
            case CreateEdge(source, destination) if destination.node in self.children:
                if source.node not in self.children:
                    yield BindInput(self._given(source), destination, span=statement.span)
                elif source in outward:  # goes along an edge and out: a split gives it twice
                    yield replace(statement, source=Endpoint(self._split(source), "copy0"), streaming=False)
                else:
                    yield replace(statement, streaming=False)
            case BindInput(source, destination) if destination.node in self.children:
                yield replace(statement, source=self._expression(source), streaming=False)
            case CreateNode() | Split() | CreateEdge() | BindInput() | BindOutput() | Malloc():
                pass  # outside of the part, or made for it anew
            case _:
                assert_never(statement)

    def _split(self, end: Endpoint) -> str:
        """The name of the split of an output that is needed in the part and elsewhere."""
        if end not in self.splits:
            self.splits[end] = self._fresh(f"{end.node}_{end.port}_both")
        return self.splits[end]

    def _bind_output(self, end: Endpoint, name: str) -> Iterator[Statement]:
        edge = self.scope.edges_from.get(end)
        if edge is None or edge.destination.node not in self.children:
            yield BindOutput(end, name)
            return
        split = self._split(end)
        yield Split(split, self.scope.outputs_of(end.node)[end.port], 2)
        yield CreateEdge(end, Endpoint(split, SPLIT_INPUT), edge.replication)
        yield BindOutput(Endpoint(split, "copy1"), name)

    def _transients(self, body: list[Statement]) -> list[Statement]:
        """The transient buffers that statements refer to."""
        names = {it.name for statement in body for value in expressions_of(statement) for it in references(value)}
        found = [it for name, it in self.scope.transients.items() if name in names]
        return [replace(it, extents=tuple(map(self._expression, it.extents))) for it in found]

    def _expression(self, expression: Expression) -> Expression:
        """An expression, with the outputs of children of other parts as inputs."""
        match expression:
            case Reference():
                return self._reference(expression)
            case Length(value):
                return Length(self._reference(value))
            case Binary(op, lhs, rhs):
                return Binary(op, self._expression(lhs), self._expression(rhs))
            case IntegerLiteral() | FloatLiteral() | Query():
                return expression
            case _:
                assert_never(expression)

    def _reference(self, reference: Reference) -> Reference:
        end = self.scope.endpoint_of(reference)
        if end is not None and end.node not in self.children:
            return Reference(self._given(end).name, reference.selectors[1:])
        if end is None and reference.name in self.scope.inputs:
            port = self.scope.inputs[reference.name]
            self.inputs[INPUT, reference.name] = Port(Access.IN, port.name, port.type)
        return reference

    def _given(self, end: Endpoint) -> Reference:
        """The input for an output of a child of another part."""
        key = _key(end)
        if key not in self.inputs:
            type = without_atomics(self.scope.outputs_of(end.node)[end.port])
            self.inputs[key] = Port(Access.IN, self._fresh(f"{end.node}_{end.port}"), type)
        return Reference(self.inputs[key].name, ())

    def _fresh(self, stem: str) -> str:
        name = stem.replace(".", "_")
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name


def _key(end: Endpoint) -> Key:
    return f"{end.node}.", end.port


def _node_of(statement: Statement) -> str:
    """The node that the expressions of a statement are for."""
    if isinstance(statement, BindInput):
        return statement.destination.node
    return statement.name if isinstance(statement, CreateNode) else ""
