"""WGSL text from a syntax tree: four spaces a level, one statement a line, a blank line between functions.

`parse(print_unit(unit))` is `unit` again, but for spans and comments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import assert_never

from ...base.interpreter_state import deep_nesting
from ...ir.wgsl import ast
from .expressions import print_expression, print_list, print_template_arguments

_WIDTH = 100
_INDENT = "    "


@deep_nesting()
def print_unit(unit: ast.TranslationUnit) -> str:
    """The text of a whole file, ending in a line break unless it is empty."""
    directives = [_directive(directive) for directive in unit.directives]
    declarations = list(unit.declarations)
    lines = directives + [""] * bool(directives and declarations)
    for before, after in pairwise([None, *declarations]):
        assert after is not None
        if before is not None and not (_is_short(before) and type(before) is type(after)):
            lines.append("")
        lines += _declaration(after)
    return "".join(f"{line}\n" for line in lines)


def _is_short(node: ast.Declaration) -> bool:
    return not isinstance(node, (ast.Struct, ast.Function))


def _directive(node: ast.Directive) -> str:
    match node:
        case ast.Enable(extensions=names):
            return f"enable {', '.join(names)};"
        case ast.Requires(features=names):
            return f"requires {', '.join(names)};"
        case ast.DiagnosticDirective(severity=severity, rule=rule):
            return f"diagnostic({severity}, {rule});"
        case _:
            assert_never(node)


def _declaration(node: ast.Declaration) -> Iterator[str]:
    match node:
        case ast.Alias(name=name, type=type):
            yield f"alias {name} = {print_expression(type)};"
        case ast.Struct():
            yield from _struct(node)
        case ast.Function():
            yield from _function(node)
        case ast.Override(attributes=attributes):
            yield f"{_attributes(attributes)}override {_named(node)};"
        case ast.Var() | ast.Const() | ast.ConstAssert():
            yield f"{_simple(node)};"
        case _:
            assert_never(node)


def _struct(node: ast.Struct) -> Iterator[str]:
    yield f"struct {node.name} {{"
    for member in node.members:
        yield f"{_INDENT}{_attributes(member.attributes)}{member.name}: {print_expression(member.type)},"
    yield "}"


def _function(node: ast.Function) -> Iterator[str]:
    if node.attributes:
        yield _attributes(node.attributes).rstrip()
    parameters = [f"{_attributes(it.attributes)}{it.name}: {print_expression(it.type)}" for it in node.parameters]
    result = ""
    if node.return_type is not None:
        result = f" -> {_attributes(node.return_attributes)}{print_expression(node.return_type)}"
    body = _block(node.body)
    line = f"fn {node.name}({', '.join(parameters)}){result} {body[0]}"
    if len(line) <= _WIDTH:
        yield line
    else:
        yield f"fn {node.name}("
        yield from (f"{_INDENT}{parameter}," for parameter in parameters)
        yield f"){result} {body[0]}"
    yield from body[1:]


def _attributes(nodes: Iterable[ast.Attribute]) -> str:
    """Attributes with a space after each."""
    texts = (f"@{it.name}({print_list(it.arguments)})" if it.arguments else f"@{it.name}" for it in nodes)
    return "".join(f"{text} " for text in texts)


def _named(node: ast.Var | ast.Const | ast.Let | ast.Override) -> str:
    """`name: type = initializer`, without the parts that are absent."""
    type = "" if node.type is None else f": {print_expression(node.type)}"
    initializer = "" if node.initializer is None else f" = {print_expression(node.initializer)}"
    return f"{node.name}{type}{initializer}"


def _block(node: ast.Block) -> Sequence[str]:
    """The lines of a block; the first continues the line of the statement or function that owns the block."""
    start = f"{_attributes(node.attributes)}{{"
    if not node.statements:
        return [f"{start}}}"]
    return [start, *_indented(line for statement in node.statements for line in _statement(statement)), "}"]


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"{_INDENT}{line}" for line in lines)


def _statement(node: ast.Statement) -> Iterator[str]:
    match node:
        case ast.Block():
            yield from _block(node)
        case ast.If():
            yield from _if(node)
        case ast.Switch():
            yield from _switch(node)
        case ast.Loop():
            yield from _loop(node)
        case ast.While(attributes=attributes, condition=condition, body=body):
            yield from _headed(f"{_attributes(attributes)}while {print_expression(condition)} ", body)
        case ast.For(attributes=attributes, body=body):
            yield from _headed(f"{_attributes(attributes)}for ({_for_header(node)}) ", body)
        case ast.Let() | ast.Const() | ast.Var() | ast.ConstAssert():
            yield f"{_simple(node)};"
        case ast.Assign() | ast.CompoundAssign() | ast.PhonyAssign():
            yield f"{_simple(node)};"
        case ast.Increment() | ast.Decrement() | ast.CallStatement() | ast.Print():
            yield f"{_simple(node)};"
        case ast.Return() | ast.Break() | ast.Continue() | ast.Discard():
            yield f"{_simple(node)};"
        case _:
            assert_never(node)


def _headed(head: str, body: ast.Block) -> Iterator[str]:
    lines = _block(body)
    yield f"{head}{lines[0]}"
    yield from lines[1:]


def _if(node: ast.If) -> Iterator[str]:
    """`else if` goes on in a loop, however long the chain is."""
    head = f"{_attributes(node.attributes)}if {print_expression(node.condition)} "
    current = node
    while True:
        lines = list(_headed(head, current.body))
        alternative = current.alternative
        if alternative is None:
            yield from lines
            return
        yield from lines[:-1]
        if isinstance(alternative, ast.Block):
            yield from _headed(f"{lines[-1]} else ", alternative)
            return
        head = f"{lines[-1]} else {_attributes(alternative.attributes)}if {print_expression(alternative.condition)} "
        current = alternative


def _switch(node: ast.Switch) -> Iterator[str]:
    subject = print_expression(node.subject)
    yield f"{_attributes(node.attributes)}switch {subject} {_attributes(node.body_attributes)}{{"
    for case in node.cases:
        yield from _indented(_headed(_case_head(case.selectors), case.body))
    yield "}"


def _case_head(selectors: Sequence[ast.CaseSelector]) -> str:
    if len(selectors) == 1 and isinstance(selectors[0], ast.DefaultSelector):
        return "default: "
    texts = ("default" if isinstance(it, ast.DefaultSelector) else print_expression(it) for it in selectors)
    return f"case {', '.join(texts)}: "


def _loop(node: ast.Loop) -> Iterator[str]:
    head = f"{_attributes(node.attributes)}loop {_attributes(node.body.attributes)}{{"
    if not node.body.statements and node.continuing is None:
        yield f"{head}}}"
        return
    yield head
    yield from _indented(line for statement in node.body.statements for line in _statement(statement))
    if node.continuing is not None:
        yield from _indented(_continuing(node.continuing))
    yield "}"


def _continuing(node: ast.Continuing) -> Iterator[str]:
    lines = [line for statement in node.body.statements for line in _statement(statement)]
    if node.break_if is not None:
        lines.append(f"break if {print_expression(node.break_if)};")
    yield f"continuing {_attributes(node.body.attributes)}{{" + ("" if lines else "}")
    if lines:
        yield from _indented(lines)
        yield "}"


def _for_header(node: ast.For) -> str:
    initializer = "" if node.initializer is None else _simple(node.initializer)
    condition = "" if node.condition is None else f" {print_expression(node.condition)}"
    update = "" if node.update is None else f" {_simple(node.update)}"
    return f"{initializer};{condition};{update}"


def _simple(node: ast.Statement | ast.Declaration) -> str:
    """A statement of one line, without its semicolon."""
    match node:
        case ast.Var(attributes=attributes, template_arguments=arguments):
            return f"{_attributes(attributes)}var{print_template_arguments(arguments)} {_named(node)}"
        case ast.Let():
            return f"let {_named(node)}"
        case ast.Const():
            return f"const {_named(node)}"
        case ast.ConstAssert(condition=condition):
            return f"const_assert {print_expression(condition)}"
        case ast.Assign(target=target, value=value):
            return f"{print_expression(target)} = {print_expression(value)}"
        case ast.CompoundAssign(op=op, target=target, value=value):
            return f"{print_expression(target)} {op.value}= {print_expression(value)}"
        case ast.PhonyAssign(value=value):
            return f"_ = {print_expression(value)}"
        case ast.Increment(target=target):
            return f"{print_expression(target)}++"
        case ast.Decrement(target=target):
            return f"{print_expression(target)}--"
        case ast.CallStatement(call=call):
            return print_expression(call)
        case ast.Print(name=name, format=text, arguments=arguments):
            return f"{name}({', '.join([text, *map(print_expression, arguments)])})"
        case ast.Return(value=value):
            return "return" if value is None else f"return {print_expression(value)}"
        case ast.Break():
            return "break"
        case ast.Continue():
            return "continue"
        case ast.Discard():
            return "discard"
        case ast.Block() | ast.If() | ast.Switch() | ast.Loop() | ast.While() | ast.For():
            raise TypeError(f"{type(node).__name__} takes more than one line")
        case ast.Alias() | ast.Struct() | ast.Function() | ast.Override():
            raise TypeError(f"{type(node).__name__} is no statement")
        case _:
            assert_never(node)
