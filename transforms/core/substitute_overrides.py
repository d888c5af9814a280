"""Gives overrides their values (WGSL, "override Declarations"; WebGPU, "Pipeline-overridable constants").

Afterwards no override is left, nor an expression of overrides at module scope, and every array has a concrete count.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ...ir.constants import ConstantValue, RawValue
from ...ir.core import nodes
from ...ir.core.operations import constant_result
from ...ir.core.structure import blocks_of
from ...ir.diagnostics import Diagnostic, InputError, Severity, ShaderError, with_article
from ...ir.scalars import EvaluationError, Mode, fits, round_to
from ...ir.source import Span
from ...ir.types import Array, Buffer, OverrideCount, Pointer, Scalar, ScalarKind, Type, array, buffer, pointer
from .reachability import reached_from_root

Number = bool | int | float


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
        given = _values_by_override(module, self.values)
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


def _values_by_override(module: nodes.Module, values: Mapping[str, Number]) -> dict[nodes.Override, Number]:
    overrides = [it for it in module.root.instructions if isinstance(it, nodes.Override)]
    by_key = {it.name: it for it in overrides if it.name is not None}
    by_key |= {str(it.id): it for it in overrides if it.id is not None}
    found: dict[nodes.Override, Number] = {}
    for key, value in values.items():
        override = by_key.get(key)
        if override is None:
            raise InputError(_unknown(key, list(by_key)))
        if override in found:
            raise InputError(f"override '{override.name}' is given twice, by name and by id")
        found[override] = value
    return found


def _unknown(key: str, known: list[str]) -> str:
    if not known:
        return f"no override is called '{key}': the shader has none"
    close = difflib.get_close_matches(key, known, 1)
    hint = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(sorted(known))}"
    return f"no override is called '{key}'; {hint}"


def _required(module: nodes.Module, entry_point: str | None) -> set[int]:
    """The identities of the overrides that must have a value."""
    if entry_point is None:
        return {id(instruction) for instruction in module.root.instructions}
    functions = [function for function in module.functions if function.name == entry_point]
    if not functions:
        raise InputError(f"there is no entry point '{entry_point}'")
    return {id(value) for value in reached_from_root(module, functions[0])}


def _override_value(override: nodes.Override, given: Number | None, *, is_required: bool) -> ConstantValue | None:
    assert isinstance(override.type, Scalar)
    if given is not None:
        return ConstantValue(override.type, _converted(override.name, override.type, given))
    if isinstance(override.default, nodes.Constant):
        return override.default.value
    if is_required and override.default is None:
        raise InputError(f"override '{override.name}' has no default and needs a value")
    return None


def _converted(name: str | None, type: Scalar, value: Number) -> RawValue:
    """A number as a value of the override's type."""
    if type.kind is ScalarKind.BOOL:
        return bool(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"override '{name}' must be finite, not {value}")
    if type.is_float:
        rounded = round_to(type, float(value))
        if not math.isfinite(rounded):
            raise InputError(f"override '{name}' is {with_article(str(type))}, which cannot hold {value}")
        return rounded
    if value != int(value):
        raise InputError(f"override '{name}' is {with_article(str(type))}: {value} is not a whole number")
    if not fits(type, int(value)):
        raise InputError(f"override '{name}' is {with_article(str(type))}, which cannot hold {value}")
    return int(value)


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
