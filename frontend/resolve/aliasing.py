"""Alias analysis: a call must not reach the same memory by two names when one writes it (WGSL, "Alias Analysis").

A memory view has a root: the variable or pointer parameter that it comes from. Functions are resolved callees first, so
what a callee reads and writes is known at each call.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.builtins import Builtin
from ...ir.diagnostics import Note
from ...ir.types import Pointer
from ...ir.wgsl.program import FunctionInfo, Variable
from .context import Accesses, Context, Operand


def note_builtin(context: Context, function: Builtin, operands: Sequence[Operand]) -> None:
    """A builtin function reads, and unless it only loads also writes, what its pointer arguments point to."""
    if context.function is None or not function.flags.accesses_memory:
        return
    for operand in operands:
        if isinstance(operand.result, Pointer) and operand.root is not None:
            context.function.accesses.read.add(operand.root)
            if function.flags.is_atomic and function.name != "atomicLoad":
                context.function.accesses.written.add(operand.root)


def note_call(context: Context, function: FunctionInfo, operands: Sequence[Operand]) -> None:
    """Check the pointer arguments of a call against each other and against what the callee accesses by itself."""
    callee = context.accesses.get(function)
    if context.function is None or callee is None:
        return
    passed = [
        (operand, parameter)
        for operand, parameter in zip(operands, function.parameters, strict=True)
        if isinstance(parameter.type, Pointer) and operand.root is not None
    ]
    context.function.passed += [(operand.span.start, operand.root) for operand, _ in passed if operand.root]
    _check_arguments(context, passed, callee)
    for operand, parameter in passed:
        if operand.root is not None and operand.root.is_module_scope:
            _check_module_scope(context, function, operand, operand.root, parameter, callee)
    _add(context.function.accesses, passed, callee)


_Passed = Sequence[tuple[Operand, Variable]]


def _check_arguments(context: Context, passed: _Passed, callee: Accesses) -> None:
    first: dict[Variable, tuple[Operand, Variable]] = {}
    for operand, parameter in passed:
        if operand.root is None or parameter not in callee.read | callee.written:
            continue
        earlier = first.setdefault(operand.root, (operand, parameter))
        if earlier[1] is not parameter and (parameter in callee.written or earlier[1] in callee.written):
            notes = (Note("the other pointer is here", earlier[0].span),)
            message = f"two arguments point into '{operand.root.name}', and the function writes through one of them"
            context.error("aliased-pointer", message, operand.span, notes)


def _check_module_scope(
    context: Context, function: FunctionInfo, operand: Operand, root: Variable, parameter: Variable, callee: Accesses
) -> None:
    writes = parameter in callee.written and root in callee.read | callee.written
    if writes or (parameter in callee.read and root in callee.written):
        message = f"the argument points into '{root.name}', which '{function.name}' also uses by name, and writes"
        context.error("aliased-pointer", message, operand.span)


def _add(accesses: Accesses, passed: _Passed, callee: Accesses) -> None:
    """The caller accesses what its callees do."""
    accesses.read.update(variable for variable in callee.read if variable.is_module_scope)
    accesses.written.update(variable for variable in callee.written if variable.is_module_scope)
    for operand, parameter in passed:
        if operand.root is None:
            continue
        if parameter in callee.read:
            accesses.read.add(operand.root)
        if parameter in callee.written:
            accesses.written.add(operand.root)
