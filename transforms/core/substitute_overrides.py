"""Gives overrides their values (WGSL, "override Declarations"; WebGPU, "Pipeline-overridable constants").

Afterwards no override is left, nor an expression of overrides at module scope, and every array has a concrete count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...base.errors import InputError
from ...base.records import dataclass, field
from ...ir.constants import ConstantValue, RawValue
from ...ir.core import nodes
from ...ir.core.operations import constant_result
from ...ir.core.overrides import given_values
from ...ir.core.structure import blocks_of
from ...ir.diagnostics import Diagnostic, Severity, ShaderError
from ...ir.entry_points import entry_point as named_entry_point
from ...ir.overrides import Number, missing_override
from ...ir.scalars import EvaluationError, Mode, ScalarValue
from ...ir.source import Span
from ...ir.types import Array, Buffer, OverrideCount, Pointer, Scalar, Type, array, buffer, pointer
from .reachability import reached_from_root


@dataclass(frozen=True)
class SubstituteOverrides:
    """`values` maps an override's name, or its `@id` in digits, to its value; others take their default.

    In a pipeline's text, each is an option: `substitute_overrides{width=64,3=true}`.
    With an `entry_point`, overrides that it does not reach may go without a value, and stay where they are.
    Raises InputError for a value that is missing, misnamed or does not fit, and ShaderError where an expression of
    overrides has no value, as in a division by zero.
    """

    values: Mapping[str, Number] = field(default_factory=dict[str, Number])
    entry_point: str | None = None

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "substitute_overrides"

    def run(self, module: nodes.Module) -> bool:
        """Whether there was an override or an expression of overrides."""
        given = given_values(module, self.values)
        required = _required(module, self.entry_point)
        gone: set[nodes.Instruction] = set()
        for instruction in module.root.instructions:
            if isinstance(instruction, nodes.Override):
                value = _override_value(instruction, given.get(instruction), is_required=id(instruction) in required)
            else:
                value = _expression_value(instruction)
            if value is not None:
                _replace(instruction, value)
                gone.add(instruction)
        if gone:
            module.root.instructions = [it for it in module.root.instructions if it not in gone]
            _forget_overrides(module)
        return _settle_counts(module) or bool(gone)


def _required(module: nodes.Module, entry_point: str | None) -> set[int]:
    """The identities of the overrides that must have a value."""
    if entry_point is None:
        return {id(instruction) for instruction in module.root.instructions}
    return {id(value) for value in reached_from_root(module, named_entry_point(module.functions, entry_point))}


def _override_value(override: nodes.Override, given: ScalarValue | None, *, is_required: bool) -> ConstantValue | None:
    assert isinstance(override.type, Scalar)
    if given is not None:
        return ConstantValue(override.type, given)
    if isinstance(override.default, nodes.Constant):
        return override.default.value
    if is_required and override.default is None:
        raise InputError(missing_override(override.name))
    return None


def _expression_value(instruction: nodes.Instruction) -> ConstantValue | None:
    try:
        return constant_result(instruction, Mode.CONST)
    except EvaluationError as error:
        raise _invalid("override-expression", error.message, instruction.span) from error


def _invalid(code: str, message: str, span: Span | None) -> ShaderError:
    return ShaderError([Diagnostic(Severity.ERROR, code, message, span)])


def _replace(instruction: nodes.Instruction, value: ConstantValue) -> None:
    """Put the constant wherever the instruction was used, each time a new one."""
    for use in instruction.uses:
        use.user.set_operand(use.index, nodes.Constant(value, value.type, None, span=instruction.span))
    instruction.drop_operands()


def _forget_overrides(module: nodes.Module) -> None:
    left = {id(instruction) for instruction in module.root.instructions}
    for function in module.functions:
        function.resources = [it for it in function.resources if id(it) in left]
        for size in function.workgroup_size:
            if isinstance(size, nodes.Constant) and not _is_positive(size.value.value):
                message = f"the workgroup size of '{function.name}' must be at least 1, not {size.value.value}"
                raise _invalid("workgroup-size", message, function.span)


def _is_positive(value: RawValue) -> bool:
    return isinstance(value, int) and value > 0


def _settle_counts(module: nodes.Module) -> bool:
    """Give arrays their counts where these are known by now."""
    known: dict[OverrideCount, int] = {}
    for count in module.counts:
        if isinstance(count.value, nodes.Constant):
            known[count.count] = _array_count(count.value)
            count.drop_operands()
    module.counts = [count for count in module.counts if count.count not in known]
    if known:
        for value in _typed_values(module):
            value.type = _with_counts(value.type, known)
    for function in module.functions:
        if isinstance(function.subgroup_size, OverrideCount):
            function.subgroup_size = known.get(function.subgroup_size, function.subgroup_size)
    return bool(known)


def _array_count(constant: nodes.Constant) -> int:
    value = constant.value.value
    if not isinstance(value, int) or value < 1:
        raise _invalid("array-count", f"an array must have at least 1 element, not {value}", constant.span)
    return value


def _typed_values(module: nodes.Module) -> Iterator[nodes.AnyValue]:
    yield from module.root.instructions
    for function in module.functions:
        yield from function.parameters
        for block in blocks_of(function):
            yield from block.arguments
            yield from block.instructions


def _with_counts(type: Type, counts: Mapping[OverrideCount, int]) -> Type:
    """An override-sized array is the whole store type of a workgroup variable, or nothing (WGSL, "Array Types")."""
    match type:
        case Array(element=element, count=OverrideCount() as count):
            return array(element, counts.get(count, count))
        case Buffer(size=OverrideCount() as size):
            return buffer(counts.get(size, size))
        case Pointer(space=space, store=store, access=access):
            return pointer(space, _with_counts(store, counts), access)
        case _:
            return type
