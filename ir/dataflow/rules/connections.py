"""Rules on edges and binds, and on a graph when all of them are known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...hints import unknown_name
from .. import types
from ..expressions import difference
from ..nodes import (
    BindInput,
    BindOutput,
    CreateEdge,
    CreateNode,
    Endpoint,
    FloatLiteral,
    Graph,
    IntegerLiteral,
    Reference,
    Replication,
    Split,
    Statement,
    Type,
)
from ..scope import SPLIT_INPUT, Scope, in_order
from ..text import expression_text, type_text
from .declarations import type_of
from .table import GraphRule, Part, StatementRule, each


def shown(endpoint: Endpoint) -> str:
    """A port for messages: `node.port`."""
    return f"{endpoint.node}.{endpoint.port}"


def _sources(statement: Statement) -> list[Endpoint]:
    return [statement.source] if isinstance(statement, (CreateEdge, BindOutput)) else []


def _destinations(statement: Statement) -> list[Endpoint]:
    return [statement.destination] if isinstance(statement, (CreateEdge, BindInput)) else []


def _children(statement: Statement, scope: Scope) -> Iterator[str]:
    for end in _sources(statement) + _destinations(statement):
        if end.node not in scope.children:
            yield unknown_name(f"{end.node!r} is no node of this graph", end.node, scope.children)


def _source_port(statement: Statement, scope: Scope) -> Iterator[str]:
    for end in _sources(statement):
        if scope.is_known(end.node) and end.port not in scope.outputs_of(end.node):
            message = f"node {end.node!r} has no output {end.port!r}"
            yield unknown_name(message, end.port, scope.outputs_of(end.node))


def _destination_port(statement: Statement, scope: Scope) -> Iterator[str]:
    for end in _destinations(statement):
        if scope.is_known(end.node) and end.port not in scope.inputs_of(end.node):
            message = f"node {end.node!r} has no input {end.port!r}"
            yield unknown_name(message, end.port, scope.inputs_of(end.node))


def _output_exists(bind: BindOutput, scope: Scope) -> Iterator[str]:
    if bind.output not in scope.outputs:
        yield unknown_name(f"the graph has no output {bind.output!r}", bind.output, scope.outputs)


def _bound_value(bind: BindInput, scope: Scope) -> Iterator[str]:
    value = bind.source
    if not isinstance(value, Reference):
        return
    endpoint = scope.endpoint_of(value)
    if endpoint is not None and len(value.selectors) == 1:
        yield f"{expression_text(value)} is an output of a node: createEdge takes it to {shown(bind.destination)}"


def _edge_types(edge: CreateEdge, scope: Scope) -> Iterator[str]:
    given = _given_type(edge.source, scope)
    wanted = _wanted_type(edge.destination, scope)
    if given is not None and wanted is not None and not types.takes(wanted, given):
        place = f"{shown(edge.destination)} of {type_text(wanted)}"
        yield f"{shown(edge.source)} is of type {type_text(given)}, but {place}"


def _output_types(bind: BindOutput, scope: Scope) -> Iterator[str]:
    given, port = _given_type(bind.source, scope), scope.outputs.get(bind.output)
    if given is not None and port is not None and not types.takes(port.type, given):
        yield (
            f"{shown(bind.source)} is of type {type_text(given)}, but the output {bind.output!r} of "
            f"{type_text(port.type)}"
        )


def _input_types(bind: BindInput, scope: Scope) -> Iterator[str]:
    wanted = _wanted_type(bind.destination, scope)
    if wanted is None:
        return
    place = f"{shown(bind.destination)} is of type {type_text(wanted)}"
    if isinstance(bind.source, Reference):
        given = type_of(bind.source, scope)
        if given is not None and not types.takes(wanted, given):
            yield f"{expression_text(bind.source)} is of type {type_text(given)}, but {place}"
    elif not types.is_scalar(wanted):
        yield f"{place}, and takes no number"
    elif types.is_integer(wanted) and isinstance(bind.source, FloatLiteral):
        yield f"{place}, and {expression_text(bind.source)} is no whole number"
    elif isinstance(bind.source, IntegerLiteral) and not types.holds(wanted, bind.source.value):
        yield f"{place}, which does not have the number {bind.source.value}"


def _given_type(end: Endpoint, scope: Scope) -> Type | None:
    """The type of an output; None where the child or the port is unknown."""
    return scope.outputs_of(end.node).get(end.port) if scope.is_known(end.node) else None


def _wanted_type(end: Endpoint, scope: Scope) -> Type | None:
    """The type of an input; None where the child or the port is unknown."""
    return scope.inputs_of(end.node).get(end.port) if scope.is_known(end.node) else None


def _edge_source(edge: CreateEdge, scope: Scope) -> Iterator[str]:
    if edge.source in scope.edges_from:
        yield f"{shown(edge.source)} is the source of an edge already: a split gives several copies"


def _edge_destination(edge: CreateEdge, scope: Scope) -> Iterator[str]:
    if edge.destination in scope.edges_to:
        yield f"{shown(edge.destination)} is the destination of an edge already"


def _bind_destination(bind: BindInput, scope: Scope) -> Iterator[str]:
    if bind.destination in scope.input_binds:
        yield f"{shown(bind.destination)} is bound already"


def _bind_source(bind: BindOutput, scope: Scope) -> Iterator[str]:
    if bind.source in scope.output_binds:
        yield f"{shown(bind.source)} is bound to an output already: a split gives several copies"


def _bound_output(bind: BindOutput, scope: Scope) -> Iterator[str]:
    if bind.output in scope.output_sources:
        yield f"the output {bind.output!r} is bound already"


def _one_source(statement: Statement, scope: Scope) -> Iterator[str]:
    other = scope.edges_from if isinstance(statement, BindOutput) else scope.output_binds
    for end in _sources(statement):
        if end in other:
            yield f"{shown(end)} goes along an edge and to an output of the graph: a split gives several copies"


def _one_destination(statement: Statement, scope: Scope) -> Iterator[str]:
    other = scope.edges_to if isinstance(statement, BindInput) else scope.input_binds
    for end in _destinations(statement):
        if end in other:
            yield f"{shown(end)} is given by an edge and by a bind"


def _stream_source(bind: BindInput, scope: Scope) -> Iterator[str]:
    if bind.streaming and not scope.may_stream(bind):
        yield f"{expression_text(bind.source)} does not stream: only inputs of the graph do"


def _stream_mix(statement: Statement, scope: Scope) -> Iterator[str]:
    if not isinstance(statement, (CreateEdge, BindInput, BindOutput)) or not scope.may_stream(statement):
        return
    first = scope.first_data
    if first is not None and first.streaming != statement.streaming:
        yield "streaming and other connections do not mix: all edges and binds of inputs and outputs stream, or none"


def _grids(edge: CreateEdge, scope: Scope) -> Iterator[str]:
    """The grids of a one-to-one edge; what cannot be decided here is compared when the graph runs."""
    sink = scope.children.get(edge.destination.node)
    source = scope.grid_source(edge.source)
    if edge.replication is Replication.ALL_TO_ALL or not isinstance(sink, CreateNode) or source is None:
        return
    place = f"one-to-one from {shown(edge.source)} to {shown(edge.destination)}"
    if len(source.extents) != len(sink.extents):
        yield f"{place}: {source.name!r} has {len(source.extents)} dimensions, but {sink.name!r} {len(sink.extents)}"
        return
    for letter, given, wanted in zip("xyz", source.extents, sink.extents, strict=False):
        if difference(given, wanted):
            texts = f"{expression_text(given)} in {source.name!r}, but {expression_text(wanted)} in {sink.name!r}"
            yield f"{place}: the extent {letter} is {texts}"


def _one_to_one_splits(edge: CreateEdge, scope: Scope) -> Iterator[str]:
    if edge.replication is Replication.ALL_TO_ALL or not isinstance(scope.children.get(edge.source.node), Split):
        return
    into = scope.edges_to.get(Endpoint(edge.source.node, SPLIT_INPUT))
    if into is None or into.replication is Replication.ALL_TO_ALL:
        yield f"split {edge.source.node!r} does not get its value one-to-one, so it cannot give {edge.source.port!r} so"


def _complete_inputs(graph: Graph, scope: Scope) -> Iterator[tuple[Part, str]]:
    for name, child in scope.children.items():
        for port in scope.inputs_of(name):
            end = Endpoint(name, port)
            if end not in scope.edges_to and end not in scope.input_binds:
                yield child, f"node {name!r}: nothing gives its input {port!r}"


def _complete_outputs(graph: Graph, scope: Scope) -> Iterator[tuple[Part, str]]:
    for name, port in scope.outputs.items():
        if name not in scope.output_sources:
            yield port, f"nothing gives the output {name!r}"


def _acyclic(graph: Graph, scope: Scope) -> Iterator[tuple[Part, str]]:
    cyclic = set(scope.children) - set(in_order(scope))
    while cyclic:  # leave out what only depends on a cycle
        needed = {it for name in cyclic for it in scope.needs(name)}
        if not cyclic - needed:
            break
        cyclic &= needed
    for name, child in scope.children.items():
        if name in cyclic:
            others = ", ".join(repr(it) for it in scope.children if it in cyclic and it != name) or "itself"
            yield child, f"node {name!r} is part of a cycle, with {others}"
            return


CONNECTIONS: Final = (
    StatementRule("children", "edges and binds are of children of the graph that they stand in", _children),
    StatementRule("source-port", "a source is an output of its node", _source_port),
    StatementRule("destination-port", "a destination is an input of its node", _destination_port),
    StatementRule("output-port", "an output bind names an output of the graph", each(BindOutput, _output_exists)),
    StatementRule(
        "bound-value", "an input bind is of an input, a transient or a number", each(BindInput, _bound_value)
    ),
    StatementRule("edge-types", "both ends of an edge have one type", each(CreateEdge, _edge_types)),
    StatementRule("input-types", "an input bind has one type", each(BindInput, _input_types)),
    StatementRule("output-types", "an output bind has one type", each(BindOutput, _output_types)),
    StatementRule("edge-source", "an output is the source of one edge", each(CreateEdge, _edge_source)),
    StatementRule("edge-destination", "an input is the destination of one edge", each(CreateEdge, _edge_destination)),
    StatementRule("bind-destination", "an input is the destination of one bind", each(BindInput, _bind_destination)),
    StatementRule("bind-source", "an output is the source of one bind", each(BindOutput, _bind_source)),
    StatementRule("bound-output", "an output of the graph is bound once", each(BindOutput, _bound_output)),
    StatementRule("one-source", "an output is the source of an edge or of a bind", _one_source),
    StatementRule("one-destination", "an input is the destination of an edge or of a bind", _one_destination),
    StatementRule("stream-source", "only inputs of the graph stream into it", each(BindInput, _stream_source)),
    StatementRule("stream-mix", "all data of a graph stream, or none", _stream_mix),
)
"""For each edge and bind, before it is added to the scope."""

EDGES: Final = (
    StatementRule("one-to-one-grids", "a one-to-one edge joins nodes with equal grids", each(CreateEdge, _grids)),
    StatementRule(
        "one-to-one-splits", "what comes one-to-one from a split goes so to it", each(CreateEdge, _one_to_one_splits)
    ),
)
"""For each statement, when all edges are in the scope."""

GRAPHS: Final = (
    GraphRule("complete-inputs", "each input of a node is given", _complete_inputs),
    GraphRule("complete-outputs", "each output of a graph is given", _complete_outputs),
    GraphRule("acyclic", "no node needs its own results", _acyclic),
)
"""For a graph that keeps the rules above."""
