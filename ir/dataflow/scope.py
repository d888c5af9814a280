"""What the names in one graph stand for, and which ports of its children are connected.

The verifier fills a scope from the text of a graph, a builder while it builds one, so that both check the same rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from .expressions import expressions_of, references
from .nodes import (
    Access,
    BindInput,
    BindOutput,
    CreateEdge,
    CreateNode,
    Endpoint,
    Expression,
    Function,
    Graph,
    Malloc,
    Member,
    Port,
    Reference,
    Split,
    Statement,
    Type,
)

Child: TypeAlias = CreateNode | Split
Declaration: TypeAlias = CreateNode | Split | Malloc
Connection: TypeAlias = CreateEdge | BindInput | BindOutput

SPLIT_INPUT = "value"


def inputs_of(function: Function) -> dict[str, Port]:
    """The inputs of a function by name."""
    return {it.name: it for it in function.ports if it.access is not Access.OUT}


def outputs_of(function: Function) -> dict[str, Port]:
    """The outputs of a function by name."""
    return {it.name: it for it in function.ports if it.access is not Access.IN}


def split_outputs(split: Split) -> list[str]:
    """The names of the outputs of a split."""
    return [f"copy{number}" for number in range(split.count)]


@dataclass(slots=True)
class Scope:
    """The names and connections of a graph so far. The first of several connections of a port is kept."""

    functions: Mapping[str, Function]
    inputs: dict[str, Port] = field(default_factory=dict[str, Port])
    outputs: dict[str, Port] = field(default_factory=dict[str, Port])
    children: dict[str, Child] = field(default_factory=dict[str, Child])
    transients: dict[str, Malloc] = field(default_factory=dict[str, Malloc])
    edges_from: dict[Endpoint, CreateEdge] = field(default_factory=dict[Endpoint, CreateEdge])
    edges_to: dict[Endpoint, CreateEdge] = field(default_factory=dict[Endpoint, CreateEdge])
    input_binds: dict[Endpoint, BindInput] = field(default_factory=dict[Endpoint, BindInput])
    output_binds: dict[Endpoint, BindOutput] = field(default_factory=dict[Endpoint, BindOutput])
    output_sources: dict[str, BindOutput] = field(default_factory=dict[str, BindOutput])
    first_data: Connection | None = None
    """The first connection that may stream."""

    def add_ports(self, ports: Iterable[Port]) -> None:
        """Add ports of the graph itself."""
        for port in ports:
            if port.access is not Access.OUT:
                self.inputs.setdefault(port.name, port)
            if port.access is not Access.IN:
                self.outputs.setdefault(port.name, port)

    def declare(self, statement: Declaration) -> None:
        """Add a child or a transient buffer."""
        if isinstance(statement, Malloc):
            self.transients.setdefault(statement.name, statement)
        else:
            self.children.setdefault(statement.name, statement)

    def connect(self, statement: Connection) -> None:
        """Add an edge or a bind."""
        match statement:
            case CreateEdge(source, destination):
                self.edges_from.setdefault(source, statement)
                self.edges_to.setdefault(destination, statement)
            case BindInput(_, destination):
                self.input_binds.setdefault(destination, statement)
            case BindOutput(source, output):
                self.output_binds.setdefault(source, statement)
                self.output_sources.setdefault(output, statement)
            case _:
                assert_never(statement)
        if self.first_data is None and self.may_stream(statement):
            self.first_data = statement

    def may_stream(self, statement: Connection) -> bool:
        """Whether the connection carries data of the graph: it is no bind of a transient buffer or a number."""
        if not isinstance(statement, BindInput):
            return True
        value = statement.source
        return isinstance(value, Reference) and value.name in self.inputs and not value.selectors

    def inputs_of(self, child: str) -> dict[str, Type]:
        """The types of a child's inputs; none for a child whose function does not exist."""
        node = self.children[child]
        if isinstance(node, Split):
            return {SPLIT_INPUT: node.type}
        function = self.functions.get(node.function)
        return {} if function is None else {name: it.type for name, it in inputs_of(function).items()}

    def outputs_of(self, child: str) -> dict[str, Type]:
        """The types of a child's outputs; none for a child whose function does not exist."""
        node = self.children[child]
        if isinstance(node, Split):
            return dict.fromkeys(split_outputs(node), node.type)
        function = self.functions.get(node.function)
        return {} if function is None else {name: it.type for name, it in outputs_of(function).items()}

    def is_known(self, child: str) -> bool:
        """Whether there is such a child and its function exists."""
        node = self.children.get(child)
        return isinstance(node, Split) or (node is not None and node.function in self.functions)

    def endpoint_of(self, reference: Reference) -> Endpoint | None:
        """The child's output that a reference begins with; None if it begins with something else."""
        if reference.name not in self.children or not reference.selectors:
            return None
        first = reference.selectors[0]
        return Endpoint(reference.name, first.name) if isinstance(first, Member) else None

    def value_of(self, name: str) -> Port | Malloc | None:
        """The input or the transient buffer of a name."""
        return self.inputs.get(name) or self.transients.get(name)

    def grid_source(self, endpoint: Endpoint) -> CreateNode | None:
        """The node whose instances give a value: that of the endpoint, or the one before its splits."""
        seen: set[str] = set()
        name = endpoint.node
        while name not in seen:
            seen.add(name)
            node = self.children.get(name)
            if not isinstance(node, Split):
                return node
            edge = self.edges_to.get(Endpoint(name, SPLIT_INPUT))
            if edge is None:
                return None
            name = edge.source.node
        return None

    def needs(self, child: str) -> Iterator[str]:
        """The children whose results a child needs before it can start; some may come several times."""
        node = self.children[child]
        for name in self.inputs_of(child):
            end = Endpoint(child, name)
            if end in self.edges_to:
                yield self.edges_to[end].source.node
            if end in self.input_binds:
                yield from self._needed_by(self.input_binds[end].source)
        for expression in expressions_of(node):
            yield from self._needed_by(expression)

    def _needed_by(self, expression: Expression) -> Iterator[str]:
        for reference in references(expression):
            if reference.name in self.transients:
                for extent in self.transients[reference.name].extents:
                    yield from (it.name for it in references(extent) if it.name in self.children)
            elif reference.name in self.children:
                yield reference.name


