"""Declarations of values and variables (WGSL, "Variable and Value Declarations")."""

from __future__ import annotations

from ...ir.types import (
    Access,
    AddressSpace,
    BindingPoint,
    Buffer,
    Pointer,
    Reference,
    Scalar,
    Type,
    default_access,
    is_constructible,
)
from ...ir.wgsl import ast
from ...ir.wgsl.program import Variable
from . import attributes, expressions, predeclared, type_names, type_rules
from .attributes import AttributeSet, AttributeTarget
from .context import Context, Operand, Phase
from .conversions import convert_to, load, make_concrete

_RESOURCE_SPACES = (AddressSpace.UNIFORM, AddressSpace.STORAGE, AddressSpace.HANDLE)
LARGEST_OVERRIDE_ID = 65535


def _declare(context: Context, node: ast.Var | ast.Let | ast.Const | ast.Override, variable: Variable) -> Variable:
    context.facts.declared[node] = variable
    return variable


def _initializer(context: Context, node: ast.Expression, type: Type | None) -> tuple[Operand, Type]:
    """The initial value, converted to the declared type, or loaded, of its own type, which may be abstract."""
    operand = expressions.resolve(context, node)
    if type is None:
        load(context, operand)
    else:
        convert_to(context, operand, type, "the initial value")
    return operand, operand.result


# const


def resolve_const(context: Context, node: ast.Const, *, is_module_scope: bool) -> Variable:
    """A constant, which may stay abstract (WGSL, "`const` Declarations")."""
    type = None if node.type is None else type_names.resolve_type(context, node.type)
    operand, type = _initializer(context, node.initializer, type)
    if operand.phase is not Phase.CONST:
        context.fail("expected-constant", "the value of a const must be a const-expression", node.initializer.span)
    if operand.constant is None or not is_constructible(type):
        context.fail("invalid-type", f"a const cannot be of type '{type}'", node.initializer.span)
    variable = Variable(
        node.name,
        "const",
        type,
        node.name_span,
        is_module_scope,
        initializer=node.initializer,
        constant=operand.constant,
    )
    return _declare(context, node, variable)


# override


def resolve_override(context: Context, node: ast.Override) -> Variable:
    """A constant that the pipeline may set (WGSL, "`override` Declarations")."""
    found = attributes.collect(context, node.attributes, AttributeTarget.OVERRIDE)
    type = None if node.type is None else type_names.resolve_type(context, node.type)
    if node.initializer is not None:
        operand, type = _initializer(context, node.initializer, type)
        if operand.phase is Phase.RUNTIME:
            message = "the value of an override must be an override-expression"
            context.fail("expected-constant", message, node.initializer.span)
        type = make_concrete(context, operand)
    if type is None:
        context.fail("missing-type", "an override needs a type or an initial value", node.name_span)
    if not isinstance(type, Scalar):
        context.fail("invalid-type", f"an override must be a scalar, not '{type}'", node.span)
    override_id = attributes.optional_integer(context, found, "id")
    if override_id is not None and override_id > LARGEST_OVERRIDE_ID:
        span = found.by_name["id"].span
        context.error("invalid-attribute", f"'id' must be at most {LARGEST_OVERRIDE_ID}", span)
    variable = Variable(
        node.name, "override", type, node.name_span, True, initializer=node.initializer, override_id=override_id
    )
    return _declare(context, node, variable)


# let


def resolve_let(context: Context, node: ast.Let) -> Variable:
    """A value with a name (WGSL, "`let` Declarations"): constructible, a pointer, a texture or a sampler."""
    type = None if node.type is None else type_names.resolve_type(context, node.type)
    operand, _ = _initializer(context, node.initializer, type)
    type = make_concrete(context, operand)
    if not (is_constructible(type) or isinstance(type, Pointer) or type_rules.is_handle(type)):
        context.fail("invalid-type", f"a let cannot be of type '{type}'", node.initializer.span)
    variable = Variable(node.name, "let", type, node.name_span, False, initializer=node.initializer)
    if isinstance(type, Pointer):
        context.pointer_roots[variable] = operand.root
    return _declare(context, node, variable)


# var


