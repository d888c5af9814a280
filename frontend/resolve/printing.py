"""`debugPrintf("FORMAT", …);`, wgpu's statement for printing (wgpu, "Shader debugPrintf"), also in a comment."""

from __future__ import annotations

from ...ir.diagnostics import Note
from ...ir.print_formats import EXTENSION, NAME, Conversion, FormatFault, parse_format
from ...ir.source import Span
from ...ir.types import Matrix, Type, Vector
from ...ir.wgsl import ast
from ..print_comments import stands_in_comment
from . import expressions
from .context import Context
from .conversions import make_concrete


def resolve_print(context: Context, node: ast.Print) -> None:
    """Check the format, and its conversions against the types of the arguments, which become concrete."""
    if node.name != NAME:
        context.fail("unexpected-token", f"'{node.name}' takes no string: only '{NAME}' does", node.format_span)
    if stands_in_comment(context.source, node.span):
        if len(context.source.text(node.span).splitlines()) > 1:
            context.fail("invalid-format", f"a '// @{NAME}' ends in the line it begins in", node.name_span)
    elif EXTENSION not in context.enables:
        start = Note(f"add 'enable {EXTENSION};' at the start of the module")
        comment = Note(f"or write it as a comment, which other tools ignore: '// @{NAME}(…);'")
        message = f"{NAME} is used without 'enable {EXTENSION};'"
        context.error("extension-required", message, node.name_span, (start, comment))
    types = [make_concrete(context, expressions.resolve(context, it)) for it in node.arguments]
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
