"""`debugPrintf("FORMAT", …);`, wgpu's statement for printing (wgpu, "Shader debugPrintf"), also in a comment."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir.builtins import builtin
from ...ir.diagnostics import Note
from ...ir.language import DEBUG_PRINTF, PRINTING_EXTENSION
from ...ir.print_formats import Conversion, FormatFault, comment_start, parse_format
from ...ir.schema.traverse import walk
from ...ir.source import Span
from ...ir.types import Matrix, Type, Vector
from ...ir.wgsl import ast
from ...ir.wgsl.program import CallsBuiltin, CallsFunction, FunctionInfo
from . import expressions
from .context import Context
from .conversions import make_concrete


def resolve_print(context: Context, node: ast.Print) -> None:
    """Check the format, and its conversions against the types of the arguments, which become concrete."""
    if node.name != DEBUG_PRINTF:
        context.fail("unexpected-token", f"'{node.name}' takes no string: only '{DEBUG_PRINTF}' does", node.format_span)
    is_comment = comment_start(context.source.data, node.span.start) is not None
    if not is_comment and PRINTING_EXTENSION not in context.enables:
        start = Note(f"add 'enable {PRINTING_EXTENSION};' at the start of the module")
        comment = Note(f"or write it as a comment, which other tools ignore: '// @{DEBUG_PRINTF}(…);'")
        message = f"{DEBUG_PRINTF} is used without 'enable {PRINTING_EXTENSION};'"
        context.error("extension-required", message, node.name_span, (start, comment))
    types = [make_concrete(context, expressions.resolve(context, it)) for it in node.arguments]
    if is_comment:
        _check_only_reads(context, node)
    try:
        conversions = parse_format(node.format).conversions
    except FormatFault as fault:
        context.fail("invalid-format", fault.message, _place(node, fault.start, fault.end))
    if len(conversions) != len(types):
        message = f"the format has {_count(len(conversions), 'conversion')} for {_count(len(types), 'argument')}"
        context.fail("invalid-format", message, node.format_span)
    for conversion, type, argument in zip(conversions, types, node.arguments, strict=True):
        if not conversion.takes(type):
            text = node.format[conversion.start : conversion.end]
            message = f"'{text}' takes {conversion.expected}, but this is '{type}'"
            notes = (*_hint(conversion, type), Note("the conversion", _place(node, conversion.start, conversion.end)))
            context.fail("invalid-format", message, argument.span, notes)


def _check_only_reads(context: Context, node: ast.Print) -> None:
    """A comment must not change what the shader does: its arguments may neither write nor wait."""
    for argument in node.arguments:
        for call in _calls(argument):
            why = _effect(context, call)
            if why is not None:
                message = f"a comment that prints must neither write nor wait, but {why}"
                note = Note("tools that ignore the comment do not do so: call it in a statement of its own")
                context.error("invalid-print", message, call.span, (note,))


def _effect(context: Context, call: ast.Call) -> str | None:
    """What a call does besides giving a value, in words; None if it does no more."""
    target = context.facts.calls.get(call)
    if isinstance(target, CallsBuiltin):
        return _effect_of_builtin(target.name)
    if not isinstance(target, CallsFunction):
        return None
    function = target.function
    accesses = context.accesses.get(function)
    for it in () if accesses is None else accesses.written:
        if it.is_module_scope or it in function.parameters:
            return f"'{function.name}' writes '{it.name}'"
    effects = map(_effect_of_builtin, _builtins_of(context, function))
    return next((f"in '{function.name}' {it}" for it in effects if it is not None), None)


def _builtins_of(context: Context, function: FunctionInfo) -> Iterator[str]:
    """The builtin functions that a function calls, itself or by way of others."""
    reached = [function]
    for it in reached:  # grows while it is walked
        targets = [context.facts.calls.get(call) for call in _calls(it.node.body)]
        yield from (target.name for target in targets if isinstance(target, CallsBuiltin))
        callees = dict.fromkeys(target.function for target in targets if isinstance(target, CallsFunction))
        reached += [callee for callee in callees if callee not in reached]


def _effect_of_builtin(name: str) -> str | None:
    """What a builtin function does besides giving a value, in words. Writes of atomics in functions are accesses."""
    found = builtin(name)
    if found is None or name == "atomicLoad":
        return None
    if found.flags.is_barrier:
        return f"'{name}' waits for other invocations"
    return f"'{name}' writes" if found.flags.has_side_effects or found.flags.is_atomic else None


def _calls(node: ast.Expression | ast.Block) -> Iterator[ast.Call]:
    return (it for it in walk(node) if isinstance(it, ast.Call))


def _hint(conversion: Conversion, type: Type) -> tuple[Note, ...]:
    if isinstance(type, Vector) and conversion.size is None and conversion.letter != "s":
        example = f"%v{type.width}{conversion.letter}"
        return (Note(f"a vector's size stands before the letter, as in '{example}'"),)
    return (Note("'%s' prints any matrix"),) if isinstance(type, Matrix) else ()


def _place(node: ast.Print, start: int, end: int) -> Span:
    first, second = (len(node.format[:it].encode()) for it in (start, end))
    return Span(node.format_span.start + first, node.format_span.start + second)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
