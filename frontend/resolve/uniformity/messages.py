"""Diagnostics for requirements of uniformity that are not proved (WGSL, "Uniformity").

The place is the call of the builtin function. The notes lead from there to the source: out of the functions around
the call, then along the graph through the conditions that control flow depends on and the variables on the path.
"""

from __future__ import annotations

from collections.abc import Iterable

from ....ir.diagnostics import Diagnostic, Note
from .analysis import Analysis
from .graph import UNREACHED, Cause, Graph, Label, Node, Scope, path_from

MOST_REPORTS = 16
"""Maximum number of reports for one function; many requirements may fail for a few reasons."""

_MOST_NOTES = 8


def report(analysis: Analysis, steps: dict[Scope, list[Node]]) -> None:
    """Report what fails in a function, once for each kind and each condition or value at fault. `steps` lead to what is
    not uniform.
    """
    seen: set[tuple[object, Node]] = set()
    culprits: dict[Node, Node] = {}
    for node, requirement in analysis.required:
        towards = steps[requirement.scope]
        if towards[node] == UNREACHED or len(seen) == MOST_REPORTS:
            continue
        key = requirement.kind, _culprit(analysis.graph, towards, node, culprits)
        if key not in seen:
            seen.add(key)
            notes = (*requirement.trail, *explain(analysis.graph, path_from(towards, node)))
            found = Diagnostic(requirement.severity, requirement.code, requirement.message, requirement.span, notes)
            analysis.context.diagnostics.add(found)


def _culprit(graph: Graph, steps: list[Node], start: Node, known: dict[Node, Node]) -> Node:
    """The first condition or source on the path, cached for every node before it."""
    passed: list[Node] = []
    culprit = start
    for culprit in path_from(steps, start):
        if culprit in known:
            culprit = known[culprit]
            break
        passed.append(culprit)
        label = graph.labels.get(culprit)
        if label is not None and label.cause in (Cause.CONTROL, Cause.SOURCE):
            break
    known.update(dict.fromkeys(passed, culprit))
    return culprit


def explain(graph: Graph, nodes: Iterable[Node]) -> tuple[Note, ...]:
    """The explanations of the labels on a path, each once; a long path is cut in the middle."""
    notes: dict[tuple[Cause, object], Note] = {}
    more: tuple[Note, ...] = ()
    for node in nodes:
        label = graph.labels.get(node)
        if label is not None:
            notes.setdefault((label.cause, _subject(label)), _note(label))
            more = label.notes
    found = [*notes.values(), *more]
    half = _MOST_NOTES // 2
    return tuple(found if len(found) <= _MOST_NOTES else found[:half] + found[-half:])


def _subject(label: Label) -> object:
    return label.what if label.cause is Cause.VARIABLE else label.span


def _note(label: Label) -> Note:
    match label.cause:
        case Cause.CONTROL:
            return Note(f"control flow depends on this {label.what}", label.span)
        case Cause.VARIABLE:
            return Note(f"the value of '{label.what}' may differ between invocations", label.span)
        case Cause.WRITTEN:
            return Note(f"this call may write '{label.what}'", label.span)
        case Cause.SOURCE:
            return Note(label.what, label.span)
