"""Graphs without levels and splits: what is known of each input of each leaf, for transforms that regroup leaves.

`flatten` inlines the graphs that are executed once where they stand, and `graph_of` makes a graph again, with the
splits that outputs with several uses need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias, assert_never

from ...base.names import fresh_name
from ...ir.dataflow.expressions import expressions_of, references
from ...ir.dataflow.nodes import (
    Binary,
    BindInput,
    BindOutput,
    CreateEdge,
    CreateNode,
    Endpoint,
    Expression,
    FloatLiteral,
    Function,
    Graph,
    IntegerLiteral,
    Leaf,
    Length,
    Malloc,
    Member,
    Module,
    Query,
    Reference,
    Replication,
    Shader,
    Split,
    Statement,
)
from ...ir.dataflow.scope import SPLIT_INPUT, Scope, in_order, inputs_of, outputs_of, scope_of, split_outputs
from ...ir.source import Span

Value: TypeAlias = "Expression | Endpoint"
"""What gives an input: an expression (an input of the graph, a transient buffer, a number), or the output of a node."""


@dataclass(frozen=True, slots=True)
class Given:
    """What an input of a node gets, and how."""

    value: Value
    replication: Replication = Replication.ALL_TO_ALL
    streaming: bool = False
    span: Span | None = None


@dataclass(slots=True)
class FlatGraph:
    """A graph whose nodes are leaves, and graphs with instances. `paths` has the names on the way to each node in the
    hierarchy that it comes from.
    """

    graph: Graph
    functions: dict[str, Function]
    nodes: dict[str, CreateNode] = field(default_factory=dict[str, CreateNode])
    transients: dict[str, Malloc] = field(default_factory=dict[str, Malloc])
    inputs: dict[Endpoint, Given] = field(default_factory=dict[Endpoint, Given])
    outputs: dict[str, tuple[Endpoint, BindOutput]] = field(default_factory=dict[str, "tuple[Endpoint, BindOutput]"])
    paths: dict[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])
    taken: set[str] = field(default_factory=set[str])

    def fresh(self, stem: str) -> str:
        """A name like `stem` that nothing has; it is taken from then on."""
        name = fresh_name(stem, self.taken)
        self.taken.add(name)
        return name

    def expressions(self) -> Iterator[Expression]:
        """All expressions."""
        for node in self.nodes.values():
            yield from expressions_of(node)
        for malloc in self.transients.values():
            yield from malloc.extents
        for given in self.inputs.values():
            if not isinstance(given.value, Endpoint):
                yield given.value

    def sources(self, node: str) -> set[str]:
        """The nodes whose results a node needs, directly."""
        values = [given.value for end, given in self.inputs.items() if end.node == node]
        found = {it.node for it in values if isinstance(it, Endpoint)}
        expressions = [*expressions_of(self.nodes[node]), *(it for it in values if not isinstance(it, Endpoint))]
        for expression in expressions:
            found |= {it.name for it in references(expression)}
        for name in found & self.transients.keys():
            found |= {it.name for expression in self.transients[name].extents for it in references(expression)}
        return found & self.nodes.keys()


def flatten(graph: Graph, functions: Mapping[str, Function]) -> FlatGraph:
    """The root graph of a verified module, with the graphs inlined that have no instances."""
    flat = FlatGraph(graph, dict(functions))
    level = _Level(flat, scope_of(graph, functions), (), {})
    flat.taken = {*level.scope.inputs, *level.scope.outputs, *level.scope.children, *level.scope.transients}
    level.add()
    flat.outputs = {name: (level.output(it.source), it) for name, it in level.scope.output_sources.items()}
    return flat


@dataclass(slots=True)
class _Level:
    """A graph on the way down: what its inputs are given, and what its children became."""

    flat: FlatGraph
    scope: Scope
    path: tuple[str, ...]
    inputs: Mapping[str, Given]
    names: dict[str, str] = field(default_factory=dict[str, str])
    inner: dict[str, _Level] = field(default_factory=dict[str, "_Level"])

    def add(self) -> None:
        """Add the children of the graph to the flat one."""
        for name, malloc in self.scope.transients.items():
            self.names[name] = self._named(name)
            self.flat.transients[self.names[name]] = malloc  # its extents are renamed below
        for name in in_order(self.scope):
            child = self.scope.children[name]
            if isinstance(child, CreateNode):
                self._add_node(child)
        for name, malloc in self.scope.transients.items():
            extents = tuple(map(self.expression, malloc.extents))
            self.flat.transients[self.names[name]] = replace(malloc, name=self.names[name], extents=extents)

    def _named(self, name: str) -> str:
        return self.flat.fresh("_".join((*self.path, name))) if self.path else name

    def _add_node(self, node: CreateNode) -> None:
        function = self.flat.functions[node.function]
        given = {port: self.given(Endpoint(node.name, port)) for port in inputs_of(function)}
        if isinstance(function, Graph) and not node.extents and node.repeat is None:
            self.inner[node.name] = level = _Level(
                self.flat, scope_of(function, self.flat.functions), (*self.path, node.name), given
            )
            level.add()
            return
        name = self.names[node.name] = self._named(node.name)
        self.flat.nodes[name] = replace(mapped(node, self.expression), name=name)
        self.flat.paths[name] = (*self.path, node.name)
        self.flat.inputs.update({Endpoint(name, port): it for port, it in given.items()})

    def given(self, end: Endpoint) -> Given:
        """What an input of a child gets."""
        edge = self.scope.edges_to.get(end)
        if edge is not None:
            found = self.resolved(edge.source)
            return Given(found.value, edge.replication, edge.streaming, edge.span)
        bind = self.scope.input_binds[end]
        source = bind.source
        if isinstance(source, Reference) and not source.selectors and source.name in self.inputs:
            return self.inputs[source.name]
        return Given(self.expression(source), streaming=bind.streaming, span=bind.span)

    def output(self, end: Endpoint) -> Endpoint:
        """`resolved` for an output, which is always that of a leaf."""
        found = self.resolved(end).value
        assert isinstance(found, Endpoint)
        return found

    def resolved(self, end: Endpoint) -> Given:
        """The output of a leaf that an output of a child is."""
        child = self.scope.children[end.node]
        if isinstance(child, Split):
            return self.given(Endpoint(end.node, SPLIT_INPUT))
        if end.node in self.inner:
            inner = self.inner[end.node]
            return inner.resolved(inner.scope.output_sources[end.port].source)
        return Given(Endpoint(self.names[end.node], end.port))

    def expression(self, expression: Expression) -> Expression:
        """An expression of this graph in terms of the flat one."""
        match expression:
            case Reference():
                return self._reference(expression)
            case Length(value):
                found = self._reference(value)
                assert isinstance(found, Reference)
                return replace(expression, value=found)
            case Binary(op, lhs, rhs):
                return Binary(op, self.expression(lhs), self.expression(rhs))
            case Query(level=level) if 0 < level <= len(self.path):
                return IntegerLiteral(0)  # an ancestor without dimensions may only have been asked for their number
            case Query(level=level) if level > 0:
                return replace(expression, level=level - len(self.path))
            case Query() | IntegerLiteral() | FloatLiteral():
                return expression
            case _:
                assert_never(expression)

    def _reference(self, reference: Reference) -> Expression:
        end = self.scope.endpoint_of(reference)
        if end is not None:
            return _selected(self.resolved(end).value, Reference("", reference.selectors[1:]))
        if reference.name in self.inputs:
            return _selected(self.inputs[reference.name].value, reference)
        return replace(reference, name=self.names.get(reference.name, reference.name))


def _selected(value: Value, reference: Reference) -> Expression:
    """What the selectors of a reference lead to in a value."""
    if isinstance(value, Endpoint):
        return Reference(value.node, (Member(value.port), *reference.selectors))
    if isinstance(value, Reference):
        return Reference(value.name, (*value.selectors, *reference.selectors))
    assert not reference.selectors
    return value


def graph_of(flat: FlatGraph) -> Graph:
    """The graph again. Transient buffers that nothing uses are left out."""
    users: dict[Endpoint, list[tuple[Endpoint | str, Given]]] = {}
    for end, given in flat.inputs.items():
        if isinstance(given.value, Endpoint):
            users.setdefault(given.value, []).append((end, given))
    for name, (source, bind) in flat.outputs.items():
        users.setdefault(source, []).append((name, Given(source, Replication.ONE_TO_ONE, bind.streaming, bind.span)))
    body: list[Statement] = [*flat.nodes.values()]
    for source, uses in users.items():
        body += _connections(flat, source, uses)
    used: set[str] = set()
    for end, given in flat.inputs.items():
        if not isinstance(given.value, Endpoint):
            body.append(BindInput(given.value, end, streaming=given.streaming, span=given.span))
    for statement in body:
        used |= _names(statement)
    transients = [it for name, it in flat.transients.items() if name in used]
    return replace(flat.graph, body=(*transients, *body))


def _connections(flat: FlatGraph, source: Endpoint, uses: list[tuple[Endpoint | str, Given]]) -> list[Statement]:
    """The edges and binds of an output, by way of a split if there are several."""
    if len(uses) == 1:
        return [_connection(source, *uses[0])]
    type = outputs_of(flat.functions[flat.nodes[source.node].function])[source.port].type
    split = Split(flat.fresh(f"{source.node}_{source.port}".replace(".", "_")), type, len(uses))
    streaming = uses[0][1].streaming
    into = CreateEdge(source, Endpoint(split.name, SPLIT_INPUT), _for_split(uses), streaming=streaming)
    ends = (Endpoint(split.name, it) for it in split_outputs(split))
    return [split, into, *(_connection(end, *use) for end, use in zip(ends, uses, strict=True))]


def _for_split(uses: list[tuple[Endpoint | str, Given]]) -> Replication:
    """One-to-one if a copy goes so to a node."""
    is_own = any(not isinstance(end, str) and it.replication is Replication.ONE_TO_ONE for end, it in uses)
    return Replication.ONE_TO_ONE if is_own else Replication.ALL_TO_ALL


def _connection(source: Endpoint, end: Endpoint | str, given: Given) -> Statement:
    if isinstance(end, str):
        return BindOutput(source, end, streaming=given.streaming, span=given.span)
    return CreateEdge(source, end, given.replication, streaming=given.streaming, span=given.span)


def _names(statement: Statement) -> set[str]:
    """The names that the expressions of a statement begin with."""
    return {it.name for expression in expressions_of(statement) for it in references(expression)}


def mapped(node: CreateNode, change: Callable[[Expression], Expression]) -> CreateNode:
    """A node with other expressions."""
    repeat = None if node.repeat is None else change(node.repeat)
    return replace(node, extents=tuple(map(change, node.extents)), repeat=repeat)


def map_expressions(flat: FlatGraph, change: Callable[[Expression], Expression]) -> None:
    """Change all expressions of the graph."""
    for name, node in flat.nodes.items():
        flat.nodes[name] = mapped(node, change)
    for name, malloc in flat.transients.items():
        flat.transients[name] = replace(malloc, extents=tuple(map(change, malloc.extents)))
    for end, given in flat.inputs.items():
        if not isinstance(given.value, Endpoint):
            flat.inputs[end] = replace(given, value=change(given.value))


def redirect(flat: FlatGraph, changed: Mapping[Endpoint, Endpoint]) -> None:
    """Let what used old outputs use new ones."""
    for end, given in flat.inputs.items():
        if isinstance(given.value, Endpoint):
            flat.inputs[end] = replace(given, value=changed.get(given.value, given.value))
    flat.outputs = {name: (changed.get(source, source), bind) for name, (source, bind) in flat.outputs.items()}

    def reference(it: Reference) -> Reference:
        port = it.selectors[0] if it.selectors else None
        new = changed.get(Endpoint(it.name, port.name)) if isinstance(port, Member) else None
        return it if new is None else Reference(new.node, (Member(new.port), *it.selectors[1:]))

    def expression(it: Expression) -> Expression:
        match it:
            case Reference():
                return reference(it)
            case Length(value):
                return Length(reference(value))
            case Binary(op, lhs, rhs):
                return Binary(op, expression(lhs), expression(rhs))
            case Query() | IntegerLiteral() | FloatLiteral():
                return it
            case _:
                assert_never(it)

    map_expressions(flat, expression)


def module_of(module: Module, flat: FlatGraph, shaders: Mapping[str, Shader]) -> Module:
    """The module with another root graph, and what that needs."""
    root = graph_of(flat)
    needed: dict[str, None] = {}
    pending: list[Function] = [root]
    while pending:
        function = pending.pop()
        needed[function.name] = None
        if isinstance(function, Graph):
            names = [it.function for it in function.body if isinstance(it, CreateNode)]
            pending += [flat.functions[it] for it in names if it not in needed]
    functions = [root if it.name == root.name else it for it in flat.functions.values() if it.name in needed]
    functions.sort(key=lambda it: isinstance(it, Graph))
    used = {it.shader for it in functions if isinstance(it, Leaf)}
    return Module(tuple(it for name, it in shaders.items() if name in used), tuple(functions), module.root)
