"""The effects of instructions, for passes and the writer."""

from __future__ import annotations

from ..builtins import builtin
from ..types import Pointer, Texture
from . import nodes
from .values import Value


def has_effects(instruction: nodes.Instruction) -> bool:
    """Whether removing the instruction could change the program's behaviour although its result is unused.

    Calls of user functions are assumed to have effects. So do barriers and collective operations, since other
    invocations wait for them.
    """
    if isinstance(instruction, nodes.BuiltinCall):
        function = builtin(instruction.function)
        flags = None if function is None else function.flags
        return flags is None or flags.has_side_effects or flags.is_barrier or flags.is_subgroup
    return isinstance(instruction, (nodes.WritingInstruction, nodes.ExitingInstruction))


def reads_memory(instruction: nodes.Instruction) -> bool:
    """Whether the result may change when a store, an atomic, a call or a barrier moves across the instruction."""
    if isinstance(instruction, nodes.BuiltinCall):
        function = builtin(instruction.function)
        if function is not None and not function.flags.accesses_memory:
            return False
        return has_effects(instruction) or any(map(_is_handle_or_pointer, instruction.arguments))
    return isinstance(instruction, nodes.ReadingInstruction)


def _is_handle_or_pointer(value: Value) -> bool:
    return isinstance(value.type, (Pointer, Texture))
