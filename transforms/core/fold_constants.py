"""Folds operations on constants (WGSL, "Value Expression Evaluation" at run time: total, integers wrap, floats round).

A result that no const-expression can have, an infinity or NaN, stays an operation. A constant index out of range
becomes the last one, as at run time: written as it is, it would be an error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ...ir.constants import ConstantValue, RawValue
from ...ir.core import nodes
from ...ir.core.operations import constant_result
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.scalars import Mode
from ...ir.types import Matrix, Scalar, Vector
from .editing import any_of
from .purity import is_pure
from .regions import incoming_branches, remove
from .replacing import copy_constant, replace, settle_indices


@dataclass(frozen=True)
class FoldConstants:
    """Replaces scalars, vectors and matrices of constants; block arguments that are always the same constant too."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "fold_constants"

    def run(self, module: nodes.Module) -> bool:
        """Whether something was folded."""
        return any_of(_fold(function) for function in module.functions)


def _fold(function: nodes.Function) -> bool:
    blocks = blocks_of(function)
    incoming = incoming_branches(blocks)
    changed = False
    for block in blocks:
        changed |= _fold_arguments(block, incoming.get(id(block), ())) if block.arguments else False
        folded: list[nodes.Instruction] = []
        for instruction in block.instructions:
            constant = folded_value(instruction)
            if constant is not None:
                replace(instruction, constant)
                folded.append(instruction)
            elif isinstance(instruction, nodes.Access):
                changed |= settle_indices(instruction)
        changed |= remove(block, folded)
    return changed


def folded_value(instruction: nodes.Instruction) -> nodes.Constant | None:
    """The constant that an instruction is; None if it is none, or cannot be written as one."""
    if not is_pure(instruction) or not isinstance(instruction.type, (Scalar, Vector, Matrix)):
        return None
    found = constant_result(instruction, Mode.RUNTIME)
    if found is None or not _is_finite(found.value):
        return None
    return nodes.Constant(found, found.type, None, span=instruction.span)


def _is_finite(value: RawValue) -> bool:
    if isinstance(value, (bool, int, float)):
        return math.isfinite(value)
    return all(map(_is_finite, value))


def _fold_arguments(block: nodes.Block, incoming: Sequence[nodes.Branch]) -> bool:
    constants = [
        _common([branch.arguments[position] for branch in incoming]) for position in range(len(block.arguments))
    ]
    for argument, constant in zip(block.arguments, constants, strict=True):
        if constant is not None:
            replace(argument, constant)
    kept = [position for position, constant in enumerate(constants) if constant is None]
    if len(kept) == len(constants):
        return False
    for branch in incoming:
        branch.arguments = [branch.arguments[position] for position in kept]
    block.arguments = [block.arguments[position] for position in kept]
    return True


def _common(values: Sequence[Value]) -> nodes.Constant | None:
    constants: list[ConstantValue] = [value.value for value in values if isinstance(value, nodes.Constant)]
    if not values or len(constants) < len(values) or any(it != constants[0] for it in constants):
        return None
    first = values[0]
    return copy_constant(first) if isinstance(first, nodes.Constant) else None