def resolve_local_var(context: Context, node: ast.Var) -> Variable:
    """A variable of a function."""
    attributes.collect(context, node.attributes, AttributeTarget.LOCAL_VAR)
    space, access = _space(context, node, AddressSpace.FUNCTION)
    if space is not AddressSpace.FUNCTION:
        message = f"a variable in address space '{space.value}' must be at module scope"
        context.fail("invalid-address-space", message, node.span)
    type = _var_type(context, node)
    _check_var_type(context, node, space, type, access)
    return _declare(context, node, _var(node, type, space, access, is_module_scope=False))


def resolve_module_var(context: Context, node: ast.Var) -> Variable:
    """A module-scope variable, with its binding if it is a resource."""
    found = attributes.collect(context, node.attributes, AttributeTarget.MODULE_VAR)
    space, access = _space(context, node, AddressSpace.HANDLE)
    if space is AddressSpace.FUNCTION:
        message = "a variable in address space 'function' must be in a function"
        context.fail("invalid-address-space", message, node.span)
    if node.initializer is not None and space is not AddressSpace.PRIVATE:
        message = f"a variable in address space '{space.value}' cannot have an initial value"
        context.fail("invalid-initializer", message, node.initializer.span)
    type = _var_type(context, node)
    _check_var_type(context, node, space, type, access)
    variable = _var(node, type, space, access, is_module_scope=True)
    variable.binding = _binding(context, node, found, space)
    if node.initializer is not None:
        _check_module_initializer(context, node.initializer)
    return _declare(context, node, variable)


def _check_module_initializer(context: Context, node: ast.Expression) -> None:
    facts = context.facts.expressions[node]
    if isinstance(facts, Operand) and facts.phase is Phase.RUNTIME:
        message = "the initial value of a module-scope variable must be a const-expression or an override-expression"
        context.fail("expected-constant", message, node.span)


def _var(node: ast.Var, type: Type, space: AddressSpace, access: Access, *, is_module_scope: bool) -> Variable:
    return Variable(
        node.name,
        "var",
        type,
        node.name_span,
        is_module_scope,
        initializer=node.initializer,
        space=space,
        access=access,
    )


def _space(context: Context, node: ast.Var, default: AddressSpace) -> tuple[AddressSpace, Access]:
    """The address space and access mode that `var<…>` names, or the default ones."""
    arguments = node.template_arguments
    count = len(arguments)
    if count == 0:
        return default, default_access(default)
    if count > 2:
        context.fail("wrong-template-count", "'var' takes an address space and an access mode", node.span)
    name = type_names.enumerant(context, arguments[0], predeclared.ADDRESS_SPACES, "address space")
    space = predeclared.ADDRESS_SPACES[name]
    if count == 1:
        return space, default_access(space)
    return space, type_names.explicit_access(context, space, arguments[1])


def _var_type(context: Context, node: ast.Var) -> Type:
    type = None if node.type is None else type_names.resolve_type(context, node.type)
    if node.initializer is not None:
        operand, _ = _initializer(context, node.initializer, type)
        return make_concrete(context, operand)
    if type is None:
        context.fail("missing-type", "a variable needs a type or an initial value", node.name_span)
    return type


def _check_var_type(context: Context, node: ast.Var, space: AddressSpace, type: Type, access: Access) -> None:
    span = node.span if node.type is None else node.type.span
    if isinstance(type, (Pointer, Reference)) or not (
        type_rules.is_plain(type) or type_rules.is_handle(type) or isinstance(type, Buffer)
    ):
        context.fail("invalid-store-type", f"a variable cannot hold '{type}'", span)
    type_rules.check_store_type(context, space, type, access, span)


def _binding(context: Context, node: ast.Var, found: AttributeSet, space: AddressSpace) -> BindingPoint | None:
    """Resources have a group and a binding; nothing else has (WGSL, "Resource Interface")."""
    group = attributes.optional_integer(context, found, "group")
    binding = attributes.optional_integer(context, found, "binding")
    names = [name for name in ("group", "binding") if name in found]
    if space not in _RESOURCE_SPACES:
        for name in names:
            message = f"attribute '{name}' is for resources, not for address space '{space.value}'"
            context.error("invalid-attribute", message, found.by_name[name].span)
        return None
    if len(names) < 2 and not found.is_faulty:
        message = "a resource needs the attributes 'group' and 'binding'"
        context.error("missing-binding", message, node.name_span)
    return None if group is None or binding is None else BindingPoint(group, binding)
