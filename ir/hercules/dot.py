"""Draws a function as a graph in Graphviz's language.

Forks are nested boxes around their nodes. Control is dark and bold, scalars are light, versions of collections orange;
constants are written inline in the nodes that use them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from .graph import control_predecessors, is_control, predecessors
from .inference import infer_types
from .nodes import (
    Atomic,
    Collect,
    ConstantNode,
    DynamicConstantNode,
    FloatingNode,
    Fork,
    Function,
    If,
    Join,
    Match,
    Node,
    Parameter,
    Phi,
    PinnedNode,
    Read,
    Reduce,
    Region,
    Return,
    Start,
    ThreadID,
    Type,
    Write,
    ZeroConstant,
)
from .placement import Placement, place_nodes
from .text import constant_text, dynamic_text, expression_text, node_names
from .types import is_collection

_HEAD = """\
  graph [fontname="Helvetica", fontsize=12, labeljust=l, ranksep=0.35, nodesep=0.25, pad=0.3];
  node [fontname="Helvetica", fontsize=11, shape=box, style="rounded,filled", color="#8a8f98", fillcolor="#ffffff",
    margin="0.12,0.05", height=0.3];
  edge [arrowsize=0.6, color="#9aa3b2"];"""

_CONTROL = 'color="#31507a", fillcolor="#d5e3f5", penwidth=1.4'
_BRANCH = 'shape=diamond, style=filled, color="#31507a", fillcolor="#d5e3f5", penwidth=1.4, margin="0.02,0.02"'
_PARALLEL = 'shape=trapezium, style=filled, color="#31507a", fillcolor="#b7cfee", penwidth=1.4'
_COLLECTION = 'color="#b3651b", fillcolor="#fde5cb"'
_READ = 'color="#4b8150", fillcolor="#e2f2e0"'
_INPUT = 'shape=box, style=filled, color="#6b5b95", fillcolor="#e9e4f4"'
_MERGE = 'color="#8a8f98", fillcolor="#f3f0d7"'
_PLAIN = ""

_CONTROL_EDGE = '[color="#31507a", penwidth=2.2]'
_COLLECTION_EDGE = '[color="#d08030", penwidth=1.6]'
_VALUE_EDGE = ""
_BACK = "constraint=false, style=dashed"
_SHADES = ("#f7f9fc", "#edf2f9", "#e2eaf5", "#d7e2f1", "#ccdaed")


def draw(function: Function) -> str:
    """The graph of a function that verifies."""
    return _Drawing(function).text()


class _Drawing:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.placed: Placement = place_nodes(function)
        self.types: Mapping[Node, Type] = infer_types(function)
        self.names = node_names(function)
        self.names |= {node: text for node in function.nodes if (text := self._literal(node)) is not None}
        self.ids = {node: f"n{number}" for number, node in enumerate(function.nodes) if not self._is_literal(node)}
        self.inside: dict[tuple[Fork, ...], list[Node]] = {}
        for node in self.ids:
            self.inside.setdefault(self._nest(node), []).append(node)

    def text(self) -> str:
        """The whole graph."""
        title = f"  label={_quoted(self.function.name)}; labelloc=t; fontsize=16;"
        lines = [f"digraph {_quoted(self.function.name)} {{", _HEAD, title, *self._box((), "  "), *self._edges(), "}"]
        return "\n".join(lines) + "\n"

    def _literal(self, node: Node) -> str | None:
        """The inline text of a constant."""
        names = self.function.dynamic_constants
        if isinstance(node, DynamicConstantNode):
            return dynamic_text(node.value, names)
        if not isinstance(node, ConstantNode):
            return None
        return "zeros" if isinstance(node.value, ZeroConstant) else constant_text(node.value, names).partition(" ")[2]

    def _is_literal(self, node: Node) -> bool:
        return isinstance(node, (ConstantNode, DynamicConstantNode))

    def _nest(self, node: Node) -> tuple[Fork, ...]:
        at = node if is_control(node) else self.placed.place.get(node)
        return self.placed.nest.around.get(at, ()) if at is not None else ()

    def _box(self, nest: tuple[Fork, ...], indent: str) -> Iterator[str]:
        """The nodes in a nest of forks, then the boxes of the forks in it."""
        for node in self.inside.get(nest, ()):
            style = self._style(node)
            yield f"{indent}{self.ids[node]} [label={_quoted(self._label(node))}{', ' if style else ''}{style}];"
        for fork in self.placed.nest.joins:
            around = self.placed.nest.around[fork]
            if around[:-1] == nest:
                shade = _SHADES[min(len(nest), len(_SHADES) - 1)]
                factor = dynamic_text(fork.factor, self.function.dynamic_constants)
                yield f"{indent}subgraph cluster_{self.ids[fork]} {{"
                title = f"{self.names[fork]}: {factor} threads"
                yield f'{indent}  label={_quoted(title)}; style="rounded,filled"; color="#9db4d3"; fillcolor="{shade}";'
                yield from self._box(around, indent + "  ")
                yield f"{indent}}}"

    def _label(self, node: Node) -> str:
        """The name above the computation; control inputs are left out, because edges show them."""
        name = self.names[node]
        match node:
            case Start() | Region() | Join() | Return() | Parameter():
                return name
            case Fork(factor=factor):
                return f"fork {dynamic_text(factor, self.function.dynamic_constants)}"
            case If() | Match():
                return "if" if isinstance(node, If) else "match"
            case ThreadID(fork=fork):
                return f"{name}\nthread of {self.names[fork]}"
            case Read() if is_control(node):
                return name
            case FloatingNode() | PinnedNode():
                return f"{name}\n{expression_text(node, self.names, self.function)}"
            case _:
                assert_never(node)

    def _style(self, node: Node) -> str:
        match node:
            case Fork() | Join():
                return _PARALLEL + (", orientation=180" if isinstance(node, Join) else "")
            case If() | Match():
                return _BRANCH
            case Parameter() | ThreadID():
                return _INPUT
            case Write() | Reduce() | Collect() | Atomic():
                return _COLLECTION
            case Start() | Region() | Return():
                return _CONTROL
            case Phi():
                return _COLLECTION if is_collection(self.types.get(node)) else _MERGE
            case Read():
                return _CONTROL if is_control(node) else _READ
            case FloatingNode():
                return _PLAIN
            case _:
                assert_never(node)

    def _edges(self) -> Iterator[str]:
        for node in self.ids:
            control = control_predecessors(node)
            for used in dict.fromkeys(predecessors(node)):
                if self._is_literal(used) or (is_control(used) and not is_control(node)):
                    continue  # the label says which fork, join or region
                style = self._edge(used, node, is_control_edge=used in control)
                yield f"  {self.ids[used]} -> {self.ids[node]}{style};"

    def _edge(self, used: Node, node: Node, *, is_control_edge: bool) -> str:
        if is_control_edge:
            return " " + _CONTROL_EDGE
        is_back = isinstance(node, Reduce) and used is node.update
        style = _COLLECTION_EDGE if is_collection(self.types.get(used)) else _VALUE_EDGE
        if not is_back:
            return f" {style}" if style else ""
        return f" {style[:-1]}, {_BACK}]" if style else f" [{_BACK}]"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
