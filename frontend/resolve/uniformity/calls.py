"""Calls (WGSL, "Uniformity Rules for Function Calls")."""

from __future__ import annotations

from collections.abc import Iterable

from ....ir.builtins import Builtin, builtin
from ....ir.diagnostics import Note, Severity
from ....ir.source import Span
from ....ir.types import Access, Texture
from ....ir.wgsl import ast
from ....ir.wgsl.program import CallsBuiltin, CallsFunction, FunctionInfo
from . import expressions
from .analysis import Analysis, View
from .graph import NON_UNIFORM, NON_UNIFORM_IN_WORKGROUP, Cause, Label, Node, Scope
from .sources import is_tracked
from .summary import Origins, Requirement, Summary


def call(analysis: Analysis, cf: Node, node: ast.Call) -> Node:
    """The node of a call's result."""
    match analysis.facts.calls[node]:
        case CallsBuiltin(name=name):
            function = builtin(name)
            assert function is not None
            return _builtin_call(analysis, cf, node, function)
        case CallsFunction(function=function):
            return _user_call(analysis, cf, node, function)
        case _:
            return analysis.join(cf, *[expressions.value(analysis, cf, argument) for argument in node.arguments])


# Builtin functions


def _builtin_call(analysis: Analysis, cf: Node, node: ast.Call, function: Builtin) -> Node:
    arguments = [expressions.value(analysis, cf, argument) for argument in node.arguments]
    _require(analysis, cf, node, function, arguments)
    result = analysis.join(cf, *arguments)
    sink = _sink(analysis, node, function)
    if sink is None:
        return result
    source = analysis.source(sink, f"the result of '{function.name}' may differ between invocations", node.span)
    return analysis.join(cf, result, source) if sink == NON_UNIFORM_IN_WORKGROUP else source


def _sink(analysis: Analysis, node: ast.Call, function: Builtin) -> Node | None:
    """The sink of the result. The result of an atomic operation depends on the timing of other invocations."""
    if function.name == "textureLoad":
        texture = analysis.facts.expressions[node.arguments[0]].result
        is_written = isinstance(texture, Texture) and texture.access is Access.READ_WRITE
        return NON_UNIFORM if is_written else None
    if function.flags.is_atomic:
        return NON_UNIFORM
    if not function.flags.nonuniform_result:
        return None
    return NON_UNIFORM_IN_WORKGROUP if function.flags.same_in_subgroup else NON_UNIFORM


def _require(analysis: Analysis, cf: Node, node: ast.Call, function: Builtin, arguments: list[Node]) -> None:
    """Add the requirement of the builtin, unless a filter turns it off."""
    rule = function.flags.uniformity
    if rule is None:
        return
    severity = Severity.ERROR if rule == "error" else analysis.filters.severity(rule)
    if severity is None:
        return
    scope = Scope.SUBGROUP if function.flags.is_subgroup else Scope.WORKGROUP
    code = "barrier-uniformity" if rule == "error" else rule.replace("_", "-")

    def require(required: Node, message: str, span: Span) -> None:
        analysis.required.append((required, Requirement(severity, code, scope, message, span)))

    require(cf, f"'{function.name}' must only be called in uniform control flow", node.span)
    names = [parameter.name for parameter in function.overloads[0].parameters]
    for name in function.flags.uniform_parameters:
        index = names.index(name)
        message = f"argument '{name}' of '{function.name}' must be the same for all invocations"
        require(arguments[index], message, node.arguments[index].span)


# User functions


def _user_call(analysis: Analysis, cf: Node, node: ast.Call, function: FunctionInfo) -> Node:
    summary = analysis.summaries[function]
    pointed: dict[int, View] = {}
    arguments: list[Node] = []
    for index, (argument, parameter) in enumerate(zip(node.arguments, function.parameters, strict=True)):
        if is_tracked(parameter):
            pointed[index] = expressions.view(analysis, cf, argument)
            arguments.append(pointed[index].node)
        else:
            arguments.append(expressions.value(analysis, cf, argument))
    contents = {index: analysis.load(cf, seen, node.arguments[index].span) for index, seen in pointed.items()}
    _pass_on(analysis, cf, node, function, summary, arguments, contents)
    for index, origins in summary.at_exit.items():
        _assign_through(analysis, cf, node, pointed[index], origins, arguments, contents)
    sentence = f"the result of '{function.name}' may differ between invocations"
    return _from_origins(analysis, cf, summary.result, arguments, contents, sentence, node.span)


def _pass_on(
    analysis: Analysis,
    cf: Node,
    node: ast.Call,
    function: FunctionInfo,
    summary: Summary,
    arguments: list[Node],
    contents: dict[int, Node],
) -> None:
    """Add the callee's requirements to this call site."""
    name = function.name

    def require(required: Node, requirements: Iterable[Requirement], note: Note) -> None:
        analysis.required += [(required, requirement.with_trail((note,))) for requirement in requirements]

    require(cf, summary.at_call, Note(f"'{name}' is called here", node.span))
    for index, requirements in summary.of_values.items():
        parameter = function.parameters[index].name
        note = Note(f"'{name}' is called with this argument for '{parameter}'", node.arguments[index].span)
        require(arguments[index], requirements, note)
    for index, requirements in summary.of_contents.items():
        parameter = function.parameters[index].name
        note = Note(f"'{name}' is called with this pointer for '{parameter}'", node.arguments[index].span)
        require(contents[index], requirements, note)


def _assign_through(
    analysis: Analysis,
    cf: Node,
    node: ast.Call,
    pointed: View,
    origins: Origins,
    arguments: list[Node],
    contents: dict[int, Node],
) -> None:
    """The memory behind a pointer argument after the call."""
    sentence = f"this call may leave a value in '{pointed.root.name}' that differs between invocations"
    written = _from_origins(analysis, cf, origins, arguments, contents, sentence, node.span)
    analysis.store(pointed, analysis.graph.node(written, label=Label(Cause.WRITTEN, pointed.root.name, node.span)))


def _from_origins(
    analysis: Analysis,
    cf: Node,
    origins: Origins,
    arguments: list[Node],
    contents: dict[int, Node],
    sentence: str,
    span: Span,
) -> Node:
    """The node of a callee's value in its caller."""
    parts = [*[arguments[index] for index in origins.values], *[contents[index] for index in origins.contents]]
    if origins.sink is not None:
        label = Label(Cause.SOURCE, sentence, span, origins.cause)
        parts.append(analysis.graph.node(cf, origins.sink, label=label))
    return analysis.join(cf, *parts)
