"""Rules on the whole module, once every declaration is resolved: what each function and entry point uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from ...base.cached import cached_property
from ...ir.diagnostics import Note, with_article
from ...ir.types import Access, AddressSpace, BindingPoint, Stage, Texture, TextureKind
from ...ir.wgsl.program import FunctionInfo, Variable
from .context import Context, Symbol


def record_uses(order: Sequence[Symbol]) -> None:
    """Fill `resources` and `calls` of each function. `order` has what is used before its users.

    The resources that a symbol reaches are a bit set in declaration order: sets of objects would take memory
    quadratic in the length of a chain of symbols.
    """
    found = sorted((symbol for symbol in order if _is_resource(symbol)), key=lambda symbol: symbol.index)
    table = tuple(symbol.entity for symbol in found if isinstance(symbol.entity, Variable))
    reached: dict[Symbol, int] = {symbol: 1 << bit for bit, symbol in enumerate(found)}
    for symbol in order:
        bits = reached.get(symbol, 0)
        for other in symbol.uses:
            bits |= reached.get(other, 0)
        reached[symbol] = bits
        if isinstance(symbol.entity, FunctionInfo):
            symbol.entity.resources = _Resources(table, bits) if bits else ()
            callees = [other.entity for other in symbol.uses]
            symbol.entity.calls = tuple([callee for callee in callees if isinstance(callee, FunctionInfo)])


def _is_resource(symbol: Symbol) -> bool:
    return isinstance(symbol.entity, Variable) and symbol.entity.kind in ("var", "override")


class _Resources(Sequence[Variable]):
    """The variables that a bit set selects, listed on first use."""

    def __init__(self, table: Sequence[Variable], bits: int) -> None:
        self._table = table
        self._bits = bits

    @cached_property
    def _items(self) -> tuple[Variable, ...]:
        digits = reversed(f"{self._bits:b}")
        return tuple([variable for variable, digit in zip(self._table, digits, strict=False) if digit == "1"])

    @overload
    def __getitem__(self, index: int) -> Variable: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Variable]: ...

    def __getitem__(self, index: int | slice) -> Variable | Sequence[Variable]:
        return self._items[index]

    def __len__(self) -> int:
        return self._bits.bit_count()


def check_module(context: Context) -> None:
    """Check all the rules."""
    _check_override_ids(context)
    for function in context.functions:
        if function.stage is not None:
            _check_bindings(context, function)
            _check_spaces(context, function, function.stage)
            _check_immediate(context, function)
            _check_stage(context, function, function.stage)


def _check_override_ids(context: Context) -> None:
    seen: dict[int, Variable] = {}
    for variable in context.variables:
        if variable.override_id is None:
            continue
        earlier = seen.setdefault(variable.override_id, variable)
        if earlier is not variable:
            notes = (Note("the first one is here", earlier.span),)
            message = f"two overrides have the id {variable.override_id}"
            context.error("duplicate-override-id", message, variable.span, notes)


def _check_bindings(context: Context, function: FunctionInfo) -> None:
    """Resources of one shader have bindings of their own (WGSL, "Resource Interface")."""
    seen: dict[BindingPoint, Variable] = {}
    for variable in function.resources:
        if variable.binding is None:
            continue
        earlier = seen.setdefault(variable.binding, variable)
        if earlier is not variable:
            point = variable.binding
            message = (
                f"entry point '{function.name}' uses two resources at group {point.group}, binding {point.binding}: "
                f"'{earlier.name}' and '{variable.name}'"
            )
            notes = (Note(f"'{earlier.name}' is declared here", earlier.span),)
            context.error("binding-collision", message, variable.span, notes)


def _check_spaces(context: Context, function: FunctionInfo, stage: Stage) -> None:
    """Some memory cannot be used in some stages (WGSL, "Address Spaces")."""
    for variable in function.resources:
        fault = _space_fault(variable, stage)
        if fault is not None:
            notes = (Note(f"'{variable.name}' is declared here", variable.span),)
            message = f"{stage.value} shader '{function.name}' uses '{variable.name}', {fault}"
            context.error("invalid-stage", message, function.node.name_span, notes)


def _check_immediate(context: Context, function: FunctionInfo) -> None:
    """A shader has one variable of immediate data (WGSL, "Address Spaces")."""
    found = [variable for variable in function.resources if variable.space is AddressSpace.IMMEDIATE]
    if len(found) > 1:
        notes = (Note(f"'{found[0].name}' is declared here", found[0].span),)
        message = f"entry point '{function.name}' uses two variables of immediate data: " + (
            f"'{found[0].name}' and '{found[1].name}'"
        )
        context.error("binding-collision", message, found[1].span, notes)


def _space_fault(variable: Variable, stage: Stage) -> str | None:
    if variable.space is AddressSpace.WORKGROUP and stage is not Stage.COMPUTE:
        return "but only compute shaders have workgroup memory"
    if stage is not Stage.VERTEX:
        return None
    if variable.space is AddressSpace.STORAGE and variable.access is not Access.READ:
        return "a buffer that can be written, which a vertex shader cannot use"
    type = variable.type
    if isinstance(type, Texture) and type.kind is TextureKind.STORAGE and type.access is not Access.READ:
        return "a texture that can be written, which a vertex shader cannot use"
    return None


def _check_stage(context: Context, function: FunctionInfo, stage: Stage) -> None:
    """Check stage restrictions of the entry point and all its callees."""
    pending, seen = [function], {function}
    while pending:
        current = pending.pop()
        for stages, (what, span) in context.restricted.get(current, {}).items():
            if stage not in stages:
                notes = (Note(f"entry point '{function.name}' gets here", function.node.name_span),)
                context.error(
                    "invalid-stage", f"{what} cannot be used in {with_article(stage.value)} shader", span, notes
                )
        fresh = [callee for callee in current.calls if callee not in seen]
        seen.update(fresh)
        pending += fresh
