"""What calls of builtin functions must keep besides their types: extensions, stages, const-expression arguments."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.builtins import Builtin
from ...ir.diagnostics import Note
from ...ir.types import Stage
from ...ir.wgsl import ast
from .context import Context, Operand, Phase


def check_use(context: Context, node: ast.Call, function: Builtin) -> None:
    """The function's extension is enabled; note where stages are restricted, for the entry points that get here."""
    extension = function.flags.extension
    if extension is not None and extension not in context.enables:
        notes = (Note(f"add 'enable {extension};' at the start of the module"),)
        message = f"'{function.name}' is used without 'enable {extension};'"
        context.fail("extension-required", message, node.callee.span, notes)
    if len(function.stages) < len(Stage):
        if context.function is None:
            context.fail("invalid-call", f"'{function.name}' cannot be called outside functions", node.span)
        context.function.restricted.setdefault(function.stages, (f"'{function.name}'", node.callee.span))


def check_const_parameters(
    context: Context, function: Builtin, names: Sequence[str], operands: Sequence[Operand]
) -> None:
    """Some arguments must be const-expressions."""
    for name, operand in zip(names, operands, strict=True):
        if name in function.flags.const_parameters and operand.phase is not Phase.CONST:
            message = f"argument '{name}' of '{function.name}' must be a const-expression"
            context.fail("expected-constant", message, operand.span)
