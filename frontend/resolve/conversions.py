"""What a context asks of an expression: the load rule, automatic conversions, a concrete type.

Each function here changes the operand's facts in place, so that they end as `ir/wgsl/program.py` says.
"""

from __future__ import annotations

from ...ir.constants import ConstantValue, zero
from ...ir.conversions import concretize, conversion_rank, convert, is_abstract
from ...ir.diagnostics import Note
from ...ir.scalars import EvaluationError
from ...ir.types import (
    Access,
    Atomic,
    Reference,
    Sampler,
    Scalar,
    Texture,
    Type,
    Vector,
    contains_atomic,
    is_constructible,
    with_scalar,
)
from .context import Context, Operand, Phase


def load(context: Context, operand: Operand) -> Operand:
    """Apply the load rule where the operand is a reference (WGSL, "Memory Views"). Its type may still be abstract."""
    reference = operand.result
    if not isinstance(reference, Reference):
        return operand
    if reference.access is Access.WRITE:
        context.fail("invalid-load", "cannot read from memory with access mode 'write'", operand.span)
    store = reference.store
    if not is_constructible(store) and not isinstance(store, (Texture, Sampler)):
        hint = Note("read it with 'atomicLoad'; atomic functions take a pointer, with '&'")
        notes = (hint,) if isinstance(store, Atomic) else ()
        what = "contains an atomic" if contains_atomic(store) else "is not constructible"
        context.fail("invalid-load", f"cannot load a value of type '{store}', which {what}", operand.span, notes)
    operand.result = store
    operand.loads = True
    note_read(context, operand)
    return operand


def note_read(context: Context, operand: Operand) -> None:
    """Remember that the function at hand reads through a memory view."""
    if context.function is not None and operand.root is not None:
        context.function.accesses.read.add(operand.root)


def materialise(context: Context, operand: Operand, target: Type) -> None:
    """Give the operand a type that it is known to convert to. What is never evaluated need not fit it."""
    load(context, operand)
    source = operand.result
    if source is target:
        return
    operand.result = target
    constant = operand.constant
    if constant is None:
        return
    try:
        operand.constant = ConstantValue(target, convert(constant.value, source, target))
    except EvaluationError as error:
        if not context.unevaluated:
            context.fail("value-out-of-range", error.message, operand.span)
        operand.constant = ConstantValue(target, zero(target))


def make_concrete(context: Context, operand: Operand) -> Type:
    """Load, and turn an abstract type into its default concrete one; that type (WGSL, "Concretization")."""
    load(context, operand)
    if is_abstract(operand.result):
        materialise(context, operand, concretize(operand.result))
    return operand.result


def convert_to(context: Context, operand: Operand, target: Type, what: str) -> None:
    """Convert automatically to the type a context demands, or fail; `what` names the context for the message."""
    load(context, operand)
    if operand.result is target:
        return
    if conversion_rank(operand.result, target) is None:
        message = f"{what} must be '{target}', but this is '{operand.result}'"
        context.fail("type-mismatch", message, operand.span, conversion_hint(operand.result, target))
    materialise(context, operand, target)


def conversion_hint(source: Type, target: Type) -> tuple[Note, ...]:
    """How a value of another component type would be converted."""
    if not isinstance(source, (Scalar, Vector)) or not isinstance(target, (Scalar, Vector)):
        return ()
    scalar = target if isinstance(target, Scalar) else target.element
    if scalar.is_abstract or source is target or with_scalar(source, scalar) is not target:
        return ()
    return (Note(f"convert it: '{target}(…)'"),)


def latest_phase(*operands: Operand) -> Phase:
    """The phase in which all the operands are known."""
    return max([operand.phase for operand in operands], default=Phase.CONST)
