"""Statements (WGSL, "Statements"). An error ends the statement it is in; the next one is resolved all the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from ...ir.builtins import builtin
from ...ir.diagnostics import Note, with_article
from ...ir.types import (
    BOOL,
    I32,
    U32,
    VOID,
    Access,
    AddressSpace,
    Atomic,
    Pointer,
    Reference,
    Stage,
    is_constructible,
)
from ...ir.wgsl import ast
from ...ir.wgsl.program import CallsBuiltin, CallsFunction
from . import access, calls, expressions, loops, switches, type_rules, variables
from .attributes import statement_attributes
from .context import Abandon, Context, Entity, Flow, FunctionState, Operand, Phase
from .conversions import convert_to, load, note_read


def resolve_block(context: Context, block: ast.Block) -> None:
    """A block and its attributes."""
    statement_attributes(context, block.attributes)
    resolve_statements(context, block.statements)


def resolve_statements(context: Context, statements: Iterable[ast.Statement]) -> None:
    """Statements in order."""
    for statement in statements:
        try:
            _statement(context, statement)
        except Abandon:
            continue


def resolve_optional(context: Context, statement: ast.Statement | None) -> None:
    """One statement, if it is there."""
    if statement is not None:
        resolve_statements(context, (statement,))


def resolve_condition(context: Context, node: ast.Expression | None, what: str) -> None:
    """A condition, if it is there; an error does not keep the statements under it from being resolved."""
    if node is None:
        return
    try:
        expressions.resolve_condition(context, node, what)
    except Abandon:
        return


def _statement(context: Context, node: ast.Statement) -> None:
    match node:
        case ast.Let():
            _define(context, node, variables.resolve_let(context, node))
        case ast.Var():
            _define(context, node, variables.resolve_local_var(context, node))
        case ast.Const():
            _define(context, node, variables.resolve_const(context, node, is_module_scope=False))
        case ast.Assign():
            _assign(context, node)
        case ast.CompoundAssign():
            _compound_assign(context, node)
        case ast.If():
            _if(context, node)
        case ast.CallStatement():
            _call(context, node)
        case ast.Return():
            _return(context, node)
        case ast.Increment() | ast.Decrement():
            _increment(context, node)
        case ast.Block():
            resolve_block(context, node)
        case ast.PhonyAssign():
            _phony_assign(context, node)
        case ast.Print():
            from .printing import resolve_print

            resolve_print(context, node)
        case ast.Break() | ast.Continue():
            loops.check_jump(context, node)
        case ast.Discard():
            _function(context).restricted.setdefault(frozenset({Stage.FRAGMENT}), ("'discard'", node.span))
        case ast.ConstAssert():
            resolve_const_assert(context, node)
        case ast.Loop():
            loops.resolve_loop(context, node)
        case ast.While():
            loops.resolve_while(context, node)
        case ast.For():
            loops.resolve_for(context, node)
        case ast.Switch():
            switches.resolve_switch(context, node)
        case _:
            assert_never(node)


def _function(context: Context) -> FunctionState:
    assert context.function is not None
    return context.function


def _define(context: Context, node: ast.Let | ast.Var | ast.Const, entity: Entity) -> None:
    context.declared[id(node)].entity = entity


# Assignments


def _access_hint(operand: Operand) -> tuple[Note, ...]:
    """Where memory that cannot be written is declared, and how it could be."""
    root = operand.root
    if root is None:
        return ()
    hint = ": 'var<storage, read_write>' could be written" if root.space is AddressSpace.STORAGE else ""
    return (Note(f"'{root.name}' is declared here{hint}", root.span),)


def _target(context: Context, node: ast.Expression, *, reads: bool) -> tuple[Operand, Reference]:
    """The memory that is assigned to (WGSL, "Assignment Statement"). The rest of a vector of which some components are
    assigned is read, and written again (WGSL, "Swizzle Assignment").
    """
    operand = access.resolve_target(context, node)
    reference = operand.type
    if not isinstance(reference, Reference):
        notes = _assignment_hint(context, node, operand)
        context.fail("invalid-assignment", "cannot assign to a value, only to memory", node.span, notes)
    view = context.facts.swizzle_view(node)
    if view is not None:
        reads = True
        if len(set(view.components)) < len(view.components):
            context.fail("invalid-assignment", "cannot assign to a component twice", node.span)
    if reference.access is Access.READ or (reads and reference.access is Access.WRITE):
        message = f"cannot {'update' if reads else 'write to'} memory with access mode '{reference.access.value}'"
        context.fail("invalid-assignment", message, node.span, _access_hint(operand))
    if not is_constructible(reference.store):
        notes = (Note("write it with 'atomicStore'"),) if isinstance(reference.store, Atomic) else ()
        context.fail("invalid-assignment", f"cannot assign a value of type '{reference.store}'", node.span, notes)
    if operand.root is not None:
        _function(context).accesses.written.add(operand.root)
    if reads:
        note_read(context, operand)
    return operand, reference


def _assignment_hint(context: Context, node: ast.Expression, operand: Operand) -> tuple[Note, ...]:
    if isinstance(operand.type, Pointer):
        return (Note("write '*' before a pointer to assign to what it points to"),)
    while isinstance(node, (ast.Paren, ast.Index, ast.MemberAccess)):
        node = node.operand if isinstance(node, ast.Paren) else node.object
    if isinstance(node, ast.Identifier):
        variable = context.facts.names.get(node)
        if variable is not None:
            hint = "copy it to a 'var' first" if variable.kind == "parameter" else "only a 'var' can change"
            return (Note(f"'{node.name}' is {with_article(variable.kind)}, declared here: {hint}", variable.span),)
    return ()


def _assign(context: Context, node: ast.Assign) -> None:
    _, reference = _target(context, node.target, reads=False)
    value = expressions.resolve(context, node.value)
    convert_to(context, value, reference.store, "the assigned value")


def _compound_assign(context: Context, node: ast.CompoundAssign) -> None:
    """`a op= b` (WGSL, "Compound Assignment"): `b` is converted to what the operator takes."""
    target, reference = _target(context, node.target, reads=True)
    store = reference.store
    left = Operand(store, store, span=target.span)
    right = expressions.resolve_value(context, node.value)
    result, _ = expressions.apply_binary(context, node.op, left, right, node.span)
    if left.result is not store or result is not store:
        message = f"'{node.op.value}=' gives '{result}', which is not the type '{store}' of its target"
        context.fail("type-mismatch", message, node.span)


def _increment(context: Context, node: ast.Increment | ast.Decrement) -> None:
    _, reference = _target(context, node.target, reads=True)
    if reference.store not in (I32, U32):
        message = f"only i32 and u32 can be incremented or decremented, not '{reference.store}'"
        context.fail("type-mismatch", message, node.span)


def _phony_assign(context: Context, node: ast.PhonyAssign) -> None:
    """`_ = e` takes anything a let can hold, and abstract values, which need not fit any concrete type (WGSL, "Phony
    Assignment").
    """
    type = load(context, expressions.resolve(context, node.value)).result
    if not (is_constructible(type) or isinstance(type, Pointer) or type_rules.is_handle(type)):
        context.fail("invalid-assignment", f"a value of type '{type}' cannot be assigned to '_'", node.value.span)


# Others


def _if(context: Context, node: ast.If) -> None:
    branch: ast.Block | ast.If | None = node
    while isinstance(branch, ast.If):
        statement_attributes(context, branch.attributes)
        resolve_condition(context, branch.condition, "the condition of an if")
        resolve_block(context, branch.body)
        branch = branch.alternative
    if branch is not None:
        resolve_block(context, branch)


def _call(context: Context, node: ast.CallStatement) -> None:
    """A call for its effects: its value, if any, must be one that may be dropped (WGSL, "must_use")."""
    call = node.call
    calls.resolve_call(context, call)
    name = call.callee.name
    match context.facts.calls[call]:
        case CallsFunction(function=function):
            must_use = function.must_use
        case CallsBuiltin(name=name):
            function_ = builtin(name)
            must_use = function_ is not None and function_.must_use
        case _:
            context.fail("unused-value", "a value is constructed and not used", node.span)
    if must_use:
        notes = (Note(f"write '_ = {name}(…);' to drop the value on purpose"),)
        context.fail("unused-value", f"the value of '{name}' must be used", node.span, notes)


def _return(context: Context, node: ast.Return) -> None:
    function = _function(context)
    if Flow.CONTINUING in function.flow:
        context.error("invalid-return", "cannot return from a continuing block", node.span)
    if node.value is None:
        if function.return_type is not VOID:
            message = f"'{function.name}' must return a value of type '{function.return_type}'"
            context.fail("invalid-return", message, node.span)
        return
    value = expressions.resolve(context, node.value)
    if function.return_type is VOID:
        message = f"'{function.name}' has no return type, so it cannot return a value"
        context.fail("invalid-return", message, node.value.span)
    convert_to(context, value, function.return_type, "the returned value")


def resolve_const_assert(context: Context, node: ast.ConstAssert) -> None:
    """`const_assert e` (WGSL, "Const Assertion Statement")."""
    condition = expressions.resolve(context, node.condition)
    load(context, condition)
    if condition.phase is not Phase.CONST:
        context.fail("expected-constant", "const_assert needs a const-expression", node.condition.span)
    convert_to(context, condition, BOOL, "the condition of a const_assert")
    if condition.raw is not True:
        context.fail("assertion-failed", "const assertion failed", node.condition.span)
