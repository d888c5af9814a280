"""Which instructions and functions only compute, and which memory they touch."""

from __future__ import annotations

from typing import assert_never

from ...ir.builtins import builtin
from ...ir.core import nodes
from ...ir.core.effects import has_effects
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.types import Access, AddressSpace, Pointer

SHARED = (AddressSpace.WORKGROUP, AddressSpace.STORAGE)


def is_pure(instruction: nodes.Instruction) -> bool:
    """Whether the result depends on the operands alone, wherever and however often it is computed.

    Every such operation is defined for all operands at run time, so that it may also be speculated.
    """
    if isinstance(instruction, nodes.BuiltinCall):
        function = builtin(instruction.function)
        return instruction.function == "arrayLength" or (function is not None and function.is_const)
    return isinstance(instruction, nodes.PureInstruction)


def root_of(pointer: Value) -> Value:
    """The variable or parameter whose memory a pointer is into."""
    while isinstance(pointer, nodes.Access):
        pointer = pointer.object
    return pointer


def is_constant_memory(pointer: Value) -> bool:
    """Whether the memory behind a pointer is constant while a shader runs."""
    assert isinstance(pointer.type, Pointer)
    space = pointer.type.space
    if space in (AddressSpace.UNIFORM, AddressSpace.IMMEDIATE, AddressSpace.HANDLE):
        return True
    return (
        space is AddressSpace.STORAGE and pointer.type.access is Access.READ and isinstance(root_of(pointer), nodes.Var)
    )


def may_alias(left: Value, right: Value) -> bool:
    """Whether two roots may be the same memory: different variables are not, and parameters point into any.

    Writable bindings do not overlap (WebGPU, "Encoder Binding Validation").
    """
    if left is right:
        return True
    if isinstance(left, nodes.Var) and isinstance(right, nodes.Var):
        return False
    assert isinstance(left.type, Pointer)
    assert isinstance(right.type, Pointer)
    return left.type.space is right.type.space and not _is_local(left) and not _is_local(right)


def _is_local(root: Value) -> bool:
    """A variable of the function itself is no parameter's."""
    return isinstance(root, nodes.Var) and isinstance(root.type, Pointer) and root.type.space is AddressSpace.FUNCTION


def removable_functions(module: nodes.Module) -> set[nodes.Function]:
    """Functions whose call, its result unused, may be left out: they end, and write only variables of their own."""
    found: set[nodes.Function] = set()
    for function in module.functions:
        if all(_is_quiet(block, found) for block in blocks_of(function)):
            found.add(function)
    return found


def _is_quiet(block: nodes.Block, known: set[nodes.Function]) -> bool:
    if block.branch is not None and isinstance(block.branch.target, nodes.Loop):
        return False
    return all(_leaves_nothing(it, known) for it in block.instructions)


def _leaves_nothing(instruction: nodes.Instruction, known: set[nodes.Function]) -> bool:
    match instruction:
        case nodes.Call(callee=callee):
            return callee in known
        case nodes.Store(pointer=pointer):
            return _is_local(root_of(pointer))
        case nodes.BuiltinCall(function=name):
            function = builtin(name)
            return not has_effects(instruction) and function is not None and function.flags.uniformity is None
        case nodes.PureInstruction() | nodes.Load() | nodes.Var() | nodes.Override() | nodes.Discard():
            return not has_effects(instruction)
        case _:
            assert_never(instruction)
