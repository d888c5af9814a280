"""Function declarations and entry points (WGSL, "Functions", "Entry Points")."""

from __future__ import annotations

from ...ir.conversions import common_type, concretize
from ...ir.diagnostics import Note
from ...ir.types import I32, U32, VOID, IoAttributes, Pointer, Stage, Type, is_constructible
from ...ir.wgsl import ast
from ...ir.wgsl.limits import MOST_PARAMETERS
from ...ir.wgsl.program import FunctionInfo, Variable
from . import attributes, behavior, expressions, stage_io, statements, type_names, type_rules
from .attributes import AttributeSet, AttributeTarget
from .context import Abandon, Context, FunctionState, Phase, Symbol
from .conversions import convert_to, load, make_concrete

_STAGES = {stage.value: stage for stage in Stage}


def resolve_function(context: Context, symbol: Symbol, node: ast.Function) -> FunctionInfo:
    """The function with its body; `symbol` stands for it as soon as its signature is known."""
    found = attributes.collect(context, node.attributes, AttributeTarget.FUNCTION)
    stage = _stage(context, found)
    parameters = _parameters(context, node, stage)
    return_type = VOID if node.return_type is None else _return_type(context, node.return_type)
    function = FunctionInfo(
        name=node.name,
        node=node,
        parameters=parameters,
        return_type=return_type,
        return_io=_return_io(context, node, stage, return_type),
        stage=stage,
        workgroup_size=_workgroup_size(context, node, found, stage),
        subgroup_size=_subgroup_size(context, found, stage),
        diagnostics=attributes.filters(context, found),
        must_use="must_use" in found,
    )
    if function.must_use and return_type is VOID:
        message = "'must_use' needs a function that returns a value"
        context.error("invalid-attribute", message, found.by_name["must_use"].span)
    if stage is not None:
        _check_interface(context, function, stage)
    symbol.entity = function
    context.functions.append(function)
    _body(context, function)
    return function


def _body(context: Context, function: FunctionInfo) -> None:
    before = len(context.diagnostics.items)
    state = context.function = FunctionState(function.name, function.return_type)
    statements.resolve_block(context, function.node.body)
    context.function = None
    context.restricted[function] = state.restricted
    context.accesses[function] = state.accesses
    context.passed[function] = state.passed
    if len(context.diagnostics.items) == before:
        behavior.check_function(context, function)


def _stage(context: Context, found: AttributeSet) -> Stage | None:
    stages = [name for name in _STAGES if name in found]
    if len(stages) > 1:
        notes = (Note("another stage is given here", found.by_name[stages[0]].span),)
        context.fail("invalid-attribute", "a function has only one stage", found.by_name[stages[1]].span, notes)
    return _STAGES[stages[0]] if stages else None


# Parameters and result


def _parameters(context: Context, node: ast.Function, stage: Stage | None) -> tuple[Variable, ...]:
    if len(node.parameters) > MOST_PARAMETERS:
        context.fail("limit-exceeded", f"a function has more than {MOST_PARAMETERS} parameters", node.name_span)
    parameters: list[Variable] = []
    for parameter in node.parameters:
        try:
            variable = _parameter(context, parameter, stage)
        except Abandon:
            continue
        context.declared[id(parameter)].entity = variable
        context.facts.declared[parameter] = variable
        parameters.append(variable)
    if len(parameters) < len(node.parameters):
        raise Abandon
    return tuple(parameters)


def _parameter(context: Context, node: ast.Parameter, stage: Stage | None) -> Variable:
    type = type_names.resolve_type(context, node.type)
    if not (is_constructible(type) or isinstance(type, Pointer) or type_rules.is_handle(type)):
        context.fail("invalid-type", f"a parameter cannot be of type '{type}'", node.type.span)
    if stage is not None and not is_constructible(type):
        context.fail("invalid-type", f"a parameter of an entry point cannot be of type '{type}'", node.type.span)
    found = attributes.collect(context, node.attributes, AttributeTarget.PARAMETER)
    _check_io_place(context, found, stage)
    io = stage_io.io_attributes(context, found, type, node.type.span)
    variable = Variable(node.name, "parameter", type, node.name_span, False, io=io)
    if isinstance(type, Pointer):
        context.pointer_roots[variable] = variable
    return variable


def _check_io_place(context: Context, found: AttributeSet, stage: Stage | None) -> None:
    if stage is None:
        for name, attribute in found.by_name.items():
            context.error("invalid-attribute", f"attribute '{name}' is for entry points", attribute.span)


