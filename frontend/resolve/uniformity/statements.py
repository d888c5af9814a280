"""Statements: the control flow at their end, and their behaviors (WGSL, "Uniformity Rules for Statements").

A function here takes the control flow before a statement, and gives that after it, with the statement's behavior.
Unreachable statements are not analysed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias, assert_never

from ....ir.wgsl import ast
from . import calls, expressions, loops
from .analysis import BREAK, CONTINUE, NEXT, RETURN, Analysis, End, View
from .graph import Node
from .summary import Jump
from .values import Changes


def block(analysis: Analysis, cf: Node, node: ast.Block) -> End:
    """The statements of a block in the range of its filters."""
    with analysis.filters.within(node.attributes):
        return sequence(analysis, cf, node.statements)


def sequence(analysis: Analysis, cf: Node, statements: Iterable[ast.Statement]) -> End:
    """Statements in order, up to the first that never goes on to the next."""
    behavior = NEXT
    for node in statements:
        cf, ends = _statement(analysis, cf, node)
        behavior = behavior & ~NEXT | ends
        if not ends & NEXT:
            break
    return cf, behavior


SimpleStatement: TypeAlias = (
    ast.Let
    | ast.Const
    | ast.Var
    | ast.ConstAssert
    | ast.Assign
    | ast.CompoundAssign
    | ast.PhonyAssign
    | ast.Increment
    | ast.Decrement
    | ast.CallStatement
    | ast.Print
    | ast.Discard
)
"""Statements that do not change control flow."""


def _statement(analysis: Analysis, cf: Node, node: ast.Statement) -> End:
    if isinstance(node, SimpleStatement):
        _simple(analysis, cf, node)
        return cf, NEXT
    match node:
        case ast.If():
            with analysis.filters.within(node.attributes):
                return _if(analysis, cf, node)
        case ast.Block():
            return block(analysis, cf, node)
        case ast.Loop() | ast.While() | ast.For():
            with analysis.filters.within(node.attributes):
                return loops.loop(analysis, cf, node)
        case ast.Switch():
            with analysis.filters.within(node.attributes):
                return _switch(analysis, cf, node)
        case ast.Return():
            _return(analysis, cf, node)
            return cf, RETURN
        case ast.Break():
            _jump(analysis, analysis.breaks)
            return cf, BREAK
        case ast.Continue():
            _jump(analysis, analysis.continues)
            return cf, CONTINUE
        case _:
            assert_never(node)


def _simple(analysis: Analysis, cf: Node, node: SimpleStatement) -> None:
    match node:
        case ast.Assign():
            target = expressions.view(analysis, cf, node.target)
            analysis.store(target, expressions.value(analysis, cf, node.value))
        case ast.CompoundAssign():
            target = expressions.view(analysis, cf, node.target)
            old = analysis.load(cf, target, node.target.span)
            analysis.store(target, analysis.join(cf, old, expressions.value(analysis, cf, node.value)))
        case ast.Increment() | ast.Decrement():
            target = expressions.view(analysis, cf, node.target)
            analysis.store(target, analysis.load(cf, target, node.target.span))
        case ast.Let():
            _let(analysis, cf, node)
        case ast.Var():
            variable = analysis.facts.declared[node]
            initial = cf if node.initializer is None else expressions.value(analysis, cf, node.initializer)
            analysis.store(View(variable, True, cf), initial)
        case ast.CallStatement():
            calls.call(analysis, cf, node.call)
        case ast.PhonyAssign():
            expressions.value(analysis, cf, node.value)
        case ast.Print(arguments=arguments):
            for argument in arguments:
                expressions.value(analysis, cf, argument)
        case ast.Const() | ast.ConstAssert() | ast.Discard():
            pass  # after `discard`, the invocation goes on as a helper
        case _:
            assert_never(node)


def _let(analysis: Analysis, cf: Node, node: ast.Let) -> None:
    variable = analysis.facts.declared[node]
    if expressions.is_pointer(analysis, node.initializer):
        analysis.pointers[variable] = expressions.view(analysis, cf, node.initializer)
    else:
        analysis.names[variable] = expressions.value(analysis, cf, node.initializer)


def _return(analysis: Analysis, cf: Node, node: ast.Return) -> None:
    if node.value is not None:
        analysis.graph.link(analysis.returned, (expressions.value(analysis, cf, node.value),))
    leave(analysis)


def leave(analysis: Analysis) -> None:
    """Record the final values of the memory behind pointer parameters."""
    for parameter, node in analysis.exits.items():
        analysis.graph.link(node, (analysis.values[parameter],))


def _jump(analysis: Analysis, targets: list[Jump]) -> None:
    target = targets[-1]
    target.paths.append(analysis.values.changes_since(target.depth))


# Branches


def _if(analysis: Analysis, cf: Node, node: ast.If) -> End:
    """A chain of `else if` is nested ifs; it is followed without recursion, since it may be long."""
    ends: list[End] = []
    paths: list[Changes] = []
    befores: list[Node] = []
    analysis.values.enter()
    branch: ast.Block | ast.If | None = node
    while isinstance(branch, ast.If):
        befores.append(cf)
        condition = expressions.value(analysis, cf, branch.condition)
        cf = analysis.branch(cf, condition, "condition", branch.condition.span)
        ends.append(_branch(analysis, cf, branch.body, paths))
        branch = branch.alternative
    ends.append(_branch(analysis, cf, branch, paths))
    analysis.values.leave()
    analysis.values.join(paths)
    end = ends.pop()
    for before, other in zip(reversed(befores), reversed(ends), strict=True):
        end = _merge(analysis, before, (other, end))
    return end


def _branch(analysis: Analysis, cf: Node, body: ast.Block | None, paths: list[Changes]) -> End:
    """Analyse a branch; if control continues after the statement, add the branch's assignments to `paths`."""
    depth = analysis.values.depth - 1
    analysis.values.enter()
    end = (cf, NEXT) if body is None else block(analysis, cf, body)
    if end[1] & NEXT:
        paths.append(analysis.values.changes_since(depth))
    analysis.values.leave()
    return end


def _merge(analysis: Analysis, before: Node, ends: Sequence[End]) -> End:
    """Merge branches: the control flow is that before the statement if all continue to the next one."""
    behavior = 0
    for _, ending in ends:
        behavior |= ending
    if behavior == NEXT:
        return before, NEXT
    return analysis.join(before, *[end for end, _ in ends]), behavior


def _switch(analysis: Analysis, cf: Node, node: ast.Switch) -> End:
    subject = expressions.value(analysis, cf, node.subject)
    inner = analysis.branch(cf, subject, "selector", node.subject.span)
    analysis.values.enter()
    jump = Jump(analysis.values.depth - 1)
    analysis.breaks.append(jump)
    with analysis.filters.within(node.body_attributes):
        ends = [_branch(analysis, inner, case.body, jump.paths) for case in node.cases]
    analysis.breaks.pop()
    analysis.values.leave()
    analysis.values.join(jump.paths)
    return _merge(analysis, cf, [(end, _after_break(behavior)) for end, behavior in ends])


def _after_break(behavior: int) -> int:
    """A break only ends the switch."""
    return behavior & ~BREAK | NEXT if behavior & BREAK else behavior
