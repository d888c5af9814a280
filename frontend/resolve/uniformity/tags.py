"""Conclusions from the finished graph of a function (WGSL, "Analyzing the Uniformity Requirements of a Function")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ....ir.diagnostics import Note
from . import messages
from .analysis import Analysis
from .graph import (
    NON_UNIFORM,
    NON_UNIFORM_IN_WORKGROUP,
    SINKS,
    START,
    Node,
    Scope,
    path_from,
    steps_from,
    steps_towards,
)
from .summary import Origins, Requirement, Summary


def conclude(analysis: Analysis) -> Summary:
    """Report violations in this function; returns the summary for callers."""
    is_entry_point = analysis.function.stage is not None
    if is_entry_point and not analysis.required:
        return Summary()
    steps = _steps(analysis)
    messages.report(analysis, steps)
    if is_entry_point:
        return Summary()
    summary = Summary(result=_origins(analysis, analysis.returned, steps))
    for index, parameter in enumerate(analysis.function.parameters):
        if parameter in analysis.exits:
            summary.at_exit[index] = _origins(analysis, analysis.exits[parameter], steps)
    for requirements in _by_kind(analysis.required):
        _pass_to_callers(analysis, summary, requirements)
    return summary


def _steps(analysis: Analysis) -> dict[Scope, list[Node]]:
    """The steps to non-uniform sinks; the scopes share them unless the function depends on subgroups."""
    sources = analysis.graph.reversed()
    if not sources[NON_UNIFORM_IN_WORKGROUP]:
        return dict.fromkeys(Scope, steps_towards(sources, (NON_UNIFORM,)))
    return {scope: steps_towards(sources, sinks) for scope, sinks in SINKS.items()}


def _origins(analysis: Analysis, node: Node, steps: dict[Scope, list[Node]]) -> Origins:
    reached = steps_from(analysis.graph, (node,))
    sink = next((sink for sink in (NON_UNIFORM, NON_UNIFORM_IN_WORKGROUP) if sink in reached), None)
    cause: tuple[Note, ...] = ()
    if sink is not None:
        scope = Scope.SUBGROUP if sink == NON_UNIFORM else Scope.WORKGROUP
        cause = messages.explain(analysis.graph, path_from(steps[scope], node))[-2:]
    return Origins(
        sink=sink,
        values=tuple(index for index, value in _values(analysis) if value in reached),
        contents=tuple(index for index, value in analysis.contents.items() if value in reached),
        cause=cause,
    )


def _values(analysis: Analysis) -> Iterator[tuple[int, Node]]:
    names = analysis.names
    return ((index, names[parameter]) for index, parameter in enumerate(analysis.function.parameters))


def _by_kind(required: Iterable[tuple[Node, Requirement]]) -> Iterable[list[tuple[Node, Requirement]]]:
    kinds: dict[object, list[tuple[Node, Requirement]]] = {}
    for node, requirement in required:
        kinds.setdefault(requirement.kind, []).append((node, requirement))
    return kinds.values()


def _pass_to_callers(analysis: Analysis, summary: Summary, required: list[tuple[Node, Requirement]]) -> None:
    """What requirements of one kind ask of control flow at the call and of the parameters."""
    asking: dict[Node, Requirement] = {}
    for node, requirement in required:
        asking.setdefault(node, requirement)
    before = steps_from(analysis.graph, asking)

    def found(node: Node) -> tuple[Requirement, ...]:
        """The requirement that reaches the node of a parameter, with the path from there."""
        if node not in before:
            return ()
        path = list(path_from(before, node))
        requirement = asking[path[-1]]
        return (requirement.with_trail(messages.explain(analysis.graph, reversed(path))),)

    if START in before:
        *_, origin = path_from(before, START)
        summary.at_call += (asking[origin],)
    for index, node in _values(analysis):
        summary.of_values[index] = (*summary.of_values.get(index, ()), *found(node))
    for index, node in analysis.contents.items():
        summary.of_contents[index] = (*summary.of_contents.get(index, ()), *found(node))
