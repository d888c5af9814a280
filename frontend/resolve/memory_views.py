"""Pointers and references: `&`, `*`, and what a memory view is (WGSL, "Forming Reference and Pointer Values")."""

from __future__ import annotations

from ...ir.types import AddressSpace, Pointer, Reference, Type, Vector, pointer, reference
from ...ir.wgsl import ast
from . import expressions
from .context import Context, Operand, Phase


def view_of(type: Type) -> Reference | Pointer | None:
    """The memory view that an access goes through; None for a plain value."""
    return type if isinstance(type, (Reference, Pointer)) else None


def resolve_address_of(context: Context, node: ast.Unary) -> Operand:
    """`&e` (WGSL, "Address-Of Expression")."""
    operand = expressions.resolve(context, node.operand)
    target = operand.type
    if not isinstance(target, Reference):
        context.fail("invalid-address-of", "cannot take the address of a value, only of memory", node.operand.span)
    if target.space is AddressSpace.HANDLE:
        context.fail("invalid-address-of", "cannot take the address of a texture or sampler", node.operand.span)
    if _is_vector_component(context, node.operand):
        context.fail("invalid-address-of", "cannot take the address of a vector's component", node.operand.span)
    type = pointer(target.space, target.store, target.access)
    return context.operand(node, type, Phase.RUNTIME, root=operand.root)


def resolve_indirection(context: Context, node: ast.Unary) -> Operand:
    """`*e` (WGSL, "Indirection Expression")."""
    operand = expressions.resolve_value(context, node.operand)
    target = operand.result
    if not isinstance(target, Pointer):
        context.fail("invalid-indirection", f"cannot dereference a value of type '{target}'", node.operand.span)
    type = reference(target.space, target.store, target.access)
    return context.operand(node, type, Phase.RUNTIME, root=operand.root)


def _is_vector_component(context: Context, node: ast.Expression) -> bool:
    while isinstance(node, ast.Paren):
        node = node.operand
    if not isinstance(node, (ast.Index, ast.MemberAccess)):
        return False
    view = view_of(context.facts.expressions[node.object].result)
    return view is not None and isinstance(view.store, Vector)
