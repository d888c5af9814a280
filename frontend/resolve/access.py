"""Parts of composites: `a[i]`, `a.member`, swizzles (WGSL, "Composite Value Decomposition Expressions")."""

from __future__ import annotations

from ...ir.constants import RawValue
from ...ir.conversions import elements, is_abstract
from ...ir.types import (
    I32,
    U32,
    Array,
    Matrix,
    Pointer,
    Reference,
    Struct,
    Type,
    Vector,
    element_count,
    element_type,
    reference,
    vector,
)
from ...ir.wgsl import ast
from ...ir.wgsl.program import MemberIndex, Swizzle, SwizzleView
from . import expressions
from .context import Context, Operand, Phase
from .conversions import latest_phase, load, make_concrete, note_read
from .memory_views import view_of

_LETTERS = {letter: index for letters in ("xyzw", "rgba") for index, letter in enumerate(letters)}


def resolve_target(context: Context, node: ast.Expression) -> Operand:
    """The memory that is assigned to. Several components of a vector in memory are memory here, not a value (WGSL,
    "Swizzle View Expression").
    """
    if isinstance(node, ast.Paren):
        operand = context.facts.expressions[node] = resolve_target(context, node.operand)
        return operand
    if isinstance(node, ast.Index):
        return _index(context, node, resolve_target(context, node.object))
    if isinstance(node, ast.MemberAccess):
        return _member(context, node, resolve_target(context, node.object), is_target=True)
    return expressions.resolve(context, node)


def resolve_index(context: Context, node: ast.Index) -> Operand:
    """`object[index]`, a reference when the object is memory or a pointer."""
    return _index(context, node, expressions.resolve(context, node.object))


def _index(context: Context, node: ast.Index, object: Operand) -> Operand:
    view = view_of(object.result)
    composite = object.result if view is None else view.store
    if not isinstance(composite, (Vector, Matrix, Array)):
        context.fail("invalid-access", f"a value of type '{composite}' cannot be indexed", node.object.span)
    index = expressions.resolve(context, node.index)
    make_concrete(context, index)
    if index.result not in (I32, U32):
        context.fail("type-mismatch", f"an index must be i32 or u32, but this is '{index.result}'", node.index.span)
    check_index(context, composite, index)
    if view is not None:
        type = reference(view.space, _element(composite), view.access)
        return context.operand(node, type, Phase.RUNTIME, root=object.root)
    if index.phase is not Phase.CONST and is_abstract(composite):
        composite = make_concrete(context, object)
    raw: RawValue | None = None
    if object.constant is not None and index.constant is not None and not context.unevaluated:
        position = index.constant.value
        assert isinstance(position, int)
        raw = elements(object.constant.value)[position]
    return context.operand(node, _element(composite), latest_phase(object, index), raw)


def _element(composite: Type) -> Type:
    type = element_type(composite)
    assert type is not None
    return type


def check_index(context: Context, composite: Type, index: Operand) -> None:
    """An index known early must be in bounds (WGSL, "Array Access Expression", "Vector Access Expression", …)."""
    if index.constant is None or context.unevaluated:
        return
    fault = index_fault(composite, index.constant.value)
    if fault is not None:
        context.fail("index-out-of-bounds", fault, index.span)


def index_fault(composite: Type, index: RawValue) -> str | None:
    """Why a known index is out of bounds; None when it is not, or the count is unknown."""
    assert isinstance(index, int)
    count = element_count(composite)
    if index < 0:
        return f"index {index} is negative"
    if isinstance(count, int) and index >= count:
        return f"index {index} is out of bounds: '{composite}' has {count} elements"
    return None


def resolve_member(context: Context, node: ast.MemberAccess) -> Operand:
    """`object.member` of a structure, or a component or swizzle of a vector."""
    return _member(context, node, expressions.resolve(context, node.object), is_target=False)


def _member(context: Context, node: ast.MemberAccess, object: Operand, *, is_target: bool) -> Operand:
    view = view_of(object.result)
    composite = object.result if view is None else view.store
    if isinstance(composite, Struct):
        return _struct_member(context, node, object, composite, view)
    if not isinstance(composite, Vector):
        context.fail("invalid-access", f"a value of type '{composite}' has no members", node.member_span)
    components = _components(context, node, composite)
    if len(components) == 1:
        context.facts.members[node] = Swizzle(components)
        return _part(context, node, object, view, composite.element, components[0])
    type = vector(len(components), composite.element)
    if is_target and view is not None:
        return _swizzle_view(context, node, object, view, type, components)
    return _swizzle(context, node, object, type, components)


def _struct_member(
    context: Context, node: ast.MemberAccess, object: Operand, composite: Struct, view: Reference | Pointer | None
) -> Operand:
    index = composite.member_index(node.member)
    if index is None:
        notes = context.hints.did_you_mean(node.member, [member.name for member in composite.members])
        message = f"structure '{composite}' has no member '{node.member}'"
        context.fail("unknown-member", message, node.member_span, notes)
    context.facts.members[node] = MemberIndex(index)
    type = composite.members[index].type
    return _part(context, node, object, view, type, index)


def _swizzle(
    context: Context, node: ast.MemberAccess, object: Operand, type: Vector, components: tuple[int, ...]
) -> Operand:
    view = view_of(object.result)
    context.facts.members[node] = Swizzle(components)
    load(context, object)
    if view is not None:
        note_read(context, object)
    raw: RawValue | None = None
    if object.constant is not None and not context.unevaluated:
        values = elements(object.constant.value)
        raw = tuple([values[component] for component in components])
    phase = object.phase if view is None else Phase.RUNTIME
    return context.operand(node, type, phase, raw)


def _swizzle_view(
    context: Context,
    node: ast.MemberAccess,
    object: Operand,
    view: Reference | Pointer,
    type: Vector,
    components: tuple[int, ...],
) -> Operand:
    whole = context.facts.swizzle_view(node.object)
    if whole is not None:
        components = tuple([whole.components[component] for component in components])
    context.facts.members[node] = SwizzleView(components)
    return context.operand(node, reference(view.space, type, view.access), Phase.RUNTIME, root=object.root)


def _components(context: Context, node: ast.MemberAccess, composite: Vector) -> tuple[int, ...]:
    letters = node.member
    one_alphabet = set(letters) <= set("xyzw") or set(letters) <= set("rgba")
    if not one_alphabet or len(letters) > 4:
        message = f"'{letters[:64]}' is not a swizzle: write one to four letters of 'xyzw', or of 'rgba'"
        context.fail("invalid-swizzle", message, node.member_span)
    components = tuple([_LETTERS[letter] for letter in letters])
    if max(components) >= composite.width:
        context.fail("invalid-swizzle", f"'{composite}' has only {composite.width} components", node.member_span)
    return components


def _part(
    context: Context,
    node: ast.MemberAccess,
    object: Operand,
    view: Reference | Pointer | None,
    type: Type,
    index: int,
) -> Operand:
    if view is not None:
        part = reference(view.space, type, view.access)
        return context.operand(node, part, Phase.RUNTIME, root=object.root)
    raw: RawValue | None = None
    if object.constant is not None and not context.unevaluated:
        raw = elements(object.constant.value)[index]
    return context.operand(node, type, object.phase, raw)
