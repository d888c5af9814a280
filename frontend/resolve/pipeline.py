"""Checks of compute pipeline creation: override values, and every expression that depends on them.

WGSL defers to pipeline creation the checks that need override values ("Override Expressions", "workgroup_size", "Array
Types"). Only declarations that the entry point reaches are checked. What is over WebGPU's default limits, but not over
all that adapters have, is worth a warning.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from ...base.interpreter_state import deep_nesting
from ...ir.diagnostics import Diagnostic, DiagnosticList, Note, Severity
from ...ir.entry_points import missing_entry_point
from ...ir.layout_sizes import size_of
from ...ir.limits import (
    IMMEDIATE_DATA,
    LARGEST_WORKGROUP,
    MOST_INVOCATIONS,
    PROMISED,
    WORKGROUP_STORAGE,
    counted_storage,
    limits_of_size,
    over_promised,
)
from ...ir.overrides import Number, missing_override, override_value, unknown_override
from ...ir.scalars import EvaluationError
from ...ir.schema.runtime import SchemaNode
from ...ir.schema.traverse import children
from ...ir.source import Span
from ...ir.types import (
    AddressSpace,
    Array,
    Buffer,
    OverrideCount,
    Scalar,
    Stage,
    walk,
)
from ...ir.wgsl import ast
from ...ir.wgsl.program import (
    FunctionInfo,
    Program,
    Variable,
)
from .functions import subgroup_size_fault
from .override_evaluation import OverrideEvaluator
from .suggest import Hints
from .type_names import buffer_size_fault, element_count_fault


@deep_nesting()
def check_pipeline(
    program: Program, entry_point: str, constants: Mapping[str, Number] | None = None
) -> tuple[Diagnostic, ...]:
    """The diagnostics of a compute pipeline of the entry point; `constants` by override name, or `@id` in digits."""
    diagnostics = DiagnosticList()
    function = next((function for function in program.entry_points if function.name == entry_point), None)
    if function is None:
        hint = Hints().did_you_mean(entry_point, [function.name for function in program.entry_points])
        diagnostics.error("no-such-entry-point", missing_entry_point(entry_point), None, hint)
        return tuple(diagnostics.items)
    pipeline = _Pipeline(program, function, diagnostics)
    pipeline.check(constants or {})
    return tuple(diagnostics.items)


def check_default_pipelines(program: Program) -> tuple[Diagnostic, ...]:
    """Warnings of what is said of each entry point's compute pipeline while all overrides have their default values.

    They are no errors: the text is valid, and may be meant for other values. Nothing is said of an entry point that
    uses an override without a default value.
    """
    found: dict[Diagnostic, None] = {}
    for function in program.entry_points:
        if function.stage is not Stage.COMPUTE:
            continue
        said = check_pipeline(program, function.name)
        if not any(it.code == "missing-override" for it in said):
            found.update(dict.fromkeys(_as_warning(it, function.name) for it in said))
    return tuple(found)


def _as_warning(diagnostic: Diagnostic, entry: str) -> Diagnostic:
    if not diagnostic.is_error:
        return diagnostic
    note = Note(f"so no pipeline of '{entry}' can be made while its overrides have their default values")
    notes = (*diagnostic.notes, note)
    return Diagnostic(Severity.WARNING, diagnostic.code, diagnostic.message, diagnostic.span, notes)


class _Pipeline:
    """One check."""

    def __init__(self, program: Program, function: FunctionInfo, diagnostics: DiagnosticList) -> None:
        self._program = program
        self._function = function
        self._diagnostics = diagnostics
        self._evaluator = OverrideEvaluator(program.facts, diagnostics)

    def check(self, constants: Mapping[str, Number]) -> None:
        self._set_overrides(constants)
        if self._has_failed():
            return
        self._check_workgroup_size()
        self._check_subgroup_size()
        self._count_elements()
        self._check_immediate()
        if self._has_failed():
            return
        self._check_storage()
        if self._evaluator.values:
            for function in reachable(self._function):
                self._check_body(function)
            self._check_initializers()

    def _has_failed(self) -> bool:
        return self._diagnostics.has_errors

    # Overrides

    def _set_overrides(self, constants: Mapping[str, Number]) -> None:
        overrides = {
            override_key(variable): variable for variable in self._program.variables if variable.kind == "override"
        }
        hints = Hints()
        for key in constants:
            if key not in overrides:
                notes = hints.did_you_mean(key, overrides)
                self._error("unknown-override", unknown_override(key), None, notes)
        used = set(self._function.resources)
        for key, variable in overrides.items():
            if key in constants:
                self._set(variable, constants[key])
            elif variable in used:
                self._set_default(variable)

    def _set(self, variable: Variable, value: Number) -> None:
        assert isinstance(variable.type, Scalar)
        try:
            self._evaluator.values[variable] = override_value(variable.name, variable.type, value)
        except EvaluationError as error:
            self._error("invalid-override-value", error.message, variable.span)

    def _set_default(self, variable: Variable) -> None:
        if variable.initializer is None:
            self._error("missing-override", missing_override(variable.name), variable.span)
            return
        value = self._evaluator.evaluate(variable.initializer)
        if value is not None:
            self._evaluator.values[variable] = value

    # Workgroups

    def _check_workgroup_size(self) -> None:
        sizes: list[int] = []
        for node, most in zip(self._function.workgroup_size, LARGEST_WORKGROUP, strict=False):
            size = self._evaluator.evaluate(node)
            if not isinstance(size, int):
                return
            sizes.append(size)
            if not 1 <= size <= most:
                self._error("invalid-workgroup-size", f"this workgroup size must be 1 to {most}, not {size}", node.span)
        if math.prod(sizes) > MOST_INVOCATIONS:
            message = f"a workgroup has {math.prod(sizes)} invocations, but at most {MOST_INVOCATIONS} are allowed"
            self._error("invalid-workgroup-size", message, self._function.node.name_span)
        self._check_promised(limits_of_size(sizes))

    def _check_promised(self, needed: Mapping[str, int]) -> None:
        """Warn of what is over the limits that every device has, unless an error says that no device has as much."""
        over = [
            f"{limit} of {value} (the default is {PROMISED[limit]})" for limit, value in over_promised(needed).items()
        ]
        if over and not self._has_failed():
            message = f"a device has to be created with {' and '.join(over)}"
            self._diagnostics.add(
                Diagnostic(Severity.WARNING, "over-default-limits", message, self._function.node.name_span)
            )

    def _check_subgroup_size(self) -> None:
        """It is a power of two, and divides the workgroup's width (WGSL, "subgroup_size")."""
        node = self._function.subgroup_size
        size = None if node is None else self._evaluator.evaluate(node)
        width = self._evaluator.evaluate(self._function.workgroup_size[0])
        if node is None or not isinstance(size, int) or not isinstance(width, int):
            return
        fault = subgroup_size_fault(size)
        if fault is None and width % size:
            fault = f"the subgroup size {size} does not divide the workgroup's width {width}"
        if fault is not None:
            self._error("invalid-workgroup-size", fault, node.span)

    def _count_elements(self) -> None:
        for variable in self._function.resources:
            for part in walk(variable.type):
                if isinstance(part, Array) and isinstance(part.count, OverrideCount):
                    self._count(part.count, element_count_fault)
                elif isinstance(part, Buffer) and isinstance(part.size, OverrideCount):
                    self._count(part.size, lambda size: buffer_size_fault(size, self._program.enables))

    def _count(self, count: OverrideCount, fault_of: Callable[[int], str | None]) -> None:
        node = self._program.override_counts[count.name, count.key]
        value = self._evaluator.evaluate(node)
        if not isinstance(value, int):
            return
        fault = fault_of(value)
        if fault is not None:
            self._error("invalid-element-count", fault, node.span)
        self._evaluator.counts[count] = value

    def _check_immediate(self) -> None:
        for variable in self._function.resources:
            if variable.space is AddressSpace.IMMEDIATE and size_of(variable.type) > IMMEDIATE_DATA:
                message = (
                    f"immediate data takes {size_of(variable.type)} bytes, but at most {IMMEDIATE_DATA} are allowed"
                )
                self._error("limit-exceeded", message, variable.span)

    def _check_storage(self) -> None:
        shared = [variable for variable in self._function.resources if variable.space is AddressSpace.WORKGROUP]
        used = sum(counted_storage(size_of(variable.type, self._evaluator.counts)) for variable in shared)
        if used > WORKGROUP_STORAGE:
            message = f"workgroup variables take {used} bytes, but at most {WORKGROUP_STORAGE} are allowed"
            self._error("too-much-workgroup-memory", message, self._function.node.name_span)
        self._check_promised({"maxComputeWorkgroupStorageSize": used})

    # Bodies

    def _check_body(self, function: FunctionInfo) -> None:
        for node in self._expressions(function.node.body):
            self._evaluator.evaluate(node)

    def _check_initializers(self) -> None:
        for variable in self._function.resources:
            if variable.kind == "var" and variable.initializer is not None:
                self._evaluator.evaluate(variable.initializer)

    def _expressions(self, root: SchemaNode) -> Iterator[ast.Expression]:
        """The outermost expressions that have values, in order."""
        pending = [root]
        while pending:
            node = pending.pop()
            if isinstance(node, ast.Expression):
                if node in self._program.facts.expressions:
                    yield node
            else:
                pending.extend(reversed(list(children(node))))

    def _error(self, code: str, message: str, span: Span | None, notes: tuple[Note, ...] = ()) -> None:
        self._diagnostics.error(code, message, span, notes)


def reachable(function: FunctionInfo) -> list[FunctionInfo]:
    """The function and all it calls, directly or not."""
    found = [function]
    seen = {function}
    for current in found:
        fresh = [callee for callee in current.calls if callee not in seen]
        seen.update(fresh)
        found += fresh
    return found


def override_key(variable: Variable) -> str:
    """The key of an override in a pipeline: its `@id` if it has one, else its name."""
    return variable.name if variable.override_id is None else str(variable.override_id)
