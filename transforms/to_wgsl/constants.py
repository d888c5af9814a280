"""Operations on constants: which ones const evaluation computes, and which operands must be hidden from it.

A `let` of a constant leaves no trace in core IR, so a module may divide by a constant zero: that is defined at run
time, but it is an error in a const-expression. Such an operand is *hidden*: it is written as a variable of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from ...ir.builtins import builtin, check_arguments
from ...ir.constants import ConstantValue, RawValue
from ...ir.core import nodes
from ...ir.core.operations import pure_evaluator
from ...ir.core.structure import blocks_of
from ...ir.core.values import User, Value
from ...ir.operators import check_right_operand
from ...ir.scalars import EvaluationError, Mode
from ...ir.types import Pointer, Type, element_count, element_type


class Constants:
    """The constants in a function, or, if none is given, in `root`."""

    def __init__(self, module: nodes.Module, function: nodes.Function | None) -> None:
        self._values: dict[Value, ConstantValue] = {}
        self._hidden: dict[User, set[int]] = {}
        ifs: dict[int, nodes.If] = {}
        for block in [module.root] if function is None else blocks_of(function):
            if id(block) in ifs:
                self._visit_merge(ifs[id(block)], block)
            for instruction in block.instructions:
                self._visit(instruction)
            if block.branch is not None and isinstance(block.branch.target, nodes.If):
                ifs[id(block.branch.target.merge_target)] = block.branch.target

    def of(self, value: Value) -> ConstantValue | None:
        """The value as a constant; None if it is not constant."""
        return value.value if isinstance(value, nodes.Constant) else self._values.get(value)

    def hidden(self, user: User) -> Sequence[int]:
        """The indices of the operands that must not be written as constants."""
        return sorted(self._hidden.get(user, ()))

    def _visit(self, instruction: nodes.Instruction) -> None:
        operands = [self.of(operand) for operand in instruction.operands]
        known = [operand.value for operand in operands if operand is not None]
        if known and len(known) == len(operands):
            self._visit_constant(instruction, known)
        self._hide(instruction, [None if operand is None else operand.value for operand in operands])

    def _visit_constant(self, instruction: nodes.Instruction, operands: Sequence[RawValue]) -> None:
        evaluate = pure_evaluator(instruction, Mode.CONST)
        if evaluate is None:
            return
        try:
            self._values[instruction] = ConstantValue(instruction.type, evaluate(operands))
        except EvaluationError:
            self._hidden.setdefault(instruction, set()).add(len(operands) - 1)

    def _hide(self, instruction: nodes.Instruction, operands: list[RawValue | None]) -> None:
        """Hide operands, the last first, until const evaluation reports no error for the others."""
        for index in self._hidden.get(instruction, ()):
            operands[index] = None
        if instruction in self._values:
            return
        for index in reversed(range(len(operands))):
            if _is_accepted(instruction, operands):
                return
            if operands[index] is not None:
                operands[index] = None
                self._hidden.setdefault(instruction, set()).add(index)

    def _visit_merge(self, node: nodes.If, merge: nodes.Block) -> None:
        """The result of an If is constant if its condition and what its arms yield are, as in `true && false`."""
        condition = self.of(node.condition)
        if condition is None or not merge.arguments:
            return
        arms = (node.true_target, node.false_target)
        if any(arm.branch is None or arm.branch.target is not merge for arm in arms):
            return
        if any(self.of(instruction) is None for arm in arms for instruction in arm.instructions):
            return
        branches = [arm.branch for arm in arms]
        for position, argument in enumerate(merge.arguments):
            yields = [self.of(branch.arguments[position]) for branch in branches if branch is not None]
            chosen = yields[0 if condition.value else 1]
            if chosen is not None and None not in yields:
                self._values[argument] = chosen


def _is_accepted(instruction: nodes.Instruction, operands: Sequence[RawValue | None]) -> bool:
    """Whether const evaluation accepts the operation if it knows those operands that are not None."""
    try:
        match instruction:
            case nodes.Binary(op=op, lhs=lhs, rhs=rhs):
                if operands[1] is not None:
                    check_right_operand(op, lhs.type, rhs.type, operands[1])
            case nodes.BuiltinCall(function=name, arguments=arguments, template_arguments=template_arguments):
                function = builtin(name)
                if function is not None and function.checks:
                    types = tuple(argument.type for argument in arguments)
                    check_arguments(name, types, operands, tuple(template_arguments))
            case nodes.Access():
                return _is_in_range(instruction, operands[1:])
            case nodes.PureInstruction() | nodes.ReadingInstruction() | nodes.WritingInstruction():
                pass
            case nodes.Var() | nodes.Override() | nodes.Discard():
                pass
            case _:
                assert_never(instruction)
    except EvaluationError:
        return False
    return True


def _is_in_range(access: nodes.Access, indices: Sequence[RawValue | None]) -> bool:
    """Whether no known index is out of range (WGSL, "Vector Access Expression" and the like)."""
    type: Type | None = access.object.type
    type = type.store if isinstance(type, Pointer) else type
    for index in indices:
        assert type is not None
        count = element_count(type)
        if isinstance(index, int) and (index < 0 or (isinstance(count, int) and index >= count)):
            return False
        type = element_type(type, index if isinstance(index, int) else 0)
    return True
