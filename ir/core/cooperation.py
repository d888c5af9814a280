"""Where the invocations of a workgroup or a subgroup depend on one another."""

from __future__ import annotations

from collections.abc import Iterator

from ..source import Span
from ..types import AddressSpace, Pointer
from . import nodes
from .runnable import reached
from .structure import blocks_of


def first_cooperation(entry: nodes.Function) -> Span | None:
    """The place of the first barrier, access to workgroup memory, or operation on subgroups or quads, of an entry point
    and the functions that it calls. None if there is none, or none with a place.
    """
    return next((it.span for it in _cooperations(entry) if it.span is not None), None)


def cooperates(entry: nodes.Function) -> bool:
    """Whether there is any of these."""
    return next(_cooperations(entry), None) is not None


def _cooperations(entry: nodes.Function) -> Iterator[nodes.Instruction]:
    for function in reached(entry):
        for block in blocks_of(function):
            yield from filter(_is_cooperation, block.instructions)


def _is_cooperation(instruction: nodes.Instruction) -> bool:
    if isinstance(instruction, nodes.BuiltinCall):
        name = instruction.function
        if name.endswith("Barrier") or name.startswith(("subgroup", "quad", "workgroup")):
            return True
    return any(isinstance(it.type, Pointer) and it.type.space is AddressSpace.WORKGROUP for it in instruction.operands)
