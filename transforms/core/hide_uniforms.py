"""Hides the values of uniform variables from a driver that compiles for them.

Such a driver reads the contents of a uniform buffer at each dispatch, and compiles the shader again with those of its
words that alone decide a condition or the end of a loop (see `backend/gpu/faults`). It cannot where the number of the
workgroup decides, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

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

    Whether it is zero is a private variable, which a compute entry point sets to whether its workgroup has a number
    that no workgroup has; so the values stay what they are. Entry points without a `workgroup_id` input get one.
    """

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "hide_uniforms"

    def run(self, module: nodes.Module) -> bool:
        """Whether a uniform variable is loaded."""
        blocks = [block for function in module.functions for block in blocks_of(function)]
        loads = [(block, it) for block in blocks for it in reversed(block.instructions) if _is_of_uniform(it)]
        if not loads:
            return False
        type = variable_type(AddressSpace.PRIVATE, BOOL)
        never = Builder(module, module.root).var(type, name=module_names(module).unique("never"))
        for block, load in loads:
            _hide(module, block, load, never)
        for entry in module.functions:
            if entry.stage is Stage.COMPUTE:
                _set(module, entry, never)
        return True


def _is_of_uniform(instruction: nodes.Instruction) -> bool:
    if not isinstance(instruction, nodes.Load):
        return False
    type = instruction.pointer.type
    return isinstance(type, Pointer) and type.space is AddressSpace.UNIFORM


def _hide(module: nodes.Module, block: nodes.Block, load: nodes.Instruction, never: nodes.Var) -> None:
    """Put a hidden value in the place of one that is loaded in a block."""
    uses = list(load.uses)
    rest = split(block, block.instructions.index(load) + 1)
    builder = Builder(module, block)
    builder.span = load.span
    hidden = _hidden(builder, load, builder.load(never))
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


def _set(module: nodes.Module, entry: nodes.Function, never: nodes.Var) -> None:
    """Set the variable at the start of an entry point."""
    start = empty_block()
    builder = Builder(module, start)
    builder.span = entry.span
    number = builder.access(entry_builtin(builder, entry, "workgroup_id", vector(3, U32)), [u32(0)])
    builder.store(never, builder.binary(BinaryOp.EQUAL, number, u32(_NO_WORKGROUP)))
    entry.start_target.instructions[:0] = start.instructions