def _return_type(context: Context, node: ast.Expression) -> Type:
    type = type_names.resolve_type(context, node)
    if not is_constructible(type):
        context.fail("invalid-type", f"a function cannot return a value of type '{type}'", node.span)
    return type


def _return_io(context: Context, node: ast.Function, stage: Stage | None, type: Type) -> IoAttributes:
    found = attributes.collect(context, node.return_attributes, AttributeTarget.RETURN)
    if node.return_type is None:
        return IoAttributes()
    _check_io_place(context, found, stage)
    return stage_io.io_attributes(context, found, type, node.return_type.span)


def _check_interface(context: Context, function: FunctionInfo, stage: Stage) -> None:
    inputs = [stage_io.IoValue(parameter.type, parameter.io, parameter.span) for parameter in function.parameters]
    outputs: list[stage_io.IoValue] = []
    if function.node.return_type is not None:
        outputs.append(stage_io.IoValue(function.return_type, function.return_io, function.node.return_type.span))
    if stage is Stage.COMPUTE and outputs:
        context.error("invalid-io", "a compute shader returns nothing", outputs[0].span)
        return
    if stage is Stage.VERTEX and not outputs:
        context.error("invalid-io", "a vertex shader must output 'builtin(position)'", function.node.name_span)
        return
    stage_io.check_interface(context, stage, "input", inputs)
    stage_io.check_interface(context, stage, "output", outputs)


# workgroup_size


def _workgroup_size(
    context: Context, node: ast.Function, found: AttributeSet, stage: Stage | None
) -> tuple[ast.Expression, ...]:
    """The sizes, all i32 or all u32, const- or override-expressions (WGSL, "workgroup_size")."""
    attribute = found.get("workgroup_size")
    if attribute is None:
        if stage is Stage.COMPUTE and not found.is_faulty:
            message = "a compute shader needs the attribute 'workgroup_size'"
            context.error("missing-workgroup-size", message, node.name_span)
        return ()
    if stage is not Stage.COMPUTE:
        context.error("invalid-attribute", "'workgroup_size' is for compute shaders", attribute.span)
    operands = [expressions.resolve(context, argument) for argument in attribute.arguments]
    for operand in operands:
        load(context, operand)
    common = common_type([operand.result for operand in operands])
    type = None if common is None else concretize(common)
    if type is None or type not in (I32, U32):
        context.fail("type-mismatch", "'workgroup_size' needs values that are all i32 or all u32", attribute.span)
    for operand in operands:
        convert_to(context, operand, type, "a workgroup size")
        if operand.phase is Phase.RUNTIME:
            message = "a workgroup size must be a const-expression or an override-expression"
            context.fail("expected-constant", message, operand.span)
        if isinstance(operand.raw, int) and operand.raw <= 0:
            context.error("invalid-attribute", "a workgroup size must be positive", operand.span)
    return attribute.arguments


# subgroup_size


def _subgroup_size(context: Context, found: AttributeSet, stage: Stage | None) -> ast.Expression | None:
    """A power of two, i32 or u32, a const- or override-expression (WGSL, "subgroup_size")."""
    attribute = found.get("subgroup_size")
    if attribute is None:
        return None
    if "subgroup_size_control" not in context.enables:
        notes = (Note("add 'enable subgroup_size_control;' at the start of the module"),)
        message = "'subgroup_size' is used without 'enable subgroup_size_control;'"
        context.error("extension-required", message, attribute.span, notes)
    if stage is not Stage.COMPUTE:
        context.error("invalid-attribute", "'subgroup_size' is for compute shaders", attribute.span)
    (argument,) = attribute.arguments
    operand = expressions.resolve(context, argument)
    type = make_concrete(context, operand)
    if type not in (I32, U32):
        context.fail("type-mismatch", f"a subgroup size must be i32 or u32, but this is '{type}'", argument.span)
    if operand.phase is Phase.RUNTIME:
        message = "a subgroup size must be a const-expression or an override-expression"
        context.fail("expected-constant", message, argument.span)
    fault = subgroup_size_fault(operand.raw) if isinstance(operand.raw, int) else None
    if fault is not None:
        context.error("invalid-attribute", fault, argument.span)
    return argument


def subgroup_size_fault(size: int) -> str | None:
    """Why a subgroup cannot have that many invocations; None when it can."""
    is_power = size > 0 and size & (size - 1) == 0
    return None if is_power else f"a subgroup size must be a power of two, but this is {size}"
