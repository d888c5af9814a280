"""Where the invocations of a workgroup or a subgroup depend on one another."""

from __future__ import annotations

from ..source import Span
from ..types import AddressSpace, Pointer
from . import nodes
from .runnable import reached
from .structure import blocks_of


def first_cooperation(entry: nodes.Function) -> Span | None:
    """The place of the first barrier, access to workgroup memory, or operation on subgroups or quads, of an entry point
    and the functions that it calls. None if there is none, or none with a place.
    """
    for function in reached(entry):
        for block in blocks_of(function):
            for instruction in block.instructions:
                if instruction.span is not None and _is_cooperation(instruction):
                    return instruction.span
    return None


def _is_cooperation(instruction: nodes.Instruction) -> bool:
    if isinstance(instruction, nodes.BuiltinCall):
        name = instruction.function
        if name.endswith("Barrier") or name.startswith(("subgroup", "quad", "workgroup")):
            return True
    return any(isinstance(it.type, Pointer) and it.type.space is AddressSpace.WORKGROUP for it in instruction.operands)
