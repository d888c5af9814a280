"""Type expressions: from syntax to types (WGSL, "Types", "Type Expressions")."""

from __future__ import annotations

from collections.abc import Collection

from ...ir.diagnostics import Note, with_article
from ...ir.language import TEXEL_FORMATS
from ...ir.types import (
    F16,
    F32,
    I32,
    U32,
    Access,
    AddressSpace,
    Array,
    Buffer,
    OverrideCount,
    Scalar,
    Texture,
    TextureKind,
    Type,
    array,
    atomic,
    buffer,
    default_access,
    matrix,
    pointer,
    scalar_of,
    texture,
    vector,
)
from ...ir.wgsl import ast
from ...ir.wgsl.program import FunctionInfo, Variable
from . import expressions, predeclared, type_rules
from .context import Abandon, Context, Phase, Symbol
from .conversions import make_concrete
from .suggest import are, counted


def resolve_type(context: Context, node: ast.Expression) -> Type:
    """The type that an expression names, or fail."""
    if not isinstance(node, ast.Identifier):
        context.fail("expected-type", "this is not the name of a type", node.span)
    symbol = context.symbols.get(id(node))
    type = predeclared_type(context, node) if symbol is None else declared_type(context, node, symbol)
    if type is None:
        context.fail("expected-type", f"'{node.name}' is not a type", node.span)
    if type is F16 or (node.name[-1] == "h" and scalar_of(type) is F16):
        require_f16(context, node)
    return type


def declared_type(context: Context, node: ast.Identifier, symbol: Symbol) -> Type | None:
    """The type that a declared name stands for; None when it stands for something else."""
    entity = symbol.entity
    if entity is None:
        raise Abandon
    if isinstance(entity, (Variable, FunctionInfo)):
        kind = "function" if isinstance(entity, FunctionInfo) else entity.kind
        notes = (Note(f"'{node.name}' is declared here", symbol.span),)
        context.fail("expected-type", f"'{node.name}' is {with_article(kind)}, not a type", node.span, notes)
    if node.template_arguments:
        context.fail("unexpected-template", f"type '{node.name}' takes no template arguments", node.span)
    return entity


def predeclared_type(context: Context, node: ast.Identifier) -> Type | None:
    """The predeclared type of that name with its template arguments; None when there is none of that name."""
    name = node.name
    type = predeclared.TYPES.get(name)
    if type is not None:
        if node.template_arguments:
            context.fail("unexpected-template", f"type '{name}' takes no template arguments", node.span)
        return type
    if name not in predeclared.GENERATORS:
        return None
    if not node.template_arguments:
        if name == "buffer":
            return buffer(None)
        context.fail("missing-template", f"type '{name}' needs template arguments", node.span)
    return _generate(context, node)


def require_f16(context: Context, node: ast.Expression) -> None:
    """f16 is there only where the module enables it."""
    if "f16" not in context.enables:
        notes = (Note("add 'enable f16;' at the start of the module"),)
        context.fail("extension-required", "f16 is used without 'enable f16;'", node.span, notes)


def _generate(context: Context, node: ast.Identifier) -> Type:
    name = node.name
    if name in predeclared.VECTORS:
        return vector(predeclared.VECTORS[name], _component(context, node, "vector"))
    if name in predeclared.MATRICES:
        scalar = _component(context, node, "matrix")
        if not scalar.is_float:
            context.fail("invalid-type", "a matrix is made of f32 or f16", node.template_arguments[0].span)
        return matrix(*predeclared.MATRICES[name], scalar)
    match name:
        case "array":
            return _array(context, node)
        case "atomic":
            return _atomic(context, node)
        case "buffer":
            return _buffer(context, node)
        case "ptr":
            return _pointer(context, node)
        case "texture_multisampled_2d":
            return texture(TextureKind.MULTISAMPLED, "2d", _sampled(context, node))
        case _ if name in predeclared.SAMPLED_TEXTURES:
            return texture(TextureKind.SAMPLED, predeclared.SAMPLED_TEXTURES[name], _sampled(context, node))
        case _:
            return _storage_texture(context, node)


def _arity(context: Context, node: ast.Identifier, least: int, most: int) -> tuple[ast.Expression, ...]:
    count = len(node.template_arguments)
    if not least <= count <= most:
        message = f"'{node.name}' takes {counted(least, most, 'template argument')}, but {are(count)} given"
        context.fail("wrong-template-count", message, node.span)
    return node.template_arguments


def _component(context: Context, node: ast.Identifier, what: str) -> Scalar:
    (argument,) = _arity(context, node, 1, 1)
    type = resolve_type(context, argument)
    if not isinstance(type, Scalar):
        context.fail("invalid-type", f"{with_article(what)} is made of scalars, not of '{type}'", argument.span)
    return type


def _atomic(context: Context, node: ast.Identifier) -> Type:
    (argument,) = _arity(context, node, 1, 1)
    type = resolve_type(context, argument)
    if not isinstance(type, Scalar) or type not in (I32, U32):
        context.fail("invalid-type", f"an atomic holds i32 or u32, not '{type}'", argument.span)
    return atomic(type)


def _sampled(context: Context, node: ast.Identifier) -> Scalar:
    (argument,) = _arity(context, node, 1, 1)
    type = resolve_type(context, argument)
    if not isinstance(type, Scalar) or type not in (F32, I32, U32):
        context.fail("invalid-type", f"a texture is sampled as f32, i32 or u32, not as '{type}'", argument.span)
    return type


