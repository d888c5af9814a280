"""Draws a module as a graph in Graphviz's language.

Internal nodes are boxes around their children. One-to-one edges are light, all-to-all edges dark and bold, as a
barrier; streaming ones are dashed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, assert_never

from ...base.errors import InputError
from .hierarchy import walk_hierarchy
from .nodes import (
    Access,
    BindInput,
    BindOutput,
    CreateEdge,
    CreateNode,
    Endpoint,
    Function,
    Graph,
    Host,
    Malloc,
    Module,
    Reference,
    Replication,
    Split,
)
from .scope import SPLIT_INPUT
from .text import expression_text, type_text

_HEAD: Final = """\
  graph [fontname="Helvetica", fontsize=12, labeljust=l, ranksep=0.35, nodesep=0.25, pad=0.3];
  node [fontname="Helvetica", fontsize=11, shape=box, style="rounded,filled", color="#31507a", fillcolor="#d5e3f5",
    margin="0.12,0.05", height=0.3];
  edge [fontname="Helvetica", fontsize=9, arrowsize=0.6, color="#9aa3b2"];"""

_PORT: Final = 'shape=box, style=filled, color="#6b5b95", fillcolor="#e9e4f4"'
_TRANSIENT: Final = 'shape=box, style=filled, color="#b3651b", fillcolor="#fde5cb"'
_SPLIT: Final = 'shape=triangle, style=filled, color="#8a8f98", fillcolor="#f3f0d7", margin="0.01,0.01"'
_SHADES: Final = ("#f7f9fc", "#edf2f9", "#e2eaf5", "#d7e2f1", "#ccdaed")
_BARRIER: Final = 'color="#31507a", penwidth=1.8'
_ONE_TO_ONE: Final = 'color="#4b8150"'

MOST_NODES: Final = 2000
"""Maximum number of nodes, at all levels, in a picture; Graphviz takes about a minute for so many."""

Path = tuple[str, ...]


def draw(module: Module, notes: Mapping[Path, str] | None = None) -> str:
    """The graph of a verified module. Notes stand in the nodes with these paths, from the root's child down.

    Raises InputError for a hierarchy that is too large for a picture.
    """
    if len(list(islice(walk_hierarchy(module), MOST_NODES + 1))) > MOST_NODES:
        raise InputError(f"a graph of more than {MOST_NODES} nodes is too large for a picture")
    drawing = _Drawing({it.name: it for it in module.functions}, notes or {})
    root = drawing.functions[module.root.function]
    assert isinstance(root, Graph)
    lines = ["digraph dataflow {", _HEAD, *drawing.graph(root, ()), "}", ""]
    return "\n".join(lines)


class _Drawing:
    def __init__(self, functions: Mapping[str, Function], notes: Mapping[Path, str]) -> None:
        self.functions = functions
        self._notes = notes

    def graph(self, graph: Graph, path: Path) -> Iterator[str]:
        """The lines for the ports, children and connections of a graph at a path."""
        for port in graph.ports:
            label = _text(f"{port.name}: {type_text(port.type)}")
            sides = {Access.IN: ("in",), Access.OUT: ("out",), Access.INOUT: ("in", "out")}[port.access]
            yield from (f"  {_id(path, side, port.name)} [label={label}, {_PORT}];" for side in sides)
        for statement in graph.body:
            match statement:
                case CreateNode():
                    yield from self._node(statement, path)
                case Malloc(name, type):
                    extents = " x ".join(map(expression_text, statement.extents))
                    label = f"{name}: {type_text(type)}\n{extents}"
                    yield f"  {_id(path, 'child', name)} [label={_text(label)}, {_TRANSIENT}];"
                case Split(name):
                    yield f'  {_id(path, "child", name)} [label="split", {_SPLIT}];'
                case CreateEdge() | BindInput() | BindOutput():
                    yield from self._connection(statement, graph, path)
                case _:
                    assert_never(statement)

    def _node(self, node: CreateNode, path: Path) -> Iterator[str]:
        function, inner = self.functions[node.function], (*path, node.name)
        extents = " x ".join(map(expression_text, node.extents)) or "1"
        if isinstance(function, Host):
            extents = "on the host"
        if node.repeat is not None:
            extents = f"{extents}, {expression_text(node.repeat)} times"
        lines = [node.name if node.name == node.function else f"{node.name}: {node.function}", extents]
        lines += [self._notes[inner]] if inner in self._notes else []
        label = _text("\n".join(lines))
        if not isinstance(function, Graph):
            yield f"  {_id(path, 'child', node.name)} [label={label}];"
            return
        shade = _SHADES[min(len(path), len(_SHADES) - 1)]
        yield f"  subgraph {_text('cluster ' + '/'.join(inner))} {{"
        yield f'  label={label}; style=filled; color="#8a8f98"; fillcolor="{shade}";'
        yield from self.graph(function, inner)
        yield "  }"

    def _connection(self, statement: CreateEdge | BindInput | BindOutput, graph: Graph, path: Path) -> Iterator[str]:
        style = ["style=dashed"] if statement.streaming else []
        match statement:
            case CreateEdge(source, destination, replication):
                style.append(_ONE_TO_ONE if replication is Replication.ONE_TO_ONE else _BARRIER)
                ends = self._source(source, graph, path), self._sink(destination, graph, path)
                labels = _labels(source.port, destination.port)
            case BindInput(source, destination):
                if not isinstance(source, Reference) or source.selectors:
                    return
                ends = _value(source.name, graph, path), self._sink(destination, graph, path)
                labels = _labels("", destination.port)
            case BindOutput(source, output):
                ends = self._source(source, graph, path), _id(path, "out", output)
                labels = _labels(source.port, "")
            case _:
                assert_never(statement)
        yield f"  {ends[0]} -> {ends[1]} [{', '.join([*style, *labels])}];"

    def _source(self, end: Endpoint, graph: Graph, path: Path) -> str:
        return self._end(end, graph, path, "out")

    def _sink(self, end: Endpoint, graph: Graph, path: Path) -> str:
        return self._end(end, graph, path, "in")

    def _end(self, end: Endpoint, graph: Graph, path: Path, side: str) -> str:
        """The drawn thing for a port of a child: the port itself if the child is a graph."""
        created = {it.name: it for it in graph.body if isinstance(it, CreateNode)}
        node = created.get(end.node)
        if node is not None and isinstance(self.functions[node.function], Graph):
            return _id((*path, end.node), side, end.port)
        return _id(path, "child", end.node)


def _value(name: str, graph: Graph, path: Path) -> str:
    is_input = any(it.name == name and it.access is not Access.OUT for it in graph.ports)
    return _id(path, "in" if is_input else "child", name)


def _labels(source: str, destination: str) -> list[str]:
    """The names of the ports at the ends of an edge; those of a split say nothing."""
    shown = [it for it in (source, destination) if it and it != SPLIT_INPUT and not it.startswith("copy")]
    return [f"label={_text(' → '.join(dict.fromkeys(shown)))}"] if shown else []


def _id(path: Path, kind: str, name: str) -> str:
    return _text("/".join((*path, kind, name)))


def _text(text: str) -> str:
    """A string of Graphviz's language."""
    return json.dumps(text, ensure_ascii=False)
