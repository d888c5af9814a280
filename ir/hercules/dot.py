"""Draws a function as a graph in Graphviz's language: forks as boxes in boxes, control bold, data thin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .graph import control_predecessors, is_control, predecessors
from .nodes import Fork, Function, Join, Node
from .schedule import Schedule, schedule
from .text import node_lines


def draw(function: Function) -> str:
    """The graph of a function that verifies. Each node is its line of the text form; data stand in the box of the
    forks that they run in.
    """
    plan = schedule(function)
    names = {node: f"n{number}" for number, node in enumerate(function.nodes)}
    lines = node_lines(function)
    inside: dict[tuple[Fork, ...], list[Node]] = {}
    for node in function.nodes:
        inside.setdefault(_nest(plan, node), []).append(node)
    body = [*_box(plan, (), inside, names, lines, "  "), *_edges(function, names)]
    return (
        "\n".join([f"digraph {_quoted(function.name)} {{", "  node [shape=box, fontname=monospace];", *body, "}"])
        + "\n"
    )


def _nest(plan: Schedule, node: Node) -> tuple[Fork, ...]:
    at = node if is_control(node) else plan.place.get(node)
    return plan.nest.around.get(at, ()) if at is not None else ()


def _box(
    plan: Schedule,
    nest: tuple[Fork, ...],
    inside: Mapping[tuple[Fork, ...], list[Node]],
    names: Mapping[Node, str],
    lines: Mapping[Node, str],
    indent: str,
) -> Iterator[str]:
    """The nodes in a nest of forks, then the boxes of the forks in it."""
    for node in inside.get(nest, ()):
        style = ", style=filled, fillcolor=lightyellow" if is_control(node) else ", style=rounded"
        yield f"{indent}{names[node]} [label={_quoted(lines[node])}{style}];"
    for fork in plan.nest.joins:
        around = plan.nest.around[fork]
        if around[:-1] == nest:
            yield f"{indent}subgraph cluster_{names[fork]} {{"
            yield from _box(plan, around, inside, names, lines, indent + "  ")
            yield f"{indent}}}"


def _edges(function: Function, names: Mapping[Node, str]) -> Iterator[str]:
    for node in function.nodes:
        control = control_predecessors(node)
        for used in dict.fromkeys(predecessors(node)):
            is_back = isinstance(used, Join) and not is_control(node)
            style = (
                " [penwidth=2]" if used in control else " [color=gray, style=dashed]" if is_back else " [color=gray40]"
            )
            yield f"  {names[used]} -> {names[node]}{style};"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