def scope_of(graph: Graph, functions: Mapping[str, Function]) -> Scope:
    """The scope of a whole graph."""
    scope = Scope(functions)
    scope.add_ports(graph.ports)
    statements = sorted(graph.body, key=is_connection)
    for statement in statements:
        if isinstance(statement, (CreateNode, Split, Malloc)):
            scope.declare(statement)
        else:
            scope.connect(statement)
    return scope


def is_connection(statement: Statement) -> bool:
    """Whether the statement is an edge or a bind, and not a declaration."""
    return isinstance(statement, (CreateEdge, BindInput, BindOutput))


def in_order(scope: Scope) -> list[str]:
    """The children, each after those that it needs; the ones on or behind a cycle are left out.

    Where several could be next, the first in the order of the text is.
    """
    waiting = {name: {it for it in scope.needs(name) if it in scope.children} for name in scope.children}
    users: dict[str, list[str]] = {name: [] for name in scope.children}
    for name, needed in waiting.items():
        for it in needed:
            users[it].append(name)
    ready = [name for name, needed in waiting.items() if not needed]
    ordered: list[str] = []
    for name in ready:  # grows while it is walked
        ordered.append(name)
        for user in users[name]:
            waiting[user].discard(name)
            if not waiting[user]:
                ready.append(user)
    return ordered


def reaches(scope: Scope, start: str, goal: str) -> bool:
    """Whether `start` needs the results of `goal`, perhaps by way of others."""
    seen, pending = {start}, [start]
    while pending:
        name = pending.pop()
        if name == goal:
            return True
        fresh = {it for it in scope.needs(name) if it in scope.children} - seen
        seen |= fresh
        pending += fresh
    return False
