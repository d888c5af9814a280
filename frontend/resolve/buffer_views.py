"""Buffers: views of their bytes as other types, and how they are passed on.

WGSL, "Buffer View Built-in Functions", "Conversion Rank".
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.builtins.buffer_views import view_fault
from ...ir.types import Buffer, Pointer, Type, contains_atomic
from ...ir.wgsl import ast
from . import type_rules
from .context import Context, Operand, Phase


def check_type(context: Context, node: ast.Call, templates: Sequence[Type], operands: Sequence[Operand]) -> None:
    """What the bytes of a buffer can be viewed as: a host-shareable type without atomics, for `bufferArrayView` one
    whose size is not fixed.
    """
    if len(templates) != 1 or not operands:
        return  # no overload will match
    (type,) = templates
    span = node.callee.template_arguments[0].span
    if isinstance(type, Buffer) or not type_rules.is_host_shareable(type):
        context.fail("invalid-type", f"a buffer cannot be viewed as '{type}', which is not host-shareable", span)
    if contains_atomic(type):
        context.fail("invalid-type", f"a buffer cannot be viewed as '{type}', which contains an atomic", span)
    if node.callee.name == "bufferArrayView" and type_rules.has_fixed_footprint(type):
        message = f"'bufferArrayView' needs a runtime-sized type, but '{type}' has a fixed size: use 'bufferView'"
        context.fail("invalid-type", message, span)


def resolve_view(context: Context, node: ast.Call, type: Type, operands: Sequence[Operand]) -> Operand:
    """The pointer that a call of a view function gives: into the buffer that its first argument points to."""
    buffer = operands[0].result
    assert isinstance(type, Pointer)
    assert isinstance(buffer, Pointer)
    assert isinstance(buffer.store, Buffer)
    if not context.unevaluated:
        length = buffer.store.size if isinstance(buffer.store.size, int) else None
        known = [operand.raw if isinstance(operand.raw, int) else None for operand in operands[1:]]
        fault = view_fault(type.store, length, known[0], known[1] if len(known) > 1 else None)
        if fault is not None:
            place = node.arguments[fault.argument] if fault.argument else node
            context.fail("evaluation-error", fault.message, place.span)
    return context.operand(node, type, Phase.RUNTIME, root=operands[0].root)


def pass_buffer(operand: Operand, target: Type) -> bool:
    """Whether an argument is a pointer to a buffer that a parameter takes as a smaller one, or as one of any size."""
    source = operand.result
    if not isinstance(source, Pointer) or not isinstance(target, Pointer):
        return False
    if (source.space, source.access) != (target.space, target.access):
        return False
    if not isinstance(source.store, Buffer) or not isinstance(target.store, Buffer):
        return False
    return _shrinks(source.store, target.store)


def _shrinks(source: Buffer, target: Buffer) -> bool:
    if target.size is None:
        return source.size is not None
    return isinstance(source.size, int) and isinstance(target.size, int) and target.size < source.size
