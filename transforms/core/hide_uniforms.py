"""Hides the values of uniform variables from a driver that compiles for them.

Such a driver reads the contents of a uniform buffer at each dispatch, and compiles the shader again with those of its
words that alone decide a condition or the end of a loop (see `backend/gpu/faults`). It cannot where the number of the
workgroup decides, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...ir.builtins import builtin
from ...ir.constants import zero_constant
from ...ir.core import nodes
from ...ir.core.builder import Builder, empty_block, u32, variable_type
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.types import BOOL, U32, AddressSpace, Pointer, Scalar, Stage, Vector, vector
from .editing import entry_builtin, module_names
from .regions import split, take_over

_NO_WORKGROUP: Final = 2**32 - 1
"""No workgroup has this number: a dispatch has fewer in each dimension."""


@dataclass(frozen=True)
class HideUniforms:
    """Makes each value that is loaded from a uniform variable one that could be zero, as far as a compiler can see.

    It is zero if the workgroup has a number that no workgroup has, so the values stay what they are. Entry points
    without a `workgroup_id` input get one; functions that are called have the condition from a private variable.
    """

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "hide_uniforms"

    def run(self, module: nodes.Module) -> bool:
        """Whether a uniform variable is loaded where its value can be hidden."""
        loads = {it: found for it in _functions(module) if (found := _loads(it))}
        if not loads:
            return False
        entries = [it for it in module.functions if it.stage is Stage.COMPUTE]
        never: nodes.Var | None = None
        if any(it.stage is None for it in loads):
            root = Builder(module, module.root)
            never = root.var(variable_type(AddressSpace.PRIVATE, BOOL), name=module_names(module).unique("never"))
        conditions = {it: _condition(module, it, never) for it in entries if never is not None or it in loads}
        for function, found in loads.items():
            for block, load in found:
                _hide(module, block, load, conditions.get(function), never)
        return True


def _functions(module: nodes.Module) -> list[nodes.Function]:
    """Those in which values that are loaded may depend on a condition.

    That of an entry point is uniform. Functions have it from a private variable, which counts as not uniform (WGSL,
    "Uniformity"), so nothing is hidden there if invocations meet anywhere in the module.
    """
    meet = any(
        _meets(it) for function in module.functions for block in blocks_of(function) for it in block.instructions
    )
    return [it for it in module.functions if it.stage is Stage.COMPUTE or (it.stage is None and not meet)]


def _meets(instruction: nodes.Instruction) -> bool:
    function = builtin(instruction.function) if isinstance(instruction, nodes.BuiltinCall) else None
    return function is not None and (function.flags.is_barrier or function.flags.is_subgroup)


def _loads(function: nodes.Function) -> list[tuple[nodes.Block, nodes.Instruction]]:
    return [(block, it) for block in blocks_of(function) for it in reversed(block.instructions) if _is_of_uniform(it)]


def _is_of_uniform(instruction: nodes.Instruction) -> bool:
    if not isinstance(instruction, nodes.Load):
        return False
    type = instruction.pointer.type
    return isinstance(type, Pointer) and type.space is AddressSpace.UNIFORM


def _hide(
    module: nodes.Module,
    block: nodes.Block,
    load: nodes.Instruction,
    condition: Value | None,
    never: nodes.Var | None,
) -> None:
    """Put a hidden value in the place of one that is loaded in a block: hidden by the condition, or the variable."""
    uses = list(load.uses)
    rest = split(block, block.instructions.index(load) + 1)
    builder = Builder(module, block)
    builder.span = load.span
    if condition is None:
        assert never is not None
        condition = builder.load(never)
    hidden = _hidden(builder, load, condition)
    hidden.name, load.name = load.name, None
    for use in uses:
        use.user.set_operand(use.index, hidden)
    assert builder.block is not None
    take_over(builder.block, rest)


def _hidden(builder: Builder, value: Value, is_zero: Value) -> Value:
    """The value, or zero. `select` takes scalars and vectors only, so others go through a variable."""
    zero = nodes.Constant(zero_constant(value.type), value.type, None)
    if isinstance(value.type, (Scalar, Vector)):
        return builder.builtin_call("select", [value, zero, is_zero])
    copy = builder.var(variable_type(AddressSpace.FUNCTION, value.type), initializer=value)
    node = builder.enter_if(is_zero)
    assert node.merge_target is not None
    with builder.at(node.true_target):
        builder.store(copy, zero)
        builder.branch(node.merge_target)
    with builder.at(node.false_target):
        builder.branch(node.merge_target)
    builder.block = node.merge_target
    return builder.load(copy)


def _condition(module: nodes.Module, entry: nodes.Function, never: nodes.Var | None) -> Value:
    """Whether the workgroup has a number that none has, computed at the start of an entry point, and stored in the
    variable, if there is one.
    """
    start = empty_block()
    builder = Builder(module, start)
    builder.span = entry.span
    number = builder.access(entry_builtin(builder, entry, "workgroup_id", vector(3, U32)), [u32(0)])
    condition = builder.binary(BinaryOp.EQUAL, number, u32(_NO_WORKGROUP))
    if never is not None:
        builder.store(never, condition)
    entry.start_target.instructions[:0] = start.instructions
    return condition
