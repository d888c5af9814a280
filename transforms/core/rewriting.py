"""Local rewrites: tables of rules that turn an operation into an equal and simpler one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ...ir.constants import RawValue
from ...ir.core import nodes
from ...ir.core.builder import Builder, constant
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.types import Scalar, Type, Vector, scalar_of
from .regions import remove
from .replacing import replace

Rule: TypeAlias = Callable[[nodes.Instruction, Builder], Value | None]
"""What an operation is instead, built by need in front of it; None where the rule does not apply."""


def rewrite(module: nodes.Module, rules: Sequence[Rule]) -> bool:
    """Apply the first rule that fits to each operation, operands first; whether any did."""
    builder = Builder(module)
    changed = False
    for function in list(module.functions):  # rules may add some
        for block in blocks_of(function):
            changed |= _rewrite_block(block, rules, builder)
    return changed


def _rewrite_block(block: nodes.Block, rules: Sequence[Rule], builder: Builder) -> bool:
    before, branch = block.instructions, block.branch
    block.instructions, block.branch = [], None
    gone: list[nodes.Instruction] = []
    with builder.at(block):
        for instruction in before:
            builder.span = instruction.span
            found = _applied(instruction, rules, builder)
            block.instructions.append(instruction)
            if found is not None:
                replace(instruction, found)
                gone.append(instruction)
    block.branch = branch
    return remove(block, gone)


def _applied(instruction: nodes.Instruction, rules: Sequence[Rule], builder: Builder) -> Value | None:
    for rule in rules:
        found = rule(instruction, builder)
        if found is not None:
            assert found.type is instruction.type, f"{rule.__name__} changes a type"
            return found
    return None


def number_of(value: Value) -> bool | int | float | None:
    """The number that a constant is, in all components; None for anything else. Minus zero is not zero: `is_zero`."""
    return _splat(value.value.value) if isinstance(value, nodes.Constant) else _splat_construct(value)


def _splat_construct(value: Value) -> bool | int | float | None:
    if not isinstance(value, nodes.Construct) or not isinstance(value.type, Vector) or len(value.elements) != 1:
        return None
    return number_of(value.elements[0])


def _splat(raw: RawValue) -> bool | int | float | None:
    if isinstance(raw, (bool, int, float)):
        return raw
    numbers = [_splat(it) for it in raw]
    first = numbers[0] if numbers else None
    return first if all(str(it) == str(first) for it in numbers) else None


def is_integer(type: Type) -> bool:
    """Whether a type is an integer scalar or vector."""
    scalar = scalar_of(type)
    return scalar is not None and scalar.is_integer and isinstance(type, (Scalar, Vector))


def is_float(type: Type) -> bool:
    """Whether a type is a float scalar or vector."""
    scalar = scalar_of(type)
    return scalar is not None and scalar.is_float and isinstance(type, (Scalar, Vector))


def splat(type: Type, number: bool | int | float) -> nodes.Constant:
    """The constant of a scalar or vector type with that number in all components."""
    assert isinstance(type, (Scalar, Vector))
    return constant(type, (number,) * type.width if isinstance(type, Vector) else number)
