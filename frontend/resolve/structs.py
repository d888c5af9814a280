"""Structures and aliases (WGSL, "Structure Types", "Type Aliases")."""

from __future__ import annotations

from ...ir.diagnostics import Note
from ...ir.identifiers import name_fault
from ...ir.layout_sizes import align_of, size_of
from ...ir.types import Struct, StructMember, Type, contains_runtime_array
from ...ir.wgsl import ast
from ...ir.wgsl.limits import MOST_MEMBERS
from . import attributes, stage_io, type_names, type_rules
from .attributes import AttributeSet, AttributeTarget
from .context import Abandon, Context
from .stage_io import IoValue


def resolve_struct(context: Context, node: ast.Struct) -> Struct:
    """The structure; every member is resolved before an error abandons it."""
    if len(node.members) > MOST_MEMBERS:
        context.fail("limit-exceeded", f"a structure has more than {MOST_MEMBERS} members", node.name_span)
    members: list[StructMember] = []
    names: dict[str, ast.Member] = {}
    for member in node.members:
        _check_name(context, member, names)
        try:
            is_last = member is node.members[-1]
            members.append(_member(context, member, is_last=is_last))
        except Abandon:
            continue
    if len(members) < len(node.members):
        raise Abandon
    struct = Struct(node.name, tuple(members))
    pairs = zip(members, node.members, strict=True)
    stage_io.check_blending(context, [IoValue(member.type, member.io, place.span) for member, place in pairs])
    type_rules.check_nesting(context, struct, node.name_span)
    context.structs.append(struct)
    return struct


def _check_name(context: Context, member: ast.Member, names: dict[str, ast.Member]) -> None:
    fault = name_fault(member.name)
    if fault is not None:
        context.error("invalid-name", fault, member.name_span)
    earlier = names.setdefault(member.name, member)
    if earlier is not member:
        notes = (Note(f"'{member.name}' is first declared here", earlier.name_span),)
        context.error("redeclaration", f"member '{member.name}' is declared twice", member.name_span, notes)


def _member(context: Context, node: ast.Member, *, is_last: bool) -> StructMember:
    type = type_names.resolve_type(context, node.type)
    if not type_rules.is_plain(type):
        context.fail("invalid-type", f"a structure member cannot be of type '{type}'", node.type.span)
    if contains_runtime_array(type) and (not is_last or isinstance(type, Struct)):
        message = "only the last member of a structure can be a runtime-sized array, and not within another structure"
        context.fail("invalid-type", message, node.type.span)
    if not contains_runtime_array(type) and not type_rules.has_creation_fixed_footprint(type):
        context.fail("invalid-type", "a structure cannot hold an array whose size an override gives", node.type.span)
    found = attributes.collect(context, node.attributes, AttributeTarget.MEMBER)
    align = _align(context, found, type)
    size = _size(context, found, type)
    return StructMember(node.name, type, align, size, stage_io.io_attributes(context, found, type, node.type.span))


def _align(context: Context, found: AttributeSet, type: Type) -> int | None:
    """A power of two, and a multiple of what the type needs (WGSL, "align")."""
    align = attributes.optional_integer(context, found, "align", least=1)
    if align is None:
        return None
    span = found.by_name["align"].arguments[0].span
    if align & (align - 1):
        context.fail("invalid-attribute", "'align' must be a power of two", span)
    if align % align_of(type):
        context.fail(
            "invalid-attribute", f"'align' must be a multiple of {align_of(type)}, the alignment of '{type}'", span
        )
    return align


def _size(context: Context, found: AttributeSet, type: Type) -> int | None:
    """At least the type's own size, which must be known (WGSL, "size")."""
    size = attributes.optional_integer(context, found, "size", least=1)
    if size is None:
        return None
    span = found.by_name["size"].arguments[0].span
    if contains_runtime_array(type):
        context.fail("invalid-attribute", "'size' cannot be given for a runtime-sized array", span)
    if size < size_of(type):
        context.fail("invalid-attribute", f"'size' must be at least {size_of(type)}, the size of '{type}'", span)
    return size