def _storage_texture(context: Context, node: ast.Identifier) -> Texture:
    format_node, access_node = _arity(context, node, 2, 2)
    format = enumerant(context, format_node, TEXEL_FORMATS, "texel format")
    access = predeclared.ACCESS_MODES[enumerant(context, access_node, predeclared.ACCESS_MODES, "access mode")]
    dimension = predeclared.STORAGE_TEXTURES[node.name]
    return texture(TextureKind.STORAGE, dimension, format=format, access=access)


def enumerant(context: Context, node: ast.Expression, names: Collection[str], what: str) -> str:
    """The name of an enumerant out of a set, or fail."""
    if not isinstance(node, ast.Identifier):
        context.fail("expected-enumerant", f"expected the name of {with_article(what)}", node.span)
    symbol = context.symbols.get(id(node))
    if symbol is not None:
        if symbol.entity is None:
            raise Abandon
        declared = (Note(f"'{node.name}' is declared here", symbol.span),)
        context.fail("expected-enumerant", f"'{node.name}' does not name {with_article(what)}", node.span, declared)
    if node.name not in names or node.template_arguments:
        notes = context.hints.did_you_mean(node.name, names)
        context.fail("expected-enumerant", f"'{node.name}' does not name {with_article(what)}", node.span, notes)
    return node.name


def _pointer(context: Context, node: ast.Identifier) -> Type:
    arguments = _arity(context, node, 2, 3)
    space = predeclared.ADDRESS_SPACES[enumerant(context, arguments[0], predeclared.ADDRESS_SPACES, "address space")]
    store = resolve_type(context, arguments[1])
    access = default_access(space)
    if len(arguments) == 3:
        access = explicit_access(context, space, arguments[2])
    type_rules.check_pointer_store(context, space, store, access, arguments[1].span)
    return pointer(space, store, access)


def explicit_access(context: Context, space: AddressSpace, node: ast.Expression) -> Access:
    """An access mode that is written: only storage has a choice (WGSL, "Address Spaces")."""
    access = predeclared.ACCESS_MODES[enumerant(context, node, predeclared.ACCESS_MODES, "access mode")]
    if space is not AddressSpace.STORAGE:
        message = f"an access mode cannot be written for address space '{space.value}'"
        context.fail("invalid-access-mode", message, node.span)
    if access is Access.WRITE:
        context.fail("invalid-access-mode", "storage memory is 'read' or 'read_write'", node.span)
    return access


def _array(context: Context, node: ast.Identifier) -> Array:
    arguments = _arity(context, node, 1, 2)
    element = resolve_type(context, arguments[0])
    type_rules.check_array_element(context, element, arguments[0].span)
    if len(arguments) == 1:
        return array(element, None)
    count = _count(context, arguments[1], "an array's element count")
    fault = None if isinstance(count, OverrideCount) else element_count_fault(count)
    if fault is not None:
        context.fail("invalid-element-count", fault, arguments[1].span)
    return array(element, count)


def element_count_fault(count: int) -> str | None:
    """Why an array cannot have that many elements; None when it can."""
    return f"an array's element count must be positive, but this is {count}" if count <= 0 else None


def _buffer(context: Context, node: ast.Identifier) -> Buffer:
    """A buffer of a given size; its size is a multiple of the smallest scalar's (WGSL, "Buffer Types")."""
    (argument,) = _arity(context, node, 1, 1)
    size = _count(context, argument, "a buffer's size")
    fault = None if isinstance(size, OverrideCount) else buffer_size_fault(size, context.enables)
    if fault is not None:
        context.fail("invalid-element-count", fault, argument.span)
    return buffer(size)


def buffer_size_fault(size: int, enables: Collection[str]) -> str | None:
    """Why a buffer cannot have that many bytes; None when it can."""
    unit = 2 if "f16" in enables else 4
    if size <= 0:
        return f"a buffer's size must be positive, but this is {size}"
    return f"a buffer's size must be a multiple of {unit}, but this is {size}" if size % unit else None


def _count(context: Context, node: ast.Expression, what: str) -> int | OverrideCount:
    """A count or size: known when the pipeline is made at the latest (WGSL, "Array Types")."""
    unevaluated, context.unevaluated = context.unevaluated, 0
    try:
        operand = expressions.resolve(context, node)
        make_concrete(context, operand)
    finally:
        context.unevaluated = unevaluated
    if operand.result not in (I32, U32):
        context.fail("invalid-element-count", f"{what} must be i32 or u32, but this is '{operand.result}'", node.span)
    if operand.phase is Phase.RUNTIME:
        message = f"{what} must be a const-expression or an override-expression"
        context.fail("invalid-element-count", message, node.span)
    if operand.phase is Phase.OVERRIDE:
        return _override_count(context, node)
    assert isinstance(operand.raw, int)
    return operand.raw


def _override_count(context: Context, node: ast.Expression) -> OverrideCount:
    if isinstance(node, ast.Identifier):
        count = OverrideCount(node.name)
    else:
        count = OverrideCount(context.source.text(node.span), len(context.override_counts) + 1)
    context.override_counts.setdefault((count.name, count.key), node)
    return count
